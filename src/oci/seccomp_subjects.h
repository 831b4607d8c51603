/* seccomp_subjects: what a seccomp profile does with the syscalls that we care about. Private to this folder.
 *
 * How libseccomp (which both runc and crun build a filter with) reads the rules of one syscall: the first one
 * without a condition wins over all others; among those with conditions the order is its own. So a rule of
 * ours with a condition never stands beside one of the profile that refuses. */
#pragma once

#include "oci/seccomp_edit.h"

enum st_seccomp_treatment {
    ST_SECCOMP_ASK,           /* every use */
    ST_SECCOMP_ASK_BY_FLAGS,  /* a use whose flags say that something may change */
    ST_SECCOMP_NO_SUCH,       /* hides its arguments in memory: programs fall back to its older form */
    ST_SECCOMP_ASK_NAMESPACE, /* a use whose flags want a namespace */
    ST_SECCOMP_ASK_FORK,      /* as that, and a use that makes a process, not a thread */
    ST_SECCOMP_ASK_FAMILY     /* a socket that is not of a kind that programs use all day */
};

enum st_seccomp_fate { ST_SECCOMP_REFUSED, ST_SECCOMP_PERMITTED, ST_SECCOMP_BY_ARGUMENTS };

/* Sockets of one kind. */
struct st_seccomp_kind {
    int error, family, protocol; /* protocol -1: any */
};

struct st_seccomp_subject {
    const char *name;
    enum st_seccomp_treatment treatment;
    unsigned flags; /* which argument */
    enum st_seccomp_fate fate;
    const char *action;         /* that decides it */
    bool ours;                  /* ASK_FAMILY, by arguments: its condition is known, and gives way to ours: */
    struct st_seccomp_kind but; /* what it refuses */
    uint64_t none_of; /* ASK_NAMESPACE, by arguments: permitted with none of these flags; 0: another way */
    bool optional; /* where the profile decides by arguments in a way that can't be kept, it is left alone */
    bool left;     /* so it was */
    int forced;    /* refused by the profile, with this errno: asked about, and always answered so; 0: not */
};

struct st_seccomp_subjects {
    const struct st_json_node *rules; /* of the profile; NULL: none */
    const char *fallback;             /* defaultAction */
    int fallback_error;               /* of a default that refuses */
    struct st_seccomp_subject *list;
    size_t n;
};

/* rules and fallback are set; the list is made, and is the caller's to free. */
int st_seccomp_gather(struct st_seccomp_subjects *s, const struct st_oci_seccomp *plan, struct st_error *err);
const struct st_seccomp_subject *st_seccomp_find(const struct st_seccomp_subjects *s, const char *name);

/* Do the profile's rules that permit it give way to ours? NULL: no subject of ours. */
bool st_seccomp_is_taken(const struct st_seccomp_subject *subject);

/* Does this rule give up the name? Of a rule that permits: as above; of one that refuses: it is told of. */
bool st_seccomp_gives_up(const struct st_seccomp_subjects *s, const struct st_json_node *rule,
                         const char *name);

/* What a rule, or a profile by its default, answers; key: where that stands. */
int st_seccomp_error(const struct st_json_node *node, const char *key);

/* Reading rules. An action that is no text is no action: "". */
bool st_seccomp_permits(const char *action);
const char *st_seccomp_action(const struct st_json_node *rule);
bool st_seccomp_has_condition(const struct st_json_node *rule);
bool st_seccomp_names(const struct st_json_node *rule, const char *name);
