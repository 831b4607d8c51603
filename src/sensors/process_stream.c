/* process_stream: see process_stream.h. What a program has on its stack: the record, and above it the
 * two places that are read into. */
#include "sensors/process_stream.h"

#include "base/cleanup.h"

#include <string.h>

#define RING_SIZE ((size_t)256 << 10) /* some thousand records */
#define RECORD (-80)
#define NUMBER (-16)  /* 4 bytes */
#define POINTER (-24) /* 8 bytes */
#define AT(member) ((int16_t)(RECORD + (int)offsetof(struct st_process_told, member)))
#define SHORT ((int32_t)offsetof(struct st_process_told, comm))
#define SIGNAL_GROUP_EXIT 4

_Static_assert(sizeof(struct st_process_told) <= POINTER - RECORD, "up to where the places begin");

#define TASK BPF_REG_7
#define OTHER BPF_REG_8

/* Words that the programs and the reader share; all 0: everything wakes. */
enum { WORD_COMES = 1 /* the reader comes by itself */, WORD_FORKS /* there were */, WORD_UNTIL };

/* Who is not of the group leaves. The task that it is about: the tracepoint's argument of this number. */
static void begin(struct st_bpf_program *p, const struct st_process_stream *s, enum st_process_news kind,
                  int16_t argument)
{
    *p = (struct st_bpf_program){0};
    st_bpf_move(p, BPF_REG_6, BPF_REG_1);
    st_bpf_map(p, BPF_REG_1, s->group);
    st_bpf_set(p, BPF_REG_2, 0);
    st_bpf_call(p, BPF_FUNC_current_task_under_cgroup);
    st_bpf_out(p, BPF_JNE, BPF_REG_0, 1);
    st_bpf_load(p, BPF_DW, TASK, BPF_REG_6, (int16_t)(argument * 8));
    st_bpf_store_value(p, BPF_W, AT(kind), (int32_t)kind);
}

static void read_pointer(struct st_bpf_program *p, enum st_bpf_field field, int from, int to)
{
    st_bpf_read(p, field, from, POINTER, 8);
    st_bpf_load(p, BPF_DW, to, BPF_REG_10, POINTER);
}

static void read_number(struct st_bpf_program *p, enum st_bpf_field field, int from, int to)
{
    st_bpf_read(p, field, from, NUMBER, 4);
    st_bpf_load(p, BPF_W, to, BPF_REG_10, NUMBER);
}

/* Who the reader waits for is asked after the record is there, and nothing is moved across the question: so
 * either it is woken, or it finds the record when it looks whether it may sleep (st_process_stream_sleep). */
static void wake_unless_it_comes(struct st_bpf_program *p, const struct st_process_stream *s)
{
    st_bpf_ring_word(p, &s->ring, WORD_COMES);
    st_bpf_set(p, BPF_REG_1, 0);
    st_bpf_fetch_add(p, BPF_REG_0, BPF_REG_1);
    st_bpf_out(p, BPF_JNE, BPF_REG_1, 0);
    st_bpf_ring_wake(p, &s->ring);
}

static void wake_from_a_number_on(struct st_bpf_program *p, const struct st_process_stream *s)
{
    st_bpf_ring_word(p, &s->ring, WORD_FORKS);
    st_bpf_set(p, OTHER, 1);
    st_bpf_fetch_add(p, BPF_REG_0, OTHER);
    st_bpf_ring_word(p, &s->ring, WORD_UNTIL);
    st_bpf_load(p, BPF_DW, BPF_REG_1, BPF_REG_0, 0);
    st_bpf_out_by(p, BPF_JLT, OTHER, BPF_REG_1);
    st_bpf_ring_wake(p, &s->ring);
}

static void write_fork(struct st_bpf_program *p, const struct st_process_stream *s, bool wakes)
{
    begin(p, s, ST_NEWS_FORK, 1);
    st_bpf_read(p, ST_BPF_TASK_PID, TASK, AT(pid), 4);
    read_number(p, ST_BPF_TASK_TGID, TASK, BPF_REG_1);
    st_bpf_load(p, BPF_W, BPF_REG_2, BPF_REG_10, AT(pid));
    st_bpf_out_by(p, BPF_JNE, BPF_REG_1, BPF_REG_2); /* a thread */
    read_pointer(p, ST_BPF_TASK_REAL_PARENT, TASK, OTHER);
    st_bpf_read(p, ST_BPF_TASK_TGID, OTHER, AT(parent), 4);
    st_bpf_read(p, ST_BPF_TASK_START, TASK, AT(start_ns), 8);
    st_bpf_call(p, BPF_FUNC_get_current_pid_tgid);
    st_bpf_store(p, BPF_W, AT(by), BPF_REG_0);
    st_bpf_alu(p, BPF_RSH, BPF_REG_0, 32);
    st_bpf_store(p, BPF_W, AT(by_pid), BPF_REG_0);
    st_bpf_store_value(p, BPF_W, AT(status), 0);
    st_bpf_ring_put(p, &s->ring, RECORD, SHORT, BPF_RB_NO_WAKEUP);
    if (wakes)
        wake_from_a_number_on(p, s);
    st_bpf_end(p);
}

static void write_nothing_of_a_fork(struct st_bpf_program *p)
{
    st_bpf_store_value(p, BPF_W, AT(by), 0);
    st_bpf_store_value(p, BPF_W, AT(by_pid), 0);
    st_bpf_store_value(p, BPF_W, AT(parent), 0);
}

static void write_exec(struct st_bpf_program *p, const struct st_process_stream *s)
{
    begin(p, s, ST_NEWS_EXEC, 0);
    st_bpf_load(p, BPF_DW, OTHER, BPF_REG_6, 16);
    read_pointer(p, ST_BPF_BINPRM_FILE, OTHER, OTHER);
    read_pointer(p, ST_BPF_FILE_INODE, OTHER, OTHER);
    st_bpf_read(p, ST_BPF_INODE_NUMBER, OTHER, AT(ino), 8);
    st_bpf_read(p, ST_BPF_TASK_TGID, TASK, AT(pid), 4);
    st_bpf_read(p, ST_BPF_TASK_START, TASK, AT(start_ns), 8);
    write_nothing_of_a_fork(p);
    st_bpf_store_value(p, BPF_W, AT(status), 0);
    st_bpf_stack(p, BPF_REG_1, AT(comm));
    st_bpf_set(p, BPF_REG_2, sizeof(((struct st_process_told *)0)->comm));
    st_bpf_call(p, BPF_FUNC_get_current_comm);
    st_bpf_ring_put(p, &s->ring, RECORD, sizeof(struct st_process_told), BPF_RB_NO_WAKEUP);
    wake_unless_it_comes(p, s);
    st_bpf_end(p);
}

/* The last thread to end ends the process: with the status of all, where one ended all, else with its
 * first's. */
static void write_exit(struct st_bpf_program *p, const struct st_process_stream *s)
{
    size_t alone;

    begin(p, s, ST_NEWS_EXIT, 0);
    read_pointer(p, ST_BPF_TASK_SIGNAL, TASK, OTHER);
    read_number(p, ST_BPF_SIGNAL_LIVE, OTHER, BPF_REG_1);
    st_bpf_out(p, BPF_JNE, BPF_REG_1, 0);
    read_pointer(p, ST_BPF_TASK_GROUP_LEADER, TASK, TASK);
    st_bpf_read(p, ST_BPF_TASK_TGID, TASK, AT(pid), 4);
    st_bpf_read(p, ST_BPF_TASK_START, TASK, AT(start_ns), 8);
    st_bpf_read(p, ST_BPF_TASK_EXIT_CODE, TASK, AT(status), 4);
    write_nothing_of_a_fork(p);
    read_number(p, ST_BPF_SIGNAL_FLAGS, OTHER, BPF_REG_1);
    st_bpf_alu(p, BPF_AND, BPF_REG_1, SIGNAL_GROUP_EXIT);
    alone = st_bpf_jump(p, BPF_JEQ, BPF_REG_1, 0);
    st_bpf_read(p, ST_BPF_SIGNAL_EXIT_CODE, OTHER, AT(status), 4);
    st_bpf_land(p, alone);
    st_bpf_ring_put(p, &s->ring, RECORD, SHORT, BPF_RB_NO_WAKEUP);
    wake_unless_it_comes(p, s);
    st_bpf_end(p);
}

static int attach(struct st_process_stream *s, bool forks_wake, struct st_error *err)
{
    static const char *const tracepoints[] = {"sched_process_fork", "sched_process_exec",
                                              "sched_process_exit"};
    st_auto_fd types = st_bpf_types(err);
    struct st_bpf_program p;

    if (types < 0)
        return types;
    for (size_t i = 0; i < ST_PROCESS_TRACEPOINTS; i++) {
        st_auto_fd program = -1;

        if (i == 0)
            write_fork(&p, s, forks_wake);
        else if (i == 1)
            write_exec(&p, s);
        else
            write_exit(&p, s);
        program = st_bpf_load_tracepoint(&p, "sandtrace", types, err);
        if (program < 0)
            return program;
        s->links[i] = st_bpf_attach_tracepoint(program, tracepoints[i], err);
        if (s->links[i] < 0)
            return s->links[i];
    }
    return 0;
}

int st_process_stream_open(struct st_process_stream *s, bool forks_wake, struct st_error *err)
{
    *s = (struct st_process_stream)ST_PROCESS_STREAM_NONE;
    s->group = st_bpf_map_create(BPF_MAP_TYPE_CGROUP_ARRAY, 4, 4, 1, 0, err);
    if (s->group < 0 || st_bpf_ring_open(&s->ring, RING_SIZE, err) < 0 || attach(s, forks_wake, err) < 0) {
        st_process_stream_close(s);
        return -err->errnum;
    }
    return 0;
}

void st_process_stream_close(struct st_process_stream *s)
{
    for (size_t i = 0; i < ST_PROCESS_TRACEPOINTS; i++)
        st_close(&s->links[i]);
    st_close(&s->group);
    st_bpf_ring_close(&s->ring);
}

int st_process_stream_watch(struct st_process_stream *s, int group_dir, struct st_error *err)
{
    return st_bpf_map_set(s->group, 0, &group_dir, err);
}

struct reading {
    struct st_process_stream *stream;
    st_process_taker take;
    void *ctx;
};

static void take(void *ctx, const void *record, size_t len)
{
    const struct reading *r = ctx;
    struct st_process_told told = {0};

    memcpy(&told, record, len < sizeof(told) ? len : sizeof(told));
    told.comm[sizeof(told.comm) - 1] = '\0';
    r->stream->forks += told.kind == ST_NEWS_FORK;
    r->take(r->ctx, &told);
}

bool st_process_stream_read(struct st_process_stream *s, st_process_taker taker, void *ctx)
{
    struct reading r = {s, taker, ctx};

    return st_bpf_ring_read(&s->ring, take, &r);
}

bool st_process_stream_is_settled(const struct st_process_stream *s)
{
    return st_bpf_ring_is_empty(&s->ring);
}

static void say(struct st_process_stream *s, int word, uint64_t value)
{
    __atomic_store_n(&s->ring.words[word], value, __ATOMIC_SEQ_CST);
}

/* Forks have their numbers from the kernel: one that was told after we looked, or is about to be, is among
 * those that are counted here already. Where news were lost we are behind, and are woken the sooner. */
void st_process_stream_comes(struct st_process_stream *s, uint64_t forks)
{
    say(s, WORD_UNTIL, forks > UINT64_MAX - s->forks ? UINT64_MAX : s->forks + forks);
    say(s, WORD_COMES, 1);
}

bool st_process_stream_sleep(struct st_process_stream *s)
{
    say(s, WORD_UNTIL, 0);
    say(s, WORD_COMES, 0);
    return st_process_stream_is_settled(s);
}
