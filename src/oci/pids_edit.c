/* pids_edit: see pids_edit.h. */
#include "oci/pids_edit.h"

#include <stdio.h>
#include <stdlib.h>

static const struct st_json_node *limit_of(const struct st_oci_config *config)
{
    const struct st_json_node *top = st_json_get(st_oci_config_root(config), "linux");

    return st_json_get(st_json_get(st_json_get(top, "resources"), "pids"), "limit");
}

int st_oci_set_pids(struct st_oci_config *config, int64_t limit, struct st_buf *note, struct st_error *err)
{
    static const char *const path[] = {"linux", "resources", "pids", "limit", NULL};
    int64_t there;
    char text[24];

    /* 0 and less mean none to runtimes. */
    if (st_json_int(limit_of(config), &there) && there > 0)
        return 0;
    snprintf(text, sizeof(text), "%lld", (long long)limit);
    if (st_json_edit_set(st_oci_config_edit(config), path, text, err) < 0)
        return st_oci_config_wrap(config, err);
    st_buf_adds(note, text);
    return 0;
}

void st_oci_reset_pids(struct st_oci_config *config, const char *note)
{
    const struct st_json_node *limit = limit_of(config);
    int64_t there;

    if (note && st_json_int(limit, &there) && there == strtoll(note, NULL, 10))
        st_json_edit_remove(st_oci_config_edit(config), limit);
}
