/* opened: see opened.h. */
#include "monitor/opened.h"

#include "base/mem.h"

#include <stdlib.h>
#include <sys/stat.h>

static uint64_t hash(struct st_str s)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
    return h;
}

void st_opened_judge(struct st_opened *o, pid_t tid, const struct st_event *ev)
{
    unsigned access = ev->fs.access & (ST_ACCESS_READ | ST_ACCESS_WRITE);

    o->judged[(unsigned)tid % ST_JUDGED] = (struct st_judged){tid, access, hash(ev->fs.path), false};
}

void st_opened_settle(struct st_opened *o, pid_t tid, const struct st_event *ev)
{
    o->judged[(unsigned)tid % ST_JUDGED] = (struct st_judged){tid, 0, hash(ev->fs.path), true};
}

bool st_opened_judged(struct st_opened *o, pid_t tid, struct st_str path, unsigned access)
{
    struct st_judged *j = &o->judged[(unsigned)tid % ST_JUDGED];
    bool same = j->tid == tid && !j->settled && j->path == hash(path) && (access & ~j->access) == 0;

    if (j->tid == tid)
        j->tid = 0;
    return same;
}

bool st_opened_known(struct st_opened *o, pid_t tid, struct st_str path)
{
    struct st_judged *j = &o->judged[(unsigned)tid % ST_JUDGED];
    bool same = j->tid == tid && j->path == hash(path);

    if (same)
        j->tid = 0;
    return same;
}

void st_opened_hand_in(struct st_opened *o, int fd, const char *path, size_t len)
{
    struct st_handed *h = &o->handed[o->n_handed++ % ST_HANDED];
    struct stat sb;

    if (fstat(fd, &sb) < 0)
        return;
    free(h->path);
    *h = (struct st_handed){sb.st_dev, sb.st_ino, st_xstrndup(path, len), len};
}

struct st_str st_opened_path(const struct st_opened *o, uint64_t dev, uint64_t ino)
{
    for (size_t i = 0; i < ST_HANDED; i++)
        if (o->handed[i].path && o->handed[i].dev == dev && o->handed[i].ino == ino)
            return (struct st_str){o->handed[i].path, o->handed[i].len};
    return (struct st_str){0};
}

void st_opened_free(struct st_opened *o)
{
    for (size_t i = 0; i < ST_HANDED; i++)
        free(o->handed[i].path);
    *o = (struct st_opened){0};
}
