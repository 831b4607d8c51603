/* doctor_places: what was installed and configured: the configuration, policies, key, programs, the runtime
 * underneath, directories, limits. */
#include "cli/doctor.h"

#include "audit/sign.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/printable.h"
#include "cli/doctor_programs.h"
#include "policy/policy.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define FEW_GROUPS 16
#define FEW_FILES 1024
#define LITTLE_SPACE ((uint64_t)256 << 20)
#define NO_SPACE ((uint64_t)16 << 20)

/* false: there is no configuration to go by. */
static bool configured(const struct st_doctor *d, struct st_finding *f)
{
    if (d->config)
        return true;
    st_finding_set(f, ST_HEALTH_UNKNOWN, "the configuration says where, and can't be read");
    return false;
}

static void configuration(const struct st_doctor *d, struct st_finding *f)
{
    struct st_error err = {0};
    gid_t gid;

    if (!d->config)
        st_finding_set(f, ST_HEALTH_MISSING, "%s", d->fault);
    else if (st_config_control_gid(d->config, "/etc/group", &gid, &err) < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
    else if (d->config->file)
        st_finding_set(f, ST_HEALTH_OK, "%s", d->config->file);
    else
        st_finding_set(f, ST_HEALTH_OK, "there is no file; the built-in settings hold");
}

/* ---- policies ---- */

static struct st_policy_source source_of(const struct st_config *config)
{
    struct st_policy_source s = {.dirs = (const char *const *)config->policy_dirs};

    while (config->policy_dirs[s.n_dirs])
        s.n_dirs++;
    return s;
}

static void default_policy(const struct st_doctor *d, struct st_finding *f)
{
    struct st_error err = {0};
    struct st_policy_source source;
    st_auto_policy p = NULL;

    if (!configured(d, f))
        return;
    source = source_of(d->config);
    if (st_policy_load(d->config->default_policy, &source, &p, NULL, &err) < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
    else
        st_finding_set(f, ST_HEALTH_OK, "%s, mode %s", st_policy_name(p),
                       st_policy_mode_name(st_policy_mode(p)));
}

struct tally {
    unsigned good, bad;
    char first[512]; /* fault */
};

static void try_policies(const char *dir, const struct st_policy_source *source, struct tally *t)
{
    st_auto_dir list = opendir(dir);
    struct dirent *entry;

    while (list && (entry = readdir(list))) {
        size_t len = strlen(entry->d_name);
        st_auto_free char *path = NULL;
        st_auto_policy p = NULL;
        struct st_error err = {0};

        if (len <= 5 || strcmp(entry->d_name + len - 5, ".yaml") != 0)
            continue;
        path = st_xasprintf("%s/%s", dir, entry->d_name);
        if (st_policy_load(path, source, &p, NULL, &err) == 0) {
            t->good++;
            continue;
        }
        if (!t->bad++)
            snprintf(t->first, sizeof(t->first), "%.500s", err.msg);
    }
}

static void policies(const struct st_doctor *d, struct st_finding *f)
{
    struct st_policy_source source;
    struct tally t = {0};

    if (!configured(d, f))
        return;
    source = source_of(d->config);
    for (size_t i = 0; i < source.n_dirs; i++)
        try_policies(source.dirs[i], &source, &t);
    if (t.bad)
        st_finding_set(f, ST_HEALTH_DEGRADED, "%u load, %u do not: %s", t.good, t.bad, t.first);
    else if (t.good)
        st_finding_set(f, ST_HEALTH_OK, "%u, all of them load", t.good);
    else
        st_finding_set(f, ST_HEALTH_MISSING, "there are none");
}

/* ---- key and directories ---- */

static void key(const struct st_doctor *d, struct st_finding *f)
{
    st_auto_signer s = NULL;
    struct st_public_key public_half;
    struct st_error err = {0};
    st_auto_free char *path = NULL;

    if (!configured(d, f))
        return;
    path = st_xasprintf("%s/" ST_KEY_NAME ".pub", d->config->key_dir);
    f->needed = !d->config->allow_unsigned;
    if (st_signer_load(d->config->key_dir, &s, &err) < 0) {
        st_finding_set(f, f->needed ? ST_HEALTH_MISSING : ST_HEALTH_DEGRADED, "%s", err.msg);
        if (err.errnum != ENOENT)
            st_finding_mend(f, "chown root: and chmod 0600 %s/" ST_KEY_NAME ".key", d->config->key_dir);
    } else if (st_public_key_load(path, &public_half, &err) < 0)
        st_finding_set(f, ST_HEALTH_DEGRADED, "its public half is missing: %s", err.msg);
    else if (strcmp(public_half.id, st_signer_public(s)->id) != 0)
        st_finding_set(f, ST_HEALTH_DEGRADED, "%s is of another key", path);
    else
        st_finding_set(f, ST_HEALTH_OK, "%s", public_half.id);
}

/* The directory, or the nearest above it that is there. */
static void existing_part(const char *path, char out[PATH_MAX])
{
    struct stat sb;

    snprintf(out, PATH_MAX, "%s", path);
    while (out[1] && stat(out, &sb) < 0) {
        char *slash = strrchr(out, '/');

        slash[slash == out] = '\0';
    }
}

static bool can_write(const char *dir, char place[PATH_MAX], struct st_finding *f)
{
    struct stat sb;

    existing_part(dir, place);
    if (access(place, W_OK | X_OK) < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "%s: %s", place, strerror(errno));
    else if (stat(place, &sb) < 0 || !S_ISDIR(sb.st_mode))
        st_finding_set(f, ST_HEALTH_MISSING, "%s is no directory", place);
    else if (strcmp(place, dir) == 0 && (sb.st_mode & (S_IWGRP | S_IWOTH)))
        st_finding_set(f, ST_HEALTH_DEGRADED, "%s may be written by others than root (mode %04o)", dir,
                       (unsigned)sb.st_mode & 07777);
    else
        return true;
    return false;
}

static void log_dir(const struct st_doctor *d, struct st_finding *f)
{
    char place[PATH_MAX];
    struct statvfs fs;
    uint64_t space;

    if (!configured(d, f) || !can_write(d->config->log_dir, place, f))
        return;
    if (statvfs(place, &fs) < 0) {
        st_finding_set(f, ST_HEALTH_UNKNOWN, "%s: %s", place, strerror(errno));
        return;
    }
    space = (uint64_t)fs.f_bavail * fs.f_frsize;
    st_finding_set(f,
                   space < NO_SPACE       ? ST_HEALTH_MISSING
                   : space < LITTLE_SPACE ? ST_HEALTH_DEGRADED
                                          : ST_HEALTH_OK,
                   "%s: %llu MiB free", d->config->log_dir, (unsigned long long)(space >> 20));
    if (space < LITTLE_SPACE)
        st_finding_mend(f, "make room there, set trace_rotate, or name another place by log_dir");
}

static void state_dir(const struct st_doctor *d, struct st_finding *f)
{
    char place[PATH_MAX];

    if (configured(d, f) && can_write(d->config->state_dir, place, f))
        st_finding_set(f, ST_HEALTH_OK, "%s", d->config->state_dir);
}

/* What ends by a violation is kept there, by a program that lies beside the monitor. */
static void quarantine_dir(const struct st_doctor *d, struct st_finding *f)
{
    char place[PATH_MAX];
    const char *slash;
    st_auto_free char *program = NULL;

    if (!configured(d, f) || !can_write(d->config->quarantine_dir, place, f))
        return;
    slash = strrchr(d->config->monitor, '/');
    program = st_xasprintf("%.*s/sandtrace-snapshot", (int)(slash - d->config->monitor), d->config->monitor);
    if (d->config->quarantine_at == 0)
        st_finding_set(f, ST_HEALTH_OK, "quarantine_at: never: nothing is kept");
    else if (access(program, X_OK) < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "%s: %s", program, strerror(errno));
    else
        st_finding_set(f, ST_HEALTH_OK, "%s", d->config->quarantine_dir);
}

/* ---- limits ---- */

static void fanotify_groups(const struct st_doctor *d, struct st_finding *f)
{
    char text[32];
    long n;

    (void)d;
    if (st_read_small_at(AT_FDCWD, "/proc/sys/fs/fanotify/max_user_groups", text, sizeof(text)) < 0) {
        st_finding_set(f, ST_HEALTH_UNKNOWN, "no /proc/sys/fs/fanotify: the kernel is older than 5.13");
        return;
    }
    n = strtol(text, NULL, 10);
    st_finding_set(f, n < FEW_GROUPS ? ST_HEALTH_DEGRADED : ST_HEALTH_OK,
                   "%ld groups for root: at most as many containers are watched at a time", n);
}

static void open_files(const struct st_doctor *d, struct st_finding *f)
{
    struct rlimit r;

    (void)d;
    if (getrlimit(RLIMIT_NOFILE, &r) < 0)
        st_finding_set(f, ST_HEALTH_UNKNOWN, "getrlimit: %s", strerror(errno));
    else
        st_finding_set(f, r.rlim_cur < FEW_FILES ? ST_HEALTH_DEGRADED : ST_HEALTH_OK,
                       "%llu of a process (at most %llu)", (unsigned long long)r.rlim_cur,
                       (unsigned long long)r.rlim_max);
}

const struct st_check *st_doctor_places(void)
{
    static const struct st_check checks[] = {
        {"setup", "configuration", true, false, 0, configuration,
         "no container starts on a guess, and no verb works", "correct the file; man sandtrace.yaml"},
        {"setup", "default-policy", true, false, 0, default_policy,
         "containers that name no policy do not start",
         "sandtrace policy check NAME; default_policy names it"},
        {"setup", "policies", false, false, 0, policies,
         "a container that names one that is broken, or not there, does not start",
         "sandtrace policy list shows which; sandtrace policy check NAME says what is wrong"},
        {"setup", "key", true, true, 0, key,
         "traces are not signed, and containers do not start without that", "sandtrace keygen"},
        {"setup", "programs", true, false, 0, st_probe_programs,
         "who could change them decides what is watched; without them no container starts",
         "finish the installation (make install), or correct `hook:` and `monitor:` in sandtrace.yaml"},
        {"setup", "monitor", true, false, 0, st_probe_monitor, "no container can be watched",
         "install the libraries that it needs; ldd names them"},
        {"setup", "run-init", false, false, 0, st_probe_init,
         "`sandtrace run` and `sandtrace demo` start nothing; engines are not concerned",
         "finish the installation (make install): it lies beside `hook:` of sandtrace.yaml"},
        {"setup", "runtime", true, false, 0, st_probe_runtime, "sandtrace-runtime has nothing to become",
         "apt-get install runc (1.1 or later)"},
        {"setup", "trace-directory", true, true, 0, log_dir,
         "a trace that can't be written keeps its container from starting, or holds it",
         "chown root: and chmod go-w the directory, or name another by log_dir"},
        {"setup", "state-directory", true, true, 0, state_dir, "monitors keep their sockets there",
         "chown root: and chmod go-w the directory, or name another by state_dir"},
        {"setup", "quarantine-directory", false, true, 0, quarantine_dir,
         "of a container that ends by a violation only the trace is kept; that is on it",
         "chown root: and chmod go-w the directory, or name another by quarantine_dir; finish the "
         "installation"},
        {"limits", "fanotify-groups", false, false, 0, fanotify_groups,
         "when they are used up, the next container does not start",
         "sysctl fs.fanotify.max_user_groups=1024"},
        {"limits", "open-files", false, false, 0, open_files,
         "a container that waits with many operations at once may find no room",
         "raise it where the engine is started: LimitNOFILE= of its service"},
        {0},
    };

    return checks;
}
