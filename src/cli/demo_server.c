/* demo_server: a resolver that knows one name, and a server of HTTP that takes what it is sent, counts it and
 * says 200. Both are spoken to by the container: bounded, and nothing of what they are told is believed. */
#include "cli/demo_net.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/run_etc.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define CALLERS 8
#define HEAD_MAX 4096
#define DNS_MAX 1024

struct caller {
    int fd;
    char head[HEAD_MAX + 1];
    size_t head_len;
    bool has_head;
    uint64_t left; /* of its body */
};

/* ---- names ---- */

/* Length of the name at p, in labels; 0: none. */
static size_t name_length(const unsigned char *p, size_t len)
{
    size_t at = 0;

    while (at < len && p[at]) {
        if (p[at] > 63)
            return 0;
        at += (size_t)p[at] + 1;
    }
    return at < len ? at + 1 : 0;
}

static bool is_api(const unsigned char *name, size_t len)
{
    static const char wanted[] = "\3api\6stripe\3com";

    return len == sizeof(wanted) && strncasecmp((const char *)name, wanted, len) == 0;
}

size_t st_demo_answer_dns(unsigned char *packet, size_t len, size_t room)
{
    /* Pointer to the question's name, A, IN, 60 s, 4 bytes. */
    static const unsigned char answer[12] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4};
    uint32_t address = inet_addr(ST_DEMO_API_ADDRESS);
    size_t name = len > 12 ? name_length(packet + 12, len - 12) : 0, end = 12 + name + 4;
    bool known;

    if (name == 0 || end > len || end + sizeof(answer) + 4 > room || (packet[2] & 0x80) || packet[4] ||
        packet[5] != 1)
        return 0;
    known = is_api(packet + 12, name);
    packet[2] = 0x84 | (packet[2] & 1); /* an answer, with authority */
    packet[3] = known ? 0x80 : 0x83;
    memset(packet + 6, 0, 6);
    if (!known || packet[12 + name] || packet[12 + name + 1] != 1)
        return end;
    packet[7] = 1;
    memcpy(packet + end, answer, sizeof(answer));
    memcpy(packet + end + sizeof(answer), &address, 4);
    return end + sizeof(answer) + 4;
}

static void answer_name(int fd)
{
    unsigned char packet[DNS_MAX];
    struct sockaddr_in from;
    socklen_t size = sizeof(from);
    ssize_t n = recvfrom(fd, packet, sizeof(packet), MSG_DONTWAIT, (struct sockaddr *)&from, &size);
    size_t len = n > 0 ? st_demo_answer_dns(packet, (size_t)n, sizeof(packet)) : 0;

    if (len)
        (void)sendto(fd, packet, len, MSG_DONTWAIT, (struct sockaddr *)&from, size);
}

/* ---- requests ---- */

static void hang_up(struct caller *c)
{
    st_close(&c->fd);
    c->head_len = c->left = 0;
    c->has_head = false;
}

/* How long it says that its body is. */
static uint64_t body_length(const char *head)
{
    const char *found = strcasestr(head, "\r\ncontent-length:");
    long long n = found ? strtoll(found + 17, NULL, 10) : 0;

    return n > 0 ? (uint64_t)n : 0;
}

static void answer(struct caller *c, struct st_demo_arrived *arrived)
{
    static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                             "35\r\nConnection: close\r\n\r\n{\"id\":\"ch_demo\",\"status\":\"accepted\"}";

    (void)send(c->fd, ok, sizeof(ok) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    arrived->requests++;
    shutdown(c->fd, SHUT_WR);
}

static void take_body(struct caller *c, size_t n, struct st_demo_arrived *arrived)
{
    uint64_t taken = n < c->left ? n : c->left;

    arrived->bytes += taken;
    c->left -= taken;
    if (c->left == 0)
        answer(c, arrived);
}

static void hear(struct caller *c, struct st_demo_arrived *arrived)
{
    char bytes[16384];
    ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    size_t fits = n > 0 ? (size_t)n : 0;
    char *end;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hang_up(c);
        return;
    }
    if (c->has_head) {
        if (c->left)
            take_body(c, (size_t)n, arrived);
        return;
    }
    if (fits > HEAD_MAX - c->head_len)
        fits = HEAD_MAX - c->head_len;
    memcpy(c->head + c->head_len, bytes, fits);
    c->head_len += fits;
    c->head[c->head_len] = '\0';
    end = strstr(c->head, "\r\n\r\n");
    if (!end) {
        if (c->head_len == HEAD_MAX)
            hang_up(c);
        return;
    }
    c->has_head = true;
    c->left = body_length(c->head);
    /* What came behind the head belongs to the body, also what did not fit. */
    take_body(c, c->head_len - (size_t)(end + 4 - c->head) + (size_t)n - fits, arrived);
}

static void welcome(int http, struct caller *callers)
{
    int fd = accept4(http, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    for (size_t i = 0; fd >= 0 && i < CALLERS; i++)
        if (callers[i].fd < 0) {
            callers[i].fd = st_steal_fd(&fd);
            return;
        }
    st_close(&fd);
}

/* ---- all of it ---- */

static int listen_at(int type, const char *address, uint16_t port, struct st_error *err)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = inet_addr(address)};
    st_auto_fd fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        (type == SOCK_STREAM && listen(fd, CALLERS) < 0))
        return st_fail_errno(err, "listen at %s", address);
    return st_steal_fd(&fd);
}

int st_demo_listen(int *dns, int *http, struct st_error *err)
{
    *dns = listen_at(SOCK_DGRAM, ST_RUN_RESOLVER, 53, err);
    *http = *dns < 0 ? -1 : listen_at(SOCK_STREAM, ST_DEMO_API_ADDRESS, 80, err);
    return *http < 0 ? -err->errnum : 0;
}

void st_demo_serve(int dns, int http, struct st_demo_arrived *arrived)
{
    struct caller callers[CALLERS] = {0};

    for (size_t i = 0; i < CALLERS; i++)
        callers[i].fd = -1;
    for (;;) {
        struct pollfd fds[2 + CALLERS] = {{.fd = dns, .events = POLLIN}, {.fd = http, .events = POLLIN}};

        for (size_t i = 0; i < CALLERS; i++)
            fds[2 + i] = (struct pollfd){.fd = callers[i].fd, .events = POLLIN};
        if (poll(fds, 2 + CALLERS, -1) < 0)
            continue;
        if (fds[0].revents)
            answer_name(dns);
        for (size_t i = 0; i < CALLERS; i++)
            if (fds[2 + i].fd >= 0 && fds[2 + i].revents)
                hear(&callers[i], arrived);
        if (fds[1].revents)
            welcome(http, callers);
    }
}
