/* dial: see dial.h. */
#include "monitor/dial.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

int st_dial_dir(const char *state_dir, const char *id)
{
    st_auto_fd parent = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return parent < 0 ? -1 : openat(parent, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int st_dial(int dirfd)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    st_auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/control.sock", dirfd);
    if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
        return -1;
    return st_steal_fd(&fd);
}
