/* confine: see confine.h. */
#include "snapshot/confine.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

/* Whatever the mode of what it reads; and /proc of processes that are not its own. */
static int drop_capabilities(struct st_error *err)
{
    capng_clear(CAPNG_SELECT_ALL);
    if (capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, -1) <
            0 ||
        capng_apply(CAPNG_SELECT_BOTH) < 0 || capng_apply(CAPNG_SELECT_AMBIENT) < 0)
        return st_fail(err, EPERM, "drop capabilities");
    return 0;
}

#ifndef ST_SANITIZED
static const int allowed[] = {
    SCMP_SYS(brk),        SCMP_SYS(clock_gettime),  SCMP_SYS(close),        SCMP_SYS(exit),
    SCMP_SYS(exit_group), SCMP_SYS(fcntl),          SCMP_SYS(fgetxattr),    SCMP_SYS(flistxattr),
    SCMP_SYS(fstat),      SCMP_SYS(fstatfs),        SCMP_SYS(futex),        SCMP_SYS(getdents64),
    SCMP_SYS(getpid),     SCMP_SYS(getrandom),      SCMP_SYS(gettid),       SCMP_SYS(lseek),
    SCMP_SYS(madvise),    SCMP_SYS(mremap),         SCMP_SYS(munmap),       SCMP_SYS(newfstatat),
    SCMP_SYS(pread64),    SCMP_SYS(read),           SCMP_SYS(readlink),     SCMP_SYS(readlinkat),
    SCMP_SYS(readv),      SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall),
    SCMP_SYS(statx),      SCMP_SYS(write),          SCMP_SYS(writev),
};

static int add_rules(scmp_filter_ctx ctx)
{
    const uint64_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(allowed) / sizeof(allowed[0]); i++)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
    if (rc == 0)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, writing, 0));
    if (rc == 0)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    if (rc == 0)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
                              SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    return rc;
}

static int filter(struct st_error *err)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int rc = ctx ? add_rules(ctx) : -ENOMEM;

    if (rc == 0)
        rc = seccomp_load(ctx);
    seccomp_release(ctx);
    return rc < 0 ? st_fail(err, -rc, "load a seccomp filter: %s", strerror(-rc)) : 0;
}
#else
/* The sanitizers make calls of their own. */
static int filter(struct st_error *err)
{
    (void)err;
    return 0;
}
#endif

int st_confine_collector(struct st_error *err)
{
    if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return st_fail_errno(err, "confine the snapshot");
    if (drop_capabilities(err) < 0)
        return -err->errnum;
    return filter(err);
}
