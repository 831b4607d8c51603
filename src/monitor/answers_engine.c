/* answers_engine: the shim asks before the engine's command goes to the real runtime.
 *
 * What we hold still must not hold the engine up. On cgroup v2 a group never reports that it is frozen while
 * an operation in it waits for our answer, and a runtime that looks or signals waits for that: so the shim
 * answers a question about the state by itself, and before a command that acts, what is held is refused, as
 * is what comes while it acts; the container stays frozen, and the pause stays open. And nobody thaws past
 * us.
 */
#include "monitor/answers.h"

#include "base/json_write.h"
#include "model/caps.h"
#include "monitor/entrance.h"

#include <stdio.h>
#include <string.h>

/* Held in the kernel's file layer; what waits in a seccomp notification lets itself be frozen. */
static bool stays_in_the_way(const struct st_worker *w, const struct st_pause *pause)
{
    return w->watch->cgroup.kind == ST_CGROUP_V2 && st_operation_waits(&pause->op) && pause->op.fd >= 0;
}

static bool any_in_the_way(const struct st_worker *w)
{
    for (const struct st_pause *i = w->pipeline.pauses.first; i; i = i->next)
        if (stays_in_the_way(w, i))
            return true;
    return false;
}

static void release_all(struct st_worker *w, const char *command)
{
    char reason[128];
    const struct st_decider engine = {.how = "engine", .uid = ST_UNKNOWN, .reason = reason};

    snprintf(reason, sizeof(reason), "refused so that the engine's `%.40s` does not wait", command);
    for (struct st_pause *i = w->pipeline.pauses.first; i; i = i->next)
        if (stays_in_the_way(w, i))
            st_pipeline_release(&w->pipeline, i, &engine);
}

static bool answer(struct st_buf *out, const char *what, const char *reason)
{
    struct st_jw j;

    st_jw_init(&j, out);
    st_jw_object(&j);
    st_jw_kstr(&j, "do", what);
    st_jw_kbool(&j, "ok", true);
    st_jw_kstr(&j, "reason", reason);
    st_jw_end(&j, '}');
    return true;
}

static bool refuse(const struct st_worker *w, struct st_buf *out)
{
    const struct st_pause *pause = w->pipeline.pauses.first;
    const char *id = w->watch->order.id;
    char reason[640];

    if (!pause)
        snprintf(reason, sizeof(reason),
                 "%.240s was left paused when its monitor failed, and nobody watches it; end it with: "
                 "sandtrace kill %.240s",
                 id, id);
    else if (pause->by_person)
        snprintf(reason, sizeof(reason),
                 "%.240s is paused by sandtrace; let it go on with: sandtrace resume %.240s", id, id);
    else
        snprintf(reason, sizeof(reason),
                 "%.240s is paused by sandtrace for a violation; decide with: sandtrace approve %s, or: "
                 "sandtrace deny %s",
                 id, pause->id, pause->id);
    return answer(out, "refuse", reason);
}

/* Before what is in the way is looked for: more of it may be on its way to us. */
static void let_act(struct st_worker *w, const struct st_client *client, const char *command)
{
    if (w->watch->cgroup.kind == ST_CGROUP_V2)
        st_engines_join(&w->engines, client->pid);
    if (any_in_the_way(w))
        release_all(w, command);
}

/* The runtime takes it for stopped: it would not kill it, and remove it from under its threads. */
static bool ends_headless(struct st_worker *w, const char *command, const struct st_json_node *body,
                          struct st_buf *out)
{
    const struct st_decider engine = {
        .how = "engine", .uid = ST_UNKNOWN, .reason = "ended; its first thread had ended alone before"};
    bool removed = strcmp(command, "delete") == 0;
    struct st_error err = {0};

    if ((!removed && !st_json_true(st_json_get(body, "kills"))) || !st_lifecycle_headless(&w->watch->life))
        return false;
    (void)st_pipeline_kill(&w->pipeline, &engine, &err);
    return answer(out, removed ? "wait" : "done", NULL);
}

/* What is paused for a violation does not vanish by the engine's hand: it is looked at first, and ends then.
 */
static bool ends_kept(struct st_worker *w, const char *command, const struct st_json_node *body,
                      struct st_buf *out)
{
    const struct st_decider engine = {
        .how = "engine", .uid = ST_UNKNOWN, .reason = "ended by the engine while it was paused"};
    struct st_error err = {0};

    if (strcmp(command, "kill") != 0 || !st_json_true(st_json_get(body, "kills")) ||
        !st_quarantine_wants(w, st_pauses_worst(&w->pipeline.pauses)))
        return false;
    (void)st_pipeline_kill(&w->pipeline, &engine, &err);
    return answer(out, "done", NULL);
}

/* Of `exec`: with the capabilities that the process is to have. */
static bool may_enter(const struct st_worker *w, const struct st_json_node *body, struct st_buf *out)
{
    unsigned grants = 0;
    char reason[640];

    st_json_each (cap, st_json_get(body, "grants"))
        if (st_json_str(cap, NULL))
            grants |= st_cap_bit(st_json_str(cap, NULL));
    if (st_entrance_let(w, grants, reason, sizeof(reason)))
        return true;
    answer(out, "refuse", reason);
    return false;
}

static bool is_one_of(const char *command, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(command, *list) == 0)
            return true;
    return false;
}

bool st_answer_engine(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                      struct st_buf *out)
{
    static const char *const wants_it_to_run[] = {"exec", "resume", "checkpoint", NULL};
    static const char *const acts[] = {"delete", "kill", "pause", "update", NULL};
    const char *command = st_json_str(st_json_get(body, "command"), NULL);

    if (!command) {
        st_control_refusal(out, "bad_request", "command is missing");
        return true;
    }
    if (is_one_of(command, wants_it_to_run) && (w->pipeline.pauses.n || w->loss))
        return refuse(w, out);
    if (!may_enter(w, body, out))
        return true;
    if (ends_headless(w, command, body, out) || ends_kept(w, command, body, out))
        return true;
    if (is_one_of(command, acts))
        let_act(w, client, command);
    return answer(out, any_in_the_way(w) ? "look" : "go", NULL);
}
