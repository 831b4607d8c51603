/* json: a span tree built from yajl's callbacks. Nodes lie in one array and name each other by index,
 * decoded strings in one buffer: two allocations that grow, whatever the document. */
#include "base/json.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define NONE UINT32_MAX

/* Offsets are 32 bits wide: a text is far shorter, and a document of thousands of nodes is made on the way of
 * every container's start. */
struct st_json_node {
    const struct st_json_doc *doc;
    uint32_t start, end;              /* span in the text */
    uint32_t str, str_len;            /* decoded string, in doc->strings */
    uint32_t key, key_len, key_start; /* member's key: in doc->strings (NONE: no key), and in the text */
    uint32_t parent, next, first, last, count;
    uint8_t type;
    bool boolean;
};

struct st_json_doc {
    const char *text;
    struct st_json_node *nodes;
    size_t n, cap;
    struct st_buf strings;
};

struct builder {
    struct st_json_doc *doc;
    const struct st_json_limits *limits;
    yajl_handle parser;
    uint32_t open; /* container that is being filled */
    unsigned depth;
    uint32_t key, key_len, key_start;
    const char *refusal; /* why a callback stopped the parse */
};

static uint32_t store_string(struct st_json_doc *doc, const unsigned char *s, size_t len)
{
    size_t at = doc->strings.len;

    /* With the NUL that the buffer keeps behind its end, and that now counts. */
    st_buf_add(&doc->strings, s, len);
    st_buf_reserve(&doc->strings, 1);
    doc->strings.data[++doc->strings.len] = '\0';
    return (uint32_t)at;
}

/* yajl tells where a token ended, not where it began: strings and numbers are walked back from
 * there, by the length that they have in the text. */
static struct st_json_node *add_node(struct builder *b, enum st_json_type type, size_t start, size_t end)
{
    struct st_json_doc *doc = b->doc;
    struct st_json_node *node;
    uint32_t index;

    if (doc->n >= b->limits->max_nodes) {
        b->refusal = "too many values";
        return NULL;
    }
    if (doc->n == doc->cap) {
        doc->cap *= 2;
        doc->nodes = st_xrealloc(doc->nodes, doc->cap * sizeof(*doc->nodes));
    }
    index = (uint32_t)doc->n++;
    node = &doc->nodes[index];
    *node = (struct st_json_node){.doc = doc,
                                  .start = (uint32_t)start,
                                  .end = (uint32_t)end,
                                  .key = b->key,
                                  .key_len = b->key_len,
                                  .key_start = b->key_start,
                                  .parent = b->open,
                                  .next = NONE,
                                  .first = NONE,
                                  .last = NONE,
                                  .type = (uint8_t)type};
    b->key = NONE;
    if (b->open != NONE) {
        struct st_json_node *parent = &doc->nodes[b->open];

        if (parent->last == NONE)
            parent->first = index;
        else
            doc->nodes[parent->last].next = index;
        parent->last = index;
        parent->count++;
    }
    return node;
}

static int add_scalar(struct builder *b, enum st_json_type type, size_t length)
{
    size_t end = yajl_get_bytes_consumed(b->parser);

    return add_node(b, type, end - length, end) != NULL;
}

static int on_null(void *ctx)
{
    return add_scalar(ctx, ST_JSON_NULL, 4);
}

static int on_boolean(void *ctx, int value)
{
    struct builder *b = ctx;

    if (!add_scalar(b, ST_JSON_BOOL, value ? 4 : 5))
        return 0;
    b->doc->nodes[b->doc->n - 1].boolean = value != 0;
    return 1;
}

static int on_number(void *ctx, const char *digits, size_t len)
{
    struct builder *b = ctx;

    (void)digits;
    return add_scalar(b, ST_JSON_NUMBER, len);
}

/* Start of the string literal whose closing quote ends at end. Escapes make the literal longer than
 * what it decodes to, so look for the first quote before that has an even run of backslashes. */
static size_t literal_start(const char *text, size_t end)
{
    size_t at = end - 1;

    for (;;) {
        size_t slashes = 0;

        do
            at--;
        while (text[at] != '"');
        while (at > slashes && text[at - 1 - slashes] == '\\')
            slashes++;
        if (slashes % 2 == 0)
            return at;
    }
}

static int on_string(void *ctx, const unsigned char *s, size_t len)
{
    struct builder *b = ctx;
    size_t end = yajl_get_bytes_consumed(b->parser);
    struct st_json_node *node = add_node(b, ST_JSON_STRING, literal_start(b->doc->text, end), end);

    if (!node)
        return 0;
    node->str = store_string(b->doc, s, len);
    node->str_len = (uint32_t)len;
    return 1;
}

static bool has_member(const struct builder *b, const unsigned char *key, size_t len)
{
    const struct st_json_doc *doc = b->doc;

    for (uint32_t i = doc->nodes[b->open].first; i != NONE; i = doc->nodes[i].next)
        if (doc->nodes[i].key_len == len && memcmp(doc->strings.data + doc->nodes[i].key, key, len) == 0)
            return true;
    return false;
}

static int on_key(void *ctx, const unsigned char *s, size_t len)
{
    struct builder *b = ctx;

    /* Two parsers that disagree on which of two equal keys counts are a way past us: refuse. The
     * search is linear, so a member limit keeps a hostile object from taking quadratic time. */
    if (b->doc->nodes[b->open].count >= 4096) {
        b->refusal = "too many members in one object";
        return 0;
    }
    if (has_member(b, s, len)) {
        b->refusal = "duplicate key";
        return 0;
    }
    b->key = store_string(b->doc, s, len);
    b->key_len = (uint32_t)len;
    b->key_start = (uint32_t)literal_start(b->doc->text, yajl_get_bytes_consumed(b->parser));
    return 1;
}

static int open_container(struct builder *b, enum st_json_type type)
{
    if (++b->depth > b->limits->max_depth) {
        b->refusal = "nested too deeply";
        return 0;
    }
    if (!add_scalar(b, type, 1))
        return 0;
    b->open = (uint32_t)b->doc->n - 1;
    return 1;
}

static int close_container(struct builder *b)
{
    struct st_json_node *node = &b->doc->nodes[b->open];

    node->end = (uint32_t)yajl_get_bytes_consumed(b->parser);
    b->open = node->parent;
    b->depth--;
    return 1;
}

static int on_start_map(void *ctx)
{
    return open_container(ctx, ST_JSON_OBJECT);
}

static int on_start_array(void *ctx)
{
    return open_container(ctx, ST_JSON_ARRAY);
}

static int on_end(void *ctx)
{
    return close_container(ctx);
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end,
};

void st_json_place(const char *text, size_t offset, unsigned *line, unsigned *column)
{
    *line = 1;
    *column = 1;
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            ++*line;
            *column = 1;
        } else {
            ++*column;
        }
    }
}

/* First line of yajl's own words, without its "parse error: " and the excerpt. */
static int describe_failure(const struct builder *b, const char *text, size_t len, struct st_error *err)
{
    size_t at = yajl_get_bytes_consumed(b->parser);
    const char *what = b->refusal;
    unsigned char *said = NULL;
    unsigned line, column;
    int rc;

    if (!what) {
        said = yajl_get_error(b->parser, 0, (const unsigned char *)text, len);
        what = said ? (const char *)said : "not valid JSON";
    }
    st_json_place(text, at < len ? at : len, &line, &column);
    rc = st_fail(err, EINVAL, "line %u, column %u: %.*s", line, column, (int)strcspn(what, "\n"), what);
    if (said)
        yajl_free_error(b->parser, said);
    return rc;
}

/* Room for what such a text usually holds: pages that stay untouched cost nothing, growing costs a copy. */
static struct st_json_doc *new_doc(const char *text, size_t len)
{
    struct st_json_doc *doc = st_xcalloc(1, sizeof(*doc));

    doc->text = text;
    doc->cap = len / 12 + 8;
    doc->nodes = st_xmalloc(doc->cap * sizeof(*doc->nodes));
    st_buf_reserve(&doc->strings, len);
    return doc;
}

int st_json_parse(const char *text, size_t len, const struct st_json_limits *limits, struct st_json_doc **out,
                  struct st_error *err)
{
    struct st_json_doc *doc;
    struct builder b = {.limits = limits, .open = NONE, .key = NONE};
    yajl_status status;
    int rc = 0;

    if (len >= NONE)
        return st_fail(err, EFBIG, "larger than 4 GiB");
    b.doc = doc = new_doc(text, len);
    b.parser = yajl_alloc(&callbacks, NULL, &b);
    if (!b.parser)
        abort();
    status = yajl_parse(b.parser, (const unsigned char *)text, len);
    if (status == yajl_status_ok) {
        /* yajl waits for more where a bare number ends the text; offsets are of no use then, and no
         * document of ours is a bare number. */
        if (doc->n == 0 || b.open != NONE)
            status = yajl_complete_parse(b.parser);
        if (status == yajl_status_ok && doc->n == 0)
            b.refusal = "empty document";
    }
    if (status != yajl_status_ok || b.refusal || doc->n == 0) {
        rc = describe_failure(&b, text, len, err);
        st_json_free(doc);
    } else {
        *out = doc;
    }
    yajl_free(b.parser);
    return rc;
}

void st_json_free(struct st_json_doc *doc)
{
    if (!doc)
        return;
    free(doc->nodes);
    st_buf_free(&doc->strings);
    free(doc);
}

void st_json_freep(struct st_json_doc **doc)
{
    st_json_free(*doc);
    *doc = NULL;
}

const struct st_json_node *st_json_root(const struct st_json_doc *doc)
{
    return doc->n ? &doc->nodes[0] : NULL;
}

enum st_json_type st_json_type(const struct st_json_node *node)
{
    return node ? (enum st_json_type)node->type : ST_JSON_NULL;
}

bool st_json_is(const struct st_json_node *node, enum st_json_type type)
{
    return node && node->type == type;
}

const struct st_json_node *st_json_first(const struct st_json_node *container)
{
    return container && container->first != NONE ? &container->doc->nodes[container->first] : NULL;
}

const struct st_json_node *st_json_next(const struct st_json_node *node)
{
    return node && node->next != NONE ? &node->doc->nodes[node->next] : NULL;
}

size_t st_json_count(const struct st_json_node *container)
{
    return container ? container->count : 0;
}

const struct st_json_node *st_json_get(const struct st_json_node *object, const char *key)
{
    size_t len = strlen(key);

    if (!st_json_is(object, ST_JSON_OBJECT))
        return NULL;
    st_json_each (member, object)
        if (member->key_len == len && memcmp(member->doc->strings.data + member->key, key, len) == 0)
            return member;
    return NULL;
}

const char *st_json_key(const struct st_json_node *member, size_t *len)
{
    if (!member || member->key == NONE)
        return NULL;
    if (len)
        *len = member->key_len;
    return member->doc->strings.data + member->key;
}

const char *st_json_str(const struct st_json_node *node, size_t *len)
{
    const char *s;

    if (!st_json_is(node, ST_JSON_STRING))
        return NULL;
    s = node->doc->strings.data + node->str;
    if (len)
        *len = node->str_len;
    else if (strlen(s) != node->str_len)
        return NULL;
    return s;
}

const char *st_json_number(const struct st_json_node *node, size_t *len)
{
    if (!st_json_is(node, ST_JSON_NUMBER))
        return NULL;
    *len = node->end - node->start;
    return node->doc->text + node->start;
}

bool st_json_int(const struct st_json_node *node, int64_t *out)
{
    size_t len, i = 0;
    const char *s = st_json_number(node, &len);
    bool negative;
    int64_t value = 0;

    if (!s)
        return false;
    negative = s[0] == '-';
    for (i = negative; i < len; i++) {
        int digit = s[i] - '0';

        if (digit < 0 || digit > 9)
            return false;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return false;
    }
    *out = value;
    return true;
}

bool st_json_true(const struct st_json_node *node)
{
    return st_json_is(node, ST_JSON_BOOL) && node->boolean;
}

size_t st_json_outer_start(const struct st_json_node *node)
{
    return node->key == NONE ? node->start : node->key_start;
}

const struct st_json_node *st_json_parent(const struct st_json_node *node)
{
    return node->parent == NONE ? NULL : &node->doc->nodes[node->parent];
}

void st_json_span(const struct st_json_node *node, size_t *start, size_t *end)
{
    *start = node->start;
    *end = node->end;
}
