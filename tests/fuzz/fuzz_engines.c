/* Any file of an engine: refused, or changed so that our runtime is found in it, that a second change does
 * nothing, that it can be taken out again, and that of a file without us every byte is still there. The first
 * byte says which engine's it is. */
#include "cli/engine.h"

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RUNTIME "/usr/bin/sandtrace-runtime"

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* Is the second the first with something put in at one place? */
static bool is_insertion(const char *a, size_t n, const char *b, size_t m)
{
    size_t head = 0, tail = 0;

    while (head < n && head < m && a[head] == b[head])
        head++;
    while (tail < n - head && tail < m - head && a[n - 1 - tail] == b[m - 1 - tail])
        tail++;
    return head + tail == n;
}

static void check(const struct st_engine *e, const char *text, size_t len, bool was_there,
                  const struct st_buf *added)
{
    st_auto_buf again = ST_BUF_INIT, without = ST_BUF_INIT;
    st_auto_free char *found = NULL, *left = NULL;
    struct st_error err = {0};

    demand(e->find(st_buf_cstr(added), added->len, &found, &err) == 0 && found &&
           strcmp(found, RUNTIME) == 0);
    demand(e->add(st_buf_cstr(added), added->len, RUNTIME, &again, &err) == 0);
    demand(again.len == added->len && memcmp(st_buf_cstr(&again), st_buf_cstr(added), again.len) == 0);
    if (was_there)
        return;
    demand(e == &st_engine_docker || is_insertion(text, len, st_buf_cstr(added), added->len));
    demand(e->drop(st_buf_cstr(added), added->len, &without, &err) == 0);
    demand(e->find(st_buf_cstr(&without), without.len, &left, &err) == 0 && !left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct st_engine *e;
    st_auto_buf added = ST_BUF_INIT, dropped = ST_BUF_INIT;
    st_auto_free char *copy = NULL, *before = NULL;
    struct st_error err = {0};

    if (size == 0)
        return 0;
    e = st_engines()[data[0] % 3];
    size--;
    copy = malloc(size ? size : 1); /* exactly as large: who reads on is caught */
    demand(copy != NULL);
    memcpy(copy, data + 1, size);
    e->drop(copy, size, &dropped, &err);
    if (e->find(copy, size, &before, &err) == 0 && e->add(copy, size, RUNTIME, &added, &err) == 0)
        check(e, copy, size, before != NULL, &added);
    return 0;
}
