/* toml_value: the values of a TOML text: strings, numbers, times, arrays, inline tables. */
#include "base/toml_private.h"

#include "base/json_write.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

bool st_toml_is_control(char c)
{
    return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

bool st_toml_is_utf8(const char *text, size_t len)
{
    return st_utf8_valid(text, len);
}

/* ---- strings ---- */

static void add_character(struct st_buf *out, uint32_t n)
{
    if (n < 0x80) {
        st_buf_addc(out, (char)n);
    } else if (n < 0x800) {
        st_buf_addc(out, (char)(0xc0 | n >> 6));
        st_buf_addc(out, (char)(0x80 | (n & 0x3f)));
    } else if (n < 0x10000) {
        st_buf_addc(out, (char)(0xe0 | n >> 12));
        st_buf_addc(out, (char)(0x80 | (n >> 6 & 0x3f)));
        st_buf_addc(out, (char)(0x80 | (n & 0x3f)));
    } else {
        st_buf_addc(out, (char)(0xf0 | n >> 18));
        st_buf_addc(out, (char)(0x80 | (n >> 12 & 0x3f)));
        st_buf_addc(out, (char)(0x80 | (n >> 6 & 0x3f)));
        st_buf_addc(out, (char)(0x80 | (n & 0x3f)));
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int read_number_of(struct cursor *c, unsigned digits, struct st_buf *out, struct st_error *err)
{
    uint32_t n = 0;

    for (unsigned i = 0; i < digits; i++) {
        int digit = c->at < c->len ? hex_digit(c->text[c->at]) : -1;

        if (digit < 0)
            return st_toml_fault(c, err, "a hexadecimal digit is expected here");
        n = n << 4 | (uint32_t)digit;
        c->at++;
    }
    if (n > 0x10ffff || (n >= 0xd800 && n < 0xe000))
        return st_toml_fault(c, err, "there is no such character");
    add_character(out, n);
    return 0;
}

/* A backslash at the end of a line takes the white space that follows with it. */
static bool skip_line_end(struct cursor *c)
{
    size_t at = c->at;

    while (at < c->len && (c->text[at] == ' ' || c->text[at] == '\t' || c->text[at] == '\r'))
        at++;
    if (at >= c->len || c->text[at] != '\n')
        return false;
    while (at < c->len && strchr(" \t\r\n", c->text[at]) && c->text[at])
        at++;
    c->at = at;
    return true;
}

static int read_escape(struct cursor *c, bool lines, struct st_buf *out, struct st_error *err)
{
    static const char letters[] = "btnfre\"\\", meant[] = "\b\t\n\f\r\033\"\\";
    const char *letter;

    if (lines && skip_line_end(c))
        return 0;
    if (c->at >= c->len)
        return st_toml_fault(c, err, "the string has no end");
    if (c->text[c->at] == 'u' || c->text[c->at] == 'U')
        return read_number_of(c, c->text[c->at++] == 'u' ? 4 : 8, out, err);
    letter = c->text[c->at] ? strchr(letters, c->text[c->at]) : NULL;
    if (!letter)
        return st_toml_fault(c, err, "there is no such escape");
    st_buf_addc(out, meant[letter - letters]);
    c->at++;
    return 0;
}

static bool three(const struct cursor *c, char quote)
{
    return c->at + 2 < c->len && c->text[c->at] == quote && c->text[c->at + 1] == quote &&
           c->text[c->at + 2] == quote;
}

/* Behind the opening quotes. Up to two quotes more may stand before the closing three. */
static bool closes(struct cursor *c, char quote, bool many, struct st_buf *out)
{
    if (!many) {
        c->at++;
        return true;
    }
    if (!three(c, quote)) {
        st_buf_addc(out, quote);
        c->at++;
        return false;
    }
    c->at += 3;
    for (int i = 0; i < 2 && c->at < c->len && c->text[c->at] == quote; i++) {
        st_buf_addc(out, quote);
        c->at++;
    }
    return true;
}

int st_toml_text(struct cursor *c, bool lines, struct st_buf *out, struct st_error *err)
{
    char quote = c->text[c->at];
    bool many = three(c, quote);

    if (many && !lines)
        return st_toml_fault(c, err, "a string of several lines has no place here");
    c->at += many ? 3 : 1;
    while (c->at < c->len) {
        char now = c->text[c->at];

        if (now == quote) {
            if (closes(c, quote, many, out))
                return 0;
        } else if (now == '\\' && quote == '"') {
            c->at++;
            if (read_escape(c, many, out, err) < 0)
                return -err->errnum;
        } else if (st_toml_is_control(now) && !(many && (now == '\n' || now == '\r'))) {
            return st_toml_fault(c, err, now == '\n' ? "the string has no end" : "a control character");
        } else {
            st_buf_addc(out, now);
            c->at++;
        }
    }
    return st_toml_fault(c, err, "the string has no end");
}

/* ---- the rest ---- */

/* true, inf, 0x1f, -3.5e7, 1979-05-27T07:32:00Z: what they mean is nobody's business here. */
static int read_plain(struct cursor *c, struct st_error *err)
{
    static const char letters[] = "+-.:_";
    size_t start = c->at;

    while (c->at < c->len) {
        char now = c->text[c->at];
        bool date = now == ' ' && c->at == start + 10 && c->at + 1 < c->len && c->text[c->at + 1] >= '0' &&
                    c->text[c->at + 1] <= '9';

        if (!((now >= '0' && now <= '9') || (now >= 'a' && now <= 'z') || (now >= 'A' && now <= 'Z') ||
              (now && strchr(letters, now)) || date))
            break;
        c->at++;
    }
    if (c->at == start || (c->text[start] >= 'A' && c->text[start] <= 'Z'))
        return st_toml_fault(c, err, "a value is expected here");
    if (c->text[start] >= 'a' && c->text[start] <= 'z') {
        static const char *const words[] = {"true", "false", "inf", "nan"};

        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            if (strlen(words[i]) == c->at - start && memcmp(words[i], c->text + start, c->at - start) == 0)
                return 0;
        c->at = start;
        return st_toml_fault(c, err, "a value is expected here; text stands in quotes");
    }
    return 0;
}

static int skip_lines(struct cursor *c, struct st_error *err)
{
    while (true) {
        st_toml_blanks(c);
        if (c->at >= c->len || !strchr("#\n\r", c->text[c->at]) || !c->text[c->at])
            return 0;
        if (st_toml_rest_of_line(c, err) < 0)
            return -err->errnum;
    }
}

static int read_value(struct reading *r, const struct st_buf *path, unsigned depth, struct st_error *err);

static int read_array(struct reading *r, const struct st_buf *path, unsigned depth, struct st_error *err)
{
    struct cursor *c = &r->c;

    c->at++;
    while (true) {
        if (skip_lines(c, err) < 0)
            return -err->errnum;
        if (c->at < c->len && c->text[c->at] == ']')
            break;
        if (read_value(r, path, depth + 1, err) < 0 || skip_lines(c, err) < 0)
            return -err->errnum;
        if (c->at < c->len && c->text[c->at] == ']')
            break;
        if (c->at >= c->len || c->text[c->at] != ',')
            return st_toml_fault(c, err, "a comma or a `]` is expected here");
        c->at++;
    }
    c->at++;
    return 0;
}

/* path NULL: in an array, where keys have no name of their own. */
static int read_inline(struct reading *r, const struct st_buf *path, unsigned depth, struct st_error *err)
{
    struct cursor *c = &r->c;

    c->at++;
    st_toml_blanks(c);
    if (c->at < c->len && c->text[c->at] == '}') {
        c->at++;
        return 0;
    }
    while (true) {
        st_toml_blanks(c);
        if (st_toml_pair(r, path, depth + 1, err) < 0)
            return -err->errnum;
        st_toml_blanks(c);
        if (c->at < c->len && c->text[c->at] == '}')
            break;
        if (c->at >= c->len || c->text[c->at] != ',')
            return st_toml_fault(c, err, "a comma or a `}` is expected here");
        c->at++;
    }
    c->at++;
    return 0;
}

static int read_value(struct reading *r, const struct st_buf *path, unsigned depth, struct st_error *err)
{
    struct cursor *c = &r->c;
    st_auto_buf text = ST_BUF_INIT;
    char first = c->at < c->len ? c->text[c->at] : '\0';

    if (depth > ST_TOML_DEPTH)
        return st_toml_fault(c, err, "too deep");
    if (first == '"' || first == '\'')
        return st_toml_text(c, true, &text, err);
    if (first == '[')
        return read_array(r, NULL, depth, err);
    if (first == '{')
        return read_inline(r, path, depth, err);
    return read_plain(c, err);
}

int st_toml_pair(struct reading *r, const struct st_buf *table, unsigned depth, struct st_error *err)
{
    struct cursor *c = &r->c;
    struct st_toml_item item = {.kind = ST_TOML_VALUE, .start = c->at};
    st_auto_buf path = ST_BUF_INIT;

    if (table)
        st_buf_add(&path, st_buf_cstr(table), table->len);
    if (st_toml_key(c, &path, err) < 0)
        return -err->errnum;
    if (c->at >= c->len || c->text[c->at] != '=')
        return st_toml_fault(c, err, "a `=` is expected here");
    c->at++;
    st_toml_blanks(c);
    item.value_start = c->at;
    if (c->at < c->len && c->text[c->at] == '{')
        item.kind = ST_TOML_INLINE;
    if (read_value(r, table ? &path : NULL, depth, err) < 0)
        return -err->errnum;
    item.end = item.value_end = c->at;
    return table ? st_toml_add(r, &item, &path, err) : 0;
}
