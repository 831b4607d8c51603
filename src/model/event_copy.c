/* event_copy: see event_copy.h. Strings are visited twice: to add up their lengths, and to move them. */
#include "model/event_copy.h"

#include "base/mem.h"

#include <stdlib.h>

typedef void visit_fn(struct st_str *s, void *ctx);

static void visit_process(struct st_process *p, struct st_ancestor *ancestry, visit_fn *visit, void *ctx)
{
    visit(&p->comm, ctx);
    visit(&p->exe, ctx);
    visit(&p->cwd, ctx);
    visit(&p->argv, ctx);
    for (size_t i = 0; i < p->n_ancestry; i++) {
        visit(&ancestry[i].comm, ctx);
        visit(&ancestry[i].exe, ctx);
    }
}

static void visit_event(struct st_event *ev, struct st_ancestor *ancestry, struct st_str *answers,
                        visit_fn *visit, void *ctx)
{
    if (ev->process.present)
        visit_process(&ev->process, ancestry, visit, ctx);
    switch (ev->type) {
    case ST_EV_FILESYSTEM:
        visit(&ev->fs.path, ctx);
        visit(&ev->fs.target, ctx);
        visit(&ev->fs.program.sha256, ctx);
        return;
    case ST_EV_NETWORK_EGRESS:
    case ST_EV_NETWORK_INGRESS: visit(&ev->net.host, ctx); return;
    case ST_EV_DNS_QUERY:
        visit(&ev->dns.name, ctx);
        for (size_t i = 0; i < ev->dns.n_answers; i++)
            visit(&answers[i], ctx);
        return;
    case ST_EV_PROCESS:
        visit(&ev->proc.path, ctx);
        visit(&ev->proc.interpreter, ctx);
        visit(&ev->proc.target, ctx);
        visit(&ev->proc.argv, ctx);
        visit(&ev->proc.program.sha256, ctx);
        return;
    case ST_EV_SYSCALL:
        visit(&ev->sys.name, ctx);
        visit(&ev->sys.args, ctx);
        visit(&ev->sys.capability, ctx);
        return;
    case ST_EV_LIFECYCLE:
    case ST_EV_FILESYSTEM_SUMMARY:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_SECURITY_RESUME:
    case ST_EV_POLICY_CHANGE:
    case ST_EV_SENSOR:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: break;
    }
    visit(&ev->json, ctx);
}

static void add_length(struct st_str *s, void *ctx)
{
    *(size_t *)ctx += s->p ? s->len : 0;
}

static void move(struct st_str *s, void *ctx)
{
    char **at = ctx;

    if (!s->p)
        return;
    if (s->len)
        memcpy(*at, s->p, s->len);
    s->p = *at;
    *at += s->len;
}

/* The arrays that an event borrows; zero-filled where it has none. */
struct arrays {
    size_t n_ancestry, n_answers;
    struct st_ancestor *ancestry;
    struct st_str *answers;
};

static struct arrays copy_arrays(const struct st_event *ev)
{
    struct arrays a = {.n_ancestry = ev->process.present ? ev->process.n_ancestry : 0,
                       .n_answers = ev->type == ST_EV_DNS_QUERY ? ev->dns.n_answers : 0};

    a.ancestry = st_xcalloc(a.n_ancestry, sizeof(*a.ancestry));
    a.answers = st_xcalloc(a.n_answers, sizeof(*a.answers));
    if (a.n_ancestry)
        memcpy(a.ancestry, ev->process.ancestry, a.n_ancestry * sizeof(*a.ancestry));
    if (a.n_answers)
        memcpy(a.answers, ev->dns.answers, a.n_answers * sizeof(*a.answers));
    return a;
}

struct st_event_copy *st_event_copy(const struct st_event *ev, const struct st_verdict *v)
{
    struct arrays a = copy_arrays(ev);
    struct st_verdict verdict = v ? *v : (struct st_verdict){0};
    struct st_str policy = st_str(verdict.policy_sha256);
    struct st_event event = *ev;
    struct st_event_copy *out;
    size_t text = policy.p ? policy.len + 1 : 0;
    char *at;

    visit_event(&event, a.ancestry, a.answers, add_length, &text);
    add_length(&verdict.rule, &text);
    add_length(&verdict.reason, &text);
    out = st_xmalloc(sizeof(*out) + a.n_ancestry * sizeof(*a.ancestry) + a.n_answers * sizeof(*a.answers) +
                     text);
    at = (char *)(out + 1) + a.n_ancestry * sizeof(*a.ancestry) + a.n_answers * sizeof(*a.answers);
    visit_event(&event, a.ancestry, a.answers, move, &at);
    move(&verdict.rule, &at);
    move(&verdict.reason, &at);
    if (policy.p)
        verdict.policy_sha256 = memcpy(at, policy.p, policy.len + 1);
    if (a.n_ancestry)
        event.process.ancestry = memcpy(out + 1, a.ancestry, a.n_ancestry * sizeof(*a.ancestry));
    if (a.n_answers)
        event.dns.answers = memcpy((char *)(out + 1) + a.n_ancestry * sizeof(*a.ancestry), a.answers,
                                   a.n_answers * sizeof(*a.answers));
    out->ev = event;
    out->verdict = verdict;
    free(a.ancestry);
    free(a.answers);
    return out;
}
