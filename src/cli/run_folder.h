/* run_folder: may this folder be the container's /workspace? Pure. */
#pragma once

#include "base/error.h"

/* home: of who runs the command; may be NULL. A folder that holds more than the work (a home with its keys,
 * /tmp with everybody's sockets, the system) is refused: who means it binds it by name. */
int st_run_check_folder(const char *folder, const char *home, struct st_error *err);
