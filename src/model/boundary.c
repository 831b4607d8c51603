/* boundary: see boundary.h. */
#include "model/boundary.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* Newer than the headers of some builds; the numbers are the same on all architectures from 424 on. */
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
#ifndef SYS_quotactl_fd
#define SYS_quotactl_fd 443
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif

#define MEMFD_NOEXEC_SEAL 0x8u
#define MEMFD_EXEC 0x10u

#define ROW(name) #name, SYS_##name
#define CAP(name) "CAP_" #name
#define NO_CAP NULL
#define LOUD false, ST_QUIET_NEVER, 0
#define BYPASS true, ST_QUIET_NEVER, 0
#define TO_ROOT(n) false, ST_QUIET_NOT_ROOT, n
#define TO_WHEEL(n) false, ST_QUIET_NOT_WHEEL, n

#define INT(name, at)                                                                                        \
    {                                                                                                        \
        name, at, ST_BARG_INT, ST_WORDS_NONE                                                                 \
    }
#define DIR(name, at)                                                                                        \
    {                                                                                                        \
        name, at, ST_BARG_DIR, ST_WORDS_NONE                                                                 \
    }
#define ID(name, at)                                                                                         \
    {                                                                                                        \
        name, at, ST_BARG_ID, ST_WORDS_NONE                                                                  \
    }
#define SIZE(name, at)                                                                                       \
    {                                                                                                        \
        name, at, ST_BARG_SIZE, ST_WORDS_NONE                                                                \
    }
#define HEX(name, at)                                                                                        \
    {                                                                                                        \
        name, at, ST_BARG_HEX, ST_WORDS_NONE                                                                 \
    }
#define TEXT(name, at)                                                                                       \
    {                                                                                                        \
        name, at, ST_BARG_TEXT, ST_WORDS_NONE                                                                \
    }
#define COUNTED(name, at)                                                                                    \
    {                                                                                                        \
        name, at, ST_BARG_COUNTED, ST_WORDS_NONE                                                             \
    }
#define CAPS(at)                                                                                             \
    {                                                                                                        \
        "caps", at, ST_BARG_CAPS, ST_WORDS_NONE                                                              \
    }
#define WORD(name, at, words)                                                                                \
    {                                                                                                        \
        name, at, ST_BARG_WORD, ST_WORDS_##words                                                             \
    }
#define WORD_AT(name, at, words)                                                                             \
    {                                                                                                        \
        name, at, ST_BARG_WORD_AT, ST_WORDS_##words                                                          \
    }
#define FLAGS(name, at, words)                                                                               \
    {                                                                                                        \
        name, at, ST_BARG_FLAGS, ST_WORDS_##words                                                            \
    }
#define FLAGS_AT(name, at, words)                                                                            \
    {                                                                                                        \
        name, at, ST_BARG_FLAGS_AT, ST_WORDS_##words                                                         \
    }

/* What gets around the watch of files: io_uring opens, renames and unlinks without a syscall; a handle opens
 * without a path; a mount that appears later has no mark, whether it is made here or belongs to another
 * namespace; a detached one has paths that are relative to nothing, and may be writable where the attached
 * one is not; fanotify's groups are counted by user: a container could use up those of the host. */
static const struct st_boundary table[] = {
    /* other processes */
    {ROW(ptrace), NO_CAP, LOUD, {INT("pid", 1), WORD("request", 0, PTRACE)}},
    {ROW(process_vm_readv), NO_CAP, LOUD, {INT("pid", 0), SIZE("vectors", 4)}},
    {ROW(process_vm_writev), NO_CAP, LOUD, {INT("pid", 0), SIZE("vectors", 4)}},
    {ROW(pidfd_getfd), NO_CAP, LOUD, {INT("fd", 1), INT("pidfd", 0)}},
    {ROW(kcmp), NO_CAP, LOUD, {INT("pid1", 0), INT("pid2", 1), WORD("type", 2, KCMP)}},
    /* programs that are in memory only, of which no other sensor is told */
    {ROW(memfd_create), NO_CAP, false, ST_QUIET_DATA, 0, {FLAGS("flags", 1, MEMFD), TEXT("name", 0)}},
    {ROW(memfd_secret), NO_CAP, LOUD, {HEX("flags", 0)}},
    {ROW(execveat),
     NO_CAP,
     false,
     ST_QUIET_NAMED,
     0,
     {DIR("dir", 0), FLAGS("flags", 4, AT), TEXT("path", 1)}},
    /* mounts */
    {ROW(mount),
     CAP(SYS_ADMIN),
     BYPASS,
     {FLAGS("flags", 3, MOUNT), TEXT("fstype", 2), TEXT("source", 0), TEXT("target", 1)}},
    {ROW(umount2), CAP(SYS_ADMIN), LOUD, {FLAGS("flags", 1, UMOUNT), TEXT("target", 0)}},
    {ROW(open_tree), NO_CAP, BYPASS, {DIR("dir", 0), FLAGS("flags", 2, OPEN_TREE), TEXT("path", 1)}},
    {ROW(open_tree_attr), NO_CAP, BYPASS, {DIR("dir", 0), FLAGS("flags", 2, OPEN_TREE), TEXT("path", 1)}},
    {ROW(move_mount),
     CAP(SYS_ADMIN),
     BYPASS,
     {FLAGS("flags", 4, MOVE_MOUNT), DIR("from_dir", 0), TEXT("from_path", 1), DIR("to_dir", 2),
      TEXT("to_path", 3)}},
    {ROW(fsopen), CAP(SYS_ADMIN), BYPASS, {TEXT("fstype", 0)}},
    {ROW(fsconfig), CAP(SYS_ADMIN), BYPASS, {WORD("cmd", 1, FSCONFIG), INT("fd", 0), TEXT("key", 2)}},
    {ROW(fsmount), CAP(SYS_ADMIN), BYPASS, {FLAGS("attributes", 2, FSMOUNT_ATTR), INT("fd", 0)}},
    {ROW(fspick), CAP(SYS_ADMIN), BYPASS, {DIR("dir", 0), TEXT("path", 1)}},
    {ROW(mount_setattr), CAP(SYS_ADMIN), BYPASS, {DIR("dir", 0), FLAGS("flags", 2, AT), TEXT("path", 1)}},
    {ROW(pivot_root), CAP(SYS_ADMIN), LOUD, {TEXT("new_root", 0), TEXT("put_old", 1)}},
    {ROW(chroot), CAP(SYS_CHROOT), LOUD, {TEXT("path", 0)}},
    /* namespaces */
    {ROW(unshare), NO_CAP, false, ST_QUIET_NO_SPACE, 0, {FLAGS("flags", 0, CLONE)}},
    {ROW(setns), CAP(SYS_ADMIN), BYPASS, {INT("fd", 0), FLAGS("type", 1, CLONE)}},
    {ROW(clone), NO_CAP, false, ST_QUIET_NO_SPACE, 0, {{"flags", 0, ST_BARG_CLONE, ST_WORDS_CLONE}}},
    /* the kernel */
    {ROW(bpf), CAP(BPF), LOUD, {WORD("cmd", 0, BPF_CMD), SIZE("size", 2)}},
    {ROW(perf_event_open), NO_CAP, LOUD, {INT("cpu", 2), INT("pid", 1), WORD_AT("type", 0, PERF_TYPE)}},
    {ROW(keyctl), NO_CAP, LOUD, {HEX("key", 1), WORD("operation", 0, KEYCTL)}},
    {ROW(add_key), NO_CAP, LOUD, {TEXT("description", 1), INT("keyring", 4), TEXT("type", 0)}},
    {ROW(request_key), NO_CAP, LOUD, {TEXT("description", 1), INT("keyring", 3), TEXT("type", 0)}},
    {ROW(init_module), CAP(SYS_MODULE), LOUD, {TEXT("parameters", 2), SIZE("size", 1)}},
    {ROW(finit_module),
     CAP(SYS_MODULE),
     LOUD,
     {INT("fd", 0), FLAGS("flags", 2, MODULE), TEXT("parameters", 1)}},
    {ROW(delete_module), CAP(SYS_MODULE), LOUD, {FLAGS("flags", 1, OPEN), TEXT("name", 0)}},
    {ROW(kexec_load), CAP(SYS_BOOT), LOUD, {HEX("entry", 0), HEX("flags", 3), SIZE("segments", 1)}},
    {ROW(kexec_file_load), CAP(SYS_BOOT), LOUD, {HEX("flags", 4), INT("initrd_fd", 1), INT("kernel_fd", 0)}},
    {ROW(userfaultfd), NO_CAP, LOUD, {FLAGS("flags", 0, USERFAULT)}},
    {ROW(io_uring_setup), NO_CAP, BYPASS, {SIZE("entries", 0)}},
    {ROW(fanotify_init), NO_CAP, BYPASS, {FLAGS("flags", 0, FANOTIFY)}},
    {ROW(syslog), CAP(SYSLOG), LOUD, {WORD("action", 0, SYSLOG), INT("size", 2)}},
#ifdef SYS_iopl
    {ROW(iopl), CAP(SYS_RAWIO), LOUD, {INT("level", 0)}},
    {ROW(ioperm), CAP(SYS_RAWIO), LOUD, {HEX("from", 0), SIZE("number", 1), INT("on", 2)}},
#endif
    /* the machine */
    {ROW(open_by_handle_at), CAP(DAC_READ_SEARCH), BYPASS, {FLAGS("flags", 2, OPEN), DIR("mount", 0)}},
    {ROW(name_to_handle_at), NO_CAP, BYPASS, {DIR("dir", 0), FLAGS("flags", 4, AT), TEXT("path", 1)}},
    {ROW(quotactl),
     CAP(SYS_ADMIN),
     LOUD,
     {{"cmd", 0, ST_BARG_QUOTA, ST_WORDS_QUOTA}, INT("id", 2), TEXT("special", 1)}},
    {ROW(quotactl_fd),
     CAP(SYS_ADMIN),
     LOUD,
     {{"cmd", 1, ST_BARG_QUOTA, ST_WORDS_QUOTA}, INT("fd", 0), INT("id", 2)}},
    {ROW(swapon), CAP(SYS_ADMIN), LOUD, {HEX("flags", 1), TEXT("path", 0)}},
    {ROW(swapoff), CAP(SYS_ADMIN), LOUD, {TEXT("path", 0)}},
    {ROW(reboot), CAP(SYS_BOOT), LOUD, {WORD("cmd", 2, REBOOT)}},
    {ROW(acct), CAP(SYS_PACCT), LOUD, {TEXT("path", 0)}},
    {ROW(sethostname), CAP(SYS_ADMIN), LOUD, {COUNTED("name", 0)}},
    {ROW(setdomainname), CAP(SYS_ADMIN), LOUD, {COUNTED("name", 0)}},
    {ROW(settimeofday), CAP(SYS_TIME), LOUD, {{0}}},
    {ROW(clock_settime), CAP(SYS_TIME), LOUD, {WORD("clock", 0, CLOCK)}},
    {ROW(adjtimex), NO_CAP, LOUD, {FLAGS_AT("modes", 0, TIMEX)}},
    {ROW(clock_adjtime), NO_CAP, LOUD, {WORD("clock", 0, CLOCK), FLAGS_AT("modes", 1, TIMEX)}},
    /* users and rights */
    {ROW(setuid), CAP(SETUID), TO_ROOT(1), {ID("uid", 0)}},
    {ROW(setreuid), CAP(SETUID), TO_ROOT(2), {ID("effective", 1), ID("real", 0)}},
    {ROW(setresuid), CAP(SETUID), TO_ROOT(3), {ID("effective", 1), ID("real", 0), ID("saved", 2)}},
    {ROW(setfsuid), CAP(SETUID), TO_ROOT(1), {ID("uid", 0)}},
    {ROW(setgid), CAP(SETGID), TO_WHEEL(1), {ID("gid", 0)}},
    {ROW(setregid), CAP(SETGID), TO_WHEEL(2), {ID("effective", 1), ID("real", 0)}},
    {ROW(setresgid), CAP(SETGID), TO_WHEEL(3), {ID("effective", 1), ID("real", 0), ID("saved", 2)}},
    {ROW(setfsgid), CAP(SETGID), TO_WHEEL(1), {ID("gid", 0)}},
    {ROW(capset), NO_CAP, LOUD, {CAPS(0)}},
    {ROW(personality), NO_CAP, false, ST_QUIET_QUERY, 0, {FLAGS("persona", 0, PERSONALITY)}},
    /* ways to send that rules of a network may not see */
    {ROW(socket),
     NO_CAP,
     false,
     ST_QUIET_FAMILY,
     0,
     {WORD("family", 0, FAMILY),
      {"protocol", 2, ST_BARG_PROTOCOL, ST_WORDS_ROUTE},
      {"type", 1, ST_BARG_KIND, ST_WORDS_SOCK_TYPE}}},
};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
_Static_assert(N_OF(table) <= ST_BOUNDARIES_MAX, "counters have room for all");

const struct st_boundary *st_boundary_at(size_t index)
{
    return index < N_OF(table) ? &table[index] : NULL;
}

const struct st_boundary *st_boundary_by_nr(int nr)
{
    for (size_t i = 0; i < N_OF(table); i++)
        if (table[i].nr == nr)
            return &table[i];
    return NULL;
}

size_t st_boundary_index(const struct st_boundary *row)
{
    return (size_t)(row - table);
}

/* ---- namespaces ---- */

static const unsigned namespaces[] = {CLONE_NEWNS,  CLONE_NEWUSER, CLONE_NEWCGROUP, CLONE_NEWUTS,
                                      CLONE_NEWIPC, CLONE_NEWPID,  CLONE_NEWNET};

unsigned st_namespace_at(size_t index)
{
    return index < N_OF(namespaces) ? namespaces[index] : 0;
}

/* In clone(2) this bit is a part of the signal. */
unsigned st_unshared_at(size_t index)
{
    return index == N_OF(namespaces) ? CLONE_NEWTIME : st_namespace_at(index);
}

unsigned st_namespace_bypass(void)
{
    return CLONE_NEWNS | CLONE_NEWUSER;
}

bool st_family_is_usual(uint32_t family)
{
    return family == AF_UNIX || family == AF_INET || family == AF_INET6;
}

bool st_memfd_makes_program(uint64_t flags, bool by_default)
{
    return (flags & MEMFD_EXEC) || (by_default && !(flags & MEMFD_NOEXEC_SEAL));
}
