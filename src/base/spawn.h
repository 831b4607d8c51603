/* spawn: start a program with exactly the fds, environment and control group that are named, nothing else. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct st_spawn {
    const char *program; /* absolute path */
    const char *const *argv;
    const char *const *envp;
    const int *fds; /* become 0, 1, 2 … in this order; each at least n_fds; all others are closed */
    int n_fds;
    int cgroup_fd; /* directory of a cgroup v2 group to be born in, or -1; best effort */
    int say_fd;    /* one of fds (its new number) to which a failed exec is told in words, or -1 */
    bool orphan;   /* it is nobody's child: neither we nor the program that we become will hear of it */
};

/* 0 or -errno of the fork; a failed exec shows as exit code 127. *pid stays as it is for an orphan. */
int st_spawn(const struct st_spawn *s, pid_t *pid);

/* The two halves of it, for who has something to do between them. As fork(), born in that group. */
pid_t st_spawn_fork(int cgroup_fd);
/* In the child: never returns. Of the rest only program, argv, envp, fds, n_fds and say_fd are looked at. */
_Noreturn void st_spawn_become(const struct st_spawn *s);

/* A copy of fd (close-on-exec) that is at least floor, so that it can't be in its own way; fd is closed where
 * it moved. */
int st_fd_above(int fd, int floor);
