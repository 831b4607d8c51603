/* sandtrace-monitor: started by sandtrace-hook, one for each container.
 *
 *   sandtrace-monitor ORDER_FD READY_FD
 *   sandtrace-monitor ORDER_FD SOCKET_FD RUNTIME_FD
 *
 * Reads its order from one fd until that ends, says "ok" or why not on the other. The hook starts it first
 * and works out the order meanwhile. In the second form it was started ahead of the runtime, and its order
 * names no process: the hook comes to the socket with that, and is answered there. Not meant to be started by
 * hand. */
#include "base/buf.h"
#include "base/io.h"
#include "monitor/home.h"
#include "monitor/standby.h"
#include "monitor/warden.h"
#include "monitor/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ORDER_MAX (8u << 20)

static int fail(int ready_fd, const struct st_error *err)
{
    st_write_all(ready_fd, err->msg, strlen(err->msg));
    return 1;
}

/* The hook's connection, and the pid that it named; or why nobody is to be answered. */
static int await_hook(int socket_fd, int runtime_fd, const struct st_buf *order, pid_t *pid,
                      struct st_error *err)
{
    int fd = -1;

    if (order->len == 0)
        st_standby_leave(socket_fd);
    else
        fd = st_standby_wait(socket_fd, runtime_fd, pid, err);
    close(socket_fd);
    close(runtime_fd);
    return fd;
}

int main(int argc, char **argv)
{
    struct st_error err = {0};
    struct st_watch watch;
    st_auto_buf order = ST_BUF_INIT;
    pid_t pid = 0;
    int order_fd, ready_fd, code;

    if ((argc != 3 && argc != 4) || argv[1][0] == '-') {
        fputs("sandtrace-monitor " PACKAGE_VERSION "\nStarted by sandtrace-hook, one for each container; see "
              "sandtrace-runtime(8).\n",
              argc == 2 ? stdout : stderr);
        return argc == 2 ? 0 : 2;
    }
    order_fd = atoi(argv[1]);
    ready_fd = atoi(argv[2]);
    st_home_detach();
    if (st_read_fd(order_fd, ORDER_MAX, &order, &err) < 0)
        return fail(ready_fd, &err);
    close(order_fd);
    if (argc == 4)
        ready_fd = await_hook(ready_fd, atoi(argv[3]), &order, &pid, &err);
    /* The hook thought better of it, or never came. */
    if (order.len == 0 || ready_fd < 0)
        return 0;
    if (st_watch_open(&watch, order.data, order.len, pid, &err) < 0)
        return fail(ready_fd, &err);
    st_buf_free(&order);
    code = st_warden_run(&watch, st_worker_run, ready_fd);
    st_watch_close(&watch);
    return code;
}
