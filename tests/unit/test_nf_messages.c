/* Messages that are not what they say they are. */
#include "sensors/netfilter/attrs.h"
#include "sensors/netfilter/conntrack.h"
#include "sensors/netfilter/links.h"
#include "sensors/netfilter/nfqueue.h"

#include "unit.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <linux/netlink.h>
#include <stdlib.h>

#define QUEUED (NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET)

/* A packet that is queued: header, number 7 of the hook 3, "abc". */
struct message {
    struct nlmsghdr h;
    struct nfgenmsg g;
    struct nlattr head;
    uint8_t packet[7], pad;
    struct nlattr payload;
    uint8_t bytes[3], end;
} __attribute__((aligned(4)));

static struct message good(void)
{
    return (struct message){
        .h = {.nlmsg_len = sizeof(struct message) - 1, .nlmsg_type = QUEUED},
        .head = {4 + 7, NFQA_PACKET_HDR},
        .packet = {0, 0, 0, 7, 8, 0, 3},
        .payload = {4 + 3, NFQA_PAYLOAD},
        .bytes = "abc",
    };
}

/* In memory of its own, so that a sanitizer sees a step too far. */
static bool parses(const struct message *m, size_t n, struct st_nfqueue_packet *out)
{
    void *copy = malloc(n);
    bool yes;

    assert_non_null(copy);
    memcpy(copy, m, n);
    yes = st_nfqueue_parse(copy, n, out);
    if (yes)
        assert_true(out->bytes >= (uint8_t *)copy && out->bytes + out->len <= (uint8_t *)copy + n);
    free(copy);
    return yes;
}

static void a_whole_one_is_read(void **state)
{
    struct message m = good();
    struct st_nfqueue_packet packet;

    (void)state;
    assert_true(parses(&m, sizeof(m), &packet));
    assert_int_equal(packet.ticket.id, 7);
    assert_int_equal(packet.hook, 3);
    assert_int_equal(packet.len, 3);
    assert_int_equal(packet.uid, -1);
    assert_true(packet.whole);
    assert_false(packet.checksum_pending);
}

static void one_that_is_cut_anywhere_is_refused(void **state)
{
    struct message m = good();
    struct st_nfqueue_packet packet;

    (void)state;
    for (size_t n = 1; n < m.h.nlmsg_len; n++) {
        struct message cut = m;

        assert_false(parses(&m, n, &packet));
        if (n < sizeof(cut.h))
            continue;
        cut.h.nlmsg_len = (uint32_t)n;
        assert_false(parses(&cut, n, &packet));
    }
}

static void lengths_that_lie_are_refused(void **state)
{
    static const uint32_t lengths[] = {0, 15, 0x7fffffff, 0x80000000, 0xffffffff, sizeof(struct message) + 1};
    static const uint16_t parts[] = {0, 3, 8, 200, 0xffff};
    struct st_nfqueue_packet packet;

    (void)state;
    for (size_t i = 0; i < N_OF(lengths); i++) {
        struct message m = good();

        m.h.nlmsg_len = lengths[i];
        assert_false(parses(&m, sizeof(m), &packet));
    }
    for (size_t i = 0; i < N_OF(parts); i++) {
        struct message m = good();

        m.payload.nla_len = parts[i];
        assert_false(parses(&m, sizeof(m), &packet));
    }
}

static void one_of_another_kind_is_refused_by_all_others(void **state)
{
    struct message m = good();
    struct st_nfqueue_packet packet;
    struct st_ct_flow flow;
    struct st_device link;

    (void)state;
    assert_false(st_conntrack_parse(&m, sizeof(m), &flow));
    assert_false(st_links_parse(&m, sizeof(m), &link));
    for (unsigned type = 0; type < 0x10000; type++) {
        m.h.nlmsg_type = (uint16_t)type;
        assert_int_equal(st_nfqueue_parse(&m, sizeof(m), &packet), type == QUEUED);
        assert_false(st_conntrack_parse(&m, sizeof(m), &flow));
    }
}

static void several_in_a_row_are_found_to_the_last_whole_one(void **state)
{
    struct message row[3] = {good(), good(), good()};
    size_t at = 0;

    (void)state;
    assert_ptr_equal(st_nlmsg_next(row, sizeof(row) - 2, &at), &row[0]);
    assert_ptr_equal(st_nlmsg_next(row, sizeof(row) - 2, &at), &row[1]);
    assert_null(st_nlmsg_next(row, sizeof(row) - 2, &at));
    at = 0;
    assert_null(st_nlmsg_next(row, 0, &at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_one_is_read),
        cmocka_unit_test(one_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(lengths_that_lie_are_refused),
        cmocka_unit_test(one_of_another_kind_is_refused_by_all_others),
        cmocka_unit_test(several_in_a_row_are_found_to_the_last_whole_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
