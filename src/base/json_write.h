/* json_write: canonical JSON (RFC 8785 within our number range) into a buffer, straight, no tree.
 *
 * The caller opens objects and names members in ascending order; the writer aborts where the order is
 * broken, so that a record that is not canonical can't be written. Strings are raw bytes: what is not
 * valid UTF-8 becomes U+FFFD, control characters are escaped. Numbers are integers of at most 53 bits. */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ST_JW_DEPTH 24
#define ST_JSON_INT_MAX ((int64_t)1 << 53)

struct st_jw {
    struct st_buf *out;
    const char *last_key[ST_JW_DEPTH]; /* of each open object; keys must outlive their object */
    bool filled[ST_JW_DEPTH];          /* has the open container a member already? */
    unsigned depth;
    bool after_key;
};

void st_jw_init(struct st_jw *w, struct st_buf *out);
void st_jw_object(struct st_jw *w);
void st_jw_array(struct st_jw *w);
void st_jw_end(struct st_jw *w, char bracket); /* '}' or ']' */
void st_jw_key(struct st_jw *w, const char *key);
void st_jw_str(struct st_jw *w, const char *s);
void st_jw_strn(struct st_jw *w, const char *s, size_t n);
void st_jw_int(struct st_jw *w, int64_t n); /* clamped to 53 bits */
void st_jw_bool(struct st_jw *w, bool value);
void st_jw_null(struct st_jw *w);
void st_jw_raw(struct st_jw *w, const char *canonical, size_t n); /* already canonical */

/* Members in one call; st_jw_kstr with NULL writes nothing. */
void st_jw_kstr(struct st_jw *w, const char *key, const char *s);
void st_jw_kint(struct st_jw *w, const char *key, int64_t n);
void st_jw_kbool(struct st_jw *w, const char *key, bool value);

/* A list of strings: so many, or as far as a NULL. */
void st_jw_kstrs(struct st_jw *w, const char *key, const char *const *list, size_t n);
#define ST_JW_ALL SIZE_MAX

/* One string, quoted and escaped, appended to out. */
void st_json_quote(struct st_buf *out, const char *s, size_t n);

/* Length of the valid UTF-8 sequence at s (1 to 4; no surrogates, no overlong forms), 0 if invalid. */
size_t st_utf8_len(const unsigned char *s, size_t n);
bool st_utf8_valid(const char *s, size_t n);
