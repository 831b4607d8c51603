/* sock_find: see sock_find.h. Answers of sock_diag are there when the question has been sent: a socket that
 * has nothing to read has no more to say. */
#include "sensors/sock_find.h"

#include "base/cleanup.h"
#include "sensors/sock_text.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>

#define MAX_RECEIVES 64 /* some 2,000 sockets */
#define TEXT_SIZE 16384 /* some 150 */
#define ANY_COOKIE 0xffffffffu

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 req;
};

/* ---- open and close ---- */

static int open_table(const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/thread-self/net/%s", name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

int st_sock_tables_open(struct st_sock_tables *out, struct st_error *err)
{
    *out = (struct st_sock_tables)ST_SOCK_TABLES_NONE;
    out->diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    if (out->diag < 0)
        return st_fail_errno(err, "socket of sock_diag");
    out->raw4 = open_table("raw");
    out->raw6 = open_table("raw6");
    out->ping4 = open_table("icmp");
    out->ping6 = open_table("icmp6");
    return 0;
}

void st_sock_tables_close(struct st_sock_tables *t)
{
    st_close(&t->diag);
    st_close(&t->raw4);
    st_close(&t->raw6);
    st_close(&t->ping4);
    st_close(&t->ping6);
}

/* ---- TCP and UDP ---- */

static struct question question_of(const struct st_flow_tuple *flow, unsigned ifindex, bool swapped)
{
    const struct st_addr *src = swapped ? &flow->dst : &flow->src, *dst = swapped ? &flow->src : &flow->dst;
    struct question q = {
        .head = {.nlmsg_len = sizeof(q), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .req =
            {
                .sdiag_family = flow->src.family == 4 ? AF_INET : AF_INET6,
                .sdiag_protocol = flow->protocol,
                .idiag_states = ~0u,
                .id =
                    {
                        .idiag_sport = htons(swapped ? flow->dst_port : flow->src_port),
                        .idiag_dport = htons(swapped ? flow->src_port : flow->dst_port),
                        .idiag_if = ifindex,
                        .idiag_cookie = {ANY_COOKIE, ANY_COOKIE},
                    },
            },
    };

    memcpy(q.req.id.idiag_src, src->bytes, sizeof(src->bytes));
    memcpy(q.req.id.idiag_dst, dst->bytes, sizeof(dst->bytes));
    return q;
}

static void consider(const struct inet_diag_msg *m, const struct st_flow_tuple *flow,
                     struct st_sock_found *out)
{
    if (ntohs(m->id.idiag_sport) != flow->src_port)
        return;
    if (out->candidates == 0) {
        out->inode = m->idiag_inode;
        out->uid = m->idiag_uid;
        out->listening = flow->protocol == IPPROTO_TCP && m->idiag_state == TCP_LISTEN;
    }
    if (out->candidates == 0 || m->idiag_inode != out->inode)
        out->candidates++;
}

/* One message: 1 where more may come, 0 where it was the last, -errno. */
static int read_message(const struct nlmsghdr *h, const struct question *q, const struct st_flow_tuple *flow,
                        struct st_sock_found *out)
{
    if (h->nlmsg_seq != q->head.nlmsg_seq)
        return 1; /* of a question that was given up */
    if (h->nlmsg_type == NLMSG_ERROR && h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr)))
        return ((const struct nlmsgerr *)(h + 1))->error;
    if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY || h->nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
        return 0;
    consider((const void *)(h + 1), flow, out);
    return h->nlmsg_flags & NLM_F_MULTI ? 1 : 0;
}

/* What one receive has brought. */
static int read_messages(const char *bytes, size_t n, const struct question *q,
                         const struct st_flow_tuple *flow, struct st_sock_found *out)
{
    int rc = 1;

    while (rc > 0 && n >= sizeof(struct nlmsghdr)) {
        const struct nlmsghdr *h = (const void *)bytes;
        size_t len = NLMSG_ALIGN(h->nlmsg_len);

        if (h->nlmsg_len < sizeof(*h) || h->nlmsg_len > n)
            return -EBADMSG;
        rc = read_message(h, q, flow, out);
        bytes += len;
        n -= len < n ? len : n;
    }
    return rc;
}

static int read_answers(int fd, const struct question *q, const struct st_flow_tuple *flow,
                        struct st_sock_found *out)
{
    _Alignas(struct nlmsghdr) char bytes[8192];

    for (unsigned i = 0; i < MAX_RECEIVES; i++) {
        ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_TRUNC);
        int rc;

        if (n < 0)
            return -errno;
        if ((size_t)n > sizeof(bytes))
            return -EMSGSIZE;
        rc = read_messages(bytes, (size_t)n, q, flow, out);
        if (rc <= 0)
            return rc;
    }
    out->candidates++; /* more than we look at */
    return 0;
}

static int ask(struct st_sock_tables *t, struct question *q, const struct st_flow_tuple *flow,
               struct st_sock_found *out)
{
    int rc;

    *out = (struct st_sock_found){0};
    q->head.nlmsg_seq = ++t->asked;
    if (send(t->diag, q, sizeof(*q), MSG_DONTWAIT) != (ssize_t)sizeof(*q))
        return -errno;
    rc = read_answers(t->diag, q, flow, out);
    if (rc < 0)
        return rc;
    return out->candidates ? 0 : -ENOENT;
}

/* For TCP, src is our side of the flow; for UDP the kernel has it the other way round, for reasons that it
 * calls historical. */
static int find_exact(struct st_sock_tables *t, const struct st_flow_tuple *flow, unsigned ifindex,
                      struct st_sock_found *out)
{
    struct question q = question_of(flow, ifindex, flow->protocol != IPPROTO_TCP);

    return ask(t, &q, flow, out);
}

/* By our port alone, among all: what was translated on its way to a resolver on loopback is no longer
 * addressed as its socket has it. It costs a walk over all sockets: never for what leaves the machine. */
static int find_by_port(struct st_sock_tables *t, const struct st_flow_tuple *flow, struct st_sock_found *out)
{
    struct question q = question_of(flow, 0, false);

    q.head.nlmsg_flags |= NLM_F_DUMP;
    q.req.id = (struct inet_diag_sockid){.idiag_sport = htons(flow->src_port)};
    return ask(t, &q, flow, out);
}

static bool is_loopback(const struct st_addr *addr)
{
    return addr->family == 4 && addr->bytes[0] == 127;
}

static int find_connected(struct st_sock_tables *t, const struct st_flow_tuple *flow, unsigned ifindex,
                          struct st_sock_found *out)
{
    int rc = find_exact(t, flow, ifindex, out);

    if (rc == -ENOENT && is_loopback(&flow->dst))
        rc = find_by_port(t, flow, out);
    return rc;
}

/* ---- raw and ping ---- */

static int find_in_text(int fd, enum st_sock_text_kind kind, const struct st_flow_tuple *flow,
                        struct st_sock_found *out)
{
    char text[TEXT_SIZE];
    size_t n = 0;
    ssize_t got = fd < 0 ? 0 : 1;

    while (got > 0 && n < sizeof(text)) {
        got = pread(fd, text + n, sizeof(text) - n, (off_t)n);
        if (got < 0)
            return -errno;
        n += (size_t)got;
    }
    *out = (struct st_sock_found){0};
    st_sock_text_find((struct st_str){text, n}, kind, flow, out);
    if (out->candidates && n == sizeof(text))
        out->candidates++; /* more than we look at */
    return out->candidates ? 0 : -ENOENT;
}

static int find_raw(const struct st_sock_tables *t, const struct st_flow_tuple *flow,
                    struct st_sock_found *out)
{
    return find_in_text(flow->src.family == 4 ? t->raw4 : t->raw6, ST_SOCK_TEXT_RAW, flow, out);
}

static int find_ping(const struct st_sock_tables *t, const struct st_flow_tuple *flow,
                     struct st_sock_found *out)
{
    return find_in_text(flow->src.family == 4 ? t->ping4 : t->ping6, ST_SOCK_TEXT_PING, flow, out);
}

int st_sock_find(struct st_sock_tables *t, const struct st_flow_tuple *flow, unsigned ifindex,
                 struct st_sock_found *out)
{
    int rc = -ENOENT;

    *out = (struct st_sock_found){0};
    if (flow->protocol == IPPROTO_TCP || flow->protocol == IPPROTO_UDP || flow->protocol == IPPROTO_UDPLITE)
        rc = find_connected(t, flow, ifindex, out);
    else if (flow->protocol == IPPROTO_ICMP || flow->protocol == IPPROTO_ICMPV6)
        rc = find_ping(t, flow, out);
    return rc == -ENOENT ? find_raw(t, flow, out) : rc;
}
