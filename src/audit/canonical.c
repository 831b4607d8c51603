/* canonical: see canonical.h. Recursion is bounded by the parser's limit of depth. */
#include "audit/canonical.h"

#include "audit/scan_text.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"

struct member {
    const struct st_json_node *node;
    struct st_buf quoted;     /* its key as written in canonical form, in quotes */
    struct st_scan_value key; /* the same, for comparing */
};

struct order {
    enum st_scan_rules rules;
};

static int compare(const void *a, const void *b, void *rules)
{
    const struct member *x = a, *y = b;

    return st_scan_ascending(&x->key, &y->key, ((const struct order *)rules)->rules) ? -1 : 1;
}

/* The members in order; the caller frees. */
static struct member *sorted_members(const struct st_json_node *object, enum st_scan_rules rules, size_t n)
{
    struct member *members = st_xcalloc(n, sizeof(*members)), *m = members;
    struct order order = {rules};

    st_json_each (item, object) {
        size_t len;
        const char *key = st_json_key(item, &len);

        m->node = item;
        st_json_quote(&m->quoted, key, len);
        m->key = (struct st_scan_value){.type = ST_SCAN_STRING,
                                        .text = {.p = m->quoted.data + 1, .len = m->quoted.len - 2}};
        m++;
    }
    qsort_r(members, n, sizeof(*members), compare, &order);
    return members;
}

static bool add_object(const struct st_json_node *object, enum st_scan_rules rules, struct st_buf *out)
{
    size_t n = st_json_count(object);
    struct member *members = sorted_members(object, rules, n);
    bool good = true;

    st_buf_addc(out, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            st_buf_addc(out, ',');
        st_buf_add(out, members[i].quoted.data, members[i].quoted.len);
        st_buf_addc(out, ':');
        good = good && st_canonical(members[i].node, rules, out);
        st_buf_free(&members[i].quoted);
    }
    st_buf_addc(out, '}');
    free(members);
    return good;
}

static bool add_array(const struct st_json_node *array, enum st_scan_rules rules, struct st_buf *out)
{
    bool first = true, good = true;

    st_buf_addc(out, '[');
    st_json_each (item, array) {
        if (!first)
            st_buf_addc(out, ',');
        first = false;
        good = good && st_canonical(item, rules, out);
    }
    st_buf_addc(out, ']');
    return good;
}

bool st_canonical(const struct st_json_node *value, enum st_scan_rules rules, struct st_buf *out)
{
    const char *text;
    size_t len = 0;

    switch (st_json_type(value)) {
    case ST_JSON_NULL: st_buf_adds(out, "null"); return true;
    case ST_JSON_BOOL: st_buf_adds(out, st_json_true(value) ? "true" : "false"); return true;
    case ST_JSON_NUMBER:
        text = st_json_number(value, &len);
        st_buf_add(out, text, len);
        return st_scan_canonical(text, len, rules);
    case ST_JSON_STRING:
        text = st_json_str(value, &len);
        st_json_quote(out, text, len);
        return true;
    case ST_JSON_ARRAY: return add_array(value, rules, out);
    case ST_JSON_OBJECT: return add_object(value, rules, out);
    }
    return false;
}
