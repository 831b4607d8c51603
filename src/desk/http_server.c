/* http_server: see http_server.h. */
#include "desk/http_server.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "desk/http_connection.h"

#include <poll.h>

#define CONNECTIONS_MAX 400
#define IDLE_SECONDS 60
#define MEMORY_EACH 16384 /* of a connection: its headers must fit */

int st_server_new(struct st_desk *desk, struct st_pool *pool, int listen_fd, bool local,
                  struct st_server **out, struct st_error *err)
{
    struct st_server *s = st_xcalloc(1, sizeof(*s));

    s->desk = desk;
    s->pool = pool;
    s->local = local;
    s->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, st_connection_go_on,
                                 s, MHD_OPTION_LISTEN_SOCKET, listen_fd, MHD_OPTION_URI_LOG_CALLBACK,
                                 st_connection_begin, s, MHD_OPTION_NOTIFY_COMPLETED, st_connection_end, s,
                                 MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                                 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
                                 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_EACH,
                                 MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (!s->daemon) {
        free(s);
        return st_fail(err, errno ? errno : EIO, "libmicrohttpd does not start");
    }
    *out = s;
    return 0;
}

static void resume_done(struct st_server *s)
{
    struct st_job *next;

    for (struct st_job *job = st_pool_done(s->pool); job; job = next) {
        struct st_connection *c = (struct st_connection *)(void *)job;

        next = job->next;
        MHD_resume_connection(c->mhd);
    }
}

static int wait_ms(struct st_server *s)
{
    MHD_UNSIGNED_LONG_LONG ms = 0;

    if (MHD_get_timeout(s->daemon, &ms) == MHD_NO)
        return 1000;
    return ms > 1000 ? 1000 : (int)ms;
}

int st_server_run(struct st_server *s, int stop_fd, struct st_error *err)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd fds[] = {{.fd = stop_fd, .events = POLLIN},
                           {.fd = st_pool_done_fd(s->pool), .events = POLLIN},
                           {.fd = st_hub_fd(s->desk->hub), .events = POLLIN},
                           {.fd = info ? info->epoll_fd : -1, .events = POLLIN}};

    for (;;) {
        if (poll(fds, sizeof(fds) / sizeof(fds[0]), wait_ms(s)) < 0 && errno != EINTR)
            return st_fail_errno(err, "poll");
        if (fds[0].revents)
            return 0;
        if (fds[1].revents)
            resume_done(s);
        if (fds[2].revents)
            st_hub_heard(s->desk->hub);
        st_streams_wake(s);
        if (MHD_run(s->daemon) == MHD_NO)
            return st_fail(err, EIO, "libmicrohttpd stopped");
    }
}
