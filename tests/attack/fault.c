/* fault: see monitor/fault.h. */
#include "monitor/fault.h"

#include "base/io.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* What the file asks for at this point: "" to die, " wait", or NULL. */
static const char *asked(const struct st_watch *w, const char *point, char *text, size_t size)
{
    char path[PATH_MAX];
    size_t len = strlen(point);

    snprintf(path, sizeof(path), "%s/../.fault", w->order.state_dir);
    if (st_read_small_at(AT_FDCWD, path, text, size) < 0 || strncmp(text, point, len) != 0)
        return NULL;
    return text + len;
}

void st_fault(const struct st_watch *w, const char *point)
{
    char text[64];
    const char *what = asked(w, point, text, sizeof(text));

    if (what && !*what)
        raise(SIGKILL); /* or by the worker's own filter, which lets it signal nobody */
    while (what && strcmp(what, " wait") == 0)
        what = asked(w, point, text, sizeof(text));
}
