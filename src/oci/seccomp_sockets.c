/* seccomp_sockets: see seccomp_sockets.h. */
#include "oci/seccomp_sockets.h"

#include "oci/seccomp_rules.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define NETLINK_AUDIT_PROTOCOL 9

/* Docker: any family but vsock. Podman: netlink, but not for auditing; said by two rules that permit, of
 * which one or the other holds for all else, and one that refuses. */
enum shape { NO_VSOCK, NO_AUDIT, NO_NETLINK, AUDIT_REFUSED, OTHER, SHAPES };

static bool compares(const struct st_json_node *condition, int64_t index, const char *op, int64_t value)
{
    const char *is = st_json_str(st_json_get(condition, "op"), NULL);
    int64_t at, with;

    return is && strcmp(is, op) == 0 && st_json_int(st_json_get(condition, "index"), &at) && at == index &&
           st_json_int(st_json_get(condition, "value"), &with) && with == value;
}

static enum shape shape_of(const struct st_json_node *rule)
{
    const struct st_json_node *args = st_json_get(rule, "args"), *one = st_json_first(args);
    bool permits = st_seccomp_permits(st_seccomp_action(rule));

    if (permits && st_json_count(args) == 1)
        return compares(one, 0, "SCMP_CMP_NE", AF_VSOCK)                 ? NO_VSOCK
               : compares(one, 2, "SCMP_CMP_NE", NETLINK_AUDIT_PROTOCOL) ? NO_AUDIT
               : compares(one, 0, "SCMP_CMP_NE", AF_NETLINK)             ? NO_NETLINK
                                                                         : OTHER;
    if (strcmp(st_seccomp_action(rule), ST_SECCOMP_ERRNO) == 0 && st_json_count(args) == 2 &&
        compares(one, 0, "SCMP_CMP_EQ", AF_NETLINK) &&
        compares(st_json_next(one), 2, "SCMP_CMP_EQ", NETLINK_AUDIT_PROTOCOL))
        return AUDIT_REFUSED;
    return OTHER;
}

bool st_seccomp_knows_sockets(const struct st_seccomp_subjects *all, struct st_seccomp_kind *but)
{
    size_t seen[SHAPES] = {0};
    int error = strcmp(all->fallback, ST_SECCOMP_ERRNO) == 0 ? all->fallback_error : EPERM;

    st_json_each (rule, all->rules) {
        enum shape shape = shape_of(rule);

        if (!st_seccomp_names(rule, "socket"))
            continue;
        seen[shape]++;
        if (shape == AUDIT_REFUSED)
            error = st_seccomp_error(rule, "errnoRet");
    }
    *but = (struct st_seccomp_kind){.error = error, .family = AF_VSOCK, .protocol = -1};
    if (seen[OTHER])
        return false;
    if (seen[NO_VSOCK])
        return !seen[NO_AUDIT] && !seen[NO_NETLINK] && !seen[AUDIT_REFUSED];
    *but = (struct st_seccomp_kind){.error = error, .family = AF_NETLINK, .protocol = NETLINK_AUDIT_PROTOCOL};
    return seen[NO_AUDIT] && seen[NO_NETLINK];
}
