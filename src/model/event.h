/* event: one fact about a container, as a sensor hands it on and as policy, respond and trace read it.
 *
 * Everything is borrowed: an event lives on the stack of who made it and is gone when the pipeline
 * returns. Names and meanings are those of formats.md, 2. Sensors fill it, policy reads it, nobody else
 * changes it. Rare kinds (lifecycle, sensor …) bring their payload as canonical JSON. */
#pragma once

#include "model/addr.h"
#include "model/str.h"
#include "model/verdict.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum st_event_type {
    ST_EV_LIFECYCLE,
    ST_EV_FILESYSTEM,
    ST_EV_FILESYSTEM_SUMMARY,
    ST_EV_NETWORK_EGRESS,
    ST_EV_NETWORK_INGRESS,
    ST_EV_DNS_QUERY,
    ST_EV_PROCESS,
    ST_EV_SYSCALL,
    ST_EV_SECURITY_PAUSE,
    ST_EV_SECURITY_RESUME,
    ST_EV_POLICY_CHANGE,
    ST_EV_SENSOR,
    ST_EV_CHECKPOINT,
    ST_EV_TYPES
};

enum st_tier { ST_TIER_KERNEL, ST_TIER_DERIVED, ST_TIER_POLLED };

/* Integers that may be unknown. */
#define ST_UNKNOWN INT64_MIN

struct st_ancestor {
    pid_t pid;
    struct st_str comm, exe;
};

struct st_process {
    bool present;
    bool incomplete;
    pid_t pid, container_pid; /* 0: unknown */
    int64_t uid, gid;         /* ST_UNKNOWN */
    struct st_str comm, exe, cwd;
    struct st_str argv; /* as in /proc/PID/cmdline: NUL-separated, cut at 4 KiB */
    const struct st_ancestor *ancestry;
    size_t n_ancestry;
};

enum st_fs_op {
    ST_FS_OPEN,
    ST_FS_EXEC,
    ST_FS_CREATE,
    ST_FS_MODIFY,
    ST_FS_DELETE,
    ST_FS_RENAME,
    ST_FS_LINK,
    ST_FS_ATTRIB,
    ST_FS_MOUNT,
    ST_FS_OPS
};

/* What is wanted of the object; a policy's `access:` is a set of these. */
#define ST_ACCESS_READ 1u
#define ST_ACCESS_WRITE 2u
#define ST_ACCESS_EXEC 4u
#define ST_ACCESS_CREATE 8u
#define ST_ACCESS_DELETE 16u
#define ST_ACCESS_ATTRIB 32u
#define ST_ACCESS_ALL 63u

/* What is known of a file that is to be executed, besides its name. */
struct st_program {
    struct st_str sha256; /* hex; p NULL: not asked for, or not to be had */
    bool is_new;          /* made or changed since the container started */
    bool deleted;         /* it has no name any more */
    bool memfd;           /* it never had one */
    bool unhashed;        /* its hash was wanted, and could not be had: too large, or being written */
};

struct st_ev_filesystem {
    enum st_fs_op op;
    unsigned access;
    struct st_str path;        /* container's view, absolute, normal form */
    struct st_str target;      /* rename, link */
    int64_t size;              /* ST_UNKNOWN */
    uint64_t dev, ino;         /* 0, 0: unknown */
    struct st_program program; /* exec */
    bool blocked;
};

enum st_host_source { ST_HOST_UNKNOWN, ST_HOST_DNS, ST_HOST_SNI, ST_HOST_HTTP };
enum st_net_state { ST_NET_ATTEMPT, ST_NET_ESTABLISHED, ST_NET_CLOSED };

struct st_ev_network { /* egress: remote is the destination; ingress: the peer */
    struct st_str host;
    enum st_host_source host_source;
    struct st_addr addr;
    uint16_t port;
    uint16_t local_port; /* the container's own; 0: not known */
    uint8_t protocol;    /* IPPROTO_* */
    enum st_net_state state;
    int64_t bytes_sent, bytes_received, packets_sent, packets_received, duration_ms; /* ST_UNKNOWN */
    bool blocked;
};

struct st_ev_dns {
    struct st_str name;
    uint16_t qtype;
    const struct st_str *answers; /* as text */
    size_t n_answers;
    struct st_addr server;
    bool blocked;
};

enum st_proc_op { ST_PROC_EXEC, ST_PROC_FORK_LIMIT, ST_PROC_DEPTH_LIMIT, ST_PROC_EXIT, ST_PROC_OPS };

struct st_ev_process {
    enum st_proc_op op;
    struct st_str path, interpreter;
    struct st_str
        target;         /* exec: the name by which it was reached, where path is another of the same object */
    struct st_str argv; /* exec: of the new image; as st_process.argv */
    bool incomplete;    /* exec: argv could not be read to its end */
    struct st_program program;
    int64_t depth, children, processes, forks, exit_code,
        exit_signal; /* ST_UNKNOWN; forks: of the last second */
    bool blocked;
};

struct st_ev_syscall {
    struct st_str name;
    struct st_str args;       /* canonical JSON object, or NULL */
    struct st_str capability; /* that it needs; NULL: none, or not clearly one */
    bool memfd;               /* it makes or runs a program that is in memory only */
    bool blocked;
};

struct st_event {
    enum st_event_type type;
    enum st_tier tier;
    int64_t wall_us;
    struct st_process process; /* in the payload where present */
    /* A folded event: how many there were, the first and the last of them. count 0 or 1: not folded. */
    uint64_t count;
    int64_t first_us, last_us;
    union {
        struct st_ev_filesystem fs;
        struct st_ev_network net;
        struct st_ev_dns dns;
        struct st_ev_process proc;
        struct st_ev_syscall sys;
        struct st_str json; /* all other types: the whole payload, canonical */
    };
};

const char *st_event_type_name(enum st_event_type t);
const char *st_tier_name(enum st_tier t);
const char *st_fs_op_name(enum st_fs_op op);
const char *st_proc_op_name(enum st_proc_op op);
const char *st_host_source_name(enum st_host_source s);
const char *st_net_state_name(enum st_net_state s);
const char *st_access_name(unsigned bit);

int st_event_type_by_name(struct st_str name); /* -1: none such; so with all of these */
int st_tier_by_name(struct st_str name);
int st_fs_op_by_name(struct st_str name);
int st_proc_op_by_name(struct st_str name);
int st_host_source_by_name(struct st_str name);
int st_net_state_by_name(struct st_str name);
int st_access_by_name(struct st_str name); /* the bit */
