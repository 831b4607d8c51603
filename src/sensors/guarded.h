/* guarded: objects that a rule refuses, known by device and inode as well as by name, so that a hard link, a
 * rename or a bind mount of one changes nothing.
 *
 * Collected once, before any mark is put (walking a marked directory would wait for our own answer). Each
 * object is kept open, so that its inode number can't pass to an innocent file. What is made later is known
 * by its name only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ST_GUARDED_MAX 1024

struct st_guarded;

struct st_guarded *st_guarded_new(void);
void st_guarded_free(struct st_guarded *g);

struct st_guarded_pattern {
    const char *text; /* of a policy; components are text, `*` and `?`, or a last `**` */
    bool whole;       /* false: it can't be enumerated (it has something else), or the limit was reached */
};

/* Everything below root_fd (the container's root directory) that the patterns name, in one walk: a runtime
 * waits for it, and most rules are about the same few directories. */
void st_guarded_collect(struct st_guarded *g, int root_fd, struct st_guarded_pattern *patterns, size_t n);

/* The name under which the object is guarded; NULL: it is not. */
const char *st_guarded_find(const struct st_guarded *g, dev_t dev, ino_t ino);

size_t st_guarded_count(const struct st_guarded *g);

/* Each object, by an O_PATH fd that stays the collection's. */
void st_guarded_each(const struct st_guarded *g, void (*take)(void *ctx, int fd), void *ctx);

void st_guarded_freep(struct st_guarded **g);
#define st_auto_guarded __attribute__((cleanup(st_guarded_freep))) struct st_guarded *
