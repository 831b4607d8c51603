/* decode_fields: see decode_fields.h. One small function a kind, and a table of them. */
#include "audit/decode_fields.h"

#include "base/base64.h"
#include "base/clock.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

struct input {
    struct st_arena *arena;
    struct st_scan_value v;
    enum st_scan_rules rules;
    const struct st_field *field;
};

typedef bool take_fn(const struct input *in, void *at);

struct st_str st_field_text(struct st_arena *a, struct st_scan_value v)
{
    char *out = st_arena_alloc(a, v.text.len + 1);
    size_t len = st_scan_unescape(v, out);

    out[len] = '\0';
    return (struct st_str){.p = out, .len = len};
}

static bool take_str(const struct input *in, void *at)
{
    if (in->v.type != ST_SCAN_STRING)
        return false;
    *(struct st_str *)at = st_field_text(in->arena, in->v);
    return true;
}

static bool take_bytes(const struct input *in, void *at)
{
    char *out = st_arena_alloc(in->arena, in->v.text.len + 1);
    ssize_t len = in->v.type == ST_SCAN_STRING
                      ? st_base64_decode(in->v.text.p, in->v.text.len, out, in->v.text.len)
                      : -1;

    if (len < 0)
        return false;
    out[len] = '\0';
    *(struct st_str *)at = (struct st_str){.p = out, .len = (size_t)len};
    return true;
}

static bool take_int(const struct input *in, void *at)
{
    return st_scan_int(in->v, at);
}

static bool take_count(const struct input *in, void *at)
{
    int64_t n;
    uint64_t large = 0;

    if (st_scan_int(in->v, &n)) {
        *(uint64_t *)at = (uint64_t)n;
        return n >= 0;
    }
    if (in->v.type != ST_SCAN_STRING || in->v.text.len == 0 || in->v.text.p[0] == '0')
        return false;
    for (size_t i = 0; i < in->v.text.len; i++) {
        char c = in->v.text.p[i];

        if (c < '0' || c > '9' || __builtin_mul_overflow(large, 10, &large) ||
            __builtin_add_overflow(large, (uint64_t)(c - '0'), &large))
            return false;
    }
    *(uint64_t *)at = large;
    return true;
}

static bool take_pid(const struct input *in, void *at)
{
    int64_t n;

    if (!st_scan_int(in->v, &n) || n < 0 || n > INT32_MAX)
        return false;
    *(pid_t *)at = (pid_t)n;
    return true;
}

static bool take_u16(const struct input *in, void *at)
{
    int64_t n;

    if (!st_scan_int(in->v, &n) || n < 0 || n > UINT16_MAX)
        return false;
    *(uint16_t *)at = (uint16_t)n;
    return true;
}

static bool take_bool(const struct input *in, void *at)
{
    *(bool *)at = in->v.type == ST_SCAN_TRUE;
    return in->v.type == ST_SCAN_TRUE || in->v.type == ST_SCAN_FALSE;
}

static bool take_time(const struct input *in, void *at)
{
    return in->v.type == ST_SCAN_STRING && in->v.plain && st_parse_rfc3339(in->v.text.p, in->v.text.len, at);
}

static bool take_addr(const struct input *in, void *at)
{
    return in->v.type == ST_SCAN_STRING && in->v.plain && st_addr_parse(in->v.text, at);
}

static int by_name(const struct input *in)
{
    return in->v.type == ST_SCAN_STRING ? in->field->by_name(in->v.text) : -1;
}

static bool take_word(const struct input *in, void *at)
{
    int n = by_name(in);

    *(int *)at = n < 0 ? 0 : n;
    return n >= 0;
}

static bool take_byte(const struct input *in, void *at)
{
    int n = by_name(in);

    *(uint8_t *)at = (uint8_t)n;
    return n >= 0;
}

static bool take_half(const struct input *in, void *at)
{
    int n = by_name(in);

    *(uint16_t *)at = (uint16_t)n;
    return n >= 0;
}

static bool take_access(const struct input *in, void *at)
{
    struct st_scan_members m;
    unsigned *set = at;

    if (in->v.type != ST_SCAN_ARRAY)
        return false;
    for (st_scan_members(&m, in->v, in->rules); st_scan_next(&m);) {
        int bit = m.value.type == ST_SCAN_STRING ? st_access_by_name(m.value.text) : -1;

        if (bit < 0)
            return false;
        *set |= (unsigned)bit;
    }
    return true;
}

static bool take_argv(const struct input *in, void *at)
{
    char *out = st_arena_alloc(in->arena, in->v.text.len), *p = out;
    struct st_scan_members m;

    if (in->v.type != ST_SCAN_ARRAY)
        return false;
    for (st_scan_members(&m, in->v, in->rules); st_scan_next(&m);) {
        if (m.value.type != ST_SCAN_STRING)
            return false;
        p += st_scan_unescape(m.value, p);
        *p++ = '\0';
    }
    *(struct st_str *)at = (struct st_str){.p = out, .len = (size_t)(p - out)};
    return true;
}

static size_t count_items(const struct input *in)
{
    struct st_scan_members m;
    size_t n = 0;

    for (st_scan_members(&m, in->v, in->rules); st_scan_next(&m);)
        n++;
    return n;
}

/* Into st_ev_dns, which has the array and its length side by side. */
static bool take_strings(const struct input *in, void *at)
{
    struct st_ev_dns *dns = (struct st_ev_dns *)(void *)((char *)at - offsetof(struct st_ev_dns, answers));
    size_t n = in->v.type == ST_SCAN_ARRAY ? count_items(in) : 0;
    struct st_str *items = st_arena_alloc(in->arena, n * sizeof(*items));
    struct st_scan_members m;

    if (in->v.type != ST_SCAN_ARRAY)
        return false;
    dns->answers = items;
    for (st_scan_members(&m, in->v, in->rules); st_scan_next(&m);) {
        if (m.value.type != ST_SCAN_STRING)
            return false;
        *items++ = st_field_text(in->arena, m.value);
    }
    dns->n_answers = n;
    return true;
}

static const struct st_field ancestor_fields[] = {
    {"comm", ST_FIELD_STR, offsetof(struct st_ancestor, comm), NULL},
    {"comm_b64", ST_FIELD_BYTES, offsetof(struct st_ancestor, comm), NULL},
    {"exe", ST_FIELD_STR, offsetof(struct st_ancestor, exe), NULL},
    {"exe_b64", ST_FIELD_BYTES, offsetof(struct st_ancestor, exe), NULL},
    {"pid", ST_FIELD_PID, offsetof(struct st_ancestor, pid), NULL},
};

static bool take_ancestry(const struct input *in, void *at)
{
    struct st_process *proc =
        (struct st_process *)(void *)((char *)at - offsetof(struct st_process, ancestry));
    size_t n = in->v.type == ST_SCAN_ARRAY ? count_items(in) : 0;
    struct st_ancestor *items = st_arena_alloc(in->arena, n * sizeof(*items));
    struct st_scan_members m;

    if (in->v.type != ST_SCAN_ARRAY)
        return false;
    proc->ancestry = items;
    for (st_scan_members(&m, in->v, in->rules); st_scan_next(&m); items++) {
        *items = (struct st_ancestor){0};
        if (st_fields_read(in->arena, m.value, in->rules, ancestor_fields,
                           sizeof(ancestor_fields) / sizeof(ancestor_fields[0]), items, NULL) < 0)
            return false;
    }
    proc->n_ancestry = n;
    return true;
}

static const struct st_field process_fields[] = {
    {"ancestry", ST_FIELD_ANCESTRY, offsetof(struct st_process, ancestry), NULL},
    {"argv", ST_FIELD_ARGV, offsetof(struct st_process, argv), NULL},
    {"argv_b64", ST_FIELD_BYTES, offsetof(struct st_process, argv), NULL},
    {"comm", ST_FIELD_STR, offsetof(struct st_process, comm), NULL},
    {"comm_b64", ST_FIELD_BYTES, offsetof(struct st_process, comm), NULL},
    {"container_pid", ST_FIELD_PID, offsetof(struct st_process, container_pid), NULL},
    {"cwd", ST_FIELD_STR, offsetof(struct st_process, cwd), NULL},
    {"cwd_b64", ST_FIELD_BYTES, offsetof(struct st_process, cwd), NULL},
    {"exe", ST_FIELD_STR, offsetof(struct st_process, exe), NULL},
    {"exe_b64", ST_FIELD_BYTES, offsetof(struct st_process, exe), NULL},
    {"gid", ST_FIELD_INT, offsetof(struct st_process, gid), NULL},
    {"incomplete", ST_FIELD_BOOL, offsetof(struct st_process, incomplete), NULL},
    {"pid", ST_FIELD_PID, offsetof(struct st_process, pid), NULL},
    {"uid", ST_FIELD_INT, offsetof(struct st_process, uid), NULL},
};

static bool take_process(const struct input *in, void *at)
{
    struct st_process *proc = at;

    *proc = (struct st_process){.present = true, .uid = ST_UNKNOWN, .gid = ST_UNKNOWN};
    return st_fields_read(in->arena, in->v, in->rules, process_fields,
                          sizeof(process_fields) / sizeof(process_fields[0]), proc, NULL) == 0;
}

static bool take_raw(const struct input *in, void *at)
{
    *(struct st_str *)at = in->v.text;
    return in->v.type == ST_SCAN_OBJECT || in->v.type == ST_SCAN_ARRAY;
}

static take_fn *const takers[] = {
    [ST_FIELD_STR] = take_str,           [ST_FIELD_BYTES] = take_bytes,     [ST_FIELD_INT] = take_int,
    [ST_FIELD_COUNT] = take_count,       [ST_FIELD_PID] = take_pid,         [ST_FIELD_U16] = take_u16,
    [ST_FIELD_BOOL] = take_bool,         [ST_FIELD_TIME] = take_time,       [ST_FIELD_ADDR] = take_addr,
    [ST_FIELD_WORD] = take_word,         [ST_FIELD_BYTE] = take_byte,       [ST_FIELD_HALF] = take_half,
    [ST_FIELD_ACCESS] = take_access,     [ST_FIELD_ARGV] = take_argv,       [ST_FIELD_STRINGS] = take_strings,
    [ST_FIELD_ANCESTRY] = take_ancestry, [ST_FIELD_PROCESS] = take_process, [ST_FIELD_RAW] = take_raw,
};

int st_fields_read(struct st_arena *a, struct st_scan_value object, enum st_scan_rules rules,
                   const struct st_field *table, size_t n, void *base, struct st_error *err)
{
    struct st_scan_members m;

    if (object.type != ST_SCAN_OBJECT)
        return st_fail(err, EINVAL, "not an object");
    for (st_scan_members(&m, object, rules); st_scan_next(&m);) {
        const struct st_field *field = NULL;
        struct input in = {.arena = a, .v = m.value, .rules = rules};

        for (size_t i = 0; i < n && !field; i++)
            if (st_scan_is(m.key, table[i].key))
                field = &table[i];
        if (!field || m.value.type == ST_SCAN_NULL)
            continue;
        in.field = field;
        if (!takers[field->kind](&in, (char *)base + field->offset))
            return st_fail(err, EINVAL, "%s: not what it should be: %.*s", field->key,
                           (int)(m.value.text.len < 80 ? m.value.text.len : 80), m.value.text.p);
    }
    return 0;
}
