/* sock_text: see sock_text.h. A line of it:
 *
 *    1: 00000000:0001 00000000:0000 07 00000000:00000000 00:00000000 00000000  0  0 12345 2 0000000000000000
 * 0
 *
 * local and remote address (words as the machine has them) and port, which is the protocol of a raw socket
 * and the id of a ping's; then the owner's uid, a timeout, the inode. */
#include "sensors/sock_text.h"

#include <netinet/in.h>
#include <stdio.h>

#define LINE_MAX_LEN 256

struct row {
    char remote[33];
    unsigned port, uid, inode;
};

static bool read_row(struct st_str line, struct row *out)
{
    char text[LINE_MAX_LEN];

    if (line.len >= sizeof(text))
        return false;
    memcpy(text, line.p, line.len);
    text[line.len] = '\0';
    return sscanf(text, " %*d: %*32[0-9A-Fa-f]:%4x %32[0-9A-Fa-f]:%*4x %*2x %*x:%*x %*x:%*x %*x %u %*d %u",
                  &out->port, out->remote, &out->uid, &out->inode) == 4;
}

/* Connected to somewhere else? */
static bool is_elsewhere(const struct row *row, const struct st_addr *dst)
{
    size_t words = dst->family == 4 ? 1 : 4;
    uint8_t bytes[16] = {0};

    for (size_t i = 0; i < words; i++) {
        unsigned word;
        char digits[9] = "";

        snprintf(digits, sizeof(digits), "%.8s", row->remote + 8 * i);
        if (sscanf(digits, "%x", &word) != 1)
            return false;
        memcpy(bytes + 4 * i, &word, 4);
    }
    for (size_t i = 0; i < 4 * words; i++)
        if (bytes[i])
            return memcmp(bytes, dst->bytes, 4 * words) != 0;
    return false;
}

/* How well it fits; 0: not at all. */
static unsigned fit_of(const struct row *row, enum st_sock_text_kind kind, const struct st_flow_tuple *flow)
{
    if (is_elsewhere(row, &flow->dst))
        return 0;
    if (kind == ST_SOCK_TEXT_PING)
        return row->port == flow->src_port;
    return row->port == flow->protocol ? 3 : row->port == IPPROTO_RAW ? 2 : 1;
}

void st_sock_text_find(struct st_str text, enum st_sock_text_kind kind, const struct st_flow_tuple *flow,
                       struct st_sock_found *out)
{
    unsigned best = 0;

    while (text.len) {
        const char *end = memchr(text.p, '\n', text.len);
        size_t len = end ? (size_t)(end - text.p) : text.len;
        struct row row;
        unsigned fit = read_row((struct st_str){text.p, len}, &row) ? fit_of(&row, kind, flow) : 0;

        if (fit > best) {
            best = fit;
            *out =
                (struct st_sock_found){.inode = row.inode, .uid = row.uid, .raw = kind == ST_SOCK_TEXT_RAW};
        }
        out->candidates += fit && fit == best;
        len += end != NULL;
        text = (struct st_str){text.p + len, text.len - len};
    }
}
