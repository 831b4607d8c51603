/* doctor: what sandtrace needs of a machine, looked for by doing it.
 *
 * A check is a row of a table: what it is about, whether nothing goes without it, and a probe. Each probe
 * runs in a process of its own, with a time limit, where it asks for that in namespaces of its own: whatever
 * it mounts, marks or installs goes with it, and the host's own is never touched. Probes use the code by
 * which monitors watch, so that an answer here is an answer there. */
#pragma once

#include "config/config.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum st_health { ST_HEALTH_OK, ST_HEALTH_DEGRADED, ST_HEALTH_MISSING, ST_HEALTH_UNKNOWN, ST_HEALTHS };

/* Goes through a pipe in one piece. An empty text: the check's own. */
struct st_finding {
    enum st_health health;
    bool needed; /* where it is missing, no container starts */
    char detail[1024];
    char means[512];
    char mend[512];
};

/* Control groups of our own for the probes of freezer and programs; "": there is no such hierarchy, or none
 * could be made there. */
struct st_doctor_groups {
    char v1[PATH_MAX], v2[PATH_MAX];
    pid_t guard; /* made them, and removes them where we are killed */
};

struct st_doctor {
    const struct st_config *config; /* NULL: it can't be read, and this is why */
    const char *fault;
    bool root;
    struct st_doctor_groups groups;
};

struct st_check {
    const char *group, *name;
    bool needed;
    bool by_root; /* others can't find out */
    int apart;    /* CLONE_NEW…: namespaces that the probe gets */
    void (*probe)(const struct st_doctor *d, struct st_finding *f);
    const char *means; /* what is lost where it is not ok */
    const char *mend;  /* what to do about it */
};

/* One finding: never fails, never takes longer than some seconds. */
void st_doctor_look(const struct st_doctor *d, const struct st_check *check, struct st_finding *out);

void st_doctor_groups_make(struct st_doctor_groups *g);
void st_doctor_groups_end(struct st_doctor_groups *g);

/* For probes: health and detail in one; the detail may be what an error says. */
void st_finding_set(struct st_finding *f, enum st_health health, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Other words than the check's own on what to do. */
void st_finding_mend(struct st_finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* For probes: a child of the probe that ends with it. As fork(). */
int st_doctor_helper(void);

const char *st_health_name(enum st_health health);

/* The tables, each ended by a check without a name. */
const struct st_check *st_doctor_kernel(void);
const struct st_check *st_doctor_groups_checks(void);
const struct st_check *st_doctor_network(void);
const struct st_check *st_doctor_places(void);
const struct st_check *st_doctor_engines(void);
