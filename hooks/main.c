/* sandtrace-hook: the OCI hook. Works alone (Podman's hooks directory) and as what the shim puts into a
 * bundle.
 *
 *   sandtrace-hook create|poststop [--config FILE]   container state (JSON) on standard input
 *   sandtrace-hook precreate [--config FILE]         config.json in, edited out: Podman alone has it
 *   sandtrace-hook keep --listener SOCKET            by precreate: see keeper.h
 *
 * The shim adds to create what it has put into the bundle: --listener SOCKET (where the runtime sends the fd
 * of seccomp notifications), --floor NOTE (oci/floor_edit.h), and where the monitor waits that it has started
 * meanwhile: --standby DIR, with --timeout MS for its answer.
 *
 * create: starts the monitor and returns 0 only when it watches; anything else stops the container from
 * starting, with the reason on standard error, which engines show. poststop: waits for the sealed trace; a
 * container that is gone can't be un-gone, so that it never fails for what the monitor did. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "bundle/edit.h"
#include "bundle/find.h"
#include "config/config.h"
#include "desk/review_admit.h"
#include "monitor/enlist.h"
#include "monitor/keeper.h"
#include "monitor/sealed.h"
#include "oci/config_edit.h"
#include "oci/hook_edit.h"
#include "oci/openings.h"
#include "oci/state.h"
#include "standby.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POSTSTOP_MS 10000

struct call {
    const char *verb;
    const char *config, *listener, *floor, *standby, *timeout;
    const char *closed, *pids; /* for the shim, when it meets the bundle again */
};

static int usage(FILE *out)
{
    fputs("sandtrace-hook " PACKAGE_VERSION "\n"
          "usage: sandtrace-hook create|poststop [--config FILE]   (container state as JSON on standard "
          "input)\n"
          "       sandtrace-hook precreate [--config FILE]         (config.json on standard input, edited on "
          "standard output)\n"
          "An OCI hook; engines call it. See sandtrace-hook(8).\n",
          out);
    return out == stdout ? 0 : 2;
}

/* The value of an option, after a space or an equals sign; NULL: it is another one. */
static const char *value_of(const char *option, int argc, char **argv, int *at)
{
    size_t len = strlen(option);

    if (!argv[*at] || strncmp(argv[*at], option, len) != 0)
        return NULL;
    if (argv[*at][len] == '=')
        return argv[*at] + len + 1;
    return argv[*at][len] == '\0' && *at + 1 < argc ? argv[++*at] : NULL;
}

static bool parse_call(int argc, char **argv, struct call *call)
{
    const struct {
        const char *option;
        const char **value;
    } options[] = {{"--config", &call->config},         {"--listener", &call->listener},
                   {ST_OCI_FLOOR_OPTION, &call->floor}, {"--standby", &call->standby},
                   {"--timeout", &call->timeout},       {ST_OCI_CLOSED_OPTION, &call->closed},
                   {ST_OCI_PIDS_OPTION, &call->pids}};

    for (int i = 1; i < argc; i++) {
        const char *value = NULL;

        for (size_t k = 0; !value && k < sizeof(options) / sizeof(options[0]); k++)
            if ((value = value_of(options[k].option, argc, argv, &i)))
                *options[k].value = value;
        if (value)
            continue;
        if (call->verb || argv[i][0] == '-')
            return false;
        call->verb = argv[i];
    }
    return call->verb != NULL;
}

static int admit(const struct st_config *config, const struct st_oci_state *state, struct st_error *err)
{
    st_auto_oci_config oci = NULL;

    if (config->refuse_unreviewed == ST_UNREVIEWED_LET)
        return 0;
    if (st_oci_config_load(state->bundle, NULL, &oci, err) < 0)
        return -err->errnum;
    return st_review_admit(config, oci, state->bundle, state->id, err);
}

static int create(const struct call *call, const struct st_config *config, const struct st_oci_state *state,
                  struct st_error *err)
{
    const struct st_enlist enlist = {.listener = call->listener, .floor = call->floor};
    st_auto_buf order = ST_BUF_INIT;
    st_auto_launch launch = ST_LAUNCH_NONE;
    st_auto_fd listener = call->listener && !call->standby ? st_keeper_ask(call->listener) : -1;

    /* The monitor comes up while we read. */
    if (st_launch_begin(config->monitor, listener, &launch, err) < 0 || admit(config, state, err) < 0 ||
        st_enlist_order(&enlist, config, state, listener >= 0, &order, err) < 0)
        return -err->errnum;
    return order.len == 0 ? 0 : st_launch_order(&launch, &order, config->hook_timeout_ms, err);
}

/* What the shim does to a bundle. No ID is told: the listener is named after the root, which no other
 * container has. */
static int edit_config(const struct st_config *config, struct st_oci_config *oci, struct st_error *err)
{
    st_auto_bundle_edit edit = {0};
    char rootfs[PATH_MAX];
    const struct st_bundle_source source = {
        .id = "",
        .key = rootfs,
        .no_helper =
            "a hook can't put anything before what an engine runs in the container later: that needs "
            "sandtrace-runtime"};

    if (st_bundle_rootfs(oci, NULL, rootfs, err) < 0 ||
        st_bundle_edit(oci, config, &source, &edit, err) < 0 || st_oci_config_settle(oci, err) < 0)
        return -err->errnum;
    return edit.plan.listener ? st_keeper_start(config, edit.plan.listener, getppid(), err) : 0;
}

static int precreate(const struct call *call, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;
    st_auto_config config = NULL;
    st_auto_oci_config oci = NULL;
    const char *edited;
    size_t len;

    if (st_config_load(call->config, &config, err) < 0 ||
        st_read_fd(STDIN_FILENO, ST_OCI_CONFIG_MAX, &text, err) < 0)
        return -err->errnum;
    if (st_oci_config_parse(text.data, text.len, &oci, err) < 0)
        return st_wrap(err, "config.json on standard input");
    if (edit_config(config, oci, err) < 0)
        return -err->errnum;
    edited = st_oci_config_text(oci, &len);
    errno = -st_write_all(STDOUT_FILENO, edited, len);
    return errno ? st_fail_errno(err, "standard output") : 0;
}

static int run(const struct call *call, struct st_error *err)
{
    st_auto_buf input = ST_BUF_INIT;
    st_auto_config config = NULL;
    st_auto_oci_state state = {0};
    bool creates = strcmp(call->verb, "create") == 0;

    if (st_read_fd(STDIN_FILENO, ST_OCI_STATE_MAX, &input, err) < 0 ||
        st_oci_state_parse(input.data, input.len, &state, err) < 0)
        return st_wrap(err, "container state on standard input");
    if (creates && state.pid <= 0)
        return st_fail(err, EINVAL,
                       "the runtime named no process: call this as a createRuntime or prestart hook");
    if (creates && call->standby && call->timeout) {
        int rc = st_standby_ask(call->standby, state.pid, atoll(call->timeout), err);

        if (rc != -ENOENT)
            return rc;
    }
    if (st_config_load(call->config, &config, err) < 0)
        return -err->errnum;
    if (creates)
        return create(call, config, &state, err);
    return st_sealed_wait(config->state_dir, state.id, POSTSTOP_MS, err);
}

static int run_verb(const struct call *call, struct st_error *err)
{
    if (strcmp(call->verb, "keep") == 0 && call->listener) {
        st_keeper_keep(call->listener);
        return 0;
    }
    return strcmp(call->verb, "precreate") == 0 ? precreate(call, err) : run(call, err);
}

static bool is_verb(const char *verb)
{
    static const char *const verbs[] = {"create", "precreate", "poststop", "keep"};

    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strcmp(verb, verbs[i]) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    struct st_error err = {0};
    struct call call = {0};

    if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "--help") == 0))
        return usage(stdout);
    if (!parse_call(argc, argv, &call) || !is_verb(call.verb))
        return usage(stderr);
    if (run_verb(&call, &err) < 0) {
        fprintf(stderr, "sandtrace: %s\n", err.msg);
        return strcmp(call.verb, "poststop") == 0 ? 0 : 1;
    }
    return 0;
}
