/* keep: see keep.h. */
#include "snapshot/keep.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/mem.h"
#include "bundle/image.h"
#include "desk/review.h"
#include "desk/review_tell.h"
#include "snapshot/collect.h"
#include "snapshot/folder.h"
#include "snapshot/manifest.h"
#include "snapshot/parts.h"
#include "snapshot/pieces.h"
#include "snapshot/upper.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define LEAVE_MS 500   /* between what we want and what is forced */
#define MARGIN_MS 1000 /* for the worker to hear of it */
#define SEAL_MS 60000  /* for the trace to come to its end */
#define SHARE_OF_FREE 4

struct keeping {
    struct st_keep *k;
    struct st_folder folder;
    struct st_collected found;
    struct st_error failed; /* why there is no snapshot, or not all of it */
    bool taken, overlay, has_layer;
    char opened[ST_RFC3339_SIZE];
    char sha256[ST_SHA256_HEX + 1];
    int64_t took_ms;
};

/* ---- what is said ---- */

static void say(const struct keeping *g, enum st_snapshot_state state, const char *why)
{
    struct st_snapshot_answer a = {.state = state,
                                   .processes = g->found.processes,
                                   .files = g->found.files,
                                   .omitted = g->found.omitted,
                                   .tar_bytes = g->found.tar_bytes};

    memcpy(a.sha256, g->sha256, sizeof(a.sha256));
    if (state == ST_SNAPSHOT_KEPT)
        snprintf(a.review, sizeof(a.review), "%s", g->folder.name);
    snprintf(a.why, sizeof(a.why), "%.511s", why);
    (void)!send(g->k->socket, &a, sizeof(a), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool is_wanted(const struct st_keep *k)
{
    struct pollfd p = {.fd = k->socket, .events = POLLRDHUP};

    return poll(&p, 1, 0) == 0;
}

/* ---- the container ---- */

/* No snapshot fills a disk. */
static uint64_t limit_of(const struct keeping *g)
{
    struct statvfs v;
    uint64_t free_bytes;

    if (fstatvfs(g->folder.dir, &v) < 0)
        return g->k->max_bytes;
    free_bytes = (uint64_t)v.f_bavail * v.f_frsize / SHARE_OF_FREE;
    return g->k->max_bytes < free_bytes ? g->k->max_bytes : free_bytes;
}

static int collect(struct keeping *g, struct st_error *err)
{
    const struct st_keep *k = g->k;
    char why[512] = "";
    st_auto_fd layer = st_upper_open(k->rootfs, &g->overlay, why, sizeof(why));
    st_auto_fd state = st_folder_create(&g->folder, "state.json", err);
    st_auto_fd list = state < 0 ? -1 : st_folder_create(&g->folder, "changes.jsonl", err);
    st_auto_fd tar = list < 0 ? -1 : st_folder_create(&g->folder, "files.tar", err);
    int64_t until = k->began_ns + (ST_SNAPSHOT_TAKE_MS - MARGIN_MS) * 1000000LL;
    const struct st_collect c = {.init = k->request.frozen ? k->pid : 0,
                                 .group = k->request.frozen ? k->group : -1,
                                 .layer = layer,
                                 .overlay = g->overlay,
                                 .pieces = &k->pieces,
                                 .max_bytes = limit_of(g),
                                 .deadline_ns = until - LEAVE_MS * 1000000LL,
                                 .kill_ns = until,
                                 .state_fd = state,
                                 .list_fd = list,
                                 .tar_fd = tar};

    if (tar < 0)
        return -err->errnum;
    g->has_layer = layer >= 0;
    if (layer < 0)
        st_fail(&g->failed, ENOENT, "no files: %.400s", why);
    if (st_collect(&c, &g->found, err) < 0)
        return -err->errnum;
    if (g->found.late)
        st_fail(&g->failed, ETIMEDOUT, "not all files: time was up");
    return 0;
}

/* Half of something is worse than nothing: it would be taken for all. */
static void drop_snapshot(struct keeping *g, const struct st_error *why)
{
    static const char *const files[] = {"state.json", "changes.jsonl", "files.tar"};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        unlinkat(g->folder.dir, files[i], 0);
    g->found = (struct st_collected){0};
    g->failed = *why;
}

static void take(struct keeping *g)
{
    struct st_error why = {0};

    g->taken = collect(g, &why) == 0;
    if (!g->taken)
        drop_snapshot(g, &why);
    g->took_ms = (st_now_mono_ns() - g->k->began_ns) / 1000000;
    say(g, ST_SNAPSHOT_TAKEN, g->failed.msg);
}

/* ---- what is beside it ---- */

static int open_below(struct keeping *g, const char *name, struct st_error *err)
{
    int fd;

    if (mkdirat(g->folder.dir, name, 0700) < 0 && errno != EEXIST)
        return st_fail_errno(err, "make %s", name);
    fd = openat(g->folder.dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? st_fail_errno(err, "open %s", name) : fd;
}

/* In the order in which they hold: the extending one first, as its digest has them. */
static int write_policy(struct keeping *g, struct st_error *err)
{
    struct st_folder below = {.root = -1, .dir = open_below(g, "policy", err)};
    unsigned n = 0;
    int rc = below.dir < 0 ? below.dir : 0;
    struct st_piece piece;

    for (size_t at = 0; rc >= 0 && st_piece_next(&g->k->pieces, &at, &piece);) {
        char name[32];

        if (piece.kind != ST_SNAPSHOT_POLICY)
            continue;
        snprintf(name, sizeof(name), "%u.yaml", ++n);
        rc = st_folder_write(&below, name, piece.text, piece.text_len, err);
    }
    if (rc >= 0 && fsync(below.dir) < 0)
        rc = st_fail_errno(err, "policy");
    st_close(&below.dir);
    return rc < 0 ? rc : 0;
}

static int keep_trace(struct keeping *g, bool *copied, struct st_error *err)
{
    st_auto_fd dir = open_below(g, "trace", err);

    if (dir < 0 || st_parts_keep(g->k->trace, dir, copied, err) < 0)
        return -err->errnum;
    return fsync(dir) < 0 ? st_fail_errno(err, "trace") : 0;
}

/* ---- the task ---- */

static const char *kind_of(const struct keeping *g)
{
    return !g->taken || !g->has_layer ? "none" : g->overlay ? "overlay" : "directory";
}

static char *known(const char *text)
{
    return *text ? st_xstrdup(text) : NULL;
}

/* By what the first record of the trace has. */
static void find_image(const struct keeping *g, char image[ST_IMAGE_SIZE])
{
    st_auto_json doc = NULL;
    struct st_piece piece;

    for (size_t at = 0; !doc && st_piece_next(&g->k->pieces, &at, &piece);)
        if (piece.kind == ST_SNAPSHOT_FACTS &&
            st_json_parse(piece.text, piece.text_len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
            return;
    if (doc)
        (void)st_bundle_image(st_json_root(doc), g->k->id, g->k->rootfs, image);
}

static void fill_review(const struct keeping *g, struct st_review *r)
{
    const struct st_snapshot_request *q = &g->k->request;
    const char *slash = strrchr(g->k->trace, '/');
    char image[ST_IMAGE_SIZE] = "";

    find_image(g, image);
    *r = (struct st_review){.container = st_xstrdup(g->k->id),
                            .agent_id = known(q->agent_id),
                            .trace_id = known(q->trace_id),
                            .image = known(image),
                            .opened = st_xstrdup(g->opened),
                            .cause = known(q->cause),
                            .severity = known(q->severity),
                            .rule = known(q->rule),
                            .reason = known(q->reason),
                            .event_id = known(q->event_id),
                            .policy = known(q->policy),
                            .policy_sha256 = known(q->policy_sha256),
                            .trace = st_xasprintf("trace/%s", slash ? slash + 1 : g->k->trace)};
    r->snapshot = (struct st_review_snapshot){.sha256 = known(g->sha256),
                                              .failure = known(g->failed.msg),
                                              .kind = st_xstrdup(kind_of(g)),
                                              .frozen = g->taken && q->frozen,
                                              .processes = g->found.processes,
                                              .sockets = g->found.sockets,
                                              .mounts = g->found.mounts,
                                              .files = g->found.files,
                                              .deleted = g->found.deleted,
                                              .omitted = g->found.omitted,
                                              .tar_bytes = g->found.tar_bytes,
                                              .took_ms = g->took_ms};
}

static int write_manifest(struct keeping *g, struct st_error *err)
{
    const struct st_manifest m = {.container = g->k->id,
                                  .trace_id = g->k->request.trace_id,
                                  .event_id = g->k->request.event_id,
                                  .taken_at = g->opened,
                                  .kind = kind_of(g),
                                  .rootfs = g->k->rootfs,
                                  .failure = g->failed.msg[0] ? g->failed.msg : NULL,
                                  .frozen = g->taken && g->k->request.frozen,
                                  .took_ms = g->took_ms,
                                  .max_bytes = g->k->max_bytes,
                                  .found = &g->found};

    return st_manifest_write(&g->folder, &m, g->sha256, err);
}

static int publish(struct keeping *g, struct st_review *r, bool *copied, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;

    if (write_policy(g, err) < 0 || keep_trace(g, copied, err) < 0 || write_manifest(g, err) < 0)
        return -err->errnum;
    fill_review(g, r);
    st_review_write(r, &text);
    st_buf_addc(&text, '\n');
    if (st_folder_write(&g->folder, "review.json", text.data, text.len, err) < 0)
        return -err->errnum;
    /* Whoever took over from a worker that is gone asks again. */
    if (!is_wanted(g->k))
        return st_fail(err, EPIPE, "nobody waits for it any more");
    return st_folder_publish(&g->folder, g->k->id, err);
}

/* The worker hangs up when the trace is sealed. */
static void await_seal(const struct st_keep *k)
{
    struct pollfd p = {.fd = k->socket, .events = POLLRDHUP};

    while (poll(&p, 1, SEAL_MS) < 0 && errno == EINTR)
        continue;
}

static void tell(const struct keeping *g, struct st_review *r)
{
    struct st_error ignored = {0}; /* it is noted beside the task */

    r->id = st_xstrdup(g->folder.name);
    r->folder = st_xasprintf("%s/%s", g->k->dir, g->folder.name);
    if (g->k->hook)
        (void)st_review_tell(g->k->hook, "opened", r, &ignored);
}

int st_keep_run(struct st_keep *k)
{
    struct keeping g = {.k = k, .folder = ST_FOLDER_NONE};
    st_auto_review review = {0};
    struct st_error err = {0}, ignored = {0};
    bool copied = false;
    int rc;

    st_format_rfc3339(st_now_wall_us(), g.opened);
    rc = st_folder_begin(&g.folder, k->dir, &err);
    if (rc == 0) {
        take(&g);
        rc = publish(&g, &review, &copied, &err);
    }
    if (rc < 0) {
        say(&g, ST_SNAPSHOT_FAILED, err.msg);
        st_folder_end(&g.folder);
        return 1;
    }
    say(&g, ST_SNAPSHOT_KEPT, g.failed.msg);
    tell(&g, &review);
    await_seal(k);
    (void)keep_trace(&g, &copied, &ignored);
    st_folder_end(&g.folder);
    return 0;
}
