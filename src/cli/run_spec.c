/* run_spec: see run_spec.h. What a container gets here is what engines give by default, and less: no new
 * privileges, few capabilities and for root only, no device but the usual ones. */
#include "cli/run_spec.h"

#include "base/json_write.h"

#include <stdio.h>

#ifdef __aarch64__
#define ARCHITECTURES "SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"
#else
#define ARCHITECTURES "SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"
#endif

/* What root needs to install and to serve; nothing that reaches past the container. */
static const char *const capabilities[] = {
    "CAP_CHOWN",  "CAP_DAC_OVERRIDE",     "CAP_FOWNER", "CAP_FSETID", "CAP_KILL",
    "CAP_SETGID", "CAP_NET_BIND_SERVICE", "CAP_SETUID", NULL};

/* Whatever the policy says: doors into the kernel that are not the container's own. A policy that names one
 * decides about it. */
static const char *const refused[] = {"add_key",
                                      "bpf",
                                      "delete_module",
                                      "finit_module",
                                      "init_module",
                                      "io_uring_enter",
                                      "io_uring_register",
                                      "io_uring_setup",
                                      "kexec_file_load",
                                      "kexec_load",
                                      "keyctl",
                                      "open_by_handle_at",
                                      "perf_event_open",
                                      "request_key",
                                      "userfaultfd",
                                      NULL};

static const char *const masked[] = {"/proc/acpi",          "/proc/asound",
                                     "/proc/kcore",         "/proc/keys",
                                     "/proc/latency_stats", "/proc/sched_debug",
                                     "/proc/scsi",          "/proc/timer_list",
                                     "/proc/timer_stats",   "/sys/devices/virtual/powercap",
                                     "/sys/firmware",       NULL};

static const char *const readonly[] = {"/proc/bus",           "/proc/fs", "/proc/irq", "/proc/sys",
                                       "/proc/sysrq-trigger", NULL};

/* ---- process ---- */

static void write_capabilities(struct st_jw *w, bool root)
{
    static const char *const none[] = {NULL};
    const char *const *list = root ? capabilities : none;

    st_jw_key(w, "capabilities");
    st_jw_object(w);
    st_jw_kstrs(w, "bounding", list, ST_JW_ALL);
    st_jw_kstrs(w, "effective", list, ST_JW_ALL);
    st_jw_kstrs(w, "permitted", list, ST_JW_ALL);
    st_jw_end(w, '}');
}

static void write_process(struct st_jw *w, const struct st_run_spec *s)
{
    st_jw_key(w, "process");
    st_jw_object(w);
    st_jw_kstrs(w, "args", s->args, ST_JW_ALL);
    write_capabilities(w, s->uid == 0);
    if (s->terminal && s->rows && s->columns) {
        st_jw_key(w, "consoleSize");
        st_jw_object(w);
        st_jw_kint(w, "height", s->rows);
        st_jw_kint(w, "width", s->columns);
        st_jw_end(w, '}');
    }
    st_jw_kstr(w, "cwd", ST_RUN_WORKSPACE);
    st_jw_kstrs(w, "env", s->env, ST_JW_ALL);
    st_jw_kbool(w, "noNewPrivileges", true);
    st_jw_kbool(w, "terminal", s->terminal);
    st_jw_key(w, "user");
    st_jw_object(w);
    st_jw_kint(w, "gid", s->gid);
    st_jw_kint(w, "uid", s->uid);
    st_jw_kint(w, "umask", s->umask);
    st_jw_end(w, '}');
    st_jw_end(w, '}');
}

/* ---- mounts ---- */

static void write_mount(struct st_jw *w, const char *target, const char *type, const char *source,
                        const char *const *options)
{
    st_jw_object(w);
    st_jw_kstr(w, "destination", target);
    st_jw_kstrs(w, "options", options, ST_JW_ALL);
    st_jw_kstr(w, "source", source);
    st_jw_kstr(w, "type", type);
    st_jw_end(w, '}');
}

static void write_mounts(struct st_jw *w, const struct st_run_spec *s)
{
    static const char *const proc[] = {"nosuid", "noexec", "nodev", NULL};
    static const char *const dev[] = {"nosuid", "strictatime", "mode=755", "size=65536k", NULL};
    static const char *const pts[] = {"nosuid",    "noexec", "newinstance", "ptmxmode=0666",
                                      "mode=0620", "gid=5",  NULL};
    static const char *const shm[] = {"nosuid", "noexec", "nodev", "mode=1777", "size=262144k", NULL};
    static const char *const mqueue[] = {"nosuid", "noexec", "nodev", NULL};
    static const char *const sys[] = {"nosuid", "noexec", "nodev", "ro", NULL};
    static const char *const bound[] = {"rbind", "rprivate", "nosuid", "nodev", "rw", NULL};
    /* Not with what is mounted below: that would stay writable. */
    static const char *const kept[] = {"bind", "private", "nosuid", "nodev", "ro", NULL};

    st_jw_key(w, "mounts");
    st_jw_array(w);
    write_mount(w, "/proc", "proc", "proc", proc);
    write_mount(w, "/dev", "tmpfs", "tmpfs", dev);
    write_mount(w, "/dev/pts", "devpts", "devpts", pts);
    write_mount(w, "/dev/shm", "tmpfs", "shm", shm);
    write_mount(w, "/dev/mqueue", "mqueue", "mqueue", mqueue);
    /* It shows the devices of the network namespace that it is mounted in. */
    if (s->network != ST_RUN_NET_HOST)
        write_mount(w, "/sys", "sysfs", "sysfs", sys);
    for (size_t i = 0; i < s->n_mounts; i++)
        write_mount(w, s->mounts[i].target, "bind", s->mounts[i].source,
                    s->mounts[i].readonly ? kept : bound);
    st_jw_end(w, ']');
}

/* ---- linux ---- */

static void write_namespaces(struct st_jw *w, enum st_run_network network)
{
    static const char *const types[] = {"pid", "ipc", "uts", "mount", "cgroup", "network"};
    size_t n = sizeof(types) / sizeof(types[0]) - (network == ST_RUN_NET_HOST);

    st_jw_key(w, "namespaces");
    st_jw_array(w);
    for (size_t i = 0; i < n; i++) {
        st_jw_object(w);
        st_jw_kstr(w, "type", types[i]);
        st_jw_end(w, '}');
    }
    st_jw_end(w, ']');
}

static void write_seccomp(struct st_jw *w)
{
    static const char *const architectures[] = {ARCHITECTURES, NULL};

    st_jw_key(w, "seccomp");
    st_jw_object(w);
    st_jw_kstrs(w, "architectures", architectures, ST_JW_ALL);
    st_jw_kstr(w, "defaultAction", "SCMP_ACT_ALLOW");
    st_jw_key(w, "syscalls");
    st_jw_array(w);
    st_jw_object(w);
    st_jw_kstr(w, "action", "SCMP_ACT_ERRNO");
    st_jw_kint(w, "errnoRet", 1);
    st_jw_kstrs(w, "names", refused, ST_JW_ALL);
    st_jw_end(w, '}');
    st_jw_end(w, ']');
    st_jw_end(w, '}');
}

static void write_linux(struct st_jw *w, const struct st_run_spec *s)
{
    char group[64];

    snprintf(group, sizeof(group), "/" ST_RUN_CGROUP "%.48s", s->id);
    st_jw_key(w, "linux");
    st_jw_object(w);
    st_jw_kstr(w, "cgroupsPath", group);
    st_jw_kstrs(w, "maskedPaths", masked, ST_JW_ALL);
    write_namespaces(w, s->network);
    st_jw_kstrs(w, "readonlyPaths", readonly, ST_JW_ALL);
    st_jw_key(w, "resources");
    st_jw_object(w);
    st_jw_key(w, "devices");
    st_jw_array(w);
    st_jw_object(w);
    st_jw_kstr(w, "access", "rwm");
    st_jw_kbool(w, "allow", false);
    st_jw_end(w, '}');
    st_jw_end(w, ']');
    st_jw_end(w, '}');
    st_jw_kstr(w, "rootfsPropagation", "private");
    write_seccomp(w);
    st_jw_end(w, '}');
}

void st_run_write_spec(const struct st_run_spec *s, struct st_buf *out)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_key(&w, "annotations");
    st_jw_object(&w);
    st_jw_kstr(&w, "io.sandtrace.depth", s->depth);
    st_jw_kstr(&w, "io.sandtrace.policy", s->policy);
    st_jw_end(&w, '}');
    st_jw_kstr(&w, "hostname", "sandtrace");
    write_linux(&w, s);
    write_mounts(&w, s);
    st_jw_kstr(&w, "ociVersion", "1.0.2");
    write_process(&w, s);
    st_jw_key(&w, "root");
    st_jw_object(&w);
    st_jw_kstr(&w, "path", s->rootfs);
    st_jw_kbool(&w, "readonly", false);
    st_jw_end(&w, '}');
    st_jw_end(&w, '}');
}
