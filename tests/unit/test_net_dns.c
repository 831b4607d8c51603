/* DNS messages: as resolvers write them, and as nobody should. */
#include "model/host.h"

#include "dns_unit.h"

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <resolv.h>

static struct st_dns_message message;

static void a_query_of_the_c_library_is_read(void **state)
{
    uint8_t query[512];
    int n =
        res_mkquery(ns_o_query, "WWW.Example.COM.", ns_c_in, ns_t_aaaa, NULL, 0, NULL, query, sizeof(query));

    (void)state;
    assert_true(n > 0);
    assert_true(st_dns_read(query, (size_t)n, &message));
    assert_false(message.response);
    assert_string_equal(message.name.text, "www.example.com");
    assert_int_equal(message.qtype, ST_DNS_AAAA);
    assert_int_equal(message.qclass, ST_DNS_IN);
    assert_false(message.edns);
}

/* dig example.com, with a cookie and a buffer size by EDNS. */
static void a_query_with_edns_is_read(void **state)
{
    struct bytes m = {0};

    (void)state;
    put_hex(&m, "6dd5 0120 0001 0000 0000 0001 07 6578616d706c65 03 636f6d 00 0001 0001"
                "00 0029 04d0 00 00 0000 000c 000a 0008 1122334455667788");
    assert_true(st_dns_read(m.b, m.n, &message));
    assert_true(message.edns);
    assert_int_equal(message.id, 0x6dd5);
    assert_string_equal(message.name.text, "example.com");
}

/* ---- names ---- */

static void bytes_that_no_host_has_are_escaped(void **state)
{
    static const struct {
        const char *label;
        size_t n;
        const char *text;
    } rows[] = {
        {"a.b", 3, "a\\046b.test"},
        {"a\0b", 3, "a\\000b.test"},
        {"a\nb", 3, "a\\010b.test"},
        {"a\\b", 3, "a\\092b.test"},
        {"\xc3\xbc", 2, "\\195\\188.test"},
        {"_DMARC", 6, "_dmarc.test"},
        {"*", 1, "\\042.test"},
        {" ", 1, "\\032.test"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct bytes m;
        char host[ST_HOST_SIZE];

        header(&m, RECURSIVE_QUERY, 0, 0);
        put8(&m, (unsigned)rows[i].n);
        put_bytes(&m, rows[i].label, rows[i].n);
        question(&m, "test", ST_DNS_A);
        assert_true(st_dns_read(m.b, m.n, &message));
        assert_string_equal(message.name.text, rows[i].text);
        assert_int_equal(message.name.len, strlen(rows[i].text));
        if (strchr(rows[i].text, '\\'))
            assert_int_equal(st_host_canonical(st_str(message.name.text), host), 0);
    }
}

static void the_root_has_a_name_too(void **state)
{
    struct bytes m;

    (void)state;
    header(&m, RECURSIVE_QUERY, 0, 0);
    question(&m, "", 2);
    assert_true(st_dns_read(m.b, m.n, &message));
    assert_string_equal(message.name.text, ".");
}

static void the_longest_name_has_255_bytes(void **state)
{
    (void)state;
    for (unsigned last = 61; last <= 62; last++) {
        struct bytes m;

        header(&m, RECURSIVE_QUERY, 0, 0);
        for (unsigned i = 0; i < 4; i++) {
            unsigned n = i < 3 ? 63 : last;

            put8(&m, n);
            for (unsigned j = 0; j < n; j++)
                put8(&m, 0xff);
        }
        question(&m, "", ST_DNS_A);
        assert_int_equal(st_dns_read(m.b, m.n, &message), last == 61);
        if (last == 61)
            assert_int_equal(message.name.len, ST_DNS_NAME_SIZE - 1);
    }
}

/* ---- as it must not be ---- */

static void wrong_messages_are_refused(void **state)
{
    static const struct {
        const char *what, *hex;
    } rows[] = {
        {"nothing", ""},
        {"half a header", "2b1d 0100 0001 0000 0000"},
        {"no question", "2b1d 0100 0000 0000 0000 0000"},
        {"two questions", "2b1d 0100 0002 0000 0000 0000 0161 00 0001 0001 0162 00 0001 0001"},
        {"two questions of which one is there", "2b1d 0100 0002 0000 0000 0000 0161 00 0001 0001"},
        {"a question cut short", "2b1d 0100 0001 0000 0000 0000 0161 00 0001 00"},
        {"a label beyond the end", "2b1d 0100 0001 0000 0000 0000 3f61 00 0001 0001"},
        {"a pointer in the question", "2b1d 0100 0001 0000 0000 0000 c00c 0001 0001"},
        {"a pointer into the header", "2b1d 8180 0001 0001 0000 0000 0161 00 0001 0001"
                                      "c004 0001 0001 0000003c 0004 01020304"},
        {"a pointer to itself", "2b1d 8180 0001 0001 0000 0000 0161 00 0001 0001"
                                "c013 0001 0001 0000003c 0004 01020304"},
        {"a pointer forward", "2b1d 8180 0001 0001 0000 0000 0161 00 0001 0001"
                              "c015 0001 0001 0000003c 0004 01020304"},
        {"an unknown kind of label", "2b1d 0100 0001 0000 0000 0000 4161 00 0001 0001"},
        {"another kind of label", "2b1d 0100 0001 0000 0000 0000 8161 00 0001 0001"},
        {"bytes behind the end", "2b1d 0100 0001 0000 0000 0000 0161 00 0001 0001 00"},
        {"a record less than counted", "2b1d 8180 0001 0001 0000 0000 0161 00 0001 0001"},
        {"a record cut short",
         "2b1d 8180 0001 0001 0000 0000 0161 00 0001 0001 c00c 0001 0001 0000003c 0004 0102"},
        {"a query with an answer", "2b1d 0100 0001 0001 0000 0000 0161 00 0001 0001"
                                   "c00c 0001 0001 0000003c 0004 01020304"},
        {"a query with an additional record", "2b1d 0100 0001 0000 0000 0001 0161 00 0001 0001"
                                              "c00c 0010 0001 00000000 0004 03616263"},
        {"EDNS twice", "2b1d 0100 0001 0000 0000 0002 0161 00 0001 0001"
                       "00 0029 04d0 00000000 0000 00 0029 04d0 00000000 0000"},
        {"EDNS of a name", "2b1d 0100 0001 0000 0000 0001 0161 00 0001 0001 c00c 0029 04d0 00000000 0000"},
        {"EDNS as an answer", "2b1d 8180 0001 0001 0000 0000 0161 00 0001 0001 00 0029 04d0 00000000 0000"},
        {"an update", "2b1d 2800 0001 0000 0000 0000 0161 00 0006 0001"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct bytes m = {0};

        put_hex(&m, rows[i].hex);
        if (st_dns_read(m.b, m.n, &message))
            fail_msg("read: %s", rows[i].what);
        assert_non_null(message.why);
    }
}

static void a_message_of_pointers_to_pointers_is_refused(void **state)
{
    struct bytes m;
    size_t at;

    (void)state;
    header(&m, RESPONSE, 2, 0);
    question(&m, "a.test", ST_DNS_A);
    record(&m, "", 16, 60, 200);
    at = m.n;
    put16(&m, 0xc00c);
    for (size_t i = 1; i < 100; i++)
        put16(&m, 0xc000 | (unsigned)(at + 2 * (i - 1)));
    put16(&m, 0xc000 | (unsigned)(at + 198));
    put_hex(&m, "0001 0001 0000003c 0004 01020304");
    assert_false(st_dns_read(m.b, m.n, &message));
}

static void a_message_of_too_many_records_is_refused(void **state)
{
    (void)state;
    for (unsigned n = ST_DNS_MAX_RECORDS; n <= ST_DNS_MAX_RECORDS + 1; n++) {
        static struct bytes m;

        header(&m, RESPONSE, n, 0);
        question(&m, "a", ST_DNS_A);
        for (unsigned i = 0; i < n; i++)
            record(&m, "", 16, 60, 0);
        assert_int_equal(st_dns_read(m.b, m.n, &message), n == ST_DNS_MAX_RECORDS);
    }
}

/* ---- answers of our own, and TCP ---- */

static void a_refusal_has_the_question_as_it_was_asked(void **state)
{
    struct bytes m;
    uint8_t out[512];
    size_t n;
    ns_msg parsed;
    ns_rr rr;

    (void)state;
    header(&m, RECURSIVE_QUERY, 0, 1);
    question(&m, "WwW.eXample.Com", ST_DNS_A); /* some resolvers look whether the case comes back */
    put_hex(&m, "00 0029 04d0 00000000 0000");
    n = st_dns_refuse(m.b, m.n, out, sizeof(out));
    assert_int_equal(n, m.n - 11);
    assert_memory_equal(out + 12, m.b + 12, n - 12);
    assert_int_equal(ns_initparse(out, (int)n, &parsed), 0);
    assert_int_equal(ns_msg_id(parsed), 0x2b1d);
    assert_int_equal(ns_msg_getflag(parsed, ns_f_qr), 1);
    assert_int_equal(ns_msg_getflag(parsed, ns_f_rd), 1);
    assert_int_equal(ns_msg_getflag(parsed, ns_f_ra), 1);
    assert_int_equal(ns_msg_getflag(parsed, ns_f_aa), 0);
    assert_int_equal(ns_msg_getflag(parsed, ns_f_rcode), ns_r_refused);
    assert_int_equal(ns_parserr(&parsed, ns_s_qd, 0, &rr), 0);
    assert_string_equal(ns_rr_name(rr), "WwW.eXample.Com");
    assert_true(st_dns_read(out, n, &message));
    assert_int_equal(message.rcode, ST_DNS_REFUSED);
}

static void a_refusal_needs_a_query_and_room(void **state)
{
    struct bytes m;
    uint8_t out[64];

    (void)state;
    header(&m, RECURSIVE_QUERY, 0, 0);
    question(&m, "a.test", ST_DNS_A);
    assert_int_equal(st_dns_refuse(m.b, m.n, out, m.n - 1), 0);
    assert_int_equal(st_dns_refuse(m.b, 11, out, sizeof(out)), 0);
    assert_int_equal(st_dns_refuse(m.b, m.n - 1, out, sizeof(out)), ST_DNS_HEADER);
    m.b[2] |= 0x80;
    assert_int_equal(st_dns_refuse(m.b, m.n, out, sizeof(out)), 0);
}

static void a_frame_is_whole_at_its_last_byte(void **state)
{
    struct bytes m = {0};
    size_t len;

    (void)state;
    put16(&m, 17);
    for (unsigned i = 0; i < 20; i++)
        put8(&m, i);
    for (size_t n = 0; n <= m.n; n++)
        assert_int_equal(st_dns_frame(m.b, n, &len), n < 19 ? ST_DNS_FRAME_MORE : ST_DNS_FRAME_WHOLE);
    assert_int_equal(len, 17);
    m.b[1] = 11;
    assert_int_equal(st_dns_frame(m.b, m.n, &len), ST_DNS_FRAME_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_query_of_the_c_library_is_read),
        cmocka_unit_test(a_query_with_edns_is_read),
        cmocka_unit_test(bytes_that_no_host_has_are_escaped),
        cmocka_unit_test(the_root_has_a_name_too),
        cmocka_unit_test(the_longest_name_has_255_bytes),
        cmocka_unit_test(wrong_messages_are_refused),
        cmocka_unit_test(a_message_of_pointers_to_pointers_is_refused),
        cmocka_unit_test(a_message_of_too_many_records_is_refused),
        cmocka_unit_test(a_refusal_has_the_question_as_it_was_asked),
        cmocka_unit_test(a_refusal_needs_a_query_and_room),
        cmocka_unit_test(a_frame_is_whole_at_its_last_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
