/* plan: what a policy asks of a bundle: which syscalls are asked about, which directories stay writable. Pure
 * but for loading the policy. */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "config/config.h"
#include "oci/select.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stddef.h>

struct st_bundle_list {
    const char **items;
    size_t n;
};

struct st_bundle_plan {
    struct st_policy *policy;
    bool enforce; /* else nothing is refused that was not before */
    enum st_floor floor;
    bool forks;     /* whoever begins a process asks first */
    int64_t pids;   /* how many tasks the kernel lets it have at most; 0: as many as it was given */
    char *listener; /* path of the monitor's socket for notifications; NULL: none */
    struct st_bundle_list notify, also, guarded;
    struct st_arena strings;
};

/* A policy that can't be loaded, or asks for what is not there, stops the container. */
int st_bundle_plan_make(const struct st_config *config, const struct st_selection *selection, const char *id,
                        struct st_bundle_plan *out, struct st_error *err);
void st_bundle_plan_free(struct st_bundle_plan *plan);
#define st_auto_bundle_plan __attribute__((cleanup(st_bundle_plan_free))) struct st_bundle_plan
