/* The first bytes of TLS clients: as real ones sent them, and as nobody should. */
#include "sensors/net/tls_hello.h"

#include "net_unit.h"

static struct st_tls_hello hello;

/* ---- putting a hello together ---- */

static void extension(struct bytes *m, unsigned type, const void *body, size_t n)
{
    put16(m, type);
    put16(m, (unsigned)n);
    put_bytes(m, body, n);
}

static void server_name(struct bytes *m, const char *name, size_t n)
{
    put16(m, 0);
    put16(m, (unsigned)n + 5);
    put16(m, (unsigned)n + 3);
    put8(m, 0);
    put16(m, (unsigned)n);
    put_bytes(m, name, n);
}

/* The handshake message with these extensions. */
static struct bytes handshake(const struct bytes *extensions)
{
    struct bytes m = {0};

    put8(&m, 1);
    put8(&m, 0);
    put16(&m, (unsigned)(2 + 32 + 1 + 4 + 2 + 2 + extensions->n));
    put16(&m, 0x0303);
    for (unsigned i = 0; i < 32; i++)
        put8(&m, i);
    put8(&m, 0);
    put_hex(&m, "0002 1301 01 00");
    put16(&m, (unsigned)extensions->n);
    put_bytes(&m, extensions->b, extensions->n);
    return m;
}

/* In records of at most `piece` bytes. */
static struct bytes records(const struct bytes *shake, size_t piece)
{
    struct bytes m = {0};

    for (size_t at = 0; at < shake->n; at += piece) {
        size_t n = shake->n - at < piece ? shake->n - at : piece;

        put_hex(&m, "16 0301");
        put16(&m, (unsigned)n);
        put_bytes(&m, shake->b + at, n);
    }
    return m;
}

static enum st_hello_is read_extensions(const struct bytes *extensions)
{
    struct bytes shake = handshake(extensions), m = records(&shake, 16384);

    return st_tls_hello_read(m.b, m.n, &hello);
}

static enum st_hello_is read_hex(const char *hex)
{
    struct bytes m = {0};

    put_hex(&m, hex);
    return st_tls_hello_read(m.b, m.n, &hello);
}

/* ---- as it should be ---- */

static void hellos_of_real_clients_are_read(void **state)
{
    static const struct {
        const char *file, *sni, *alpn;
    } rows[] = {
        {"openssl", "api.example.com", "h2,http/1.1"},
        {"openssl_tls1", "api.example.com", ""},
        {"openssl_no_name", "", ""},
        {"curl", "api.example.com", "h2,http/1.1"},
        {"wget", "localhost", ""},
        {"node", "api.example.com", "h2,http/1.1"},
        {"python", "api.example.com", ""},
        {"go", "api.example.com", "h2,http/1.1"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct bytes m = {0};

        put_seed(&m, "tls_hello", rows[i].file);
        assert_int_equal(st_tls_hello_read(m.b, m.n, &hello), ST_HELLO_DONE);
        assert_string_equal(hello.sni, rows[i].sni);
        assert_int_equal(hello.sni_len, strlen(rows[i].sni));
        assert_string_equal(hello.alpn_text, rows[i].alpn);
        assert_false(hello.ech);
    }
}

static void no_cut_of_the_stream_changes_the_answer(void **state)
{
    struct bytes m = {0};

    (void)state;
    put_seed(&m, "tls_hello", "curl");
    for (size_t n = 0; n < m.n; n++)
        assert_int_equal(st_tls_hello_read(m.b, n, &hello), ST_HELLO_MORE);
    put_text(&m, "what comes behind");
    assert_int_equal(st_tls_hello_read(m.b, m.n, &hello), ST_HELLO_DONE);
    assert_string_equal(hello.sni, "api.example.com");
}

static void a_hello_in_many_records_is_one(void **state)
{
    struct bytes extensions = {0}, shake;

    (void)state;
    server_name(&extensions, "API.Example.com", 15);
    shake = handshake(&extensions);
    for (size_t piece = 1; piece <= shake.n; piece++) {
        struct bytes m = records(&shake, piece);

        for (size_t n = 0; n < m.n; n += piece)
            assert_int_equal(st_tls_hello_read(m.b, n, &hello), ST_HELLO_MORE);
        assert_int_equal(st_tls_hello_read(m.b, m.n, &hello), ST_HELLO_DONE);
        assert_string_equal(hello.sni, "api.example.com");
    }
}

static void an_encrypted_hello_is_told(void **state)
{
    static const unsigned types[] = {0xfe0d, 0xffce};

    (void)state;
    for (size_t i = 0; i < N_OF(types); i++) {
        struct bytes extensions = {0};

        server_name(&extensions, "public.example", 14);
        extension(&extensions, types[i], "\0\0\1\0\1\x2a\0\0\0\0", 10);
        assert_int_equal(read_extensions(&extensions), ST_HELLO_DONE);
        assert_true(hello.ech);
        assert_string_equal(hello.sni, "public.example");
    }
}

static void a_hello_without_extensions_has_no_name(void **state)
{
    struct bytes m = {0};

    (void)state;
    put_hex(&m, "16 0300 002d 01 000029 0301");
    for (unsigned i = 0; i < 32; i++)
        put8(&m, i);
    put_hex(&m, "00 0002 0035 01 00");
    assert_int_equal(st_tls_hello_read(m.b, m.n, &hello), ST_HELLO_DONE);
    assert_int_equal(hello.sni_len, 0);
    assert_false(hello.alpn);
}

static void protocols_are_text_that_can_not_be_forged(void **state)
{
    struct bytes extensions = {0};

    (void)state;
    extension(&extensions, 16, "\0\x0b\2\x0a\x0a\3a,b\3dot", 13);
    assert_int_equal(read_extensions(&extensions), ST_HELLO_DONE);
    assert_string_equal(hello.alpn_text, "\\x0a\\x0a,a\\x2cb,dot");
    assert_false(hello.alpn_cut);
}

static void too_many_protocols_are_cut_and_said_to_be(void **state)
{
    struct bytes list = {0}, extensions = {0};

    (void)state;
    put16(&list, 400);
    for (unsigned i = 0; i < 100; i++)
        put_text(&list, "\3abc");
    extension(&extensions, 16, list.b, list.n);
    assert_int_equal(read_extensions(&extensions), ST_HELLO_DONE);
    assert_true(hello.alpn_cut);
    assert_int_equal(strlen(hello.alpn_text), 63 * 4 + 3);
}

/* ---- as it must not be ---- */

static void names_that_are_no_names_are_refused(void **state)
{
    static const struct st_str names[] = {
        ST_STR_LIT(""),
        ST_STR_LIT("."),
        ST_STR_LIT("a..b"),
        ST_STR_LIT("a\0b.com"),
        ST_STR_LIT("a b.com"),
        ST_STR_LIT("b\xc3\xbc"
                   "cher.example"),
        ST_STR_LIT("a.com\n"),
        ST_STR_LIT("[::1]"),
        ST_STR_LIT("a.com:443"),
        ST_STR_LIT("*.example"),
    };

    (void)state;
    for (size_t i = 0; i < N_OF(names); i++) {
        struct bytes extensions = {0};

        server_name(&extensions, names[i].p, names[i].len);
        assert_int_equal(read_extensions(&extensions), ST_HELLO_MALFORMED);
        assert_int_equal(hello.sni_len, 0);
        assert_string_equal(hello.sni, "");
    }
}

static void wrong_extensions_are_refused(void **state)
{
    static const struct {
        const char *what, *hex;
    } rows[] = {
        {"two server names", "0000 0006 0004 00 0001 61 0000 0006 0004 00 0001 62"},
        {"two names in one list", "0000 000a 0008 00 0001 61 00 0001 62"},
        {"a name of another type", "0000 0006 0004 01 0001 61"},
        {"an empty list", "0000 0002 0000"},
        {"no list", "0000 0000"},
        {"a list longer than its extension", "0000 0006 0005 00 0001 61"},
        {"a list shorter than its extension", "0000 0007 0004 00 0001 61 00"},
        {"a name longer than its list", "0000 0006 0004 00 0002 61"},
        {"an extension beyond the end", "0005 0006 01"},
        {"half an extension", "00 05 00"},
        {"two lists of protocols", "0010 0005 0003 02 6832 0010 0005 0003 02 6832"},
        {"an empty list of protocols", "0010 0002 0000"},
        {"an empty protocol", "0010 0003 0001 00"},
        {"a protocol beyond its list", "0010 0005 0003 03 6832"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct bytes extensions = {0};

        put_hex(&extensions, rows[i].hex);
        if (read_extensions(&extensions) != ST_HELLO_MALFORMED)
            fail_msg("not refused: %s", rows[i].what);
        assert_non_null(hello.why);
    }
}

static void bytes_behind_the_extensions_are_refused(void **state)
{
    struct bytes extensions = {0}, shake, m;

    (void)state;
    server_name(&extensions, "a.example", 9);
    shake = handshake(&extensions);
    put8(&shake, 0);
    shake.b[3]++;
    m = records(&shake, 16384);
    assert_int_equal(st_tls_hello_read(m.b, m.n, &hello), ST_HELLO_MALFORMED);
}

static void wrong_records_are_refused_at_once(void **state)
{
    (void)state;
    assert_int_equal(read_hex("16 0301 0000"), ST_HELLO_MALFORMED);
    assert_int_equal(read_hex("16 0301 4001"), ST_HELLO_MALFORMED);
    assert_int_equal(read_hex("16 0301 0010 02"), ST_HELLO_MALFORMED);        /* a server's hello */
    assert_int_equal(read_hex("16 0301 0004 01 004000"), ST_HELLO_MALFORMED); /* 16 KiB */
    assert_int_equal(read_hex("16 0301 0001 01 15"), ST_HELLO_MALFORMED);     /* an alert in between */
    assert_int_equal(read_hex("16 0301 0001 01 16 02"), ST_HELLO_MALFORMED);  /* another version in between */
    assert_int_equal(read_hex("16 0301 0006 01 000002 0200"), ST_HELLO_MALFORMED);
    assert_int_equal(read_hex("16 0301 0006 01 000002 0303"), ST_HELLO_MALFORMED); /* ends there */
}

static void a_hello_that_does_not_end_is_refused_at_the_limit(void **state)
{
    static uint8_t bytes[ST_HELLO_MAX + 1];
    size_t n = 0;

    (void)state;
    /* A record a byte: there is no room for a hello of 12 KiB. */
    for (size_t i = 0; n + 6 <= sizeof(bytes); i++) {
        static const uint8_t head[] = {1, 0, 0x30, 0};
        const uint8_t record[] = {22, 3, 1, 0, 1, i < 4 ? head[i] : 0};

        memcpy(bytes + n, record, sizeof(record));
        n += sizeof(record);
    }
    assert_int_equal(st_tls_hello_read(bytes, n, &hello), ST_HELLO_MORE);
    bytes[n] = 22;
    bytes[n + 1] = bytes[n + 2] = 3;
    assert_int_equal(st_tls_hello_read(bytes, ST_HELLO_MAX - 1, &hello), ST_HELLO_MORE);
    assert_int_equal(st_tls_hello_read(bytes, ST_HELLO_MAX, &hello), ST_HELLO_MALFORMED);
    assert_int_equal(st_tls_hello_read(bytes, ST_HELLO_MAX + 1, &hello), ST_HELLO_MALFORMED);
}

static void what_is_not_tls_is_told_at_once(void **state)
{
    (void)state;
    assert_int_equal(read_hex(""), ST_HELLO_MORE);
    assert_int_equal(read_hex("47"), ST_HELLO_NOT_TLS);       /* GET */
    assert_int_equal(read_hex("53 53 48"), ST_HELLO_NOT_TLS); /* SSH */
    assert_int_equal(read_hex("00"), ST_HELLO_NOT_TLS);
    assert_int_equal(read_hex("16"), ST_HELLO_MORE);
    assert_int_equal(read_hex("16 04"), ST_HELLO_NOT_TLS);
    assert_int_equal(read_hex("17 0303 0010"), ST_HELLO_NOT_TLS); /* data of a session that we did not see */
}

static void the_hello_of_sslv2_is_told(void **state)
{
    (void)state;
    assert_int_equal(read_hex("80"), ST_HELLO_MORE);
    assert_int_equal(read_hex("80 2e 01"), ST_HELLO_MORE);
    assert_int_equal(read_hex("80 2e 01 0002 0015 0000 0010"), ST_HELLO_SSL2);
    assert_int_equal(read_hex("80 2e 01 0301 0015 0000 0010"), ST_HELLO_SSL2);
    assert_int_equal(read_hex("80 2e 02"), ST_HELLO_NOT_TLS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hellos_of_real_clients_are_read),
        cmocka_unit_test(no_cut_of_the_stream_changes_the_answer),
        cmocka_unit_test(a_hello_in_many_records_is_one),
        cmocka_unit_test(an_encrypted_hello_is_told),
        cmocka_unit_test(a_hello_without_extensions_has_no_name),
        cmocka_unit_test(protocols_are_text_that_can_not_be_forged),
        cmocka_unit_test(too_many_protocols_are_cut_and_said_to_be),
        cmocka_unit_test(names_that_are_no_names_are_refused),
        cmocka_unit_test(wrong_extensions_are_refused),
        cmocka_unit_test(bytes_behind_the_extensions_are_refused),
        cmocka_unit_test(wrong_records_are_refused_at_once),
        cmocka_unit_test(a_hello_that_does_not_end_is_refused_at_the_limit),
        cmocka_unit_test(what_is_not_tls_is_told_at_once),
        cmocka_unit_test(the_hello_of_sslv2_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
