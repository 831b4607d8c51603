/* doctor_programs: are the programs there, ours and the runtime underneath, and do they start? */
#pragma once

#include "cli/doctor.h"

void st_probe_programs(const struct st_doctor *d, struct st_finding *f);
void st_probe_monitor(const struct st_doctor *d, struct st_finding *f);
void st_probe_init(const struct st_doctor *d, struct st_finding *f);
void st_probe_runtime(const struct st_doctor *d, struct st_finding *f);

/* The first line of what `PROGRAM --version` says. -errno: it can't be run, or did not say anything. */
int st_ask_version(const char *program, char *out, size_t size);
