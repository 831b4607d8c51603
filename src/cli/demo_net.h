/* demo_net: a small internet for one container: a namespace with a resolver and one server that stands in for
 * an API, and a cable to it. It is a process; it goes with who started it, and the namespace with it. */
#pragma once

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* Shared with the process. */
struct st_demo_arrived {
    _Atomic uint64_t bytes; /* of bodies */
    _Atomic uint64_t requests;
};

/* NULL: out of memory. For the rest of the program's life. */
struct st_demo_arrived *st_demo_arrived_new(void);

/* ctx: a struct st_demo_arrived. Returns when the network is there (cli/run_job.h, connect). */
int st_demo_net_connect(void *ctx, pid_t init, struct st_error *err);

/* ---- demo_server ---- */

#define ST_DEMO_API "api.stripe.com"

/* Listens in the namespace that we are in now; fds are the caller's. */
int st_demo_listen(int *dns, int *http, struct st_error *err);
_Noreturn void st_demo_serve(int dns, int http, struct st_demo_arrived *arrived);

/* The answer to a question of DNS, in place; returns its length, 0: none. room: of the packet. */
size_t st_demo_answer_dns(unsigned char *packet, size_t len, size_t room);

#define ST_DEMO_API_ADDRESS "203.0.113.10"
#define ST_DEMO_GATEWAY "10.0.2.2"
#define ST_DEMO_AGENT_ADDRESS "10.0.2.100"
