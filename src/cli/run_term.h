/* run_term: the caller's terminal: raw while the container has one of its own, as it was for a question and
 * at the end. No fd of it ever goes into the container. */
#pragma once

#include <stdbool.h>
#include <termios.h>

struct st_run_term {
    int fd; /* /dev/tty; -1: there is none */
    struct termios before;
};

#define ST_RUN_TERM_NONE                                                                                     \
    {                                                                                                        \
        .fd = -1                                                                                             \
    }

/* None is no error. */
void st_run_term_open(struct st_run_term *t);
void st_run_term_raw(const struct st_run_term *t);
void st_run_term_restore(const struct st_run_term *t);

/* Are we who may read from it now? Else the kernel would stop us. */
bool st_run_term_is_ours(const struct st_run_term *t);

/* The size, from the caller's to the container's. */
void st_run_term_size(const struct st_run_term *t, unsigned short *rows, unsigned short *columns);
void st_run_term_resize(const struct st_run_term *t, int master);
