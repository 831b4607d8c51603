/* netkernel: see netkernel.h. A line: release, and four words of yes and no. */
#include "monitor/netkernel.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NAME ".netfilter" /* who lists containers leaves out what begins with a dot */

static bool path_of(const char *state_dir, const char *suffix, char out[PATH_MAX])
{
    const char *slash = strrchr(state_dir, '/');
    int n =
        slash ? snprintf(out, PATH_MAX, "%.*s/" NAME "%s", (int)(slash - state_dir), state_dir, suffix) : -1;

    return n > 0 && n < PATH_MAX;
}

static void write_line(const struct st_ruleset *r, char *out, size_t size)
{
    struct utsname kernel;

    uname(&kernel);
    snprintf(out, size, "%s %s %d%d%d%d\n", kernel.release, kernel.version, r->owner, r->native_queue,
             r->egress, r->begun);
}

bool st_netkernel_recall(const char *state_dir, struct st_ruleset *out)
{
    char path[PATH_MAX], expected[512];
    st_auto_buf text = ST_BUF_INIT;

    if (!path_of(state_dir, "", path) || st_read_trusted_file(path, sizeof(expected), &text, NULL) < 0)
        return false;
    for (unsigned bits = 0; bits < 16; bits++) {
        *out = (struct st_ruleset){
            .owner = bits & 8, .native_queue = bits & 4, .egress = bits & 2, .begun = bits & 1};
        write_line(out, expected, sizeof(expected));
        if (strcmp(st_buf_cstr(&text), expected) == 0)
            return true;
    }
    return false;
}

void st_netkernel_keep(const char *state_dir, const struct st_ruleset *found)
{
    char path[PATH_MAX], new[PATH_MAX], line[512], suffix[32];
    st_auto_fd fd = -1;

    snprintf(suffix, sizeof(suffix), ".%d", (int)getpid());
    if (!path_of(state_dir, "", path) || !path_of(state_dir, suffix, new))
        return;
    write_line(found, line, sizeof(line));
    fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (st_write_all(fd, line, strlen(line)) < 0 || rename(new, path) < 0)
        unlink(new);
}
