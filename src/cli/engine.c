/* engine: the table. */
#include "cli/engine.h"

const struct st_engine *const *st_engines(void)
{
    static const struct st_engine *const engines[] = {&st_engine_docker, &st_engine_podman,
                                                      &st_engine_containerd, NULL};

    return engines;
}
