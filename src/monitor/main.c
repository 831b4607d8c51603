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

/* Where nobody is there to be told yet, we wait until somebody is. */
static int fail(struct st_starter *starter, const struct st_error *err)
{
    pid_t pid;

    if (starter->ready_fd < 0)
        starter->ready_fd = st_standby_wait(starter->socket_fd, starter->runtime_fd, &pid, NULL);
    if (starter->ready_fd >= 0)
        st_write_all(starter->ready_fd, err->msg, strlen(err->msg));
    return 1;
}

static int watch(const struct st_buf *order, struct st_starter *starter)
{
    struct st_error err = {0};
    struct st_watch watch;
    int code;

    if (st_watch_open(&watch, order->data, order->len, &err) < 0)
        return fail(starter, &err);
    if (starter->ready_fd >= 0 && st_watch_meet(&watch, 0, &err) < 0)
        code = fail(starter, &err);
    else
        code = st_warden_run(&watch, st_worker_run, starter);
    st_watch_close(&watch);
    return code;
}

int main(int argc, char **argv)
{
    struct st_error err = {0};
    struct st_starter starter = {-1, -1, -1};
    st_auto_buf order = ST_BUF_INIT;
    int order_fd;

    if ((argc != 3 && argc != 4) || argv[1][0] == '-') {
        fputs("sandtrace-monitor " PACKAGE_VERSION "\nStarted by sandtrace-hook, one for each container; see "
              "sandtrace-runtime(8).\n",
              argc == 2 ? stdout : stderr);
        return argc == 2 ? 0 : 2;
    }
    order_fd = atoi(argv[1]);
    if (argc == 3)
        starter.ready_fd = atoi(argv[2]);
    else
        starter = (struct st_starter){-1, atoi(argv[2]), atoi(argv[3])};
    st_home_detach();
    if (st_read_fd(order_fd, ORDER_MAX, &order, &err) < 0)
        return fail(&starter, &err);
    st_buf_fit(&order); /* it is kept, in both of us, to the end */
    close(order_fd);
    if (order.len > 0)
        return watch(&order, &starter);
    /* The hook thought better of it. */
    if (starter.ready_fd < 0)
        st_standby_leave(starter.socket_fd);
    return 0;
}
