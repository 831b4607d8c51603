/* outbox: see outbox.h. */
#include "monitor/outbox.h"

#include "base/json_write.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define KEEP ((size_t)65536) /* more than this is given back when the queue is empty */

void st_outbox_event(struct st_outbox *o, uint64_t seq, const char *line, size_t len)
{
    size_t waits = st_outbox_waits(o);

    /* A line longer than the bound has a chance too, where it is the only one. */
    if (o->missed || (waits && waits + len > ST_OUTBOX_EVENTS)) {
        o->missed++;
        o->missed_seq = seq;
        return;
    }
    st_buf_add(&o->queue, line, len);
}

bool st_outbox_answer(struct st_outbox *o, const char *lines, size_t len)
{
    if (st_outbox_waits(o) + len > ST_OUTBOX_ANSWERS)
        return false;
    st_buf_add(&o->queue, lines, len);
    return true;
}

void st_outbox_gap(struct st_buf *out, const char *id, uint64_t missed, uint64_t last_seq)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kstr(&w, "id", id);
    st_jw_kint(&w, "last_seq", (int64_t)last_seq);
    st_jw_kint(&w, "missed", (int64_t)missed);
    st_jw_end(&w, '}');
    st_buf_addc(out, '\n');
}

static void empty(struct st_outbox *o)
{
    o->sent = 0;
    if (o->queue.cap > KEEP)
        st_buf_free(&o->queue);
    else
        st_buf_clear(&o->queue);
}

/* What was sent takes room until it is moved away: not for each send, but before it is half. */
static void compact(struct st_outbox *o)
{
    size_t waits = st_outbox_waits(o);

    if (o->sent < KEEP || o->sent < waits)
        return;
    memmove(o->queue.data, o->queue.data + o->sent, waits);
    o->queue.len = waits;
    o->sent = 0;
}

int st_outbox_flush(struct st_outbox *o, int fd, const char *id)
{
    for (;;) {
        ssize_t n;

        if (st_outbox_waits(o) == 0) {
            empty(o);
            if (!o->missed)
                return 0;
            st_outbox_gap(&o->queue, id, o->missed, o->missed_seq);
            o->missed = 0;
        }
        n = send(fd, o->queue.data + o->sent, st_outbox_waits(o), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            compact(o);
            return 1;
        }
        if (n < 0)
            return -errno;
        o->sent += (size_t)n;
    }
}

void st_outbox_free(struct st_outbox *o)
{
    st_buf_free(&o->queue);
    *o = (struct st_outbox){0};
}
