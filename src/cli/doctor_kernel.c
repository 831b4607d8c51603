/* doctor_kernel: what of the kernel holds a container's operations: permission events, notifications of
 * syscalls, floors, pidfds. Each is done once, in a corner of its own. */
#include "cli/doctor.h"

#include "base/cleanup.h"
#include "bundle/landlock.h"
#include "monitor/link.h"
#include "oci/landlock_words.h"
#include "sensors/fan.h"
#include "sensors/lifecycle.h"
#include "sensors/notify.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#define STAGE "/tmp" /* covered by a file system of the probe's own, in its own mount namespace */
#define PATIENCE_MS 5000

static int exit_code_of(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool readable(int fd)
{
    return poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, PATIENCE_MS) == 1;
}

static void kernel(const struct st_doctor *d, struct st_finding *f)
{
    struct utsname u;
    unsigned major = 0, minor = 0;

    (void)d;
    if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2) {
        st_finding_set(f, ST_HEALTH_UNKNOWN, "its version is not known");
        return;
    }
    st_finding_set(f, major > 6 || (major == 6 && minor >= 1) ? ST_HEALTH_OK : ST_HEALTH_DEGRADED, "%s %s %s",
                   u.sysname, u.release, u.machine);
}

static void privileges(const struct st_doctor *d, struct st_finding *f)
{
    if (d->root)
        st_finding_set(f, ST_HEALTH_OK, "run by root");
    else
        st_finding_set(f, ST_HEALTH_MISSING, "run by user %d: what only root can find out was not looked at",
                       (int)geteuid());
}

/* ---- permission events ---- */

static bool stage(struct st_finding *f)
{
    if (mount("sandtrace-doctor", STAGE, "tmpfs", 0, "size=1m") == 0)
        return true;
    st_finding_set(f, ST_HEALTH_MISSING, "mount a tmpfs of its own: %s", strerror(errno));
    return false;
}

static bool make_file(const char *path)
{
    st_auto_fd fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

    return fd >= 0;
}

static void refuse(void *ctx, const struct st_fan_event *ev)
{
    int fd = ev->fd;

    if (fd >= 0 && !ev->closed)
        st_fan_answer(*(int *)ctx, &fd, false);
    else
        st_close(&fd);
}

/* Somebody opens; it must wait for us, and be refused. */
static int try_to_open(int fan, const char *path)
{
    pid_t pid = st_doctor_helper();

    if (pid == 0)
        _exit(open(path, O_RDONLY | O_CLOEXEC) < 0 ? errno : 0);
    if (pid < 0)
        return -1;
    if (readable(fan))
        st_fan_read(fan, refuse, &fan);
    return exit_code_of(pid);
}

/* false: said why. */
static bool hold_opens(const char *dir, enum st_fan_target target, const char *what, struct st_finding *f)
{
    struct st_error err = {0};
    st_auto_fd fan = st_fan_open(&err), place = -1;
    char file[sizeof(STAGE) + 32];
    int rc;

    snprintf(file, sizeof(file), "%s/file", dir);
    if (fan < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
        return false;
    }
    place = open(target == ST_FAN_INODE ? file : dir, O_PATH | O_CLOEXEC);
    rc = place < 0 ? -errno : st_fan_mark(fan, target, st_fan_decide_mask(), place);
    if (rc < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "no permission events of %s: %s", what, strerror(-rc));
        return false;
    }
    rc = try_to_open(fan, file);
    if (rc != EPERM)
        st_finding_set(f, ST_HEALTH_MISSING, "an open was to be refused by %s, and was not", what);
    return rc == EPERM;
}

static void fanotify(const struct st_doctor *d, struct st_finding *f)
{
    (void)d;
    if (!stage(f))
        return;
    if (!make_file(STAGE "/file"))
        st_finding_set(f, ST_HEALTH_MISSING, "make a file: %s", strerror(errno));
    else if (hold_opens(STAGE, ST_FAN_SUPERBLOCK, "a file system", f) &&
             hold_opens(STAGE, ST_FAN_MOUNT, "a mount", f) && hold_opens(STAGE, ST_FAN_INODE, "a file", f))
        st_finding_set(f, ST_HEALTH_OK, "opens are held and refused, by file system, mount and file");
}

static void overlay(const struct st_doctor *d, struct st_finding *f)
{
    (void)d;
    if (!stage(f))
        return;
    if (mkdir(STAGE "/lower", 0755) < 0 || mkdir(STAGE "/upper", 0755) < 0 ||
        mkdir(STAGE "/work", 0755) < 0 || mkdir(STAGE "/all", 0755) < 0 || !make_file(STAGE "/lower/file"))
        st_finding_set(f, ST_HEALTH_UNKNOWN, "make directories: %s", strerror(errno));
    else if (mount("sandtrace-doctor", STAGE "/all", "overlay", 0,
                   "lowerdir=" STAGE "/lower,upperdir=" STAGE "/upper,workdir=" STAGE "/work") < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "mount an overlay: %s", strerror(errno));
    else if (hold_opens(STAGE "/all", ST_FAN_SUPERBLOCK, "an overlay", f))
        st_finding_set(f, ST_HEALTH_OK, "can be mounted, and its opens are held and refused");
}

/* ---- notifications ---- */

/* Its first call is to be refused, its second to be given an fd. The exit code says what came of it. */
_Noreturn static void ask_twice(int link)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    long fd;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        _exit(errno);
    fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (fd < 0 || st_link_send_fd(link, ST_LINK_NETWORK, (int)fd) < 0)
        _exit(errno);
    close((int)fd);
    if (syscall(SYS_getsid, 0) != -1 || errno != EXDEV)
        _exit(EPROTO);
    fd = syscall(SYS_getsid, 0);
    _exit(fd >= 0 && fcntl((int)fd, F_GETFD) >= 0 ? 0 : EPROTO);
}

/* The next question's id. */
static bool next_question(const struct st_filter *filter, uint64_t *id)
{
    union {
        struct seccomp_notif n;
        char room[1024]; /* as large as any kernel wants it */
    } asked = {0};

    if (!readable(filter->fd) || ioctl(filter->fd, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
        return false;
    *id = asked.n.id;
    return st_filter_waits(filter, *id);
}

static bool answer_twice(const struct st_filter *filter)
{
    uint64_t id;

    return next_question(filter, &id) && st_filter_answer(filter, id, EXDEV) == 0 &&
           next_question(filter, &id) && st_filter_give_fd(filter, id, filter->fd, true) == 0;
}

static void notifications(const struct st_doctor *d, struct st_finding *f)
{
    struct st_filter filter = {.fd = -1};
    struct st_link_message m;
    bool answered = false, quick = false;
    int pair[2], rc;
    pid_t pid;

    (void)d;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 || (pid = st_doctor_helper()) < 0) {
        st_finding_set(f, ST_HEALTH_UNKNOWN, "a process to try it with: %s", strerror(errno));
        return;
    }
    if (pid == 0)
        ask_twice(pair[1]);
    close(pair[1]);
    if (readable(pair[0]) && st_link_receive_fd(pair[0], &m, &filter.fd) == 1 && filter.fd >= 0) {
        quick = st_filter_wake_quickly(&filter) == 0;
        answered = answer_twice(&filter);
    }
    st_close(&filter.fd);
    rc = exit_code_of(pid);
    if (rc != 0 || !answered)
        st_finding_set(f, ST_HEALTH_MISSING, "a syscall was to wait for an answer: %s",
                       strerror(rc > 0 ? rc : EPROTO));
    else
        st_finding_set(f, ST_HEALTH_OK, "a syscall is refused, and given a file, by who is asked%s",
                       quick ? "; woken on the same processor" : "");
}

/* ---- floors, processes ---- */

static void landlock(const struct st_doctor *d, struct st_finding *f)
{
    int abi = st_bundle_landlock_abi();

    (void)d;
    if (abi >= ST_LANDLOCK_ABI)
        st_finding_set(f, ST_HEALTH_OK, "ABI %d", abi);
    else if (abi > 0)
        st_finding_set(f, ST_HEALTH_DEGRADED, "ABI %d does not keep files from being truncated: %d does", abi,
                       ST_LANDLOCK_ABI);
    else
        st_finding_set(f, ST_HEALTH_MISSING, "not in this kernel, or not enabled");
}

static void pidfd(const struct st_doctor *d, struct st_finding *f)
{
    struct st_lifecycle l = ST_LIFECYCLE_NONE;
    struct st_error err = {0};
    int status, fds[2];
    pid_t pid;
    char c;

    (void)d;
    if (pipe2(fds, O_CLOEXEC) < 0 || (pid = st_doctor_helper()) < 0) {
        st_finding_set(f, ST_HEALTH_UNKNOWN, "a process to try it with: %s", strerror(errno));
        return;
    }
    if (pid == 0)
        _exit(read(fds[0], &c, 1) == 1 ? 7 : 1);
    if (st_lifecycle_open(pid, &l, &err) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
        return;
    }
    if (write(fds[1], "", 1) != 1 || !readable(l.pidfd) || exit_code_of(pid) != 7)
        st_finding_set(f, ST_HEALTH_MISSING, "the end of a process was not told");
    else if (st_lifecycle_status(&l, &status) && WIFEXITED(status) && WEXITSTATUS(status) == 7)
        st_finding_set(f, ST_HEALTH_OK, "ends of processes and their exit codes are told");
    else
        st_finding_set(f, ST_HEALTH_DEGRADED, "ends of processes are told, without their exit codes");
    st_lifecycle_close(&l);
}

static void user_namespaces(const struct st_doctor *d, struct st_finding *f)
{
    (void)d;
    st_finding_set(f, ST_HEALTH_OK, "can be made"); /* we are in one */
}

const struct st_check *st_doctor_kernel(void)
{
    static const struct st_check checks[] = {
        {"kernel", "kernel", false, false, 0, kernel, "sandtrace is tried on Linux 6.1 and later",
         "install a newer kernel"},
        {"kernel", "privileges", true, false, 0, privileges,
         "containers are watched by root; engines start sandtrace as root", "sudo sandtrace doctor"},
        {"kernel", "fanotify", true, true, CLONE_NEWNS, fanotify,
         "nothing could be decided before a file is opened: no container starts",
         "a kernel with CONFIG_FANOTIFY_ACCESS_PERMISSIONS, and CAP_SYS_ADMIN in the first user namespace"},
        {"kernel", "overlayfs", false, true, CLONE_NEWNS, overlay,
         "engines must keep their images otherwise than as overlays",
         "modprobe overlay, and see that it is loaded at boot (/etc/modules-load.d)"},
        {"kernel", "seccomp-notify", true, true, 0, notifications,
         "changes of the file system and syscalls could not be decided: no container starts under a policy "
         "that enforces",
         "a kernel with CONFIG_SECCOMP_FILTER, 5.14 or later"},
        {"kernel", "landlock", false, false, 0, landlock,
         "a policy with `floor: landlock` starts no container; `floor: mount`, the default, needs none of it",
         "a kernel of 6.2 or later with `landlock` in lsm= of its command line"},
        {"kernel", "pidfd", true, true, 0, pidfd,
         "a trace may lack the exit code of its container, where the engine was quicker",
         "a kernel of 6.15 or later tells exit codes to those who did not start the process"},
        {"kernel", "user-namespaces", false, true, CLONE_NEWUSER, user_namespaces,
         "`net_admin: outside` holds only containers with a user namespace of their own",
         "sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone"},
        {0},
    };

    return checks;
}
