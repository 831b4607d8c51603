/* event: names. */
#include "model/event.h"

#include "model/names.h"

ST_NAMES(event_type, enum st_event_type, "lifecycle", "filesystem", "filesystem_summary", "network_egress",
         "network_ingress", "dns_query", "process", "syscall", "security_pause", "security_resume",
         "policy_change", "sensor", "checkpoint")
ST_NAMES(tier, enum st_tier, "kernel", "derived", "polled")
ST_NAMES(fs_op, enum st_fs_op, "open", "exec", "create", "modify", "delete", "rename", "link", "attrib",
         "mount")
ST_NAMES(proc_op, enum st_proc_op, "exec", "fork_limit", "depth_limit", "exit")
ST_NAMES(host_source, enum st_host_source, "unknown", "dns", "sni", "http_host")
ST_NAMES(net_state, enum st_net_state, "attempt", "established", "closed")

static const char *const access_names[] = {"read", "write", "exec", "create", "delete", "attrib"};

const char *st_access_name(unsigned bit)
{
    for (unsigned i = 0; i < sizeof(access_names) / sizeof(access_names[0]); i++)
        if (bit == 1u << i)
            return access_names[i];
    return "?";
}

int st_access_by_name(struct st_str name)
{
    int i = st_names_find(access_names, sizeof(access_names) / sizeof(access_names[0]), name);

    return i < 0 ? -1 : 1 << i;
}
