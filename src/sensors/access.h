/* access: what an opener wants, which fanotify does not tell: read from the registers of the thread that
 * waits.
 *
 * Registers can't be changed by another thread; memory can, so that nothing behind a pointer counts. What is
 * not known counts as writing. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum st_registers {
    ST_REGISTERS_READ,
    ST_REGISTERS_RUNNING, /* the thread has not gone to sleep yet */
    ST_REGISTERS_GONE,    /* there is no such thread any more */
    ST_REGISTERS_HIDDEN   /* and nobody knows why */
};

/* The text of /proc/TID/syscall, once the thread waits, for which we wait this long. fd: of that file, if
 * there is one; else -1. */
enum st_registers st_registers_read(int fd, pid_t tid, char *text, size_t size, int64_t patience_ns);

struct st_wanted {
    unsigned access; /* ST_ACCESS_* */
    int creates;     /* O_CREAT was among the flags */
    int excl;        /* and O_EXCL: it is new, or there is no open */
};

/* From a text in the form of /proc/TID/syscall. exec: fanotify said that it is opened to be executed. */
struct st_wanted st_access_of_syscall(const char *text, int exec);
