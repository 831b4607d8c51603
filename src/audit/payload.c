/* payload: struct st_event to canonical JSON, keys in the fixed order, straight into memory.
 *
 * Each kind of event has one function that names its members in canonical order; members in common
 * (count, first_time …) come in where they belong. A string that is not UTF-8 is written with U+FFFD and its
 * exact bytes beside it in NAME_b64. What is unknown is left out. */
#include "audit/payload.h"

#include "audit/net_names.h"
#include "audit/put.h"
#include "base/clock.h"

/* A member: its key with the comma before it. The first member of an object overwrites the comma. */
#define KEY(p, name) ST_PUT_LIT(p, ",\"" name "\":")

#define BEGIN(p) char *const start = (p)
#define END(p) end(p, start)

static char *end(char *p, char *start)
{
    if (p == start) /* no member at all */
        p++;
    *start = '{';
    *p++ = '}';
    return p;
}

/* A string member, and its exact bytes where they could not be shown. */
#define STR(p, name, value)                                                                                  \
    do {                                                                                                     \
        if ((value).p) {                                                                                     \
            bool exact = true;                                                                               \
            (p) = KEY(p, name);                                                                              \
            (p) = st_put_string(p, value, &exact);                                                           \
            if (!exact)                                                                                      \
                (p) = put_bytes(KEY(p, name "_b64"), value);                                                 \
        }                                                                                                    \
    } while (0)

#define INT(p, name, value)                                                                                  \
    do {                                                                                                     \
        if ((int64_t)(value) != ST_UNKNOWN)                                                                  \
            (p) = st_put_int(KEY(p, name), value);                                                           \
    } while (0)

#define BOOL(p, name, value) ((p) = put_bool(KEY(p, name), value))
#define FLAG(p, name, value) ((p) = (value) ? put_bool(KEY(p, name), true) : (p)) /* only where it is so */
#define WORD(p, name, word) ((p) = put_word(KEY(p, name), word))

static char *put_bool(char *p, bool value)
{
    return value ? ST_PUT_LIT(p, "true") : ST_PUT_LIT(p, "false");
}

static char *put_word(char *p, const char *word)
{
    *p++ = '"';
    p = st_put(p, word, strlen(word));
    *p++ = '"';
    return p;
}

static char *put_bytes(char *p, struct st_str s)
{
    *p++ = '"';
    p += st_base64_encode(s.p, s.len, p);
    *p++ = '"';
    return p;
}

static char *put_time(char *p, int64_t us)
{
    *p++ = '"';
    st_format_rfc3339(us, p);
    p += ST_RFC3339_SIZE - 1;
    *p++ = '"';
    return p;
}

/* Inode and device numbers have 64 bits; above 53 they are written as a decimal string, so that no reader
 * rounds one file's number to another's. */
static char *put_id(char *p, uint64_t n)
{
    bool large = n >= (uint64_t)ST_JSON_INT_MAX;

    if (large)
        *p++ = '"';
    p = st_put_u64(p, n);
    if (large)
        *p++ = '"';
    return p;
}

static char *put_access(char *p, unsigned access)
{
    char *first = p;

    *p++ = '[';
    for (unsigned bit = 1; bit & ST_ACCESS_ALL; bit <<= 1) {
        if (!(access & bit))
            continue;
        if (p != first + 1)
            *p++ = ',';
        p = put_word(p, st_access_name(bit));
    }
    *p++ = ']';
    return p;
}

static char *put_addr(char *p, const struct st_addr *a)
{
    char text[ST_ADDR_TEXT_SIZE];

    st_addr_format(a, text);
    return put_word(p, text);
}

static char *put_strings(char *p, const struct st_str *items, size_t n)
{
    bool exact;

    *p++ = '[';
    for (size_t i = 0; i < n; i++) {
        if (i)
            *p++ = ',';
        p = st_put_string(p, items[i].p ? items[i] : ST_STR_LIT(""), &exact);
    }
    *p++ = ']';
    return p;
}

/* NUL-separated words as an array; the last one may lack its NUL where the kernel's text was cut. */
static char *put_argv(char *p, struct st_str argv, bool *exact)
{
    const char *at = argv.p, *stop = argv.p + argv.len;
    char *first = p;

    *p++ = '[';
    while (at < stop) {
        size_t len = strnlen(at, (size_t)(stop - at));

        if (p != first + 1)
            *p++ = ',';
        p = st_put_string(p, (struct st_str){.p = at, .len = len}, exact);
        at += len + 1;
    }
    *p++ = ']';
    return p;
}

static char *put_ancestry(char *p, const struct st_process *proc)
{
    *p++ = '[';
    for (size_t i = 0; i < proc->n_ancestry; i++) {
        const struct st_ancestor *a = &proc->ancestry[i];

        if (i)
            *p++ = ',';
        BEGIN(p);
        STR(p, "comm", a->comm);
        STR(p, "exe", a->exe);
        p = st_put_int(KEY(p, "pid"), a->pid);
        p = END(p);
    }
    *p++ = ']';
    return p;
}

static char *argv_members(char *p, struct st_str argv)
{
    bool exact = true;

    if (!argv.p)
        return p;
    p = put_argv(KEY(p, "argv"), argv, &exact);
    return exact ? p : put_bytes(KEY(p, "argv_b64"), argv);
}

static char *put_process(char *p, const struct st_process *proc)
{
    BEGIN(p);
    if (proc->n_ancestry)
        p = put_ancestry(KEY(p, "ancestry"), proc);
    p = argv_members(p, proc->argv);
    STR(p, "comm", proc->comm);
    if (proc->container_pid)
        INT(p, "container_pid", proc->container_pid);
    STR(p, "cwd", proc->cwd);
    STR(p, "exe", proc->exe);
    INT(p, "gid", proc->gid);
    FLAG(p, "incomplete", proc->incomplete);
    if (proc->pid)
        INT(p, "pid", proc->pid);
    INT(p, "uid", proc->uid);
    return END(p);
}

/* Members that any kind may have, each called for where it sorts. */
static char *count(char *p, const struct st_event *ev)
{
    return ev->count > 1 ? put_id(KEY(p, "count"), ev->count) : p;
}

static char *first_time(char *p, const struct st_event *ev)
{
    return ev->count > 1 ? put_time(KEY(p, "first_time"), ev->first_us) : p;
}

static char *last_time(char *p, const struct st_event *ev)
{
    return ev->count > 1 ? put_time(KEY(p, "last_time"), ev->last_us) : p;
}

static char *process(char *p, const struct st_event *ev)
{
    return ev->process.present ? put_process(KEY(p, "process"), &ev->process) : p;
}

static char *put_filesystem(char *p, const struct st_event *ev)
{
    const struct st_ev_filesystem *fs = &ev->fs;
    bool known = fs->dev || fs->ino;

    BEGIN(p);
    p = put_access(KEY(p, "access"), fs->access);
    BOOL(p, "blocked", fs->blocked);
    p = count(p, ev);
    FLAG(p, "deleted", fs->program.deleted);
    if (known)
        p = put_id(KEY(p, "dev"), fs->dev);
    p = first_time(p, ev);
    if (known)
        p = put_id(KEY(p, "ino"), fs->ino);
    p = last_time(p, ev);
    FLAG(p, "memfd", fs->program.memfd);
    FLAG(p, "new", fs->program.is_new);
    WORD(p, "op", st_fs_op_name(fs->op));
    STR(p, "path", fs->path);
    p = process(p, ev);
    STR(p, "sha256", fs->program.sha256);
    INT(p, "size", fs->size);
    STR(p, "target", fs->target);
    FLAG(p, "unhashed", fs->program.unhashed);
    return END(p);
}

/* Egress names the destination, ingress the source. The two sort alike but for duration_ms, which comes
 * after dst_… and before src_…. */
static char *put_network(char *p, const struct st_event *ev)
{
    const struct st_ev_network *net = &ev->net;
    bool out = ev->type == ST_EV_NETWORK_EGRESS, host = net->host.p && net->host_source != ST_HOST_UNKNOWN;

    BEGIN(p);
    BOOL(p, "blocked", net->blocked);
    INT(p, "bytes_received", net->bytes_received);
    INT(p, "bytes_sent", net->bytes_sent);
    p = count(p, ev);
    if (out) {
        STR(p, "dst_host", net->host);
        if (host)
            WORD(p, "dst_host_source", st_host_source_name(net->host_source));
        if (net->addr.family)
            p = put_addr(KEY(p, "dst_ip"), &net->addr);
        INT(p, "dst_port", (int64_t)net->port);
    }
    INT(p, "duration_ms", net->duration_ms);
    p = first_time(p, ev);
    p = last_time(p, ev);
    INT(p, "packets_received", net->packets_received);
    INT(p, "packets_sent", net->packets_sent);
    p = process(p, ev);
    p = st_put_protocol(KEY(p, "protocol"), net->protocol);
    if (!out) {
        STR(p, "src_host", net->host);
        if (host)
            WORD(p, "src_host_source", st_host_source_name(net->host_source));
        if (net->addr.family)
            p = put_addr(KEY(p, "src_ip"), &net->addr);
        INT(p, "src_port", (int64_t)net->port);
    }
    WORD(p, "state", st_net_state_name(net->state));
    return END(p);
}

static char *put_dns(char *p, const struct st_event *ev)
{
    const struct st_ev_dns *dns = &ev->dns;

    BEGIN(p);
    p = put_strings(KEY(p, "answers"), dns->answers, dns->n_answers);
    BOOL(p, "blocked", dns->blocked);
    p = count(p, ev);
    p = first_time(p, ev);
    p = last_time(p, ev);
    STR(p, "name", dns->name);
    p = process(p, ev);
    p = st_put_qtype(KEY(p, "qtype"), dns->qtype);
    if (dns->server.family)
        p = put_addr(KEY(p, "server"), &dns->server);
    return END(p);
}

static char *put_process_event(char *p, const struct st_event *ev)
{
    const struct st_ev_process *proc = &ev->proc;

    BEGIN(p);
    p = argv_members(p, proc->argv);
    BOOL(p, "blocked", proc->blocked);
    INT(p, "children", proc->children);
    p = count(p, ev);
    FLAG(p, "deleted", proc->program.deleted);
    INT(p, "depth", proc->depth);
    INT(p, "exit_code", proc->exit_code);
    INT(p, "exit_signal", proc->exit_signal);
    p = first_time(p, ev);
    INT(p, "forks", proc->forks);
    FLAG(p, "incomplete", proc->incomplete);
    STR(p, "interpreter", proc->interpreter);
    p = last_time(p, ev);
    FLAG(p, "memfd", proc->program.memfd);
    FLAG(p, "new", proc->program.is_new);
    WORD(p, "op", st_proc_op_name(proc->op));
    STR(p, "path", proc->path);
    p = process(p, ev);
    INT(p, "processes", proc->processes);
    STR(p, "sha256", proc->program.sha256);
    STR(p, "target", proc->target);
    FLAG(p, "unhashed", proc->program.unhashed);
    return END(p);
}

static char *put_syscall(char *p, const struct st_event *ev)
{
    const struct st_ev_syscall *sys = &ev->sys;

    BEGIN(p);
    if (sys->args.p)
        p = st_put(KEY(p, "args"), sys->args.p, sys->args.len);
    BOOL(p, "blocked", sys->blocked);
    STR(p, "capability", sys->capability);
    p = count(p, ev);
    p = first_time(p, ev);
    p = last_time(p, ev);
    FLAG(p, "memfd", sys->memfd);
    STR(p, "name", sys->name);
    p = process(p, ev);
    return END(p);
}

static char *put_json(char *p, const struct st_event *ev)
{
    return ev->json.p ? st_put(p, ev->json.p, ev->json.len) : ST_PUT_LIT(p, "{}");
}

char *st_payload_put(char *p, const struct st_event *ev)
{
    switch (ev->type) {
    case ST_EV_FILESYSTEM: return put_filesystem(p, ev);
    case ST_EV_NETWORK_EGRESS:
    case ST_EV_NETWORK_INGRESS: return put_network(p, ev);
    case ST_EV_DNS_QUERY: return put_dns(p, ev);
    case ST_EV_PROCESS: return put_process_event(p, ev);
    case ST_EV_SYSCALL: return put_syscall(p, ev);
    case ST_EV_LIFECYCLE:
    case ST_EV_FILESYSTEM_SUMMARY:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_SECURITY_RESUME:
    case ST_EV_POLICY_CHANGE:
    case ST_EV_SENSOR:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: break;
    }
    return put_json(p, ev);
}
