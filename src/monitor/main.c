/* sandtrace-monitor: started by sandtrace-hook, one for each container.
 *
 *   sandtrace-monitor ORDER_FD READY_FD
 *
 * Reads its order from one fd until that ends, says "ok" or why not on the other. The hook starts it first
 * and works out the order meanwhile. Not meant to be started by hand. */
#include "base/buf.h"
#include "base/io.h"
#include "monitor/home.h"
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

int main(int argc, char **argv)
{
    struct st_error err = {0};
    struct st_watch watch;
    st_auto_buf order = ST_BUF_INIT;
    int order_fd, ready_fd, code;

    if (argc != 3 || argv[1][0] == '-') {
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
    /* The hook thought better of it. */
    if (order.len == 0)
        return 0;
    if (st_watch_open(&watch, order.data, order.len, &err) < 0)
        return fail(ready_fd, &err);
    st_buf_free(&order);
    code = st_warden_run(&watch, st_worker_run, ready_fd);
    st_watch_close(&watch);
    return code;
}
