/* SHA-256 by our own instructions says what nettle says, and hex, base64 and times come out right. */
#include "base/base64.h"
#include "base/clock.h"
#include "base/sha256_text.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

static void the_known_answers_come_out(void **state)
{
    static const char *const pairs[][2] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(pairs); i++)
        for (int way = 0; way < 2; way++) {
            struct st_sha256_text text = {.parts = {{pairs[i][0], strlen(pairs[i][0])}}};
            unsigned char digest[ST_SHA256_SIZE];
            char hex[ST_SHA256_HEX + 1];

            st_sha256_one(way && st_sha256_instructions(), &text, digest);
            st_hex(digest, sizeof(digest), hex);
            assert_string_equal(hex, pairs[i][1]);
        }
}

static void any_two_texts_in_any_parts_hash_as_one_text(void **state)
{
    static char bytes[16384];
    bool instructions = st_sha256_instructions();
    unsigned seed = 5;

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)rand_r(&seed);
    for (int round = 0; round < 20000; round++) {
        struct st_sha256_text texts[2];
        unsigned char one[ST_SHA256_SIZE], two[2][ST_SHA256_SIZE], right[ST_SHA256_SIZE];
        size_t lengths[2];

        for (int k = 0; k < 2; k++) {
            size_t n = (size_t)rand_r(&seed) % (round % 10 ? 700 : 6000), from = (size_t)rand_r(&seed) % 8000;
            size_t a = n ? (size_t)rand_r(&seed) % n : 0, b = (size_t)rand_r(&seed) % (n - a + 1);

            lengths[k] = n;
            texts[k] = (struct st_sha256_text){
                .parts = {{bytes + from, a}, {bytes + from + a, b}, {bytes + from + a + b, n - a - b}}};
        }
        st_sha256_two(instructions, texts, two);
        for (int k = 0; k < 2; k++) {
            st_sha256(texts[k].parts[0].p, lengths[k], right);
            st_sha256_one(instructions, &texts[k], one);
            assert_memory_equal(right, one, sizeof(right));
            assert_memory_equal(right, two[k], sizeof(right));
        }
    }
}

static void hex_is_right_for_every_byte_and_length(void **state)
{
    unsigned char bytes[300];
    char hex[601], expected[3];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)i;
    for (size_t n = 0; n <= sizeof(bytes); n++) {
        st_hex(bytes, n, hex);
        assert_int_equal(strlen(hex), 2 * n);
        for (size_t i = 0; i < n; i++) {
            snprintf(expected, sizeof(expected), "%02x", bytes[i]);
            assert_memory_equal(hex + 2 * i, expected, 2);
        }
    }
}

static void base64_has_one_form_only(void **state)
{
    static const char *const good[][2] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
                                          {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}};
    static const char *const bad[] = {
        "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zm9v\n", "Zm-v", "Zg==Zg=="};
    char out[16];

    (void)state;
    for (size_t i = 0; i < N_OF(good); i++) {
        size_t n = strlen(good[i][0]);

        assert_int_equal(st_base64_encode(good[i][0], n, out), strlen(good[i][1]));
        assert_memory_equal(out, good[i][1], strlen(good[i][1]));
        assert_int_equal(st_base64_decode(good[i][1], strlen(good[i][1]), out, sizeof(out)), n);
        assert_memory_equal(out, good[i][0], n);
    }
    for (size_t i = 0; i < N_OF(bad); i++)
        assert_int_equal(st_base64_decode(bad[i], strlen(bad[i]), out, sizeof(out)), -1);
    assert_int_equal(st_base64_decode("Zm9v", 4, out, 2), -1);
}

static void times_are_read_as_they_are_written(void **state)
{
    static const char *const bad[] = {"",
                                      "2026-03-26",
                                      "2026-02-30T00:00:00Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-03-26T24:00:00Z",
                                      "2026-03-26T12:00:00",
                                      "2026-03-26T12:00:00.Z",
                                      "2026-03-26T12:00:00+1:00",
                                      "2026-03-26T12:00:00Zx",
                                      "0000-01-01T00:00:00Z"};
    char text[ST_RFC3339_SIZE];
    int64_t us;
    unsigned seed = 1;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        int64_t when = ((int64_t)rand_r(&seed) << 31 ^ rand_r(&seed)) % INT64_C(200000000000000000);

        st_format_rfc3339(when, text);
        assert_true(st_parse_rfc3339(text, strlen(text), &us));
        assert_int_equal(us, when);
    }
    assert_true(st_parse_rfc3339("2026-03-26T12:00:00+00:00", 25, &us));
    assert_int_equal(us, 1774526400000000);
    assert_true(st_parse_rfc3339("2026-03-26T13:30:00.123456789+01:30", 35, &us));
    assert_int_equal(us, 1774526400123456);
    assert_true(st_parse_rfc3339("1969-12-31T23:59:59.5Z", 22, &us));
    assert_int_equal(us, -500000);
    for (size_t i = 0; i < N_OF(bad); i++)
        assert_false(st_parse_rfc3339(bad[i], strlen(bad[i]), &us));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_known_answers_come_out),
        cmocka_unit_test(any_two_texts_in_any_parts_hash_as_one_text),
        cmocka_unit_test(hex_is_right_for_every_byte_and_length),
        cmocka_unit_test(base64_has_one_form_only),
        cmocka_unit_test(times_are_read_as_they_are_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
