/* pattern: what may stand in `paths` and `host`, taken apart. Private to src/policy.
 *
 * Path patterns: absolute; `*` and `?` do not cross a slash, `**` does; a backslash takes the meaning from
 * `*`, `?` and itself, and `\xHH` is one byte (names need not be UTF-8). Paths are in normal form when they
 * are compared, so a pattern that is not in normal form could never match and is refused. */
#pragma once

#include "base/arena.h"
#include "model/str.h"

#include <stdbool.h>
#include <stddef.h>

struct pattern_fault {
    char what[160];
    char right[240];
};

enum part_kind {
    PART_LITERAL, /* the bytes of one component */
    PART_GLOB,    /* the bytes of one component in which GLOB_STAR and GLOB_ONE stand for `*` and `?` */
    PART_DEEP     /* `**`: any number of components, also none */
};

/* Bytes that no component can have. */
#define GLOB_STAR '/'
#define GLOB_ONE '\0'

struct path_part {
    enum part_kind kind;
    const char *bytes;
    size_t len;
};

struct path_pattern {
    struct path_part *parts;
    size_t n;
};

/* `**` inside a component makes more than one pattern of it. */
#define PATTERN_VARIANTS 8

struct path_patterns {
    struct path_pattern variants[PATTERN_VARIANTS];
    size_t n;
};

/* False: fault says why. */
bool st_path_pattern_parse(struct st_arena *arena, const char *text, struct path_patterns *out,
                           struct pattern_fault *fault);

/* Does one component match one PART_GLOB? Linear in pattern times text at worst. */
bool st_glob_component(const char *glob, size_t glob_len, const char *text, size_t len);

/* Does a text that is no path match? `*` is any run of bytes, `?` one character. fold: upper and lower case
 * alike. */
bool st_glob_text(const char *glob, struct st_str text, bool fold);

/* The canonical form of a host pattern (`*.`, `**.` in front allowed, `**` alone: any name). */
bool st_host_pattern_parse(struct st_arena *arena, const char *text, const char **out,
                           struct pattern_fault *fault);
