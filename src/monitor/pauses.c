/* pauses: see pauses.h. */
#include "monitor/pauses.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "respond/freezer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define CONFIRM_NS 1000000000LL

void st_pauses_init(struct st_pauses *p, struct st_watch *watch)
{
    *p = (struct st_pauses){.watch = watch};
    p->last = &p->first;
}

int st_pauses_freeze(struct st_pauses *p)
{
    if (!p->watch->can_freeze)
        return -EOPNOTSUPP;
    atomic_store(&p->watch->pulse->keep_frozen, 1);
    return st_freezer_ask(&p->watch->cgroup);
}

static bool any_held(const struct st_pauses *p)
{
    for (const struct st_pause *i = p->first; i; i = i->next)
        if (i->held)
            return true;
    return false;
}

bool st_pauses_confirm(const struct st_pauses *p, bool held)
{
    int rc;

    if (!p->watch->can_freeze)
        return false;
    if (p->watch->cgroup.kind == ST_CGROUP_V2 && (held || p->others_wait || any_held(p)))
        return true;
    rc = st_freezer_confirm(&p->watch->cgroup, p->watch->fan, CONFIRM_NS);
    return rc == 0 || rc == -EAGAIN;
}

static void make_id(char out[ST_PAUSE_ID_SIZE])
{
    unsigned char random[6];

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        abort();
    memcpy(out, "pau_", 4);
    st_hex(random, sizeof(random), out + 4);
}

struct st_pause *st_pauses_add(struct st_pauses *p, struct st_operation *op, int64_t timeout_ms)
{
    struct st_pause *pause = st_xcalloc(1, sizeof(*pause));

    make_id(pause->id);
    pause->held = st_operation_waits(op);
    pause->op = st_operation_steal(op);
    pause->since_us = st_now_wall_us();
    pause->deadline_ns = timeout_ms ? st_now_mono_ns() + timeout_ms * 1000000 : 0;
    *p->last = pause;
    p->last = &pause->next;
    p->n++;
    return pause;
}

struct st_pause *st_pauses_find(const struct st_pauses *p, const char *id, bool *ambiguous)
{
    struct st_pause *found = NULL;
    size_t len = strlen(id);

    *ambiguous = false;
    for (struct st_pause *i = p->first; i && len; i = i->next) {
        if (strncmp(i->id, id, len) != 0 && strncmp(i->id + 4, id, len) != 0)
            continue;
        if (found) {
            *ambiguous = true;
            return NULL;
        }
        found = i;
    }
    return found;
}

static void unlink_pause(struct st_pauses *p, struct st_pause *pause)
{
    struct st_pause **at = &p->first;

    while (*at != pause)
        at = &(*at)->next;
    *at = pause->next;
    if (p->last == &pause->next)
        p->last = at;
    p->n--;
    st_grants_free(&pause->proposal);
    free(pause->violation);
    free(pause->line);
    free(pause->event);
    free(pause);
}

static void thaw(struct st_pauses *p)
{
    if (p->doomed)
        return;
    atomic_store(&p->watch->pulse->keep_frozen, 0);
    if (p->watch->can_freeze)
        st_freezer_thaw(&p->watch->cgroup);
}

void st_pauses_stick(struct st_pauses *p)
{
    p->stuck = true;
    st_pauses_freeze(p);
}

void st_pauses_unstick(struct st_pauses *p)
{
    p->stuck = false;
    if (p->n == 0)
        thaw(p);
}

void st_pauses_end(struct st_pauses *p, struct st_pause *pause, bool allow)
{
    st_operation_answer(&pause->op, allow);
    unlink_pause(p, pause);
    if (p->n == 0 && !p->stuck)
        thaw(p);
}

void st_pauses_end_all(struct st_pauses *p, bool thaw_too)
{
    while (p->first) {
        st_operation_answer(&p->first->op, false);
        unlink_pause(p, p->first);
    }
    if (thaw_too)
        thaw(p);
}

const struct st_violation *st_pauses_worst(const struct st_pauses *p)
{
    const struct st_violation *worst = NULL;

    for (const struct st_pause *i = p->first; i; i = i->next)
        if (i->violation && (!worst || i->violation->severity > worst->severity))
            worst = i->violation;
    return worst;
}

int64_t st_pauses_deadline(const struct st_pauses *p, struct st_pause **which)
{
    int64_t earliest = -1;

    for (struct st_pause *i = p->first; i; i = i->next) {
        if (!i->deadline_ns || (earliest >= 0 && i->deadline_ns >= earliest))
            continue;
        earliest = i->deadline_ns;
        *which = i;
    }
    return earliest;
}
