/* probe_runtime: stands where the real runtime stands and writes down everything that it was given, into the
 * file that PROBE_OUT names. Then it does what PROBE_THEN says: exit N, kill N, or wait (for a signal). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FD 1024

struct fd_facts {
    int flags, status;
    long long offset;
    char link[128];
};

static void look_at_fd(int fd, struct fd_facts *f)
{
    char name[40];
    ssize_t n;

    f->flags = fcntl(fd, F_GETFD);
    if (f->flags < 0)
        return;
    f->status = fcntl(fd, F_GETFL);
    f->offset = lseek(fd, 0, SEEK_CUR);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    n = readlink(name, f->link, sizeof(f->link) - 1);
    f->link[n > 0 ? n : 0] = '\0';
}

static void copy_proc(FILE *out, const char *name, const char *const *only)
{
    char path[64], line[512];
    FILE *in;

    snprintf(path, sizeof(path), "/proc/self/%s", name);
    in = fopen(path, "re");
    while (in && fgets(line, sizeof(line), in)) {
        size_t i = 0;

        while (only && only[i] && strncmp(line, only[i], strlen(only[i])) != 0)
            i++;
        if (!only || only[i])
            fprintf(out, "%s: %s", name, line);
    }
    if (in)
        fclose(in);
}

static void write_down(FILE *out, char *argv[], const struct fd_facts *fds)
{
    static const char *const status[] = {"SigP",    "SigB", "SigI",   "SigC", "Shd", "NoNewPrivs",
                                         "Seccomp", "Cap",  "Groups", "Uid",  "Gid", NULL};
    char cwd[4096];
    mode_t mask = umask(0);
    int subreaper = -1, deathsig = -1;

    umask(mask);
    prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    prctl(PR_GET_PDEATHSIG, &deathsig);
    fprintf(out, "pid %d\n", (int)getpid());
    fprintf(out, "ppid %d pgid %d sid %d\n", (int)getppid(), getpgrp() == getpid() ? 0 : (int)getpgrp(),
            getsid(0) == getpid() ? 0 : (int)getsid(0));
    for (int i = 0; argv[i]; i++)
        fprintf(out, "argv %d [%s]\n", i, argv[i]);
    for (int i = 0; environ[i]; i++)
        if (strncmp(environ[i], "PROBE_OUT=", 10) != 0)
            fprintf(out, "env [%s]\n", environ[i]);
    fprintf(out, "cwd %s\numask %04o\nnice %d\ndumpable %d\nsubreaper %d\ndeathsig %d\ntimerslack %d\n",
            getcwd(cwd, sizeof(cwd)) ? cwd : "?", (unsigned)mask, getpriority(PRIO_PROCESS, 0),
            prctl(PR_GET_DUMPABLE), subreaper, deathsig, prctl(PR_GET_TIMERSLACK));
    for (int fd = 0; fd < MAX_FD; fd++)
        if (fds[fd].flags >= 0)
            fprintf(out, "fd %d flags %d status %o offset %lld %s\n", fd, fds[fd].flags,
                    (unsigned)fds[fd].status, fds[fd].offset, fds[fd].link);
    copy_proc(out, "status", status);
    copy_proc(out, "limits", NULL);
    copy_proc(out, "oom_score_adj", NULL);
    copy_proc(out, "cgroup", NULL);
}

static int then(const char *what)
{
    int n = what && strchr(what, ' ') ? atoi(strchr(what, ' ')) : 0;

    if (what && strncmp(what, "kill", 4) == 0)
        raise(n);
    if (what && strcmp(what, "wait") == 0)
        for (;;)
            pause();
    return n;
}

int main(int argc, char *argv[])
{
    static struct fd_facts fds[MAX_FD];
    const char *path = getenv("PROBE_OUT");
    char temp[4096];
    FILE *out;

    (void)argc;
    for (int fd = 0; fd < MAX_FD; fd++)
        look_at_fd(fd, &fds[fd]);
    if (!path)
        return 99;
    snprintf(temp, sizeof(temp), "%s.part", path);
    out = fopen(temp, "we");
    if (!out)
        return 98;
    write_down(out, argv, fds);
    if (fclose(out) != 0 || rename(temp, path) < 0)
        return 97;
    return then(getenv("PROBE_THEN"));
}
