/* helper: see helper.h. */
#include "shim/helper.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "oci/landlock_words.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

#define FIRST_FD 3
#define MAX_FDS 1024

static const unsigned char program[] = {
#include "shim/landlock_helper.inc"
};

/* ---- which number ---- */

static int count_of(const char *text, const char *what, struct st_error *err)
{
    char *end;
    long n;

    if (!text)
        return 0;
    errno = 0;
    n = strtol(text, &end, 0);
    if (errno || end == text || *end || n < 0 || n > MAX_FDS)
        return st_fail(err, EINVAL, "%s: `%.40s` is no number of open files", what, text);
    return (int)n;
}

/* Sockets of systemd come before those of --preserve-fds, if they are meant for this process; runc hands them
 * to a container's first process alone. */
static int count_listening(const struct st_oci_args *args, struct st_error *err)
{
    const char *pid = getenv("LISTEN_PID");

    if (args->command == ST_OCI_EXEC || !pid || atol(pid) != (long)getpid())
        return 0;
    return count_of(getenv("LISTEN_FDS"), "LISTEN_FDS", err);
}

int st_shim_helper_number(const struct st_oci_args *args, int *out, struct st_error *err)
{
    int listening = count_listening(args, err);
    int preserved = listening < 0 ? listening : count_of(args->preserve_fds, "--preserve-fds", err);

    if (preserved < 0)
        return preserved;
    *out = FIRST_FD + listening + preserved;
    return 0;
}

/* ---- the file ---- */

static int new_file(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

    if (fd < 0 && errno == EINVAL) /* Linux before 6.3: all are executable */
        fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return fd;
}

int st_shim_sealed_file(const char *name, const void *bytes, size_t n, int at_least, struct st_error *err)
{
    st_auto_fd fd = new_file(name);
    int out;

    if (fd < 0 || st_write_all(fd, bytes, n) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0 ||
        lseek(fd, 0, SEEK_SET) < 0)
        return st_fail_errno(err, "an anonymous file for %s", name);
    out = fcntl(fd, F_DUPFD, at_least);
    return out < 0 ? st_fail_errno(err, "an anonymous file for %s", name) : out;
}

/* ---- the command line ---- */

void st_shim_replace_value(char **argv, const char *value, const char *by)
{
    for (char **word = argv; *word; word++) {
        uintptr_t at = (uintptr_t)value, start = (uintptr_t)*word;

        if (at < start || at > start + strlen(*word))
            continue;
        *word = st_xasprintf("%.*s%s", (int)(at - start), *word, by);
        return;
    }
}

/* An option right behind the command. */
static char **with_option(char *const *argv, int command_at, char *option)
{
    size_t n = 0;
    char **out;

    while (argv[n])
        n++;
    out = st_xcalloc(n + 2, sizeof(*out));
    memcpy(out, argv, ((size_t)command_at + 1) * sizeof(*out));
    out[command_at + 1] = option;
    memcpy(out + command_at + 2, argv + command_at + 1, (n - (size_t)command_at) * sizeof(*out));
    return out;
}

int st_shim_helper_hand(const struct st_oci_args *args, int number, char ***argv, struct st_error *err)
{
    int preserved = count_of(args->preserve_fds, "--preserve-fds", err), fd;

    if (preserved < 0)
        return preserved;
    fd = st_shim_sealed_file(ST_LANDLOCK_NAME, program, sizeof(program), number, err);
    if (fd < 0)
        return fd;
    /* What has this number is nothing that the runtime was to hand on. */
    if (fd != number && dup2(fd, number) < 0)
        return st_fail_errno(err, "fd %d for the container", number);
    if (fd != number)
        close(fd);
    if (args->preserve_fds) {
        char text[16];

        snprintf(text, sizeof(text), "%d", preserved + 1);
        st_shim_replace_value(*argv, args->preserve_fds, text);
    } else {
        *argv = with_option(*argv, args->command_at, st_xstrdup("--preserve-fds=1"));
    }
    return 0;
}
