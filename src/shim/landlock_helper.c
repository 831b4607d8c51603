/* landlock_helper: the small program that stands before the command of a container whose floor is Landlock.
 *
 *   /proc/self/fd/N sandtrace-landlock [+PATH | =PATH]… -- COMMAND [ARGUMENT…]
 *
 * It forbids itself, and so all that comes after it, to change the file system but beneath the paths that it
 * was given (+: whatever is there or will be; =: only what is written into things that are there), then
 * becomes the command. It runs inside, on a root that a stranger filled: no libc, no allocation, no path
 * followed through a symbolic link, and nothing is run unless all of it worked. A path that can't be found
 * adds no rule: less may be written, never more. Exit codes as engines have them: 125 the floor could not be
 * laid, 126 the command can't be run, 127 there is none. */
#include "base/bare.h"
#include "oci/landlock_words.h"

#include <asm/errno.h>
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/landlock.h>
#include <linux/prctl.h>
#include <linux/stat.h>

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

#define FILE_RIGHTS (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_TRUNCATE)
#define TREE_RIGHTS                                                                                          \
    (FILE_RIGHTS | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |                          \
     LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |              \
     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |           \
     LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER)

enum { NO_FLOOR = 125, CANNOT_RUN = 126, NOT_FOUND = 127 };
enum { NAME_SIZE = 256, PATH_SIZE = 4096, DIGITS = 20 };

/* ---- saying ---- */

static void say(const char *s)
{
    ask(__NR_write, 2, (long)s, (long)length(s), 0, 0, 0);
}

static void say_number(long n)
{
    char text[DIGITS + 1];
    int at = DIGITS;

    text[at] = '\0';
    do
        text[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0 && at > 0);
    say(text + at);
}

static void say_error(long error)
{
    static const struct {
        int number;
        const char *text;
    } known[] = {{ENOENT, "no such file or directory"},
                 {EACCES, "permission denied"},
                 {EPERM, "operation not permitted"},
                 {ENOEXEC, "exec format error"},
                 {ENOTDIR, "not a directory"},
                 {ELOOP, "too many levels of symbolic links"},
                 {E2BIG, "argument list too long"},
                 {ENOSYS, "function not implemented"},
                 {EOPNOTSUPP, "not enabled in the kernel"}};

    for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].number == error) {
            say(known[i].text);
            return;
        }
    say("error ");
    say_number(error);
}

__attribute__((noreturn)) static void leave(int status)
{
    for (;;)
        ask(__NR_exit_group, status, 0, 0, 0, 0, 0);
}

__attribute__((noreturn)) static void no_floor(const char *what, long rc)
{
    say("sandtrace: the container's floor could not be laid: ");
    say(what);
    if (rc < 0) {
        say(": ");
        say_error(-rc);
    }
    say("\n");
    leave(NO_FLOOR);
}

__attribute__((noreturn)) static void no_command(const char *name, const char *why, long rc, int status)
{
    say("sandtrace: exec: \"");
    say(name);
    say("\": ");
    if (why)
        say(why);
    else
        say_error(-rc);
    say("\n");
    leave(status);
}

/* ---- the rules ---- */

/* The next name of a path into out; 0: it has none any more. Dots are no names: the paths are in normal form.
 */
static long next_name(const char **path, char out[NAME_SIZE])
{
    unsigned long n = 0;

    while (**path == '/')
        (*path)++;
    while (**path && **path != '/') {
        if (n == NAME_SIZE - 1)
            return -ENAMETOOLONG;
        out[n++] = *(*path)++;
    }
    out[n] = '\0';
    return same(out, ".") || same(out, "..") ? -EINVAL : (long)n;
}

/* What a path is of, with no symbolic link in any part of it: who was here before us may have put one there.
 */
static long find(const char *path)
{
    char name[NAME_SIZE];
    long fd = ask(__NR_openat, AT_FDCWD, (long)"/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);

    while (fd >= 0) {
        long n = next_name(&path, name), next;
        struct stat st;

        st.st_mode = 0;
        if (n == 0)
            return fd;
        next = n < 0 ? n : ask(__NR_openat, fd, (long)name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0, 0, 0);
        ask(__NR_close, fd, 0, 0, 0, 0, 0);
        fd = next;
        if (fd >= 0 && (ask(__NR_fstat, fd, (long)&st, 0, 0, 0, 0) < 0 || S_ISLNK(st.st_mode))) {
            ask(__NR_close, fd, 0, 0, 0, 0, 0);
            return -ELOOP;
        }
    }
    return fd;
}

static long permit(long ruleset, long fd, unsigned long long rights)
{
    struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = (int)fd};

    return ask(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, (long)&rule, 0, 0, 0);
}

static void add_rule(long ruleset, const char *word)
{
    long fd = find(word + 1);
    struct stat st;
    int tree;

    st.st_mode = 0;
    if (word[0] != ST_LANDLOCK_TREE && word[0] != ST_LANDLOCK_FILES)
        no_floor("a rule that it does not know", -EINVAL);
    if (fd < 0)
        return;
    tree =
        word[0] == ST_LANDLOCK_TREE && ask(__NR_fstat, fd, (long)&st, 0, 0, 0, 0) == 0 && S_ISDIR(st.st_mode);
    if (permit(ruleset, fd, tree ? TREE_RIGHTS : FILE_RIGHTS) < 0)
        no_floor(word + 1, -EINVAL);
    ask(__NR_close, fd, 0, 0, 0, 0, 0);
}

/* What is held open for writing may be opened again (/dev/stderr). Pipes and sockets need no rule. */
static void permit_own(long ruleset)
{
    for (long fd = 0; fd <= 2; fd++) {
        long flags = ask(__NR_fcntl, fd, F_GETFL, 0, 0, 0, 0);
        struct stat st;

        st.st_mode = 0;
        if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY &&
            ask(__NR_fstat, fd, (long)&st, 0, 0, 0, 0) == 0 && (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)))
            permit(ruleset, fd, FILE_RIGHTS);
    }
}

/* Who has CAP_SYS_ADMIN needs nothing else; for all others no program gives more rights than its caller has.
 */
static void restrict_self(long ruleset)
{
    long rc = ask(__NR_landlock_restrict_self, ruleset, 0, 0, 0, 0, 0);

    if (rc == -EPERM) {
        rc = ask(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
        if (rc == 0)
            rc = ask(__NR_landlock_restrict_self, ruleset, 0, 0, 0, 0, 0);
    }
    if (rc < 0)
        no_floor("landlock_restrict_self", rc);
}

/* Returns the words behind the rules: the command. */
static char **lay_floor(char **word)
{
    struct landlock_ruleset_attr attr = {.handled_access_fs = TREE_RIGHTS};
    long ruleset;
    long abi = ask(__NR_landlock_create_ruleset, 0, 0, LANDLOCK_CREATE_RULESET_VERSION, 0, 0, 0);

    if (abi < ST_LANDLOCK_ABI)
        no_floor("Landlock is too old, or is refused here", abi < 0 ? abi : -EOPNOTSUPP);
    ruleset = ask(__NR_landlock_create_ruleset, (long)&attr, sizeof(attr.handled_access_fs), 0, 0, 0, 0);
    if (ruleset < 0)
        no_floor("landlock_create_ruleset", ruleset);
    for (; *word && !same(*word, ST_LANDLOCK_END); word++)
        add_rule(ruleset, *word);
    if (!*word || !word[1])
        no_floor("no command", 0);
    permit_own(ruleset);
    restrict_self(ruleset);
    ask(__NR_close, ruleset, 0, 0, 0, 0, 0);
    return word + 1;
}

/* ---- the command ---- */

static const char *path_variable(char **environment)
{
    static const char name[] = "PATH=";
    const char *value = 0;

    for (; *environment; environment++) {
        unsigned i = 0;

        while (name[i] && (*environment)[i] == name[i])
            i++;
        if (!name[i])
            value = *environment + i;
    }
    return value;
}

static int join(char out[PATH_SIZE], const char *dir, unsigned long n, const char *name)
{
    unsigned long tail = length(name);

    if (n + 1 + tail >= PATH_SIZE)
        return 0;
    for (unsigned long i = 0; i < n; i++)
        out[i] = dir[i];
    out[n] = '/';
    for (unsigned long i = 0; i <= tail; i++)
        out[n + 1 + i] = name[i];
    return 1;
}

static int is_program(const char *path)
{
    struct stat st;

    st.st_mode = 0;
    return ask(__NR_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0, 0) == 0 && !S_ISDIR(st.st_mode) &&
           (st.st_mode & 0111);
}

/* As runc finds it: a name with a slash is one already; directories of PATH that are not absolute do not
 * count. */
static const char *look_up(const char *name, char **environment, char found[PATH_SIZE])
{
    const char *dir = path_variable(environment);

    for (const char *s = name; *s; s++)
        if (*s == '/')
            return name;
    while (dir && *name) {
        unsigned long n = 0;

        while (dir[n] && dir[n] != ':')
            n++;
        if (dir[0] == '/' && join(found, dir, n, name) && is_program(found))
            return found;
        dir = dir[n] ? dir + n + 1 : 0;
    }
    return 0;
}

/* Our own program came as an fd, which is no business of the command. */
static void close_own(const char *path)
{
    long fd = 0;

    for (const char *s = path; *s; s++)
        fd = *s >= '0' && *s <= '9' ? fd * 10 + *s - '0' : 0;
    if (fd > 2)
        ask(__NR_close, fd, 0, 0, 0, 0, 0);
}

__attribute__((used, noreturn)) static void begin(long *stack)
{
    char **argv = (char **)(stack + 1), **environment = argv + stack[0] + 1, **command;
    char found[PATH_SIZE];
    const char *program;
    long rc;

    if (stack[0] < 4 || !same(argv[1], ST_LANDLOCK_NAME))
        no_floor("it is for sandtrace-runtime to start this", 0);
    close_own(argv[0]);
    command = lay_floor(argv + 2);
    program = look_up(command[0], environment, found);
    if (!program)
        no_command(command[0], "executable file not found in $PATH", 0, NOT_FOUND);
    rc = ask(__NR_execve, (long)program, (long)command, (long)environment, 0, 0, 0);
    no_command(command[0], 0, rc, rc == -ENOENT || rc == -ENOTDIR ? NOT_FOUND : CANNOT_RUN);
}
