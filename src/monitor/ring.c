/* ring: see ring.h. Entries lie one behind the other, each with its line; the older half goes when the bound
 * is reached, so that bytes are moved seldom. */
#include "monitor/ring.h"

#include <string.h>

static void forget_all(struct st_ring *r)
{
    st_buf_clear(&r->bytes);
    r->first_seq = r->last_seq = 0;
}

/* Drop from the front until at least `room` bytes are free. */
static void make_room(struct st_ring *r, size_t room)
{
    struct st_ring_entry entry;
    const char *line;
    size_t at = 0;

    while (ST_RING_BYTES - (r->bytes.len - at) < room && st_ring_next(r, &at, &entry, &line))
        r->first_seq = entry.seq + 1;
    if (r->first_seq > r->last_seq) {
        forget_all(r);
        return;
    }
    memmove(r->bytes.data, r->bytes.data + at, r->bytes.len - at);
    r->bytes.len -= at;
}

void st_ring_put(struct st_ring *r, const struct st_ring_entry *entry, const char *line)
{
    size_t need = sizeof(*entry) + entry->len;

    if (r->last_seq && entry->seq != r->last_seq + 1)
        forget_all(r);
    if (need > ST_RING_BYTES) {
        forget_all(r);
        return;
    }
    if (r->bytes.len + need > ST_RING_BYTES)
        make_room(r, need > ST_RING_BYTES / 2 ? need : ST_RING_BYTES / 2);
    st_buf_add(&r->bytes, entry, sizeof(*entry));
    st_buf_add(&r->bytes, line, entry->len);
    if (!r->first_seq)
        r->first_seq = entry->seq;
    r->last_seq = entry->seq;
}

bool st_ring_next(const struct st_ring *r, size_t *at, struct st_ring_entry *entry, const char **line)
{
    if (*at >= r->bytes.len)
        return false;
    memcpy(entry, r->bytes.data + *at, sizeof(*entry));
    *line = r->bytes.data + *at + sizeof(*entry);
    *at += sizeof(*entry) + entry->len;
    return true;
}

void st_ring_free(struct st_ring *r)
{
    st_buf_free(&r->bytes);
    *r = (struct st_ring){0};
}
