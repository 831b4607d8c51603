/* answers_change: requests that change something: decisions about what waits, an operator's pause, kill,
 * reload. Each is recorded with who asked, by the kernel's word (uid) and by their own (name), before it is
 * carried out. */
#include "monitor/answers.h"

#include "base/cleanup.h"
#include "base/json_write.h"

#include <stdio.h>
#include <string.h>

#define REASON_MAX 1024
#define NAME_LIMIT 256

static bool answer_ok(struct st_buf *out)
{
    st_buf_adds(out, "{\"ok\":true}");
    return true;
}

static bool answer_pause_id(struct st_buf *out, const char *pause_id, bool already)
{
    struct st_jw j;

    st_jw_init(&j, out);
    st_jw_object(&j);
    if (already)
        st_jw_kbool(&j, "already", true);
    st_jw_kbool(&j, "ok", true);
    st_jw_kstr(&j, "pause_id", pause_id);
    st_jw_end(&j, '}');
    return true;
}

/* A member that is a string of at most max bytes, or absent. false: it is something else. */
static bool text_of(const struct st_json_node *body, const char *key, size_t max, const char **value)
{
    const struct st_json_node *node = st_json_get(body, key);

    *value = st_json_str(node, NULL);
    if (!node || st_json_is(node, ST_JSON_NULL))
        return true;
    return *value && strlen(*value) <= max;
}

/* Who asks. A refusal is in out where this is false. */
static bool decider_of(const struct st_client *client, const struct st_json_node *body, struct st_decider *by,
                       struct st_buf *out)
{
    const char *via = st_json_str(st_json_get(body, "via"), NULL);

    /* By the review desk, which is root: who decided there is a name that it vouches for. */
    *by =
        (struct st_decider){.how = via && strcmp(via, "desk") == 0 ? "desk" : "control", .uid = client->uid};
    if (text_of(body, "name", NAME_LIMIT, &by->name) && text_of(body, "reason", REASON_MAX, &by->reason))
        return true;
    st_control_refusal(out, "bad_request", "name and reason are strings of at most 256 and 1024 bytes");
    return false;
}

/* ---- what waits ---- */

/* The violation that the request names; without a name the only one. */
static struct st_pause *find_pause(struct st_worker *w, const struct st_json_node *body, struct st_buf *out)
{
    const char *id = st_json_str(st_json_get(body, "pause_id"), NULL);
    struct st_pauses *all = &w->pipeline.pauses;
    struct st_pause *found;
    bool ambiguous = false;

    if (!id && st_json_get(body, "pause_id")) {
        st_control_refusal(out, "bad_request", "pause_id is a string");
        return NULL;
    }
    if (!id && all->n != 1) {
        st_control_refusal(out, all->n ? "ambiguous" : "no_such_pause",
                           all->n ? "several operations wait: name one by pause_id" : "nothing waits");
        return NULL;
    }
    found = id ? st_pauses_find(all, id, &ambiguous) : all->first;
    if (!found) {
        st_control_refusal(out, ambiguous ? "ambiguous" : "no_such_pause",
                           ambiguous ? "more than one pause begins so" : "no pause of this id waits");
        return NULL;
    }
    if (found->by_person) {
        st_control_refusal(out, "not_an_operation", "somebody paused the container: resume it, or kill it");
        return NULL;
    }
    return found;
}

static bool answer_unrecorded(struct st_buf *out)
{
    st_control_refusal(out, "not_recorded", "the trace can't be written: nothing was changed");
    return true;
}

static bool decide(struct st_worker *w, const struct st_client *client, const struct st_json_node *body,
                   enum st_decision decision, struct st_buf *out)
{
    struct st_pauses *all = &w->pipeline.pauses;
    struct st_pause *pause;
    struct st_decider by;
    char id[ST_PAUSE_ID_SIZE];
    bool ambiguous;

    if (!decider_of(client, body, &by, out))
        return true;
    pause = find_pause(w, body, out);
    if (!pause)
        return true;
    memcpy(id, pause->id, sizeof(id));
    st_pipeline_decide(&w->pipeline, pause, decision, &by);
    return st_pauses_find(all, id, &ambiguous) ? answer_unrecorded(out) : answer_pause_id(out, id, false);
}

bool st_answer_approve(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                       struct st_buf *out)
{
    bool always = st_json_true(st_json_get(body, "always"));

    return decide(w, client, body, always ? ST_DECIDE_ALWAYS : ST_DECIDE_ONCE, out);
}

bool st_answer_deny(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                    struct st_buf *out)
{
    return decide(w, client, body, ST_DECIDE_DENY, out);
}

/* ---- the container as a whole ---- */

/* false: it has ended, which is in out. */
static bool still_runs(const struct st_worker *w, struct st_buf *out)
{
    if (!w->exited)
        return true;
    st_control_refusal(out, "ended", "the container has ended");
    return false;
}

/* Whether anything waits or not. */
bool st_answer_kill(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                    struct st_buf *out)
{
    struct st_error err = {0};
    struct st_decider by;

    if (!still_runs(w, out) || !decider_of(client, body, &by, out))
        return true;
    if (st_pipeline_kill(&w->pipeline, &by, &err) == 0)
        return answer_ok(out);
    st_control_refusal(out, "not_recorded", "killed, but the trace can't be written");
    return true;
}

static struct st_pause *operators_pause(struct st_worker *w)
{
    for (struct st_pause *p = w->pipeline.pauses.first; p; p = p->next)
        if (p->by_person)
            return p;
    return NULL;
}

bool st_answer_pause(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                     struct st_buf *out)
{
    struct st_pause *pause = operators_pause(w);
    struct st_error err = {0};
    struct st_decider by;

    if (!still_runs(w, out) || !decider_of(client, body, &by, out))
        return true;
    if (pause)
        return answer_pause_id(out, pause->id, true);
    pause = st_pipeline_hold(&w->pipeline, &by, &err);
    if (pause)
        return answer_pause_id(out, pause->id, false);
    st_control_refusal(out, "cannot_freeze", err.msg);
    return true;
}

/* Ends an operator's pause. What waits for a decision is not decided on the way, unless by force: refused. */
bool st_answer_resume(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                      struct st_buf *out)
{
    struct st_pauses *all = &w->pipeline.pauses;
    size_t waiting = all->n - (operators_pause(w) != NULL);
    struct st_decider by;
    char text[128];

    if (!decider_of(client, body, &by, out))
        return true;
    if (all->n == 0) {
        st_control_refusal(out, "not_paused", "nothing stands still by us");
        return true;
    }
    if (waiting && !st_json_true(st_json_get(body, "force"))) {
        snprintf(text, sizeof(text), "%zu operation%s for a decision: approve or deny, or force to deny all",
                 waiting, waiting == 1 ? " waits" : "s wait");
        st_control_refusal(out, "pending", text);
        return true;
    }
    while (all->first) {
        size_t before = all->n;

        st_pipeline_decide(&w->pipeline, all->first, all->first->by_person ? ST_DECIDE_ONCE : ST_DECIDE_DENY,
                           &by);
        if (all->n == before)
            return answer_unrecorded(out);
    }
    return answer_ok(out);
}

/* ---- the policy ---- */

static void write_lines_as_array(struct st_jw *j, struct st_str lines)
{
    st_jw_array(j);
    while (lines.len) {
        const char *end = memchr(lines.p, '\n', lines.len);
        size_t len = end ? (size_t)(end - lines.p) : lines.len;

        st_jw_raw(j, lines.p, len);
        len += end != NULL;
        lines = (struct st_str){.p = lines.p + len, .len = lines.len - len};
    }
    st_jw_end(j, ']');
}

static bool answer_diagnostics(const struct st_diagnostics *diags, const char *message, struct st_buf *out)
{
    st_auto_buf lines = ST_BUF_INIT;
    struct st_jw j;

    st_diag_json(diags, &lines);
    st_jw_init(&j, out);
    st_jw_object(&j);
    st_jw_key(&j, "error");
    st_jw_object(&j);
    st_jw_kstr(&j, "code", "policy_invalid");
    st_jw_key(&j, "diagnostics");
    write_lines_as_array(&j, (struct st_str){.p = lines.data, .len = lines.len});
    st_jw_kstr(&j, "message", message);
    st_jw_end(&j, '}');
    st_jw_kbool(&j, "ok", false);
    st_jw_end(&j, '}');
    return true;
}

static void write_policy(struct st_jw *j, const char *key, const struct st_policy *policy)
{
    st_jw_key(j, key);
    st_jw_object(j);
    st_jw_kstr(j, "mode", st_policy_mode_name(st_policy_mode(policy)));
    st_jw_kstr(j, "name", st_policy_name(policy));
    st_jw_kstr(j, "sha256", st_policy_sha256(policy));
    st_jw_end(j, '}');
}

/* What was built into the container when it was created stays until it is created again. */
static void write_what_stays(struct st_jw *j, const struct st_policy *old, const struct st_policy *new)
{
    st_jw_key(j, "stays");
    st_jw_array(j);
    if (st_policy_depth(old) != st_policy_depth(new))
        st_jw_str(j, "depth");
    if (st_policy_floor(old) != st_policy_floor(new))
        st_jw_str(j, "floor");
    st_jw_end(j, ']');
}

static int note_reload(struct st_worker *w, const struct st_policy *new, const struct st_decider *by,
                       struct st_error *err)
{
    st_auto_buf json = ST_BUF_INIT;
    struct st_jw j;

    st_jw_init(&j, &json);
    st_jw_object(&j);
    st_decider_write(&j, by);
    st_jw_kstr(&j, "change", "reload");
    write_policy(&j, "new", new);
    write_policy(&j, "old", w->pipeline.policy);
    st_jw_kstr(&j, "reason", by->reason);
    write_what_stays(&j, w->pipeline.policy, new);
    st_jw_end(&j, '}');
    return st_pipeline_note(&w->pipeline, ST_EV_POLICY_CHANGE, ST_TIER_DERIVED, json.data, json.len, true,
                            err);
}

static void swap_in(struct st_worker *w, struct st_policy *new)
{
    struct st_policy *old = w->pipeline.policy;
    struct st_error err = {0};

    w->pipeline.counters = st_counters_renew(new, w->pipeline.counters);
    w->pipeline.policy = new;
    if (st_pipeline_fold(&w->pipeline, &err) < 0)
        w->pipeline.trace_failed(w->pipeline.ctx, &err);
    st_policy_unref(old);
}

/* Read again, checked whole, recorded, swapped in; or nothing has changed. */
bool st_answer_reload(struct st_worker *w, struct st_client *client, const struct st_json_node *body,
                      struct st_buf *out)
{
    st_auto_policy new = NULL;
    st_auto_diag diags = {0};
    struct st_error err = {0};
    struct st_decider by;
    struct st_jw j;
    bool changed;

    if (!decider_of(client, body, &by, out))
        return true;
    if (st_worker_load_policy(&w->watch->order, &new, &diags, &err) < 0)
        return answer_diagnostics(&diags, err.msg, out);
    changed = strcmp(st_policy_sha256(new), st_policy_sha256(w->pipeline.policy)) != 0;
    st_jw_init(&j, out);
    st_jw_object(&j);
    st_jw_kbool(&j, "changed", changed);
    write_policy(&j, "new", new);
    st_jw_kbool(&j, "ok", true);
    write_policy(&j, "old", w->pipeline.policy);
    write_what_stays(&j, w->pipeline.policy, new);
    st_jw_end(&j, '}');
    if (!changed)
        return true;
    if (st_depth_watch_widen(&w->files.depth, "the policy has changed", &err) < 0) {
        st_buf_clear(out);
        st_control_refusal(out, "not_watched", err.msg);
        return true;
    }
    if (note_reload(w, new, &by, &err) < 0) {
        w->pipeline.trace_failed(w->pipeline.ctx, &err);
        st_buf_clear(out);
        return answer_unrecorded(out);
    }
    swap_in(w, st_steal_ptr(&new));
    st_network_reconsider(&w->network);
    st_worker_write_state(w, &err); /* only for those who look without asking */
    return true;
}
