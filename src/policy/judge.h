/* judge: the pieces of one decision. Private to src/policy.
 *
 * Each kind of event has a function that gives an outcome; the worst of several outcomes is the verdict. Who
 * asks why (notes) goes through the same functions. */
#pragma once

#include "policy/snapshot.h"

#include <limits.h>

/* What became of a rule that did not decide. */
enum note_kind {
    NOTE_NOTHING, /* not of this event's kind, or nothing of it matched */
    NOTE_ACCESS,  /* a path matched, the access did not */
    NOTE_PORT,    /* name or address matched, the port did not: detail is the destination */
    NOTE_PROTOCOL,
    NOTE_PREDICATE, /* detail: which predicate did not hold */
    NOTE_COUNTED,   /* detail: threshold not reached; value: what it has come to */
    NOTE_STEP,      /* detail: steps done so far */
    NOTE_MATCHED    /* it did match: another part of the event weighed more, or an earlier rule decided */
};

struct st_note {
    enum note_kind kind;
    uint32_t detail;
    double value;
};

enum why {
    WHY_RULE,     /* the rule says so */
    WHY_DEFAULT,  /* no rule matched */
    WHY_METADATA, /* no rule names the address that hands out a cloud's keys */
    WHY_PER_CALL,
    WHY_TOTAL,
    WHY_THRESHOLD,
    WHY_SEQUENCE,
    WHY_DEPTH,
    WHY_CHILDREN,
    WHY_PROCESSES,
    WHY_FORKS,
    WHY_NEW,      /* made or changed since the start */
    WHY_DELETED,  /* a file without a name */
    WHY_MEMFD,    /* or one that never had one */
    WHY_UNHASHED, /* a rule refuses hashes, and this file's is not known */
    WHY_BAD_PATH, /* not absolute, or longer than any path */
    WHY_NOT_JUDGED
};

struct outcome {
    enum st_result result;
    enum st_severity severity;
    uint32_t rule; /* NO_RULE: none */
    enum why why;
    unsigned access;       /* filesystem: the bit that decided */
    struct st_str subject; /* filesystem, process: the path that decided */
    double value, limit;   /* of a limit that was passed */
};

struct judge {
    const struct st_policy *p;
    struct st_counters *c;
    const struct st_event *e;
    struct st_note *notes; /* NULL: nobody asks */
    uint32_t generic;      /* first match, threshold or sequence rule that holds; NO_RULE */
    double value;          /* what it has come to */
    unsigned n_normal;     /* paths that had to be brought into normal form */
};

/* ---- counters ---- */

#define THRESHOLD_BUCKETS 64

/* A window that moves in steps of its 63rd part and never forgets too early. */
struct threshold_state {
    int64_t newest; /* number of the newest bucket */
    double buckets[THRESHOLD_BUCKETS];
};

/* For each step: the latest time at which a run began that has come this far; INT64_MIN: none. */
struct sequence_state {
    int64_t *began;
};

struct st_counters {
    struct st_policy *policy; /* the owner of the table */
    int64_t *sent;            /* one an egress rule */
    struct threshold_state *thresholds;
    struct sequence_state *sequences;
    int64_t now_us; /* never goes back */
    /* Room for what the last verdict points to. */
    struct st_buf reason, subject;
    char normal[2][PATH_MAX];
};

/* ---- by kind ---- */

/* All generic rules see the event; sets j->generic. */
void st_judge_generic(struct judge *j);

struct outcome st_judge_path(struct judge *j, struct st_str path, unsigned access);
struct outcome st_judge_program(struct judge *j, struct st_str path, const struct st_program *program);
struct outcome st_judge_filesystem(struct judge *j);
struct outcome st_judge_summary(struct judge *j);
struct outcome st_judge_process(struct judge *j);
struct outcome st_judge_network(struct judge *j);
struct outcome st_judge_dns(struct judge *j);
struct outcome st_judge_syscall(struct judge *j);
/* Of a syscall: o, unless it is about a program that is in memory only, and none may run. No rule about the
 * syscall is an exception, as none about a path is. */
struct outcome st_judge_memory(const struct judge *j, struct outcome o);

/* What the first rule that matched says; NO_RULE: what the default says. Generic rules have been considered.
 */
struct outcome st_outcome_of(const struct judge *j, uint32_t rule, enum st_result fallback);
struct outcome st_worse_outcome(struct outcome a, struct outcome b);

static inline void note(struct judge *j, uint32_t rule, enum note_kind kind, uint32_t detail)
{
    if (j->notes && rule < j->p->n_rules && j->notes[rule].kind <= kind)
        j->notes[rule] = (struct st_note){.kind = kind, .detail = detail};
}

/* The sentence, into j->c->reason. reason.c. */
struct st_str st_reason_for(struct judge *j, const struct outcome *o);

/* Is this so of the event? One about a field that it does not have never is. */
bool st_predicate_holds(const struct st_event *e, const struct st_predicate *p);
