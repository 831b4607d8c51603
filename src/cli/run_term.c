/* run_term: see run_term.h. */
#include "cli/run_term.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <sys/ioctl.h>

void st_run_term_open(struct st_run_term *t)
{
    t->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (t->fd >= 0 && tcgetattr(t->fd, &t->before) < 0)
        st_close(&t->fd);
}

void st_run_term_raw(const struct st_run_term *t)
{
    struct termios raw = t->before;

    if (t->fd < 0)
        return;
    cfmakeraw(&raw);
    tcsetattr(t->fd, TCSADRAIN, &raw);
}

void st_run_term_restore(const struct st_run_term *t)
{
    if (t->fd >= 0)
        tcsetattr(t->fd, TCSADRAIN, &t->before);
}

bool st_run_term_is_ours(const struct st_run_term *t)
{
    return t->fd >= 0 && tcgetpgrp(t->fd) == getpgrp();
}

void st_run_term_size(const struct st_run_term *t, unsigned short *rows, unsigned short *columns)
{
    struct winsize size = {0};

    if (t->fd >= 0)
        ioctl(t->fd, TIOCGWINSZ, &size);
    *rows = size.ws_row;
    *columns = size.ws_col;
}

void st_run_term_resize(const struct st_run_term *t, int master)
{
    struct winsize size;

    if (t->fd >= 0 && master >= 0 && ioctl(t->fd, TIOCGWINSZ, &size) == 0 && size.ws_row)
        ioctl(master, TIOCSWINSZ, &size);
}
