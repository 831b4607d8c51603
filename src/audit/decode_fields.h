/* decode_fields: members of a JSON object into the fields of a struct, by table. Private to src/audit. */
#pragma once

#include "audit/scan.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/event.h"

enum st_field_kind {
    ST_FIELD_STR,      /* struct st_str */
    ST_FIELD_BYTES,    /* struct st_str, from base64 */
    ST_FIELD_INT,      /* int64_t */
    ST_FIELD_COUNT,    /* uint64_t, as a number or a decimal string */
    ST_FIELD_PID,      /* pid_t */
    ST_FIELD_U16,      /* uint16_t */
    ST_FIELD_BOOL,     /* bool */
    ST_FIELD_TIME,     /* int64_t: microseconds since 1970 */
    ST_FIELD_ADDR,     /* struct st_addr */
    ST_FIELD_WORD,     /* an enumeration, by names */
    ST_FIELD_BYTE,     /* uint8_t, by names */
    ST_FIELD_HALF,     /* uint16_t, by names */
    ST_FIELD_ACCESS,   /* unsigned: a set of ST_ACCESS_ */
    ST_FIELD_ARGV,     /* struct st_str: words with a NUL behind each */
    ST_FIELD_STRINGS,  /* struct st_strings */
    ST_FIELD_ANCESTRY, /* struct st_process's two */
    ST_FIELD_PROCESS,  /* struct st_process */
    ST_FIELD_RAW       /* struct st_str: JSON as it stands */
};

struct st_field {
    const char *key;
    enum st_field_kind kind;
    size_t offset;
    int (*by_name)(struct st_str); /* of WORD, BYTE, HALF */
};

/* Fills base from object's members. Members that the table does not know are left alone; one of the wrong
 * type or out of range is an error. null counts as absent. */
int st_fields_read(struct st_arena *a, struct st_scan_value object, enum st_scan_rules rules,
                   const struct st_field *table, size_t n, void *base, struct st_error *err);

/* A string's value, with a NUL behind it that does not count. */
struct st_str st_field_text(struct st_arena *a, struct st_scan_value v);
