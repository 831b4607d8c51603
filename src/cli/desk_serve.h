/* desk_serve: the process of the review desk that speaks HTTP: confined, and started again where it dies. */
#pragma once

#include "config/config.h"
#include "desk/http_login.h"

#include <stdbool.h>

struct st_desk_order {
    const struct st_config *config;
    const char *config_file; /* as --config, or NULL */
    const char *sandtrace;   /* the program */
    const char *db;
    bool read_only, metrics_open;
    const char *quarantine_dir;
    int64_t gid; /* the control group, or -1 */
    int listen_fd;
    bool local;
    int ask_fd; /* to the supervisor, for programs that it runs for us */
    char token[ST_SECRET_SIZE], code[ST_SECRET_SIZE]; /* code "": none */
    const char *user;
    struct st_session *sessions; /* shared with the next one: a log-in outlives this process */
};

/* Serves until it is told to end. Returns an exit code; trouble is said on standard error. */
int st_desk_serve(const struct st_desk_order *o);
