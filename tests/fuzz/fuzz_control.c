/* Any bytes at the control socket, in pieces of any size, while operations wait: every answer is JSON with
 * `ok`, every operation is answered once and never allowed but by an approval, memory stays bounded. */
#include "worker_support.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WAITING 3
#define RENEW_AFTER 2000 /* the trace would grow without end */

static struct worker_fixture fixture;
static unsigned runs;

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void close_fixture(void)
{
    worker_fixture_close(&fixture);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    worker_fixture_open(&fixture);
    atexit(close_fixture);
    return 0;
}

/* What was said is whole lines. */
static void check_answers(const struct st_buf *said)
{
    const char *at = st_buf_cstr(said), *end = at + said->len;

    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        st_auto_json doc = NULL;
        struct st_error err = {0};
        const struct st_json_node *root;

        demand(newline != NULL);
        demand(st_json_parse(at, (size_t)(newline - at), ST_JSON_DEFAULT_LIMITS, &doc, &err) == 0);
        root = st_json_root(doc);
        demand(st_json_is(st_json_get(root, "ok"), ST_JSON_BOOL) || st_json_get(root, "seq") ||
               st_json_get(root, "missed"));
        if (st_json_is(st_json_get(root, "ok"), ST_JSON_BOOL) && !st_json_true(st_json_get(root, "ok")))
            demand(st_json_str(st_json_get(st_json_get(root, "error"), "code"), NULL) != NULL);
        at = newline + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct worker_fixture *f = &fixture;
    struct st_pauses *pauses = &f->worker.pipeline.pauses;
    size_t piece = size ? data[0] + (size_t)1 : 1;
    unsigned answered;

    if (++runs % RENEW_AFTER == 0) {
        worker_fixture_close(f);
        worker_fixture_open(f);
    }
    while (pauses->n < WAITING)
        worker_fixture_hold(f);
    answered = f->allowed + f->refused;
    for (size_t at = 1; at < size && !f->client.closing; at += piece) {
        st_client_feed(&f->client, (const char *)data + at, at + piece > size ? size - at : piece);
        demand(f->client.in.len <= ST_CONTROL_LINE_MAX + 256);
        demand(st_outbox_waits(&f->client.out) <= ST_OUTBOX_ANSWERS);
    }
    demand(f->allowed + f->refused - answered + pauses->n == WAITING);
    check_answers(&f->client.out.queue);
    st_buf_free(&f->client.in);
    st_outbox_free(&f->client.out);
    f->client = (struct st_client){.control = &f->worker.control, .fd = -1};
    return 0;
}
