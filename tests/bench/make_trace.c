/* make_trace FILE EVENTS [AGENT [FIRST [ROTATE]]]: a trace of so many events with a true chain, as a busy
 * agent would leave it: a build that reads and writes some ten thousand files again and again, runs programs,
 * asks for names and connects, and is refused now and then. A trace that is there is gone on with. FIRST: the
 * number of the first event, so that a second part differs. ROTATE: bytes after which it goes on in another
 * file. */
#include "audit/trace.h"
#include "base/cleanup.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES 20000
#define PROGRAMS 40
#define HOSTS 500

struct maker {
    char path[128], host[64], exe[64], argv[256];
    size_t argv_len;
    struct st_event ev;
    struct st_verdict v;
};

/* Numbers that look chosen, and are the same each time. */
static unsigned mix(unsigned n)
{
    n ^= n >> 16;
    n *= 0x7feb352du;
    n ^= n >> 15;
    n *= 0x846ca68bu;
    return n ^ (n >> 16);
}

static struct st_process process_of(struct maker *m, unsigned n)
{
    unsigned program = mix(n / 7) % PROGRAMS;
    int len;

    snprintf(m->exe, sizeof(m->exe), "/usr/bin/tool-%u", program);
    len = snprintf(m->argv, sizeof(m->argv), "tool-%u", program) + 1;
    len += snprintf(m->argv + len, sizeof(m->argv) - (size_t)len, "--input=module-%u", mix(n / 50) % 300) + 1;
    m->argv_len = (size_t)len;
    return (struct st_process){.present = true,
                               .pid = (pid_t)(2000 + n / 50 % 30000),
                               .container_pid = (pid_t)(2 + n / 50 % 3000),
                               .uid = 0,
                               .gid = 0,
                               .comm = st_str("tool"),
                               .exe = st_str(m->exe),
                               .cwd = ST_STR_LIT("/workspace"),
                               .argv = {.p = m->argv, .len = m->argv_len}};
}

static void file_event(struct maker *m, unsigned n)
{
    unsigned file = mix(n) % FILES;

    snprintf(m->path, sizeof(m->path), "/workspace/src/component-%u/module-%u/file_%u.c", file % 17,
             file % 300, file);
    m->ev.type = ST_EV_FILESYSTEM;
    m->ev.fs = (struct st_ev_filesystem){.op = n % 3 ? ST_FS_OPEN : ST_FS_MODIFY,
                                         .access = n % 3 ? ST_ACCESS_READ : ST_ACCESS_WRITE,
                                         .path = st_str(m->path),
                                         .size = (int64_t)(mix(n) % 100000),
                                         .dev = 65024,
                                         .ino = 1000 + file};
}

static void refused_event(struct maker *m)
{
    m->ev.type = ST_EV_FILESYSTEM;
    m->ev.fs = (struct st_ev_filesystem){.access = ST_ACCESS_READ,
                                         .path = ST_STR_LIT("/root/.ssh/id_ed25519"),
                                         .size = ST_UNKNOWN,
                                         .blocked = true};
    m->v =
        (struct st_verdict){.result = ST_DENY,
                            .severity = ST_SEV_CRITICAL,
                            .action = ST_ACT_DENIED,
                            .rule = ST_STR_LIT("secrets"),
                            .reason = ST_STR_LIT("reading /root/.ssh/id_ed25519 is refused by rule secrets")};
}

static void net_event(struct maker *m, unsigned n)
{
    unsigned host = mix(n) % HOSTS;

    snprintf(m->host, sizeof(m->host), "api-%u.example.com", host);
    m->ev.type = ST_EV_NETWORK_EGRESS;
    m->ev.net = (struct st_ev_network){.host = st_str(m->host),
                                       .host_source = ST_HOST_SNI,
                                       .port = 443,
                                       .protocol = IPPROTO_TCP,
                                       .state = ST_NET_CLOSED,
                                       .bytes_sent = mix(n) % 5000,
                                       .bytes_received = mix(n) % 90000,
                                       .packets_sent = 12,
                                       .packets_received = 20,
                                       .duration_ms = 40};
    snprintf(m->path, sizeof(m->path), "192.0.2.%u", host % 250 + 1);
    st_addr_parse(st_str(m->path), &m->ev.net.addr);
}

static void name_event(struct maker *m, unsigned n)
{
    snprintf(m->host, sizeof(m->host), "api-%u.example.com", mix(n) % HOSTS);
    m->ev.type = ST_EV_DNS_QUERY;
    m->ev.dns = (struct st_ev_dns){.name = st_str(m->host), .qtype = 1};
}

static void exec_event(struct maker *m)
{
    m->ev.type = ST_EV_PROCESS;
    m->ev.proc = (struct st_ev_process){.op = ST_PROC_EXEC,
                                        .path = st_str(m->exe),
                                        .argv = {.p = m->argv, .len = m->argv_len},
                                        .depth = 3,
                                        .children = ST_UNKNOWN,
                                        .processes = ST_UNKNOWN,
                                        .forks = ST_UNKNOWN,
                                        .exit_code = ST_UNKNOWN,
                                        .exit_signal = ST_UNKNOWN};
}

static void make_event(struct maker *m, unsigned n)
{
    unsigned kind = mix(n * 3 + 1) % 1000;

    memset(&m->ev, 0, sizeof(m->ev));
    m->v = (struct st_verdict){.rule = ST_STR_LIT("scope")};
    m->ev.wall_us = INT64_C(1774526400000000) + (int64_t)n * 1000;
    m->ev.process = process_of(m, n);
    if (kind < 5)
        refused_event(m);
    else if (kind < 50)
        net_event(m, n);
    else if (kind < 90)
        name_event(m, n);
    else if (kind < 250)
        exec_event(m);
    else
        file_event(m, n);
}

int main(int argc, char **argv)
{
    static struct maker m;
    struct st_trace_options o = {.path = argc > 1 ? argv[1] : "",
                                 .agent_id = argc > 3 ? argv[3] : "bench-agent",
                                 .trace_id = "bench-trace",
                                 .rotate_bytes = argc > 5 ? strtoull(argv[5], NULL, 10) : 0,
                                 .checkpoint_records = 4096};
    unsigned events = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    unsigned first = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
    char id[ST_EVENT_ID_SIZE];
    struct st_error err = {0};
    struct st_trace *t;
    int rc;

    if (argc < 3) {
        fprintf(stderr, "usage: make_trace FILE EVENTS [AGENT [FIRST [ROTATE]]]\n");
        return 2;
    }
    rc = st_trace_open(&o, &t, &err);
    for (unsigned i = 0; rc == 0 && i < events; i++) {
        make_event(&m, first + i);
        rc = st_trace_append(t, &m.ev, &m.v, id, &err);
    }
    if (rc == 0)
        rc = st_trace_checkpoint(t, true, &err);
    if (rc < 0) {
        fprintf(stderr, "make_trace: %s\n", err.msg);
        return 1;
    }
    st_trace_close(t);
    return 0;
}
