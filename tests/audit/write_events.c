/* write_events DIR TRACE AGENT TRACE_ID [ROTATE_BYTES [each]]: events described on standard input, one JSON
 * object a line, through the writer into TRACE, signed by the key in DIR (made where there is none), closed
 * by a final checkpoint. Then every record is decoded, and the payload of what came out must be the payload
 * that went in. For cross_check.py. */
#include "audit/decode.h"
#include "audit/lines.h"
#include "audit/payload.h"
#include "audit/trace.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what, const char *why)
{
    fprintf(stderr, "write_events: %s: %s\n", what, why);
    exit(1);
}

struct spec {
    const struct st_json_node *o;
    struct st_arena *arena;
};

static int64_t integer(const struct spec *s, const char *key, int64_t absent)
{
    int64_t n = absent;

    st_json_int(st_json_get(s->o, key), &n);
    return n;
}

static uint64_t large(const struct spec *s, const char *key)
{
    size_t len;
    const char *digits = st_json_number(st_json_get(s->o, key), &len);

    return digits ? strtoull(digits, NULL, 10) : 0;
}

/* A string of hex digits as bytes. */
static struct st_str unhex(const struct spec *s, const struct st_json_node *node)
{
    size_t len;
    const char *hex = st_json_str(node, &len);
    char *out;

    if (!hex)
        return (struct st_str){0};
    out = st_arena_alloc(s->arena, len / 2 + 1);
    for (size_t i = 0; i < len / 2; i++) {
        unsigned byte;

        if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
            die("hex", hex);
        out[i] = (char)byte;
    }
    return (struct st_str){.p = out, .len = len / 2};
}

static struct st_str bytes(const struct spec *s, const char *key)
{
    return unhex(s, st_json_get(s->o, key));
}

static struct st_str raw(const struct spec *s, const char *key)
{
    struct st_str out = {0};

    out.p = st_json_str(st_json_get(s->o, key), &out.len);
    return out;
}

static int named(const struct spec *s, const char *key, int (*by_name)(struct st_str))
{
    int n = by_name(raw(s, key));

    if (n < 0)
        die("unknown word for", key);
    return n;
}

static void read_process(const struct spec *s, struct st_process *p)
{
    struct spec in = {st_json_get(s->o, "process"), s->arena};
    const struct st_json_node *ancestry = st_json_get(in.o, "ancestry");
    struct st_ancestor *items;

    if (!in.o)
        return;
    *p = (struct st_process){.present = true,
                             .incomplete = st_json_true(st_json_get(in.o, "incomplete")),
                             .pid = (pid_t)integer(&in, "pid", 0),
                             .container_pid = (pid_t)integer(&in, "container_pid", 0),
                             .uid = integer(&in, "uid", ST_UNKNOWN),
                             .gid = integer(&in, "gid", ST_UNKNOWN),
                             .comm = bytes(&in, "comm"),
                             .exe = bytes(&in, "exe"),
                             .cwd = bytes(&in, "cwd"),
                             .argv = bytes(&in, "argv")};
    items = st_arena_alloc(s->arena, st_json_count(ancestry) * sizeof(*items));
    p->ancestry = items;
    st_json_each (item, ancestry) {
        struct spec a = {item, s->arena};

        *items++ = (struct st_ancestor){
            .pid = (pid_t)integer(&a, "pid", 0), .comm = bytes(&a, "comm"), .exe = bytes(&a, "exe")};
    }
    p->n_ancestry = st_json_count(ancestry);
}

static void read_network(const struct spec *s, struct st_ev_network *net)
{
    *net = (struct st_ev_network){.host = bytes(s, "host"),
                                  .host_source =
                                      (enum st_host_source)named(s, "host_source", st_host_source_by_name),
                                  .port = (uint16_t)integer(s, "port", 0),
                                  .protocol = (uint8_t)integer(s, "protocol", 0),
                                  .state = (enum st_net_state)named(s, "state", st_net_state_by_name),
                                  .bytes_sent = integer(s, "bytes_sent", ST_UNKNOWN),
                                  .bytes_received = integer(s, "bytes_received", ST_UNKNOWN),
                                  .packets_sent = integer(s, "packets_sent", ST_UNKNOWN),
                                  .packets_received = integer(s, "packets_received", ST_UNKNOWN),
                                  .duration_ms = integer(s, "duration_ms", ST_UNKNOWN),
                                  .blocked = st_json_true(st_json_get(s->o, "blocked"))};
    if (raw(s, "ip").p && !st_addr_parse(raw(s, "ip"), &net->addr))
        die("ip", raw(s, "ip").p);
}

static void read_dns(const struct spec *s, struct st_ev_dns *dns)
{
    const struct st_json_node *answers = st_json_get(s->o, "answers");
    struct st_str *items = st_arena_alloc(s->arena, st_json_count(answers) * sizeof(*items));

    *dns = (struct st_ev_dns){.name = bytes(s, "name"),
                              .qtype = (uint16_t)integer(s, "qtype", 0),
                              .answers = items,
                              .n_answers = st_json_count(answers),
                              .blocked = st_json_true(st_json_get(s->o, "blocked"))};
    st_json_each (item, answers)
        *items++ = unhex(s, item);
    if (raw(s, "ip").p && !st_addr_parse(raw(s, "ip"), &dns->server))
        die("ip", raw(s, "ip").p);
}

static struct st_program program(const struct spec *s)
{
    return (struct st_program){.sha256 = bytes(s, "sha256"),
                               .is_new = st_json_true(st_json_get(s->o, "new")),
                               .deleted = st_json_true(st_json_get(s->o, "deleted")),
                               .memfd = st_json_true(st_json_get(s->o, "memfd")),
                               .unhashed = st_json_true(st_json_get(s->o, "unhashed"))};
}

static void read_specific(const struct spec *s, struct st_event *ev)
{
    bool blocked = st_json_true(st_json_get(s->o, "blocked"));

    if (ev->type == ST_EV_FILESYSTEM)
        ev->fs = (struct st_ev_filesystem){.op = (enum st_fs_op)named(s, "op", st_fs_op_by_name),
                                           .access = (unsigned)integer(s, "access", 0),
                                           .path = bytes(s, "path"),
                                           .target = bytes(s, "target"),
                                           .size = integer(s, "size", ST_UNKNOWN),
                                           .dev = large(s, "dev"),
                                           .ino = large(s, "ino"),
                                           .program = program(s),
                                           .blocked = blocked};
    else if (ev->type == ST_EV_NETWORK_EGRESS || ev->type == ST_EV_NETWORK_INGRESS)
        read_network(s, &ev->net);
    else if (ev->type == ST_EV_DNS_QUERY)
        read_dns(s, &ev->dns);
    else if (ev->type == ST_EV_PROCESS)
        ev->proc = (struct st_ev_process){.op = (enum st_proc_op)named(s, "op", st_proc_op_by_name),
                                          .path = bytes(s, "path"),
                                          .interpreter = bytes(s, "interpreter"),
                                          .target = bytes(s, "target"),
                                          .argv = bytes(s, "argv"),
                                          .incomplete = st_json_true(st_json_get(s->o, "incomplete")),
                                          .program = program(s),
                                          .depth = integer(s, "depth", ST_UNKNOWN),
                                          .children = integer(s, "children", ST_UNKNOWN),
                                          .processes = integer(s, "processes", ST_UNKNOWN),
                                          .forks = integer(s, "forks", ST_UNKNOWN),
                                          .exit_code = integer(s, "exit_code", ST_UNKNOWN),
                                          .exit_signal = integer(s, "exit_signal", ST_UNKNOWN),
                                          .blocked = blocked};
    else if (ev->type == ST_EV_SYSCALL)
        ev->sys = (struct st_ev_syscall){.name = bytes(s, "name"),
                                         .args = raw(s, "args"),
                                         .memfd = st_json_true(st_json_get(s->o, "memfd")),
                                         .blocked = blocked};
    else
        ev->json = raw(s, "json");
}

static void append(struct st_trace *t, const char *line, size_t len, struct st_arena *arena)
{
    st_auto_json doc = NULL;
    char id[ST_EVENT_ID_SIZE];
    struct st_error err;
    struct st_verdict v = {0};

    if (st_json_parse(line, len, ST_JSON_DEFAULT_LIMITS, &doc, &err) < 0)
        die("input", err.msg);
    struct spec s = {st_json_root(doc), arena}, in = {st_json_get(st_json_root(doc), "verdict"), arena};
    struct st_event ev = {.type = (enum st_event_type)named(&s, "type", st_event_type_by_name),
                          .tier = (enum st_tier)named(&s, "tier", st_tier_by_name),
                          .wall_us = integer(&s, "wall_us", 0),
                          .count = large(&s, "count"),
                          .first_us = integer(&s, "first_us", 0),
                          .last_us = integer(&s, "last_us", 0)};
    read_process(&s, &ev.process);
    read_specific(&s, &ev);
    if (in.o)
        v = (struct st_verdict){.result = (enum st_result)named(&in, "result", st_result_by_name),
                                .severity = (enum st_severity)named(&in, "severity", st_severity_by_name),
                                .action = (enum st_action)named(&in, "action", st_action_by_name),
                                .rule = bytes(&in, "rule"),
                                .reason = bytes(&in, "reason"),
                                .policy_sha256 = raw(&in, "policy_sha256").p};
    if (st_trace_append(t, &ev, in.o ? &v : NULL, id, &err) < 0)
        die("append", err.msg);
}

static void check_decoding(const char *path)
{
    st_auto_fd fd = open(path, O_RDONLY | O_CLOEXEC);
    st_auto_lines lines = st_lines_of_fd(fd);
    st_auto_decoder decoder = st_decoder_new();
    st_auto_buf scratch = ST_BUF_INIT;
    struct st_line line;
    struct st_error err;

    while (st_lines_next(lines, &line, &err) > 0) {
        struct st_decoded d;
        struct st_frame f;
        const char *why;
        char *again, *end;

        if (st_frame_read(line.text, &scratch, &f, &why) != ST_FRAME_OK)
            die("read", why);
        if (st_decode(decoder, &f, &d, &err) < 0)
            die("decode", err.msg);
        again = st_xmalloc(st_payload_bound(&d.ev));
        end = st_payload_put(again, &d.ev);
        if ((size_t)(end - again) != f.payload.text.len ||
            memcmp(again, f.payload.text.p, f.payload.text.len) != 0)
            die("decoded to something else", line.text.p);
        free(again);
    }
}

int main(int argc, char **argv)
{
    struct st_trace_options o = {.path = argc >= 5 ? argv[2] : NULL};
    st_auto_signer signer = NULL;
    struct st_public_key public;
    struct st_arena arena = {0};
    st_auto_free char *line = NULL;
    size_t cap = 0;
    struct st_error err;
    struct st_trace *t;
    ssize_t n;

    if (argc < 5)
        die("usage", "write_events DIR TRACE AGENT TRACE_ID [ROTATE_BYTES [each]]");
    if ((st_keygen(argv[1], &public, &err) < 0 && err.errnum != EEXIST) ||
        st_signer_load(argv[1], &signer, &err) < 0)
        die("key", err.msg);
    o.agent_id = argv[3];
    o.trace_id = argv[4];
    o.signer = signer;
    o.rotate_bytes = argc > 5 ? strtoull(argv[5], NULL, 10) : 0;
    if (st_trace_open(&o, &t, &err) < 0)
        die("open", err.msg);
    while ((n = getline(&line, &cap, stdin)) > 0) {
        append(t, line, (size_t)n, &arena);
        if (argc > 6 && st_trace_force(t, &err) < 0)
            die("force", err.msg);
        st_arena_reset(&arena);
    }
    st_arena_free(&arena);
    if (st_trace_checkpoint(t, true, &err) < 0)
        die("checkpoint", err.msg);
    st_trace_close(t);
    check_decoding(argv[2]);
    return 0;
}
