/* sandtrace-init COMMAND…: the first process in a container of `sandtrace run`.
 *
 * A first process is not ended by a signal that it does not handle, and inherits who has lost its parent: few
 * programs are made for that. So this one starts the command as its child, hands on what signals come, reaps
 * whoever ends, and ends as the command does, and with it all that is left in the container. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* As shells and others that start commands have it. */
#define EXIT_NOT_RUN 126
#define EXIT_NOT_FOUND 127
#define EXIT_SIGNAL 128

/* In a group of its own, which has the terminal where there is one: Ctrl-C is for the command. */
_Noreturn static void become(char **command, const sigset_t *mask)
{
    int code;

    setpgid(0, 0);
    if (isatty(STDIN_FILENO))
        tcsetpgrp(STDIN_FILENO, getpid()); /* SIGTTOU is blocked */
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(command[0], command);
    code = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
    fprintf(stderr,
            "sandtrace run: %s: %s; the container sees the host's /usr, and the current folder as "
            "/workspace\n",
            command[0], strerror(errno));
    _exit(code);
}

/* Nobody is here who would let a stopped command go on. */
static void reap(pid_t child, int *status, int *ended)
{
    pid_t pid;
    int one;

    while ((pid = waitpid(-1, &one, WNOHANG | WUNTRACED)) > 0) {
        if (WIFSTOPPED(one)) {
            if (pid == child && WSTOPSIG(one) != SIGSTOP)
                kill(-child, SIGCONT);
        } else if (pid == child) {
            *status = one;
            *ended = 1;
        }
    }
}

/* What comes from a keyboard is for all that the command has started in its group, as on a terminal. */
static void hand_on(pid_t child, int sig)
{
    kill(sig == SIGINT || sig == SIGQUIT || sig == SIGHUP ? -child : child, sig);
}

static int attend(pid_t child, const sigset_t *all)
{
    int status = 0, ended = 0;

    while (!ended) {
        siginfo_t info;
        int sig = sigwaitinfo(all, &info);

        if (sig == SIGCHLD)
            reap(child, &status, &ended);
        else if (sig > 0)
            hand_on(child, sig);
        else if (errno != EINTR)
            return EXIT_NOT_RUN;
    }
    return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    sigset_t all, before;
    pid_t child;

    if (argc < 2) {
        fputs("usage: sandtrace-init COMMAND…\n", stderr);
        return EXIT_NOT_RUN;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    child = fork();
    if (child < 0) {
        perror("sandtrace run: start the command");
        return EXIT_NOT_RUN;
    }
    if (child == 0)
        become(argv + 1, &before);
    setpgid(child, child); /* whoever is first */
    return attend(child, &all);
}
