/* exec_call: what a thread that waits inside of execve or execveat has asked for: by its registers, and by
 * its memory.
 *
 * The memory is a stranger's: every length is bounded, nothing is believed to stay as it was read. Another
 * thread of the same process may write to it before the kernel reads it: what is read here is for the record,
 * and decides nothing. */
#pragma once

#include "sensors/request.h"

#include <stdbool.h>
#include <stdint.h>

#define ST_EXEC_ARGV_MAX 4096
#define ST_EXEC_PAGE 4096

struct st_exec_call {
    bool known;          /* it is one of the two, of the native kind */
    uint64_t path, argv; /* addresses; argv may be 0 */
    uint64_t registers;  /* all of them, as a hash */
};

/* From a text in the form of /proc/TID/syscall. */
void st_exec_call_parse(const char *text, struct st_exec_call *out);

/* Memory of which the last pages that were read are kept: path, pointers and words of a call mostly lie on
 * one or two. */
struct st_exec_pages {
    st_memory_reader read;
    void *ctx;
    unsigned oldest;
    struct {
        uint64_t address;
        bool known;
        char bytes[ST_EXEC_PAGE];
    } kept[2];
};

void st_exec_pages_init(struct st_exec_pages *m, st_memory_reader read, void *ctx);
/* A reader like others; ctx: struct st_exec_pages. */
ssize_t st_memory_of_pages(void *ctx, uint64_t address, void *out, size_t n);

struct st_exec_argv {
    size_t len;
    bool incomplete;              /* not all of it could be read */
    bool cut;                     /* there is more than we keep */
    char bytes[ST_EXEC_ARGV_MAX]; /* NUL-separated, as in /proc/PID/cmdline */
};

void st_exec_argv_read(uint64_t address, st_memory_reader read, void *ctx, struct st_exec_argv *out);

/* The path as it was written, and argv, as a hash: the same for as long as the thread waits in the same call,
 * unless somebody else changes them. */
uint64_t st_exec_call_hash(const struct st_exec_call *call, const struct st_exec_argv *argv,
                           st_memory_reader read, void *ctx);
