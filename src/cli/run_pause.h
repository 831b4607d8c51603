/* run_pause: what of the container waits for a decision: shown to who started it, and asked where there is a
 * terminal to answer at. Without one the policy's timeout decides, or somebody else. */
#pragma once

#include "cli/control_client.h"
#include "cli/run_term.h"

struct st_run_pauses {
    struct st_box box;
    const char *config; /* --config, for the commands that are shown; may be NULL */
    const struct st_run_term *term;
    bool raw;   /* the terminal is raw between questions */
    bool color; /* of the terminal */
    bool waits; /* something does, as far as was heard: the container stands still */
    int events; /* connection to the monitor; -1: none */
    struct st_buf heard;
    char asked[64]; /* the pause that is being asked about; "": none */
    struct st_buf typed;
    struct st_buf told; /* ids of pauses that were shown, one a line */
};

#define ST_RUN_PAUSES_NONE                                                                                   \
    {                                                                                                        \
        .box = {.dirfd = -1}, .events = -1                                                                   \
    }

int st_run_pauses_open(struct st_run_pauses *p, const char *state_dir, const char *id, struct st_error *err);
void st_run_pauses_close(struct st_run_pauses *p);

/* Something came from the monitor. */
void st_run_pauses_hear(struct st_run_pauses *p);

/* Is the terminal ours to ask at, and somebody is to answer? */
bool st_run_pauses_asks(const struct st_run_pauses *p);

/* Something was typed. */
void st_run_pauses_answer(struct st_run_pauses *p);

/* Ctrl-C at the question, or nobody there any more. */
void st_run_pauses_deny(struct st_run_pauses *p);

enum st_run_answer { ST_ANSWER_NONE, ST_ANSWER_ONCE, ST_ANSWER_ALWAYS, ST_ANSWER_DENY, ST_ANSWER_KILL };

/* What a line that was typed means. What a terminal answers to who asks it by escape sequences means nothing.
 */
enum st_run_answer st_run_read_answer(const char *line, size_t len);
