/* process_cache: facts about processes, or threads, that are asked about again and again: who makes a
 * thousand connections or syscalls a second is looked at closely only now and then.
 *
 * What is given is no older than the last execution that the file sensor has seen, and than a tenth of a
 * second; and the process is the same one, alive, with the same program, and owner of its sockets. */
#pragma once

#include "sensors/process.h"

struct st_process_cache;

/* members is borrowed. trust_ns: so long after it was last looked at, a process is believed to be the same
 * one with the same program unless an execution was seen: no number is used again so soon. 0: never. */
struct st_process_cache *st_process_cache_new(const struct st_membership *members);
void st_process_cache_free(struct st_process_cache *c);

/* Its user or group is about to change. */
void st_process_cache_forget(struct st_process_cache *c, pid_t pid);

/* uid: of who made the socket by which it was found; executions: how many were seen so far. The facts are
 * good until the next call; NULL: the process is gone.
 */
const struct st_process_facts *st_process_cached(struct st_process_cache *c, pid_t pid, int64_t uid,
                                                 uint64_t executions, int64_t now_ns);
