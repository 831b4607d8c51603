/* yaml: see yaml.h. Nodes and strings come from one arena that is freed at once. */
#include "base/yaml.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/yaml_fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct st_yaml_doc {
    struct st_arena arena;
    struct st_yaml_node *root;
    size_t nodes;
};

struct reader {
    struct st_yaml_doc *doc;
    const struct st_yaml_limits *limits;
    const struct st_yaml_listener *listener;
    bool all;    /* faults that leave the rest readable do not end the reading */
    bool broken; /* there was one */
    bool done;
    struct st_yaml_node *open[64]; /* containers being filled */
    unsigned depth;
    const char *key; /* read, its value not yet */
    struct st_yaml_place key_at;
};

static struct st_yaml_place place_of(const yaml_mark_t *mark)
{
    return (struct st_yaml_place){.line = (unsigned)mark->line + 1, .column = (unsigned)mark->column + 1};
}

static int tell(struct reader *r, struct st_yaml_place at, const char *what, const char *right)
{
    r->broken = true;
    r->listener->fault(r->listener->ctx, at, what, right);
    return -EINVAL;
}

/* Nothing can come of the file. */
static int refuse(struct reader *r, struct st_yaml_place at, const char *what)
{
    return tell(r, at, what, NULL);
}

/* It is wrong, but what follows can be read: 0 where all is to be said. */
static int object(struct reader *r, struct st_yaml_place at, const char *what, const char *right)
{
    int rc = tell(r, at, what, right);

    return r->all ? 0 : rc;
}

static struct st_yaml_node *open_container(const struct reader *r)
{
    return r->depth ? r->open[r->depth - 1] : NULL;
}

static int add_node(struct reader *r, enum st_yaml_type type, struct st_yaml_place at,
                    struct st_yaml_node **out)
{
    struct st_yaml_node *parent = open_container(r), *node;

    if (++r->doc->nodes > r->limits->max_nodes)
        return refuse(r, at, "too many values in one file");
    node = st_arena_alloc(&r->doc->arena, sizeof(*node));
    *node = (struct st_yaml_node){.type = type, .at = at, .key = r->key, .key_at = r->key_at};
    r->key = NULL;
    if (!parent) {
        r->doc->root = node;
    } else {
        if (parent->last)
            parent->last->next = node;
        else
            parent->first = node;
        parent->last = node;
        parent->count++;
    }
    *out = node;
    return 0;
}

static bool wants_key(const struct reader *r)
{
    const struct st_yaml_node *parent = open_container(r);

    return parent && parent->type == ST_YAML_MAPPING && !r->key;
}

static int take_key(struct reader *r, const char *text, size_t len, struct st_yaml_place at)
{
    struct st_yaml_node *mapping = open_container(r);
    const struct st_yaml_node *first;
    char what[128], right[96];

    /* Linear search: a mapping of ours has a dozen keys, a hostile one must not cost quadratic time. */
    if (mapping->count >= 1024)
        return refuse(r, at, "too many keys in one mapping");
    r->key = st_arena_strndup(&r->doc->arena, text, len);
    r->key_at = at;
    first = st_yaml_get(mapping, r->key);
    if (!first)
        return 0;
    snprintf(what, sizeof(what), "duplicate key `%.100s`", r->key);
    snprintf(right, sizeof(right), "it stands at %u:%u already; take one of them out", first->key_at.line,
             first->key_at.column);
    return object(r, at, what, right);
}

/* An anchor or a tag: the value itself can be read. */
static int check_plain(struct reader *r, struct st_yaml_place at, const void *anchor, const void *tag)
{
    int rc = anchor ? object(r, at, "anchors and aliases are not supported", "write the value out") : 0;

    return rc < 0 || !tag ? rc : object(r, at, "tags (!…) are not supported", "write the value without one");
}

static int on_scalar(struct reader *r, const yaml_event_t *event, struct st_yaml_place at)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    struct st_yaml_node *node;
    int rc;

    rc = check_plain(r, at, event->data.scalar.anchor, event->data.scalar.tag);
    if (rc < 0)
        return rc;
    if (len > r->limits->max_scalar) {
        char right[64];

        snprintf(right, sizeof(right), "write at most %zu bytes", r->limits->max_scalar);
        return tell(r, at, "value too long", right);
    }
    if (memchr(text, '\0', len))
        return refuse(r, at, "a NUL character is not allowed here");
    if (wants_key(r))
        return take_key(r, text, len, at);
    rc = add_node(r, ST_YAML_SCALAR, at, &node);
    if (rc < 0)
        return rc;
    node->value = st_arena_strndup(&r->doc->arena, text, len);
    node->len = len;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return 0;
}

static int on_container(struct reader *r, enum st_yaml_type type, const yaml_char_t *anchor,
                        const yaml_char_t *tag, struct st_yaml_place at)
{
    struct st_yaml_node *node;
    int rc;

    rc = check_plain(r, at, anchor, tag);
    if (rc < 0)
        return rc;
    if (wants_key(r))
        return refuse(r, at, "a key must be plain text");
    if (r->depth >= r->limits->max_depth || r->depth >= sizeof(r->open) / sizeof(r->open[0]))
        return refuse(r, at, "nested too deeply");
    rc = add_node(r, type, at, &node);
    if (rc < 0)
        return rc;
    r->open[r->depth++] = node;
    return 0;
}

/* Something stands in its place, so that what is around it can be looked at. */
static int on_alias(struct reader *r, struct st_yaml_place at)
{
    struct st_yaml_node *node;
    int rc = check_plain(r, at, r, NULL);

    if (rc < 0)
        return rc;
    if (wants_key(r))
        return refuse(r, at, "a key must be plain text");
    rc = add_node(r, ST_YAML_SCALAR, at, &node);
    if (rc < 0)
        return rc;
    node->value = "";
    node->faulty = true;
    return 0;
}

static int on_document(struct reader *r, struct st_yaml_place at)
{
    if (!r->doc->root)
        return 0;
    r->done = true;
    return object(r, at, "more than one document in the file", "take out the `---` and what follows");
}

static int on_event(struct reader *r, const yaml_event_t *event)
{
    struct st_yaml_place at = place_of(&event->start_mark);

    switch (event->type) {
    case YAML_SCALAR_EVENT: return on_scalar(r, event, at);
    case YAML_SEQUENCE_START_EVENT:
        return on_container(r, ST_YAML_SEQUENCE, event->data.sequence_start.anchor,
                            event->data.sequence_start.tag, at);
    case YAML_MAPPING_START_EVENT:
        return on_container(r, ST_YAML_MAPPING, event->data.mapping_start.anchor,
                            event->data.mapping_start.tag, at);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: r->depth -= r->depth > 0; return 0;
    case YAML_ALIAS_EVENT: return on_alias(r, at);
    case YAML_DOCUMENT_START_EVENT: return on_document(r, at);
    case YAML_STREAM_END_EVENT: r->done = true; return 0;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT: return 0;
    }
    return 0;
}

/* Not YAML from here on. What is open has more in the file than in the tree. */
static int on_syntax(struct reader *r, const yaml_parser_t *parser, const char *text, size_t len)
{
    struct st_yaml_place at = place_of(&parser->problem_mark), begin = place_of(&parser->context_mark);
    const char *problem = parser->problem ? parser->problem : "not valid YAML";
    char what[256];

    if (parser->error == YAML_MEMORY_ERROR)
        abort();
    if (parser->error == YAML_READER_ERROR)
        at = st_yaml_place_of_offset(text, len, parser->problem_offset);
    snprintf(what, sizeof(what), "%s", problem);
    if (parser->context && (begin.line != at.line || begin.column != at.column))
        snprintf(what, sizeof(what), "%s %s that begins at %u:%u", problem, parser->context, begin.line,
                 begin.column);
    for (unsigned i = 0; i < r->depth; i++)
        r->open[i]->faulty = true;
    return object(r, at, what, st_yaml_remedy(problem));
}

static int read_events(struct reader *r, yaml_parser_t *parser, const char *text, size_t len)
{
    while (!r->done) {
        yaml_event_t event;
        int rc;

        if (!yaml_parser_parse(parser, &event))
            return on_syntax(r, parser, text, len);
        rc = on_event(r, &event);
        yaml_event_delete(&event);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_all(struct reader *r, const char *text, size_t len, struct st_yaml_doc **out)
{
    yaml_parser_t parser;
    char what[64];
    int rc;

    *out = NULL;
    if (len > r->limits->max_bytes) {
        snprintf(what, sizeof(what), "larger than the limit of %zu bytes", r->limits->max_bytes);
        return refuse(r, (struct st_yaml_place){1, 1}, what);
    }
    r->doc = st_xcalloc(1, sizeof(*r->doc));
    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    rc = read_events(r, &parser, text, len);
    yaml_parser_delete(&parser);
    if (rc < 0)
        st_yaml_free(r->doc);
    else
        *out = r->doc;
    return rc < 0 || r->broken ? -EINVAL : 0;
}

int st_yaml_parse_all(const char *text, size_t len, const struct st_yaml_limits *limits,
                      const struct st_yaml_listener *listener, struct st_yaml_doc **out)
{
    struct reader r = {.limits = limits, .listener = listener, .all = true};

    return read_all(&r, text, len, out);
}

struct first_fault {
    struct st_yaml_place *where;
    struct st_error *err;
};

static void keep_fault(void *ctx, struct st_yaml_place at, const char *what, const char *right)
{
    struct first_fault *f = ctx;

    if (f->where)
        *f->where = at;
    st_fail(f->err, EINVAL, "%s%s%s", what, right ? "; " : "", right ? right : "");
}

int st_yaml_parse(const char *text, size_t len, const struct st_yaml_limits *limits, struct st_yaml_doc **out,
                  struct st_yaml_place *where, struct st_error *err)
{
    struct first_fault fault = {where, err};
    struct st_yaml_listener listener = {keep_fault, &fault};
    struct reader r = {.limits = limits, .listener = &listener};

    return read_all(&r, text, len, out);
}

void st_yaml_free(struct st_yaml_doc *doc)
{
    if (!doc)
        return;
    st_arena_free(&doc->arena);
    free(doc);
}

void st_yaml_freep(struct st_yaml_doc **doc)
{
    st_yaml_free(*doc);
    *doc = NULL;
}

const struct st_yaml_node *st_yaml_root(const struct st_yaml_doc *doc)
{
    return doc->root;
}

const struct st_yaml_node *st_yaml_get(const struct st_yaml_node *mapping, const char *key)
{
    if (!mapping || mapping->type != ST_YAML_MAPPING)
        return NULL;
    st_yaml_each (member, mapping)
        if (strcmp(member->key, key) == 0)
            return member;
    return NULL;
}

bool st_yaml_is_null(const struct st_yaml_node *node)
{
    if (!node || node->type != ST_YAML_SCALAR || node->quoted)
        return false;
    return node->len == 0 || strcmp(node->value, "~") == 0 || strcmp(node->value, "null") == 0;
}

bool st_yaml_bool(const struct st_yaml_node *node, bool *out)
{
    if (!node || node->type != ST_YAML_SCALAR || node->quoted)
        return false;
    if (strcmp(node->value, "true") == 0)
        *out = true;
    else if (strcmp(node->value, "false") == 0)
        *out = false;
    else
        return false;
    return true;
}

bool st_yaml_int(const struct st_yaml_node *node, int64_t *out)
{
    const char *s;
    bool negative;
    int64_t value = 0;

    if (!node || node->type != ST_YAML_SCALAR || node->quoted || node->len == 0)
        return false;
    s = node->value;
    negative = *s == '-';
    if (negative && !*++s)
        return false;
    for (; *s; s++) {
        int digit = *s - '0';

        if (digit < 0 || digit > 9)
            return false;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return false;
    }
    *out = value;
    return true;
}
