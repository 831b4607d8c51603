/* hunt: looks for the processes that watch, from inside: everything that can be found or signalled by any
 * number, and each way to reach those whose pids on the host are given. Says what came of it, one line each.
 *
 *   hunt PID… */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

static void say(const char *what, pid_t pid, long rc)
{
    printf("%s %d %s\n", what, (int)pid, rc < 0 ? strerrorname_np(errno) : "ok");
}

/* Who is there besides us and the first process. */
static void count_others(void)
{
    FILE *f = fopen("/proc/sys/kernel/pid_max", "r");
    long max = 0, found = 0;

    if (!f || fscanf(f, "%ld", &max) != 1)
        perror("pid_max");
    for (pid_t pid = 2; pid < max; pid++)
        if (pid != getpid() && (kill(pid, 0) == 0 || errno != ESRCH))
            found++;
    printf("others %ld\n", found);
}

static void go_for(pid_t pid)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)0x400000, 1};
    struct rlimit limit;

    say("trace", pid, ptrace(PTRACE_SEIZE, pid, 0, 0));
    say("read", pid, process_vm_readv(pid, &here, 1, &there, 1, 0));
    say("pidfd", pid, pidfd_open(pid, 0));
    say("limit", pid, prlimit(pid, RLIMIT_NOFILE, NULL, &limit));
    say("priority", pid, setpriority(PRIO_PROCESS, (id_t)pid, 19));
    say("kill", pid, kill(pid, SIGKILL));
}

int main(int argc, char **argv)
{
    count_others();
    for (int i = 1; i < argc; i++)
        go_for((pid_t)atoi(argv[i]));
    return 0;
}
