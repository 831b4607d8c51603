/* The name servers of a resolv.conf, and what opens a QUIC connection. */
#include "sensors/net/quic.h"
#include "sensors/net/resolvers.h"

#include "net_unit.h"

/* addrs: with a space between. */
static void assert_resolvers(struct st_str text, const char *addrs, size_t unread)
{
    struct st_resolvers r;
    char found[1024] = "";

    assert_true(st_resolvers_read(text, &r));
    for (size_t i = 0; i < r.n; i++) {
        char one[ST_ADDR_TEXT_SIZE];

        st_addr_format(&r.addrs[i], one);
        snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", i ? " " : "", one);
    }
    assert_string_equal(found, addrs);
    assert_int_equal(r.unread, unread);
}

static void name_servers_are_read_as_the_c_library_reads_them(void **state)
{
    static const struct {
        const char *text, *addrs;
        size_t unread;
    } cases[] = {
        {"", "", 0},
        {"nameserver 127.0.0.11\noptions ndots:0\n", "127.0.0.11", 0},
        {"nameserver 10.0.0.1\nnameserver 2001:db8::53", "10.0.0.1 2001:db8::53", 0},
        {"search example.com\nnameserver\t \t10.0.0.1 \t\n", "10.0.0.1", 0},
        {"nameserver 10.0.0.1 10.0.0.2\n", "10.0.0.1", 0},
        {"nameserver 10.0.0.1# here\nnameserver 10.0.0.2;there\n", "10.0.0.1 10.0.0.2", 0},
        {"nameserver 10.0.0.1\nnameserver 0x0a000001\nnameserver ::ffff:10.0.0.1\n", "10.0.0.1", 0},
        {"nameserver fe80::1%eth0\n", "fe80::1", 0},
        {"nameserver 0.0.0.0\nnameserver ::\n", "127.0.0.1 ::1", 0},
        {"nameserver 10.1\n", "10.0.0.1", 0},
        /* none */
        {"# nameserver 10.0.0.1\n;nameserver 10.0.0.1\n", "", 0},
        {" nameserver 10.0.0.1\n", "", 0},
        {"nameserver10.0.0.1\nnameservers 10.0.0.1\nNAMESERVER 10.0.0.1\nnameserver", "", 0},
        {"nameserver \nnameserver #10.0.0.1\n", "", 2},
        {"nameserver 10.0.0.1\r\n", "", 1},
        {"nameserver 10.0.0.1%eth0\n", "", 1},
        {"nameserver ns.example.com\nnameserver [::1]\nnameserver 10.0.0.1:53\n", "", 3},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++)
        assert_resolvers(st_str(cases[i].text), cases[i].addrs, cases[i].unread);
}

static void a_nul_ends_its_line_only(void **state)
{
    (void)state;
    assert_resolvers(ST_STR_LIT("nameserver 10.0.0.1\0.2\n\0nameserver 10.0.0.3\nnameserver 10.0.0.4\n"),
                     "10.0.0.1 10.0.0.4", 0);
}

static void so_many_name_servers_and_no_more(void **state)
{
    struct bytes m = {0};
    struct st_resolvers r;
    char line[40];

    (void)state;
    for (int i = 0; i < 40; i++) {
        snprintf(line, sizeof(line), "nameserver 10.0.0.%d\n", i);
        put_text(&m, line);
    }
    assert_true(st_resolvers_read((struct st_str){(char *)m.b, m.n}, &r));
    assert_int_equal(r.n, ST_RESOLVERS_MAX);
    assert_int_equal(r.left_out, 40 - ST_RESOLVERS_MAX);
}

static void a_text_that_is_too_long_is_refused(void **state)
{
    static char text[ST_RESOLVERS_TEXT_MAX + 1];
    struct st_resolvers r;

    (void)state;
    memset(text, ' ', sizeof(text));
    memcpy(text, "nameserver 10.0.0.1\n", 20);
    assert_false(st_resolvers_read((struct st_str){text, sizeof(text)}, &r));
    assert_int_equal(r.n, 0);
    assert_true(st_resolvers_read((struct st_str){text, sizeof(text) - 1}, &r));
    assert_int_equal(r.n, 1);
}

static void the_first_packet_of_quic_is_known(void **state)
{
    static const struct {
        const char *hex; /* the rest is zeros */
        size_t n;
        bool first;
    } cases[] = {
        {"c3 00000001 08 8394c8f03e515708 00", 1200, true}, /* RFC 9001, A.2 */
        {"d3 6b3343cf 08 8394c8f03e515708 00", 1252, true}, /* RFC 9369, A.2 */
        {"c3 ff00001d 08 8394c8f03e515708 00", 1200, true}, /* a draft */
        {"ca 1a2a3a4a 08 8394c8f03e515708 00", 1200, true}, /* asks which versions there are */
        {"c3 00000001 14 0000000000000000000000000000000000000000 14", 1200, true},
        {"c3 00000001 08 8394c8f03e515708 00", 1199, false},
        {"43 00000001 08 8394c8f03e515708 00", 1200, false}, /* a short header */
        {"83 00000001 08 8394c8f03e515708 00", 1200, false},
        {"e3 00000001 08 8394c8f03e515708 00", 1200, false}, /* a handshake packet */
        {"c3 6b3343cf 08 8394c8f03e515708 00", 1200, false},
        {"c3 00000000 08 8394c8f03e515708 00", 1200, false}, /* what a server says of versions */
        {"c3 00000002 08 8394c8f03e515708 00", 1200, false},
        {"c3 00000001 07 8394c8f03e5157 00", 1200, false},
        {"c3 00000001 15 00", 1200, false},
        {"c3 00000001 08 8394c8f03e515708 15", 1200, false},
        {"", 0, false},
        {"c3", 1, false},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct bytes m = {0};

        put_hex(&m, cases[i].hex);
        assert_int_equal(st_quic_is_first(m.b, cases[i].n), cases[i].first);
    }
    assert_false(st_quic_is_first(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_servers_are_read_as_the_c_library_reads_them),
        cmocka_unit_test(a_nul_ends_its_line_only),
        cmocka_unit_test(so_many_name_servers_and_no_more),
        cmocka_unit_test(a_text_that_is_too_long_is_refused),
        cmocka_unit_test(the_first_packet_of_quic_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
