/* decode: see decode.h. The tables mirror payload.c: what is written there is read here. */
#include "audit/decode.h"

#include "audit/decode_fields.h"
#include "audit/net_names.h"
#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

struct st_decoder {
    struct st_arena arena;
};

#define EV(member) offsetof(struct st_event, member)
#define COMMON                                                                                               \
    {"count", ST_FIELD_COUNT, EV(count), NULL}, {"first_time", ST_FIELD_TIME, EV(first_us), NULL},           \
        {"last_time", ST_FIELD_TIME, EV(last_us), NULL},                                                     \
    {                                                                                                        \
        "process", ST_FIELD_PROCESS, EV(process), NULL                                                       \
    }
#define STR(key, member)                                                                                     \
    {key, ST_FIELD_STR, EV(member), NULL},                                                                   \
    {                                                                                                        \
        key "_b64", ST_FIELD_BYTES, EV(member), NULL                                                         \
    }
#define INT(key, member)                                                                                     \
    {                                                                                                        \
        key, ST_FIELD_INT, EV(member), NULL                                                                  \
    }
#define BOOL(key, member)                                                                                    \
    {                                                                                                        \
        key, ST_FIELD_BOOL, EV(member), NULL                                                                 \
    }

static const struct st_field filesystem_fields[] = {
    COMMON,
    {"access", ST_FIELD_ACCESS, EV(fs.access), NULL},
    BOOL("blocked", fs.blocked),
    BOOL("deleted", fs.program.deleted),
    {"dev", ST_FIELD_COUNT, EV(fs.dev), NULL},
    {"ino", ST_FIELD_COUNT, EV(fs.ino), NULL},
    BOOL("memfd", fs.program.memfd),
    BOOL("new", fs.program.is_new),
    {"op", ST_FIELD_WORD, EV(fs.op), st_fs_op_by_name},
    STR("path", fs.path),
    STR("sha256", fs.program.sha256),
    INT("size", fs.size),
    STR("target", fs.target),
    BOOL("unhashed", fs.program.unhashed),
};

/* One table for both directions and both dialects: the names of the far end differ, the fields do not. */
#define FAR_END(prefix)                                                                                      \
    STR(prefix "_host", net.host),                                                                           \
        {prefix "_host_source", ST_FIELD_WORD, EV(net.host_source), st_host_source_by_name},                 \
        {prefix "_ip", ST_FIELD_ADDR, EV(net.addr), NULL},                                                   \
    {                                                                                                        \
        prefix "_port", ST_FIELD_U16, EV(net.port), NULL                                                     \
    }

static const struct st_field network_fields[] = {
    COMMON,
    FAR_END("dst"),
    FAR_END("src"),
    FAR_END("dest"),
    BOOL("blocked", net.blocked),
    INT("bytes_received", net.bytes_received),
    INT("bytes_sent", net.bytes_sent),
    INT("duration_ms", net.duration_ms),
    INT("packets_received", net.packets_received),
    INT("packets_sent", net.packets_sent),
    {"protocol", ST_FIELD_BYTE, EV(net.protocol), st_protocol_by_name},
    {"state", ST_FIELD_WORD, EV(net.state), st_net_state_by_name},
};

static const struct st_field dns_fields[] = {
    COMMON,
    {"answers", ST_FIELD_STRINGS, EV(dns.answers), NULL},
    BOOL("blocked", dns.blocked),
    STR("name", dns.name),
    {"qtype", ST_FIELD_HALF, EV(dns.qtype), st_qtype_by_name},
    {"server", ST_FIELD_ADDR, EV(dns.server), NULL},
};

static const struct st_field process_fields[] = {
    COMMON,
    {"argv", ST_FIELD_ARGV, EV(proc.argv), NULL},
    {"argv_b64", ST_FIELD_BYTES, EV(proc.argv), NULL},
    BOOL("blocked", proc.blocked),
    INT("children", proc.children),
    BOOL("deleted", proc.program.deleted),
    INT("depth", proc.depth),
    INT("exit_code", proc.exit_code),
    INT("exit_signal", proc.exit_signal),
    INT("forks", proc.forks),
    BOOL("incomplete", proc.incomplete),
    STR("interpreter", proc.interpreter),
    BOOL("memfd", proc.program.memfd),
    BOOL("new", proc.program.is_new),
    {"op", ST_FIELD_WORD, EV(proc.op), st_proc_op_by_name},
    STR("path", proc.path),
    INT("processes", proc.processes),
    STR("sha256", proc.program.sha256),
    STR("target", proc.target),
    BOOL("unhashed", proc.program.unhashed),
};

static const struct st_field syscall_fields[] = {
    COMMON,
    {"args", ST_FIELD_RAW, EV(sys.args), NULL},
    BOOL("blocked", sys.blocked),
    STR("capability", sys.capability),
    BOOL("memfd", sys.memfd),
    STR("name", sys.name),
};

struct table {
    const struct st_field *fields;
    size_t n;
};

#define TABLE(fields)                                                                                        \
    {                                                                                                        \
        fields, sizeof(fields) / sizeof((fields)[0])                                                         \
    }

static const struct table tables[ST_EV_TYPES] = {
    [ST_EV_FILESYSTEM] = TABLE(filesystem_fields),   [ST_EV_NETWORK_EGRESS] = TABLE(network_fields),
    [ST_EV_NETWORK_INGRESS] = TABLE(network_fields), [ST_EV_DNS_QUERY] = TABLE(dns_fields),
    [ST_EV_PROCESS] = TABLE(process_fields),         [ST_EV_SYSCALL] = TABLE(syscall_fields),
};

struct st_decoder *st_decoder_new(void)
{
    return st_xcalloc(1, sizeof(struct st_decoder));
}

void st_decoder_free(struct st_decoder *d)
{
    if (!d)
        return;
    st_arena_free(&d->arena);
    free(d);
}

void st_decoder_freep(struct st_decoder **d)
{
    st_decoder_free(*d);
    *d = NULL;
}

/* What is unknown unless the record says it. */
static void set_unknown(struct st_event *ev)
{
    if (ev->type == ST_EV_FILESYSTEM) {
        ev->fs.size = ST_UNKNOWN;
    } else if (ev->type == ST_EV_NETWORK_EGRESS || ev->type == ST_EV_NETWORK_INGRESS) {
        ev->net.bytes_sent = ev->net.bytes_received = ev->net.packets_sent = ev->net.packets_received =
            ev->net.duration_ms = ST_UNKNOWN;
    } else if (ev->type == ST_EV_PROCESS) {
        ev->proc.depth = ev->proc.children = ev->proc.processes = ev->proc.forks = ev->proc.exit_code =
            ev->proc.exit_signal = ST_UNKNOWN;
    }
}

static int read_payload(struct st_decoder *d, const struct st_frame *f, struct st_decoded *out,
                        struct st_error *err)
{
    int type = st_event_type_by_name(f->event_type.text);
    struct st_event *ev = &out->ev;

    out->known_type = type >= 0;
    ev->type = type >= 0 ? (enum st_event_type)type : ST_EV_TYPES;
    if (type < 0 || !tables[type].fields) {
        ev->json = f->payload.text;
        return 0;
    }
    set_unknown(ev);
    if (st_fields_read(&d->arena, f->payload, st_frame_rules(f), tables[type].fields, tables[type].n, ev,
                       err) < 0)
        return st_wrap(err, "payload");
    return 0;
}

static const struct st_field verdict_fields[] = {
    {"action", ST_FIELD_WORD, offsetof(struct st_verdict, action), st_action_by_name},
    {"policy_rule", ST_FIELD_STR, offsetof(struct st_verdict, rule), NULL},
    {"reason", ST_FIELD_STR, offsetof(struct st_verdict, reason), NULL},
    {"result", ST_FIELD_WORD, offsetof(struct st_verdict, result), st_result_by_name},
    {"severity", ST_FIELD_WORD, offsetof(struct st_verdict, severity), st_severity_by_name},
};

static int read_verdict(struct st_decoder *d, const struct st_frame *f, struct st_decoded *out,
                        struct st_error *err)
{
    struct st_scan_value sha256;

    if (f->verdict.type != ST_SCAN_OBJECT)
        return 0;
    out->has_verdict = true;
    if (st_fields_read(&d->arena, f->verdict, st_frame_rules(f), verdict_fields,
                       sizeof(verdict_fields) / sizeof(verdict_fields[0]), &out->verdict, err) < 0)
        return st_wrap(err, "verdict");
    sha256 = st_scan_get(f->verdict, "policy_sha256", st_frame_rules(f));
    if (sha256.type == ST_SCAN_STRING)
        out->verdict.policy_sha256 = st_field_text(&d->arena, sha256).p;
    return 0;
}

int st_decode(struct st_decoder *d, const struct st_frame *f, struct st_decoded *out, struct st_error *err)
{
    int tier = st_tier_by_name(f->tier.text), rc;

    *out = (struct st_decoded){.dialect = f->dialect, .seq = f->seq};
    st_arena_reset(&d->arena);
    if (!f->wall_time.plain ||
        !st_parse_rfc3339(f->wall_time.text.p, f->wall_time.text.len, &out->ev.wall_us))
        return st_fail(err, EINVAL, "wall_time: not a time of RFC 3339");
    out->known_tier = tier >= 0;
    out->ev.tier = tier >= 0 ? (enum st_tier)tier : ST_TIER_DERIVED;
    out->event_id = st_field_text(&d->arena, f->event_id);
    out->type_name = st_field_text(&d->arena, f->event_type);
    out->tier_name = st_field_text(&d->arena, f->tier);
    out->agent_id = st_field_text(&d->arena, f->agent_id);
    out->trace_id = st_field_text(&d->arena, f->trace_id);
    rc = read_payload(d, f, out, err);
    return rc < 0 ? rc : read_verdict(d, f, out, err);
}
