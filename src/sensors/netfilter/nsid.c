#include "sensors/netfilter/nsid.h"

#include "sensors/netfilter/attrs.h"
#include "sensors/netfilter/nfsock.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <string.h>

int st_nsid_open(struct st_error *err)
{
    return st_nfsock_open_groups(NETLINK_ROUTE, 0, 0, err);
}

/* 1: this was it. */
static int take(const struct nlmsghdr *h, uint32_t seq, int *out, struct st_error *err)
{
    const struct nlmsgerr *e = mnl_nlmsg_get_payload(h);
    struct st_attrs a;

    if (h->nlmsg_seq != seq)
        return 0;
    if (h->nlmsg_type == NLMSG_ERROR && mnl_nlmsg_get_payload_len(h) >= sizeof(*e) && e->error < 0)
        return st_fail(err, -e->error, "number of a network namespace: %s", strerror(-e->error));
    if (h->nlmsg_type != RTM_NEWNSID || !st_attrs_read(h, h->nlmsg_len, sizeof(struct rtgenmsg), &a))
        return 0;
    *out = st_attrs_s32(&a, NETNSA_NSID, NETNSA_NSID_NOT_ASSIGNED);
    return 1;
}

int st_nsid_of(int fd, int ns_fd, int *out, struct st_error *err)
{
    _Alignas(struct nlmsghdr) char room[4096];
    struct nlmsghdr *h = mnl_nlmsg_put_header(room);
    uint32_t seq = st_nfsock_seq();
    int rc;

    mnl_nlmsg_put_extra_header(h, sizeof(struct rtgenmsg));
    h->nlmsg_type = RTM_GETNSID;
    h->nlmsg_flags = NLM_F_REQUEST;
    h->nlmsg_seq = seq;
    mnl_attr_put_u32(h, NETNSA_FD, (uint32_t)ns_fd);
    rc = st_nfsock_send(fd, h, h->nlmsg_len);
    if (rc < 0)
        return st_fail(err, -rc, "number of a network namespace: %s", strerror(-rc));
    for (;;) {
        ssize_t n = st_nfsock_receive(fd, room, sizeof(room));
        const struct nlmsghdr *m;
        size_t at = 0;

        if (n < 0 && n != -ENOBUFS && n != -EMSGSIZE)
            return st_fail(err, (int)-n, "number of a network namespace: no answer");
        while (n > 0 && (m = st_nlmsg_next(room, (size_t)n, &at))) {
            rc = take(m, seq, out, err);
            if (rc != 0)
                return rc < 0 ? rc : 0;
        }
    }
}

/* What is in every namespace, or leads out by routes of its own namespace alone. */
static bool is_harmless(const char *kind)
{
    static const char *const kinds[] = {"bridge", "dummy",  "ifb",    "ipip",      "sit", "gre", "gretap",
                                        "erspan", "ip6tnl", "ip6gre", "ip6gretap", "vti", "vti6"};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    return false;
}

const char *st_nsid_fault(const struct st_device *device, int outer, bool first)
{
    bool veth = strcmp(device->kind, "veth") == 0, leads_outside = outer >= 0 && device->other_ns == outer;

    if (device->loopback)
        return NULL;
    if (!device->kind[0])
        return "it is a device of the machine, whose other end is out of reach";
    if (leads_outside)
        return veth ? NULL : "it is no cable (veth), whose other end could be guarded";
    if (!first)
        return NULL; /* the container may have made it, and can't lead it out */
    if (device->other_ns >= 0)
        return "its other end is neither here nor in the network of the monitor";
    return veth || is_harmless(device->kind) ? NULL
                                             : "it is no cable (veth), whose other end could be guarded";
}
