/* http_head: see http_head.h. */
#include "sensors/net/http_head.h"

#include "sensors/net/cursor.h"

#include <strings.h>

#define METHOD_MAX 32

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

struct head {
    struct st_cursor c;
    bool connect, one_dot_one;
    unsigned hosts;                   /* headers */
    struct st_authority host, target; /* what the header says, what an absolute or CONNECT target says */
    bool has_target;
    uint16_t scheme_port; /* of the target's scheme, 0: none */
};

static bool is_token_byte(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_word(struct st_cursor text, const char *word)
{
    return text.left == strlen(word) && strncasecmp((const char *)text.p, word, text.left) == 0;
}

/* ---- lines ---- */

enum line_is { LINE_MORE, LINE_WHOLE, LINE_BAD };

/* The next line without its end, which is CR LF and nothing else. No other control character but the tab,
 * in no part of it. */
static enum line_is take_line(struct st_cursor *c, struct st_cursor *line)
{
    for (size_t i = 0; i < c->left; i++) {
        uint8_t byte = c->p[i];

        if (byte == '\r') {
            if (i + 1 == c->left)
                return LINE_MORE;
            if (c->p[i + 1] != '\n')
                return LINE_BAD;
            *line = st_take_run(c, i);
            st_take(c, 2);
            return LINE_WHOLE;
        }
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
            return LINE_BAD;
    }
    return LINE_MORE;
}

/* Up to the byte, which is taken too; false: it is not there. */
static bool take_until(struct st_cursor *c, char stop, struct st_cursor *out)
{
    const uint8_t *at = c->left ? memchr(c->p, stop, c->left) : NULL;

    if (!at)
        return false;
    *out = st_take_run(c, (size_t)(at - c->p));
    st_take(c, 1);
    return true;
}

/* ---- the request line ---- */

/* As soon as it can be told: what speaks another protocol may wait for an answer and never end a line. */
static bool may_be_a_request(const struct st_cursor *c)
{
    for (size_t i = 0; i < c->left; i++) {
        if (c->p[i] == ' ')
            return i > 0;
        if (i == METHOD_MAX || !is_token_byte(c->p[i]))
            return false;
    }
    return true;
}

static const char *read_absolute(struct st_cursor target, struct head *h)
{
    static const struct {
        const char *text;
        uint16_t port;
    } schemes[] = {{"http://", 80}, {"https://", 443}};

    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(schemes[i].text), len = 0;

        if (target.left < n || strncasecmp((const char *)target.p, schemes[i].text, n) != 0)
            continue;
        st_take(&target, n);
        while (len < target.left && target.p[len] != '/' && target.p[len] != '?')
            len++;
        h->has_target = true;
        h->scheme_port = schemes[i].port;
        return st_authority_read(target.p, len, &h->target) ? NULL : "a target whose host is no host";
    }
    return "a target of an unknown form";
}

static const char *read_target(struct st_cursor target, struct head *h)
{
    if (target.left == 0 || memchr(target.p, '\t', target.left))
        return "an empty target or one with white space";
    if (h->connect) {
        h->has_target = true;
        return st_authority_read(target.p, target.left, &h->target) && h->target.port
                   ? NULL
                   : "CONNECT to what is no host and port";
    }
    if (target.p[0] == '/' || is_word(target, "*"))
        return NULL;
    return read_absolute(target, h);
}

/* METHOD SP target SP HTTP/1.x */
static enum st_head_is read_request(struct st_cursor line, struct head *h, const char **why)
{
    struct st_cursor method, target;

    if (!take_until(&line, ' ', &method) || !take_until(&line, ' ', &target) || line.left != 8 ||
        memcmp(line.p, "HTTP/1.", 7) != 0 || (line.p[7] != '0' && line.p[7] != '1'))
        return ST_HEAD_NOT_HTTP;
    h->one_dot_one = line.p[7] == '1';
    h->connect = method.left == 7 && memcmp(method.p, "CONNECT", 7) == 0;
    *why = read_target(target, h);
    return *why ? ST_HEAD_MALFORMED : ST_HEAD_DONE;
}

/* ---- headers ---- */

static struct st_cursor trimmed(struct st_cursor text)
{
    while (text.left && (text.p[0] == ' ' || text.p[0] == '\t'))
        st_take(&text, 1);
    while (text.left && (text.p[text.left - 1] == ' ' || text.p[text.left - 1] == '\t'))
        text.left--;
    return text;
}

static const char *read_header(struct st_cursor line, struct head *h)
{
    struct st_cursor name;

    if (line.p[0] == ' ' || line.p[0] == '\t')
        return "a header that goes on in a second line";
    if (!take_until(&line, ':', &name) || name.left == 0)
        return "a header without a name";
    for (size_t i = 0; i < name.left; i++)
        if (!is_token_byte(name.p[i]))
            return "a header whose name is none";
    if (!is_word(name, "host"))
        return NULL;
    line = trimmed(line);
    if (h->hosts++)
        return "two Hosts";
    return st_authority_read(line.p, line.left, &h->host) ? NULL : "a Host that is no host";
}

/* A port that is not said is the scheme's; where there is none (CONNECT), any. */
static bool agree(const struct head *h)
{
    uint16_t a = h->target.port ? h->target.port : h->scheme_port;
    uint16_t b = h->host.port ? h->host.port : h->scheme_port;

    return st_authority_same_host(&h->target, &h->host) && (a == b || b == 0);
}

static const char *conclude(const struct head *h)
{
    if (h->one_dot_one && h->hosts == 0)
        return "no Host";
    if (h->hosts && h->has_target && !agree(h))
        return "a Host that is not the target's";
    return NULL;
}

/* ---- the head ---- */

static enum st_head_is malformed(struct st_http_head *out, const char *why)
{
    out->why = why;
    return ST_HEAD_MALFORMED;
}

static enum st_head_is read_head(struct head *h, struct st_http_head *out)
{
    struct st_cursor line;
    const char *why = NULL;

    for (bool first = true;; first = false) {
        enum line_is is = take_line(&h->c, &line);

        if (is == LINE_MORE)
            return ST_HEAD_MORE;
        if (is == LINE_BAD)
            return malformed(out, "a control character, or a line that does not end in CR LF");
        if (!first && line.left == 0)
            break;
        if (first) {
            enum st_head_is request = read_request(line, h, &why);

            if (request != ST_HEAD_DONE && !why)
                return request;
        } else {
            why = read_header(line, h);
        }
        if (why)
            return malformed(out, why);
    }
    why = conclude(h);
    return why ? malformed(out, why) : ST_HEAD_DONE;
}

enum st_head_is st_http_head_read(const uint8_t *bytes, size_t n, struct st_http_head *out)
{
    size_t looked_at = n < ST_HEAD_MAX ? n : ST_HEAD_MAX;
    struct head h = {.c = st_cursor(bytes, looked_at)};
    enum st_head_is is;

    *out = (struct st_http_head){0};
    if (n == 0)
        return ST_HEAD_MORE;
    if (memcmp(bytes, preface, n < sizeof(preface) - 1 ? n : sizeof(preface) - 1) == 0)
        return n < sizeof(preface) - 1 ? ST_HEAD_MORE : ST_HEAD_H2;
    if (!may_be_a_request(&h.c))
        return ST_HEAD_NOT_HTTP;
    is = read_head(&h, out);
    if (is == ST_HEAD_MORE && n >= ST_HEAD_MAX)
        return malformed(out, "no whole head where one must be");
    if (is == ST_HEAD_DONE) {
        out->host = h.has_target ? h.target : h.host;
        out->connect = h.connect;
        out->len = looked_at - h.c.left;
    }
    return is;
}
