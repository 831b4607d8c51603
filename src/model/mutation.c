/* mutation: see mutation.h. */
#include "model/mutation.h"

#include <fcntl.h>
#include <sys/syscall.h>

/* Newer than the headers of some builds; the numbers are the same on all architectures from 424 on. */
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_removexattrat 466
#endif
#ifndef SYS_file_setattr
#define SYS_file_setattr 469
#endif

#define N ST_ARG_NONE
#define AT(dir, path)                                                                                        \
    {                                                                                                        \
        (dir), (path)                                                                                        \
    }
#define CWD(path)                                                                                            \
    {                                                                                                        \
        N, (path)                                                                                            \
    }
#define FD(fd)                                                                                               \
    {                                                                                                        \
        (fd), N                                                                                              \
    }
#define NO                                                                                                   \
    {                                                                                                        \
        N, N                                                                                                 \
    }
#define PLAIN N, ST_MUT_NO_FLAGS
#define ROW(name) #name, SYS_##name

static const struct st_mutation table[] = {
#ifdef SYS_open
    {ROW(open), ST_MUT_OPEN, CWD(0), NO, 1, ST_MUT_OPEN_FLAGS, true, false},
    {ROW(creat), ST_MUT_OPEN, CWD(0), NO, PLAIN, true, false},
    {ROW(mkdir), ST_MUT_CREATE, CWD(0), NO, PLAIN, false, false},
    {ROW(mknod), ST_MUT_CREATE, CWD(0), NO, PLAIN, false, false},
    {ROW(symlink), ST_MUT_CREATE, CWD(1), NO, PLAIN, false, false},
    {ROW(unlink), ST_MUT_DELETE, CWD(0), NO, PLAIN, false, false},
    {ROW(rmdir), ST_MUT_DELETE, CWD(0), NO, PLAIN, false, false},
    {ROW(rename), ST_MUT_RENAME, CWD(0), CWD(1), PLAIN, false, false},
    {ROW(link), ST_MUT_LINK, CWD(0), CWD(1), PLAIN, false, false},
    {ROW(chmod), ST_MUT_ATTRIB, CWD(0), NO, PLAIN, true, false},
    {ROW(chown), ST_MUT_ATTRIB, CWD(0), NO, PLAIN, true, false},
    {ROW(lchown), ST_MUT_ATTRIB, CWD(0), NO, PLAIN, false, false},
    {ROW(utime), ST_MUT_ATTRIB, CWD(0), NO, PLAIN, true, false},
    {ROW(utimes), ST_MUT_ATTRIB, CWD(0), NO, PLAIN, true, false},
    {ROW(futimesat), ST_MUT_ATTRIB, AT(0, 1), NO, PLAIN, true, true},
#endif
#ifdef SYS_renameat
    {ROW(renameat), ST_MUT_RENAME, AT(0, 1), AT(2, 3), PLAIN, false, false},
#endif
    {ROW(openat), ST_MUT_OPEN, AT(0, 1), NO, 2, ST_MUT_OPEN_FLAGS, true, false},
    {ROW(mkdirat), ST_MUT_CREATE, AT(0, 1), NO, PLAIN, false, false},
    {ROW(mknodat), ST_MUT_CREATE, AT(0, 1), NO, PLAIN, false, false},
    {ROW(symlinkat), ST_MUT_CREATE, AT(1, 2), NO, PLAIN, false, false},
    {ROW(bind), ST_MUT_BIND, CWD(1), NO, PLAIN, false, false},
    {ROW(unlinkat), ST_MUT_DELETE, AT(0, 1), NO, 2, ST_MUT_UNLINK_FLAGS, false, false},
    {ROW(renameat2), ST_MUT_RENAME, AT(0, 1), AT(2, 3), 4, ST_MUT_RENAME_FLAGS, false, false},
    {ROW(linkat), ST_MUT_LINK, AT(0, 1), AT(2, 3), 4, ST_MUT_LINK_FLAGS, false, false},
    {ROW(truncate), ST_MUT_MODIFY, CWD(0), NO, PLAIN, true, false},
    {ROW(ftruncate), ST_MUT_MODIFY, FD(0), NO, PLAIN, false, false},
    {ROW(fchmod), ST_MUT_ATTRIB, FD(0), NO, PLAIN, false, false},
    {ROW(fchmodat), ST_MUT_ATTRIB, AT(0, 1), NO, PLAIN, true, false},
    {ROW(fchmodat2), ST_MUT_ATTRIB, AT(0, 1), NO, 3, ST_MUT_AT_FLAGS, true, false},
    {ROW(fchown), ST_MUT_ATTRIB, FD(0), NO, PLAIN, false, false},
    {ROW(fchownat), ST_MUT_ATTRIB, AT(0, 1), NO, 4, ST_MUT_AT_FLAGS, true, false},
    {ROW(utimensat), ST_MUT_ATTRIB, AT(0, 1), NO, 3, ST_MUT_AT_FLAGS, true, true},
    {ROW(setxattr), ST_MUT_ATTRIB, CWD(0), NO, PLAIN, true, false},
    {ROW(lsetxattr), ST_MUT_ATTRIB, CWD(0), NO, PLAIN, false, false},
    {ROW(fsetxattr), ST_MUT_ATTRIB, FD(0), NO, PLAIN, false, false},
    {ROW(setxattrat), ST_MUT_ATTRIB, AT(0, 1), NO, 2, ST_MUT_AT_FLAGS, true, true},
    {ROW(removexattr), ST_MUT_ATTRIB, CWD(0), NO, PLAIN, true, false},
    {ROW(lremovexattr), ST_MUT_ATTRIB, CWD(0), NO, PLAIN, false, false},
    {ROW(fremovexattr), ST_MUT_ATTRIB, FD(0), NO, PLAIN, false, false},
    {ROW(removexattrat), ST_MUT_ATTRIB, AT(0, 1), NO, 2, ST_MUT_AT_FLAGS, true, true},
    {ROW(file_setattr), ST_MUT_ATTRIB, AT(0, 1), NO, 4, ST_MUT_AT_FLAGS, true, true},
};

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

unsigned st_open_change_at(size_t index)
{
    static const unsigned bits[] = {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC};

    return index < N_OF(bits) ? bits[index] : 0;
}

const struct st_mutation *st_mutation_at(size_t index)
{
    return index < N_OF(table) ? &table[index] : NULL;
}

const struct st_mutation *st_mutation_by_nr(int nr)
{
    for (size_t i = 0; i < N_OF(table); i++)
        if (table[i].nr == nr)
            return &table[i];
    return NULL;
}
