/* standby: see standby.h. */
#include "standby.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "monitor/answer.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Named after the runtime, which is our parent. */
static int find(const char *dir)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    st_auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int n = snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%d", dir, (int)getppid());

    if (fd < 0 || n < 0 || (size_t)n >= sizeof(addr.sun_path) ||
        connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
        return -1;
    return st_steal_fd(&fd);
}

int st_standby_ask(const char *dir, pid_t pid, int64_t timeout_ms, struct st_error *err)
{
    st_auto_fd fd = find(dir);
    char text[16];

    if (fd < 0)
        return st_fail(err, ENOENT, "no monitor waits in %s", dir);
    signal(SIGPIPE, SIG_IGN);
    snprintf(text, sizeof(text), "%d", (int)pid);
    st_write_all(fd, text, strlen(text));
    shutdown(fd, SHUT_WR);
    /* One that gave up says nothing: the next one will be asked, and say why. */
    return st_answer_read(fd, timeout_ms, err) == -ESRCH ? -ENOENT : -err->errnum;
}
