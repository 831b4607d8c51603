/* ahead: see ahead.h. */
#include "shim/ahead.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "monitor/home.h"
#include "sensors/notify_socket.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* 0 to 2: /dev/null; then those that `await` knows by number. */
enum { STANDBY_FD = 3, RUNTIME_FD, LISTENER_FD, N_FDS };

static int listen_at(const char *state_dir)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    st_auto_free char *dir = st_xasprintf("%s/" ST_AHEAD_DIR, state_dir);
    st_auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int n = snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%d", dir, (int)getpid());

    if (fd < 0 || n < 0 || (size_t)n >= sizeof(addr.sun_path))
        return -1;
    if (mkdir(dir, 0700) < 0 && errno == ENOENT &&
        (st_mkdir_p(state_dir, 0755, NULL) < 0 || mkdir(dir, 0700) < 0))
        return -1;
    unlink(addr.sun_path); /* of a runtime that had our pid before */
    if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, 1) < 0)
        return -1;
    return st_steal_fd(&fd);
}

void st_shim_start_ahead(const struct st_config *config, const char *listener, const char *const *args,
                         const char *const *env)
{
    st_auto_fd null = st_fd_above(open("/dev/null", O_RDWR | O_CLOEXEC), N_FDS);
    st_auto_fd socket_fd = st_fd_above(listen_at(config->state_dir), N_FDS);
    st_auto_fd self = st_fd_above(pidfd_open(getpid(), 0), N_FDS);
    st_auto_fd notify = listener ? st_fd_above(st_notify_listen(listener, NULL), N_FDS) : -1;
    st_auto_fd group = st_fd_above(st_home_open_group(), N_FDS);
    const int fds[N_FDS] = {null, null, null, socket_fd, self, notify};

    if (null < 0 || socket_fd < 0 || self < 0 || (listener && notify < 0))
        return;
    st_spawn(&(struct st_spawn){.program = config->hook,
                                .argv = args,
                                .envp = env,
                                .fds = fds,
                                .n_fds = listener ? N_FDS : LISTENER_FD,
                                .cgroup_fd = group,
                                .say_fd = -1,
                                .orphan = true},
             NULL);
}
