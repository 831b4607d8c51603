/* payload_bound: what may be said of a payload before it is written: how long it can get, and whether it
 * fits. */
#include "audit/payload.h"
#include "audit/put.h"
#include "audit/scan.h"

/* All keys, brackets, numbers, times and enumerations of the largest kind, with room to spare. */
#define FIXED 1024
#define FIXED_ANCESTOR 64

/* Kinds that have a struct bring no JSON, but for the arguments of a system call. */
static struct st_str json_of(const struct st_event *ev)
{
    switch (ev->type) {
    case ST_EV_FILESYSTEM:
    case ST_EV_NETWORK_EGRESS:
    case ST_EV_NETWORK_INGRESS:
    case ST_EV_DNS_QUERY:
    case ST_EV_PROCESS: return (struct st_str){0};
    case ST_EV_SYSCALL: return ev->sys.args;
    case ST_EV_LIFECYCLE:
    case ST_EV_FILESYSTEM_SUMMARY:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_SECURITY_RESUME:
    case ST_EV_POLICY_CHANGE:
    case ST_EV_SENSOR:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: break;
    }
    return ev->json;
}

bool st_payload_fits(const struct st_event *ev)
{
    struct st_str json = json_of(ev);

    return !json.p || (json.len && json.p[0] == '{' && st_scan_canonical(json.p, json.len, ST_SCAN_RFC8785));
}

/* A string in quotes, and once more in base64. Absurd lengths count as too long for any record, so that
 * sums can't overflow. */
static size_t bound_str(struct st_str s)
{
    return s.len > ST_RECORD_MAX ? ST_RECORD_BOUND_MAX : s.len * ST_PUT_WORST + ST_BASE64_LEN(s.len);
}

static size_t bound_process(const struct st_process *proc)
{
    size_t n =
        FIXED + bound_str(proc->comm) + bound_str(proc->exe) + bound_str(proc->cwd) + bound_str(proc->argv);

    for (size_t i = 0; i < proc->n_ancestry; i++)
        n += FIXED_ANCESTOR + bound_str(proc->ancestry[i].comm) + bound_str(proc->ancestry[i].exe);
    return n;
}

static size_t bound_dns(const struct st_ev_dns *dns)
{
    size_t n = bound_str(dns->name);

    for (size_t i = 0; i < dns->n_answers; i++)
        n += sizeof("\"\",") + bound_str(dns->answers[i]);
    return n;
}

size_t st_payload_bound(const struct st_event *ev)
{
    size_t n = FIXED;

    if (ev->process.present)
        n += bound_process(&ev->process);
    switch (ev->type) {
    case ST_EV_FILESYSTEM:
        return n + bound_str(ev->fs.path) + bound_str(ev->fs.target) + bound_str(ev->fs.program.sha256);
    case ST_EV_NETWORK_EGRESS:
    case ST_EV_NETWORK_INGRESS: return n + bound_str(ev->net.host);
    case ST_EV_DNS_QUERY: return n + bound_dns(&ev->dns);
    case ST_EV_PROCESS:
        return n + bound_str(ev->proc.path) + bound_str(ev->proc.interpreter) + bound_str(ev->proc.target) +
               bound_str(ev->proc.argv) + bound_str(ev->proc.program.sha256);
    case ST_EV_SYSCALL:
        return n + bound_str(ev->sys.args) + bound_str(ev->sys.capability) + bound_str(ev->sys.name);
    case ST_EV_LIFECYCLE:
    case ST_EV_FILESYSTEM_SUMMARY:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_SECURITY_RESUME:
    case ST_EV_POLICY_CHANGE:
    case ST_EV_SENSOR:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: break;
    }
    return n + (ev->json.len > ST_RECORD_MAX ? ST_RECORD_BOUND_MAX : ev->json.len);
}
