/* run_args: what `sandtrace run` was asked for, as text that is checked but not looked up. Pure. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define ST_RUN_WORKSPACE "/workspace"

enum st_run_network { ST_RUN_NET_NONE, ST_RUN_NET_USER, ST_RUN_NET_HOST };

struct st_run_bind {
    char *source; /* as given: may be relative */
    char *target; /* absolute, normal; NULL: as the source, once that is known */
    bool readonly;
};

struct st_run_args {
    const char *policy; /* NULL: the configuration's */
    const char *depth;  /* NULL: likewise */
    enum st_run_network network;
    struct st_run_bind *binds;
    size_t n_binds;
    const char **env; /* NAME=VALUE, or NAME alone: the caller's */
    size_t n_env;
    const char *user;  /* NULL: the caller */
    const char *trace; /* NULL: no copy */
    bool interactive;
    char **command;
    int n_command;
};

/* guard, record or strict. */
int st_run_parse_depth(const char *text, const char **out, struct st_error *err);

/* none, user or host. */
int st_run_parse_network(const char *text, enum st_run_network *out, struct st_error *err);

/* SRC[:DST][:ro]. */
int st_run_add_bind(struct st_run_args *a, const char *text, struct st_error *err);

/* May a mount of the caller's be put there? Not over what the container stands on. */
int st_run_check_target(const char *target, struct st_error *err);

/* NAME=VALUE or NAME. */
int st_run_add_env(struct st_run_args *a, const char *text, struct st_error *err);

/* UID or UID:GID in digits; false: it is a name. */
bool st_run_parse_ids(const char *text, unsigned *uid, unsigned *gid, bool *has_gid);

void st_run_args_free(struct st_run_args *a);
#define st_auto_run_args __attribute__((cleanup(st_run_args_free))) struct st_run_args
