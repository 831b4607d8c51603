/* bpf_ring: see bpf_ring.h. */
#include "sensors/bpf_ring.h"

#include "base/cleanup.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define TURN 2048 /* records before others have theirs */

static int map_memory(struct st_bpf_ring *r, struct st_error *err)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *m = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);

    if (m == MAP_FAILED)
        return st_fail_errno(err, "bpf: the ring's memory");
    r->consumer = m;
    /* The records twice, one after the other: none is ever in two pieces. */
    m = mmap(NULL, page + 2 * r->size, PROT_READ, MAP_SHARED, r->fd, (off_t)page);
    if (m == MAP_FAILED)
        return st_fail_errno(err, "bpf: the ring's memory");
    r->producer = m;
    m = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, r->words_fd, 0);
    if (m == MAP_FAILED)
        return st_fail_errno(err, "bpf: the counter's memory");
    r->words = m;
    return 0;
}

int st_bpf_ring_open(struct st_bpf_ring *r, size_t size, struct st_error *err)
{
    *r = (struct st_bpf_ring)ST_BPF_RING_NONE;
    r->size = size;
    r->fd = st_bpf_map_create(BPF_MAP_TYPE_RINGBUF, 0, 0, (uint32_t)size, 0, err);
    if (r->fd >= 0)
        r->words_fd = st_bpf_map_create(BPF_MAP_TYPE_ARRAY, 4, 8, ST_BPF_WORDS, BPF_F_MMAPABLE, err);
    if (r->fd < 0 || r->words_fd < 0 || map_memory(r, err) < 0) {
        st_bpf_ring_close(r);
        return -err->errnum;
    }
    return 0;
}

void st_bpf_ring_close(struct st_bpf_ring *r)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (r->consumer)
        munmap(r->consumer, page);
    if (r->producer)
        munmap(r->producer, page + 2 * r->size);
    if (r->words)
        munmap(r->words, page);
    st_close(&r->fd);
    st_close(&r->words_fd);
    *r = (struct st_bpf_ring)ST_BPF_RING_NONE;
}

void st_bpf_ring_word(struct st_bpf_program *p, const struct st_bpf_ring *r, int32_t word)
{
    st_bpf_store_value(p, BPF_W, -4, word);
    st_bpf_map(p, BPF_REG_1, r->words_fd);
    st_bpf_stack(p, BPF_REG_2, -4);
    st_bpf_call(p, BPF_FUNC_map_lookup_elem);
    st_bpf_out(p, BPF_JEQ, BPF_REG_0, 0);
}

void st_bpf_ring_put(struct st_bpf_program *p, const struct st_bpf_ring *r, int16_t stack, int32_t size,
                     int32_t wake)
{
    size_t put;

    st_bpf_map(p, BPF_REG_1, r->fd);
    st_bpf_stack(p, BPF_REG_2, stack);
    st_bpf_set(p, BPF_REG_3, size);
    st_bpf_set(p, BPF_REG_4, wake);
    st_bpf_call(p, BPF_FUNC_ringbuf_output);
    put = st_bpf_jump(p, BPF_JEQ, BPF_REG_0, 0);
    st_bpf_ring_word(p, r, 0);
    st_bpf_set(p, BPF_REG_1, 1);
    st_bpf_add_to(p, BPF_REG_0, BPF_REG_1);
    st_bpf_land(p, put);
}

void st_bpf_ring_wake(struct st_bpf_program *p, const struct st_bpf_ring *r)
{
    st_bpf_map(p, BPF_REG_1, r->fd);
    st_bpf_set(p, BPF_REG_2, 8);
    st_bpf_set(p, BPF_REG_3, 0);
    st_bpf_call(p, BPF_FUNC_ringbuf_reserve);
    st_bpf_out(p, BPF_JEQ, BPF_REG_0, 0);
    st_bpf_move(p, BPF_REG_1, BPF_REG_0);
    st_bpf_set(p, BPF_REG_2, BPF_RB_FORCE_WAKEUP);
    st_bpf_call(p, BPF_FUNC_ringbuf_discard);
}

static uint64_t load(const char *at)
{
    return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

/* Before each record: its length, with two bits of state. */
bool st_bpf_ring_read(struct st_bpf_ring *r, st_bpf_taker take, void *ctx)
{
    const char *records = r->producer + sysconf(_SC_PAGESIZE);
    uint64_t at = load(r->consumer);

    for (int n = 0; n < TURN; n++) {
        const char *head = records + (at & (r->size - 1));
        uint32_t len;

        if (at >= load(r->producer))
            return false;
        len = __atomic_load_n((const uint32_t *)(const void *)head, __ATOMIC_ACQUIRE);
        if (len & BPF_RINGBUF_BUSY_BIT)
            return false; /* its writer wakes us */
        if (!(len & BPF_RINGBUF_DISCARD_BIT))
            take(ctx, head + BPF_RINGBUF_HDR_SZ, len);
        len &= ~BPF_RINGBUF_DISCARD_BIT;
        at += (len + BPF_RINGBUF_HDR_SZ + 7) & ~UINT64_C(7);
        __atomic_store_n((uint64_t *)(void *)r->consumer, at, __ATOMIC_RELEASE);
    }
    return at < load(r->producer);
}

bool st_bpf_ring_is_empty(const struct st_bpf_ring *r)
{
    return load(r->consumer) == load(r->producer);
}

uint64_t st_bpf_ring_lost(const struct st_bpf_ring *r)
{
    return __atomic_load_n(&r->words[0], __ATOMIC_RELAXED);
}
