/* footing: one mount of a container, by what can happen to the files in it. */
#pragma once

#include <stdbool.h>

struct st_footing {
    const char *point; /* as the container sees it */
    int id;            /* of the mount */
    bool writable;     /* for somebody in the container */
    bool own;          /* nobody outside of it changes what is there */
    bool silent;       /* a file system without permission events: reading from it is never asked about */
};
