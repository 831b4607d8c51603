/* rotated: see rotated.h. */
#include "audit/rotated.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MAX 99999999u

static const char *const endings[] = {"", ".gz", ".zst"};

#define N_ENDINGS (sizeof(endings) / sizeof(endings[0]))

static bool is_ending(const char *s)
{
    for (size_t i = 0; i < N_ENDINGS; i++)
        if (strcmp(s, endings[i]) == 0)
            return true;
    return false;
}

/* N of NAME.N and NAME.N.gz, written without leading zeros; 0: something else. */
static unsigned number_of(const char *file, const char *name)
{
    size_t len = strlen(name);
    const char *p = file + len + 1;
    unsigned n = 0;

    if (strncmp(file, name, len) != 0 || file[len] != '.' || file[len + 1] == '0')
        return 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (n > NUMBER_MAX / 10)
            return 0;
        n = n * 10 + (unsigned)(*p - '0');
    }
    return is_ending(p) ? n : 0;
}

int st_rotated_last(int dirfd, const char *name, unsigned *last, struct st_error *err)
{
    st_auto_fd again = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    st_auto_dir dir = NULL;
    struct dirent *entry;

    *last = 0;
    if (again < 0)
        return st_fail_errno(err, "open the trace's folder");
    dir = fdopendir(again);
    if (!dir)
        return st_fail_errno(err, "read the trace's folder");
    st_steal_fd(&again);
    for (errno = 0; (entry = readdir(dir)); errno = 0) {
        unsigned n = number_of(entry->d_name, name);

        if (n > *last)
            *last = n;
    }
    return errno ? st_fail_errno(err, "read the trace's folder") : 0;
}

int st_rotated_name(const char *name, unsigned n, char out[NAME_MAX + 1], struct st_error *err)
{
    int len = snprintf(out, NAME_MAX + 1, "%s.%u", name, n);

    if (len < 0 || len > NAME_MAX)
        return st_fail(err, ENAMETOOLONG, "%s: name too long", name);
    return 0;
}

bool st_rotated_find(int dirfd, const char *name, unsigned n, char out[NAME_MAX + 1])
{
    for (size_t i = 0; i < N_ENDINGS; i++) {
        int len = snprintf(out, NAME_MAX + 1, "%s.%u%s", name, n, endings[i]);

        if (len > 0 && len <= NAME_MAX && faccessat(dirfd, out, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return true;
    }
    return false;
}
