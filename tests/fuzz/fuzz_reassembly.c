/* Segments of any place, length and content, on a few flows, against a model that keeps a whole array for
 * each: what the table says of every one, and the stream that comes out, must be what the model says. */
#include "sensors/net/reassembly.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PORTS 6
#define MAX_FLOWS 4
#define MAX_BYTES 3000
#define MAX_STEPS 64
#define FIRST 0xfffffe00u

struct model {
    bool open, refused;
    uint32_t first;
    int64_t heard;
    size_t n;                 /* up to the first gap */
    int16_t bytes[MAX_BYTES]; /* -1: not there */
};

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void open_model(struct model *m, uint32_t first)
{
    m->open = true;
    m->refused = false;
    m->first = first;
    m->n = 0;
    memset(m->bytes, 0xff, sizeof(m->bytes));
}

static enum st_segment_is put_model(struct model *m, uint32_t seq, const uint8_t *data, size_t n)
{
    int64_t at = (int32_t)(seq - m->first);
    size_t before = m->n;

    if (m->refused)
        return ST_SEGMENT_REFUSED;
    if (n == 0 || (at == -1 && n == 1))
        return ST_SEGMENT_NOTHING;
    m->refused = at < 0 || at >= MAX_BYTES;
    for (size_t i = 0; i < n && !m->refused && at + (int64_t)i < MAX_BYTES; i++) {
        int16_t *byte = &m->bytes[at + (int64_t)i];

        m->refused = *byte >= 0 && *byte != data[i];
        *byte = m->refused ? *byte : data[i];
    }
    if (m->refused)
        return ST_SEGMENT_REFUSED;
    while (m->n < MAX_BYTES && m->bytes[m->n] >= 0)
        m->n++;
    if (m->n > before)
        return ST_SEGMENT_MORE;
    return at > (int64_t)before ? ST_SEGMENT_WAITS : ST_SEGMENT_NOTHING;
}

static enum st_segment_is ask_model(struct model *models, const struct st_packet *p, int64_t now)
{
    struct model *m = &models[p->src_port];
    bool syn = p->tcp_flags & ST_TCP_SYN;
    uint32_t seq = p->tcp_seq + syn;
    size_t open = 0;

    for (size_t i = 0; i < PORTS; i++)
        open += models[i].open;
    if (!m->open && !syn)
        return ST_SEGMENT_UNKNOWN;
    if (!m->open && open == MAX_FLOWS)
        return ST_SEGMENT_FULL;
    if (!m->open)
        open_model(m, seq);
    m->refused |= syn && m->first != seq;
    m->heard = now;
    return put_model(m, seq, p->payload, p->payload_len);
}

/* From this byte on. */
static void check_stream(const struct st_flow *flow, const struct model *m, size_t from)
{
    size_t n;
    const uint8_t *bytes = st_flow_bytes(flow, &n);

    demand(m->refused == (st_flow_why(flow) != NULL));
    if (m->refused)
        return;
    demand(n == m->n);
    for (size_t i = from; i < n; i++)
        demand(bytes[i] == m->bytes[i]);
}

static void expire(struct st_flows *flows, struct model *models, int64_t before)
{
    size_t n = 0;

    for (size_t i = 0; i < PORTS; i++)
        if (models[i].open && models[i].heard < before) {
            models[i].open = false;
            n++;
        }
    demand(st_flows_expire(flows, before) == n);
}

/* A step is six bytes: what and of which flow, where, how long, from where in the input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model models[PORTS];
    struct st_flows *flows = st_flows_new(MAX_FLOWS, MAX_BYTES);
    int64_t now = 0;

    memset(models, 0, sizeof(models));
    for (size_t at = 0; at + 6 <= size && now < MAX_STEPS; at += 6, now++) {
        const uint8_t *s = data + at;
        size_t len = s[4] & 0x80   ? s[3] % 16
                     : s[4] & 0x40 ? (size_t)s[3] << 4
                                   : s[3],
               from = ((size_t)s[4] << 8 | s[5]) % size;
        struct st_packet p = {.version = 4, .src.family = 4, .dst.family = 4, .dst_port = 443};
        struct st_flow *flow;
        size_t before;

        p.src_port = (s[0] & 7) % PORTS;
        p.tcp_flags = s[0] & 0x80 ? ST_TCP_SYN : ST_TCP_ACK;
        p.tcp_seq = FIRST - 2 + (p.tcp_flags == ST_TCP_SYN ? s[2] % 2 : (uint32_t)(s[1] % 16 << 8 | s[2]));
        p.payload = data + from;
        p.payload_len = len < size - from ? len : size - from;
        before = models[p.src_port].open && now % 16 ? models[p.src_port].n : 0;
        demand(st_flows_packet(flows, &p, now, &flow) == ask_model(models, &p, now));
        demand((flow != NULL) == models[p.src_port].open);
        if (flow)
            check_stream(flow, &models[p.src_port], before);
        if (flow && (s[0] & 0x78) == 0x78) {
            st_flows_close(flows, flow);
            models[p.src_port].open = false;
        } else if ((s[0] & 0x78) == 0x70) {
            expire(flows, models, now - s[1] % 8);
        }
    }
    st_flows_free(flows);
    return 0;
}
