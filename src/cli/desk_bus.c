/* desk_bus: see desk_bus.h. */
#include "cli/desk_bus.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "cli/control_client.h"
#include "cli/listener.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

struct st_desk_bus {
    struct st_stream_hub *hub;
    struct st_listener *listener;
    const char *state_dir;
};

/* Whose monitor has this pid? The caller's, or NULL. */
static char *container_of(const struct st_desk_bus *b, pid_t pid)
{
    st_auto_boxes boxes = {0};
    struct st_error err = {0};

    if (st_boxes_read(b->state_dir, &boxes, &err) < 0)
        return NULL;
    for (size_t i = 0; i < boxes.n; i++) {
        st_auto_answer state = {0};
        int64_t worker;

        if (st_box_state(&boxes.list[i], &state) && st_json_int(st_json_get(state.root, "worker"), &worker) &&
            worker == pid)
            return st_xstrdup(boxes.list[i].id);
    }
    return NULL;
}

static void joined(void *ctx, struct st_speaker *s)
{
    struct st_desk_bus *b = ctx;

    s->ctx = container_of(b, s->pid);
    st_hub_look_at_pending(b->hub);
}

static void line(void *ctx, struct st_speaker *s, struct st_str text)
{
    struct st_desk_bus *b = ctx;

    if (!s->ctx) /* it had not said its name yet */
        s->ctx = container_of(b, s->pid);
    st_hub_line(b->hub, s->ctx, text);
}

static void left(void *ctx, struct st_speaker *s)
{
    struct st_desk_bus *b = ctx;

    free(s->ctx);
    s->ctx = NULL;
    st_hub_look_at_pending(b->hub);
}

static int idle(void *ctx)
{
    (void)ctx;
    return 0;
}

static void *listen_to(void *arg)
{
    static const struct st_listener_calls calls = {
        .joined = joined, .line = line, .left = left, .idle = idle};
    struct st_desk_bus *b = arg;
    struct st_error err = {0};

    st_listener_run(b->listener, -1, &calls, b, &err);
    return NULL;
}

int st_desk_bus_start(struct st_stream_hub *hub, const char *state_dir, int64_t gid, struct st_desk_bus **out,
                      struct st_error *err)
{
    struct st_desk_bus *b = st_xcalloc(1, sizeof(*b));
    sigset_t all, before;
    pthread_t thread;
    int rc;

    *b = (struct st_desk_bus){.hub = hub, .state_dir = state_dir};
    if (st_listener_open(state_dir, gid, &b->listener, err) < 0) {
        free(b);
        return -err->errnum;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&thread, NULL, listen_to, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc)
        return st_fail(err, rc, "start a thread: %s", strerror(rc));
    pthread_detach(thread);
    *out = b;
    return 0;
}

void st_desk_bus_end(const struct st_desk_bus *b)
{
    if (b)
        st_listener_hide(b->listener);
}
