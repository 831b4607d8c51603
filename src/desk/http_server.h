/* http_server: requests come in by libmicrohttpd, go through the gate to their handlers, and answers out. The
 * only file that knows the library, with http_connection.c. One loop, one thread; what may take a while is
 * done by the pool. */
#pragma once

#include "desk/desk.h"
#include "desk/http_pool.h"

struct st_server;

/* listen_fd listens; it becomes the server's. */
int st_server_new(struct st_desk *desk, struct st_pool *pool, int listen_fd, bool local,
                  struct st_server **out, struct st_error *err);

/* Until stop_fd is readable. */
int st_server_run(struct st_server *s, int stop_fd, struct st_error *err);
