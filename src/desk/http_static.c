/* http_static: see http_static.h. Nothing here is read from disk, and no name leads anywhere but to the list.
 */
#include "desk/http_static.h"

#include "base/sha256.h"
#include "desk/desk.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *ending, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".json", "application/json"},
    {".webmanifest", "application/manifest+json"},
    {".txt", "text/plain; charset=utf-8"},
};

static const char *type_of(const char *name)
{
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(dot, types[i].ending) == 0)
            return types[i].type;
    return "application/octet-stream";
}

static void send_file(struct st_call *c, const char *name, size_t len)
{
    unsigned char hash[ST_SHA256_SIZE];
    char hex[ST_SHA256_HEX + 1];

    for (const struct st_web_file *f = st_web_files; f->name; f++) {
        if (strlen(f->name) != len || memcmp(f->name, name, len) != 0)
            continue;
        c->a->type = type_of(f->name);
        c->a->fixed = f->start;
        c->a->fixed_len = (size_t)(f->end - f->start);
        st_sha256(f->start, c->a->fixed_len, hash);
        st_hex(hash, sizeof(hash), hex);
        snprintf(c->a->etag, sizeof(c->a->etag), "\"%.32s\"", hex);
        c->a->status = c->r->etag && strcmp(c->r->etag, c->a->etag) == 0 ? 304 : 200;
        if (c->a->status == 304)
            c->a->fixed_len = 0;
        return;
    }
    st_http_refuse(c->a, 404, "not_found", "there is nothing here");
}

void st_answer_index(struct st_call *c)
{
    send_file(c, "index.html", strlen("index.html"));
}

void st_answer_asset(struct st_call *c)
{
    static const char own[] = "openapi.json"; /* has a route of its own */

    if (c->r->tail_len == sizeof(own) - 1 && memcmp(c->r->tail, own, sizeof(own) - 1) == 0)
        st_http_refuse(c->a, 404, "not_found", "there is nothing here");
    else
        send_file(c, c->r->tail, c->r->tail_len);
}

void st_answer_openapi(struct st_call *c)
{
    send_file(c, "openapi.json", strlen("openapi.json"));
}

void st_answer_root(struct st_call *c)
{
    snprintf(c->a->location, sizeof(c->a->location), "/sandbox-audit");
    c->a->status = 303;
}
