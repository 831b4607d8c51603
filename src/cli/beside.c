/* beside: see beside.h. */
#include "cli/beside.h"

#include "base/mem.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

char *st_beside(const char *name)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (n <= 0)
        return NULL;
    self[n] = '\0';
    slash = strrchr(self, '/');
    return slash ? st_xasprintf("%.*s/%s", (int)(slash - self), self, name) : NULL;
}
