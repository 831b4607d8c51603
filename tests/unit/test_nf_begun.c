/* Connections that go by a name begin without a question, and are told of. */
#include "nf_support.h"

#include "sensors/netfilter/nflog.h"
#include "sensors/netfilter/nfsock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 8080

static struct st_error err;

static struct st_addr address(const char *text)
{
    struct st_addr addr;

    assert_true(st_addr_parse((struct st_str){text, strlen(text)}, &addr));
    return addr;
}

static int enforce(void **state)
{
    nf_enforce(*state);
    return 0;
}

static int release(void **state)
{
    nf_release(*state);
    return 0;
}

#define SYN 2
#define ACK 16

/* TCP's own header, behind one of IP as our kernel writes it. */
static const uint8_t *header_of(const uint8_t *bytes)
{
    return bytes + (bytes[0] >> 4 == 4 ? 20 : 40);
}

static uint32_t number_of(const uint8_t *bytes)
{
    uint32_t number;

    memcpy(&number, header_of(bytes) + 4, sizeof(number));
    return ntohl(number);
}

struct begun {
    unsigned n;
    uint32_t number, told;
};

static void take_begun(void *ctx, const struct st_nflog_frame *frame)
{
    struct begun *b = ctx;

    assert_int_equal(frame->seq, b->told++);
    assert_true(frame->len >= 40);
    assert_int_equal(header_of(frame->bytes)[13] & (SYN | ACK), SYN);
    assert_int_equal(frame->bytes + frame->len - header_of(frame->bytes),
                     header_of(frame->bytes)[12] >> 4 << 2); /* no data */
    b->n++;
    b->number = number_of(frame->bytes);
}

/* How many so far: what the kernel tells, it has told when it sends. */
static unsigned hear_begun(int log, struct begun *b)
{
    b->n = 0;
    assert_true(st_nflog_read(log, 1000, take_begun, b) >= 0);
    return b->n;
}

static int open_begun_log(void)
{
    int log = st_nfsock_open(ST_NFLOG_BUFFER, &err);

    assert_true(log >= 0);
    assert_int_equal(st_nflog_bind(log, ST_NFLOG_BEGUN, &err), 0);
    return log;
}

static void what_goes_by_a_name_begins_without_a_question_and_is_told_of(void **state)
{
    struct nf_world *w = *state;
    const char *addrs[] = {OUTER4, OUTER6};
    int log = open_begun_log();
    struct begun begun = {0};

    assert_true(w->rules.begun);
    for (size_t i = 0; i < N_OF(addrs); i++) {
        struct st_addr to = address(addrs[i]);
        int listening = nf_socket(w, &(struct nf_socket){addrs[i], PORT, SOCK_STREAM, .outside = true}), fd;
        struct nf_asked asked;

        assert_int_equal(st_ruleset_open_name(&w->rules, &to, PORT, 60000, &err), 0);
        fd = nf_connect(addrs[i], PORT, SOCK_STREAM);
        assert_int_equal(nf_connected(fd), 0);
        assert_true(nf_nothing_asked(w));
        assert_int_equal(hear_begun(log, &begun), 1);
        /* Its data are asked about, and the first of them is the one behind the beginning. */
        assert_int_equal(send(fd, "hello", 5, 0), 5);
        nf_asked(w, &asked);
        assert_int_equal(number_of(asked.bytes), begun.number + 1);
        nf_say(w, &asked, true, ST_MARK_REFUSED);
        close(fd);
        assert_int_equal(st_ruleset_close_all(&w->rules, &err), 0);
        fd = nf_connect(addrs[i], PORT, SOCK_STREAM);
        nf_asked(w, &asked);
        nf_say(w, &asked, true, ST_MARK_REFUSED);
        assert_int_equal(nf_connected(fd), ECONNREFUSED);
        assert_int_equal(hear_begun(log, &begun), 0);
        close(fd);
        close(listening);
    }
    close(log);
}

/* A segment by hand, between the same ports. */
static void send_segment(const char *to, uint32_t seq, uint8_t flags, const char *data)
{
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_addr = {inet_addr(to)}};
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);
    uint8_t bytes[64] = {4, 1, PORT >> 8, PORT & 0xff, [12] = 0x50, flags, 0xff, 0xff};
    uint32_t number = htonl(seq);

    memcpy(bytes + 4, &number, sizeof(number));
    memcpy(bytes + 20, data, strlen(data));
    assert_true(fd >= 0);
    assert_true(sendto(fd, bytes, 20 + strlen(data), 0, (struct sockaddr *)&there, sizeof(there)) > 0);
    close(fd);
}

static void a_second_beginning_or_one_with_data_is_asked_about(void **state)
{
    struct nf_world *w = *state;
    const char *nobody = "10.9.0.77"; /* on the link, and not there */
    struct st_addr to = address(nobody);
    int log = open_begun_log();
    struct begun begun = {0};
    struct nf_asked asked;

    assert_int_equal(st_ruleset_open_name(&w->rules, &to, PORT, 60000, &err), 0);
    send_segment(nobody, 7, SYN, "data");
    nf_asked(w, &asked);
    nf_say(w, &asked, false, 0);
    send_segment(nobody, 7, ACK, "");
    nf_asked(w, &asked);
    nf_say(w, &asked, false, 0);
    assert_int_equal(hear_begun(log, &begun), 0);
    send_segment(nobody, 7, SYN, "");
    assert_true(nf_nothing_asked(w));
    assert_int_equal(hear_begun(log, &begun), 1);
    assert_int_equal(begun.number, 7);
    send_segment(nobody, 9, SYN, "");
    nf_asked(w, &asked);
    nf_say(w, &asked, false, 0);
    assert_int_equal(hear_begun(log, &begun), 0);
    close(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_goes_by_a_name_begins_without_a_question_and_is_told_of, enforce,
                                        release),
        cmocka_unit_test_setup_teardown(a_second_beginning_or_one_with_data_is_asked_about, enforce, release),
    };

    return cmocka_run_group_tests(tests, nf_world_open, nf_world_close);
}
