/* fields: see fields.h. One table; the older names point at the same getters. */
#include "policy/fields.h"

#include "model/host.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

typedef void getter(const struct st_event *e, struct field_value *v);

static void set_str(struct field_value *v, struct st_str s)
{
    v->known = s.p != NULL;
    v->str = s;
}

static void set_int(struct field_value *v, int64_t n)
{
    v->known = n != ST_UNKNOWN;
    v->number = true;
    v->n = n;
}

static void set_addr(struct field_value *v, const struct st_addr *a)
{
    _Static_assert(FIELD_SIZE >= ST_ADDR_TEXT_SIZE, "an address fits");
    st_addr_format(a, v->room);
    if (a->family)
        set_str(v, st_str(v->room));
}

static bool is_net(const struct st_event *e)
{
    return e->type == ST_EV_NETWORK_EGRESS || e->type == ST_EV_NETWORK_INGRESS;
}

static void get_event_type(const struct st_event *e, struct field_value *v)
{
    set_str(v, st_str(st_event_type_name(e->type)));
}

static void get_tier(const struct st_event *e, struct field_value *v)
{
    set_str(v, st_str(st_tier_name(e->tier)));
}

static void get_path(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_FILESYSTEM)
        set_str(v, e->fs.path);
    else if (e->type == ST_EV_PROCESS)
        set_str(v, e->proc.path);
}

static void get_target(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_FILESYSTEM)
        set_str(v, e->fs.target);
}

static void get_op(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_FILESYSTEM)
        set_str(v, st_str(st_fs_op_name(e->fs.op)));
    else if (e->type == ST_EV_PROCESS)
        set_str(v, st_str(st_proc_op_name(e->proc.op)));
}

static void get_access(const struct st_event *e, struct field_value *v)
{
    if (e->type != ST_EV_FILESYSTEM)
        return;
    v->set = e->fs.access;
    v->known = v->set != 0;
}

static void get_size(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_FILESYSTEM)
        set_int(v, e->fs.size);
}

/* In the form in which names are compared; what is no name stays as it is. */
static void set_host(struct field_value *v, struct st_str name)
{
    size_t len = st_host_canonical(name, v->room);

    _Static_assert(FIELD_SIZE >= ST_HOST_SIZE, "a name fits");
    v->fold = true;
    set_str(v, len ? (struct st_str){v->room, len} : name);
}

static void get_host(const struct st_event *e, struct field_value *v)
{
    if (is_net(e))
        set_host(v, e->net.host);
}

static void get_ip(const struct st_event *e, struct field_value *v)
{
    if (is_net(e))
        set_addr(v, &e->net.addr);
}

static void get_port(const struct st_event *e, struct field_value *v)
{
    if (is_net(e))
        set_int(v, e->net.port);
}

static void get_protocol(const struct st_event *e, struct field_value *v)
{
    if (!is_net(e))
        return;
    if (e->net.protocol == IPPROTO_TCP || e->net.protocol == IPPROTO_UDP) {
        set_str(v, st_str(e->net.protocol == IPPROTO_TCP ? "tcp" : "udp"));
    } else {
        snprintf(v->room, sizeof(v->room), "%u", e->net.protocol);
        set_str(v, st_str(v->room));
    }
}

static void get_state(const struct st_event *e, struct field_value *v)
{
    if (is_net(e))
        set_str(v, st_str(st_net_state_name(e->net.state)));
}

static void get_bytes_sent(const struct st_event *e, struct field_value *v)
{
    if (is_net(e))
        set_int(v, e->net.bytes_sent);
}

static void get_bytes_received(const struct st_event *e, struct field_value *v)
{
    if (is_net(e))
        set_int(v, e->net.bytes_received);
}

static void get_name(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_SYSCALL)
        set_str(v, e->sys.name);
    else if (e->type == ST_EV_DNS_QUERY)
        set_host(v, e->dns.name);
}

static void get_qtype(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_DNS_QUERY)
        set_int(v, e->dns.qtype);
}

static void get_interpreter(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_PROCESS)
        set_str(v, e->proc.interpreter);
}

static void get_sha256(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_PROCESS)
        set_str(v, e->proc.program.sha256);
    else if (e->type == ST_EV_FILESYSTEM)
        set_str(v, e->fs.program.sha256);
}

static void get_depth(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_PROCESS)
        set_int(v, e->proc.depth);
}

static void get_children(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_PROCESS)
        set_int(v, e->proc.children);
}

static void get_processes(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_PROCESS)
        set_int(v, e->proc.processes);
}

static void get_forks(const struct st_event *e, struct field_value *v)
{
    if (e->type == ST_EV_PROCESS)
        set_int(v, e->proc.forks);
}

static void get_comm(const struct st_event *e, struct field_value *v)
{
    if (e->process.present)
        set_str(v, e->process.comm);
}

static void get_exe(const struct st_event *e, struct field_value *v)
{
    if (e->process.present)
        set_str(v, e->process.exe);
}

static void get_cwd(const struct st_event *e, struct field_value *v)
{
    if (e->process.present)
        set_str(v, e->process.cwd);
}

static void get_uid(const struct st_event *e, struct field_value *v)
{
    if (e->process.present)
        set_int(v, e->process.uid);
}

static void get_gid(const struct st_event *e, struct field_value *v)
{
    if (e->process.present)
        set_int(v, e->process.gid);
}

enum kind { TEXT, NUMBER, PATH, HOST, ADDRESS };

static const struct field {
    const char *name;
    getter *get;
    enum kind kind;
} fields[] = {
    {"event_type", get_event_type, TEXT},
    {"evidence_tier", get_tier, TEXT},
    {"path", get_path, PATH},
    {"target", get_target, PATH},
    {"op", get_op, TEXT},
    {"access", get_access, TEXT},
    {"size", get_size, NUMBER},
    {"dst_host", get_host, HOST},
    {"dst_ip", get_ip, ADDRESS},
    {"dst_port", get_port, NUMBER},
    {"protocol", get_protocol, TEXT},
    {"state", get_state, TEXT},
    {"bytes_sent", get_bytes_sent, NUMBER},
    {"bytes_received", get_bytes_received, NUMBER},
    {"name", get_name, HOST},
    {"qtype", get_qtype, NUMBER},
    {"interpreter", get_interpreter, PATH},
    {"sha256", get_sha256, TEXT},
    {"depth", get_depth, NUMBER},
    {"children", get_children, NUMBER},
    {"processes", get_processes, NUMBER},
    {"forks", get_forks, NUMBER},
    {"comm", get_comm, TEXT},
    {"exe", get_exe, PATH},
    {"cwd", get_cwd, PATH},
    {"uid", get_uid, NUMBER},
    {"gid", get_gid, NUMBER},
    /* the older dialect */
    {"dest_host", get_host, HOST},
    {"dest_ip", get_ip, ADDRESS},
    {"dest_port", get_port, NUMBER},
    {"syscall", get_name, TEXT},
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

int st_field_by_name(const char *name)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if (strcmp(fields[i].name, name) == 0)
            return (int)i;
    return -1;
}

const char *st_field_name(unsigned field)
{
    return field < N_FIELDS ? fields[field].name : "?";
}

size_t st_field_count(void)
{
    return N_FIELDS;
}

bool st_field_is_number(unsigned field)
{
    return fields[field].kind == NUMBER;
}

bool st_field_is_path(unsigned field)
{
    return fields[field].kind == PATH;
}

const char *st_field_canonical(unsigned field, const char *text, char *room)
{
    struct st_addr addr;

    if (fields[field].kind == HOST && st_host_canonical(st_str(text), room))
        return room;
    if (fields[field].kind != ADDRESS)
        return text;
    if (!st_addr_parse(st_str(text), &addr))
        return NULL;
    st_addr_format(&addr, room);
    return room;
}

void st_field_of(const struct st_event *event, unsigned field, struct field_value *out)
{
    out->known = out->number = out->fold = false;
    out->set = 0;
    out->str = (struct st_str){NULL, 0};
    fields[field].get(event, out);
}
