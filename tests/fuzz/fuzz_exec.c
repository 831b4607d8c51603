/* Any bytes as a file that is to be executed, and as a memory with arguments in it: what is found lies
 * within, is bounded, and is the same a second time. */
#include "sensors/exec_call.h"
#include "sensors/program.h"

#include <stdlib.h>
#include <string.h>

#define BASE 0x1000u
#define READS 20000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
    const uint8_t *bytes;
    size_t size;
    unsigned reads;
};

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static ssize_t read_memory(void *ctx, uint64_t address, void *out, size_t n)
{
    struct memory *m = ctx;

    demand(m->reads++ < READS && n > 0 && n <= 4096);
    if (address < BASE || address - BASE >= m->size)
        return -14;
    if (n > m->size - (address - BASE))
        n = m->size - (size_t)(address - BASE);
    memcpy(out, m->bytes + (address - BASE), n);
    return (ssize_t)n;
}

static void check_program(const char *bytes, size_t n)
{
    struct st_program_head head;

    st_program_look(bytes, n, &head);
    if (!head.interpreter.p)
        return;
    demand(head.goes_on && head.interpreter.len > 0 && head.interpreter.len < ST_PROGRAM_LINE_MAX);
    demand(head.interpreter.p >= bytes + 2 && head.interpreter.p + head.interpreter.len <= bytes + n);
    for (size_t i = 0; i < head.interpreter.len; i++)
        demand(!strchr(" \t\n", head.interpreter.p[i]) && head.interpreter.p[i]);
}

static void check_argv(const uint8_t *data, size_t size)
{
    struct memory m = {data, size, 0};
    struct st_exec_call call = {.known = true, .path = BASE, .argv = BASE};
    static struct st_exec_argv one, two;

    for (uint64_t at = BASE; at < BASE + size; at += 1 + size / 4) {
        m.reads = 0;
        st_exec_argv_read(at, read_memory, &m, &one);
        demand(one.len <= sizeof(one.bytes) && !(one.cut && one.incomplete));
        m.reads = 0;
        st_exec_argv_read(at, read_memory, &m, &two);
        demand(one.len == two.len && memcmp(one.bytes, two.bytes, one.len) == 0);
        demand(st_exec_call_hash(&call, &one, read_memory, &m) ==
               st_exec_call_hash(&call, &two, read_memory, &m));
    }
}

static void check_registers(const uint8_t *data, size_t size)
{
    struct st_exec_call call;
    char text[256];

    if (size >= sizeof(text))
        return;
    memcpy(text, data, size);
    text[size] = '\0';
    st_exec_call_parse(text, &call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_program((const char *)data, size > ST_PROGRAM_HEAD ? ST_PROGRAM_HEAD : size);
    check_argv(data, size);
    check_registers(data, size);
    return 0;
}
