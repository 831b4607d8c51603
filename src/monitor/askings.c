/* askings: see askings.h. */
#include "monitor/askings.h"

#include "base/mem.h"
#include "base/procstat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Field 22 of /proc/TID/stat. */
static uint64_t born_at(pid_t tid)
{
    char path[48], text[ST_PROCSTAT_SIZE];
    const char *s;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
    s = st_procstat(AT_FDCWD, path, text);
    for (int field = 3; field < 22 && s; field++) {
        s = strchr(s, ' ');
        s = s ? s + 1 : NULL;
    }
    return s ? strtoull(s, NULL, 10) : 0;
}

struct st_asking *st_asking_new(struct st_filter *f, const struct seccomp_notif *asked)
{
    struct st_asking *a = st_xcalloc(1, sizeof(*a));

    a->filter = st_filter_ref(f);
    a->id = asked->id;
    a->tid = (pid_t)asked->pid;
    a->call = asked->data;
    return a;
}

void st_asking_free(struct st_asking *a)
{
    st_filter_unref(a->filter);
    free(a->path);
    free(a->target);
    free(a);
}

static char *copy(struct st_str s, size_t *len)
{
    char *out = s.p ? st_xmalloc(s.len + 1) : NULL;

    *len = s.len;
    if (out) {
        memcpy(out, s.p, s.len);
        out[s.len] = '\0';
    }
    return out;
}

void st_asking_describe(struct st_asking *a, const struct st_event *ev)
{
    if (ev->type == ST_EV_SYSCALL)
        a->path = copy(ev->sys.args, &a->path_len);
    if (ev->type != ST_EV_FILESYSTEM)
        return;
    a->op = ev->fs.op;
    a->path = copy(ev->fs.path, &a->path_len);
    a->target = copy(ev->fs.target, &a->target_len);
}

static bool same(const char *bytes, size_t len, struct st_str s)
{
    if (!bytes || !s.p)
        return !bytes && !s.p;
    return len == s.len && memcmp(bytes, s.p, len) == 0;
}

bool st_asking_is_about(const struct st_asking *a, const struct st_event *ev)
{
    if (ev->type == ST_EV_SYSCALL)
        return same(a->path, a->path_len, ev->sys.args);
    if (ev->type != ST_EV_FILESYSTEM)
        return true; /* all that is judged is in the registers */
    return a->op == ev->fs.op && same(a->path, a->path_len, ev->fs.path) &&
           same(a->target, a->target_len, ev->fs.target);
}

/* The oldest that has been decided. */
static struct st_asking *oldest_decided(const struct st_askings *all)
{
    struct st_asking *found = NULL;

    for (struct st_asking *a = all->first; a; a = a->next)
        if (a->state == ST_ASKING_ALLOWED || a->state == ST_ASKING_DONE)
            found = a;
    return found;
}

void st_askings_keep(struct st_askings *all, struct st_asking *a)
{
    struct st_asking *old = all->n >= ST_ASKINGS_MAX ? oldest_decided(all) : NULL;

    if (a->kept)
        return;
    if (old)
        st_askings_forget(all, old);
    a->kept = true;
    a->born = born_at(a->tid);
    a->next = all->first;
    all->first = a;
    all->n++;
}

void st_askings_forget(struct st_askings *all, struct st_asking *a)
{
    for (struct st_asking **at = &all->first; *at; at = &(*at)->next)
        if (*at == a) {
            *at = a->next;
            all->n--;
            break;
        }
    st_asking_free(a);
}

bool st_askings_full(const struct st_askings *all)
{
    return all->n >= ST_ASKINGS_MAX && !oldest_decided(all);
}

void st_askings_clear(struct st_askings *all)
{
    while (all->first)
        st_askings_forget(all, all->first);
}

struct st_asking *st_askings_find(const struct st_askings *all, const struct seccomp_notif *asked,
                                  const struct st_asking *after)
{
    for (struct st_asking *a = after ? after->next : all->first; a; a = a->next)
        if (a->tid == (pid_t)asked->pid && a->call.nr == asked->data.nr &&
            memcmp(a->call.args, asked->data.args, sizeof(a->call.args)) == 0 && a->born == born_at(a->tid))
            return a;
    return NULL;
}
