/* program: what the kernel will make of a file that is to be executed, by its first bytes: a script with an
 * interpreter, a program with a loader, or neither. The bytes are a stranger's. */
#pragma once

#include "model/str.h"

#include <stdbool.h>

#define ST_PROGRAM_HEAD 1024    /* enough for the table of an ordinary program */
#define ST_PROGRAM_LINE_MAX 256 /* so much of a script's first line does the kernel look at */

struct st_program_head {
    struct st_str interpreter; /* of a script, as it stands there, within the bytes; p NULL: no script */
    bool goes_on;              /* the kernel will open another file for it: interpreter or loader */
};

/* The n bytes that the file begins with; fewer than ST_PROGRAM_HEAD: it has no more. */
void st_program_look(const char *bytes, size_t n, struct st_program_head *out);
