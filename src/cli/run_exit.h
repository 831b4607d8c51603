/* run_exit: the exit code of `sandtrace run` where it is not the command's own (docker's, env's, timeout's).
 */
#pragma once

#define ST_RUN_EXIT_FAILED                                                                                   \
    125 /* it is ours that failed; 126 and 127 are the command's: not to be run, not found */
