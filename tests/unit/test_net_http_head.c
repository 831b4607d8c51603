/* The first request on a connection: as real clients wrote it, and as nobody should. */
#include "sensors/net/http_head.h"

#include "net_unit.h"

static struct st_http_head head;

static enum st_head_is read_text(const char *text)
{
    return st_http_head_read((const uint8_t *)text, strlen(text), &head);
}

static const char *host_text(void)
{
    static char text[ST_ADDR_TEXT_SIZE];

    if (head.host.host_len)
        return head.host.host;
    st_addr_format(&head.host.addr, text);
    return text;
}

/* ---- as it should be ---- */

static void heads_of_real_clients_are_read(void **state)
{
    static const struct {
        const char *file, *host;
        unsigned port;
        bool connect;
    } rows[] = {
        {"curl", "api.example.com", 8080, false},    {"curl_1_0", "api.example.com", 8080, false},
        {"curl_proxy", "api.example.com", 0, false}, {"curl_connect", "api.example.com", 443, true},
        {"wget", "127.0.0.1", 8080, false},          {"node", "api.example.com", 0, false},
        {"python", "api.example.com", 0, false},     {"git", "localhost", 8080, false},
        {"go", "api.example.com", 0, false},         {"busybox", "127.0.0.1", 8080, false},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct bytes m = {0};

        put_seed(&m, "http_head", rows[i].file);
        assert_int_equal(st_http_head_read(m.b, m.n, &head), ST_HEAD_DONE);
        assert_string_equal(host_text(), rows[i].host);
        assert_int_equal(head.host.port, rows[i].port);
        assert_int_equal(head.connect, rows[i].connect);
        assert_int_equal(head.len, m.n);
        for (size_t n = 0; n < m.n; n++)
            assert_int_equal(st_http_head_read(m.b, n, &head), ST_HEAD_MORE);
    }
}

static void http2_from_the_first_byte_is_told(void **state)
{
    struct bytes m = {0};

    (void)state;
    put_seed(&m, "http_head", "curl_h2");
    for (size_t n = 0; n < m.n; n++)
        assert_int_equal(st_http_head_read(m.b, n, &head), n < 24 ? ST_HEAD_MORE : ST_HEAD_H2);
    assert_int_equal(read_text("PRI * HTTP/2.0\r\n\r\nXX"), ST_HEAD_NOT_HTTP);
}

static void hosts_are_names_or_addresses(void **state)
{
    static const struct {
        const char *head, *host;
        unsigned port;
    } rows[] = {
        {"GET / HTTP/1.1\r\nHost: API.Example.COM.\r\n\r\n", "api.example.com", 0},
        {"GET / HTTP/1.1\r\nhOST:\t a.example:1 \t\r\n\r\n", "a.example", 1},
        {"GET / HTTP/1.1\r\nHost: 0x7f.1\r\n\r\n", "127.0.0.1", 0},
        {"GET / HTTP/1.1\r\nHost: 2852039166:80\r\n\r\n", "169.254.169.254", 80},
        {"GET / HTTP/1.1\r\nHost: 127.0.0.1.\r\n\r\n", "127.0.0.1", 0},
        {"GET / HTTP/1.1\r\nHost: [::1]:65535\r\n\r\n", "::1", 65535},
        {"GET / HTTP/1.1\r\nHost: [::ffff:1.2.3.4]\r\n\r\n", "1.2.3.4", 0},
        {"GET http://a.example HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example", 0},
        {"GET HTTP://A.example:80/x HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example", 80},
        {"GET https://a.example?x HTTP/1.1\r\nHost: a.example:443\r\n\r\n", "a.example", 0},
        {"GET http://a.example/ HTTP/1.0\r\n\r\n", "a.example", 0},
        {"GET http://[::1]/ HTTP/1.1\r\nHost: [0::1]:80\r\n\r\n", "::1", 0},
        {"OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example", 0},
        {"CONNECT a.example:22 HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example", 22},
        {"CONNECT [::1]:22 HTTP/1.0\r\n\r\n", "::1", 22},
        {"GET /\xc3\xbc HTTP/1.1\r\nHost: a.example\r\nX: \xff\r\n\r\n", "a.example", 0},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        if (read_text(rows[i].head) != ST_HEAD_DONE)
            fail_msg("%s: %s", rows[i].head, head.why);
        assert_string_equal(host_text(), rows[i].host);
        assert_int_equal(head.host.port, rows[i].port);
    }
}

static void an_old_request_may_have_no_host(void **state)
{
    (void)state;
    assert_int_equal(read_text("GET / HTTP/1.0\r\nAccept: */*\r\n\r\n"), ST_HEAD_DONE);
    assert_int_equal(head.host.host_len, 0);
    assert_int_equal(head.host.addr.family, 0);
}

static void what_follows_the_head_is_not_looked_at(void **state)
{
    (void)state;
    assert_int_equal(read_text("POST / HTTP/1.1\r\nHost: a.example\r\n\r\nHost: b.example\n\x01"),
                     ST_HEAD_DONE);
    assert_int_equal(head.len, strlen("POST / HTTP/1.1\r\nHost: a.example\r\n\r\n"));
}

/* ---- as it must not be ---- */

static void heads_that_servers_read_differently_are_refused(void **state)
{
    static const char *const rows[] = {
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example\r\n b.example\r\n\r\n",
        "GET / HTTP/1.1\r\nX: y\r\n\tHost: b.example\r\nHost: a.example\r\n\r\n",
        "GET / HTTP/1.1\r\n Host: b.example\r\nHost: a.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost\t: a.example\r\n\r\n",
        "GET / HTTP/1.1\r\n: a.example\r\nHost: a.example\r\n\r\n",
        "GET / HTTP/1.1\r\nnonsense\r\nHost: a.example\r\n\r\n",
        "GET / HTTP/1.1\nHost: a.example\n\n",
        "GET / HTTP/1.1\r\nHost: a.example\nHost: b.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example\rHost: b.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example\r\r\n\r\n",
        "GET / HTTP/1.1\r\nX: \x01\r\nHost: a.example\r\n\r\n",
        "GET / HTTP/1.1\r\nX: \x7f\r\nHost: a.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example b.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example, b.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: user@a.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example/\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a%2eexample\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: m\xc3\xbcnchen.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example:0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example:65536\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example:80:80\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a.example:8a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: [a.example]\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: [1.2.3.4]\r\n\r\n",
        "GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\n\r\n",
        "GET http://a.example:81/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nHost: a.example:81\r\n\r\n",
        "GET http://x@a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET http://a.example#@b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET http://a.example\\@b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET http:///x HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET ftp://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET a.example HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET /\t HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "CONNECT a.example HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "CONNECT b.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
        "CONNECT a.example:22 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
        "CONNECT /x HTTP/1.1\r\nHost: a.example\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        if (read_text(rows[i]) != ST_HEAD_MALFORMED)
            fail_msg("not refused: %s", rows[i]);
        assert_non_null(head.why);
        assert_int_equal(head.host.host_len, 0);
    }
}

static void a_nul_is_refused_where_it_stands(void **state)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: a.example\0.b.example";

    (void)state;
    assert_int_equal(st_http_head_read((const uint8_t *)text, 31, &head), ST_HEAD_MORE);
    assert_int_equal(st_http_head_read((const uint8_t *)text, 32, &head), ST_HEAD_MALFORMED);
}

static void what_is_not_http_is_told_at_once(void **state)
{
    static const char *const rows[] = {
        "\x16\x03\x01",
        "\r\nGET / HTTP/1.1\r\n",
        " GET",
        "PING\r",
        "SSH-2.0-OpenSSH_9.2p1\r\n",
        "HELO a.example\r\n",
        "GET /\r\n",
        "GET / HTTP/2.0\r\n",
        "GET / HTTP/1.2\r\n",
        "GET / http/1.1\r\n",
        "GET  / HTTP/1.1\r\n",
        "GET / HTTP/1.1 \r\n",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "\xff",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++)
        if (read_text(rows[i]) != ST_HEAD_NOT_HTTP)
            fail_msg("not told: %s", rows[i]);
    assert_int_equal(read_text(""), ST_HEAD_MORE);
    assert_int_equal(read_text("SSH-2.0"), ST_HEAD_MORE);
}

static void a_head_that_does_not_end_is_refused_at_the_limit(void **state)
{
    static char text[ST_HEAD_MAX + 1];
    size_t n = strlen("GET / HTTP/1.1\r\nHost: a.example\r\nX: ");

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text, "GET / HTTP/1.1\r\nHost: a.example\r\nX: ", n);
    assert_int_equal(st_http_head_read((uint8_t *)text, ST_HEAD_MAX - 1, &head), ST_HEAD_MORE);
    assert_int_equal(st_http_head_read((uint8_t *)text, ST_HEAD_MAX, &head), ST_HEAD_MALFORMED);
    memcpy(text + ST_HEAD_MAX - 4, "\r\n\r\n", 4);
    assert_int_equal(st_http_head_read((uint8_t *)text, ST_HEAD_MAX, &head), ST_HEAD_DONE);
    assert_int_equal(st_http_head_read((uint8_t *)text, ST_HEAD_MAX + 1, &head), ST_HEAD_DONE);
    memcpy(text + ST_HEAD_MAX - 4, "x\r\n\r\n", 5);
    assert_int_equal(st_http_head_read((uint8_t *)text, ST_HEAD_MAX + 1, &head), ST_HEAD_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_of_real_clients_are_read),
        cmocka_unit_test(http2_from_the_first_byte_is_told),
        cmocka_unit_test(hosts_are_names_or_addresses),
        cmocka_unit_test(an_old_request_may_have_no_host),
        cmocka_unit_test(what_follows_the_head_is_not_looked_at),
        cmocka_unit_test(heads_that_servers_read_differently_are_refused),
        cmocka_unit_test(a_nul_is_refused_where_it_stands),
        cmocka_unit_test(what_is_not_http_is_told_at_once),
        cmocka_unit_test(a_head_that_does_not_end_is_refused_at_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
