#include "sensors/netfilter/links.h"

#include "sensors/netfilter/attrs.h"
#include "sensors/netfilter/nfsock.h"

#include "base/cleanup.h"

#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#define LINKS_BUFFER (1024 * 1024)

int st_links_ask(int fd, struct st_error *err)
{
    _Alignas(struct nlmsghdr) char room[64];
    struct nlmsghdr *h = mnl_nlmsg_put_header(room);
    int rc;

    mnl_nlmsg_put_extra_header(h, sizeof(struct ifinfomsg));
    h->nlmsg_type = RTM_GETLINK;
    h->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    h->nlmsg_seq = st_nfsock_seq();
    rc = st_nfsock_send(fd, h, h->nlmsg_len);
    return rc < 0 ? st_fail(err, -rc, "ask for devices: %s", strerror(-rc)) : 0;
}

int st_links_open(struct st_error *err)
{
    st_auto_fd fd = st_nfsock_open_groups(NETLINK_ROUTE, RTMGRP_LINK, LINKS_BUFFER, err);
    int rc = fd < 0 ? fd : st_links_ask(fd, err);

    return rc < 0 ? rc : st_steal_fd(&fd);
}

/* What it is made on, and how. */
static void read_origin(const struct st_attrs *a, struct st_device *out)
{
    struct st_attrs info;
    const char *kind;
    size_t len = 0;

    out->other = st_attrs_s32(a, IFLA_LINK, 0);
    out->other_ns = st_attrs_s32(a, IFLA_LINK_NETNSID, -1);
    kind = st_attrs_nested(a, IFLA_LINKINFO, &info) ? st_attrs_bytes(&info, IFLA_INFO_KIND, 0, &len) : NULL;
    if (kind)
        snprintf(out->kind, sizeof(out->kind), "%.*s", (int)strnlen(kind, len), kind);
}

bool st_links_parse(const void *message, size_t n, struct st_device *out)
{
    const struct nlmsghdr *h = message;
    const struct ifinfomsg *info;
    struct st_attrs a;
    const char *name;
    size_t len = 0;

    if (!st_attrs_read(h, n, sizeof(*info), &a) ||
        (h->nlmsg_type != RTM_NEWLINK && h->nlmsg_type != RTM_DELLINK))
        return false;
    info = mnl_nlmsg_get_payload(h);
    name = st_attrs_bytes(&a, IFLA_IFNAME, 0, &len);
    if (info->ifi_family != AF_UNSPEC || info->ifi_index <= 0 || !name) /* of a bridge, about its port */
        return false;
    *out = (struct st_device){.index = info->ifi_index,
                              .up = info->ifi_flags & IFF_UP,
                              .loopback = info->ifi_flags & IFF_LOOPBACK,
                              .gone = h->nlmsg_type == RTM_DELLINK};
    len = strnlen(name, len);
    if (len == 0 || len >= sizeof(out->name))
        return false;
    memcpy(out->name, name, len);
    read_origin(&a, out);
    return true;
}

int st_links_read(int fd, void (*each)(void *ctx, const struct st_device *link), void *ctx)
{
    _Alignas(struct nlmsghdr) char room[32768];
    int given = 0;

    for (;;) {
        ssize_t got = st_nfsock_receive(fd, room, sizeof(room));
        const struct nlmsghdr *h;
        size_t at = 0;

        if (got == -EAGAIN)
            return given;
        if (got < 0)
            return got == -EMSGSIZE ? -ENOBUFS : (int)got;
        while ((h = st_nlmsg_next(room, (size_t)got, &at))) {
            struct st_device link;

            if (st_links_parse(h, h->nlmsg_len, &link)) {
                given++;
                each(ctx, &link);
            }
        }
    }
}
