/* syscalls: what is known of the syscalls that we are told of besides those that change files: which of them
 * the container's own profile refuses, and how often each was let by and refused. */
#pragma once

#include "base/error.h"
#include "base/json_write.h"
#include "monitor/order.h"

#include <stdbool.h>
#include <stdint.h>

#define ST_SYSCALL_NUMBERS 1024

struct st_syscalls {
    struct {
        int error;      /* 0: the profile does not refuse it */
        uint64_t flags; /* only with one of these in its first argument; 0: always */
    } refusals[ST_SYSCALL_NUMBERS];
    struct {
        uint64_t permitted, refused;
    } counts[ST_SYSCALL_NUMBERS];
};

/* A name that nobody here knows the number of is not asked about either: nobody could. */
void st_syscalls_init(struct st_syscalls *s, const struct st_order *order);

/* The errno that the container's profile would have given to a call with this first argument; 0: it lets it
 * by. */
int st_syscalls_refusal(const struct st_syscalls *s, int nr, uint64_t first);

void st_syscalls_count(struct st_syscalls *s, int nr, bool permitted);

/* {"name":{"permitted":N,"refused":N}…} of those that were used. */
void st_syscalls_write(const struct st_syscalls *s, struct st_jw *w);
