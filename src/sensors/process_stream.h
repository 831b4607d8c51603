/* process_stream: what the kernel tells about the processes of one control group as it happens: who forked
 * whom, who runs another program, who ended and how. By BPF programs at its tracepoints; nobody is held up.
 *
 * Order is that in which it happened: a fork is told before anything that the child does. */
#pragma once

#include "sensors/bpf_ring.h"

#include <stdbool.h>
#include <sys/types.h>

enum st_process_news { ST_NEWS_FORK = 1, ST_NEWS_EXEC, ST_NEWS_EXIT };

/* As the programs write it; numbers are those of the first pid namespace. */
struct st_process_told {
    uint32_t kind;
    pid_t pid;        /* of the process; fork: of the child */
    pid_t by, by_pid; /* fork: the thread and the process that called */
    pid_t parent;     /* fork: as the kernel has it */
    int32_t status;   /* exit: as waitpid has it */
    uint64_t start_ns;
    char comm[16]; /* exec */
    uint64_t ino;  /* exec: of the program's file */
};

#define ST_PROCESS_TRACEPOINTS 3

struct st_process_stream {
    struct st_bpf_ring ring;
    uint64_t forks;                    /* that were read */
    int group;                         /* map of the one group that is meant */
    int links[ST_PROCESS_TRACEPOINTS]; /* what keeps the programs at work */
};

#define ST_PROCESS_STREAM_NONE                                                                               \
    {                                                                                                        \
        .ring = ST_BPF_RING_NONE, .group = -1, .links = { -1, -1, -1 }                                       \
    }

/* Everything but the group: until there is one, nothing is told. forks_wake: by forks the reader is woken;
 * else they are told when there is something else to tell, or when it is read. */
int st_process_stream_open(struct st_process_stream *s, bool forks_wake, struct st_error *err);
void st_process_stream_close(struct st_process_stream *s);

/* From now on the processes in this group (of version 2) and below. */
int st_process_stream_watch(struct st_process_stream *s, int group_dir, struct st_error *err);

/* What is there, as st_bpf_ring_read. */
typedef void (*st_process_taker)(void *ctx, const struct st_process_told *told);
bool st_process_stream_read(struct st_process_stream *s, st_process_taker take, void *ctx);

/* Has everything been read that the kernel has told, or is about to? */
bool st_process_stream_is_settled(const struct st_process_stream *s);

/* Who is woken (ring.fd). At first, and after _sleep: by everything. After _comes: the reader will look again
 * by itself, soon; it is woken only by a fork that comes after as many more than it has read by now. */
void st_process_stream_comes(struct st_process_stream *s, uint64_t forks);
/* false: there is something to be read, of which nobody may be told. */
bool st_process_stream_sleep(struct st_process_stream *s);
