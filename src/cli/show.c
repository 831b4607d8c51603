/* show: see show.h. One function a kind of event, and a table of them. */
#include "cli/show.h"

#include "audit/net_names.h"
#include "base/clock.h"
#include "base/printable.h"

#include <stdio.h>

#define ARGV_SHOWN 200

void st_show_text(struct st_buf *out, struct st_str s)
{
    if (s.p)
        st_add_printable(out, s.p, s.len);
}

void st_show_bytes(struct st_buf *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double n = (double)bytes;
    size_t unit = 0;

    while (n >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        n /= 1000;
        unit++;
    }
    st_buf_addf(out, unit && n < 100 ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

const char *st_show_outcome(const struct st_verdict *v)
{
    if (v->action == ST_ACT_PAUSED || v->action == ST_ACT_KILLED)
        return st_action_name(v->action);
    return st_result_name(v->result);
}

void st_show_argv(struct st_buf *out, struct st_str argv, size_t most)
{
    size_t start = out->len;

    for (size_t i = 0; i < argv.len && out->len - start < most;) {
        size_t len = strnlen(argv.p + i, argv.len - i);

        if (i)
            st_buf_addc(out, ' ');
        if (len == 0)
            st_buf_adds(out, "''");
        st_show_text(out, (struct st_str){.p = argv.p + i, .len = len > most ? most : len});
        i += len + 1;
    }
    if (out->len - start >= most)
        st_buf_adds(out, " …");
}

/* What is odd about the file that is executed. */
static void show_program(struct st_buf *out, const struct st_program *p)
{
    st_buf_adds(out, p->memfd ? ", in memory only" : p->deleted ? ", deleted" : "");
    st_buf_adds(out, p->is_new ? ", new in this run" : "");
}

static void show_filesystem(struct st_buf *out, const struct st_decoded *d)
{
    const struct st_ev_filesystem *fs = &d->ev.fs;
    bool first = true;

    if (fs->op == ST_FS_OPEN && fs->access) {
        for (unsigned bit = 1; bit & ST_ACCESS_ALL; bit <<= 1)
            if (fs->access & bit) {
                st_buf_addf(out, "%s%s", first ? "" : "+", st_access_name(bit));
                first = false;
            }
    } else {
        st_buf_adds(out, st_fs_op_name(fs->op));
    }
    st_buf_addc(out, ' ');
    st_show_text(out, fs->path);
    if (fs->target.p) {
        st_buf_adds(out, " -> ");
        st_show_text(out, fs->target);
    }
    if (fs->op == ST_FS_EXEC)
        show_program(out, &fs->program);
}

static void show_addr(struct st_buf *out, const struct st_addr *addr, bool brackets)
{
    char text[ST_ADDR_TEXT_SIZE];

    st_addr_format(addr, text);
    st_buf_addf(out, brackets && addr->family == 6 ? "[%s]" : "%s", text);
}

static void show_network(struct st_buf *out, const struct st_decoded *d)
{
    const struct st_ev_network *net = &d->ev.net;
    char protocol[16];

    if (net->host.p)
        st_show_text(out, net->host);
    else if (net->addr.family)
        show_addr(out, &net->addr, true);
    else
        st_buf_addc(out, '?');
    st_buf_addf(out, ":%u", net->port);
    if (net->host.p && net->addr.family) {
        st_buf_adds(out, " (");
        show_addr(out, &net->addr, false);
        st_buf_addc(out, ')');
    }
    if (d->dialect == ST_DIALECT_CURRENT) {
        *st_put_protocol(protocol, net->protocol) = '\0';
        st_buf_addf(out, " %.*s %s", (int)strlen(protocol) - 2, protocol + 1, st_net_state_name(net->state));
    }
    if (net->bytes_sent >= 0) {
        st_buf_adds(out, ", sent ");
        st_show_bytes(out, (uint64_t)net->bytes_sent);
    }
    if (net->bytes_received >= 0) {
        st_buf_adds(out, ", received ");
        st_show_bytes(out, (uint64_t)net->bytes_received);
    }
}

static void show_dns(struct st_buf *out, const struct st_decoded *d)
{
    char qtype[16];

    *st_put_qtype(qtype, d->ev.dns.qtype) = '\0';
    st_buf_addf(out, "%.*s ", (int)strlen(qtype) - 2, qtype + 1);
    st_show_text(out, d->ev.dns.name);
    for (size_t i = 0; i < d->ev.dns.n_answers; i++) {
        st_buf_adds(out, i ? ", " : " = ");
        st_show_text(out, d->ev.dns.answers[i]);
    }
}

static void show_process(struct st_buf *out, const struct st_decoded *d)
{
    const struct st_ev_process *p = &d->ev.proc;

    st_buf_adds(out, st_proc_op_name(p->op));
    if (p->path.p) {
        st_buf_addc(out, ' ');
        st_show_text(out, p->path);
    }
    if (p->argv.p) {
        st_buf_adds(out, " [");
        st_show_argv(out, p->argv, ARGV_SHOWN);
        st_buf_addc(out, ']');
    }
    if (p->interpreter.p) {
        st_buf_adds(out, " by ");
        st_show_text(out, p->interpreter);
    }
    show_program(out, &p->program);
    if (p->op == ST_PROC_EXIT && p->exit_code != ST_UNKNOWN)
        st_buf_addf(out, " code %lld", (long long)p->exit_code);
    if (p->op == ST_PROC_EXIT && p->exit_signal != ST_UNKNOWN)
        st_buf_addf(out, " signal %lld", (long long)p->exit_signal);
}

static void show_syscall(struct st_buf *out, const struct st_decoded *d)
{
    st_show_text(out, d->ev.sys.name);
    if (d->ev.sys.args.p) {
        st_buf_addc(out, ' ');
        st_show_text(out, d->ev.sys.args);
    }
}

/* Payloads that are JSON anyway are shown as such, cut to a line's measure. */
static void show_json(struct st_buf *out, const struct st_decoded *d)
{
    struct st_str s = d->ev.json;
    bool cut = s.len > 200;

    if (cut)
        s.len = 200;
    while (cut && s.len && ((unsigned char)s.p[s.len] & 0xc0) == 0x80)
        s.len--;
    st_show_text(out, s);
    if (cut)
        st_buf_adds(out, " …");
}

void st_show_subject(struct st_buf *out, const struct st_decoded *d)
{
    static void (*const shows[ST_EV_TYPES])(struct st_buf *, const struct st_decoded *) = {
        [ST_EV_FILESYSTEM] = show_filesystem,   [ST_EV_NETWORK_EGRESS] = show_network,
        [ST_EV_NETWORK_INGRESS] = show_network, [ST_EV_DNS_QUERY] = show_dns,
        [ST_EV_PROCESS] = show_process,         [ST_EV_SYSCALL] = show_syscall,
    };

    if (d->known_type && shows[d->ev.type])
        shows[d->ev.type](out, d);
    else
        show_json(out, d);
    if (d->ev.count > 1)
        st_buf_addf(out, " (%llu times)", (unsigned long long)d->ev.count);
}

void st_show_actor(struct st_buf *out, const struct st_decoded *d)
{
    const struct st_process *p = &d->ev.process;

    if (!p->present || !d->known_type)
        return;
    st_show_text(out, p->comm.p ? p->comm : p->exe);
    if (p->container_pid || p->pid)
        st_buf_addf(out, "[%d]", (int)(p->container_pid ? p->container_pid : p->pid));
}

static const char *color_of(const struct st_verdict *v)
{
    if (v->action == ST_ACT_PAUSED || v->action == ST_ACT_KILLED)
        return "\033[1;35m";
    if (v->result == ST_DENY)
        return "\033[1;31m";
    return v->result == ST_ANOMALY ? "\033[1;33m" : "\033[32m";
}

void st_show_line(struct st_buf *out, const struct st_decoded *d, const struct st_verdict *verdict,
                  bool color)
{
    char time[ST_RFC3339_SIZE];

    st_format_rfc3339(d->ev.wall_us, time);
    st_buf_addf(out, "%7llu  %s%.10s %.12s%s  ", (unsigned long long)d->seq, color ? "\033[2m" : "", time,
                time + 11, color ? "\033[0m" : "");
    st_buf_addf(out, "%s%-7s%s  ", color ? color_of(verdict) : "", st_show_outcome(verdict),
                color ? "\033[0m" : "");
    st_buf_addf(out, "%s%-18.*s%s  ", color ? "\033[36m" : "", (int)d->type_name.len, d->type_name.p,
                color ? "\033[0m" : "");
    st_show_subject(out, d);
    if (d->ev.process.present && d->known_type) {
        st_buf_adds(out, color ? "  \033[2m" : "  ");
        st_show_actor(out, d);
        st_buf_adds(out, color ? "\033[0m" : "");
    }
    if (verdict->rule.p && (verdict->result != ST_ALLOW || verdict->action != ST_ACT_NONE)) {
        st_buf_adds(out, "  by ");
        st_show_text(out, verdict->rule);
    }
    st_buf_addc(out, '\n');
}
