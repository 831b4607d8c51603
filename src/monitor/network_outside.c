/* network_outside: of a container that may change its own network: what is allowed within is opened at the
 * other end of its cables first (outpost.h), and devices that have no such end are not suffered. See
 * network.h.
 *
 * What is looked at within can be changed behind us: names that a connection shows, answers of resolvers,
 * bytes that are counted. So only what is known by its address alone is opened, and for a name may be asked
 * by the very message that was judged. */
#include "monitor/network_private.h"

#include "base/cleanup.h"
#include "monitor/outpost.h"
#include "sensors/netfilter/nsid.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- may it be? ---- */

/* In the machine's own user namespace CAP_NET_ADMIN is good for the machine's network as well: by the number
 * that its namespace has within, devices can be made on those of the machine. */
int st_network_outside_check(struct st_network *n, const struct st_watch *w, struct st_error *err)
{
    struct stat own, theirs;
    char path[48];

    snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)w->order.pid);
    if (stat("/proc/self/ns/user", &own) < 0 || stat(path, &theirs) < 0)
        return st_fail_errno(err, "the container's user namespace");
    if (own.st_ino == theirs.st_ino && own.st_dev == theirs.st_dev)
        return st_fail(
            err, EPERM,
            "the container is granted CAP_NET_ADMIN in the machine's own user namespace, with which "
            "it could plug itself into the machine's devices: net_admin: outside can't hold it; "
            "give it a user namespace (userns-remap, --userns=auto), or do not grant it");
    n->outside.on = true;
    return 0;
}

/* ---- opening ---- */

int st_network_outside_begin(struct st_network *n, const struct st_watch *w, int ns, struct st_error *err)
{
    struct st_outpost_request begin = {.kind = ST_OUTPOST_BEGIN};

    if (!n->outside.on)
        return 0;
    n->outside.kept = !n->share.keeper;
    n->outside.post = w->outpost;
    n->outside.home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (n->outside.home < 0)
        return st_fail_errno(err, "own network namespace");
    return st_outpost_ask(n->outside.post, &begin, ns, err);
}

/* In the container's namespace, while sockets can be made. */
int st_network_outside_enter(struct st_network *n, struct st_error *err)
{
    if (n->outside.on)
        n->outside.asked = st_nsid_open(err);
    return n->outside.on && n->outside.asked < 0 ? -err->errnum : 0;
}

struct first_look {
    struct st_network *network;
    struct st_error err;
};

/* Its other end is guarded, or it has none outside. */
static int hold(struct st_network *n, const struct st_device *d, bool first, struct st_error *err)
{
    struct st_outpost_request look = {.kind = ST_OUTPOST_LOOK, .index = d->other};
    const char *fault;
    int outer = -1;

    if (d->loopback || d->gone)
        return 0;
    if (d->other_ns >= 0 && st_nsid_of(n->outside.asked, n->outside.home, &outer, err) < 0)
        return -err->errnum;
    fault = st_nsid_fault(d, outer, first);
    if (fault)
        return st_fail(err, ENOTSUP, "%s can't be held from outside: %s", d->name, fault);
    if (outer < 0 || d->other_ns != outer)
        return 0;
    return st_outpost_ask(n->outside.post, &look, -1, err) < 0
               ? st_wrap(err, "%s can't be held from outside", d->name)
               : 0;
}

static void on_first_look(void *ctx, const struct st_device *d)
{
    struct first_look *f = ctx;

    if (!f->err.errnum)
        hold(f->network, d, true, &f->err);
}

int st_network_outside_keep(struct st_network *n, struct st_error *err)
{
    struct st_outpost_request keep = {.kind = ST_OUTPOST_KEEP, .dead_man = n->order.dead_man};
    struct first_look first = {.network = n};

    if (!n->outside.on)
        return 0;
    if (st_outpost_ask(n->outside.post, &keep, -1, err) < 0)
        return -err->errnum;
    if (n->outside.kept) /* another has kept it before, and what is there may be the container's */
        return 0;
    n->outside.kept = true;
    if (st_links_read(n->links_fd, on_first_look, &first) < 0)
        return st_fail(err, ENOBUFS, "devices of the network: too many");
    if (first.err.errnum)
        return st_fail(err, first.err.errnum, "%s", first.err.msg);
    return st_links_ask(n->links_fd, err); /* once more, for who guards them within */
}

/* ---- devices that come later ---- */

/* It must not go on: what leaves by this device nobody holds. */
void st_network_outside_device(struct st_network *n, const struct st_device *d)
{
    struct st_error err = {0};

    if (!n->outside.on || n->outside.lost || hold(n, d, false, &err) == 0)
        return;
    n->outside.lost = true;
    st_network_cut(n);
    st_pauses_freeze(&n->pipeline->pauses);
    st_network_say(n, "degraded", err.msg);
    n->pipeline->kill(n->pipeline->ctx, NULL);
}

/* ---- what is allowed ---- */

const char *st_network_outside_fault(const struct st_network *n, bool by_name, bool counted)
{
    if (!n->outside.on || !n->enforce)
        return NULL;
    if (by_name)
        return "with CAP_NET_ADMIN the container could show one name and send another; allow the address";
    return counted ? "with CAP_NET_ADMIN the container could send more than is counted; allow the address "
                     "without a limit"
                   : NULL;
}

static bool is_loopback(const struct st_addr *addr)
{
    static const uint8_t six[16] = {[15] = 1};

    return addr->family == 4 ? addr->bytes[0] == 127 : memcmp(addr->bytes, six, sizeof(six)) == 0;
}

static bool let(struct st_network *n, const struct st_flow_tuple *t, bool ingress)
{
    struct st_outpost_request r = {.kind = ingress ? ST_OUTPOST_ACCEPT : ST_OUTPOST_OPEN,
                                   .protocol = t->protocol,
                                   .addr = ingress ? t->src : t->dst,
                                   .port = ingress ? t->src_port : t->dst_port,
                                   .own_port = ingress ? t->dst_port : 0};
    struct st_error err = {0};

    if (st_outpost_ask(n->outside.post, &r, -1, &err) == 0)
        return true;
    /* Without ports nobody is answered; that it came in is no matter. */
    return ingress && err.errnum == EOPNOTSUPP;
}

bool st_network_outside_let(struct st_network *n, const struct st_flow_tuple *t, bool ingress)
{
    return !n->outside.on || is_loopback(ingress ? &t->src : &t->dst) || let(n, t, ingress);
}

static bool let_query(struct st_network *n, const struct st_addr *to, const uint8_t *bytes, size_t len)
{
    struct st_outpost_request r = {.kind = ST_OUTPOST_QUERY, .query = {.to = *to, .len = (uint8_t)len}};
    struct st_error err = {0};

    if (len > sizeof(r.query.bytes))
        return false;
    memcpy(r.query.bytes, bytes, len);
    return st_outpost_ask(n->outside.post, &r, -1, &err) == 0;
}

bool st_network_outside_query(struct st_network *n, const struct st_addr *to, const uint8_t *bytes,
                              size_t len)
{
    return !n->outside.on || is_loopback(to) || let_query(n, to, bytes, len);
}

bool st_network_outside_packet(struct st_network *n, const uint8_t *bytes, size_t len)
{
    struct st_packet p;
    struct st_flow_tuple t;

    if (!n->outside.on)
        return true;
    if (!st_packet_read(bytes, len, &p))
        return false;
    t = st_flow_tuple_of(&p);
    return st_network_outside_query(n, &t.dst, p.payload, p.payload_len);
}

/* The policy is another: what goes on and would be let by it stays open. */
void st_network_outside_reconsider(struct st_network *n)
{
    struct st_outpost_request close_all = {.kind = ST_OUTPOST_CLOSE_ALL};
    struct st_error err = {0};

    if (!n->outside.on || !n->share.keeper)
        return;
    st_outpost_ask(n->outside.post, &close_all, -1, &err);
    for (struct st_flow_entry *e = st_flow_book_first(n->book); e; e = st_flow_book_next(e)) {
        struct st_event ev =
            st_network_event(n, e->ingress ? ST_EV_NETWORK_INGRESS : ST_EV_NETWORK_EGRESS, &e->tuple);
        struct st_verdict v = {0};

        if (e->stage == ST_FLOW_OPEN && st_pipeline_would_let(n->pipeline, &ev, &v))
            st_network_outside_let(n, &e->tuple, e->ingress);
    }
}

/* ---- the switch, and the end ---- */

void st_network_outside_tell(struct st_network *n, enum st_outpost_kind kind)
{
    if (n->outside.on)
        st_outpost_tell(n->outside.post, kind);
}

void st_network_outside_close(struct st_network *n, bool last)
{
    struct st_outpost_request take_away = {.kind = ST_OUTPOST_REMOVE};
    struct st_error err = {0};

    if (n->outside.on && last && n->outside.post >= 0)
        st_outpost_ask(n->outside.post, &take_away, -1, &err);
    if (n->outside.on && !n->inherited) {
        st_close(&n->outside.home);
        st_close(&n->outside.asked);
    }
    n->outside.on = false;
}
