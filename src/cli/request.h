/* request: what the verbs that ask monitors have in common: where to look, whom to ask, how to say it. */
#pragma once

#include "base/json_write.h"
#include "cli/cli.h"
#include "cli/control_client.h"
#include "config/config.h"

struct st_request {
    struct st_cli *cli;
    const struct st_verb *verb;
    struct st_config *config;
    struct st_boxes boxes;
    bool json; /* --json, or standard output is no terminal */
};

/* Configuration and containers. Returns ST_EXIT_OK, or the code to end with, said already. */
int st_request_open(struct st_request *r, struct st_cli *cli, const struct st_verb *verb);
void st_request_close(struct st_request *r);
#define st_auto_request __attribute__((cleanup(st_request_close))) struct st_request

/* Members of a request: who asks, and why (may be NULL); in an object that holds none whose names come later
 * in the alphabet. */
void st_request_members(struct st_jw *w, const char *request, const char *pause_id, const char *reason);

/* A pause somewhere on this host. */
struct st_found_pause {
    const struct st_box *box;
    char id[64];
    struct st_answer answer; /* of `pending`, which pause is part of */
    const struct st_json_node *pause;
};

void st_found_pause_free(struct st_found_pause *f);
#define st_auto_found_pause __attribute__((cleanup(st_found_pause_free))) struct st_found_pause

/* By its id or a beginning of it (with or without "pau_") that only one on this host has. */
int st_request_find_pause(const struct st_request *r, const char *id, struct st_found_pause *out,
                          struct st_error *err);

/* One request to one container, by the beginning of its ID; prints what came of it: `done` is the sentence
 * for people, with the ID behind it. body: the whole request. */
int st_request_to_box(const struct st_request *r, const char *id, const struct st_buf *body,
                      const char *done);

/* A verb whose arguments are IDs and whose only options are flags of the request (an option without a value
 * becomes a member that is true) and `reason`. */
int st_request_run(struct st_cli *cli, const struct st_verb *verb, int argc, char **argv, const char *request,
                   const char *done);
