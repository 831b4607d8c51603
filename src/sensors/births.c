/* births: see births.h. What the program has on its stack: the record, a thread's number and its process's;
 * and the place that is read into. */
#include "sensors/births.h"

#include "base/cleanup.h"

#include <string.h>

#define RING_SIZE ((size_t)4096) /* a runtime makes a handful */
#define RECORD (-16)
#define PLACE (-24)

#define CHILD BPF_REG_7

struct record {
    uint32_t pid, tgid;
};

static void write_program(struct st_bpf_program *p, const struct st_births *b, pid_t parent)
{
    *p = (struct st_bpf_program){0};
    st_bpf_load(p, BPF_DW, CHILD, BPF_REG_1, 8);
    st_bpf_read(p, ST_BPF_TASK_REAL_PARENT, CHILD, PLACE, 8);
    st_bpf_load(p, BPF_DW, BPF_REG_8, BPF_REG_10, PLACE);
    st_bpf_read(p, ST_BPF_TASK_TGID, BPF_REG_8, PLACE, 4);
    st_bpf_load(p, BPF_W, BPF_REG_1, BPF_REG_10, PLACE);
    st_bpf_out(p, BPF_JNE, BPF_REG_1, (int32_t)parent);
    st_bpf_read(p, ST_BPF_TASK_PID, CHILD, RECORD + (int16_t)offsetof(struct record, pid), 4);
    st_bpf_read(p, ST_BPF_TASK_TGID, CHILD, RECORD + (int16_t)offsetof(struct record, tgid), 4);
    st_bpf_ring_put(p, &b->ring, RECORD, sizeof(struct record), 0);
    st_bpf_end(p);
}

static int attach(struct st_births *b, pid_t parent, struct st_error *err)
{
    st_auto_fd types = st_bpf_types(err), program = -1;
    struct st_bpf_program p;

    if (types < 0)
        return types;
    write_program(&p, b, parent);
    program = st_bpf_load_tracepoint(&p, "sandtrace", types, err);
    if (program < 0)
        return program;
    b->link = st_bpf_attach_tracepoint(program, "sched_process_fork", err);
    return b->link < 0 ? b->link : 0;
}

int st_births_open(struct st_births *b, pid_t parent, struct st_error *err)
{
    *b = (struct st_births)ST_BIRTHS_NONE;
    if (st_bpf_ring_open(&b->ring, RING_SIZE, err) < 0 || attach(b, parent, err) < 0) {
        st_births_close(b);
        return -err->errnum;
    }
    return 0;
}

void st_births_close(struct st_births *b)
{
    st_close(&b->link);
    st_bpf_ring_close(&b->ring);
}

struct reading {
    st_births_taker take;
    void *ctx;
};

static void take(void *ctx, const void *bytes, size_t len)
{
    const struct reading *r = ctx;
    struct record record = {0};

    memcpy(&record, bytes, len < sizeof(record) ? len : sizeof(record));
    if (record.pid == record.tgid) /* else a thread */
        r->take(r->ctx, (pid_t)record.pid);
}

void st_births_read(struct st_births *b, st_births_taker taker, void *ctx)
{
    struct reading r = {taker, ctx};

    while (b->link >= 0 && st_bpf_ring_read(&b->ring, take, &r))
        continue;
}
