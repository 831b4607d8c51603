/* execs: what is known of an execution that waits to be decided: which file, with which arguments, and where
 * that file comes from.
 *
 * One execve opens several files: the one that was asked for, the interpreter of a script (and that one's, if
 * it is a script again), the loader. The first is the event `process`, op exec; the others stay `filesystem`,
 * op exec. Each is decided before the kernel reads it. */
#pragma once

#include "base/mountinfo.h"
#include "monitor/hashes.h"
#include "monitor/pins.h"
#include "sensors/exec_call.h"
#include "sensors/fan.h"
#include "sensors/process.h"
#include "sensors/program.h"
#include "sensors/resolve.h"

#define ST_EXEC_CALLS 256

struct st_execs {
    int root_mount; /* id of the container's root; -1: not known */
    dev_t root_dev; /* its file system's */
    int upper;      /* where an overlay keeps what was changed; -1: it is none, or not to be found */
    int64_t start_ns, start_mono_ns;
    struct st_exec_seen {
        pid_t tid; /* 0: none */
        uint64_t call;
        uint64_t dev, ino; /* of the file that was asked for */
        bool goes_on;      /* another file will be opened for it */
    } calls[ST_EXEC_CALLS];
    /* Executions that were asked for; those that were allowed, whose open the kernel will report next. */
    struct st_exec_let {
        pid_t tid; /* 0: none */
        uint64_t dev, ino;
        int64_t until_ns; /* 0: not allowed, or not yet */
    } let[ST_EXEC_CALLS];
    struct st_hashes hashes;
    struct st_pins pins;
    /* Scratch: what the last event points to. */
    struct st_exec_argv argv;
    char head[ST_PROGRAM_HEAD];
    struct st_resolved found;
    char sha256[ST_SHA256_HEX + 1];
};

void st_execs_open(struct st_execs *x, const struct st_mounts *container, const char *rootfs);

/* ev: filesystem, op exec, of which path, dev and ino are known; becomes what the trace will say. Valid until
 * the next one. registers: the thread's, as sensors/access.h has them; "": not known. file: what statx says
 * of it, with its mount; NULL: nothing. decide_by_hash: the policy has rules about hashes. */
void st_execs_describe(struct st_execs *x, const struct st_fan_event *seen, const char *registers,
                       const struct st_process_facts *facts, const struct statx *file, bool decide_by_hash,
                       struct st_event *ev);

/* The kernel reports an execution twice: as that, and right behind it as the open that it does for it. The
 * first was allowed; is this the second? Used up by the question. */
void st_execs_let(struct st_execs *x, pid_t tid, int fd);
bool st_execs_is_let(struct st_execs *x, pid_t tid, int fd);
