/* http_static: the files of the page, which are in the program (src/desk/web, embedded by embed.sh). */
#pragma once

#include <stddef.h>

struct st_web_file {
    const char *name; /* without a folder */
    const unsigned char *start, *end;
};

/* Ends in one without a name. Made by embed.sh. */
extern const struct st_web_file st_web_files[];
