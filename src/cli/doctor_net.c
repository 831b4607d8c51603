/* doctor_net: can a container's network be watched? The rules themselves are installed, in a network
 * namespace that goes with the probe. */
#include "cli/doctor.h"

#include "base/cleanup.h"
#include "cli/run_net.h"
#include "sensors/netfilter/conntrack.h"
#include "sensors/netfilter/fence.h"
#include "sensors/netfilter/nflog.h"
#include "sensors/netfilter/nfqueue.h"
#include "sensors/netfilter/nfsock.h"
#include "sensors/netfilter/ruleset.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#define QUEUE 1
#define STAMP 0x80000001u
#define DEVICE "sandtrace0"

/* Nothing of this is needed where no network is watched. */
static bool is_used(const struct st_doctor *d, struct st_finding *f)
{
    if (!d->config || d->config->network)
        return true;
    st_finding_set(f, ST_HEALTH_OK, "not used: network: false");
    return false;
}

/* A device that leads nowhere, as long as its fd is open; -1: there can't be one. */
static int make_device(void)
{
    struct ifreq req = {.ifr_name = DEVICE, .ifr_flags = IFF_TUN | IFF_NO_PI};
    st_auto_fd fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

    return fd >= 0 && ioctl(fd, TUNSETIFF, &req) == 0 ? st_steal_fd(&fd) : -1;
}

static void rules(const struct st_doctor *d, struct st_finding *f)
{
    const struct st_ruleset_order order = {
        .queue = QUEUE, .enforce = true, .dead_man = true, .stamp = STAMP, .seal = STAMP};
    struct st_error err = {0};
    struct st_ruleset r;
    st_auto_fd fd = -1, device = -1;
    bool guarded;

    if (!is_used(d, f))
        return;
    fd = st_nfsock_open(0, &err);
    if (fd < 0 || st_ruleset_install(&r, fd, &order, &err) < 0 || st_ruleset_renew(&r, &err) < 0 ||
        st_ruleset_cut(&r, &err) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
        return;
    }
    device = make_device();
    guarded = device < 0 ? r.egress : st_ruleset_guard(&r, DEVICE, &err) == 0;
    st_finding_set(f, guarded ? ST_HEALTH_OK : ST_HEALTH_DEGRADED,
                   "rules can be installed: %s queue, %s table%s", r.native_queue ? "nft" : "xt",
                   r.owner ? "an owned" : "a plain", guarded ? "" : ", packet sockets are not held back");
    if (!guarded)
        snprintf(f->means, sizeof(f->means),
                 "a container with CAP_NET_RAW can write frames that nobody judges: take it away from it");
    if (!guarded)
        st_finding_mend(f, "a kernel of 5.16 or later with CONFIG_NETFILTER_EGRESS");
}

static void queue(const struct st_doctor *d, struct st_finding *f)
{
    struct st_error err = {0};
    st_auto_fd fd = -1;

    if (!is_used(d, f))
        return;
    fd = st_nfsock_open(ST_NFQUEUE_BUFFER, &err);
    if (fd < 0 || st_nfqueue_bind(fd, QUEUE, false, &err) < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
    else
        st_finding_set(f, ST_HEALTH_OK, "packets can be made to wait for a decision");
}

static void flows(const struct st_doctor *d, struct st_finding *f)
{
    struct st_error err = {0};
    st_auto_fd events = -1, frames = -1;

    if (!is_used(d, f))
        return;
    if (st_conntrack_enable(&err) < 0 || (events = st_conntrack_open(&err)) < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
    else if ((frames = st_nfsock_open(ST_NFLOG_BUFFER, &err)) < 0 ||
             st_nflog_bind(frames, ST_NFLOG_GROUP, &err) < 0)
        st_finding_set(f, ST_HEALTH_DEGRADED, "flows are counted, refused frames are not logged: %s",
                       err.msg);
    else
        st_finding_set(f, ST_HEALTH_OK, "flows are counted, their ends are told");
}

/* Any group will do: ours. */
static void by_group(const struct st_doctor *d, struct st_finding *f)
{
    struct st_ruleset_order order = {.queue = QUEUE, .enforce = true, .stamp = STAMP, .seal = STAMP};
    struct st_error err = {0};
    struct st_ruleset r;
    struct stat sb;
    st_auto_fd fd = -1;

    if (!is_used(d, f))
        return;
    if (!d->groups.v2[0] || stat(d->groups.v2, &sb) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "needs cgroup2");
        return;
    }
    order.group = (struct st_ruleset_group){.level = 1, .id = sb.st_ino};
    fd = st_nfsock_open(0, &err);
    if (fd < 0 || st_ruleset_install(&r, fd, &order, &err) < 0)
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
    else
        st_finding_set(f, ST_HEALTH_OK, "packets are told by control group");
}

static void fence(const struct st_doctor *d, struct st_finding *f)
{
    struct st_error err = {0};
    struct st_fence fence;
    st_auto_fd fd = -1, device = -1;

    if (!is_used(d, f))
        return;
    fd = st_nfsock_open(0, &err);
    device = make_device();
    if (fd < 0 || st_fence_install(&fence, fd, 1, false, &err) < 0 ||
        (device >= 0 && st_fence_guard(&fence, DEVICE, (int)if_nametoindex(DEVICE), &err) < 0))
        st_finding_set(f, ST_HEALTH_MISSING, "%s", err.msg);
    else
        st_finding_set(f, ST_HEALTH_OK, "a container can be held at the host's end of its cable");
}

static void user_network(const struct st_doctor *d, struct st_finding *f)
{
    st_auto_free char *program = NULL;
    struct st_error err = {0};

    (void)d;
    if (st_run_net_find(&program, &err) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "slirp4netns is not installed");
    } else if (access("/dev/net/tun", R_OK | W_OK) < 0) {
        st_finding_set(f, ST_HEALTH_MISSING, "%s; /dev/net/tun: %s", program, strerror(errno));
        st_finding_mend(f, "modprobe tun");
    } else {
        st_finding_set(f, ST_HEALTH_OK, "%s", program);
    }
}

#define MODULES "modprobe -a nf_tables nfnetlink_queue nf_conntrack nf_conntrack_netlink"

const struct st_check *st_doctor_network(void)
{
    static const struct st_check checks[] = {
        {"network", "nftables", true, true, CLONE_NEWNET, rules,
         "no network can be watched: no container starts under a policy that enforces",
         MODULES "; or `network: false` in sandtrace.yaml, and no network is watched"},
        {"network", "nfqueue", true, true, CLONE_NEWNET, queue,
         "connections can't wait for a decision: no container starts under a policy that enforces", MODULES},
        {"network", "conntrack", true, true, CLONE_NEWNET, flows,
         "what connections carried is not known: no container starts under a policy that enforces", MODULES},
        {"network", "by-cgroup", false, true, CLONE_NEWNET, by_group,
         "`host_network: cgroup` can't be had: a container needs a network of its own",
         "a kernel of 5.13 or later with nft_socket: modprobe nft_socket"},
        {"network", "fence", false, true, CLONE_NEWNET, fence,
         "`net_admin: outside` can't be had: a container with CAP_NET_ADMIN does not start",
         "a kernel of 5.16 or later with hooks of devices (CONFIG_NETFILTER_EGRESS)"},
        {"network", "user-network", false, true, 0, user_network,
         "`sandtrace run --network user` can't be had; other containers have their engine's network",
         "apt-get install slirp4netns"},
        {0},
    };

    return checks;
}
