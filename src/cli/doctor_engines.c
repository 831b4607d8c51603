/* doctor_engines: which engines are there, and do they know of us? */
#include "cli/doctor.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "cli/doctor_programs.h"
#include "cli/install.h"
#include "cli/install_hooks.h"
#include "oci/runtime.h"

#include <stdio.h>
#include <string.h>

/* false: it is not installed; its version then. */
static bool is_installed(const struct st_engine *e, char *version, size_t size, struct st_finding *f)
{
    st_auto_free char *path = NULL;

    if (st_oci_find_runtime(e->program, getenv("PATH"), &path, NULL) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "not installed");
        return false;
    }
    if (st_ask_version(path, version, size) < 0)
        snprintf(version, size, "%s", path);
    return true;
}

/* Is the program that the engine would start one that it can? */
static void judge(const char *file, const char *program, const char *version, const struct st_engine *e,
                  struct st_finding *f)
{
    char answer[256];

    if (st_ask_version(program, answer, sizeof(answer)) < 0 && access(program, X_OK) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "%s; %s names %.200s, which can't be run", version, file,
                       program);
        st_finding_mend(f, "sandtrace install %s", e->name);
    } else {
        st_finding_set(f, ST_HEALTH_OK, "%s; registered in %s", version, file);
    }
}

/* false: the file says nothing of us. */
static bool look_in(const struct st_engine *e, const char *file, const char *version, struct st_finding *f)
{
    st_auto_buf text = ST_BUF_INIT;
    st_auto_free char *program = NULL;
    struct st_error err = {0};
    bool there;

    if (st_install_read(file, &text, &there, &err) < 0 ||
        (there && e->find(st_buf_cstr(&text), text.len, &program, &err) < 0)) {
        st_finding_set(f, ST_HEALTH_DEGRADED, "%s; %s: %.600s", version, file, err.msg);
        st_finding_mend(f, "correct that file, then: sandtrace install %s", e->name);
        return true;
    }
    if (program)
        judge(file, program, version, e, f);
    return program != NULL;
}

static void not_registered(const struct st_engine *e, const char *version, struct st_finding *f)
{
    st_finding_set(f, ST_HEALTH_DEGRADED, "%s; sandtrace is not registered", version);
    st_finding_mend(f, "sandtrace install %s", e->name);
}

static void by_file(const struct st_engine *e, struct st_finding *f)
{
    char version[256];

    if (is_installed(e, version, sizeof(version), f) && !look_in(e, e->file, version, f))
        not_registered(e, version, f);
}

static void docker(const struct st_doctor *d, struct st_finding *f)
{
    (void)d;
    by_file(&st_engine_docker, f);
}

static void containerd(const struct st_doctor *d, struct st_finding *f)
{
    (void)d;
    by_file(&st_engine_containerd, f);
}

static void podman(const struct st_doctor *d, struct st_finding *f)
{
    const struct st_engine *e = &st_engine_podman;
    char version[256];

    (void)d;
    if (!is_installed(e, version, sizeof(version), f) || look_in(e, e->file, version, f) ||
        look_in(e, "/etc/containers/containers.conf", version, f))
        return;
    if (access(ST_PODMAN_HOOKS "/50-sandtrace.json", R_OK) == 0)
        st_finding_set(f, ST_HEALTH_OK, "%s; by the hooks in " ST_PODMAN_HOOKS, version);
    else
        not_registered(e, version, f);
}

#define NOT_REGISTERED "its containers are not watched"

const struct st_check *st_doctor_engines(void)
{
    static const struct st_check checks[] = {
        {"engines", "docker", false, false, 0, docker, NOT_REGISTERED,
         "apt-get install docker.io, if wanted"},
        {"engines", "podman", false, false, 0, podman, NOT_REGISTERED, "apt-get install podman, if wanted"},
        {"engines", "containerd", false, false, 0, containerd, NOT_REGISTERED,
         "apt-get install containerd, if wanted"},
        {0},
    };

    return checks;
}
