/* bypass: see bypass.h. */
#include "bypass.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, long rc)
{
    printf("%s %s\n", what, rc < 0 ? strerrorname_np(errno) : "ok");
    fflush(stdout);
}

/* In a child: some of these are answered with a signal. */
static void attempt(const char *what, long (*make)(void))
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        say(what, make());
        _exit(0);
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("%s %s\n", what, sigabbrev_np(WTERMSIG(status)));
}

#define BYPASS(name, ...)                                                                                    \
    static long try_##name(void)                                                                             \
    {                                                                                                        \
        return __VA_ARGS__;                                                                                  \
    }

BYPASS(io_uring_setup, syscall(SYS_io_uring_setup, 4, (char[256]){0}))
BYPASS(open_by_handle_at, syscall(SYS_open_by_handle_at, AT_FDCWD, (char[256]){0}, O_RDONLY))
BYPASS(name_to_handle_at, syscall(SYS_name_to_handle_at, AT_FDCWD, "/", (char[256]){0}, (char[8]){0}, 0))
BYPASS(open_tree, syscall(SYS_open_tree, AT_FDCWD, "/", 1))
BYPASS(move_mount, syscall(SYS_move_mount, -1, "", AT_FDCWD, "/", 4))
BYPASS(fsopen, syscall(SYS_fsopen, "tmpfs", 0))
BYPASS(fsconfig, syscall(SYS_fsconfig, -1, 6, 0, 0, 0))
BYPASS(fsmount, syscall(SYS_fsmount, -1, 0, 0))
BYPASS(fspick, syscall(SYS_fspick, AT_FDCWD, "/", 0))
BYPASS(mount_setattr, syscall(442, AT_FDCWD, "/", 0, (char[32]){0}, 32))
BYPASS(fanotify_init, syscall(SYS_fanotify_init, 0, 0))
BYPASS(setns, setns(-1, CLONE_NEWNS))
BYPASS(mount, mount("/etc", "/workspace", NULL, MS_BIND, NULL))
BYPASS(unshare_mounts, unshare(CLONE_NEWNS))
BYPASS(unshare_user, unshare(CLONE_NEWUSER))
BYPASS(clone_user, syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0))
BYPASS(clone3, syscall(SYS_clone3, (char[88]){0}, 88))
#ifdef __x86_64__
BYPASS(x32, syscall(0x40000000 + SYS_mkdir, "/outside/x32", 0755))

/* mkdir by the 32-bit gate; the path must be below 4 GiB. */
static long try_i386(void)
{
    static const char path[] = "/outside/i386";
    long rc;

    __asm__ volatile("int $0x80"
                     : "=a"(rc)
                     : "a"(39), "b"((unsigned)(unsigned long)path), "c"(0755)
                     : "memory");
    if ((int)rc < 0)
        errno = -(int)rc;
    return (int)rc < 0 ? -1 : 0;
}
#endif

/* A filter of its own that asks a listener of its own would be asked in place of ours. */
static long try_listener(void)
{
    struct sock_filter ask = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    struct sock_fprog program = {1, &ask};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

int bypass(void)
{
#define TRY(name) attempt(#name, try_##name)
    TRY(io_uring_setup);
    TRY(open_by_handle_at);
    TRY(name_to_handle_at);
    TRY(open_tree);
    TRY(move_mount);
    TRY(fsopen);
    TRY(fsconfig);
    TRY(fsmount);
    TRY(fspick);
    TRY(mount_setattr);
    TRY(fanotify_init);
    TRY(setns);
    TRY(mount);
    TRY(unshare_mounts);
    TRY(listener);
    TRY(unshare_user);
    TRY(clone_user);
    TRY(clone3);
#ifdef __x86_64__
    TRY(x32);
    TRY(i386);
#endif
    return 0;
}
