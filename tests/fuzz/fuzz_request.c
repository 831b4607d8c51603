/* Any bytes as the registers and the memory of a task that makes a syscall which changes a file: what is
 * taken from it is a path that ends where it says, or an error that the kernel would give, whatever can be
 * read. */
#include "sensors/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE UINT64_C(0x10000) /* where the memory begins */
#define READS 256

struct memory {
    const uint8_t *bytes;
    size_t n;
    unsigned reads;
    uint8_t liar; /* how it fails */
};

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static ssize_t read_memory(void *ctx, uint64_t address, void *out, size_t n)
{
    struct memory *m = ctx;
    size_t at = (size_t)(address - BASE), got;

    demand(m->reads++ < READS && n > 0);
    if (address < BASE || at >= m->n)
        return m->liar & 1 ? 0 : -EFAULT;
    got = m->n - at < n ? m->n - at : n;
    if (m->liar & 2)
        got = got > 3 ? got / 2 : got;
    memcpy(out, m->bytes + at, got);
    return (ssize_t)got;
}

static void check(const struct st_request_object *o)
{
    if (!o->present || o->by_fd)
        return;
    demand(o->len < sizeof(o->path) && o->path[o->len] == '\0' && strlen(o->path) == o->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct st_request request;
    struct seccomp_data call = {0};
    const struct st_mutation *row;
    struct memory m;
    int rc;

    if (size < 2 + 6 * 4)
        return 0;
    row = st_mutation_at(data[0]);
    if (!row)
        return 0;
    call.nr = row->nr;
    /* The upper half says little: addresses point near the memory, or nowhere. */
    for (size_t i = 0; i < 6; i++) {
        int32_t word;

        memcpy(&word, data + 2 + 4 * i, sizeof(word));
        call.args[i] = (uint64_t)(int64_t)word;
    }
    m = (struct memory){.bytes = data + 2 + 6 * 4, .n = size - (2 + 6 * 4), .liar = data[1]};
    memset(&request, 0xff, sizeof(request)); /* nothing of the last one is taken for granted */
    rc = st_request_decode(&call, read_memory, &m, &request);
    demand(rc <= 0 && rc > -4096);
    if (rc < 0)
        return 0;
    demand(request.what == row);
    check(&request.object);
    check(&request.target);
    return 0;
}
