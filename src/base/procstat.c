/* procstat: see procstat.h. */
#include "base/procstat.h"

#include "base/io.h"

#include <string.h>

const char *st_procstat(int dirfd, const char *path, char text[ST_PROCSTAT_SIZE])
{
    const char *name_end;

    if (st_read_small_at(dirfd, path, text, ST_PROCSTAT_SIZE) < 0)
        return NULL;
    name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && name_end[2] != '\0' ? name_end + 2 : NULL;
}
