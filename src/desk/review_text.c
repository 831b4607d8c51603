/* review_text: the files of a task as text: review.json, and the lines of verdicts.jsonl. One table says
 * which members there are, for reading and for writing. See review.h. */
#include "desk/review.h"

#include "base/json_write.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT 8192

static const struct st_json_limits limits = {.max_depth = 8, .max_nodes = 1024};

enum kind { TEXT, NUMBER, FLAG };

struct member {
    const char *name;
    enum kind kind;
    size_t offset;
    bool needed;
};

#define AT(m) offsetof(struct st_review, m)
/* In the order in which canonical JSON has them. */
static const struct member members[] = {
    {"agent_id", TEXT, AT(agent_id), false},  {"cause", TEXT, AT(cause), false},
    {"container", TEXT, AT(container), true}, {"event_id", TEXT, AT(event_id), false},
    {"image", TEXT, AT(image), false},        {"opened", TEXT, AT(opened), true},
    {"policy", TEXT, AT(policy), false},      {"policy_sha256", TEXT, AT(policy_sha256), false},
    {"reason", TEXT, AT(reason), false},      {"rule", TEXT, AT(rule), false},
    {"severity", TEXT, AT(severity), false},  {"trace", TEXT, AT(trace), false},
    {"trace_id", TEXT, AT(trace_id), false},
};
static const struct member snapshot_members[] = {
    {"deleted", NUMBER, AT(snapshot.deleted), false},
    {"failure", TEXT, AT(snapshot.failure), false},
    {"files", NUMBER, AT(snapshot.files), false},
    {"frozen", FLAG, AT(snapshot.frozen), false},
    {"kind", TEXT, AT(snapshot.kind), false},
    {"mounts", NUMBER, AT(snapshot.mounts), false},
    {"omitted", NUMBER, AT(snapshot.omitted), false},
    {"processes", NUMBER, AT(snapshot.processes), false},
    {"sha256", TEXT, AT(snapshot.sha256), false},
    {"sockets", NUMBER, AT(snapshot.sockets), false},
    {"tar_bytes", NUMBER, AT(snapshot.tar_bytes), false},
    {"took_ms", NUMBER, AT(snapshot.took_ms), false},
};
static const struct member verdict_members[] = {
    {"at", TEXT, AT(closed_at), true},
    {"by", TEXT, AT(closed_by), true},
    {"reason", TEXT, AT(closed_reason), true},
    {"verdict", TEXT, AT(verdict), true},
};
#undef AT
#define N(table) (sizeof(table) / sizeof((table)[0]))

static const char *const verdicts[] = {"benign", "malicious", "policy", "other"};

const char *st_review_verdict_name(unsigned i)
{
    return i < N(verdicts) ? verdicts[i] : NULL;
}

const char *st_review_state_name(enum st_review_state state)
{
    return state == ST_REVIEW_CLOSED ? "closed" : "open";
}

static char **text_at(struct st_review *r, const struct member *m)
{
    return (char **)(void *)((char *)r + m->offset);
}

static void free_members(struct st_review *r, const struct member *table, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].kind == TEXT)
            free(*text_at(r, &table[i]));
}

void st_review_free(struct st_review *r)
{
    free_members(r, members, N(members));
    free_members(r, snapshot_members, N(snapshot_members));
    free_members(r, verdict_members, N(verdict_members));
    free(r->id);
    free(r->folder);
    free(r->broken);
    *r = (struct st_review){0};
}

/* ---- reading ---- */

static bool read_member(const struct st_json_node *node, const struct member *m, struct st_review *out)
{
    char *slot = (char *)out + m->offset;
    const char *text;

    switch (m->kind) {
    case NUMBER: return st_json_int(node, (int64_t *)(void *)slot) && *(int64_t *)(void *)slot >= 0;
    case FLAG: *(bool *)slot = st_json_true(node); return st_json_is(node, ST_JSON_BOOL);
    case TEXT: break;
    }
    text = st_json_str(node, NULL);
    if (!text || strlen(text) > MAX_TEXT)
        return false;
    free(*text_at(out, m));
    *text_at(out, m) = st_xstrdup(text);
    return true;
}

static int read_members(const struct st_json_node *object, const struct member *table, size_t n,
                        struct st_review *out, struct st_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct st_json_node *node = st_json_get(object, table[i].name);
        bool absent = !node || st_json_is(node, ST_JSON_NULL);

        if (absent && !table[i].needed)
            continue;
        if (absent || !read_member(node, &table[i], out))
            return st_fail(err, EINVAL, "%s is missing or not as it should be", table[i].name);
    }
    return 0;
}

int st_review_parse(const char *text, size_t len, struct st_review *out, struct st_error *err)
{
    const struct st_json_node *root, *snapshot;
    st_auto_json doc = NULL;

    if (st_json_parse(text, len, &limits, &doc, err) < 0)
        return -err->errnum;
    root = st_json_root(doc);
    snapshot = st_json_get(root, "snapshot");
    if (!st_json_is(root, ST_JSON_OBJECT) || (snapshot && !st_json_is(snapshot, ST_JSON_OBJECT)))
        return st_fail(err, EINVAL, "not the object of a task");
    if (read_members(root, members, N(members), out, err) < 0)
        return -err->errnum;
    return read_members(snapshot, snapshot_members, N(snapshot_members), out, err);
}

static bool is_verdict(const char *word)
{
    for (size_t i = 0; i < N(verdicts); i++)
        if (strcmp(verdicts[i], word) == 0)
            return true;
    return false;
}

/* 0: it is a verdict, whole. */
static int parse_verdict(const char *line, size_t len, struct st_review *out)
{
    struct st_review found = {0};
    struct st_error err = {0};
    st_auto_json doc = NULL;
    int rc = st_json_parse(line, len, &limits, &doc, &err);

    if (rc == 0)
        rc = read_members(st_json_root(doc), verdict_members, N(verdict_members), &found, &err);
    if (rc < 0 || !found.verdict || !is_verdict(found.verdict)) {
        st_review_free(&found);
        return -EINVAL;
    }
    free_members(out, verdict_members, N(verdict_members));
    for (size_t i = 0; i < N(verdict_members); i++)
        *text_at(out, &verdict_members[i]) = *text_at(&found, &verdict_members[i]);
    return 0;
}

/* The last that is whole counts: a line that a crash has cut decides nothing. */
void st_review_parse_verdicts(const char *text, size_t len, struct st_review *out)
{
    for (const char *at = text, *end = text + len; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));

        if (!newline)
            return;
        if (parse_verdict(at, (size_t)(newline - at), out) == 0)
            out->state = ST_REVIEW_CLOSED;
        at = newline + 1;
    }
}

/* ---- writing ---- */

static void write_member(struct st_jw *w, const struct st_review *r, const struct member *m)
{
    const char *slot = (const char *)r + m->offset;
    const char *text;

    st_jw_key(w, m->name);
    switch (m->kind) {
    case NUMBER: st_jw_int(w, *(const int64_t *)(const void *)slot); return;
    case FLAG: st_jw_bool(w, *(const bool *)slot); return;
    case TEXT: break;
    }
    text = *(char *const *)(const void *)slot;
    if (text)
        st_jw_strn(w, text, strnlen(text, MAX_TEXT));
    else
        st_jw_null(w);
}

static void write_snapshot(struct st_jw *w, const struct st_review *r)
{
    st_jw_key(w, "snapshot");
    st_jw_object(w);
    for (size_t i = 0; i < N(snapshot_members); i++)
        write_member(w, r, &snapshot_members[i]);
    st_jw_end(w, '}');
}

static void write_verdict(struct st_jw *w, const struct st_review *r)
{
    st_jw_object(w);
    for (size_t i = 0; i < N(verdict_members); i++)
        write_member(w, r, &verdict_members[i]);
    st_jw_end(w, '}');
}

/* all: with what is not in the file. Its members stand where the alphabet has them. */
static void write_task(const struct st_review *r, bool all, struct st_buf *out)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    for (size_t i = 0; i < N(members); i++) {
        if (all && strcmp(members[i].name, "cause") == 0)
            st_jw_kstr(&w, "broken", r->broken);
        if (all && strcmp(members[i].name, "container") == 0 && r->state == ST_REVIEW_CLOSED) {
            st_jw_key(&w, "closed");
            write_verdict(&w, r);
        }
        if (all && strcmp(members[i].name, "image") == 0) {
            st_jw_kstr(&w, "folder", r->folder);
            st_jw_kstr(&w, "id", r->id);
        }
        if (strcmp(members[i].name, "severity") == 0)
            st_jw_kstr(&w, "schema_version", "1.0");
        if (strcmp(members[i].name, "trace") == 0) {
            write_snapshot(&w, r);
            if (all)
                st_jw_kstr(&w, "state", st_review_state_name(r->state));
        }
        write_member(&w, r, &members[i]);
    }
    st_jw_end(&w, '}');
}

void st_review_write(const struct st_review *r, struct st_buf *out)
{
    write_task(r, false, out);
}

void st_review_write_all(const struct st_review *r, struct st_buf *out)
{
    write_task(r, true, out);
}

void st_review_write_verdict(const struct st_review *r, struct st_buf *out)
{
    struct st_jw w;

    st_jw_init(&w, out);
    write_verdict(&w, r);
}
