/* order: what the hook asks of the monitor, handed over as JSON in an anonymous file.
 *
 * The hook has read the configuration and config.json already; the monitor knows no other source. */
#pragma once

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum st_on_failure { ST_FAIL_KILL, ST_FAIL_PAUSE };

/* Where records go besides the trace. */
struct st_order_sink {
    const char *to; /* model/sink_spec.h */
    uint32_t types; /* bits of enum st_event_type; 0: all */
    bool refusals;
};

/* A syscall that the container's own profile refuses, and that we are told of. */
struct st_order_refusal {
    const char *name;
    int error;
    uint64_t flags; /* only with one of these in its first argument; 0: always */
};

/* Sockets that it refuses. */
struct st_order_socket {
    int error;
    int64_t family, protocol; /* protocol -1: any */
};

struct st_order {
    const char *id;
    pid_t pid;             /* the container's first process, in our pid namespace; 0: not known yet */
    const char *state_dir; /* …/ID, not made yet */
    const char *trace_path;
    const char *rootfs; /* of the container, real path on the host */
    const char *key_dir;
    const char *policy; /* name or path */
    const char **policy_dirs;
    size_t n_policy_dirs;
    const char *agent_id;
    const char *trace_id;
    const char *mode;  /* annotation io.sandtrace.mode, or NULL */
    const char *depth; /* annotation io.sandtrace.depth, or "policy": as that says; NULL: strict */
    const char *facts; /* canonical JSON object of the container, for the start record */
    size_t facts_len;
    int64_t control_gid; /* -1: root only */
    int64_t worker_grace_ns;
    enum st_on_failure on_failure, on_trace_failure;
    uint64_t rotate_bytes; /* 0: never */
    const char *freezer;   /* "auto", "v1", "v2" */
    bool allow_unsigned;
    bool polled_processes; /* the kernel is not asked to tell of them */
    bool light;            /* a pod's sandbox: life cycle only */
    const char *listener;  /* socket to which the runtime sends fds of seccomp notifications; NULL: none */
    int listener_fd;       /* bound already, and ours; -1: not yet */
    struct st_order_refusal *refused;
    size_t n_refused;
    struct st_order_socket *sockets;
    size_t n_sockets;
    const char **unwatched; /* syscalls of the boundary that the profile decides by arguments */
    size_t n_unwatched;
    bool floor;                /* there is one: */
    bool floor_root;           /* by mounts: its root is read-only because of it */
    const char **floor_points; /* mount points that are read-only because of it */
    size_t n_floor_points;
    int64_t landlock_abi;        /* by Landlock; 0: it is not */
    const char **landlock_rules; /* oci/landlock_words.h */
    size_t n_landlock_rules;
    struct st_order_sink *sinks;
    size_t n_sinks;
    struct st_order_network {
        bool watch;
        bool dead_man;                /* nothing leaves once nobody renews it */
        bool let_host, let_net_admin; /* though its policy limits its network, and that can't be kept */
        bool host_by_group;     /* where it shares the host's network, it is told by its control group */
        bool inner_names;       /* a name may lead to an address of a private network */
        bool net_raw;           /* it can make packets of any kind */
        bool net_admin;         /* the container may change its network namespace */
        bool outside;           /* which is held at the other end of its cables */
        bool made;              /* the runtime makes one for it, that nobody has yet */
        const char **resolvers; /* none: those of the container's resolv.conf */
        size_t n_resolvers;
    } network;

    struct st_order_reach {
        const char *devices;  /* what its devices and settings open of the machine, in words; NULL: nothing */
        const char **closing; /* its mounts that the runtime is going to make read-only; NULL-terminated */
        const char **secret;  /* places of ours that it must not even read; NULL-terminated */
        const char **kept;    /* that it must not write; NULL-terminated */
        bool let_pids, let_groups, let_engine, let_devices; /* though it could get around the watch by them */
    } reach;

    struct st_order_quarantine {
        int64_t at;             /* enum st_severity from which on; 0: never */
        int64_t bytes;          /* of files at most */
        const char *dir;        /* NULL: nothing is kept */
        const char *program;    /* sandtrace-snapshot */
        const char **on_review; /* program that is told, and its arguments; NULL-terminated */
    } quarantine;

    struct st_json_doc *doc; /* owns the strings */
    char *text;
};

/* Takes ownership of nothing; text is copied. */
int st_order_parse(const char *text, size_t len, struct st_order *out, struct st_error *err);
void st_order_free(struct st_order *o);
