/* DNS answers: only what belongs to the name that was asked for. */
#include "dns_unit.h"

static struct st_dns_message message;
static struct st_dns_answers answers;

static bool read_all(const struct bytes *m)
{
    return st_dns_read(m->b, m->n, &message) && st_dns_answers_read(m->b, m->n, &message, &answers);
}

static const char *addr_text(size_t i)
{
    static char text[ST_ADDR_TEXT_SIZE];

    st_addr_format(&answers.addrs[i].addr, text);
    return text;
}

/* An answer as a resolver sent it: two aliases, compressed, the address at the end. */
static void aliases_are_followed_to_the_addresses(void **state)
{
    struct bytes m = {0};

    (void)state;
    put_hex(&m, "4a7f 8180 0001 0004 0000 0000"
                "03 777777 06 676974687562 03 636f6d 00 0001 0001" /* www.github.com, A */
                "c00c 0005 0001 00000e10 0002 c010"                /* www.github.com: github.com, 3600 s */
                "c010 0005 0001 0000012c 000a 04 65646765 03 6e6574 00" /* github.com: edge.net, 300 s */
                "c03a 0001 0001 0000003c 0004 8c527904"                 /* edge.net: 140.82.121.4, 60 s */
                "c03a 0001 0001 000000b4 0004 8c527903");
    assert_true(read_all(&m));
    assert_int_equal(answers.n_chain, 2);
    assert_string_equal(answers.chain[0].text, "github.com");
    assert_string_equal(answers.chain[1].text, "edge.net");
    assert_int_equal(answers.n_addrs, 2);
    assert_string_equal(addr_text(0), "140.82.121.4");
    assert_int_equal(answers.addrs[0].ttl, 60);
    assert_string_equal(addr_text(1), "140.82.121.3");
    assert_int_equal(answers.addrs[1].ttl, 180);
}

static void aliases_may_stand_in_any_order(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE, 3, 0);
    question(&m, "a.test", ST_DNS_A);
    address(&m, "c.test", 500, 0x01020304);
    alias(&m, "b.test", 400, "c.test");
    alias(&m, "A.TEST", 900, "B.test");
    assert_true(read_all(&m));
    assert_int_equal(answers.n_addrs, 1);
    assert_int_equal(answers.addrs[0].ttl, 400);
}

static void only_addresses_of_the_asked_name_come_out(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE, 3, 1);
    question(&m, "good.test", ST_DNS_A);
    address(&m, "bank.test", 60, 0x0a000001);
    address(&m, "good.test", 60, 0x01020304);
    alias(&m, "other.test", 60, "good.test");
    address(&m, "good.test", 60, 0x0a000002); /* outside of the answer section */
    assert_true(read_all(&m));
    assert_int_equal(answers.n_addrs, 1);
    assert_string_equal(addr_text(0), "1.2.3.4");
    assert_int_equal(answers.n_chain, 0);
}

static void an_answer_of_another_type_than_asked_is_not_taken(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE, 1, 0);
    question(&m, "good.test", ST_DNS_AAAA);
    address(&m, "good.test", 60, 0x01020304);
    assert_true(read_all(&m));
    assert_int_equal(answers.n_addrs, 0);
}

static void a_mapped_address_is_the_address_that_it_maps(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE, 1, 0);
    question(&m, "good.test", ST_DNS_AAAA);
    record(&m, "good.test", ST_DNS_AAAA, 60, 16);
    put_hex(&m, "00000000 00000000 0000ffff a9fea9fe");
    assert_true(read_all(&m));
    assert_string_equal(addr_text(0), "169.254.169.254");
}

static void a_time_to_live_is_never_none_and_never_for_ever(void **state)
{
    static const uint32_t rows[][2] = {
        {0, ST_DNS_TTL_MIN},
        {1, ST_DNS_TTL_MIN},
        {300, 300},
        {ST_DNS_TTL_MAX + 1, ST_DNS_TTL_MAX},
        {0x7fffffff, ST_DNS_TTL_MAX},
        {0x80000000, ST_DNS_TTL_MIN},
        {0xffffffff, ST_DNS_TTL_MIN},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct bytes m;

        header(&m, RESPONSE, 1, 0);
        question(&m, "good.test", ST_DNS_A);
        address(&m, "good.test", rows[i][0], 0x01020304);
        assert_true(read_all(&m));
        assert_int_equal(answers.addrs[0].ttl, rows[i][1]);
    }
}

/* As cloudflare.com answers: 1 . alpn=h3,h2 ipv4hint=… ech=… ipv6hint=… */
static void hints_of_https_records_come_out(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE, 1, 0);
    question(&m, "cloudflare.com", ST_DNS_HTTPS);
    record(&m, "cloudflare.com", ST_DNS_HTTPS, 300, 68);
    put_hex(&m, "0001 00 0001 0006 02 6833 02 6832 0004 0008 681084e5 681085e5 0005 0003 abcdef"
                "0006 0020 26064700 00000000 00000000 681084e5 26064700 00000000 00000000 681085e5");
    assert_true(read_all(&m));
    assert_int_equal(answers.n_addrs, 4);
    assert_string_equal(addr_text(0), "104.16.132.229");
    assert_string_equal(addr_text(3), "2606:4700::6810:85e5");
    assert_true(answers.addrs[0].hint);
    assert_true(answers.ech);
    assert_int_equal(answers.n_targets, 0);
}

static void the_target_of_an_https_alias_comes_out_without_hints(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE, 1, 0);
    question(&m, "example.com", ST_DNS_HTTPS);
    record(&m, "example.com", ST_DNS_HTTPS, 300, 23);
    put_hex(&m, "0000 03 737663 07 6578616d706c65 00 0004 0004 01020304");
    assert_true(read_all(&m));
    assert_int_equal(answers.n_addrs, 0);
    assert_int_equal(answers.n_targets, 1);
    assert_string_equal(answers.targets[0].text, "svc.example");
}

static void a_cut_answer_says_so(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE | 0x0200, 0, 0);
    question(&m, "good.test", ST_DNS_A);
    assert_true(read_all(&m));
    assert_true(message.truncated);
    assert_int_equal(answers.n_addrs, 0);
}

static void an_error_has_no_answers(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE | 3, 1, 0);
    question(&m, "good.test", ST_DNS_A);
    address(&m, "good.test", 60, 0x01020304);
    assert_true(read_all(&m));
    assert_int_equal(message.rcode, 3);
    assert_int_equal(answers.n_addrs, 0);
}

static void addresses_without_room_are_counted(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE, ST_DNS_MAX_ADDRS + 7, 0);
    question(&m, "good.test", ST_DNS_A);
    for (uint32_t i = 0; i < ST_DNS_MAX_ADDRS + 7; i++)
        address(&m, "good.test", 60, 0x01020304 + i);
    assert_true(read_all(&m));
    assert_int_equal(answers.n_addrs, ST_DNS_MAX_ADDRS);
    assert_int_equal(answers.left_out, 7);
}

static void targets_without_room_are_counted(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE, ST_DNS_MAX_TARGETS + 2, 0);
    question(&m, "good.test", ST_DNS_SVCB);
    for (unsigned i = 0; i < ST_DNS_MAX_TARGETS + 2; i++) {
        record(&m, "good.test", ST_DNS_SVCB, 60, 5);
        put_hex(&m, "0001 0161 00");
    }
    assert_true(read_all(&m));
    assert_int_equal(answers.n_targets, ST_DNS_MAX_TARGETS);
    assert_int_equal(answers.left_out, 2);
}

static void all_addresses_come_out_where_all_were_asked_for(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE, 3, 0);
    question(&m, "good.test", ST_DNS_ANY);
    address(&m, "good.test", 60, 0x01020304);
    record(&m, "good.test", 16, 60, 2); /* and its text is passed over */
    put_hex(&m, "0161");
    record(&m, "good.test", ST_DNS_AAAA, 60, 16);
    put_hex(&m, "20010db8 00000000 00000000 00000001");
    assert_true(read_all(&m));
    assert_int_equal(answers.n_addrs, 2);
}

/* ---- as it must not be ---- */

static void wrong_answers_are_refused(void **state)
{
    static const struct {
        const char *what, *hex;
    } rows[] = {
        {"an address of three bytes", "2b1d 8180 0001 0001 0000 0000 0161 00 0001 0001"
                                      "c00c 0001 0001 0000003c 0003 010203"},
        {"an address of eight bytes", "2b1d 8180 0001 0001 0000 0000 0161 00 0001 0001"
                                      "c00c 0001 0001 0000003c 0008 0102030405060708"},
        {"an alias with bytes behind", "2b1d 8180 0001 0001 0000 0000 0161 00 0001 0001"
                                       "c00c 0005 0001 0000003c 0004 0162 00 00"},
        {"an alias of itself", "2b1d 8180 0001 0001 0000 0000 0161 00 0001 0001"
                               "c00c 0005 0001 0000003c 0002 c00c"},
        {"two aliases of one name",
         "2b1d 8180 0001 0002 0000 0000 0161 00 0001 0001"
         "c00c 0005 0001 0000003c 0003 0162 00 c00c 0005 0001 0000003c 0003 0163 00"},
        {"a hint of three bytes", "2b1d 8180 0001 0001 0000 0000 0161 00 0041 0001"
                                  "c00c 0041 0001 0000003c 000a 0001 00 0004 0003 010203"},
        {"a hint beyond its record", "2b1d 8180 0001 0001 0000 0000 0161 00 0041 0001"
                                     "c00c 0041 0001 0000003c 000b 0001 00 0004 0008 01020304"},
        {"an empty hint", "2b1d 8180 0001 0001 0000 0000 0161 00 0041 0001"
                          "c00c 0041 0001 0000003c 0007 0001 00 0004 0000"},
        {"parameters out of order",
         "2b1d 8180 0001 0001 0000 0000 0161 00 0041 0001"
         "c00c 0041 0001 0000003c 0013 0001 00 0004 0004 01020304 0004 0004 01020304"},
        {"a compressed target", "2b1d 8180 0001 0001 0000 0000 0161 00 0041 0001"
                                "c00c 0041 0001 0000003c 0004 0001 c00c"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct bytes m = {0};

        put_hex(&m, rows[i].hex);
        assert_true(st_dns_read(m.b, m.n, &message));
        if (st_dns_answers_read(m.b, m.n, &message, &answers))
            fail_msg("read: %s", rows[i].what);
        assert_non_null(message.why);
    }
}

static void a_circle_of_aliases_is_refused(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RESPONSE, 3, 0);
    question(&m, "a.test", ST_DNS_A);
    alias(&m, "a.test", 60, "b.test");
    alias(&m, "b.test", 60, "a.test");
    address(&m, "a.test", 60, 0x01020304);
    assert_false(read_all(&m));
    assert_string_equal(message.why, "aliases without an end");
    assert_int_equal(answers.n_addrs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aliases_are_followed_to_the_addresses),
        cmocka_unit_test(aliases_may_stand_in_any_order),
        cmocka_unit_test(only_addresses_of_the_asked_name_come_out),
        cmocka_unit_test(an_answer_of_another_type_than_asked_is_not_taken),
        cmocka_unit_test(a_mapped_address_is_the_address_that_it_maps),
        cmocka_unit_test(a_time_to_live_is_never_none_and_never_for_ever),
        cmocka_unit_test(hints_of_https_records_come_out),
        cmocka_unit_test(the_target_of_an_https_alias_comes_out_without_hints),
        cmocka_unit_test(a_cut_answer_says_so),
        cmocka_unit_test(an_error_has_no_answers),
        cmocka_unit_test(addresses_without_room_are_counted),
        cmocka_unit_test(targets_without_room_are_counted),
        cmocka_unit_test(all_addresses_come_out_where_all_were_asked_for),
        cmocka_unit_test(wrong_answers_are_refused),
        cmocka_unit_test(a_circle_of_aliases_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
