/* follow: waits until a trace grows, or goes on in a new file. */
#pragma once

#include "base/error.h"

struct st_follow {
    int fd;
};

/* file: as given to st_input_open(). */
int st_follow_begin(struct st_follow *f, const char *file, struct st_error *err);

/* Returns when something happened in the file's folder. */
int st_follow_wait(struct st_follow *f, struct st_error *err);
void st_follow_end(struct st_follow *f);
#define st_auto_follow __attribute__((cleanup(st_follow_end))) struct st_follow
