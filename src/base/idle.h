/* idle: what a process that sleeps has in memory. */
#pragma once

/* For what is run while there is no work: the linker puts it all into one place, so that it needs few pages,
 * and the same ones in each process. */
#define ST_IDLE_CODE __attribute__((hot))
