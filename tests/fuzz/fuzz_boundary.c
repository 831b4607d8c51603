/* Any bytes as the registers and the memory of a task that makes a syscall of the boundary: what is said of
 * it is one canonical object, of bounded length, whatever can be read. */
#include "audit/scan.h"
#include "sensors/boundary_args.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE UINT64_C(0x10000) /* where the memory begins */
#define LONGEST ((size_t)64 << 10)

struct memory {
    const uint8_t *bytes;
    size_t n;
    uint8_t liar; /* how it fails */
};

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static ssize_t read_memory(void *ctx, uint64_t address, void *out, size_t n)
{
    const struct memory *m = ctx;
    size_t at = (size_t)(address - BASE), got;

    if (address < BASE || at >= m->n)
        return m->liar & 1 ? 0 : -14;
    got = m->n - at < n ? m->n - at : n;
    if (m->liar & 2)
        got = got > 3 ? got / 2 : got;
    memcpy(out, m->bytes + at, got);
    return (ssize_t)got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seccomp_data call = {0};
    struct memory m;
    const struct st_boundary *row;
    st_auto_buf out = ST_BUF_INIT;

    if (size < 2 + 6 * 4)
        return 0;
    row = st_boundary_at(data[0]);
    if (!row)
        return 0;
    call.nr = row->nr;
    m.liar = data[1];
    /* The upper half says little: addresses point near the memory, or nowhere. */
    for (size_t i = 0; i < 6; i++) {
        int32_t word;

        memcpy(&word, data + 2 + 4 * i, sizeof(word));
        call.args[i] = (uint64_t)(int64_t)word;
    }
    m.bytes = data + 2 + 6 * 4;
    m.n = size - (2 + 6 * 4);
    st_boundary_decode(row, &call, read_memory, &m, &out);
    demand(out.len >= 2 && out.len < LONGEST && out.data[0] == '{');
    demand(st_scan_canonical(out.data, out.len, ST_SCAN_RFC8785));
    st_boundary_add_text(&out, "zzz", (const char *)m.bytes, m.n); /* after the keys of every row */
    demand(out.len < LONGEST && st_scan_canonical(out.data, out.len, ST_SCAN_RFC8785));
    st_boundary_capability(row, &call);
    st_boundary_is_quiet(row, &call, 0, 1);
    return 0;
}
