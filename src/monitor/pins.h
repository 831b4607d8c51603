/* pins: files that were allowed to be executed by their content, and that must not be written until the
 * kernel itself sees to that.
 *
 * The kernel forbids writing to a program from a moment after we have let it go on. In between, whoever wants
 * to open it for writing has to ask us, and is refused. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define ST_PINS 256

struct st_pins {
    struct st_pin {
        pid_t tid; /* who is about to execute it */
        uint64_t dev, ino;
    } list[ST_PINS];
    size_t n;
};

/* False: there are too many. */
bool st_pins_add(struct st_pins *p, pid_t tid, uint64_t dev, uint64_t ino);

/* Is somebody about to execute it, by our leave? */
bool st_pins_hold(struct st_pins *p, uint64_t dev, uint64_t ino);
