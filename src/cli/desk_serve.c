/* desk_serve: see desk_serve.h. */
#include "cli/desk_serve.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/desk_bus.h"
#include "cli/desk_confine.h"
#include "cli/desk_live.h"
#include "desk/http_server.h"

#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>

#define WORKERS 4

static int stop_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_SETMASK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Everything that listens or works is there, and waits; then nothing more can be had. */
static int set_up(const struct st_desk_order *o, struct st_desk *desk, struct st_server **server,
                  struct st_desk_bus **bus, struct st_error *err)
{
    struct st_error quiet = {0};

    if (st_desk_drop(err) < 0 || st_hub_new(desk->live, &desk->hub, err) < 0 ||
        st_pool_new(WORKERS, &desk->pool, err) < 0)
        return -err->errnum;
    /* Without the bus everything but the live stream works. */
    if (st_desk_bus_start(desk->hub, o->config->state_dir, o->gid, bus, &quiet) < 0)
        fprintf(stderr, "sandtrace serve: no live events: %s\n", quiet.msg);
    if (st_server_new(desk, desk->pool, o->listen_fd, o->local, server, err) < 0)
        return -err->errnum;
    return st_desk_confine(err);
}

static int serve(const struct st_desk_order *o, struct st_error *err)
{
    st_auto_fd stop = stop_signals();
    struct st_desk_live live_ctx = {.state_dir = o->config->state_dir, .ask_fd = o->ask_fd};
    struct st_live live = st_desk_live(&live_ctx);
    struct st_login login;
    struct st_desk desk = {
        .db_path = o->db,
        .quarantine_dir = o->quarantine_dir,
        .live = &live,
        .gate = {.login = &login, .read_only = o->read_only, .metrics_open = o->metrics_open},
        .started_ns = st_now_mono_ns()};
    struct st_server *server = NULL;
    struct st_desk_bus *bus = NULL;
    int rc;

    if (stop < 0)
        return st_fail_errno(err, "signalfd");
    st_login_init(&login, o->token, o->code[0] ? o->code : NULL, o->user, o->sessions, st_now_mono_ns());
    rc = set_up(o, &desk, &server, &bus, err);
    if (rc == 0)
        rc = st_server_run(server, stop, err);
    st_desk_bus_end(bus);
    return rc;
}

int st_desk_serve(const struct st_desk_order *o)
{
    struct st_error err = {0};

    if (serve(o, &err) == 0)
        return 0;
    fprintf(stderr, "sandtrace serve: %s\n", err.msg);
    return 1;
}
