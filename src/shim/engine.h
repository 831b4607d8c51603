/* engine: before a command for a container that runs goes to the real runtime, its monitor is asked: what it
 * holds still must not hold up the engine, and nobody thaws past it. See monitor/answers_engine.c. */
#pragma once

#include "base/error.h"
#include "config/config.h"
#include "oci/argv.h"

/* 0: go on, to the real runtime. 1: answered here. Negative: refused, err says why. */
int st_shim_ask_monitor(const struct st_config *config, const struct st_oci_args *args, unsigned grants,
                        struct st_error *err);
