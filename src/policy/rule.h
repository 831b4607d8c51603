/* rule: one entry of the table as it was read, for who compiles, explains or plans by it.
 *
 * Everything lives as long as the policy. Patterns are kept as text; src/policy/compile.c turns them into
 * something fast. */
#pragma once

#include "model/addr.h"
#include "model/verdict.h"
#include "policy/policy.h"

enum st_rule_type {
    ST_RULE_FILESYSTEM,
    ST_RULE_EGRESS,
    ST_RULE_INGRESS,
    ST_RULE_DNS,
    ST_RULE_PROCESS,
    ST_RULE_SYSCALL,
    ST_RULE_MATCH,
    ST_RULE_THRESHOLD,
    ST_RULE_SEQUENCE,
    ST_RULE_TYPES
};

struct st_port_range {
    uint16_t low, high;
};

/* One item of `destinations` or `sources`. By name, by address, or neither: then any. */
struct st_destination {
    const char *host;    /* lower case, A-labels; may begin with `*.` or `**.`; NULL: not by name */
    struct st_addr addr; /* family 0: not by address */
    unsigned bits;
    const struct st_port_range *ports;
    size_t n_ports;   /* 0: all */
    uint8_t protocol; /* IPPROTO_*, 0: all */
};

enum st_predicate_op { ST_PRED_EQUALS, ST_PRED_GLOB, ST_PRED_NOT_IN };

struct st_predicate {
    unsigned field; /* index of policy/fields.h */
    enum st_predicate_op op;
    const char *const *values; /* equals and glob: one */
    size_t n_values;
    struct pathmatch *paths; /* a glob of paths, compiled; NULL: the value is matched as text */
};

/* Predicates that must all hold. */
struct st_condition {
    struct st_predicate *predicates;
    size_t n;
};

enum st_metric { ST_METRIC_COUNT, ST_METRIC_SUM, ST_METRIC_RATE };

struct st_threshold {
    enum st_metric metric;
    int field; /* -1: none */
    int64_t window_ms;
    double limit;
};

struct st_sequence {
    int64_t window_ms;
    struct st_condition *steps;
    size_t n_steps;
};

struct st_binding {
    const char *name;
    unsigned field;
};

struct st_rule_place {
    const char *file;
    unsigned line, column;
};

struct st_rule {
    const char *id; /* NULL: a directory of the scope, which stands behind all rules */
    const char *description;
    struct st_rule_place at;
    enum st_rule_type type;
    enum st_result action; /* ST_ALLOW or ST_DENY */
    enum st_severity severity;
    bool derived;             /* made from a list of an older form, which may overlap with another */
    bool audit_only;          /* `mode: audit` of this one rule */
    const char *if_exists;    /* it holds only where this path is there at the start; NULL: always */
    unsigned access;          /* filesystem, process: ST_ACCESS_* */
    const char *const *paths; /* filesystem, process */
    size_t n_paths;
    const char *const *hashes; /* process: hex */
    size_t n_hashes;
    const struct st_destination *dests; /* network */
    size_t n_dests;
    const char *const *names; /* syscall, dns_query */
    size_t n_names;
    int64_t max_bytes_per_call, max_bytes_total; /* -1: no limit */
    struct st_condition when;                    /* match; threshold: which events it counts */
    const struct st_binding *bind;               /* match: what the reason tells */
    size_t n_bind;
    struct st_threshold threshold;
    struct st_sequence sequence;
    unsigned slot; /* where its state is in the counters, for rules that have any */
};

const char *st_rule_type_name(enum st_rule_type type);
