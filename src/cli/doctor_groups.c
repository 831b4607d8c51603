/* doctor_groups: freezing, killing and hearing of the processes of a control group. In groups of the
 * doctor's own, made beside all others and removed in the end, whatever became of the probe. */
#include "cli/doctor.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/spawn.h"
#include "respond/freezer.h"
#include "respond/kill.h"
#include "sensors/callers.h"
#include "sensors/process_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PATIENCE_NS ((int64_t)5000000000)
#define PROCS_MAX 4096

/* ---- the groups ---- */

static void make_group(const struct st_mounts *mounts, enum st_cgroup_kind kind, pid_t doctor, char *out,
                       size_t size)
{
    const struct st_mount *h = st_cgroup_hierarchy(mounts, kind);

    out[0] = '\0';
    if (h && snprintf(out, size, "%s/sandtrace-doctor-%d", h->point, (int)doctor) < (int)size &&
        mkdir(out, 0700) < 0)
        out[0] = '\0';
}

static void write_to(const char *group, const char *file, const char *text)
{
    st_auto_fd dir = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (dir >= 0)
        st_write_small_at(dir, file, text);
}

static void end_members(const char *group)
{
    st_auto_fd dir = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char text[PROCS_MAX], *save = NULL;

    if (dir < 0 || st_read_small_at(dir, "cgroup.procs", text, sizeof(text)) < 0)
        return;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        pid_t pid = (pid_t)strtol(line, NULL, 10);

        if (pid > 1)
            kill(pid, SIGKILL);
    }
}

static void end_group(char *group, const char *file, const char *thaw)
{
    int64_t until = st_now_mono_ns() + PATIENCE_NS;

    if (!group[0])
        return;
    write_to(group, file, thaw);
    while (rmdir(group) < 0 && errno == EBUSY && st_now_mono_ns() < until) {
        write_to(group, file, thaw); /* a probe that is being killed may have frozen it once more */
        end_members(group);
        poll(NULL, 0, 5);
    }
    group[0] = '\0';
}

static void end_groups(struct st_doctor_groups *g)
{
    end_group(g->v1, "freezer.state", "THAWED");
    end_group(g->v2, "cgroup.freeze", "0");
}

/* Its own session, deaf to all but SIGKILL: what ends the doctor, or its whole group, does not end it. */
static void settle(void)
{
    st_auto_fd nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t all;

    setsid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int fd = 0; nothing >= 0 && fd < 3; fd++)
        dup2(nothing, fd);
    prctl(PR_SET_NAME, "sandtrace-guard");
}

/* Makes them, says which there are, and removes them when the doctor has ended, whatever ended it: a doctor
 * who made them himself could be killed before there is anybody to remove them. By a pidfd: a pipe would be
 * held open by a probe that stands still. */
_Noreturn static void guard(pid_t pid, int doctor, int said)
{
    struct st_doctor_groups g = {0};
    st_auto_mounts mounts = {0};
    struct pollfd p = {.fd = st_fd_above(doctor, 3), .events = POLLIN};

    said = st_fd_above(said, 3);
    settle();
    if (st_mounts_read(0, &mounts, NULL) == 0) {
        make_group(&mounts, ST_CGROUP_V1, pid, g.v1, sizeof(g.v1));
        make_group(&mounts, ST_CGROUP_V2, pid, g.v2, sizeof(g.v2));
    }
    (void)st_write_all(said, &g, sizeof(g));
    st_close(&said);
    while (poll(&p, 1, -1) < 0 && errno == EINTR)
        continue;
    end_groups(&g);
    _exit(0);
}

void st_doctor_groups_make(struct st_doctor_groups *g)
{
    st_auto_fd self = pidfd_open(getpid(), 0), heard = -1, said = -1;
    st_auto_buf which = ST_BUF_INIT;
    pid_t pid = getpid(), child;
    int ends[2];

    *g = (struct st_doctor_groups){0};
    if (self < 0 || pipe2(ends, O_CLOEXEC) < 0)
        return;
    heard = ends[0];
    said = ends[1];
    child = fork();
    if (child == 0)
        guard(pid, self, said);
    st_close(&said);
    if (child < 0)
        return;
    if (st_read_fd(heard, sizeof(*g), &which, NULL) == 0 && which.len == sizeof(*g))
        memcpy(g, which.data, sizeof(*g));
    g->guard = child;
}

void st_doctor_groups_end(struct st_doctor_groups *g)
{
    end_groups(g);
    if (g->guard <= 0)
        return;
    kill(g->guard, SIGKILL);
    while (waitpid(g->guard, NULL, 0) < 0 && errno == EINTR)
        continue;
    g->guard = 0;
}

static void join(const char *group, pid_t pid)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", (int)pid);
    if (group[0])
        write_to(group, "cgroup.procs", text);
}

/* Somebody who sleeps in both. */
static pid_t sleeper_in(const struct st_doctor_groups *g)
{
    pid_t pid = st_doctor_helper();

    if (pid == 0) {
        while (true)
            pause();
    }
    if (pid > 0) {
        join(g->v1, pid);
        join(g->v2, pid);
    }
    return pid;
}

/* ---- probes ---- */

static int open_sleepers(const struct st_doctor *d, struct st_cgroup *cg, struct st_error *err)
{
    static const enum st_cgroup_choice choices[] = {ST_CGROUP_AUTO, ST_CGROUP_ONLY_V1, ST_CGROUP_ONLY_V2};
    st_auto_mounts mounts = {0};
    pid_t pid = sleeper_in(&d->groups);

    if (pid < 0)
        return st_fail_errno(err, "a process to try it with");
    if (st_mounts_read(0, &mounts, err) < 0)
        return -err->errnum;
    return st_cgroup_open(&mounts, pid, d->config ? choices[d->config->freezer] : ST_CGROUP_AUTO, cg, err);
}

static void freezer(const struct st_doctor *d, struct st_finding *f)
{
    st_auto_cgroup cg = ST_CGROUP_NONE;
    struct st_error err = {0};
    int64_t began, took;
    int rc;

    if (open_sleepers(d, &cg, &err) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
        return;
    }
    began = st_now_mono_ns();
    rc = st_freezer_ask(&cg);
    if (rc == 0)
        rc = st_freezer_confirm(&cg, -1, PATIENCE_NS);
    took = st_now_mono_ns() - began;
    if (rc == 0)
        rc = st_freezer_thaw(&cg);
    if (rc == 0)
        rc = st_kill_container(&cg, -1, PATIENCE_NS);
    if (rc < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "cgroup %s: freeze, thaw and kill a group: %s",
                       st_cgroup_kind_name(cg.kind), strerror(-rc));
    else
        st_finding_set(f, ST_HEALTH_OK, "cgroup %s: a group stood still after %lld µs",
                       st_cgroup_kind_name(cg.kind), (long long)(took / 1000));
}

static void group_kill(const struct st_doctor *d, struct st_finding *f)
{
    st_auto_cgroup cg = ST_CGROUP_NONE;
    struct st_error err = {0};

    if (open_sleepers(d, &cg, &err) < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
    else if (cg.kind == ST_CGROUP_V1)
        st_finding_set(f, ST_HEALTH_OK, "version 1 has none: processes are killed one by one, while frozen");
    else if (cg.kill_fd < 0)
        st_finding_set(f, ST_HEALTH_DEGRADED, "not in this kernel: processes are killed one by one");
    else
        st_finding_set(f, ST_HEALTH_OK, "a group is killed whole");
}

static void version_2(const struct st_doctor *d, struct st_finding *f)
{
    if (!d->groups.v2[0])
        st_finding_set(f, ST_HEALTH_MISSING, "no cgroup2 hierarchy is mounted in which a group can be made");
    else if (d->groups.v1[0])
        st_finding_set(f, ST_HEALTH_OK, "mounted beside version 1, which engines use");
    else
        st_finding_set(f, ST_HEALTH_OK, "the only one");
}

static void note_end(void *ctx, const struct st_process_told *told)
{
    if (told->kind == ST_NEWS_EXIT)
        *(pid_t *)ctx = told->pid;
}

/* One is born in the group and ends: is it told? */
static bool is_told(struct st_process_stream *s, int group)
{
    int64_t until = st_now_mono_ns() + PATIENCE_NS;
    pid_t told = 0, pid = st_spawn_fork(group);

    if (pid == 0)
        _exit(0);
    if (pid < 0)
        return false;
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    while (told != pid && st_now_mono_ns() < until) {
        st_process_stream_read(s, note_end, &told);
        poll(NULL, 0, 5);
    }
    return told == pid;
}

static int open_v2(const struct st_doctor *d, struct st_finding *f)
{
    int group = d->groups.v2[0] ? open(d->groups.v2, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (group < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "needs cgroup2");
    return group;
}

static void process_events(const struct st_doctor *d, struct st_finding *f)
{
    struct st_process_stream s = ST_PROCESS_STREAM_NONE;
    struct st_error err = {0};
    st_auto_fd group = -1;

    if (d->config && d->config->process_events == ST_PROCESSES_POLLED) {
        st_finding_set(f, ST_HEALTH_OK, "not used: process_events: polled");
        return;
    }
    if ((group = open_v2(d, f)) < 0)
        return;
    if (st_process_stream_open(&s, true, &err) < 0 || st_process_stream_watch(&s, group, &err) < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
    else if (!is_told(&s, group))
        st_finding_set(f, ST_HEALTH_MISSING, "the end of a process was not told");
    else
        st_finding_set(f, ST_HEALTH_OK, "the kernel tells of forks, executions and ends (BPF tracepoints)");
    st_process_stream_close(&s);
}

static void callers(const struct st_doctor *d, struct st_finding *f)
{
    struct st_callers c = ST_CALLERS_NONE;
    struct st_error err = {0};
    st_auto_fd group = open_v2(d, f);

    if (group < 0)
        return;
    if (st_callers_open(&c, group, &err) < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
    else
        st_finding_set(f, ST_HEALTH_OK, "the kernel tells who connects (BPF programs of a control group)");
    st_callers_close(&c);
}

const struct st_check *st_doctor_groups_checks(void)
{
    static const struct st_check checks[] = {
        {"groups", "freezer", true, true, 0, freezer,
         "a container could not be held: none starts under a policy that enforces",
         "mount cgroup2 at /sys/fs/cgroup, or the freezer of version 1; see also `freezer:` in "
         "sandtrace.yaml"},
        {"groups", "cgroup.kill", false, true, 0, group_kill,
         "killing a container of many processes takes longer", "a kernel of 5.14 or later"},
        {"groups", "cgroup2", false, true, 0, version_2,
         "processes are counted by looking, callers of connections are looked for, `host_network: cgroup` "
         "can't be had",
         "mount cgroup2: systemd does at /sys/fs/cgroup, beside version 1 at /sys/fs/cgroup/unified"},
        {"groups", "process-events", false, true, 0, process_events,
         "processes are seen when they are looked for: short ones may be missed",
         "a kernel of 5.17 or later with CONFIG_BPF_SYSCALL and CONFIG_DEBUG_INFO_BTF, and CAP_BPF"},
        {"groups", "callers", false, true, 0, callers,
         "who made a connection is looked for in /proc, and may be gone by then",
         "a kernel of 5.17 or later with CONFIG_CGROUP_BPF, and CAP_BPF"},
        {0},
    };

    return checks;
}
