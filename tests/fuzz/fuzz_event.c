/* Any bytes as a trace: no crash, bounded, and what must always be true:
 *  - what the scanner takes as canonical, the real parser takes too, and writes the same way again;
 *  - a record that decodes makes an event whose payload fits its bound and is canonical;
 *  - the verifier comes to an end with an issue or with records. */
#include "audit/canonical.h"
#include "audit/decode.h"
#include "audit/payload.h"
#include "audit/verify.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_scanner(struct st_str line)
{
    st_auto_json doc = NULL;
    st_auto_buf again = ST_BUF_INIT;
    struct st_error err;

    if (line.len == 0 || !strchr("{[\"", line.p[0]) || !st_scan_canonical(line.p, line.len, ST_SCAN_RFC8785))
        return;
    demand(st_json_parse(line.p, line.len, ST_JSON_DEFAULT_LIMITS, &doc, &err) == 0);
    demand(st_canonical(st_json_root(doc), ST_SCAN_RFC8785, &again));
    demand(again.len == line.len && memcmp(again.data, line.p, line.len) == 0);
}

static void check_record(void *ctx, const struct st_frame *f, const struct st_line *line)
{
    st_auto_free char *payload = NULL;
    struct st_decoded d;
    struct st_error err;
    char *end;

    (void)line;
    if (st_decode(ctx, f, &d, &err) < 0)
        return;
    payload = st_xmalloc(st_payload_bound(&d.ev));
    end = st_payload_put(payload, &d.ev);
    demand((size_t)(end - payload) <= st_payload_bound(&d.ev));
    demand(f->dialect == ST_DIALECT_OLDER ||
           st_scan_canonical(payload, (size_t)(end - payload), ST_SCAN_RFC8785));
}

struct memory {
    const uint8_t *p;
    size_t left;
};

static ssize_t read_memory(void *ctx, void *out, size_t n, struct st_error *err)
{
    struct memory *m = ctx;

    (void)err;
    n = n < m->left ? n : m->left;
    if (n)
        memcpy(out, m->p, n);
    m->p += n;
    m->left -= n;
    return (ssize_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    st_auto_decoder decoder = st_decoder_new();
    struct st_verify_options o = {.on_record = check_record, .ctx = decoder};
    st_auto_verifier v = st_verifier_new(&o);
    struct memory m = {data, size}, again = {data, size};
    st_auto_lines lines = st_lines_new(read_memory, &m);
    st_auto_lines each = st_lines_new(read_memory, &again);
    const struct st_verify_report *r;
    struct st_error err;
    struct st_line line;

    demand(st_verify_lines(v, lines, &err) == 0);
    r = st_verifier_end(v);
    demand(r->records || r->n_issues);
    demand(r->bytes == size);
    while (st_lines_next(each, &line, &err) > 0)
        check_scanner(line.text);
    return 0;
}
