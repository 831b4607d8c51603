/* seccomp_reset: a profile as it was before seccomp_edit.c changed it, by the note that was left there. */
#include "oci/seccomp_edit.h"
#include "oci/seccomp_rules.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>

static const struct st_json_node *profile_of(const struct st_oci_config *config)
{
    return st_json_get(st_json_get(st_oci_config_root(config), "linux"), "seccomp");
}

static const char *note_of(const struct st_json_node *profile)
{
    const char *metadata = st_json_str(st_json_get(profile, "listenerMetadata"), NULL);

    if (!metadata || strncmp(metadata, ST_SECCOMP_MARK, strlen(ST_SECCOMP_MARK)) != 0)
        return NULL;
    return metadata + strlen(ST_SECCOMP_MARK);
}

const char *st_oci_seccomp_listener(const struct st_oci_config *config)
{
    const struct st_json_node *profile = profile_of(config);

    return note_of(profile) ? st_json_str(st_json_get(profile, "listenerPath"), NULL) : NULL;
}

static int changed_by_others(struct st_error *err)
{
    return st_fail(err, EINVAL,
                   "linux.seccomp was changed after sandtrace had prepared it for an earlier run; write the "
                   "profile anew, without listenerPath and listenerMetadata");
}

/* Ours are n rules from the first on; they ask, and no other does. */
static int drop_rules(struct st_json_edit *edit, const struct st_json_node *rules, int64_t first, int64_t n,
                      struct st_error *err)
{
    int64_t i = 0;

    if ((int64_t)st_json_count(rules) < first + n)
        return changed_by_others(err);
    st_json_each (rule, rules) {
        const char *action = st_json_str(st_json_get(rule, "action"), NULL);
        bool ours = i >= first && i < first + n;

        if (ours)
            st_json_edit_remove(edit, rule);
        else if (action && strcmp(action, ST_SECCOMP_NOTIFY) == 0)
            return changed_by_others(err);
        i++;
    }
    return 0;
}

static char *text_of(const char *note, const struct st_json_node *node)
{
    size_t start, end;

    st_json_span(node, &start, &end);
    return st_xstrndup(note + start, end - start);
}

static int put_back(struct st_json_edit *edit, const char *note, const struct st_json_node *was,
                    const char *key, struct st_error *err)
{
    const char *const path[] = {"linux", "seccomp", key, NULL};
    const struct st_json_node *node = st_json_get(was, key);
    st_auto_free char *text = node ? text_of(note, node) : NULL;

    return text ? st_json_edit_set(edit, path, text, err) : 0;
}

static int append_rules(struct st_json_edit *edit, const char *note, const struct st_json_node *list,
                        struct st_error *err)
{
    static const char *const path[] = {"linux", "seccomp", "syscalls", NULL};

    st_json_each (rule, list) {
        st_auto_free char *text = text_of(note, rule);

        if (st_json_edit_append(edit, path, text, err) < 0)
            return -err->errnum;
    }
    return 0;
}

static int restore(struct st_json_edit *edit, const struct st_json_node *profile, const char *note,
                   const struct st_json_node *was, struct st_error *err)
{
    const struct st_json_node *rules = st_json_get(profile, "syscalls");
    int64_t first, n;
    int rc;

    if (!st_json_int(st_json_get(was, "first"), &first) || !st_json_int(st_json_get(was, "rules"), &n) ||
        first < 0 || n < 0 || first > INT32_MAX || n > INT32_MAX)
        return changed_by_others(err);
    rc = drop_rules(edit, rules, first, n, err);
    if (rc == 0)
        rc = append_rules(edit, note, st_json_get(was, "restore"), err);
    if (rc == 0)
        rc = put_back(edit, note, was, "architectures", err);
    if (rc == 0)
        rc = put_back(edit, note, was, "defaultAction", err);
    if (rc == 0 && st_json_get(was, "defaultAction") && !st_json_get(was, "defaultErrnoRet") &&
        st_json_get(profile, "defaultErrnoRet"))
        st_json_edit_remove(edit, st_json_get(profile, "defaultErrnoRet"));
    if (rc == 0)
        rc = put_back(edit, note, was, "defaultErrnoRet", err);
    if (rc < 0)
        return rc;
    st_json_edit_remove(edit, st_json_get(profile, "listenerMetadata"));
    if (st_json_get(profile, "listenerPath"))
        st_json_edit_remove(edit, st_json_get(profile, "listenerPath"));
    return 0;
}

int st_oci_reset_seccomp(struct st_oci_config *config, struct st_error *err)
{
    const struct st_json_node *profile = profile_of(config);
    const char *note = note_of(profile);
    st_auto_json doc = NULL;
    int rc;

    if (!note)
        return 0;
    rc = st_json_parse(note, strlen(note), ST_JSON_DEFAULT_LIMITS, &doc, err);
    if (rc == 0 && st_json_true(st_json_get(st_json_root(doc), "made")))
        st_json_edit_remove(st_oci_config_edit(config), profile);
    else if (rc == 0)
        rc = restore(st_oci_config_edit(config), profile, note, st_json_root(doc), err);
    return rc < 0 ? st_oci_config_wrap(config, err) : 0;
}

/* ---- for the monitor ---- */

static void copy_list(struct st_jw *w, const char *note, const struct st_json_node *was, const char *key)
{
    const struct st_json_node *node = st_json_get(was, key);
    st_auto_free char *text = node ? text_of(note, node) : st_xstrdup("[]");

    st_jw_key(w, key);
    st_jw_raw(w, text, strlen(text));
}

int st_oci_seccomp_note(const struct st_oci_config *config, struct st_buf *out, struct st_error *err)
{
    const char *note = note_of(profile_of(config));
    const struct st_json_node *was;
    st_auto_json doc = NULL;
    struct st_jw w;

    if (note && st_json_parse(note, strlen(note), ST_JSON_DEFAULT_LIMITS, &doc, err) < 0)
        return st_oci_config_wrap(config, err);
    was = doc ? st_json_root(doc) : NULL;
    st_jw_init(&w, out);
    st_jw_object(&w);
    copy_list(&w, note, was, "refused");
    copy_list(&w, note, was, "sockets");
    copy_list(&w, note, was, "unwatched");
    st_jw_end(&w, '}');
    return 0;
}
