/* mountinfo: /proc/PID/mountinfo, read once, one struct a line. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct st_mount {
    int id, parent;
    unsigned major, minor;
    const char *root;    /* of the mount within its file system */
    const char *point;   /* where, as the process sees it */
    const char *options; /* of the mount: "ro,nosuid" */
    const char *type;
    const char *source;
    const char *super; /* options of the file system */
};

struct st_mounts {
    struct st_buf text;    /* owns the strings */
    struct st_mount *list; /* in pages of its own: a table is of use for a moment */
    size_t n, room;
};

/* pid 0: our own. */
int st_mounts_read(pid_t pid, struct st_mounts *out, struct st_error *err);
/* From a text of that form, which is copied. Lines that are not of it are left out. */
void st_mounts_parse(const char *text, size_t len, struct st_mounts *out);
void st_mounts_free(struct st_mounts *m);
#define st_auto_mounts __attribute__((cleanup(st_mounts_free))) struct st_mounts

/* Those of a process and our own, of the same time. */
struct st_mount_tables {
    struct st_mounts theirs, ours;
};

int st_mount_tables_read(pid_t pid, struct st_mount_tables *out, struct st_error *err);
void st_mount_tables_free(struct st_mount_tables *t);
#define st_auto_mount_tables __attribute__((cleanup(st_mount_tables_free))) struct st_mount_tables

/* Is word one of the comma-separated options? */
bool st_option_has(const char *options, const char *word);

/* The mount that covers path: the last one whose point is path or above it; NULL: none. */
const struct st_mount *st_mounts_cover(const struct st_mounts *m, const char *path);
