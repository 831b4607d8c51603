/* doctor_programs: see doctor_programs.h. Programs are asked for their version, which starts them with all
 * their libraries and does nothing else. */
#include "cli/doctor_programs.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "cli/beside.h"
#include "oci/runtime.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define ANSWER_MAX 65536

int st_ask_version(const char *program, char *out, size_t size)
{
    const char *const argv[] = {program, "--version", NULL};
    const char *const envp[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
    st_auto_fd null = open("/dev/null", O_RDWR | O_CLOEXEC), answer = -1, end = -1;
    st_auto_buf text = ST_BUF_INIT;
    int fds[3], pair[2], status = -1;
    pid_t pid;

    if (null < 0 || pipe2(pair, O_CLOEXEC) < 0)
        return -errno;
    answer = pair[0];
    end = st_fd_above(pair[1], 3);
    null = st_fd_above(null, 3);
    fds[0] = null;
    fds[1] = fds[2] = end;
    if (st_spawn(&(struct st_spawn){.program = program,
                                    .argv = argv,
                                    .envp = envp,
                                    .fds = fds,
                                    .n_fds = 3,
                                    .cgroup_fd = -1,
                                    .say_fd = 2},
                 &pid) < 0)
        return -errno;
    st_close(&end);
    st_read_fd(answer, ANSWER_MAX, &text, NULL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    snprintf(out, size, "%.*s", (int)strcspn(st_buf_cstr(&text), "\n"), st_buf_cstr(&text));
    return status == 0 && out[0] ? 0 : -ENOEXEC;
}

/* Nobody but root may be able to change it. Empty: all is well. */
static void fault_of(const char *path, char *out, size_t size)
{
    struct stat sb;

    out[0] = '\0';
    if (stat(path, &sb) < 0)
        snprintf(out, size, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(sb.st_mode) || access(path, X_OK) < 0)
        snprintf(out, size, "%s can't be run", path);
    else if (sb.st_mode & (S_IWGRP | S_IWOTH))
        snprintf(out, size, "%s may be written by others than its owner (mode %04o)", path,
                 (unsigned)sb.st_mode & 07777);
    else if (sb.st_uid != 0)
        snprintf(out, size, "%s belongs to user %d, not to root", path, (int)sb.st_uid);
}

/* name, in the folder of sandtrace-hook. */
static char *beside_hook(const struct st_doctor *d, const char *name)
{
    const char *slash = strrchr(d->config->hook, '/');

    return st_xasprintf("%.*s/%s", slash ? (int)(slash - d->config->hook) : 0, d->config->hook, name);
}

void st_probe_programs(const struct st_doctor *d, struct st_finding *f)
{
    st_auto_free char *runtime = st_beside("sandtrace-runtime"), *knock = NULL;
    const char *programs[4];
    char fault[PATH_MAX + 128];

    if (!d->config) {
        st_finding_set(f, ST_HEALTH_UNKNOWN, "the configuration says where, and can't be read");
        return;
    }
    knock = beside_hook(d, "sandtrace-knock");
    programs[0] = runtime ? runtime : "sandtrace-runtime";
    programs[1] = d->config->hook;
    programs[2] = knock;
    programs[3] = d->config->monitor;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        fault_of(programs[i], fault, sizeof(fault));
        if (fault[0]) {
            st_finding_set(f, ST_HEALTH_MISSING, "%.900s", fault);
            return;
        }
    }
    st_finding_set(f, ST_HEALTH_OK, "%.300s, %.300s, sandtrace-knock, %.300s", programs[0], programs[1],
                   programs[3]);
}

void st_probe_monitor(const struct st_doctor *d, struct st_finding *f)
{
    char answer[512];

    if (!d->config)
        st_finding_set(f, ST_HEALTH_UNKNOWN, "the configuration says where, and can't be read");
    else if (st_ask_version(d->config->monitor, answer, sizeof(answer)) < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "it does not start: %s", answer);
    else if (strcmp(answer, "sandtrace-monitor " PACKAGE_VERSION) != 0)
        st_finding_set(f, ST_HEALTH_DEGRADED, "%s, but this is sandtrace " PACKAGE_VERSION, answer);
    else
        st_finding_set(f, ST_HEALTH_OK, "it starts, with all its libraries");
}

/* The first process of a container of `sandtrace run`. */
void st_probe_init(const struct st_doctor *d, struct st_finding *f)
{
    st_auto_free char *init = d->config ? beside_hook(d, "sandtrace-init") : NULL;
    char fault[PATH_MAX + 128] = "";

    if (init)
        fault_of(init, fault, sizeof(fault));
    if (!init)
        st_finding_set(f, ST_HEALTH_UNKNOWN, "the configuration says where, and can't be read");
    else if (fault[0])
        st_finding_set(f, ST_HEALTH_MISSING, "%.900s", fault);
    else
        st_finding_set(f, ST_HEALTH_OK, "%s", init);
}

/* Notifications need runc 1.1. */
static bool is_old(const char *answer)
{
    unsigned major, minor;

    return sscanf(answer, "runc version %u.%u", &major, &minor) == 2 && major == 1 && minor < 1;
}

static bool is_v1(const struct st_doctor *d)
{
    return d->groups.v1[0] != '\0';
}

void st_probe_runtime(const struct st_doctor *d, struct st_finding *f)
{
    st_auto_free char *path = NULL;
    struct st_error err = {0};
    char answer[512] = "";

    if (st_oci_find_runtime(d->config ? d->config->runtime : NULL, getenv("PATH"), &path, &err) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
        return;
    }
    if (st_ask_version(path, answer, sizeof(answer)) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "%s --version: %s", path, answer);
    } else if (is_old(answer)) {
        st_finding_set(f, ST_HEALTH_MISSING, "%s: %s", path, answer);
        st_finding_mend(f, "install runc 1.1 or later: earlier ones can't notify of syscalls");
    } else if (strncmp(answer, "crun", 4) == 0 && is_v1(d)) {
        st_finding_set(f, ST_HEALTH_DEGRADED, "%s: %s, with cgroup version 1", path, answer);
        st_finding_mend(f, "crun is for machines with cgroup2 alone: install runc, or name it by `runtime:`");
    } else {
        st_finding_set(f, ST_HEALTH_OK, "%s: %s", path, answer);
    }
}
