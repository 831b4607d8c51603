/* enter: see enter.h. */
#include "shim/enter.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "oci/landlock_edit.h"
#include "oci/record.h"
#include "oci/spelling.h"
#include "oci/state.h"
#include "shim/helper.h"

#include <errno.h>
#include <string.h>

#define PROCESS_MAX ((size_t)4 << 20)

/* The engine's file as the runtime is to read it. */
static int edit_process(const struct st_buf *in, const struct st_oci_landlock *l, struct st_buf *out,
                        struct st_error *err)
{
    static const char *const path[] = {"args", NULL};
    const char *text = st_buf_cstr(in);
    st_auto_json doc = NULL;
    st_auto_json_edit edit = NULL;

    if (st_json_parse(text, in->len, ST_JSON_DEFAULT_LIMITS, &doc, err) < 0 ||
        st_oci_check_process_spelling(st_json_root(doc), text, err) < 0)
        return -err->errnum;
    edit = st_json_edit_new(doc, text, in->len);
    if (st_oci_landlock_set_args(edit, text, st_json_root(doc), path, l, err) < 0)
        return -err->errnum;
    return st_json_edit_apply(edit, out, err);
}

static int enter_by_file(const struct st_oci_args *args, const struct st_shim_process *process,
                         const struct st_oci_landlock *l, int helper, char **argv, struct st_error *err)
{
    st_auto_buf out = ST_BUF_INIT;

    if (!process->text.len)
        return st_fail(err, EINVAL, "process %s can't be read", args->process);
    if (edit_process(&process->text, l, &out, err) < 0)
        return st_wrap(err, "process %s", args->process);
    /* Above what goes into the container; the runtime closes it there. */
    return st_shim_process_hand(args, &out, helper + 1, argv, err);
}

/* Without a floor of Landlock's it goes in as it is. */
static int enter_plainly(const struct st_oci_args *args, const struct st_shim_process *process, char **argv,
                         struct st_error *err)
{
    int helper;

    if (!process->once || !process->text.len)
        return 0;
    if (st_shim_helper_number(args, &helper, err) < 0)
        return -err->errnum;
    return st_shim_process_hand(args, &process->text, helper, argv, err);
}

static char **with_words(char *const *argv, int id_at, const struct st_oci_landlock *l)
{
    size_t n = 0, head = (size_t)id_at + 1;
    char **out;

    while (argv[n])
        n++;
    out = st_xcalloc(n + l->n + 1, sizeof(*out));
    memcpy(out, argv, head * sizeof(*out));
    for (size_t i = 0; i < l->n; i++)
        out[head + i] = st_xstrdup(l->words[i]);
    memcpy(out + head + l->n, argv + head, (n - head) * sizeof(*out));
    return out;
}

/* No note was found. Where the monitor has one, the container is somebody's whose records we can't find. */
static int check_no_floor(const struct st_config *config, const char *id, struct st_error *err)
{
    st_auto_free char *path = st_xasprintf("%s/%s/state.json", config->state_dir, id);
    st_auto_buf text = ST_BUF_INIT;
    st_auto_json doc = NULL;
    const char *floor;

    if (st_read_file(path, PROCESS_MAX, &text, NULL) < 0 ||
        st_json_parse(st_buf_cstr(&text), text.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
        return 0;
    floor = st_json_str(st_json_get(st_json_root(doc), "floor"), NULL);
    if (!floor || strcmp(floor, "landlock") != 0)
        return 0;
    return st_fail(
        err, ENOENT,
        "%s stands on Landlock's floor, but the runtime's record of it was not found: a process in it "
        "would not; call the runtime with the --root that the container was made with",
        id);
}

int st_shim_enter(const struct st_config *config, const struct st_oci_args *args,
                  const struct st_shim_process *process, char ***argv, struct st_error *err)
{
    st_auto_buf note = ST_BUF_INIT;
    st_auto_oci_landlock l = {0};
    int helper, rc;

    if (args->help || !args->id || !st_oci_id_ok(args->id))
        return enter_plainly(args, process, *argv, err);
    rc = st_oci_record_note(args, &note, err);
    if (rc == 0) {
        rc = config ? check_no_floor(config, args->id, err) : 0;
        return rc < 0 ? rc : enter_plainly(args, process, *argv, err);
    }
    if (rc < 0 || st_shim_helper_number(args, &helper, err) < 0)
        return -err->errnum;
    rc = st_oci_landlock_by_note(st_buf_cstr(&note), helper, &l, err);
    if (rc <= 0)
        return rc < 0 ? rc : enter_plainly(args, process, *argv, err);
    if (args->process)
        rc = enter_by_file(args, process, &l, helper, *argv, err);
    else if ((*argv)[args->id_at + 1])
        *argv = with_words(*argv, args->id_at, &l);
    else
        return 0; /* no command: the runtime says so */
    return rc < 0 ? rc : st_shim_helper_hand(args, helper, argv, err);
}
