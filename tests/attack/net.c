/* net: what a container's program tries on the network, one verb each (the table is at the end).
 *
 *   net VERB ARGUMENT…      prints one word: see net.h
 *
 * Runs inside, is static, has no opinion: whether something has arrived is said by the other side. */
#include "net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int say_result(long rc)
{
    const char *word = rc >= 0 ? "ok" : errno == ETIMEDOUT ? "timeout" : strerrorname_np(errno);

    printf("%s\n", word);
    fflush(stdout);
    return rc >= 0 ? 0 : 1;
}

struct place place_of(const char *host, const char *port)
{
    struct place p = {.len = sizeof(p.v4)};
    struct in_addr old;

    if (inet_pton(AF_INET6, host, &p.v6.sin6_addr) == 1) {
        p.v6.sin6_family = AF_INET6;
        p.v6.sin6_port = htons((uint16_t)atoi(port));
        p.len = sizeof(p.v6);
        return p;
    }
    if (!inet_aton(host, &old)) {
        fprintf(stderr, "net: %s is no address\n", host);
        exit(2);
    }
    p.v4 =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = old, .sin_port = htons((uint16_t)atoi(port))};
    return p;
}

struct place own_place(const struct place *to)
{
    struct place own = {.len = sizeof(own.v6)};
    int fd = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, &to->any, to->len) < 0 || getsockname(fd, &own.any, &own.len) < 0) {
        perror("net: no address of our own");
        exit(2);
    }
    close(fd);
    return own;
}

int wait_for(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};
    int n = poll(&p, 1, PATIENCE_MS);

    if (n == 0)
        errno = ETIMEDOUT;
    return n > 0 ? 0 : -1;
}

int connect_to(const struct place *to)
{
    int fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int error = 0;
    socklen_t len = sizeof(error);

    if (fd < 0)
        return -1;
    if (connect(fd, &to->any, to->len) < 0) {
        if (errno != EINPROGRESS || wait_for(fd, POLLOUT) < 0)
            return -1;
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
        if (error) {
            errno = error;
            return -1;
        }
    }
    fcntl(fd, F_SETFL, 0);
    return fd;
}

int send_all(int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

        if (n < 0)
            return -1;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

/* ok: something came back. closed: the other side ended it without a word. */
static int say_answer(int fd)
{
    char answer[2048];
    ssize_t n = wait_for(fd, POLLIN);

    if (n == 0)
        n = recv(fd, answer, sizeof(answer), 0);
    if (n == 0) {
        puts("closed");
        return 1;
    }
    return say_result(n);
}

/* ADDRESS PORT [TEXT]: ok is a connection, with a text an answer to it. */
static int net_connect(int argc, char **argv)
{
    struct place to = place_of(argv[0], argv[1]);
    int fd = connect_to(&to);

    if (fd < 0 || argc < 3)
        return say_result(fd);
    if (send_all(fd, argv[2], strlen(argv[2])) < 0 || send_all(fd, "\n", 1) < 0)
        return say_result(-1);
    return say_answer(fd);
}

/* MARK ADDRESS PORT */
static int net_mark(int argc, char **argv)
{
    struct place to = place_of(argv[1], argv[2]);
    int mark = (int)strtoul(argv[0], NULL, 0);
    int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};

    (void)argc;
    if (setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)) < 0) {
        printf("unmarked-");
        return say_result(-1);
    }
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    return say_result(connect(fd, &to.any, to.len));
}

/* ADDRESS PORT TEXT: sendto, not connected; ok is an echo. Errors that come later count as well. */
static int net_udp(int argc, char **argv)
{
    struct place to = place_of(argv[0], argv[1]);
    int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1;

    (void)argc;
    if (to.any.sa_family == AF_INET)
        setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
    else
        setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on));
    if (sendto(fd, argv[2], strlen(argv[2]), 0, &to.any, to.len) < 0)
        return say_result(-1);
    return say_answer(fd);
}

/* ADDRESS PORT TEXT: connected. */
static int net_udp_connected(int argc, char **argv)
{
    struct place to = place_of(argv[0], argv[1]);
    int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    (void)argc;
    if (connect(fd, &to.any, to.len) < 0 || send(fd, argv[2], strlen(argv[2]), 0) < 0)
        return say_result(-1);
    return say_answer(fd);
}

/* TEXT PORT ADDRESS…: one call, a message to each; the word is how many the kernel took. */
static int net_sendmmsg(int argc, char **argv)
{
    struct place to[16];
    struct mmsghdr all[16] = {0};
    struct iovec text = {.iov_base = argv[0], .iov_len = strlen(argv[0])};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), n = 0;

    for (; n < argc - 2 && n < 16; n++) {
        to[n] = place_of(argv[n + 2], argv[1]);
        all[n].msg_hdr =
            (struct msghdr){.msg_name = &to[n], .msg_namelen = to[n].len, .msg_iov = &text, .msg_iovlen = 1};
    }
    n = sendmmsg(fd, all, (unsigned)n, 0);
    if (n < 0)
        return say_result(-1);
    printf("%d\n", n);
    return 0;
}

/* ADDRESS PORT TEXT: with the first packet of the connection. */
static int net_fastopen(int argc, char **argv)
{
    struct place to = place_of(argv[0], argv[1]);
    int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};

    (void)argc;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (sendto(fd, argv[2], strlen(argv[2]), MSG_FASTOPEN, &to.any, to.len) < 0)
        return say_result(-1);
    return say_answer(fd);
}

/* Nothing more is sent: ok is an answer, and an end by the other side when it has all. Who closes with an
 * answer unread throws away what is still to be sent. */
static int say_end(int fd)
{
    char answer[4096];
    ssize_t n = shutdown(fd, SHUT_WR);
    bool answered = false;

    while (n == 0 && (n = wait_for(fd, POLLIN)) == 0 && (n = recv(fd, answer, sizeof(answer), 0)) > 0) {
        answered = true;
        n = 0;
    }
    if (n < 0)
        return say_result(-1);
    puts(answered ? "ok" : "closed");
    return answered ? 0 : 1;
}

/* ADDRESS PORT BYTES: so many on one connection, in pieces of 512, each when the one before was taken. */
static int net_send(int argc, char **argv)
{
    static const char piece[512] = "0123456789";
    struct place to = place_of(argv[0], argv[1]);
    long left = atol(argv[2]);
    int fd = connect_to(&to), on = 1;

    (void)argc;
    if (fd < 0)
        return say_result(fd);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    for (; left > 0; left -= (long)sizeof(piece))
        if (send_all(fd, piece, left < (long)sizeof(piece) ? (size_t)left : sizeof(piece)) < 0)
            return say_result(-1);
    /* Whoever cuts it off may do so after the last piece was taken. */
    return say_end(fd);
}

/* ADDRESS PORT HOST TIMES [HOST2]: requests on one connection that is kept alive, the last one for HOST2. The
 * word is how many were answered. */
static int net_requests(int argc, char **argv)
{
    struct place to = place_of(argv[0], argv[1]);
    int fd = connect_to(&to), done = 0, times = atoi(argv[3]);
    char text[512];

    if (fd < 0)
        return say_result(fd);
    for (; done < times; done++) {
        const char *host = argc > 4 && done == times - 1 ? argv[4] : argv[2];
        int n = snprintf(text, sizeof(text), "GET /request-%d HTTP/1.1\r\nHost: %s\r\n\r\n", done, host);

        if (send_all(fd, text, (size_t)n) < 0 || wait_for(fd, POLLIN) < 0 ||
            recv(fd, text, sizeof(text), 0) <= 0)
            break;
    }
    printf("%d\n", done);
    return 0;
}

/* ADDRESS PORT N: connections that are begun and stay as they are, until the program is told to end (its
 * standard input closes). The word is how many the kernel has begun. */
static int net_halfopen(int argc, char **argv)
{
    struct place to = place_of(argv[0], argv[1]);
    int begun = 0, n = atoi(argv[2]);
    char byte;

    (void)argc;
    for (int i = 0; i < n; i++) {
        int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        if (fd < 0)
            break;
        if (connect(fd, &to.any, to.len) == 0 || errno == EINPROGRESS)
            begun++;
    }
    printf("%d\n", begun);
    fflush(stdout);
    while (read(0, &byte, 1) > 0)
        ;
    return 0;
}

/* ADDRESS PORT N: so many connections, one after the other; the word is how many there were. */
static int net_burst(int argc, char **argv)
{
    struct place to = place_of(argv[0], argv[1]);
    int made = 0, n = atoi(argv[2]);

    (void)argc;
    for (int i = 0; i < n; i++) {
        int fd = connect_to(&to);

        if (fd < 0)
            continue;
        made++;
        close(fd);
    }
    printf("%d\n", made);
    return 0;
}

static const struct timespec pulse_pause = {.tv_nsec = 20 * 1000000L};

static int pulse_of_connections(const struct place *to)
{
    for (bool said = false;;) {
        int fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

        (void)connect(fd, &to->any, to->len);
        nanosleep(&pulse_pause, NULL);
        if (!said && send(fd, "pulse\n", 6, MSG_NOSIGNAL) == 6)
            said = say_result(0) == 0;
        close(fd);
    }
}

/* tcp|udp|new ADDRESS PORT: a packet each 20 ms, for ever and whatever the kernel says, on one flow; new:
 * each time a connection. Prints "ok" when the first one was answered. */
static int net_pulse(int argc, char **argv)
{
    struct place to = place_of(argv[1], argv[2]);
    bool answered = false;
    char text[64];
    int fd;

    (void)argc;
    if (strcmp(argv[0], "new") == 0)
        return pulse_of_connections(&to);
    if (strcmp(argv[0], "tcp") == 0) {
        fd = connect_to(&to);
        if (fd < 0)
            return say_result(fd);
    } else {
        fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        (void)connect(fd, &to.any, to.len);
    }
    for (unsigned n = 0;; n++) {
        int len = snprintf(text, sizeof(text), "pulse %u\n", n);

        send(fd, text, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
        nanosleep(&pulse_pause, NULL);
        if (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0 && !answered)
            answered = say_result(0) == 0;
    }
}

/* CID PORT */
static int net_vsock(int argc, char **argv)
{
    struct sockaddr_vm to = {.svm_family = AF_VSOCK,
                             .svm_cid = (unsigned)strtoul(argv[0], NULL, 0),
                             .svm_port = (unsigned)strtoul(argv[1], NULL, 0)};
    int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)argc;
    if (fd < 0) {
        printf("no-socket-");
        return say_result(-1);
    }
    return say_result(connect(fd, (struct sockaddr *)&to, sizeof(to)));
}

/* NUMBER TYPE PROTOCOL: only the socket. */
static int net_socket(int argc, char **argv)
{
    (void)argc;
    return say_result(socket(atoi(argv[0]), atoi(argv[1]), atoi(argv[2])));
}

static const struct {
    const char *name;
    int least; /* arguments */
    verb *call;
} verbs[] = {
    {"connect", 2, net_connect},
    {"mark", 3, net_mark},
    {"udp", 3, net_udp},
    {"udp-connected", 3, net_udp_connected},
    {"sendmmsg", 3, net_sendmmsg},
    {"fastopen", 3, net_fastopen},
    {"send", 3, net_send},
    {"requests", 4, net_requests},
    {"halfopen", 3, net_halfopen},
    {"burst", 3, net_burst},
    {"pulse", 3, net_pulse},
    {"vsock", 2, net_vsock},
    {"socket", 3, net_socket},
    {"hello", 4, net_hello},
    {"raw-udp", 3, net_raw_udp},
    {"raw-syn", 2, net_raw_syn},
    {"raw-pieces", 3, net_raw_pieces},
    {"raw-ip", 3, net_raw_ip},
    {"packet", 5, net_packet},
    {"sctp", 2, net_sctp},
    {"ping", 2, net_ping},
    {"dns", 4, net_dns},
    {"dns-tcp", 4, net_dns_tcp},
    {"named", 4, net_named},
    {"own-resolver", 3, net_own_resolver},
    {"spoof", 4, net_spoof},
};

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; argc > 1 && i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strcmp(argv[1], verbs[i].name) == 0 && argc - 2 >= verbs[i].least)
            return verbs[i].call(argc - 2, argv + 2);
    fprintf(stderr, "net: no such verb, or too few arguments\n");
    return 2;
}
