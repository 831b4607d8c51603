/* config: the configuration file, sandtrace.yaml(5), whole and checked, or an error that says where.
 *
 * Read by every program of ours. An environment variable wins over the file, the file over the built-in
 * default. Nothing here opens, makes or resolves what the settings name. */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum st_worker_failure { ST_WORKER_FAILURE_KILL, ST_WORKER_FAILURE_PAUSE };
enum st_trace_failure { ST_TRACE_FAILURE_PAUSE, ST_TRACE_FAILURE_KILL };
enum st_process_events { ST_PROCESSES_AUTO, ST_PROCESSES_POLLED };
enum st_freezer_choice { ST_FREEZER_AUTO, ST_FREEZER_V1, ST_FREEZER_V2 };
enum st_refusal { ST_REFUSE, ST_LET };
enum st_host_network { ST_HOST_REFUSE, ST_HOST_LET, ST_HOST_BY_GROUP };
enum st_net_admin { ST_NET_ADMIN_REFUSE, ST_NET_ADMIN_LET, ST_NET_ADMIN_OUTSIDE };
enum st_depth_by { ST_DEPTH_BY_NOBODY, ST_DEPTH_BY_POLICY };
enum st_pod_sandbox { ST_POD_SANDBOX_LIGHT, ST_POD_SANDBOX_FULL };

enum st_unreviewed { ST_UNREVIEWED_LET, ST_UNREVIEWED_CONTAINER, ST_UNREVIEWED_IMAGE };

/* Where records go besides the trace. */
struct st_config_sink {
    char *to;       /* model/sink_spec.h */
    uint32_t types; /* bits of enum st_event_type; 0: all */
    bool refusals;  /* only what was not allowed */
};

struct st_config {
    char *file;    /* what was read; NULL: there is none, these are the defaults */
    char *runtime; /* path or name of the real runtime; NULL: look for runc, then crun */
    char *hook, *monitor;
    char *state_dir, *log_dir, *key_dir;
    char *events_db;                      /* the index of the review desk */
    char *quarantine_dir;                 /* what is kept of containers that ended by a violation */
    unsigned quarantine_at;               /* enum st_severity from which on; 0: never */
    int64_t quarantine_max_bytes;         /* of the files of one; 0: none */
    enum st_unreviewed refuse_unreviewed; /* what does not start while a task about it is open */
    char **on_review;     /* program that is told of tasks, and its arguments; NULL: nobody is */
    char **policy_dirs;   /* searched in order; NULL-terminated, never empty */
    char *default_policy; /* a name, or an absolute path */
    char *control_group;  /* name or number; NULL: only root */
    bool policy_paths, policy_from_env, allow_disable, allow_unsigned;
    enum st_worker_failure on_worker_failure;
    enum st_trace_failure on_trace_failure;
    enum st_freezer_choice freezer; /* which control group hierarchy freezes */
    enum st_process_events
        process_events;     /* is the kernel asked to tell of processes, or are they counted? */
    enum st_depth_by depth; /* who says which opens are asked about, if not an annotation; nobody: all are */
    enum st_pod_sandbox pod_sandbox;
    bool network;                      /* is it watched? */
    bool dead_man_switch;              /* nothing leaves once nobody renews it */
    enum st_refusal inner_names;       /* that lead to addresses of private networks */
    enum st_host_network host_network; /* of containers whose policy limits their network */
    enum st_net_admin net_admin;       /* likewise; outside: they are held at the other end of their cables */
    enum st_refusal host_pid;          /* of containers that see the host's processes */
    enum st_refusal cgroup_write;      /* that could thaw themselves, or leave their group */
    enum st_refusal engine_socket;     /* that could have an engine start others */
    enum st_refusal host_devices;      /* that could write the machine's disks, memory or settings */
    char **resolvers;                  /* NULL-terminated; NULL: those of the container's resolv.conf */
    int64_t worker_grace_ms, hook_timeout_ms;
    int64_t trace_rotate; /* bytes; 0: never */
    struct st_config_sink *sinks;
    size_t n_sinks;
};

/* file: given by --config; NULL: SANDTRACE_CONFIG, else the default place, and only there may it be
 * absent. The file must belong to root or to the caller and be writable by nobody else. */
int st_config_load(const char *file, struct st_config **out, struct st_error *err);
void st_config_free(struct st_config *config);
void st_config_freep(struct st_config **config);
#define st_auto_config __attribute__((cleanup(st_config_freep))) struct st_config *

/* The same from a text; name is used in messages. For tests and fuzzers. */
int st_config_parse(const char *name, const char *text, size_t len, struct st_config **out,
                    struct st_error *err);

/* The number of control_group, looked up in the group file (/etc/group); -1 where none is set. Not by NSS,
 * which static programs can't load. */
int st_config_control_gid(const struct st_config *config, const char *group_file, gid_t *out,
                          struct st_error *err);
