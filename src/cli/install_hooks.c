/* install_hooks: see install_hooks.h. */
#include "cli/install_hooks.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <errno.h>

#define SHIPPED ST_DATADIR "/hooks.d"

int st_install_hooks(const char *dir, bool undo,
                     int (*each)(void *ctx, const struct st_change *c, struct st_error *err), void *ctx,
                     struct st_error *err)
{
    static const char *const names[] = {"50-sandtrace.json", "50-sandtrace-precreate.json",
                                        "50-sandtrace-poststop.json"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        st_auto_free char *from = st_xasprintf(SHIPPED "/%s", names[i]);
        st_auto_free char *to = st_xasprintf("%s/%s", dir ? dir : ST_PODMAN_HOOKS, names[i]);
        st_auto_change c = {0};
        st_auto_buf bytes = ST_BUF_INIT;
        bool there;

        if (st_install_read(from, &bytes, &there, err) < 0)
            return -err->errnum;
        if (!there)
            return st_fail(err, ENOENT, "%s is missing; finish the installation of sandtrace", from);
        if (st_change_plan_own(to, &bytes, undo, &c, err) < 0 || each(ctx, &c, err) < 0)
            return -err->errnum;
    }
    return 0;
}
