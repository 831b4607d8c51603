/* worker_support: a worker without a container, as far as requests need one: policy, trace, pauses. */
#pragma once

#include "monitor/worker_private.h"

struct worker_fixture {
    char dir[64];
    struct st_pulse pulse;
    struct st_watch watch;
    struct st_worker worker;
    struct st_client client;
    unsigned allowed, refused, killed; /* operations answered; how often the container was to be killed */
    unsigned trace_failures;           /* how often the trace was said to have failed */
};

/* Exits with a message where the machine does not let it. The policy's file is dir/p.yaml. */
void worker_fixture_open(struct worker_fixture *f);
void worker_fixture_close(struct worker_fixture *f);

/* An operation whose answer is counted. */
struct st_operation worker_fixture_operation(struct worker_fixture *f);

/* One more operation that waits, for reading /etc/shadow. */
struct st_pause *worker_fixture_hold(struct worker_fixture *f);

/* Ask; the answer, which the fixture owns until the next. */
const char *worker_fixture_ask(struct worker_fixture *f, const char *request);
