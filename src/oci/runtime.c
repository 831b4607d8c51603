/* runtime: see runtime.h. */
#include "oci/runtime.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <string.h>
#include <sys/stat.h>

#define USUAL_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

enum found { FOUND, NOTHING, NO_PROGRAM, OURSELVES };

static enum found look(const char *path, const struct stat *self)
{
    struct stat sb;

    if (stat(path, &sb) < 0)
        return NOTHING;
    if (sb.st_dev == self->st_dev && sb.st_ino == self->st_ino)
        return OURSELVES;
    if (!S_ISREG(sb.st_mode) || access(path, X_OK) < 0)
        return NO_PROGRAM;
    return FOUND;
}

/* A name in the directories of path; other things than the wanted one are passed over. */
static char *search(const char *name, const char *path, const struct stat *self)
{
    for (const char *dir = path; *dir;) {
        size_t len = strcspn(dir, ":");

        if (dir[0] == '/') {
            st_auto_free char *candidate = st_xasprintf("%.*s/%s", (int)len, dir, name);

            if (look(candidate, self) == FOUND)
                return st_steal_ptr(&candidate);
        }
        dir += len + (dir[len] == ':');
    }
    return NULL;
}

static int check_path(const char *path, const struct stat *self, char **out, struct st_error *err)
{
    switch (look(path, self)) {
    case FOUND: *out = st_xstrdup(path); return 0;
    case NOTHING: return st_fail_errno(err, "runtime %s", path);
    case NO_PROGRAM: return st_fail(err, EACCES, "runtime %s: not an executable file", path);
    case OURSELVES: break;
    }
    return st_fail(err, ELOOP,
                   "runtime %s: this is sandtrace-runtime itself; name the real runtime, such as runc", path);
}

int st_oci_find_runtime(const char *configured, const char *path, char **out, struct st_error *err)
{
    const char *const names[] = {configured ? configured : "runc", configured ? NULL : "crun"};
    struct stat self;

    if (stat("/proc/self/exe", &self) < 0)
        return st_fail_errno(err, "/proc/self/exe");
    if (configured && strchr(configured, '/'))
        return check_path(configured, &self, out, err);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && names[i]; i++) {
        *out = search(names[i], path ? path : USUAL_PATH, &self);
        if (*out)
            return 0;
    }
    return st_fail(err, ENOENT,
                   "no OCI runtime: %s not found in PATH; install it, or name one by `runtime:` in "
                   "sandtrace.yaml or by SANDTRACE_RUNTIME",
                   configured ? configured : "neither runc nor crun");
}
