/* rejudge: see rejudge.h. */
#include "cli/rejudge.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "config/config.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct st_rejudge {
    struct st_policy *policy;
    struct st_counters *counters;
};

struct st_rejudge *st_rejudge_of(struct st_policy *policy)
{
    struct st_rejudge *j = st_xcalloc(1, sizeof(*j));

    j->policy = st_policy_ref(policy);
    j->counters = st_counters_new(policy);
    return j;
}

int st_load_policy_here(const char *what, const struct st_policy_source *source, struct st_policy **out,
                        struct st_diagnostics *diags, struct st_error *err)
{
    st_auto_free char *here = NULL;

    if (!strchr(what, '/') && access(what, F_OK) == 0) {
        here = st_xasprintf("./%s", what);
        what = here;
    }
    return st_policy_load(what, source, out, diags, err);
}

struct st_rejudge *st_rejudge_new(const struct st_cli *cli, const struct st_verb *verb, const char *policy)
{
    st_auto_config config = NULL;
    st_auto_diag diags = {0};
    st_auto_policy loaded = NULL;
    struct st_policy_source source = {.untrusted_ok = true};
    struct st_error err = {0};

    if (st_config_load(cli->config, &config, &err) < 0) {
        st_cli_error(verb, "%s", err.msg);
        return NULL;
    }
    source.dirs = (const char *const *)config->policy_dirs;
    while (config->policy_dirs[source.n_dirs])
        source.n_dirs++;
    if (st_load_policy_here(policy, &source, &loaded, &diags, &err) < 0) {
        st_auto_buf text = ST_BUF_INIT;

        st_diag_text(&diags, isatty(STDERR_FILENO) && cli->color, &text);
        fputs(st_buf_cstr(&text), stderr);
        st_cli_error(verb, "policy %s does not load%s%s", policy, diags.n ? "" : ": ",
                     diags.n ? "" : err.msg);
        return NULL;
    }
    return st_rejudge_of(loaded);
}

void st_rejudge_free(struct st_rejudge *j)
{
    if (!j)
        return;
    st_counters_free(j->counters);
    st_policy_unref(j->policy);
    free(j);
}

void st_rejudge_freep(struct st_rejudge **j)
{
    st_rejudge_free(*j);
    *j = NULL;
}

const char *st_rejudge_name(const struct st_rejudge *j)
{
    return st_policy_name(j->policy);
}

/* Pauses, answers and our own records are consequences, not deeds; a summary repeats what was judged one by
 * one, where there is anything else. */
static bool is_deed(const struct st_decoded *d)
{
    enum st_event_type type = d->ev.type;

    if (type == ST_EV_FILESYSTEM_SUMMARY)
        return d->dialect == ST_DIALECT_OLDER;
    return type == ST_EV_FILESYSTEM || type == ST_EV_NETWORK_EGRESS || type == ST_EV_NETWORK_INGRESS ||
           type == ST_EV_DNS_QUERY || type == ST_EV_PROCESS || type == ST_EV_SYSCALL;
}

void st_rejudge_event(struct st_rejudge *j, const struct st_decoded *d, struct st_verdict *out)
{
    *out = (struct st_verdict){.result = ST_ALLOW, .policy_sha256 = st_policy_sha256(j->policy)};
    if (is_deed(d))
        st_policy_eval(j->policy, j->counters, &d->ev, out);
}

bool st_rejudge_explain(struct st_rejudge *j, const struct st_decoded *d, struct st_verdict *out,
                        struct st_explanation *x)
{
    *out = (struct st_verdict){.result = ST_ALLOW, .policy_sha256 = st_policy_sha256(j->policy)};
    if (!is_deed(d))
        return false;
    st_policy_explain(j->policy, j->counters, &d->ev, out, x);
    return true;
}

bool st_was_refused(const struct st_decoded *d)
{
    if (d->has_verdict && (d->verdict.action == ST_ACT_DENIED || d->verdict.action == ST_ACT_KILLED))
        return true;
    switch (d->ev.type) {
    case ST_EV_FILESYSTEM: return d->ev.fs.blocked;
    case ST_EV_NETWORK_EGRESS:
    case ST_EV_NETWORK_INGRESS: return d->ev.net.blocked;
    case ST_EV_DNS_QUERY: return d->ev.dns.blocked;
    case ST_EV_PROCESS: return d->ev.proc.blocked;
    case ST_EV_SYSCALL: return d->ev.sys.blocked;
    case ST_EV_LIFECYCLE:
    case ST_EV_FILESYSTEM_SUMMARY:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_SECURITY_RESUME:
    case ST_EV_POLICY_CHANGE:
    case ST_EV_SENSOR:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: break;
    }
    return false;
}
