/* eval_fs: paths: filesystem events. */
#include "policy/judge.h"

#include "base/json.h"
#include "base/path.h"

#include <limits.h>

/* What is asked for where the sensor could not say: by what is done; an open whose flags are not known may
 * write. */
static unsigned access_of_op(enum st_fs_op op)
{
    switch (op) {
    case ST_FS_OPEN: return ST_ACCESS_READ | ST_ACCESS_WRITE;
    case ST_FS_EXEC: return ST_ACCESS_EXEC;
    case ST_FS_CREATE: return ST_ACCESS_CREATE;
    case ST_FS_MODIFY: return ST_ACCESS_WRITE;
    case ST_FS_DELETE: return ST_ACCESS_DELETE;
    case ST_FS_RENAME: return ST_ACCESS_DELETE;
    case ST_FS_LINK:
        return ST_ACCESS_READ | ST_ACCESS_WRITE; /* a second name gives all that the first does */
    case ST_FS_ATTRIB: return ST_ACCESS_ATTRIB;
    case ST_FS_MOUNT: return ST_ACCESS_WRITE;
    case ST_FS_OPS: break;
    }
    return ST_ACCESS_WRITE;
}

static enum st_result fallback(const struct st_policy_defaults *d, unsigned bit)
{
    return bit == ST_ACCESS_READ ? d->fs_read : bit == ST_ACCESS_EXEC ? d->exec : d->fs_write;
}

static void note_path(void *ctx, uint32_t rule, unsigned access)
{
    (void)access;
    note(ctx, rule, NOTE_ACCESS, 0);
}

static struct outcome bad_path(const struct judge *j, struct st_str path)
{
    return (struct outcome){.result = ST_DENY,
                            .severity = j->p->settings.defaults.severity,
                            .rule = NO_RULE,
                            .why = WHY_BAD_PATH,
                            .subject = path};
}

struct outcome st_judge_path(struct judge *j, struct st_str path, unsigned access)
{
    uint32_t first[ACCESS_BITS];
    struct outcome all = {0};
    bool any = false;

    if (!path.p)
        return bad_path(j, path);
    if (!st_path_is_normal(path.p, path.len)) {
        char *room = j->c->normal[j->n_normal++ % 2]; /* path and target of one event */
        size_t len = st_path_normalise(path.p, path.len, room, sizeof(j->c->normal[0]));

        if (len == 0)
            return bad_path(j, path);
        path = (struct st_str){room, len};
    }
    st_pathmatch_first(j->p->paths, path.p, path.len, access, first);
    if (j->notes)
        st_pathmatch_all(j->p->paths, path.p, path.len, note_path, j);
    for (unsigned bit = 0; bit < ACCESS_BITS; bit++) {
        struct outcome one;

        if (!(access & (1u << bit)))
            continue;
        if (first[bit] != NO_RULE)
            note(j, first[bit], NOTE_MATCHED, 0);
        one = st_outcome_of(j, first[bit], fallback(&j->p->settings.defaults, 1u << bit));
        one.access = 1u << bit;
        one.subject = path;
        all = any ? st_worse_outcome(all, one) : one;
        any = true;
    }
    return any ? all : bad_path(j, path);
}

struct outcome st_judge_filesystem(struct judge *j)
{
    const struct st_ev_filesystem *fs = &j->e->fs;
    unsigned access = fs->access & ST_ACCESS_ALL;
    struct outcome o;

    if (access == 0 || fs->op == ST_FS_LINK || fs->op == ST_FS_RENAME)
        access |= access_of_op(fs->op);
    if (access == ST_ACCESS_EXEC)
        o = st_judge_program(j, fs->path, &fs->program);
    else
        o = st_judge_path(j, fs->path, access);
    if (fs->target.p) /* what stands there is written over */
        o = st_worse_outcome(o, st_judge_path(j, fs->target, ST_ACCESS_CREATE | ST_ACCESS_WRITE));
    return o;
}

/* ---- a summary: all files that were changed, in one event ---- */

static const char *path_of_item(const struct st_json_node *item, size_t *len)
{
    return st_json_str(st_json_is(item, ST_JSON_OBJECT) ? st_json_get(item, "path") : item, len);
}

/* Judged as if each file had been an event of its own; the worst is the verdict of all. */
static void judge_list(struct judge *j, const struct st_json_node *list, enum st_fs_op op,
                       struct outcome *all)
{
    st_json_each (item, list) {
        struct st_event one = {.type = ST_EV_FILESYSTEM, .tier = j->e->tier, .wall_us = j->e->wall_us};
        struct judge part = {.p = j->p, .c = j->c, .e = &one, .notes = j->notes, .generic = NO_RULE};
        struct outcome o;

        one.fs.op = op;
        one.fs.size = ST_UNKNOWN;
        one.fs.path.p = path_of_item(item, &one.fs.path.len);
        st_judge_generic(&part);
        o = st_judge_filesystem(&part);
        if (all->why != WHY_NOT_JUDGED) {
            o = st_worse_outcome(*all, o);
            if (o.subject.p == all->subject.p)
                continue;
        }
        st_buf_clear(&j->c->subject); /* the document will be gone */
        st_buf_add(&j->c->subject, o.subject.p ? o.subject.p : "", o.subject.len);
        o.subject.p = j->c->subject.data;
        *all = o;
    }
}

struct outcome st_judge_summary(struct judge *j)
{
    static const struct {
        const char *key;
        enum st_fs_op op;
    } lists[] = {
        {"files_created", ST_FS_CREATE}, {"files_modified", ST_FS_MODIFY}, {"files_deleted", ST_FS_DELETE}};
    struct outcome all = {.rule = NO_RULE, .why = WHY_NOT_JUDGED};
    st_auto_json doc = NULL;

    if (!j->e->json.p || st_json_parse(j->e->json.p, j->e->json.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
        return bad_path(j, (struct st_str){NULL, 0}); /* what it lists can't be known */
    for (size_t i = 0; i < N_OF(lists); i++)
        judge_list(j, st_json_get(st_json_root(doc), lists[i].key), lists[i].op, &all);
    return all;
}
