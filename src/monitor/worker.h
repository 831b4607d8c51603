/* worker: the unprivileged half: trace, policy, sensors, control socket. Parses what the container wrote,
 * and holds nothing that would be worth taking over but the trace's key. */
#pragma once

#include "monitor/warden.h"

/* Main function of the child; see st_worker_main. */
int st_worker_run(struct st_watch *w, int link, const struct st_loss *loss);
