/* callers: see callers.h. At the call itself the kernel has not chosen the port yet, and when it has, it is
 * not asked who calls: so the first program notes who, by the socket's cookie, and the second one where from.
 */
#include "sensors/callers.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define RING_BYTES 8192 /* some 170 notes: as many as come between two looks, and some more */
#define COOKIES 256     /* calls under way at the same time */

/* On the stack; the last 8 bytes of which are the ring's. */
#define NOTE ((int16_t)(-8 - (int)sizeof(struct st_caller_note)))
#define IN_NOTE(member) ((int16_t)(NOTE + (int)offsetof(struct st_caller_note, member)))
#define COOKIE ((int16_t)(NOTE - 8))

_Static_assert(offsetof(struct st_caller_note, uid) == offsetof(struct st_caller_note, tid) + 8,
               "as they are kept by cookie");

/* cookie → who */
static void write_connect(const struct st_callers *c, struct st_bpf_program *p)
{
    st_bpf_call(p, BPF_FUNC_get_socket_cookie);
    st_bpf_store(p, BPF_DW, COOKIE, BPF_REG_0);
    st_bpf_call(p, BPF_FUNC_get_current_pid_tgid);
    st_bpf_store(p, BPF_DW, IN_NOTE(tid), BPF_REG_0);
    st_bpf_call(p, BPF_FUNC_get_current_uid_gid);
    st_bpf_store(p, BPF_DW, IN_NOTE(uid), BPF_REG_0);
    st_bpf_map(p, BPF_REG_1, c->cookies_fd);
    st_bpf_stack(p, BPF_REG_2, COOKIE);
    st_bpf_stack(p, BPF_REG_3, IN_NOTE(tid));
    st_bpf_set(p, BPF_REG_4, BPF_ANY);
    st_bpf_call(p, BPF_FUNC_map_update_elem);
    st_bpf_end_with(p, 1);
}

static void copy_word(struct st_bpf_program *p, int16_t to, size_t from)
{
    st_bpf_load(p, BPF_W, BPF_REG_1, BPF_REG_6, (int16_t)from);
    st_bpf_store(p, BPF_W, to, BPF_REG_1);
}

/* The four bytes of IPv4 as ::ffff: and themselves. */
static void write_address(struct st_bpf_program *p)
{
    size_t six, end;

    st_bpf_load(p, BPF_W, BPF_REG_1, BPF_REG_6, offsetof(struct bpf_sock_ops, family));
    six = st_bpf_jump(p, BPF_JEQ, BPF_REG_1, AF_INET6);
    st_bpf_store_value(p, BPF_W, IN_NOTE(remote[0]), 0);
    st_bpf_store_value(p, BPF_W, IN_NOTE(remote[1]), 0);
    st_bpf_store_value(p, BPF_W, IN_NOTE(remote[2]), (int32_t)htonl(0xffff));
    copy_word(p, IN_NOTE(remote[3]), offsetof(struct bpf_sock_ops, remote_ip4));
    end = st_bpf_jump(p, BPF_JA, 0, 0);
    st_bpf_land(p, six);
    for (size_t i = 0; i < 4; i++)
        copy_word(p, (int16_t)(IN_NOTE(remote) + (int)(4 * i)),
                  offsetof(struct bpf_sock_ops, remote_ip6) + 4 * i);
    st_bpf_land(p, end);
}

/* who and where from → ring */
static void write_ports(const struct st_callers *c, struct st_bpf_program *p)
{
    st_bpf_move(p, BPF_REG_6, BPF_REG_1);
    st_bpf_load(p, BPF_W, BPF_REG_7, BPF_REG_6, offsetof(struct bpf_sock_ops, op));
    st_bpf_out(p, BPF_JNE, BPF_REG_7, BPF_SOCK_OPS_TCP_CONNECT_CB);
    st_bpf_call(p, BPF_FUNC_get_socket_cookie);
    st_bpf_store(p, BPF_DW, COOKIE, BPF_REG_0);
    st_bpf_map(p, BPF_REG_1, c->cookies_fd);
    st_bpf_stack(p, BPF_REG_2, COOKIE);
    st_bpf_call(p, BPF_FUNC_map_lookup_elem);
    st_bpf_out(p, BPF_JEQ, BPF_REG_0, 0);
    st_bpf_load(p, BPF_DW, BPF_REG_1, BPF_REG_0, 0);
    st_bpf_store(p, BPF_DW, IN_NOTE(tid), BPF_REG_1);
    st_bpf_load(p, BPF_DW, BPF_REG_1, BPF_REG_0, 8);
    st_bpf_store(p, BPF_DW, IN_NOTE(uid), BPF_REG_1);
    copy_word(p, IN_NOTE(local_port), offsetof(struct bpf_sock_ops, local_port));
    copy_word(p, IN_NOTE(remote_port), offsetof(struct bpf_sock_ops, remote_port));
    write_address(p);
    st_bpf_ring_put(p, &c->ring, NOTE, sizeof(struct st_caller_note), BPF_RB_NO_WAKEUP);
    st_bpf_end_with(p, 1);
}

static int put_one(struct st_callers *c, int group, enum bpf_attach_type where, struct st_error *err)
{
    bool ports = where == BPF_CGROUP_SOCK_OPS;
    struct st_bpf_program p = {0};
    st_auto_fd program = -1;

    if (ports)
        write_ports(c, &p);
    else
        write_connect(c, &p);
    program = st_bpf_load_group(&p, ports ? BPF_PROG_TYPE_SOCK_OPS : BPF_PROG_TYPE_CGROUP_SOCK_ADDR, where,
                                ports ? "st_ports" : "st_callers", err);
    return program < 0 ? program : st_bpf_attach_group(program, group, where, err);
}

static int put(struct st_callers *c, int group, struct st_error *err)
{
    static const enum bpf_attach_type where[] = {BPF_CGROUP_INET4_CONNECT, BPF_CGROUP_INET6_CONNECT,
                                                 BPF_CGROUP_SOCK_OPS};

    for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++)
        if ((c->links[i] = put_one(c, group, where[i], err)) < 0)
            return -err->errnum;
    return 0;
}

int st_callers_open(struct st_callers *c, int group, struct st_error *err)
{
    *c = (struct st_callers)ST_CALLERS_NONE;
    if ((c->cookies_fd = st_bpf_map_create(BPF_MAP_TYPE_LRU_HASH, 8, 16, COOKIES, 0, err)) < 0 ||
        st_bpf_ring_open(&c->ring, RING_BYTES, err) < 0 || put(c, group, err) < 0) {
        st_callers_close(c);
        return -err->errnum;
    }
    return 0;
}

void st_callers_close(struct st_callers *c)
{
    st_bpf_ring_close(&c->ring);
    for (size_t i = 0; i < sizeof(c->links) / sizeof(c->links[0]); i++)
        st_close(&c->links[i]);
    st_close(&c->cookies_fd);
    free(c->notes);
    c->notes = NULL;
}

static struct st_caller_note *place_of(struct st_callers *c, uint32_t local_port)
{
    return &c->notes[local_port % ST_CALLERS_KEPT];
}

static void keep(void *ctx, const void *record, size_t n)
{
    struct st_caller_note note;

    if (n != sizeof(note))
        return;
    memcpy(&note, record, sizeof(note));
    *place_of(ctx, note.local_port) = note;
}

static bool goes_to(const struct st_caller_note *note, const struct st_flow_tuple *flow)
{
    static const uint8_t four[12] = {[10] = 0xff, 0xff};
    uint8_t there[16];

    memcpy(there, note->remote, sizeof(there));
    if (flow->dst.family == 4)
        return memcmp(there, four, sizeof(four)) == 0 &&
               memcmp(there + sizeof(four), flow->dst.bytes, 4) == 0;
    return memcmp(there, flow->dst.bytes, sizeof(there)) == 0;
}

bool st_callers_find(struct st_callers *c, const struct st_flow_tuple *flow, pid_t *pid, int64_t *uid)
{
    const struct st_caller_note *note;

    if (!st_callers_on(c) || flow->protocol != IPPROTO_TCP)
        return false;
    if (!c->notes)
        c->notes = st_xcalloc(ST_CALLERS_KEPT, sizeof(*c->notes));
    st_bpf_ring_read(&c->ring, keep, c);
    note = place_of(c, flow->src_port);
    if (!note->pid || note->local_port != flow->src_port || ntohl(note->remote_port) != flow->dst_port ||
        !goes_to(note, flow))
        return false;
    *pid = (pid_t)note->pid;
    *uid = note->uid;
    return true;
}
