/* review: tasks for a person: what was kept of a container that ended by a violation, and what became of it.
 *
 * Each is a folder of `quarantine_dir`, called by its ID: that of the container, with .2, .3 … behind it
 * where the same one ended so again. A folder that is there is whole: it was made under a name that begins
 * with a dot and renamed. review.json is written once; what is decided is appended to verdicts.jsonl beside
 * it, and nothing is ever taken away. No database: these files are the truth.
 *
 * All of it was written by us, and is read as if it were not: bounded, of the right types, never through a
 * symbolic link. What can't be read is listed as an open task that says so: a task does not vanish by being
 * spoilt. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ST_REVIEW_REASON_MAX 4096
#define ST_REVIEW_LIST_MAX 10000

enum st_review_state { ST_REVIEW_OPEN, ST_REVIEW_CLOSED };
enum st_review_verdict {
    ST_REVIEW_BENIGN,
    ST_REVIEW_MALICIOUS,
    ST_REVIEW_POLICY, /* the policy was wrong, not the container */
    ST_REVIEW_OTHER
};

/* What was kept, in numbers; details are in snapshot.json and changes.jsonl. */
struct st_review_snapshot {
    char *sha256;  /* of snapshot.json, as the trace has it; NULL: none could be taken */
    char *failure; /* why not, or why not all of it; NULL: nothing failed */
    char *kind;    /* of files: "overlay", "directory", "none" */
    bool frozen;   /* was it, while it was looked at? */
    int64_t processes, sockets, mounts, files, deleted, omitted, tar_bytes, took_ms;
};

/* Strings are NULL where they are not known. */
struct st_review {
    char *id;     /* name of the folder */
    char *folder; /* its path */
    char *container, *agent_id, *trace_id, *image;
    char *opened; /* RFC 3339 */
    char *cause;  /* how it ended: policy, timeout, person, engine, ended, worker */
    char *severity, *rule, *reason;
    char *event_id; /* of the record that it is about */
    char *policy, *policy_sha256;
    char *trace; /* file, below the folder */
    struct st_review_snapshot snapshot;
    char *broken; /* why it can't be read; NULL: it can. Then only id, folder, container are there */
    enum st_review_state state;
    char *verdict, *closed_reason, *closed_by, *closed_at; /* where closed */
};

struct st_reviews {
    struct st_review *list; /* newest first */
    size_t n;
    bool more; /* than ST_REVIEW_LIST_MAX: the rest is not listed */
};

void st_review_free(struct st_review *r);
void st_reviews_free(struct st_reviews *all);
#define st_auto_review __attribute__((cleanup(st_review_free))) struct st_review
#define st_auto_reviews __attribute__((cleanup(st_reviews_free))) struct st_reviews

/* A folder that is not there holds no tasks. */
int st_review_list(const char *dir, struct st_reviews *out, struct st_error *err);

/* id may be cut short. -ENOENT: none; -EEXIST: several begin so, and the message names some. */
int st_review_load(const char *dir, const char *id, struct st_review *out, struct st_error *err);

/* Records the verdict beside the task, on disk before it returns. id may be cut short. by: who, in words.
 * -EALREADY: it is closed; -EINVAL: no such verdict, or no reason. */
int st_review_close(const char *dir, const char *id, const char *verdict, const char *reason, const char *by,
                    struct st_error *err);

/* benign, malicious, policy, other; NULL behind the last. */
const char *st_review_verdict_name(unsigned i);
const char *st_review_state_name(enum st_review_state state);

/* The task as the object of review.json (canonical, no newline), without what was decided; and all of it, as
 * `sandtrace review` and a hook program get it. */
void st_review_write(const struct st_review *r, struct st_buf *out);
void st_review_write_all(const struct st_review *r, struct st_buf *out);

/* What was decided, as a line of verdicts.jsonl (no newline). */
void st_review_write_verdict(const struct st_review *r, struct st_buf *out);

/* The two files, as text: fills what they have. For tests, and for who has read them. */
int st_review_parse(const char *text, size_t len, struct st_review *out, struct st_error *err);
void st_review_parse_verdicts(const char *text, size_t len, struct st_review *out);

/* May this be a task's ID, that is a folder's name? */
bool st_review_id_ok(const char *id);
