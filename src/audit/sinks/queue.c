/* queue: see queue.h. Items lie one behind the other; what was taken leaves a hole at the front, which is
 * closed when room is wanted. An empty queue that was large gives its memory back: monitors idle for days. */
#include "audit/sinks/queue.h"

#include "base/mem.h"

#include <stdlib.h>

#define KEEP 4096

struct header {
    size_t len;
    struct st_queued item;
};

void st_queue_init(struct st_queue *q, size_t limit)
{
    *q = (struct st_queue){.limit = limit};
}

void st_queue_free(struct st_queue *q)
{
    free(q->data);
    *q = (struct st_queue){.limit = q->limit};
}

bool st_queue_empty(const struct st_queue *q)
{
    return q->start == q->end;
}

static bool make_room(struct st_queue *q, size_t need)
{
    size_t have = q->end - q->start;

    if (need > q->limit || have > q->limit - need)
        return false;
    if (q->cap - q->end >= need)
        return true;
    if (q->start) {
        memmove(q->data, q->data + q->start, have);
        q->start = 0;
        q->end = have;
    }
    if (q->cap - q->end < need) {
        size_t cap = q->cap ? q->cap : KEEP;

        while (cap - have < need)
            cap *= 2;
        q->data = st_xrealloc(q->data, cap);
        q->cap = cap;
    }
    return true;
}

bool st_queue_put(struct st_queue *q, const struct st_queued *item)
{
    struct header h = {.len = item->line.len, .item = *item};

    if (!make_room(q, sizeof(h) + h.len))
        return false;
    memcpy(q->data + q->end, &h, sizeof(h));
    if (h.len)
        memcpy(q->data + q->end + sizeof(h), item->line.p, h.len);
    q->end += sizeof(h) + h.len;
    return true;
}

bool st_queue_peek(const struct st_queue *q, struct st_queued *out)
{
    struct header h;

    if (st_queue_empty(q))
        return false;
    memcpy(&h, q->data + q->start, sizeof(h));
    *out = h.item;
    out->line = (struct st_str){.p = q->data + q->start + sizeof(h), .len = h.len};
    return true;
}

void st_queue_drop(struct st_queue *q)
{
    struct header h;

    memcpy(&h, q->data + q->start, sizeof(h));
    q->start += sizeof(h) + h.len;
    if (!st_queue_empty(q))
        return;
    q->start = q->end = 0;
    if (q->cap > KEEP)
        st_queue_free(q);
}
