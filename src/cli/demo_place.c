/* demo_place: see demo_place.h. */
#include "cli/demo_place.h"

#include "audit/sign.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PATTERN "/tmp/sandtrace-demo-%d.XXXXXX" /* our pid */
#define OPEN_DIRS 16
#define PATIENCE_NS ((int64_t)10 * 1000000000)
#define AGAIN_MS 10

/* ---- its end ---- */

static int remove_one(const char *path, const struct stat *sb, int kind, struct FTW *at)
{
    (void)sb;
    (void)kind;
    (void)at;
    (void)remove(path);
    return 0;
}

/* In its own session, deaf: the line tells when nobody is left. */
_Noreturn static void keep(int line, const char *dir)
{
    st_auto_fd nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int64_t until;
    sigset_t all;
    char byte;

    setsid();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int fd = 0; nothing >= 0 && fd < 3; fd++)
        dup2(nothing, fd);
    prctl(PR_SET_NAME, "sandtrace-keep");
    while (read(line, &byte, 1) < 0 && errno == EINTR)
        continue;
    until = st_now_mono_ns() + PATIENCE_NS;
    /* A monitor that has not heard yet may put something in meanwhile. */
    do
        nftw(dir, remove_one, OPEN_DIRS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    while (access(dir, F_OK) == 0 && st_now_mono_ns() < until && poll(NULL, 0, AGAIN_MS) == 0);
    _exit(0);
}

static int start_keeper(struct st_demo_place *p, struct st_error *err)
{
    int line[2];

    if (pipe2(line, O_CLOEXEC) < 0)
        return st_fail_errno(err, "a pipe");
    p->keeper = fork();
    if (p->keeper == 0) {
        st_close(&line[1]);
        keep(line[0], p->dir);
    }
    st_close(&line[0]);
    p->line = line[1];
    return p->keeper < 0 ? st_fail_errno(err, "fork") : 0;
}

void st_demo_place_end(struct st_demo_place *p)
{
    st_close(&p->line);
    while (p->keeper > 0 && waitpid(p->keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
    st_config_free(p->config);
    free(p->dir);
    free(p->file);
    free(p->work);
    free(p->home);
    *p = (struct st_demo_place)ST_DEMO_PLACE_NONE;
}

/* ---- its beginning ---- */

/* name: below the place; its directory is made. Names of ours, without .. in them. */
static int write_text(const struct st_demo_place *p, const char *name, const char *text, unsigned mode,
                      struct st_error *err)
{
    st_auto_free char *path = st_xasprintf("%s/%s", p->dir, name);
    char *slash = strrchr(path, '/');
    st_auto_fd dir = -1;

    *slash = '\0';
    if (st_mkdir_p(path, 0755, err) < 0)
        return -err->errnum;
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return st_fail_errno(err, "%s", path);
    return st_replace_file_at(dir, slash + 1, text, strlen(text), mode, false, err);
}

static int write_configuration(struct st_demo_place *p, const struct st_config *machine, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;

    if (machine->runtime)
        st_buf_addf(&text, "runtime: %s\n", machine->runtime);
    st_buf_addf(&text, "hook: %s\nmonitor: %s\n", machine->hook, machine->monitor);
    st_buf_addf(&text, "state_dir: %s/run\nlog_dir: %s/log\nkey_dir: %s/keys\ndefault_policy: demo\n", p->dir,
                p->dir, p->dir);
    /* Its monitor would write there still when the place is being removed. */
    st_buf_addf(&text, "quarantine_dir: %s/quarantine\nquarantine_at: never\n", p->dir);
    st_buf_addf(&text, "policy_dirs: [%s/policies", p->dir);
    for (char **d = machine->policy_dirs; *d; d++)
        st_buf_addf(&text, ", %s", *d);
    st_buf_adds(&text, "]\n");
    if (write_text(p, "sandtrace.yaml", st_buf_cstr(&text), 0600, err) < 0)
        return -err->errnum;
    p->file = st_xasprintf("%s/sandtrace.yaml", p->dir);
    return st_config_load(p->file, &p->config, err);
}

static int write_policy(const struct st_demo_place *p, const struct st_demo_scenario *s, struct st_error *err)
{
    st_auto_free char *text =
        st_xasprintf("schema_version: \"2.0\"\nname: demo\nextends: agent-default\n%s", s->policy);

    return write_text(p, "policies/demo.yaml", text, 0644, err);
}

static int write_file(const struct st_demo_place *p, const struct st_demo_file *f, struct st_error *err)
{
    bool home = strncmp(f->name, "~/", 2) == 0;
    st_auto_free char *name = st_xasprintf("%s/%s", home ? "home" : "work", f->name + (home ? 2 : 0));

    return write_text(p, name, f->text, f->mode, err);
}

/* Lines of 32 bytes. */
static int write_big(const struct st_demo_place *p, size_t bytes, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;

    for (unsigned n = 1; text.len < bytes; n++)
        st_buf_addf(&text, "%07u,customer,42424242424242\n", n);
    return write_text(p, "work/customers.csv", st_buf_cstr(&text), 0644, err);
}

static int fill(struct st_demo_place *p, const struct st_demo_scenario *s, struct st_error *err)
{
    static const struct {
        const char *name;
        mode_t mode;
    } dirs[] = {{"run", 0700},      {"keys", 0700}, {"log", 0755},
                {"policies", 0755}, {"work", 0755}, {"home", 0700}};
    st_auto_free char *keys = st_xasprintf("%s/keys", p->dir);
    struct st_public_key key;

    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        st_auto_free char *dir = st_xasprintf("%s/%s", p->dir, dirs[i].name);

        if (mkdir(dir, dirs[i].mode) < 0)
            return st_fail_errno(err, "make %s", dir);
    }
    for (const struct st_demo_file *f = s->files; f && f->name; f++)
        if (write_file(p, f, err) < 0)
            return -err->errnum;
    if (s->big && write_big(p, s->big, err) < 0)
        return -err->errnum;
    return st_keygen(keys, &key, err);
}

int st_demo_place_make(struct st_demo_place *p, const struct st_config *machine,
                       const struct st_demo_scenario *scenario, struct st_error *err)
{
    st_auto_free char *dir = st_xasprintf(PATTERN, (int)getpid());

    if (!mkdtemp(dir))
        return st_fail_errno(err, "make %s", dir);
    p->dir = st_steal_ptr(&dir);
    if (start_keeper(p, err) < 0)
        return -err->errnum;
    if (chmod(p->dir, 0755) < 0)
        return st_fail_errno(err, "%s", p->dir);
    p->work = st_xasprintf("%s/work", p->dir);
    p->home = st_xasprintf("%s/home", p->dir);
    if (fill(p, scenario, err) < 0 || write_policy(p, scenario, err) < 0 ||
        write_configuration(p, machine, err) < 0)
        return -err->errnum;
    return 0;
}
