/* http_pool: a few threads that do what may take a while: ask the database, ask monitors. Each has a database
 * of its own. The loop gives calls and takes them back; it never waits for one. */
#pragma once

#include "desk/desk.h"

struct st_job {
    struct st_job *next; /* the pool's */
    st_handler *handler;
    struct st_call call; /* db is the pool's to set */
};

struct st_pool;

/* done_fd (of eventfd) becomes readable when st_pool_done() has something. */
int st_pool_new(unsigned threads, struct st_pool **out, struct st_error *err);
int st_pool_done_fd(const struct st_pool *p);

/* false: too much waits already. */
bool st_pool_give(struct st_pool *p, struct st_job *job);

/* All that is done, linked by next; NULL: nothing. */
struct st_job *st_pool_done(struct st_pool *p);

/* How many wait, and how many there is room for. */
unsigned st_pool_waiting(struct st_pool *p, unsigned *room);
