/* resolvers: see resolvers.h. */
#include "sensors/net/resolvers.h"

static size_t span(struct st_str text, const char *set)
{
    size_t n = 0;

    while (n < text.len && text.p[n] && strchr(set, text.p[n]))
        n++;
    return n;
}

/* Up to one of these, or a NUL, at which the C library's text ends too. */
static struct st_str before(struct st_str text, const char *set)
{
    size_t n = 0;

    while (n < text.len && text.p[n] && !strchr(set, text.p[n]))
        n++;
    return (struct st_str){text.p, n};
}

static struct st_str after(struct st_str text, size_t n)
{
    return (struct st_str){text.p + n, text.len - n};
}

/* The address as written, of a line that names a server; {NULL, 0}: it is another line. */
static struct st_str server_of(struct st_str line)
{
    static const char word[] = "nameserver";
    struct st_str rest;

    if (line.len < sizeof(word) || memcmp(line.p, word, sizeof(word) - 1) != 0)
        return (struct st_str){0};
    rest = after(line, sizeof(word) - 1);
    if (span(rest, " \t") == 0)
        return (struct st_str){0};
    return before(after(rest, span(rest, " \t")), ";# \t\n");
}

static bool read_addr(struct st_str text, struct st_addr *out)
{
    struct st_str bare = before(text, "%");
    static const uint8_t loopback6[16] = {[15] = 1}, loopback4[4] = {127, 0, 0, 1}, none[16] = {0};

    if (!st_addr_parse(bare, out))
        return false;
    if (bare.len < text.len && out->family != 6) /* only what IPv6 has may have an interface */
        return false;
    if (memcmp(out->bytes, none, sizeof(none)) == 0)
        *out = out->family == 6 ? st_addr_from6(loopback6) : st_addr_from4(loopback4);
    return true;
}

static void add(struct st_resolvers *out, const struct st_addr *addr)
{
    for (size_t i = 0; i < out->n; i++)
        if (st_addr_equal(&out->addrs[i], addr))
            return;
    if (out->n < ST_RESOLVERS_MAX)
        out->addrs[out->n++] = *addr;
    else
        out->left_out++;
}

bool st_resolvers_read(struct st_str text, struct st_resolvers *out)
{
    *out = (struct st_resolvers){0};
    if (text.len > ST_RESOLVERS_TEXT_MAX)
        return false;
    while (text.len) {
        const char *end = memchr(text.p, '\n', text.len);
        size_t len = end ? (size_t)(end - text.p) : text.len;
        struct st_str server = server_of((struct st_str){text.p, len});
        struct st_addr addr;

        if (server.p && read_addr(server, &addr))
            add(out, &addr);
        else
            out->unread += server.p != NULL;
        text = after(text, end ? len + 1 : len);
    }
    return true;
}
