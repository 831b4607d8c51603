/* boundary: the syscalls by which a container asks something of the kernel that is no change of a file: ways
 * into other processes, into the kernel, to other mounts, namespaces and users. One row a syscall: the shim
 * asks the kernel to tell us of each, the sensor reads its arguments by the same row.
 *
 * Pure data. A syscall that this architecture does not have is not in the table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names of values or bits; ends where there is no name. */
struct st_word {
    uint64_t value;
    const char *name;
};

enum st_words {
    ST_WORDS_NONE,
    ST_WORDS_AT,
    ST_WORDS_BPF_CMD,
    ST_WORDS_CLOCK,
    ST_WORDS_CLONE,
    ST_WORDS_FAMILY,
    ST_WORDS_FANOTIFY,
    ST_WORDS_FSCONFIG,
    ST_WORDS_FSMOUNT_ATTR,
    ST_WORDS_KCMP,
    ST_WORDS_KEYCTL,
    ST_WORDS_MEMFD,
    ST_WORDS_MODULE,
    ST_WORDS_MOUNT,
    ST_WORDS_MOVE_MOUNT,
    ST_WORDS_OPEN,
    ST_WORDS_OPEN_TREE,
    ST_WORDS_PERF_TYPE,
    ST_WORDS_PERSONALITY,
    ST_WORDS_PTRACE,
    ST_WORDS_QUOTA,
    ST_WORDS_REBOOT,
    ST_WORDS_ROUTE,
    ST_WORDS_SOCK_TYPE,
    ST_WORDS_SYSLOG,
    ST_WORDS_TIMEX,
    ST_WORDS_UMOUNT,
    ST_WORDS_USERFAULT,
    ST_WORDS_ALL
};

enum st_barg_kind {
    ST_BARG_NONE,     /* no more arguments */
    ST_BARG_INT,      /* 32 bits, with a sign: a pid, an fd, an operation without names */
    ST_BARG_DIR,      /* an fd, or "cwd" */
    ST_BARG_ID,       /* of a user or group; -1: as it is */
    ST_BARG_SIZE,     /* without a sign */
    ST_BARG_HEX,      /* a number that is no quantity */
    ST_BARG_WORD,     /* one of the words */
    ST_BARG_FLAGS,    /* any of the words, by bits */
    ST_BARG_CLONE,    /* the same of clone(2), whose lowest byte is a signal */
    ST_BARG_TEXT,     /* address of a text that ends in a NUL */
    ST_BARG_COUNTED,  /* address of a text whose length is the next argument */
    ST_BARG_WORD_AT,  /* address of 32 bits that are one of the words */
    ST_BARG_FLAGS_AT, /* address of 32 bits of which each may be one of the words */
    ST_BARG_KIND,     /* of socket(2): the words, less the flags above them */
    ST_BARG_PROTOCOL, /* of socket(2): the words, if it is a netlink socket */
    ST_BARG_QUOTA,    /* of quotactl(2): the words, above what is limited */
    ST_BARG_CAPS      /* addresses of capset(2): three sets */
};

struct st_barg {
    const char *name; /* in ascending order in a row */
    uint8_t index;
    enum st_barg_kind kind;
    enum st_words words;
};

#define ST_BARGS 5

/* Uses that cross nothing, and are let by without an event unless a rule of the policy names the syscall. */
enum st_boundary_quiet {
    ST_QUIET_NEVER,
    ST_QUIET_NOT_ROOT,  /* none of the first `ids` arguments is 0, or it is root's already */
    ST_QUIET_NOT_WHEEL, /* the same of groups */
    ST_QUIET_QUERY,     /* personality(0xffffffff) */
    ST_QUIET_FAMILY,    /* socket(2) of a usual family: st_family_is_usual */
    ST_QUIET_NO_SPACE,  /* clone, unshare without a namespace */
    ST_QUIET_DATA,      /* memfd_create(2) that does not ask for a program: st_memfd_makes_program */
    ST_QUIET_NAMED      /* execveat(2) of a path: as execve(2), which is no syscall of the boundary */
};

struct st_boundary {
    const char *name;
    int nr;
    const char *capability; /* that it needs; NULL: none, or not clearly one */
    bool bypass;            /* it would get around what is watched: refused unless a rule names it */
    enum st_boundary_quiet quiet;
    uint8_t ids;
    struct st_barg args[ST_BARGS];
};

/* NULL: none of these, beyond the last. */
const struct st_boundary *st_boundary_by_nr(int nr);
const struct st_boundary *st_boundary_at(size_t index);
/* Where the row stands. */
size_t st_boundary_index(const struct st_boundary *row);

#define ST_BOUNDARIES_MAX 96 /* rows that there may be */

/* CLONE_* bits of namespaces that a task may want; 0: beyond the last. Of unshare(2) one more. */
unsigned st_namespace_at(size_t index);
unsigned st_unshared_at(size_t index);
/* Of these: mounts of its own, which nobody watches, or the right to make some. */
unsigned st_namespace_bypass(void);

/* Kinds of sockets that programs use all day: local ones, IPv4, IPv6. */
bool st_family_is_usual(uint32_t family);

/* Would memfd_create(2) with these flags make what can be executed? by_default: also where they do not say,
 * as the kernel has it unless vm.memfd_noexec is set. */
bool st_memfd_makes_program(uint64_t flags, bool by_default);

/* A table of words, and what it says of a value; NULL: nothing. */
const struct st_word *st_words(enum st_words which);
const char *st_word_of(enum st_words which, uint64_t value);
