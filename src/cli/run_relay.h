/* run_relay: bytes from one fd to another, as both are ready. The container gets pipes or a terminal of its
 * own and never an fd of the caller's: what is open for reading here could be opened again for writing there.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define ST_RELAY_BYTES 65536

struct st_relay {
    int from, to;          /* -1: over */
    bool own_from, own_to; /* closed when it is over: who is at the other end is told so */
    bool says_end;         /* to a terminal, where the end is a character */
    size_t at, len;
    char *bytes;
};

void st_relay_open(struct st_relay *r, int from, int to);
void st_relay_close(struct st_relay *r);

/* What to wait for; events 0 where nothing is. */
void st_relay_poll(const struct st_relay *r, struct pollfd *in, struct pollfd *out);
void st_relay_go(struct st_relay *r, const struct pollfd *in, const struct pollfd *out);

/* Has all been handed on? */
bool st_relay_is_over(const struct st_relay *r);
