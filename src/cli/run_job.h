/* run_job: one run, from an empty place to an empty place. What fails on the way leaves nothing. */
#pragma once

#include "cli/cli.h"
#include "cli/run_args.h"
#include "cli/run_who.h"
#include "config/config.h"

struct st_run_job {
    struct st_cli *cli;
    const struct st_config *config;
    const struct st_run_args *args;
    const struct st_run_who *who;
    char **env;            /* of the command */
    const char *workspace; /* the current folder */
    char *stack;           /* program of the user-mode network; NULL: none */
    /* Brings the network instead, before the container starts; NULL: nobody does. */
    int (*connect)(void *ctx, pid_t init, struct st_error *err);
    void *connect_ctx;
    mode_t umask; /* of the caller */
    /* What came of it. */
    char id[32];
    int code; /* of the command */
    size_t left_out;
};

/* Negative: the command has not run, or not to its end. */
int st_run_job(struct st_run_job *job, struct st_error *err);
