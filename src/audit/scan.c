/* scan: see scan.h. Strings are looked at sixteen bytes at a time, where the processor can. */
#include "audit/scan.h"

#include "audit/scan_text.h"
#include "base/json_write.h"

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Behind the integer at p; NULL: not canonical, or more than 53 bits. */
static const char *integer_end(const char *p, const char *end)
{
    bool negative = p < end && *p == '-';
    const char *first = p + negative;
    uint64_t n = 0;

    for (p = first; p < end && is_digit(*p); p++) {
        if (p - first >= 16)
            return NULL;
        n = n * 10 + (uint64_t)(*p - '0');
    }
    if (p == first || (*first == '0' && (p - first > 1 || negative)))
        return NULL;
    return n < (uint64_t)ST_JSON_INT_MAX ? p : NULL;
}

/* Behind any number that JSON knows. */
static const char *number_end(const char *p, const char *end)
{
    const char *first = p += p < end && *p == '-';

    while (p < end && is_digit(*p))
        p++;
    if (p == first || (*first == '0' && p - first > 1))
        return NULL;
    if (p < end && *p == '.') {
        first = ++p;
        while (p < end && is_digit(*p))
            p++;
        if (p == first)
            return NULL;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        first = p;
        while (p < end && is_digit(*p))
            p++;
        if (p == first)
            return NULL;
    }
    return p;
}

static const char *value_end(const char *p, const char *end, enum st_scan_rules rules, unsigned depth);

static const char *array_end(const char *p, const char *end, enum st_scan_rules rules, unsigned depth)
{
    if (p < end && *p == ']')
        return p + 1;
    for (;;) {
        p = value_end(p, end, rules, depth);
        if (!p || p >= end)
            return NULL;
        if (*p == ']')
            return p + 1;
        if (*p++ != ',')
            return NULL;
    }
}

static const char *object_end(const char *p, const char *end, enum st_scan_rules rules, unsigned depth)
{
    struct st_scan_value key, last = {.type = ST_SCAN_BAD};

    if (p < end && *p == '}')
        return p + 1;
    for (;;) {
        const char *close;

        if (p >= end || *p != '"')
            return NULL;
        close = st_scan_string_end(p + 1, end, &key.plain);
        if (!close || end - close < 2 || close[1] != ':')
            return NULL;
        key.type = ST_SCAN_STRING;
        key.text = (struct st_str){.p = p + 1, .len = (size_t)(close - p - 1)};
        if (last.type == ST_SCAN_STRING && !st_scan_ascending(&last, &key, rules))
            return NULL;
        last = key;
        p = value_end(close + 2, end, rules, depth);
        if (!p || p >= end)
            return NULL;
        if (*p == '}')
            return p + 1;
        if (*p++ != ',')
            return NULL;
    }
}

static const char *word_end(const char *p, const char *end, const char *word, size_t len)
{
    return (size_t)(end - p) >= len && memcmp(p, word, len) == 0 ? p + len : NULL;
}

/* Behind the value at p; NULL where there is no canonical one. depth: how many containers may yet open. */
static const char *value_end(const char *p, const char *end, enum st_scan_rules rules, unsigned depth)
{
    bool plain;

    if (p >= end)
        return NULL;
    switch (*p) {
    case '"': p = st_scan_string_end(p + 1, end, &plain); return p ? p + 1 : NULL;
    case '{': return depth ? object_end(p + 1, end, rules, depth - 1) : NULL;
    case '[': return depth ? array_end(p + 1, end, rules, depth - 1) : NULL;
    case 't': return word_end(p, end, "true", 4);
    case 'f': return word_end(p, end, "false", 5);
    case 'n': return word_end(p, end, "null", 4);
    default: return rules == ST_SCAN_RFC8785 ? integer_end(p, end) : number_end(p, end);
    }
}

bool st_scan_canonical(const char *text, size_t len, enum st_scan_rules rules)
{
    return value_end(text, text + len, rules, ST_SCAN_DEPTH) == text + len;
}

static enum st_scan_type type_at(char c)
{
    switch (c) {
    case '{': return ST_SCAN_OBJECT;
    case '[': return ST_SCAN_ARRAY;
    case 't': return ST_SCAN_TRUE;
    case 'f': return ST_SCAN_FALSE;
    case 'n': return ST_SCAN_NULL;
    default: return ST_SCAN_NUMBER;
    }
}

void st_scan_value(struct st_scanner *s, struct st_scan_value *out)
{
    const char *start = s->p, *stop = NULL;

    out->type = ST_SCAN_BAD;
    if (!start)
        return;
    if (start < s->end && *start == '"') {
        stop = st_scan_string_end(++start, s->end, &out->plain);
        s->p = stop ? stop + 1 : NULL;
        out->type = stop ? ST_SCAN_STRING : ST_SCAN_BAD;
    } else {
        stop = s->p = value_end(start, s->end, s->rules, ST_SCAN_DEPTH);
        out->type = stop ? type_at(*start) : ST_SCAN_BAD;
        out->plain = false;
    }
    out->text.p = start;
    out->text.len = stop ? (size_t)(stop - start) : 0;
}

void st_scan_members(struct st_scan_members *m, struct st_scan_value container, enum st_scan_rules rules)
{
    bool walks =
        (container.type == ST_SCAN_OBJECT || container.type == ST_SCAN_ARRAY) && container.text.len > 2;

    *m = (struct st_scan_members){
        .key = {.type = container.type == ST_SCAN_ARRAY ? ST_SCAN_NULL : ST_SCAN_STRING}};
    m->inner = (struct st_scanner){.p = walks ? container.text.p + 1 : NULL,
                                   .end = walks ? container.text.p + container.text.len - 1 : NULL,
                                   .rules = rules};
}

bool st_scan_next(struct st_scan_members *m)
{
    if (!m->inner.p || m->inner.p >= m->inner.end)
        return false;
    if (*m->inner.p == ',')
        m->inner.p++;
    if (m->key.type == ST_SCAN_STRING) {
        st_scan_value(&m->inner, &m->key);
        if (m->key.type != ST_SCAN_STRING || m->inner.p >= m->inner.end || *m->inner.p++ != ':')
            return false;
    }
    st_scan_value(&m->inner, &m->value);
    return m->value.type != ST_SCAN_BAD;
}

bool st_scan_is(struct st_scan_value v, const char *plain_text)
{
    size_t len = strlen(plain_text);

    return v.type == ST_SCAN_STRING && v.text.len == len && memcmp(v.text.p, plain_text, len) == 0;
}

struct st_scan_value st_scan_get(struct st_scan_value object, const char *key, enum st_scan_rules rules)
{
    struct st_scan_members m;

    if (object.type == ST_SCAN_OBJECT)
        for (st_scan_members(&m, object, rules); st_scan_next(&m);)
            if (st_scan_is(m.key, key))
                return m.value;
    return (struct st_scan_value){.type = ST_SCAN_BAD};
}

bool st_scan_int(struct st_scan_value v, int64_t *out)
{
    const char *p = v.text.p, *end;
    bool negative;
    int64_t n = 0;

    if (v.type != ST_SCAN_NUMBER)
        return false;
    end = p + v.text.len;
    if (integer_end(p, end) != end)
        return false;
    negative = *p == '-';
    for (p += negative; p < end; p++)
        n = n * 10 + (*p - '0');
    *out = negative ? -n : n;
    return true;
}

size_t st_scan_unescape(struct st_scan_value v, char *out)
{
    const char *p = v.text.p, *end = p + v.text.len;
    char *q = out;

    while (p < end) {
        unsigned char c = 0;
        size_t len = *p == '\\' ? st_scan_escape(p, end, &c) : 0;

        *q++ = len ? (char)c : *p;
        p += len ? len : 1;
    }
    return (size_t)(q - out);
}
