/* prepare: see prepare.h. */
#include "shim/prepare.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "bundle/edit.h"
#include "desk/review_admit.h"
#include "monitor/keeper.h"
#include "monitor/sealed.h"
#include "oci/hook_edit.h"
#include "oci/record.h"
#include "shim/ahead.h"
#include "shim/helper.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define SEAL_MS 10000

static void start_ahead(struct st_ahead *ahead, const struct st_config *config,
                        const struct st_oci_args *args, const struct st_bundle_edit *edit)
{
    char dir[PATH_MAX];

    if (!realpath(args->bundle ? args->bundle : ".", dir))
        return;
    st_ahead_go(ahead, config,
                &(struct st_ahead_order){.id = args->id,
                                         .bundle = dir,
                                         .listener = edit->plan.listener,
                                         .floor = edit->floor.len ? st_buf_cstr(&edit->floor) : NULL});
}

/* Landlock's floor is laid by each process of the container for itself: each must be one that we start. */
static int find_number(const struct st_oci_args *args, const char *runtime, int *out, struct st_error *err)
{
    if (args->command == ST_OCI_RESTORE)
        return st_fail(err, EOPNOTSUPP, "it does not come back with a container that is restored");
    if (!st_oci_record_is_known(runtime))
        return st_fail(err, EOPNOTSUPP,
                       "it needs runc, whose records say what a container has when something is to be run in "
                       "it, and %s is another runtime",
                       runtime);
    return st_shim_helper_number(args, out, err);
}

int st_shim_prepare(const struct st_config *config, const struct st_oci_args *args, const char *runtime,
                    int *helper, struct st_error *err)
{
    bool goes_ahead = st_oci_dialect_of(runtime) == ST_OCI_GO_FLAGS;
    st_auto_ahead ahead = ST_AHEAD_NONE;
    st_auto_free char *standby = goes_ahead ? st_xasprintf("%s/" ST_AHEAD_DIR, config->state_dir) : NULL;
    struct st_error no_helper = {0};
    struct st_bundle_source source = {
        .id = args->id, .dir = args->bundle, .key = args->id, .standby = standby, .no_helper = no_helper.msg};
    st_auto_bundle_edit edit = {0};
    st_auto_oci_config bundle = NULL;

    if (goes_ahead)
        st_ahead_begin(&ahead, config);
    (void)find_number(args, runtime, &source.helper, &no_helper);
    if (st_oci_config_load(args->bundle, args->config, &bundle, err) < 0 ||
        st_review_admit(config, bundle, args->bundle, args->id, err) < 0 ||
        st_bundle_edit(bundle, config, &source, &edit, err) < 0 || st_oci_config_flush(bundle, err) < 0)
        return -err->errnum;
    *helper = edit.landlock ? source.helper : 0;
    /* The monitor of an earlier run under this ID is about to go, and takes its sockets' names with it. */
    if (edit.watched && st_sealed_is_near(config->state_dir, args->id))
        (void)st_sealed_wait(config->state_dir, args->id, SEAL_MS, NULL);
    if (edit.watched && goes_ahead)
        start_ahead(&ahead, config, args, &edit);
    else if (edit.plan.listener)
        return st_keeper_start(config, edit.plan.listener, getpid(), err);
    return 0;
}
