/* run_relay: see run_relay.h. Fds of the caller's stay as they are: one that blocks is written to only as
 * much as poll(2) promises room for. */
#include "cli/run_relay.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <limits.h>
#include <string.h>

#define CTRL_D '\004'

void st_relay_open(struct st_relay *r, int from, int to)
{
    *r = (struct st_relay){.from = from, .to = to, .bytes = st_xmalloc(ST_RELAY_BYTES)};
}

static void end_writing(struct st_relay *r)
{
    if (r->own_to)
        st_close(&r->to);
    if (r->own_from)
        st_close(&r->from);
    r->to = r->from = -1;
    r->at = r->len = 0;
}

void st_relay_close(struct st_relay *r)
{
    end_writing(r);
    free(r->bytes);
    r->bytes = NULL;
}

void st_relay_poll(const struct st_relay *r, struct pollfd *in, struct pollfd *out)
{
    bool waits = r->len > 0;

    *in = (struct pollfd){.fd = waits ? -1 : r->from, .events = POLLIN};
    *out = (struct pollfd){.fd = waits ? r->to : -1, .events = POLLOUT};
}

/* In the midst of a line the first only ends that. */
static void say_end(struct st_relay *r)
{
    r->says_end = false;
    r->from = -1;
    r->at = 0;
    r->len = 2;
    memset(r->bytes, CTRL_D, r->len);
}

/* The end, or EIO of a terminal whose other side is closed. */
static void fill(struct st_relay *r)
{
    ssize_t n = read(r->from, r->bytes, ST_RELAY_BYTES);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0 && r->says_end) {
        say_end(r);
        return;
    }
    if (n <= 0) {
        end_writing(r);
        return;
    }
    r->at = 0;
    r->len = (size_t)n;
}

static void drain(struct st_relay *r)
{
    ssize_t n = write(r->to, r->bytes + r->at, r->len < PIPE_BUF ? r->len : PIPE_BUF);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n < 0) {
        end_writing(r); /* nobody reads any more */
        return;
    }
    r->at += (size_t)n;
    r->len -= (size_t)n;
}

void st_relay_go(struct st_relay *r, const struct pollfd *in, const struct pollfd *out)
{
    if (in->fd >= 0 && in->revents)
        fill(r);
    else if (out->fd >= 0 && out->revents)
        drain(r);
}

bool st_relay_is_over(const struct st_relay *r)
{
    return r->from < 0 && r->len == 0;
}
