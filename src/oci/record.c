/* record: see record.h. runc keeps state.json, with the hooks in its own configuration. */
#include "oci/record.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "oci/hook_edit.h"

#include <errno.h>
#include <string.h>

#define RECORD_MAX ((size_t)16 << 20)

bool st_oci_record_is_known(const char *runtime_path)
{
    const char *slash = strrchr(runtime_path, '/');

    return strstr(slash ? slash + 1 : runtime_path, "runc") != NULL;
}

static int read_note(const char *path, struct st_buf *note, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;
    st_auto_json doc = NULL;
    const char *found;
    int rc = st_read_file(path, RECORD_MAX, &text, err);

    if (rc == -ENOENT || rc == -ENOTDIR)
        return 0;
    if (rc == 0)
        rc = st_json_parse(st_buf_cstr(&text), text.len, ST_JSON_DEFAULT_LIMITS, &doc, err);
    if (rc < 0)
        return st_wrap(err, "the runtime's record %s", path);
    found = st_oci_hooks_argument(st_json_get(st_json_get(st_json_root(doc), "config"), "Hooks"),
                                  ST_OCI_FLOOR_OPTION);
    if (found)
        st_buf_adds(note, found);
    return found != NULL;
}

/* Without --root: the system's, or that of a user who has a directory for such things. */
int st_oci_record_note(const struct st_oci_args *args, struct st_buf *note, struct st_error *err)
{
    const char *own = getenv("XDG_RUNTIME_DIR");
    st_auto_free char *path =
        st_xasprintf("%s/%s/state.json", args->root ? args->root : "/run/runc", args->id);
    st_auto_free char *users = NULL;
    int rc = read_note(path, note, err);

    if (rc != 0 || args->root || !own || !*own)
        return rc;
    users = st_xasprintf("%s/runc/%s/state.json", own, args->id);
    return read_note(users, note, err);
}
