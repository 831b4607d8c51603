/* exec_call: see exec_call.h. */
#include "sensors/exec_call.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define PAGE ((size_t)ST_EXEC_PAGE)
#define POINTERS 64
#define READS_MAX 256 /* words that lie each on a page of their own cost a read each */

static uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 1099511628211u;
    return h;
}

void st_exec_call_parse(const char *text, struct st_exec_call *out)
{
    unsigned long long r[9] = {0};

    *out = (struct st_exec_call){0};
    if (sscanf(text, "%llu %llx %llx %llx %llx %llx %llx %llx %llx", &r[0], &r[1], &r[2], &r[3], &r[4], &r[5],
               &r[6], &r[7], &r[8]) < 9)
        return;
    out->known = r[0] == SYS_execve || r[0] == SYS_execveat;
    out->path = r[0] == SYS_execveat ? r[2] : r[1];
    out->argv = r[0] == SYS_execveat ? r[3] : r[2];
    out->registers = hash(14695981039346656037u, r, sizeof(r));
}

void st_exec_pages_init(struct st_exec_pages *m, st_memory_reader read, void *ctx)
{
    m->read = read;
    m->ctx = ctx;
    m->oldest = 0;
    m->kept[0].known = m->kept[1].known = false;
}

static const char *find_page(const struct st_exec_pages *m, uint64_t page)
{
    for (unsigned i = 0; i < 2; i++)
        if (m->kept[i].known && m->kept[i].address == page)
            return m->kept[i].bytes;
    return NULL;
}

static const char *fetch_page(struct st_exec_pages *m, uint64_t page)
{
    unsigned at = m->oldest;

    m->oldest = 1 - at;
    m->kept[at].address = page;
    m->kept[at].known = m->read(m->ctx, page, m->kept[at].bytes, PAGE) == (ssize_t)PAGE;
    return m->kept[at].known ? m->kept[at].bytes : NULL;
}

/* What lies across two pages, or can't be read page by page, is read as it was asked for. */
ssize_t st_memory_of_pages(void *ctx, uint64_t address, void *out, size_t n)
{
    struct st_exec_pages *m = ctx;
    size_t from = (size_t)(address % PAGE);
    const char *bytes = NULL;

    if (n <= PAGE - from) {
        bytes = find_page(m, address - from);
        if (!bytes)
            bytes = fetch_page(m, address - from);
    }
    if (!bytes)
        return m->read(m->ctx, address, out, n);
    memcpy(out, bytes + from, n);
    return (ssize_t)n;
}

/* What was read last, up to the end of a page: words lie close together. */
struct window {
    st_memory_reader read;
    void *ctx;
    uint64_t address;
    size_t len;
    unsigned reads;
    char bytes[PAGE];
};

/* Bytes from the address on; NULL: none could be read. */
static const char *look(struct window *w, uint64_t address, size_t *n)
{
    ssize_t got;
    size_t want = PAGE - (size_t)(address % PAGE);

    if (address < w->address || address - w->address >= w->len) {
        if (w->reads++ == READS_MAX)
            return NULL;
        got = w->read(w->ctx, address, w->bytes, want);
        if (got <= 0 || (size_t)got > want) {
            w->len = 0;
            return NULL;
        }
        w->address = address;
        w->len = (size_t)got;
    }
    *n = w->len - (size_t)(address - w->address);
    return w->bytes + (address - w->address);
}

/* One word, with its NUL. False: no more words. */
static bool add_word(struct window *w, uint64_t address, struct st_exec_argv *out)
{
    for (;;) {
        size_t n, room = sizeof(out->bytes) - out->len;
        const char *from = look(w, address, &n), *end;

        if (!from) {
            out->incomplete = true;
            return false;
        }
        end = memchr(from, '\0', n);
        if (end)
            n = (size_t)(end - from) + 1;
        if (n > room) {
            memcpy(out->bytes + out->len, from, room);
            out->len += room;
            out->cut = true;
            return false;
        }
        memcpy(out->bytes + out->len, from, n);
        out->len += n;
        if (end)
            return true;
        address += n;
    }
}

/* Pointers from the address on, not beyond the end of its page. 0: none could be read. */
static size_t read_pointers(uint64_t address, st_memory_reader read, void *ctx, uint64_t *out)
{
    size_t want = PAGE - (size_t)(address % PAGE);
    ssize_t got;

    if (want < sizeof(*out)) /* one that lies across two pages */
        want = sizeof(*out);
    if (want > POINTERS * sizeof(*out))
        want = POINTERS * sizeof(*out);
    got = read(ctx, address, out, want);
    return got < 0 || (size_t)got > want ? 0 : (size_t)got / sizeof(*out);
}

void st_exec_argv_read(uint64_t address, st_memory_reader read, void *ctx, struct st_exec_argv *out)
{
    struct window w = {.read = read, .ctx = ctx};
    uint64_t pointers[POINTERS];

    out->len = 0;
    out->incomplete = out->cut = false;
    while (address) { /* none at all is as good as an empty one */
        size_t n = read_pointers(address, read, ctx, pointers);

        if (n == 0)
            out->incomplete = true;
        for (size_t i = 0; i < n; i++)
            if (!pointers[i] || !add_word(&w, pointers[i], out))
                n = 0;
        if (n == 0)
            break;
        address += n * sizeof(*pointers);
    }
    if (out->len && out->bytes[out->len - 1] == '\0')
        out->len--;
}

uint64_t st_exec_call_hash(const struct st_exec_call *call, const struct st_exec_argv *argv,
                           st_memory_reader read, void *ctx)
{
    char path[256];
    size_t want = PAGE - (size_t)(call->path % PAGE);
    ssize_t got = read(ctx, call->path, path, want < sizeof(path) ? want : sizeof(path));
    uint64_t h = hash(call->registers, argv->bytes, argv->len);

    return got <= 0 || (size_t)got > sizeof(path) ? h : hash(h, path, strnlen(path, (size_t)got));
}
