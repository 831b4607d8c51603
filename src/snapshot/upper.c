/* upper: see upper.h. */
#include "snapshot/upper.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/mountinfo.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define OPTION "upperdir="

/* The kernel puts a backslash before a comma of the path. */
static char *upper_of(const char *options)
{
    const char *at = options;
    char *out, *to;

    while (at && strncmp(at, OPTION, strlen(OPTION)) != 0) {
        at = strchr(at, ',');
        at = at ? at + 1 : NULL;
    }
    if (!at)
        return NULL;
    at += strlen(OPTION);
    out = to = st_xmalloc(strlen(at) + 1);
    for (; *at && *at != ','; at++) {
        if (*at == '\\' && at[1])
            at++;
        *to++ = *at;
    }
    *to = '\0';
    return out;
}

int st_upper_open(const char *rootfs, bool *overlay, char *why, size_t size)
{
    st_auto_mounts mounts = {0};
    const struct st_mount *m = st_mounts_read(0, &mounts, NULL) < 0 ? NULL : st_mounts_cover(&mounts, rootfs);
    bool is_overlay = m && strcmp(m->type, "overlay") == 0 && strcmp(m->point, rootfs) == 0;
    st_auto_free char *upper = is_overlay ? upper_of(m->super) : NULL;
    int fd;

    *overlay = is_overlay;
    if (is_overlay && !upper) {
        snprintf(why, size, "the root is an overlay without an upper layer");
        return -1;
    }
    fd = open(upper ? upper : rootfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        snprintf(why, size, "%.300s: %s", upper ? upper : rootfs, strerror(errno));
    return fd;
}
