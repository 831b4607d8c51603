/* pids_edit: see pids_edit.h. The note: the limit that was set; then, behind an `=`, the number that was
 * there, or, behind a `:`, the outermost of what was not there before. */
#include "oci/pids_edit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const path[] = {"linux", "resources", "pids", "limit", NULL};
enum { RESOURCES = 1, LIMIT = 3 };

static const struct st_json_node *node_at(const struct st_oci_config *config, int depth)
{
    const struct st_json_node *node = st_oci_config_root(config);

    for (int i = 0; i <= depth; i++)
        node = st_json_get(node, path[i]);
    return node;
}

static void write_note(const struct st_oci_config *config, int64_t limit, struct st_buf *note)
{
    int missing = RESOURCES;
    int64_t there;

    st_buf_addf(note, "%lld", (long long)limit);
    if (st_json_int(node_at(config, LIMIT), &there)) {
        st_buf_addf(note, "=%lld", (long long)there);
        return;
    }
    while (missing < LIMIT && node_at(config, missing))
        missing++;
    st_buf_addf(note, ":%s", path[missing]);
}

int st_oci_set_pids(struct st_oci_config *config, int64_t limit, struct st_buf *note, struct st_error *err)
{
    int64_t there;
    char text[24];

    /* 0 and less mean none to runtimes. */
    if (st_json_int(node_at(config, LIMIT), &there) && there > 0)
        return 0;
    snprintf(text, sizeof(text), "%lld", (long long)limit);
    if (st_json_edit_set(st_oci_config_edit(config), path, text, err) < 0)
        return st_oci_config_wrap(config, err);
    write_note(config, limit, note);
    return 0;
}

/* What was made for it goes with it, unless somebody has put something else there since. */
static const struct st_json_node *outermost(const struct st_oci_config *config, const char *made)
{
    int depth = LIMIT;

    while (depth > RESOURCES && strcmp(path[depth], made) != 0 &&
           st_json_count(node_at(config, depth - 1)) == 1)
        depth--;
    return node_at(config, depth);
}

void st_oci_reset_pids(struct st_oci_config *config, const char *note)
{
    struct st_json_edit *edit = st_oci_config_edit(config);
    const struct st_json_node *limit = node_at(config, LIMIT);
    int64_t there;
    char old[24], *end;

    if (!note || !st_json_int(limit, &there) || there != strtoll(note, &end, 10))
        return;
    if (*end == '=') {
        snprintf(old, sizeof(old), "%lld", strtoll(end + 1, NULL, 10));
        st_json_edit_replace(edit, limit, old);
    } else {
        st_json_edit_remove(edit, outermost(config, *end == ':' ? end + 1 : path[LIMIT]));
    }
}
