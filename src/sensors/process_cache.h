/* process_cache: facts about processes, or threads, of the container that are asked about again and again:
 * who opens a thousand files, makes a thousand connections or syscalls a second is looked at closely only now
 * and then.
 *
 * What is given is no older than a tenth of a second, and than the last execution of the process that was
 * told of (st_process_cache_forget). Good for a use that is let by where nothing depends on who makes it;
 * what is refused is worth a closer look. Nothing is kept of who is not in the container: it may be on its
 * way in.
 */
#pragma once

#include "sensors/process.h"

struct st_process_cache;

/* members is borrowed. */
struct st_process_cache *st_process_cache_new(const struct st_membership *members);
void st_process_cache_free(struct st_process_cache *c);

/* A process of which something is about to change, or has: all its threads. Or one thread alone. */
void st_process_cache_forget(struct st_process_cache *c, pid_t pid);
/* All of them: there is no work. */
void st_process_cache_clear(struct st_process_cache *c);

/* Whatever was executed before that moment has been told of: who asks at that moment need not be looked at
 * for it. */
void st_process_cache_told(struct st_process_cache *c, int64_t moment_ns);

/* owner: of the socket by which it was found; ST_UNKNOWN: it was not found by one. The facts are good until
 * the next call; NULL: the process is gone. */
const struct st_process_facts *st_process_cached(struct st_process_cache *c, pid_t tid, int64_t owner,
                                                 int64_t now_ns);

/* Is what st_process_cached gave of this thread from before that moment? Else it was read since. */
bool st_process_cache_knew(struct st_process_cache *c, pid_t tid, int64_t moment_ns);

/* An fd of /proc/TID, of this very thread for ever, good until the next call; -1: none is kept. */
int st_process_cache_folder(struct st_process_cache *c, pid_t tid);
/* An fd of /proc/TID/syscall, of this very thread for ever, while it is kept; -1: none is. */
int st_process_cache_registers(struct st_process_cache *c, pid_t tid);
