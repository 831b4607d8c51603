/* quarantine: see quarantine.h. */
#include "monitor/quarantine.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "monitor/fault.h"
#include "monitor/link.h"
#include "monitor/snapshot.h"
#include "monitor/worker_private.h"

#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* ---- whether ---- */

/* What the policy itself ends is kept, whatever its severity. */
static bool is_wanted(const struct st_worker *w, const struct st_violation *why)
{
    const struct st_order_quarantine *o = &w->watch->order.quarantine;
    bool by_policy = strcmp(why->cause, "policy") == 0 || strcmp(why->cause, "timeout") == 0;

    return o->at > 0 && o->dir && o->program && (by_policy || (int64_t)why->severity >= o->at);
}

bool st_quarantine_wants(const struct st_worker *w, const struct st_violation *why)
{
    const struct st_order_quarantine *o = &w->watch->order.quarantine;

    return why && o->dir && o->at > 0 && (int64_t)why->severity >= o->at;
}

bool st_quarantine_busy(const struct st_quarantine *q)
{
    return q->phase == ST_QUARANTINE_TAKING || q->phase == ST_QUARANTINE_KEEPING;
}

int64_t st_quarantine_deadline(const struct st_quarantine *q)
{
    return st_quarantine_busy(q) ? q->deadline_ns : -1;
}

/* ---- what is said of it ---- */

static void note(struct st_worker *w, const struct st_snapshot_answer *a, const char *failure)
{
    const struct st_quarantine *q = &w->quarantine;
    st_auto_buf payload = ST_BUF_INIT;
    struct st_error err = {0};
    struct st_jw j;

    st_jw_init(&j, &payload);
    st_jw_object(&j);
    st_jw_kstr(&j, "cause", q->why.cause);
    st_jw_kint(&j, "delay_ms", q->delay_ms);
    st_jw_kstr(&j, "event_id", q->why.event_id);
    st_jw_kstr(&j, "failure", failure && *failure ? failure : NULL);
    if (a)
        st_jw_kint(&j, "files", a->files);
    if (a)
        st_jw_kstr(&j, "folder", w->watch->order.quarantine.dir);
    st_jw_kbool(&j, "frozen", !q->ended);
    if (a)
        st_jw_kint(&j, "omitted", a->omitted);
    st_jw_kstr(&j, "op", "quarantine");
    if (a) {
        st_jw_kint(&j, "processes", a->processes);
        st_jw_kstr(&j, "review", a->review);
    }
    st_jw_kstr(&j, "severity", st_severity_name(q->why.severity));
    if (a && a->sha256[0]) {
        char hash[sizeof("sha256:") + ST_SHA256_HEX];

        snprintf(hash, sizeof(hash), "sha256:%s", a->sha256);
        st_jw_kstr(&j, "snapshot_sha256", hash);
    }
    st_jw_kstr(&j, "state", a ? "kept" : "failed");
    st_jw_end(&j, '}');
    if (st_pipeline_note(&w->pipeline, ST_EV_LIFECYCLE, ST_TIER_DERIVED, payload.data, payload.len, true,
                         &err) < 0)
        w->pipeline.trace_failed(w->pipeline.ctx, &err);
}

/* ---- its way ---- */

static void let_die(struct st_worker *w)
{
    struct st_quarantine *q = &w->quarantine;

    q->delay_ms = (st_now_mono_ns() - q->began_ns) / 1000000;
    if (!q->ended)
        st_worker_end_container(w);
}

/* The socket stays: who keeps the trace waits until it is closed. */
static void finish(struct st_worker *w, const struct st_snapshot_answer *kept, const char *failure)
{
    struct st_quarantine *q = &w->quarantine;

    if (q->phase == ST_QUARANTINE_TAKING)
        let_die(w);
    q->phase = ST_QUARANTINE_DONE;
    if (q->socket >= 0)
        st_loop_remove(&w->loop, q->socket);
    note(w, kept, failure);
    atomic_store(&w->watch->doom->set, 0);
    st_worker_look(w);
}

static void on_answer(void *ctx, uint32_t events)
{
    struct st_worker *w = ctx;
    struct st_quarantine *q = &w->quarantine;
    struct st_snapshot_answer a;
    ssize_t n = recv(q->socket, &a, sizeof(a), MSG_DONTWAIT);

    (void)events;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n != (ssize_t)sizeof(a)) {
        finish(w, NULL, n <= 0 ? ST_SNAPSHOT_PROGRAM " ended before it was done" : "no answer of ours");
        return;
    }
    a.sha256[sizeof(a.sha256) - 1] = a.review[sizeof(a.review) - 1] = a.why[sizeof(a.why) - 1] = '\0';
    if (a.state == ST_SNAPSHOT_TAKEN && q->phase == ST_QUARANTINE_TAKING) {
        let_die(w);
        q->phase = ST_QUARANTINE_KEEPING;
        q->deadline_ns = st_now_mono_ns() + ST_SNAPSHOT_KEEP_MS * 1000000LL;
    } else if (a.state == ST_SNAPSHOT_KEPT && q->phase == ST_QUARANTINE_KEEPING) {
        finish(w, &a, a.why);
    } else {
        finish(w, NULL, a.state == ST_SNAPSHOT_FAILED ? a.why : "an answer out of turn");
    }
}

void st_quarantine_tick(struct st_worker *w)
{
    struct st_quarantine *q = &w->quarantine;

    if (!st_quarantine_busy(q) || st_now_mono_ns() < q->deadline_ns)
        return;
    shutdown(q->socket, SHUT_RDWR); /* nothing is kept that nobody knows of */
    finish(w, NULL, "it took too long");
}

/* ---- asking ---- */

static void add_piece(struct st_buf *out, enum st_snapshot_kind kind, struct st_str name, struct st_str text)
{
    struct st_snapshot_piece head = {
        .kind = kind, .name_len = (uint32_t)name.len, .text_len = (uint32_t)text.len};

    st_buf_add(out, &head, sizeof(head));
    st_buf_add(out, name.p, name.len);
    st_buf_add(out, text.p, text.len);
}

static void add_file(void *ctx, enum st_summary_fate fate, struct st_str path)
{
    static const enum st_snapshot_kind kinds[] = {ST_SNAPSHOT_CREATED, ST_SNAPSHOT_MODIFIED,
                                                  ST_SNAPSHOT_DELETED};

    add_piece(ctx, kinds[fate], path, (struct st_str){0});
}

/* A file without a name: the program reads it when it comes to it. */
static int write_pieces(struct st_worker *w, struct st_error *err)
{
    const struct st_order *o = &w->watch->order;
    st_auto_fd fd = openat(w->watch->state.dirfd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    st_auto_buf all = ST_BUF_INIT;
    const char *const *files;
    size_t n = st_policy_files(w->pipeline.policy, &files);

    if (fd < 0)
        return st_fail_errno(err, "make a file for the snapshot");
    for (size_t i = 0; i < n; i++)
        add_piece(&all, ST_SNAPSHOT_POLICY, st_str(files[i]), st_policy_text(w->pipeline.policy, i));
    add_piece(&all, ST_SNAPSHOT_FACTS, (struct st_str){0}, (struct st_str){o->facts, o->facts_len});
    st_summary_each(&w->pipeline.summary, add_file, &all);
    if (st_write_all(fd, all.data, all.len) < 0)
        return st_fail_errno(err, "write what goes with the snapshot");
    return st_steal_fd(&fd);
}

static void fill_request(const struct st_worker *w, struct st_snapshot_request *r)
{
    const struct st_order *o = &w->watch->order;
    const struct st_violation *why = &w->quarantine.why;

    *r = (struct st_snapshot_request){.version = ST_SNAPSHOT_VERSION, .frozen = !w->quarantine.ended};
    snprintf(r->cause, sizeof(r->cause), "%s", why->cause);
    snprintf(r->severity, sizeof(r->severity), "%s", st_severity_name(why->severity));
    snprintf(r->event_id, sizeof(r->event_id), "%.31s", why->event_id);
    snprintf(r->rule, sizeof(r->rule), "%s", why->rule);
    snprintf(r->reason, sizeof(r->reason), "%s", why->reason);
    snprintf(r->agent_id, sizeof(r->agent_id), "%.255s", o->agent_id);
    snprintf(r->trace_id, sizeof(r->trace_id), "%.511s", o->trace_id);
    snprintf(r->policy, sizeof(r->policy), "%.255s", st_policy_name(w->pipeline.policy));
    snprintf(r->policy_sha256, sizeof(r->policy_sha256), "%.64s", st_policy_sha256(w->pipeline.policy));
}

static int send_request(struct st_worker *w, int socket, struct st_error *err)
{
    st_auto_fd pieces = write_pieces(w, err);
    struct st_snapshot_request request;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } room = {0};
    struct iovec iov = {.iov_base = &request, .iov_len = sizeof(request)};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof(room.bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);

    if (pieces < 0)
        return pieces;
    fill_request(w, &request);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(pieces));
    memcpy(CMSG_DATA(c), &pieces, sizeof(pieces));
    if (sendmsg(socket, &m, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof(request))
        return st_fail_errno(err, "ask for a snapshot");
    return 0;
}

static int ask(struct st_worker *w, struct st_error *err)
{
    int pair[2], rc;

    if (w->warden_lost)
        return st_fail(err, EPIPE, "the warden is lost, and nobody can start " ST_SNAPSHOT_PROGRAM);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return st_fail_errno(err, "socket for the snapshot");
    rc = send_request(w, pair[0], err);
    if (rc == 0 && st_link_send_fd(w->link, ST_LINK_SNAPSHOT, pair[1]) < 0)
        rc = st_fail(err, EPIPE, "the warden can't be told");
    close(pair[1]);
    if (rc == 0 && st_loop_add(&w->loop, "snapshot", pair[0], EPOLLIN, on_answer, w) < 0)
        rc = st_fail(err, ENOSPC, "no room to wait for the snapshot");
    if (rc < 0)
        close(pair[0]);
    else
        w->quarantine.socket = pair[0];
    return rc;
}

/* ---- when ---- */

/* False: it could not be begun; that is on the trace. */
static bool begin(struct st_worker *w, const struct st_violation *why, bool ended)
{
    struct st_quarantine *q = &w->quarantine;
    struct st_error err = {0};
    struct st_violation copy = *why; /* may be our own */

    *q = (struct st_quarantine){
        .socket = -1, .ended = ended, .began_ns = st_now_mono_ns(), .why = copy, .phase = ST_QUARANTINE_DONE};
    q->deadline_ns = q->began_ns + ST_SNAPSHOT_TAKE_MS * 1000000LL;
    if (!ended) {
        w->pipeline.pauses.doomed = true;
        st_pauses_freeze(&w->pipeline.pauses);
        st_pauses_confirm(&w->pipeline.pauses, false);
    }
    w->watch->doom->why = copy;
    atomic_store(&w->watch->doom->set, 1);
    if (ask(w, &err) < 0) {
        note(w, NULL, err.msg);
        atomic_store(&w->watch->doom->set, 0);
        return false;
    }
    q->phase = ST_QUARANTINE_TAKING;
    st_fault(w->watch, "snapshot");
    return true;
}

bool st_quarantine_before_kill(struct st_worker *w, const struct st_violation *why)
{
    struct st_quarantine *q = &w->quarantine;

    if (q->phase != ST_QUARANTINE_NONE)
        return q->phase == ST_QUARANTINE_TAKING;
    if (!why || w->exited || !is_wanted(w, why))
        return false;
    if (w->watch->can_freeze)
        return begin(w, why, false);
    /* What runs on must not be looked at first. */
    q->phase = ST_QUARANTINE_LATER;
    q->why = *why;
    return false;
}

void st_quarantine_at_end(struct st_worker *w)
{
    struct st_quarantine *q = &w->quarantine;
    const struct st_violation *worst = st_pauses_worst(&w->pipeline.pauses);
    struct st_violation why;

    w->pipeline.pauses.doomed = false;
    if (q->phase == ST_QUARANTINE_TAKING)
        q->ended = true; /* somebody was quicker */
    if (q->phase == ST_QUARANTINE_LATER) {
        why = q->why;
    } else if (q->phase == ST_QUARANTINE_NONE && worst) {
        why = *worst;
        snprintf(why.cause, sizeof(why.cause), "ended");
    } else {
        return;
    }
    if (is_wanted(w, &why))
        (void)begin(w, &why, true);
}

bool st_quarantine_resume(struct st_worker *w)
{
    struct st_violation why;

    if (!w->loss || !atomic_load(&w->watch->doom->set))
        return false;
    why = w->watch->doom->why;
    return begin(w, &why, st_lifecycle_ended(&w->watch->life));
}
