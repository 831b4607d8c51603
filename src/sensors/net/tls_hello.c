/* tls_hello: see tls_hello.h. */
#include "sensors/net/tls_hello.h"

#include "sensors/net/cursor.h"
#include "sensors/net/wire_host.h"

#include <string.h>

#define RECORD_HEADER 5
#define RECORD_MAX 16384
#define TYPE_HANDSHAKE 22
#define CLIENT_HELLO 1
#define HANDSHAKE_HEADER 4

#define EXT_SERVER_NAME 0
#define EXT_ALPN 16
#define EXT_ECH 0xfe0d
#define EXT_ESNI 0xffce /* an older draft of the same */

static void clear(struct st_tls_hello *out)
{
    out->sni_len = 0;
    out->sni[0] = out->alpn_text[0] = '\0';
    out->ech = out->alpn = out->alpn_cut = false;
    out->why = NULL;
}

/* Nothing of what was read before may be used. */
static enum st_hello_is malformed(struct st_tls_hello *out, const char *why)
{
    clear(out);
    out->why = why;
    return ST_HELLO_MALFORMED;
}

/* ---- extensions ---- */

/* Exactly one name: of several, which one a server takes is its own affair. */
static const char *read_server_name(struct st_cursor c, struct st_tls_hello *out)
{
    size_t list = st_take16(&c), len;
    uint8_t type = st_take8(&c);
    const uint8_t *name;

    len = st_take16(&c);
    name = st_take(&c, len);
    if (c.bad || c.left || list != len + 3 || type != 0)
        return "a list of server names that is not one name";
    out->sni_len = st_wire_host(name, len, out->sni);
    return out->sni_len ? NULL : "a server name that is no name of a host";
}

static bool plain(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-./_", c));
}

/* The whole protocol, or nothing of it. */
static void add_protocol(struct st_cursor name, struct st_tls_hello *out, size_t *used)
{
    size_t need = *used > 0;
    char *p = out->alpn_text + *used;

    for (size_t i = 0; i < name.left; i++)
        need += plain(name.p[i]) ? 1 : 4;
    if (out->alpn_cut || need >= ST_ALPN_SIZE - *used) {
        out->alpn_cut = true;
        return;
    }
    if (*used)
        *p++ = ',';
    for (size_t i = 0; i < name.left; i++) {
        if (plain(name.p[i])) {
            *p++ = (char)name.p[i];
            continue;
        }
        *p++ = '\\';
        *p++ = 'x';
        *p++ = "0123456789abcdef"[name.p[i] >> 4];
        *p++ = "0123456789abcdef"[name.p[i] & 15];
    }
    *p = '\0';
    *used += need;
}

static const char *read_alpn(struct st_cursor c, struct st_tls_hello *out)
{
    size_t list = st_take16(&c), used = 0;

    if (out->alpn)
        return "two lists of protocols";
    out->alpn = true;
    if (c.bad || list != c.left || list == 0)
        return "a list of protocols of the wrong length";
    while (c.left) {
        struct st_cursor name = st_take_run(&c, st_take8(&c));

        if (name.bad || name.left == 0)
            return "a protocol of the wrong length";
        add_protocol(name, out, &used);
    }
    return NULL;
}

static const char *read_extensions(struct st_cursor c, struct st_tls_hello *out)
{
    bool named = false;

    while (c.left) {
        uint16_t type = st_take16(&c), len = st_take16(&c);
        struct st_cursor body = st_take_run(&c, len);
        const char *why = NULL;

        if (c.bad)
            return "an extension that ends too early";
        if (type == EXT_SERVER_NAME) {
            why = named ? "two server names" : read_server_name(body, out);
            named = true;
        } else if (type == EXT_ALPN) {
            why = read_alpn(body, out);
        } else if (type == EXT_ECH || type == EXT_ESNI) {
            out->ech = true;
        }
        if (why)
            return why;
    }
    return NULL;
}

/* ---- the hello ---- */

static const char *read_hello(struct st_cursor c, struct st_tls_hello *out)
{
    size_t session, suites, methods, extensions;

    if (st_take8(&c) != 3)
        return "a version that is not TLS";
    st_take(&c, 1 + 32); /* the rest of the version, random */
    session = st_take8(&c);
    st_take(&c, session);
    suites = st_take16(&c);
    st_take(&c, suites);
    methods = st_take8(&c);
    st_take(&c, methods);
    if (c.bad || session > 32 || suites < 2 || suites % 2 || methods < 1)
        return "a hello that ends too early or counts wrong";
    if (c.left == 0) /* before TLS 1.2 there could be none */
        return NULL;
    extensions = st_take16(&c);
    if (c.bad || extensions != c.left)
        return "extensions of the wrong length";
    return read_extensions(c, out);
}

/* ---- records ---- */

/* What the handshake says, out of the records around it. */
struct handshake {
    size_t n;
    uint8_t bytes[ST_HELLO_MAX];
};

static enum st_hello_is check_record(const uint8_t *header, size_t n, struct st_tls_hello *out)
{
    size_t len;

    if (header[0] != TYPE_HANDSHAKE)
        return malformed(out, "another record before the hello is whole");
    if (n > 1 && header[1] != 3)
        return malformed(out, "a record of another version");
    if (n < RECORD_HEADER)
        return ST_HELLO_MORE;
    len = (size_t)header[3] << 8 | header[4];
    if (len == 0 || len > RECORD_MAX)
        return malformed(out, "a record that is empty or too long");
    return ST_HELLO_DONE;
}

/* Is the handshake in h a whole hello? Its header is looked at as soon as it is there. */
static enum st_hello_is check_handshake(const struct handshake *h, size_t *len, struct st_tls_hello *out)
{
    struct st_cursor c = st_cursor(h->bytes, h->n);

    if (h->n > 0 && h->bytes[0] != CLIENT_HELLO)
        return malformed(out, "a handshake that does not begin with a hello");
    st_take8(&c);
    *len = st_take24(&c);
    if (c.bad)
        return ST_HELLO_MORE;
    if (*len > ST_HELLO_MAX - HANDSHAKE_HEADER - RECORD_HEADER)
        return malformed(out, "a hello that is too long");
    return *len <= c.left ? ST_HELLO_DONE : ST_HELLO_MORE;
}

static enum st_hello_is read_records(const uint8_t *bytes, size_t n, struct st_tls_hello *out)
{
    struct handshake h;
    enum st_hello_is is;
    size_t at = 0, len;
    const char *why;

    h.n = 0;
    do {
        size_t body;

        is = at < n ? check_record(bytes + at, n - at, out) : ST_HELLO_MORE;
        if (is != ST_HELLO_DONE)
            return is;
        body = (size_t)bytes[at + 3] << 8 | bytes[at + 4];
        at += RECORD_HEADER;
        if (body > n - at)
            body = n - at;
        memcpy(h.bytes + h.n, bytes + at, body);
        h.n += body;
        at += body;
        is = check_handshake(&h, &len, out);
    } while (is == ST_HELLO_MORE);
    if (is != ST_HELLO_DONE)
        return is;
    why = read_hello(st_cursor(h.bytes + HANDSHAKE_HEADER, len), out);
    return why ? malformed(out, why) : ST_HELLO_DONE;
}

/* ---- what it is at all ---- */

/* Two bytes of length with the highest bit set, a client hello, a version of SSL or TLS. */
static enum st_hello_is read_ssl2(const uint8_t *bytes, size_t n)
{
    if (!(bytes[0] & 0x80) || (n > 2 && bytes[2] != CLIENT_HELLO) ||
        (n > 3 && bytes[3] != 0 && bytes[3] != 3))
        return ST_HELLO_NOT_TLS;
    return n > 3 ? ST_HELLO_SSL2 : ST_HELLO_MORE;
}

enum st_hello_is st_tls_hello_read(const uint8_t *bytes, size_t n, struct st_tls_hello *out)
{
    enum st_hello_is is;

    clear(out);
    if (n == 0)
        return ST_HELLO_MORE;
    if (bytes[0] != TYPE_HANDSHAKE)
        return read_ssl2(bytes, n);
    if (n > 1 && bytes[1] != 3)
        return ST_HELLO_NOT_TLS;
    is = read_records(bytes, n < ST_HELLO_MAX ? n : ST_HELLO_MAX, out);
    return is == ST_HELLO_MORE && n >= ST_HELLO_MAX ? malformed(out, "no whole hello where one must be") : is;
}
