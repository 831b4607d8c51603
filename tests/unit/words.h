/* words: a command line as one string, for tables: split at single spaces; `''` is an empty word. */
#pragma once

#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 24

struct words {
    char text[512];
    char *argv[MAX_WORDS + 1];
    int argc;
};

static inline void split_words(struct words *w, const char *line)
{
    char *at = w->text;

    *w = (struct words){.argc = 0};
    memcpy(w->text, line, strlen(line) + 1);
    while (*at) {
        char *end = at + strcspn(at, " ");
        char *next = *end ? end + 1 : end;

        *end = '\0';
        w->argv[w->argc++] = strcmp(at, "''") == 0 ? end : at;
        at = next;
    }
}
