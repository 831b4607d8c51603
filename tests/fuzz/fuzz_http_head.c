/* Any bytes as the beginning of an HTTP client's stream: wherever it is cut, the answer is MORE up to some
 * byte and one and the same from there on; the host of a head that is read, written as a Host, reads as
 * itself. */
#include "sensors/net/http_head.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static bool same(const struct st_http_head *a, const struct st_http_head *b)
{
    return st_authority_same_host(&a->host, &b->host) && a->host.port == b->host.port &&
           a->connect == b->connect && a->len == b->len && a->why == b->why;
}

static void check_cuts(const uint8_t *data, size_t size, enum st_head_is is, const struct st_http_head *head)
{
    size_t step = size / 64 + 1;
    bool decided = false;

    for (size_t n = 0; n < size; n += step) {
        struct st_http_head part;
        enum st_head_is then = st_http_head_read(data, n, &part);

        demand(!decided || then != ST_HEAD_MORE);
        decided = then != ST_HEAD_MORE;
        demand(!decided || (then == is && same(&part, head)));
    }
}

static void check_written(const struct st_http_head *head)
{
    char host[ST_HOST_SIZE], text[512];
    struct st_http_head again;
    int n;

    if (head->host.host_len)
        snprintf(host, sizeof(host), "%s", head->host.host);
    else
        st_addr_format(&head->host.addr, host);
    n = snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: %s%s%s\r\n\r\n",
                 head->host.addr.family == 6 ? "[" : "", host, head->host.addr.family == 6 ? "]" : "");
    demand(st_http_head_read((const uint8_t *)text, (size_t)n, &again) == ST_HEAD_DONE);
    demand(st_authority_same_host(&again.host, &head->host));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct st_http_head head;
    enum st_head_is is = st_http_head_read(data, size, &head);

    demand((is == ST_HEAD_MALFORMED) == (head.why != NULL));
    demand(is != ST_HEAD_MORE || size < ST_HEAD_MAX);
    if (is == ST_HEAD_DONE) {
        demand(head.len >= strlen("M / HTTP/1.0\r\n\r\n") && head.len <= size &&
               memcmp(data + head.len - 4, "\r\n\r\n", 4) == 0);
        demand(!head.host.host_len || !head.host.addr.family);
        if (head.host.host_len || head.host.addr.family)
            check_written(&head);
    } else {
        demand(!head.host.host_len && !head.host.addr.family && !head.connect);
    }
    check_cuts(data, size, is, &head);
    return 0;
}
