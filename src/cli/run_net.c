/* run_net: see run_net.h. */
#include "cli/run_net.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/printable.h"
#include "base/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define READY_MS 20000
#define FDS 5 /* the usual three, ready, life */

int st_run_net_find(char **program, struct st_error *err)
{
    static const char *const dirs[] = {"/usr/local/bin", "/usr/bin", "/bin"};

    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        st_auto_free char *path = st_xasprintf("%s/slirp4netns", dirs[i]);

        if (access(path, X_OK) == 0) {
            *program = st_steal_ptr(&path);
            return 0;
        }
    }
    return st_fail(
        err, ENOENT,
        "--network user: slirp4netns is not installed; apt-get install slirp4netns, or --network none");
}

static int failed(int said, struct st_error *err)
{
    st_auto_buf words = ST_BUF_INIT;
    char bytes[512];
    ssize_t n = pread(said, bytes, sizeof(bytes), 0);

    if (n > 0 && bytes[n - 1] == '\n')
        n--;
    st_add_printable(&words, bytes, n > 0 ? (size_t)n : 0);
    return st_fail(err, EREMOTEIO, "--network user: slirp4netns made no network: %s; is there /dev/net/tun?",
                   words.len ? st_buf_cstr(&words) : "it has ended without a word");
}

static int spawn(struct st_run_net *net, const char *program, pid_t init, int ready, int life, int said,
                 struct st_error *err)
{
    static const char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
    char number[16];
    const char *argv[] = {"slirp4netns",
                          "--configure",
                          "--mtu=65520",
                          "--disable-host-loopback",
                          "--enable-sandbox",
                          "--enable-seccomp",
                          "--ready-fd=3",
                          "--exit-fd=4",
                          number,
                          "tap0",
                          NULL};
    st_auto_fd nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int given[FDS] = {nothing, said, said, ready, life};
    int fds[FDS];
    const struct st_spawn s = {.program = program,
                               .argv = argv,
                               .envp = env,
                               .fds = fds,
                               .n_fds = FDS,
                               .cgroup_fd = -1,
                               .say_fd = 2};

    snprintf(number, sizeof(number), "%d", (int)init);
    for (int i = 0; i < FDS; i++)
        fds[i] = fcntl(given[i], F_DUPFD_CLOEXEC, FDS);
    net->pid = st_spawn_fork(-1);
    if (net->pid == 0) {
        setsid(); /* Ctrl-C is not for it */
        st_spawn_become(&s);
    }
    for (int i = 0; i < FDS; i++)
        st_close(&fds[i]);
    return net->pid < 0 ? st_fail_errno(err, "start %s", program) : 0;
}

int st_run_net_start(struct st_run_net *net, const char *program, pid_t init, struct st_error *err)
{
    int ready[2] = {-1, -1}, life[2] = {-1, -1};
    st_auto_fd said = memfd_create("slirp4netns", MFD_CLOEXEC);
    char byte;
    int rc;

    if (said < 0 || pipe2(ready, O_CLOEXEC) < 0 || pipe2(life, O_CLOEXEC) < 0) {
        rc = st_fail_errno(err, "--network user");
    } else {
        net->life = st_steal_fd(&life[1]);
        rc = spawn(net, program, init, ready[1], life[0], said, err);
    }
    st_close(&ready[1]);
    st_close(&life[0]);
    if (rc == 0) {
        struct pollfd p = {.fd = ready[0], .events = POLLIN};

        if (poll(&p, 1, READY_MS) != 1 || read(ready[0], &byte, 1) != 1)
            rc = failed(said, err);
    }
    st_close(&ready[0]);
    return rc;
}

void st_run_net_stop(struct st_run_net *net)
{
    st_close(&net->life);
    if (net->pid > 0) {
        kill(net->pid, SIGTERM);
        while (waitpid(net->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    net->pid = 0;
}
