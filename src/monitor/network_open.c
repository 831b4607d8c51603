/* network_open: what is done before the first packet: may this container be, who are its resolvers, the
 * sockets in its namespace, the rules. See network.h. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "monitor/netkernel.h"
#include "monitor/network_private.h"
#include "sensors/netfilter/conntrack.h"
#include "sensors/netfilter/netns.h"
#include "sensors/netfilter/nflog.h"
#include "sensors/netfilter/nfsock.h"
#include "sensors/sock_end.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define MAX_FLOWS 65536
#define MAX_STREAMS 4096
#define STREAM_BYTES 16384
#define MAX_ADDRS 16384
#define MAX_QUERIES 4096
#define MAX_SUFFIXES 1024

/* ---- may it be? ---- */

/* Could the policy refuse anything here? */
static bool limits_network(const struct st_policy *policy)
{
    const struct st_policy_defaults *d = st_policy_defaults(policy);
    const struct st_rule *rules;
    size_t count = st_policy_rules(policy, &rules);

    for (size_t i = 0; i < count; i++)
        if (rules[i].type == ST_RULE_EGRESS || rules[i].type == ST_RULE_INGRESS ||
            rules[i].type == ST_RULE_DNS)
            return true;
    return d->egress != ST_ALLOW || d->ingress != ST_ALLOW || d->dns != ST_ALLOW;
}

void st_network_look_at_policy(struct st_network *n)
{
    const struct st_rule *rules;
    size_t count = st_policy_rules(n->pipeline->policy, &rules);

    n->limits = false;
    n->simple = true;
    for (size_t i = 0; i < count; i++) {
        n->limits |= rules[i].type == ST_RULE_EGRESS &&
                     (rules[i].max_bytes_per_call >= 0 || rules[i].max_bytes_total >= 0);
        n->simple &= rules[i].type < ST_RULE_MATCH;
    }
}

bool st_network_limits(const struct st_network *n)
{
    return n->pipeline && n->enforce && limits_network(n->pipeline->policy) &&
           (!n->pipeline->watch->hosts_network || st_watch_by_group(n->pipeline->watch));
}

static int check_grants(struct st_network *n, const struct st_watch *w, struct st_error *err)
{
    const struct st_policy *policy = n->pipeline->policy;
    const struct st_order_network *o = &w->order.network;
    bool limited = n->enforce && limits_network(policy);

    if (st_watch_by_group(w))
        return st_network_meet_host(n, w, limited, err);
    if (w->hosts_network) {
        if (limited && !o->let_host)
            return st_fail(
                err, EPERM,
                "the container shares the host's network, where nothing is ever filtered, and policy '%s' "
                "limits connections; give it a network of its own, or set host_network: cgroup (or allow)",
                st_policy_name(policy));
        snprintf(n->detail, sizeof(n->detail), "the container shares the host's network: not watched");
        return 1;
    }
    if (limited && o->net_admin && o->outside)
        return st_network_outside_check(n, n->pipeline->watch, err);
    if (limited && o->net_admin && !o->let_net_admin)
        return st_fail(err, EPERM,
                       "the container is granted CAP_NET_ADMIN (privileged?), with which it could leave its "
                       "network, and "
                       "policy '%s' limits connections; do not grant it, or set net_admin: outside or allow",
                       st_policy_name(policy));
    return 0;
}

/* ---- resolvers ---- */

/* As the container will see it. A file of the image is not believed: only what an engine has mounted there.
 */
static int open_resolv_conf(const struct st_order *o)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    char root[PATH_MAX + 32];
    st_auto_fd dir = -1, fd = -1;
    struct statx sx;

    snprintf(root, sizeof(root), "/proc/%d/root%s", (int)o->pid, o->rootfs);
    dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    fd = dir < 0 ? -1 : (int)syscall(SYS_openat2, dir, "etc/resolv.conf", &how, sizeof(how));
    if (fd < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_TYPE, &sx) < 0 || !S_ISREG(sx.stx_mode) ||
        !(sx.stx_attributes & STATX_ATTR_MOUNT_ROOT))
        return -1;
    return st_steal_fd(&fd);
}

static void find_resolvers(struct st_network *n, const struct st_order *o)
{
    st_auto_buf text = ST_BUF_INIT;
    st_auto_fd fd = -1;

    for (size_t i = 0; i < o->network.n_resolvers && n->resolvers.n < ST_RESOLVERS_MAX; i++)
        if (st_addr_parse(st_str(o->network.resolvers[i]), &n->resolvers.addrs[n->resolvers.n]))
            n->resolvers.n++;
    if (n->resolvers.n)
        return;
    fd = open_resolv_conf(o);
    if (fd >= 0 && st_read_fd(fd, ST_RESOLVERS_TEXT_MAX, &text, NULL) >= 0)
        st_resolvers_read((struct st_str){text.data, text.len}, &n->resolvers);
}

/* ---- opening ---- */

static int open_sockets(struct st_network *n, struct st_error *err)
{
    const struct st_mark_bits *marks;
    size_t n_marks = st_ruleset_marks_of_ours(&marks);
    struct st_sock_tables tables;

    if ((n->rules_fd = st_nfsock_open(0, err)) < 0 ||
        (n->queue_fd = st_nfsock_open(ST_NFQUEUE_BUFFER, err)) < 0 ||
        (n->events_fd = st_conntrack_open(err)) < 0 ||
        (n->by_group && st_conntrack_only(n->events_fd, marks, n_marks, err) < 0) ||
        (n->dump_fd = st_nfsock_open(0, err)) < 0 ||
        (n->by_group && (n->diag_fd = st_sock_end_open(err)) < 0) ||
        (!n->by_group && (n->links_fd = st_links_open(err)) < 0) ||
        (!n->by_group && ((n->frames_fd = st_nfsock_open(ST_NFLOG_BUFFER, err)) < 0 ||
                          (n->begun_fd = st_nfsock_open(ST_NFLOG_BUFFER, err)) < 0)) ||
        st_raw_reply_open(&n->replies, n->order.stamp, err) < 0 || st_sock_tables_open(&tables, err) < 0)
        return -err->errnum;
    n->owners = st_sock_owners_new(&tables);
    return 0;
}

static void describe_rules(const struct st_network *n, char out[ST_NETSHARE_RULES])
{
    snprintf(out, ST_NETSHARE_RULES, "%s %s %d%d.", st_policy_sha256(n->pipeline->policy),
             n->enforce ? "enforce" : "audit", n->raw_sockets, n->outside.on);
}

static int publish(const struct st_network *n, struct st_error *err)
{
    char rules[ST_NETSHARE_RULES];

    describe_rules(n, rules);
    return st_netshare_publish(&n->share, rules, err);
}

/* Another monitor judges for us: by the same policy, or not at all. */
static int check_keeper(const struct st_network *n, struct st_error *err)
{
    char ours[ST_NETSHARE_RULES], theirs[ST_NETSHARE_RULES];

    if (n->share.keeper || !n->enforce)
        return 0;
    describe_rules(n, ours);
    if (st_netshare_rules(&n->share, theirs, err) < 0)
        return -err->errnum;
    return strcmp(ours, theirs) == 0
               ? 0
               : st_fail(
                     err, EPERM,
                     "the container shares its network with one that is under another policy, mode or "
                     "grant of "
                     "CAP_NET_RAW or CAP_NET_ADMIN, and whose monitor judges for both; give both the same");
}

/* Not by group, and not before the container is met. */
static bool is_shared(const struct st_network *n)
{
    return n->share.fd >= 0;
}

/* From here on the packets of the namespace are ours to judge. */
int st_network_keep_rules(struct st_network *n, struct st_error *err)
{
    const char *state_dir = n->pipeline->watch->order.state_dir;
    struct st_ruleset known;
    bool is_known = st_netkernel_recall(state_dir, &known);

    if (is_shared(n) && publish(n, err) < 0)
        return -err->errnum;
    n->order.like = is_known ? &known : NULL;
    if (!n->bound && st_network_bind_queue(n, err) < 0)
        return -err->errnum;
    n->bound = true;
    if (st_network_bind_logs(n, err) < 0 || st_ruleset_install(&n->rules, n->rules_fd, &n->order, err) < 0)
        return -err->errnum;
    n->order.like = NULL;
    if (!is_known && !n->by_group)
        st_netkernel_keep(state_dir, &n->rules);
    if (st_network_outside_keep(n, err) < 0)
        return -err->errnum;
    if (n->order.dead_man)
        n->renew_ns = st_now_mono_ns() + ST_NETWORK_RENEW_NS;
    return 0;
}

/* What needs to be in the namespace, or more capabilities than a worker keeps. */
static int enter(void *ctx, struct st_error *err)
{
    struct st_network *n = ctx;

    if (st_conntrack_enable(err) < 0 || open_sockets(n, err) < 0 || st_network_outside_enter(n, err) < 0)
        return -err->errnum;
    return n->share.keeper ? st_network_keep_rules(n, err) : 0;
}

static int write_order(struct st_network *n, const struct st_order_network *o, struct st_error *err)
{
    n->order = (struct st_ruleset_order){.queue = ST_NETWORK_QUEUE,
                                         .group = n->order.group,
                                         .table = n->by_group ? n->table : NULL,
                                         .enforce = n->enforce,
                                         .dead_man = n->enforce && o->dead_man,
                                         .resolvers = n->resolvers.addrs,
                                         .n_resolvers = n->resolvers.n};
    if (getrandom(&n->order.stamp, sizeof(n->order.stamp), 0) != (ssize_t)sizeof(n->order.stamp) ||
        getrandom(&n->order.seal, sizeof(n->order.seal), 0) != (ssize_t)sizeof(n->order.seal))
        return st_fail_errno(err, "a random number");
    n->order.stamp |= 0x80000000u; /* none of the marks that mean something */
    n->order.seal |= 0x80000000u;
    return 0;
}

static int make_books(struct st_network *n, struct st_error *err)
{
    uint64_t seed;

    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        return st_fail_errno(err, "a random number");
    n->names = st_names_new(MAX_ADDRS);
    n->book = st_flow_book_new(MAX_FLOWS);
    n->streams = st_flows_new(MAX_STREAMS, STREAM_BYTES);
    n->asked = st_dns_asked_new(MAX_QUERIES);
    n->tally = st_dns_tally_new(MAX_SUFFIXES, seed);
    return 0;
}

void st_network_describe(struct st_network *n)
{
    char text[ST_ADDR_TEXT_SIZE];
    int at;

    if (!n->share.keeper) {
        snprintf(
            n->detail, sizeof(n->detail),
            "shares its network with a container whose monitor judges for both: see the trace of that one");
        return;
    }
    at = snprintf(n->detail, sizeof(n->detail), "%s%s%s queue, table %s%s%s; resolvers:",
                  n->by_group ? "by its control group in the host's network; " : "",
                  n->by_group && n->raw_sockets ? "its packet sockets are not seen; " : "",
                  n->rules.native_queue ? "nft" : "xt", n->rules.owner ? "owned and kept" : "kept",
                  n->outside.on ? ", held from outside" : "",
                  st_callers_on(&n->callers) ? "; callers told by the kernel" : "");
    for (size_t i = 0; i < n->resolvers.n && at > 0 && (size_t)at < sizeof(n->detail); i++) {
        st_addr_format(&n->resolvers.addrs[i], text);
        at += snprintf(n->detail + at, sizeof(n->detail) - (size_t)at, " %s", text);
    }
    if (!n->resolvers.n)
        snprintf(n->detail + at, sizeof(n->detail) - (size_t)at, " none");
}

static void begin(struct st_network *n, struct st_pipeline *p)
{
    n->pipeline = p;
    n->rules_fd = n->queue_fd = n->events_fd = n->dump_fd = n->links_fd = n->frames_fd = n->begun_fd =
        n->diag_fd = -1;
    n->outside = (struct st_network_outside){.post = -1, .home = -1, .asked = -1};
    n->replies = (struct st_raw_reply)ST_RAW_REPLY_NONE;
    n->callers = (struct st_callers)ST_CALLERS_NONE;
    n->enforce = st_policy_mode(p->policy) == ST_MODE_ENFORCE;
    n->share = (struct st_netshare){.fd = -1, .keeper = true};
}

/* Sockets and rules. */
static int open_within(struct st_network *n, const struct st_watch *w, int ns, struct st_error *err)
{
    n->on = true;
    if (write_order(n, &w->order.network, err) < 0 || make_books(n, err) < 0 ||
        st_network_outside_begin(n, w, ns, err) < 0 || st_netns_visit(ns, enter, n, err) < 0)
        return -err->errnum;
    return 0;
}

int st_network_open_ahead(struct st_network *n, struct st_pipeline *p, const struct st_watch *w, int ns,
                          struct st_error *err)
{
    struct stat sb;

    begin(n, p);
    if (fstat(ns, &sb) < 0)
        return st_fail_errno(err, "the container's network namespace");
    if (open_within(n, w, ns, err) < 0) {
        st_network_close(n);
        return -err->errnum;
    }
    n->ahead = sb.st_ino;
    return 0;
}

/* What could not be known before the container was there. */
static int complete(struct st_network *n, struct st_error *err)
{
    n->order.resolvers = n->resolvers.addrs;
    n->order.n_resolvers = n->resolvers.n;
    if (publish(n, err) < 0)
        return -err->errnum;
    return st_ruleset_add_resolvers(&n->rules, &n->order, err);
}

static int open_at(struct st_network *n, struct st_watch *w, int ns, ino_t number, struct st_error *err)
{
    n->raw_sockets = w->order.network.net_raw;
    n->inner_names = w->order.network.inner_names;
    st_watch_members(w, &n->members);
    st_network_look_at_policy(n);
    find_resolvers(n, &w->order);
    st_ruleset_name(w->order.id, n->table);
    if (!n->by_group && st_netshare_join(&n->share, w->order.state_dir, number, err) < 0)
        return -err->errnum;
    n->on = true; /* from here on there is something to be closed */
    if (n->ahead && !n->share.keeper)
        return st_fail(err, EBUSY, "another monitor was there first in what is the container's alone");
    if (check_keeper(n, err) < 0 || (n->ahead ? complete(n, err) : open_within(n, w, ns, err)) < 0)
        return -err->errnum;
    st_sock_owners_tell_group(n->owners, w->cgroup.dirfd);
    st_network_meet_callers(n, w);
    st_network_describe(n);
    return 0;
}

int st_network_open(struct st_network *n, struct st_pipeline *p, struct st_watch *w, struct st_error *err)
{
    struct stat sb;
    st_auto_fd ns = -1;
    char path[48];
    int rc;

    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)w->order.pid);
    ns = open(path, O_RDONLY | O_CLOEXEC);
    if (ns < 0 || fstat(ns, &sb) < 0)
        return st_fail_errno(err, "the container's network namespace");
    if (n->ahead && n->ahead != sb.st_ino)
        st_network_close(n);
    if (!n->ahead)
        begin(n, p);
    rc = check_grants(n, w, err);
    if (rc == 0 && open_at(n, w, ns, sb.st_ino, err) < 0)
        rc = st_wrap(err, "watch the network");
    if (rc != 0)
        st_network_close(n);
    return rc < 0 ? rc : 0;
}

void st_network_inherit(struct st_network *n, struct st_pipeline *p, struct st_watch *w)
{
    struct st_error err = {0};
    st_auto_fd ns = w->network < 0 ? -1 : ioctl(w->network, SIOCGSKNS);
    struct stat sb;

    n->pipeline = p;
    n->share.fd = -1;
    n->by_group = st_watch_by_group(w);
    n->diag_fd = n->by_group ? st_sock_end_open(&err) : -1; /* in our own network, which is the container's */
    if (ns < 0 || fstat(ns, &sb) < 0 ||
        (!n->by_group && st_netshare_join(&n->share, w->order.state_dir, sb.st_ino, &err) < 0))
        return;
    st_watch_rules(w, &n->rules);
    n->outside = (struct st_network_outside){.on = w->outpost >= 0, .post = w->outpost, -1, -1};
    n->inherited = true;
}
