/* demo_net: see demo_net.h. The addresses are those of `--network user`: the container's resolv.conf names
 * that resolver already. */
#include "cli/demo_net.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "cli/run_etc.h"
#include "sensors/netfilter/nfsock.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define OUR_END "api0"
#define THEIR_END "eth0"
#define ROOM 1024

struct message {
    _Alignas(struct nlmsghdr) char room[ROOM];
    struct nlmsghdr *h;
};

static void *begin(struct message *m, uint16_t type, uint16_t flags, size_t extra)
{
    m->h = mnl_nlmsg_put_header(m->room);
    m->h->nlmsg_type = type;
    m->h->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
    m->h->nlmsg_seq = st_nfsock_seq();
    return mnl_nlmsg_put_extra_header(m->h, extra);
}

static int send_it(int fd, const struct message *m, const char *what, struct st_error *err)
{
    struct st_nfsock_refusal refusal;
    int rc = st_nfsock_batch(fd, m->room, m->h->nlmsg_len, m->h->nlmsg_seq, m->h->nlmsg_seq, &refusal, err);

    return rc < 0 ? st_wrap(err, "%s", what) : 0;
}

static int make_cable(int fd, int their_ns, struct st_error *err)
{
    struct message m;
    struct ifinfomsg *info = begin(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof(*info));
    struct nlattr *link, *data, *peer;

    mnl_attr_put_strz(m.h, IFLA_IFNAME, OUR_END);
    link = mnl_attr_nest_start(m.h, IFLA_LINKINFO);
    mnl_attr_put_strz(m.h, IFLA_INFO_KIND, "veth");
    data = mnl_attr_nest_start(m.h, IFLA_INFO_DATA);
    peer = mnl_attr_nest_start(m.h, VETH_INFO_PEER);
    mnl_nlmsg_put_extra_header(m.h, sizeof(*info));
    mnl_attr_put_strz(m.h, IFLA_IFNAME, THEIR_END);
    mnl_attr_put_u32(m.h, IFLA_NET_NS_FD, (uint32_t)their_ns);
    mnl_attr_nest_end(m.h, peer);
    mnl_attr_nest_end(m.h, data);
    mnl_attr_nest_end(m.h, link);
    return send_it(fd, &m, "a cable to the container (veth)", err);
}

static int add_address(int fd, unsigned device, const char *text, uint8_t bits, struct st_error *err)
{
    struct message m;
    struct ifaddrmsg *a = begin(&m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, sizeof(*a));
    uint32_t address = inet_addr(text);

    *a = (struct ifaddrmsg){.ifa_family = AF_INET, .ifa_prefixlen = bits, .ifa_index = device};
    mnl_attr_put_u32(m.h, IFA_LOCAL, address);
    mnl_attr_put_u32(m.h, IFA_ADDRESS, address);
    return send_it(fd, &m, text, err);
}

static int bring_up(int fd, unsigned device, struct st_error *err)
{
    struct message m;
    struct ifinfomsg *info = begin(&m, RTM_NEWLINK, 0, sizeof(*info));

    *info = (struct ifinfomsg){.ifi_index = (int)device, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    return send_it(fd, &m, "bring a device up", err);
}

static int add_route(int fd, const char *gateway, struct st_error *err)
{
    struct message m;
    struct rtmsg *r = begin(&m, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, sizeof(*r));

    *r = (struct rtmsg){.rtm_family = AF_INET,
                        .rtm_table = RT_TABLE_MAIN,
                        .rtm_protocol = RTPROT_STATIC,
                        .rtm_type = RTN_UNICAST};
    mnl_attr_put_u32(m.h, RTA_GATEWAY, inet_addr(gateway));
    return send_it(fd, &m, "a route", err);
}

/* In the namespace of the servers. */
static int set_up_ours(int their_ns, struct st_error *err)
{
    static const char *const addresses[] = {ST_DEMO_GATEWAY, ST_RUN_RESOLVER, ST_DEMO_API_ADDRESS};
    st_auto_fd fd = st_nfsock_open_groups(NETLINK_ROUTE, 0, 0, err);
    unsigned device;

    if (fd < 0 || make_cable(fd, their_ns, err) < 0)
        return -err->errnum;
    device = if_nametoindex(OUR_END);
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
        if (add_address(fd, device, addresses[i], i < 2 ? 24 : 32, err) < 0)
            return -err->errnum;
    return bring_up(fd, device, err);
}

/* In the container's. */
static int set_up_theirs(struct st_error *err)
{
    st_auto_fd fd = st_nfsock_open_groups(NETLINK_ROUTE, 0, 0, err);
    unsigned device = if_nametoindex(THEIR_END);

    if (fd < 0 || add_address(fd, device, ST_DEMO_AGENT_ADDRESS, 24, err) < 0 ||
        bring_up(fd, if_nametoindex("lo"), err) < 0 || bring_up(fd, device, err) < 0)
        return -err->errnum;
    return add_route(fd, ST_DEMO_GATEWAY, err);
}

/* The servers' sockets are of the namespace in which they were opened: what we enter later is no matter. */
static int set_up(pid_t init, int *dns, int *http, struct st_error *err)
{
    st_auto_free char *path = st_xasprintf("/proc/%d/ns/net", (int)init);
    st_auto_fd theirs = open(path, O_RDONLY | O_CLOEXEC);

    if (theirs < 0)
        return st_fail_errno(err, "%s", path);
    if (unshare(CLONE_NEWNET) < 0)
        return st_fail_errno(err, "a network namespace of our own");
    if (set_up_ours(theirs, err) < 0 || st_demo_listen(dns, http, err) < 0)
        return -err->errnum;
    if (setns(theirs, CLONE_NEWNET) < 0)
        return st_fail_errno(err, "the container's network namespace");
    return set_up_theirs(err);
}

/* Of what our parent has open we keep the line to it: a pipe's end in our hands would never be at its end. */
static int keep_only(int ready)
{
    st_auto_fd nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; nothing >= 0 && fd < 3; fd++)
        dup2(nothing, fd);
    dup2(ready, 3);
    close_range(4, ~0U, 0);
    nothing = -1;
    return 3;
}

_Noreturn static void be_internet(pid_t parent, pid_t init, int ready, struct st_demo_arrived *arrived)
{
    struct st_error err = {0};
    sigset_t none;
    int dns = -1, http = -1;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "sandtrace-api");
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (getppid() != parent)
        _exit(1);
    ready = keep_only(ready);
    if (set_up(init, &dns, &http, &err) < 0) {
        dprintf(ready, "%s", err.msg);
        _exit(1);
    }
    dprintf(ready, "+");
    st_close(&ready);
    st_demo_serve(dns, http, arrived);
}

int st_demo_net_connect(void *ctx, pid_t init, struct st_error *err)
{
    char said[512];
    ssize_t n;
    int ready[2];
    pid_t parent = getpid(), pid;

    if (pipe2(ready, O_CLOEXEC) < 0)
        return st_fail_errno(err, "a pipe");
    pid = fork();
    if (pid == 0) {
        st_close(&ready[0]);
        be_internet(parent, init, ready[1], ctx);
    }
    st_close(&ready[1]);
    do
        n = read(ready[0], said, sizeof(said) - 1);
    while (n < 0 && errno == EINTR);
    st_close(&ready[0]);
    said[n > 0 ? n : 0] = '\0';
    if (pid > 0 && n > 0 && said[0] == '+')
        return 0;
    return st_fail(err, EREMOTEIO, "no network for the demonstration: %s",
                   n > 0 ? said : "its process has ended");
}

struct st_demo_arrived *st_demo_arrived_new(void)
{
    void *at =
        mmap(NULL, sizeof(struct st_demo_arrived), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? NULL : at;
}
