/* bus: sends each record to whoever listens in STATE_DIR/bus.d, one JSON object a line. docs/control.md.
 *
 * The folder is opened and watched (inotify) while the worker still may; after that sockets that appear are
 * connected to. Nothing here waits for a reader, and no reader for a monitor: what does not fit into a
 * reader's queue is counted and told. Without an event or a new socket there is no wake-up; a socket that
 * refuses is tried a few times more, as its owner may be between bind() and listen(), and then left alone. */
#pragma once

#include "base/error.h"
#include "monitor/loop.h"
#include "monitor/outbox.h"

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#define ST_BUS_READERS 16

struct st_bus;

struct st_bus_reader {
    struct st_bus *bus;
    int fd; /* -1: free */
    dev_t dev;
    ino_t ino; /* of its socket's name: no reader is connected to twice */
    struct st_outbox out;
    uint32_t watched;
};

/* A socket that refused, to be tried again. */
struct st_bus_retry {
    char name[NAME_MAX + 1]; /* "": free */
    unsigned tries;
    int64_t at_ns;
};

struct st_bus {
    int dirfd, notify; /* -1: there is no bus */
    int64_t gid;
    const char *id;
    struct st_loop *loop;
    char off[256]; /* why there is none */
    bool crowded;  /* a reader found no place */
    struct st_bus_reader readers[ST_BUS_READERS];
    struct st_bus_retry retries[ST_BUS_READERS];
};

/* state_dir: the host-wide one. The bus is closed (and harmless) where this fails. */
int st_bus_open(struct st_bus *b, const char *state_dir, int64_t gid, const char *id, struct st_error *err);

/* Connects to those that are there already. */
int st_bus_attach(struct st_bus *b, struct st_loop *loop, struct st_error *err);

void st_bus_tell(struct st_bus *b, uint64_t seq, const char *line, size_t len);
void st_bus_flush(struct st_bus *b);

/* Tries that are due: when (monotonic ns, or -1), and do them. */
int64_t st_bus_deadline(const struct st_bus *b);
void st_bus_tick(struct st_bus *b);

/* Sends what the sockets take at once, and hangs up. */
void st_bus_close(struct st_bus *b);
