/* state_pid: the pid in a container's state, as a runtime writes it to a hook's standard input. */
#pragma once

/* The value of "pid" of the outermost object; -1: it is not as plain as runtimes write it, and somebody who
 * knows JSON must look. Needs no C library. */
int st_state_pid(const char *text, unsigned long len);
