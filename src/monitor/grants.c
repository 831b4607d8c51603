/* grants: see grants.h. Exact objects only: a person who approved one file did not approve its neighbours. */
#include "monitor/grants.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct st_grant {
    char *id;
    enum st_event_type type;
    char *object; /* path or name */
    size_t object_len;
    char *target; /* of a rename or link, the hash of a program; NULL: neither */
    size_t target_len;
    unsigned access;
    enum st_proc_op op;
    struct st_addr addr;
    uint16_t port;
    uint8_t protocol;
};

static struct st_str object_of(const struct st_event *ev)
{
    switch (ev->type) {
    case ST_EV_FILESYSTEM: return ev->fs.path;
    case ST_EV_PROCESS: return ev->proc.path;
    case ST_EV_SYSCALL: return ev->sys.name;
    case ST_EV_DNS_QUERY: return ev->dns.name;
    case ST_EV_NETWORK_EGRESS:
    case ST_EV_NETWORK_INGRESS: return ev->net.host;
    case ST_EV_LIFECYCLE:
    case ST_EV_FILESYSTEM_SUMMARY:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_SECURITY_RESUME:
    case ST_EV_POLICY_CHANGE:
    case ST_EV_SENSOR:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: break;
    }
    return (struct st_str){0};
}

/* What must be the same besides the object. */
static struct st_str second_of(const struct st_event *ev)
{
    switch (ev->type) {
    case ST_EV_FILESYSTEM: return ev->fs.op == ST_FS_EXEC ? ev->fs.program.sha256 : ev->fs.target;
    case ST_EV_PROCESS:
        return ev->proc.program.sha256; /* who approved one content did not approve the next */
    case ST_EV_SYSCALL:
    case ST_EV_DNS_QUERY:
    case ST_EV_NETWORK_EGRESS:
    case ST_EV_NETWORK_INGRESS:
    case ST_EV_LIFECYCLE:
    case ST_EV_FILESYSTEM_SUMMARY:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_SECURITY_RESUME:
    case ST_EV_POLICY_CHANGE:
    case ST_EV_SENSOR:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: break;
    }
    return (struct st_str){0};
}

static bool is_network(enum st_event_type type)
{
    return type == ST_EV_NETWORK_EGRESS || type == ST_EV_NETWORK_INGRESS;
}

void st_grants_add(struct st_grants *g, const struct st_event *ev, const char *id)
{
    struct st_str object = object_of(ev), second = second_of(ev);
    struct st_grant *grant;

    g->list = st_xrealloc(g->list, (g->n + 1) * sizeof(*g->list));
    grant = &g->list[g->n++];
    *grant = (struct st_grant){.id = st_xstrdup(id), .type = ev->type, .object_len = object.len};
    grant->object = st_xmalloc(object.len + 1);
    if (object.len)
        memcpy(grant->object, object.p, object.len);
    grant->target = second.p ? st_xstrndup(second.p, second.len) : NULL;
    grant->target_len = second.len;
    if (ev->type == ST_EV_FILESYSTEM)
        grant->access = ev->fs.access;
    if (ev->type == ST_EV_PROCESS)
        grant->op = ev->proc.op;
    if (is_network(ev->type)) {
        grant->addr = ev->net.addr;
        grant->port = ev->net.port;
        grant->protocol = ev->net.protocol;
    }
}

void st_grants_move(struct st_grants *g, struct st_grants *from)
{
    g->list = st_xrealloc(g->list, (g->n + from->n) * sizeof(*g->list));
    memcpy(g->list + g->n, from->list, from->n * sizeof(*g->list));
    g->n += from->n;
    free(from->list);
    *from = (struct st_grants){0};
}

/* To where it was approved, and nowhere else. */
static bool same_target(const struct st_grant *grant, struct st_str target)
{
    if (!grant->target || !target.p)
        return !grant->target && !target.p;
    return grant->target_len == target.len && memcmp(grant->target, target.p, target.len) == 0;
}

static bool covers(const struct st_grant *grant, const struct st_event *ev, struct st_str object)
{
    if (grant->type != ev->type || grant->object_len != object.len ||
        (object.len && memcmp(grant->object, object.p, object.len) != 0))
        return false;
    if (!same_target(grant, second_of(ev)))
        return false;
    if (ev->type == ST_EV_FILESYSTEM)
        return (ev->fs.access & ~grant->access) == 0;
    if (is_network(ev->type))
        return grant->port == ev->net.port && grant->protocol == ev->net.protocol &&
               memcmp(&grant->addr, &ev->net.addr, sizeof(grant->addr)) == 0;
    return object.len > 0 && (ev->type != ST_EV_PROCESS || grant->op == ev->proc.op);
}

const char *st_grants_cover(const struct st_grants *g, const struct st_event *ev)
{
    struct st_str object = object_of(ev);

    for (size_t i = 0; i < g->n; i++)
        if (covers(&g->list[i], ev, object))
            return g->list[i].id;
    return NULL;
}

void st_grants_free(struct st_grants *g)
{
    for (size_t i = 0; i < g->n; i++) {
        free(g->list[i].id);
        free(g->list[i].object);
        free(g->list[i].target);
    }
    free(g->list);
    *g = (struct st_grants){0};
}
