/* sandtrace demo: the resolver of its small internet, which the agent speaks to. */
#include "cli/demo_net.h"
#include "unit.h"

#include <stdlib.h>

#define ROOM 512

/* A question: header with one, the name in labels, type, class IN. Returns its length. */
static size_t question(unsigned char *packet, const char *labels, size_t len, unsigned char type)
{
    static const unsigned char header[12] = {0x12, 0x34, 1, 0, 0, 1};

    memcpy(packet, header, sizeof(header));
    memcpy(packet + 12, labels, len);
    memcpy(packet + 12 + len, (const unsigned char[]){0, type, 0, 1}, 4);
    return 12 + len + 4;
}

static const char api[] = "\3api\6stripe\3com", other[] = "\5paste\7example";

static void the_one_name_has_an_address(void **state)
{
    static const unsigned char address[4] = {203, 0, 113, 10};
    unsigned char packet[ROOM];
    size_t len = question(packet, api, sizeof(api), 1), n = st_demo_answer_dns(packet, len, ROOM);

    (void)state;
    assert_int_equal(n, len + 16);
    assert_int_equal(packet[0] << 8 | packet[1], 0x1234);
    assert_int_equal(packet[2] & 0x80, 0x80);
    assert_int_equal(packet[3] & 15, 0);
    assert_int_equal(packet[7], 1);
    assert_memory_equal(packet + n - 4, address, 4);

    len = question(packet, "\3API\6Stripe\3coM", sizeof(api), 1);
    assert_int_equal(st_demo_answer_dns(packet, len, ROOM), len + 16);
}

static void it_has_no_other_address_and_others_are_unknown(void **state)
{
    unsigned char packet[ROOM];
    size_t len = question(packet, api, sizeof(api), 28);

    (void)state;
    assert_int_equal(st_demo_answer_dns(packet, len, ROOM), len);
    assert_int_equal(packet[3] & 15, 0);
    assert_int_equal(packet[7], 0);
    len = question(packet, other, sizeof(other), 1);
    assert_int_equal(st_demo_answer_dns(packet, len, ROOM), len);
    assert_int_equal(packet[3] & 15, 3);
}

static void what_is_no_question_is_not_answered(void **state)
{
    unsigned char packet[ROOM];
    size_t len = question(packet, api, sizeof(api), 1);

    (void)state;
    for (size_t n = 0; n < len; n++)
        assert_int_equal(st_demo_answer_dns(packet, n, ROOM), 0);
    assert_int_equal(st_demo_answer_dns(packet, len, len + 15), 0); /* no room */
    packet[2] |= 0x80;                                              /* an answer */
    assert_int_equal(st_demo_answer_dns(packet, len, ROOM), 0);
    question(packet, api, sizeof(api), 1);
    packet[12] = 0xc0; /* a pointer */
    assert_int_equal(st_demo_answer_dns(packet, len, ROOM), 0);
}

static void any_bytes_stay_within_their_room(void **state)
{
    unsigned seed = 7;

    (void)state;
    for (int round = 0; round < 200000; round++) {
        size_t len = (size_t)rand_r(&seed) % 64, n;
        unsigned char *packet = malloc(len + 16); /* its end is seen by a sanitizer */

        assert_non_null(packet);
        for (size_t i = 0; i < len + 16; i++)
            packet[i] = (unsigned char)(rand_r(&seed) >> 8) & (i > 12 ? 0x0f : 0xff);
        n = st_demo_answer_dns(packet, len, len + 16);
        assert_true(n <= len + 16);
        free(packet);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_name_has_an_address),
        cmocka_unit_test(it_has_no_other_address_and_others_are_unknown),
        cmocka_unit_test(what_is_no_question_is_not_answered),
        cmocka_unit_test(any_bytes_stay_within_their_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
