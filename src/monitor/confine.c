/* confine: see confine.h. Killing on an unknown call is fail-closed: the warden sees the death. */
#include "monitor/confine.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <cap-ng.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of what might be had by running a program: one call for each that there is. */
static int give_up_hopes(struct st_error *err)
{
    capng_clear(CAPNG_SELECT_ALL);
    if (capng_apply(CAPNG_SELECT_BOUNDS | CAPNG_SELECT_AMBIENT) < 0)
        return st_fail(err, EPERM, "drop capabilities");
    return 0;
}

static int drop_capabilities(bool worker, bool network, struct st_error *err)
{
    capng_clear(CAPNG_SELECT_CAPS);
    /* Exit status, command line and root of the container's processes in /proc. */
    if (worker && capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_SYS_PTRACE) < 0)
        return st_fail(err, EPERM, "set of capabilities");
    /* Paths that the container is about to use are walked to their end, through directories of any owner. */
    if (worker && capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_DAC_READ_SEARCH) < 0)
        return st_fail(err, EPERM, "set of capabilities");
    /* To find out whether a file that is to be executed is being written. */
    if (worker && capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_LEASE) < 0)
        return st_fail(err, EPERM, "set of capabilities");
    if (network && capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_NET_ADMIN) < 0)
        return st_fail(err, EPERM, "set of capabilities");
    if (capng_apply(CAPNG_SELECT_CAPS) < 0)
        return st_fail(err, EPERM, "drop capabilities");
    return 0;
}

#ifndef ST_SANITIZED
/* Neither execve nor clone, ptrace, mount, bpf, setns, kill of others. */
static const int allowed[] = {
    SCMP_SYS(accept4),
    SCMP_SYS(brk),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(close),
    SCMP_SYS(connect),
    SCMP_SYS(dup),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(fchmod),
    SCMP_SYS(fchown), /* without CAP_CHOWN: to what it is already, of state.json */
    SCMP_SYS(fcntl),
    SCMP_SYS(fdatasync),
    SCMP_SYS(flock),
    SCMP_SYS(fstat),
    SCMP_SYS(fstatfs),
    SCMP_SYS(fsync),
    SCMP_SYS(futex),
    SCMP_SYS(getdents64),
    SCMP_SYS(getpid),
    SCMP_SYS(getrandom),
    SCMP_SYS(getsockopt),
    SCMP_SYS(gettid),
    SCMP_SYS(lseek),
    SCMP_SYS(madvise),
    SCMP_SYS(memfd_create), /* for a container, where a person permits it what the kernel refuses */
    SCMP_SYS(mkdirat),
    SCMP_SYS(mremap),
    SCMP_SYS(munmap),
    SCMP_SYS(nanosleep),
    SCMP_SYS(newfstatat),
    SCMP_SYS(openat),
    SCMP_SYS(openat2),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_send_signal),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(pread64),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(pwrite64),
    SCMP_SYS(read),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(readv),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmmsg),
    SCMP_SYS(recvmsg),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rmdir),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendto),
    SCMP_SYS(setsockopt),
    SCMP_SYS(shutdown),
    SCMP_SYS(statx),
    SCMP_SYS(uname),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(write),
    SCMP_SYS(writev),
};

/* Messages over what is open, memory, the end. */
static const int allowed_outside[] = {
    SCMP_SYS(brk),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(close),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat), /* as some libraries do it */
    SCMP_SYS(futex),
    SCMP_SYS(getpid),
    SCMP_SYS(getrandom),
    SCMP_SYS(gettid),
    SCMP_SYS(madvise),
    SCMP_SYS(mremap),
    SCMP_SYS(munmap),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendto),
};

static int add_calls(scmp_filter_ctx ctx, const int *calls, size_t n)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, calls[i], 0);
    /* Memory, but none that can be executed. */
    if (rc == 0)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (rc == 0)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    /* abort() signals itself. */
    if (rc == 0)
        rc =
            seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A2(SCMP_CMP_EQ, 6 /* SIGABRT */));
    return rc;
}

static int add_outpost(scmp_filter_ctx ctx)
{
    return add_calls(ctx, allowed_outside, sizeof(allowed_outside) / sizeof(allowed_outside[0]));
}

static int add_worker(scmp_filter_ctx ctx)
{
    int rc = add_calls(ctx, allowed, sizeof(allowed) / sizeof(allowed[0]));

    /* Of listeners and of processes; any other socket would take orders to devices. */
    for (unsigned i = 0; rc == 0 && i < 2; i++)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
                              SCMP_A1(SCMP_CMP_MASKED_EQ, 0xff00,
                                      i ? 0xff00 /* PIDFS_IOCTL_MAGIC */
                                        : '!' << 8 /* SECCOMP_IOC_MAGIC */));
    /* For the answer of one performer each. */
    if (rc == 0)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 1,
                              SCMP_A0(SCMP_CMP_EQ, 1 /* AF_UNIX */));
    /* Sockets of the local kind only, for the event bus. */
    if (rc == 0)
        rc =
            seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, 1 /* AF_UNIX */));
    return rc;
}

static int take_program(scmp_filter_ctx ctx, struct st_buf *out)
{
    st_auto_fd fd = memfd_create("filter", MFD_CLOEXEC);
    int rc;

    if (fd < 0)
        return -errno;
    rc = seccomp_export_bpf(ctx, fd);
    if (rc == 0 && lseek(fd, 0, SEEK_SET) < 0)
        rc = -errno;
    return rc < 0 ? rc : st_read_fd(fd, BPF_MAXINSNS * sizeof(struct sock_filter), out, NULL);
}

static int build_filter(bool worker, struct st_buf *out, struct st_error *err)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int rc = !ctx ? -ENOMEM : seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2 /* a tree */);

    if (rc == 0)
        rc = worker ? add_worker(ctx) : add_outpost(ctx);
    if (rc == 0)
        rc = take_program(ctx, out);
    seccomp_release(ctx);
    return rc < 0 ? st_fail(err, -rc, "make a seccomp filter: %s", strerror(-rc)) : 0;
}

static int load_filter(const struct st_buf *filter, struct st_error *err)
{
    struct sock_fprog program = {.len = (unsigned short)(filter->len / sizeof(struct sock_filter)),
                                 .filter = (struct sock_filter *)(void *)filter->data};

    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        return st_fail_errno(err, "load a seccomp filter");
    return 0;
}
#else
/* The sanitizers make calls of their own. */
static int build_filter(bool worker, struct st_buf *out, struct st_error *err)
{
    (void)worker;
    (void)out;
    (void)err;
    return 0;
}

static int load_filter(const struct st_buf *filter, struct st_error *err)
{
    (void)filter;
    (void)err;
    return 0;
}
#endif

static int confine(const struct st_buf *filter, bool worker, bool network, struct st_error *err)
{
    if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return st_fail_errno(err, "confine a process of the monitor");
    if (drop_capabilities(worker, network, err) < 0)
        return -err->errnum;
    return load_filter(filter, err);
}

int st_confine_prepare(struct st_buf *filter, struct st_error *err)
{
    return give_up_hopes(err) < 0 ? -err->errnum : build_filter(true, filter, err);
}

int st_confine_worker(const struct st_buf *filter, bool network, struct st_error *err)
{
    /* Sent where somebody opens a file for writing while we look whether anybody does. */
    if (signal(SIGIO, SIG_IGN) == SIG_ERR)
        return st_fail_errno(err, "ignore SIGIO");
    return confine(filter, true, network, err);
}

int st_confine_outpost(struct st_error *err)
{
    st_auto_buf filter = ST_BUF_INIT;

    if (give_up_hopes(err) < 0 || build_filter(false, &filter, err) < 0)
        return -err->errnum;
    return confine(&filter, false, true, err);
}
