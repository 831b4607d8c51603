/* reach: one thing done to one file, by each way on which it can be reached.
 *
 * Lines of a table on standard input: WAY ACT PATH, what follows is the reader's own. Each is tried by a
 * process of its own, which says: PID WAY ACT PATH RESULT. RESULT is ok, the name of an error, or WAY:ERROR
 * where the way itself was closed. */
#pragma once

int reach(void);
