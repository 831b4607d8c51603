/* access: what an opener wants, which fanotify does not tell: read from the registers of the thread that
 * waits.
 *
 * Registers can't be changed by another thread; memory can, so that nothing behind a pointer counts. What is
 * not known counts as writing. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* The text of /proc/TID/syscall, once the thread waits. */
bool st_registers_read(pid_t tid, char *text, size_t size);

struct st_wanted {
    unsigned access; /* ST_ACCESS_* */
    int creates;     /* O_CREAT was among the flags */
    int excl;        /* and O_EXCL: it is new, or there is no open */
};

/* exec: fanotify said that it is opened to be executed. */
struct st_wanted st_access_of_thread(pid_t tid, int exec);

/* The same from a text in the form of /proc/TID/syscall. */
struct st_wanted st_access_of_syscall(const char *text, int exec);
