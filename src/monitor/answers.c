/* answers: what the control socket is asked, as a table; formats.md, 5; docs/control.md. */
#include "monitor/answers.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "respond/freezer.h"

#include <string.h>

static const char *status_of(const struct st_worker *w)
{
    if (w->loss)
        return "unwatched";
    if (w->exited)
        return "stopping";
    if (w->retry_ns)
        return "stuck";
    return w->pipeline.pauses.n ? "paused" : "watching";
}

static bool answer_status(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                          struct st_buf *out)
{
    const struct st_watch *watch = w->watch;
    bool frozen = watch->can_freeze && st_freezer_is_frozen(&watch->cgroup);
    struct st_jw j;

    (void)client;
    (void)body;
    st_jw_init(&j, out);
    st_jw_object(&j);
    st_jw_kint(&j, "events", (int64_t)atomic_load(&watch->pulse->events));
    st_jw_kbool(&j, "frozen", frozen);
    st_jw_kstr(&j, "id", watch->order.id);
    st_jw_kbool(&j, "ok", true);
    st_jw_kint(&j, "pending", (int64_t)w->pipeline.pauses.n);
    st_jw_kint(&j, "pid", watch->order.pid);
    st_jw_kstr(&j, "policy", st_policy_name(w->pipeline.policy));
    st_jw_kstr(&j, "policy_sha256", st_policy_sha256(w->pipeline.policy));
    st_jw_kint(&j, "refused", (int64_t)atomic_load(&watch->pulse->refused));
    st_jw_kint(&j, "seq", (int64_t)st_trace_seq(w->pipeline.trace));
    st_jw_kstr(&j, "status", status_of(w));
    if (w->retry_ns)
        st_jw_kstr(&j, "trace_error", w->failure.msg);
    st_jw_kint(&j, "uptime_ms", (st_now_mono_ns() - watch->started_ns) / 1000000);
    st_jw_end(&j, '}');
    return true;
}

static bool answer_stopped(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                           struct st_buf *out)
{
    (void)body;
    if (!st_lifecycle_ended(&w->watch->life)) {
        st_control_refusal(out, "running", "the container's first process is alive");
        return true;
    }
    client->awaits_end = true;
    return false;
}

static const struct {
    const char *request;
    st_answerer run;
} table[] = {
    {"approve", st_answer_approve}, {"deny", st_answer_deny},     {"engine", st_answer_engine},
    {"events", st_answer_events},   {"kill", st_answer_kill},     {"pause", st_answer_pause},
    {"pending", st_answer_pending}, {"reload", st_answer_reload}, {"resume", st_answer_resume},
    {"status", answer_status},      {"stopped", answer_stopped},  {"summary", st_answer_summary},
};

bool st_worker_answer(void *ctx, struct st_client *client, const char *request,
                      const struct st_json_node *body, struct st_buf *out)
{
    struct st_worker *w = ctx;

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(table[i].request, request) == 0)
            return table[i].run(w, client, body, out);
    st_control_refusal(
        out, "unknown_request",
        "known are: approve, deny, engine, events, kill, pause, pending, reload, resume, status, "
        "stopped, summary");
    return true;
}
