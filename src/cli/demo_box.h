/* demo_box: the agent of a demonstration: bash in a container of `sandtrace run`, which is given a line and
 * answers with what it printed. What it does may wait for a decision meanwhile. */
#pragma once

#include "cli/control_client.h"
#include "cli/demo_net.h"
#include "cli/demo_place.h"

struct st_demo_box {
    const struct st_demo_place *place;
    pid_t pid; /* of the process that runs it; 0: over */
    int to, from;
    struct st_box box; /* id NULL: not yet found */
    struct st_buf said;
    int64_t deadline; /* monotonic, ns: of the whole demonstration */
};

#define ST_DEMO_BOX_NONE                                                                                     \
    {                                                                                                        \
        .to = -1, .from = -1, .box = {.dirfd = -1 }                                                          \
    }

enum st_demo_news { ST_DEMO_DONE, ST_DEMO_WAITS, ST_DEMO_OVER, ST_DEMO_LATE };

/* arrived: where the network is to be; NULL: none. */
int st_demo_box_start(struct st_demo_box *b, const struct st_demo_place *place,
                      const struct st_demo_scenario *s, struct st_cli *cli, struct st_demo_arrived *arrived,
                      struct st_error *err);

/* A line for its shell. */
int st_demo_box_give(struct st_demo_box *b, const char *command, struct st_error *err);

/* DONE: the command has ended, said is what it printed. WAITS: something waits for a decision, which is in
 * answer. OVER: the container has ended. LATE: the time is up. */
enum st_demo_news st_demo_box_wait(struct st_demo_box *b, struct st_answer *answer);

/* The answer to a pause. */
int st_demo_box_decide(const struct st_demo_box *b, const char *pause, enum st_demo_answer answer,
                       struct st_error *err);

/* No more lines: returns when the container has ended, and its trace is closed. */
void st_demo_box_end(struct st_demo_box *b);

/* What its makers said where it did not come up. */
void st_demo_box_reason(const struct st_demo_box *b, struct st_buf *out);

void st_demo_box_free(struct st_demo_box *b);
