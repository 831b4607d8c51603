/* bpf_ring: records that BPF programs write and we read, in memory that both see: reading costs no call.
 *
 * What finds no room is counted by the program (st_bpf_ring_put) and told by st_bpf_ring_lost. Besides that
 * counter there are some words more that both sides may use as they like: to say who is to be woken by what.
 */
#pragma once

#include "sensors/bpf_program.h"

#include <stdbool.h>

struct st_bpf_ring {
    int fd, words_fd; /* fd is readable when a program wanted us to look */
    size_t size;
    char *consumer, *producer; /* a page each; the records follow that of the producer */
    uint64_t *words;           /* the first counts what was lost */
};

#define ST_BPF_WORDS 4

#define ST_BPF_RING_NONE                                                                                     \
    {                                                                                                        \
        .fd = -1, .words_fd = -1                                                                             \
    }

/* size: a power of two, of pages. */
int st_bpf_ring_open(struct st_bpf_ring *r, size_t size, struct st_error *err);
void st_bpf_ring_close(struct st_bpf_ring *r);

/* Into a program: the record of size bytes at this place of the stack goes into the ring; the last 8 bytes of
 * the stack are used. wake: BPF_RB_NO_WAKEUP, BPF_RB_FORCE_WAKEUP, or 0: where we have read all before it. */
void st_bpf_ring_put(struct st_bpf_program *p, const struct st_bpf_ring *r, int16_t stack, int32_t size,
                     int32_t wake);

/* Into a program: register 0 points to this word (1 to 3); likewise. */
void st_bpf_ring_word(struct st_bpf_program *p, const struct st_bpf_ring *r, int32_t word);
/* Into a program: we are woken, whatever its records were put with. A piece of the ring is used for it. */
void st_bpf_ring_wake(struct st_bpf_program *p, const struct st_bpf_ring *r);

/* Has everything been taken that a program has put there, or is about to? */
bool st_bpf_ring_is_empty(const struct st_bpf_ring *r);

/* Take what is there, at most some of it; the bytes are good during the call. true: there is more, which
 * nobody will be woken for. */
typedef void (*st_bpf_taker)(void *ctx, const void *record, size_t len);
bool st_bpf_ring_read(struct st_bpf_ring *r, st_bpf_taker take, void *ctx);

/* Since it was opened. */
uint64_t st_bpf_ring_lost(const struct st_bpf_ring *r);
