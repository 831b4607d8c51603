/* change: what a notified call is about to do, as the facts of an event; or the error that the kernel is
 * going to give it anyway; or that it concerns no file with a name. */
#pragma once

#include "model/event.h"
#include "sensors/request.h"
#include "sensors/resolve.h"

enum st_change_is {
    ST_CHANGE_EVENT,   /* fs says what */
    ST_CHANGE_NOTHING, /* no file that has a name: a pipe, memory, a socket without one */
    ST_CHANGE_ERROR,   /* the call can only fail, with this error */
    ST_CHANGE_UNKNOWN  /* what it would do can't be found out: an event without a path */
};

struct st_change {
    enum st_change_is is;
    int error;
    struct st_ev_filesystem fs; /* paths are those of object and target */
};

/* object and target are filled in, for the caller to close. */
void st_change_find(const struct st_request *request, const struct st_resolver *who,
                    struct st_resolved *object, struct st_resolved *target, struct st_change *out);
