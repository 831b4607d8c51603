/* inquiry: one seccomp notification on its way to an answer; what all kinds of it have in common. Private to
 * mutations.c, which answers, and to who judges one. */
#pragma once

#include "monitor/mutations.h"
#include "sensors/change.h"

#include <linux/audit.h>

#if defined(__x86_64__)
#define ST_NATIVE_ARCH AUDIT_ARCH_X86_64
#define ST_FOREIGN_NR 0x40000000 /* x32 */
#elif defined(__aarch64__)
#define ST_NATIVE_ARCH AUDIT_ARCH_AARCH64
#define ST_FOREIGN_NR 0x40000000
#endif

/* One notification on its way. */
struct st_inquiry {
    struct st_mutations *m;
    struct st_filter *filter;
    const struct seccomp_notif *asked;
    int64_t seen_ns;
    bool looked; /* since then, at the number or the memory of who asks: it must still wait, or that was
                    another */
    struct st_event ev;
    struct st_change change;
    char number[24]; /* of a syscall without a name */
};

/* The event begins: its type, its time, who asks. */
void st_inquiry_fill(struct st_inquiry *q, enum st_event_type type);

/* What may be kept of who asks is good for a use that is let by; one that is not is worth a closer look. */
void st_inquiry_look_closer(struct st_inquiry *q);

/* The same use as one that is held, or was decided while nobody waited? Then there is nothing to judge. */
bool st_inquiry_settle_again(struct st_inquiry *q);

/* By the policy; error: what the call gets where it is refused. */
void st_inquiry_judge(struct st_inquiry *q, int error);

/* Whatever the policy says. */
void st_inquiry_refuse(struct st_inquiry *q, const char *reason);

/* As somebody else has decided; error likewise. */
void st_inquiry_respond(struct st_inquiry *q, struct st_verdict *v, int error);
