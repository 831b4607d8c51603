/* group: the number of the group that may use control.sock. Reads the group file itself: NSS would have
 * to load libraries into programs that are static on purpose. A group that lives elsewhere (LDAP) is
 * given by its number. */
#include "config/config.h"

#include "base/io.h"

#include <errno.h>
#include <string.h>

#define MAX_BYTES ((size_t)4 << 20)

/* Decimal, the whole of [s, s + len), and a gid that is not "none" (-1). */
static bool parse_gid(const char *s, size_t len, gid_t *out)
{
    uint64_t n = 0;

    if (len == 0 || len > 10)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        n = n * 10 + (unsigned)(s[i] - '0');
    }
    if (n >= UINT32_MAX)
        return false;
    *out = (gid_t)n;
    return true;
}

/* One line, `name:password:gid:members`. */
static bool line_names(const char *line, size_t len, const char *name, gid_t *out)
{
    size_t n = strlen(name);
    const char *end = line + len, *password, *gid;

    if (len <= n || memcmp(line, name, n) != 0 || line[n] != ':')
        return false;
    password = line + n + 1;
    gid = memchr(password, ':', (size_t)(end - password));
    if (!gid)
        return false;
    gid++;
    end = memchr(gid, ':', (size_t)(end - gid));
    return end && parse_gid(gid, (size_t)(end - gid), out);
}

int st_config_control_gid(const struct st_config *config, const char *group_file, gid_t *out,
                          struct st_error *err)
{
    const char *name = config->control_group;
    st_auto_buf text = ST_BUF_INIT;
    int rc;

    *out = (gid_t)-1;
    if (!name || parse_gid(name, strlen(name), out))
        return 0;
    rc = st_read_file(group_file, MAX_BYTES, &text, err);
    if (rc < 0)
        return st_wrap(err, "control_group `%s`", name);
    for (const char *line = st_buf_cstr(&text); *line;) {
        size_t len = strcspn(line, "\n");

        if (line_names(line, len, name, out))
            return 0;
        line += len + (line[len] == '\n');
    }
    return st_fail(err, ENOENT,
                   "control_group `%s`: no such group in %s; make it with groupadd or write a number", name,
                   group_file);
}
