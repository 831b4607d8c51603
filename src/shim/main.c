/* sandtrace-runtime: read the command line, edit the bundle of a container that is to be made, become the
 * real runtime. Same pid, same fds, same signals, same environment; of the arguments only argv[0] is changed,
 * to the real runtime's path, which is what runc shows in its messages and crun chooses handlers by. On
 * Landlock's floor there is one fd more, and what hands it on (helper.h). */
#include "base/cleanup.h"
#include "config/config.h"
#include "oci/argv.h"
#include "oci/runtime.h"
#include "shim/about.h"
#include "shim/engine.h"
#include "shim/enter.h"
#include "shim/helper.h"
#include "shim/prepare.h"
#include "shim/report.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Where the configuration is broken nothing may start, but what runs must still be stopped: then the runtime
 * is looked for as if there were no configuration. */
static int find_runtime(const struct st_config *config, char **out, struct st_error *err)
{
    const char *named = config ? config->runtime : getenv("SANDTRACE_RUNTIME");

    return st_oci_find_runtime(named && *named ? named : NULL, getenv("PATH"), out, err);
}

static int refuse(const struct st_oci_args *args, struct st_error *err)
{
    return st_fail(err, EINVAL,
                   "%s: the command line might start a container past the monitor; write it as the runtime's "
                   "manual does",
                   args->doubt);
}

/* Questions about the runtime are answered by both of us; returns the exit status. */
static bool asks_about(const struct st_oci_args *args)
{
    if (args->todo != ST_OCI_PASS)
        return false;
    return args->help ? args->command == ST_OCI_NO_COMMAND
                      : args->version || args->command == ST_OCI_FEATURES;
}

static int answer(const struct st_oci_args *args, const char *runtime, char *const argv[],
                  struct st_error *err)
{
    if (args->help)
        return st_shim_help(runtime, argv, err);
    return args->version ? st_shim_version(runtime, argv, err) : st_shim_features(runtime, argv, err);
}

static int make_container(const struct st_config *config, const struct st_oci_args *args, const char *runtime,
                          char ***argv, struct st_error *err)
{
    int helper = 0;
    int rc = st_shim_prepare(config, args, runtime, &helper, err);

    return rc == 0 && helper ? st_shim_helper_hand(args, helper, argv, err) : rc;
}

static int enter_container(const struct st_config *config, const struct st_oci_args *args, char ***argv,
                           struct st_error *err)
{
    struct st_shim_process process = {.text = ST_BUF_INIT};
    int rc;

    st_shim_process_read(args, &process);
    rc = config ? st_shim_ask_monitor(config, args, process.grants, err) : 0;
    /* A monitor that refuses what might be granted: this is why. */
    if (rc < 0 && process.odd.errnum)
        *err = process.odd;
    if (rc == 0)
        rc = st_shim_enter(config, args, &process, argv, err);
    st_shim_process_free(&process);
    return rc;
}

/* What comes before the runtime takes over: 0, or 1 where it need not any more. */
static int prepare(const struct st_config *config, const struct st_oci_args *args, const char *runtime,
                   char ***argv, struct st_error *err)
{
    if (args->todo == ST_OCI_REFUSE)
        return refuse(args, err);
    if (args->todo == ST_OCI_EDIT)
        return make_container(config, args, runtime, argv, err);
    if (args->command == ST_OCI_EXEC)
        return enter_container(config, args, argv, err);
    return config ? st_shim_ask_monitor(config, args, 0, err) : 0;
}

int main(int argc, char *argv[])
{
    struct st_error config_error = {0}, err = {0};
    st_auto_config config = NULL;
    st_auto_free char *runtime = NULL;
    enum st_oci_dialect dialect;
    struct st_oci_args args;
    int rc;

    if (argc < 1)
        return EXIT_FAILURE;
    st_config_load(NULL, &config, &config_error);
    rc = find_runtime(config, &runtime, &err);
    dialect = runtime ? st_oci_dialect_of(runtime) : ST_OCI_GO_FLAGS;
    st_oci_parse_args(argc, argv, dialect, &args);
    if (!config && args.todo != ST_OCI_PASS) {
        st_shim_report(&args, &config_error);
        return EXIT_FAILURE;
    }
    if (!config)
        st_shim_warn(&args, &config_error);
    if (rc == 0) {
        argv[0] = runtime;
        if (asks_about(&args) && (rc = answer(&args, runtime, argv, &err)) >= 0)
            return rc;
        if (rc == 0)
            rc = prepare(config, &args, runtime, &argv, &err);
        if (rc > 0)
            return EXIT_SUCCESS;
    }
    if (rc == 0 && runtime) {
        execv(runtime, argv);
        st_fail_errno(&err, "runtime %s", runtime);
    }
    st_shim_report(&args, &err);
    return EXIT_FAILURE;
}
