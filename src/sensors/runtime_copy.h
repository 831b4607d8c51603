/* runtime_copy: the program of a process, by its identity; and whether it is a copy of a runtime's in memory,
 * as which some runtimes enter a container. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* false: the process is gone. */
bool st_program_stat(pid_t pid, struct stat *out);

/* On which device files lie that are in memory only (memfd_create); 0: not known. */
dev_t st_program_memory(void);

/* program: what pid runs. A container could make such a copy as well: it is looked into. Nothing else is
 * opened: what lies in the container reports every open to us. */
bool st_program_is_copy(pid_t pid, const struct stat *program, dev_t memory, pid_t runtime);
