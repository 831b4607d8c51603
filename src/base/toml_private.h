/* toml_private: what the two halves of the reader share. Private to src/base. */
#pragma once

#include "base/buf.h"
#include "base/toml.h"

struct cursor {
    const char *text;
    size_t len, at;
};

struct reading {
    struct cursor c;
    struct st_toml *doc;
    struct st_buf table; /* path of the one that keys are added to */
};

/* toml.c */
int st_toml_fault(const struct cursor *c, struct st_error *err, const char *what);
void st_toml_blanks(struct cursor *c);
int st_toml_rest_of_line(struct cursor *c, struct st_error *err);
int st_toml_key(struct cursor *c, struct st_buf *path, struct st_error *err); /* appended to path */
int st_toml_add(struct reading *r, const struct st_toml_item *like, const struct st_buf *path,
                struct st_error *err);

/* toml_value.c */
bool st_toml_is_control(char c); /* other than a tab */
bool st_toml_is_utf8(const char *text, size_t len);

/* KEY = VALUE below the table of this path; each key of an inline table is an item too. */
int st_toml_pair(struct reading *r, const struct st_buf *table, unsigned depth, struct st_error *err);

/* A string at the cursor, decoded; several lines only where that is allowed. */
int st_toml_text(struct cursor *c, bool lines, struct st_buf *out, struct st_error *err);
