/* Tunnels through DNS are seen before much has left, and what programs ask for all day is not taken for one.
 */
#include "sensors/net/dns_tally.h"

#include "net_unit.h"

#define A 1
#define TXT 16
#define SEED 0x243f6a8885a308d3u

static struct st_dns_tally *tally;

static int make_tally(void **state)
{
    (void)state;
    tally = st_dns_tally_new(8, SEED);
    return 0;
}

static int free_tally(void **state)
{
    (void)state;
    st_dns_tally_free(tally);
    return 0;
}

static unsigned ask(const char *name, uint16_t type, int64_t ms)
{
    return st_dns_tally_ask(tally, st_str(name), type, ms);
}

/* Base32 of numbers that nobody foresees, n characters, with a dot after each `label`. */
static void random_text(char *out, size_t n, size_t label, uint64_t *at)
{
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        *at = *at * 6364136223846793005u + 1442695040888963407u;
        if (i && i % label == 0)
            out[used++] = '.';
        out[used++] = "abcdefghijklmnopqrstuvwxyz234567"[*at >> 59];
    }
    out[used] = '\0';
}

/* How many queries of this kind go by before one is suspect; most at the most. */
static unsigned queries_until_seen(size_t n, size_t label, const char *suffix, uint16_t type, unsigned most,
                                   unsigned *is)
{
    uint64_t at = n;

    for (unsigned i = 0; i < most; i++) {
        char data[256], name[300];

        random_text(data, n, label, &at);
        snprintf(name, sizeof(name), "%s.%s", data, suffix);
        *is = ask(name, type, i * 100);
        if (*is)
            return i;
    }
    return most;
}

/* ---- what is suspect ---- */

static void a_tunnel_that_fills_its_names_is_seen_at_once(void **state)
{
    unsigned is;

    (void)state;
    assert_int_equal(queries_until_seen(200, 57, "t.evil.example", A, 10, &is), 0);
    assert_int_equal(is, ST_DNS_LONG);
}

static void a_long_name_of_short_labels_is_seen_too(void **state)
{
    unsigned is;

    (void)state;
    assert_int_equal(queries_until_seen(160, 40, "evil.example", A, 10, &is), 0);
    assert_int_equal(is, ST_DNS_LONG);
}

/* Without anything random about it: 60 bytes a name, of two letters. */
static void many_bytes_in_names_are_seen(void **state)
{
    unsigned is = 0, n = 0;

    (void)state;
    for (; n < 1000 && !is; n++) {
        char name[128];

        for (unsigned i = 0; i < 50; i++)
            name[i] = i < 10 && n >> i & 1 ? 'b' : 'a';
        memcpy(name + 50, ".aaaaaaaaaa.evil.example", sizeof(".aaaaaaaaaa.evil.example"));
        is = ask(name, A, n);
    }
    assert_int_equal(is, ST_DNS_VOLUME);
    assert_in_range(n, 50, 52); /* two names may share a bit */
}

static void a_tunnel_with_names_of_middle_length_is_seen_soon(void **state)
{
    unsigned is, n = queries_until_seen(60, 30, "evil.example", A, 1000, &is);

    (void)state;
    assert_int_equal(n, 15);
    assert_int_equal(is, ST_DNS_RANDOM);
}

static void a_tunnel_with_short_names_is_seen_before_two_thousand_bytes(void **state)
{
    unsigned is, n = queries_until_seen(12, 63, "evil.example", A, 1000, &is);

    (void)state;
    assert_true(n * 12 < 2000);
    assert_int_equal(is, ST_DNS_MANY);
}

static void names_with_bytes_of_no_host_are_suspect(void **state)
{
    (void)state;
    assert_int_equal(ask("a\\195\\188b.evil.example", A, 0), ST_DNS_BYTES);
}

static void types_that_only_tunnels_ask_for_are_suspect(void **state)
{
    static const uint16_t types[] = {0, 10, 25, 251, 252, 65280, 65399, 65535};

    (void)state;
    for (size_t i = 0; i < N_OF(types); i++)
        assert_int_equal(ask("a.example", types[i], 0), ST_DNS_TYPE);
}

static void rare_types_are_suspect_when_there_are_many(void **state)
{
    (void)state;
    for (int i = 0; i < 19; i++)
        assert_int_equal(ask("_dmarc.mail.example", TXT, i), 0);
    assert_int_equal(ask("_dmarc.mail.example", TXT, 19), ST_DNS_TYPE);
}

static void one_name_asked_for_without_end_is_suspect(void **state)
{
    int i = 0;

    (void)state;
    while (i < 20000 && ask("a.evil.example", A, i) == 0)
        i++;
    assert_int_equal(i, 14999);
    assert_int_equal(ask("a.evil.example", A, i), ST_DNS_OFTEN);
}

/* ---- what is not ---- */

static void names_of_every_day_are_not_suspect(void **state)
{
    static const char *const names[] = {
        "api.openai.com",
        "api.anthropic.com",
        "api.stripe.com",
        "github.com",
        "api.github.com",
        "codeload.github.com",
        "objects.githubusercontent.com",
        "raw.githubusercontent.com",
        "registry.packages.example.org",
        "storage.googleapis.com",
        "mirror.linux.example.org",
        "security.linux.example.org",
        "d1a2b3c4d5e6f7.cloudfront.net",
        "d36cz9buwru1tt.cloudfront.net",
        "my-bucket-with-a-long-name.s3.eu-central-1.amazonaws.com",
        "ec2-52-59-241-1.eu-central-1.compute.amazonaws.com",
        "internal-a3f9c1d2e4b5-1234567890.us-east-1.elb.amazonaws.com",
        "login.microsoftonline.com",
        "sts.us-east-1.amazonaws.com",
        "oauth2.googleapis.com",
        "www.bbc.co.uk",
        "www.abc.net.au",
        "production.cloudflare.docker.com",
        "auth.docker.io",
        "registry-1.docker.io",
        "ghcr.io",
        "pkg-containers.githubusercontent.com",
        "huggingface.co",
        "cdn-lfs-us-1.huggingface.co",
        "localhost",
        "4.3.2.1.in-addr.arpa",
        "_https._tcp.example.org",
        "xn--bcher-kva.example",
        ".",
    };

    (void)state;
    for (int round = 0; round < 30; round++)
        for (size_t i = 0; i < N_OF(names); i++) {
            unsigned is = ask(names[i], round % 2 ? A : 28, round * 1000);

            if (is)
                fail_msg("%s: %u", names[i], is);
        }
}

static void what_was_asked_long_ago_does_not_count(void **state)
{
    unsigned is;

    (void)state;
    for (int64_t window = 0; window < 20; window++)
        for (int i = 0; i < 15; i++) {
            char data[64], name[128];
            uint64_t at = (uint64_t)(window * 100 + i);

            random_text(data, 40, 63, &at);
            snprintf(name, sizeof(name), "%s.cdn.example", data);
            is = ask(name, A, window * ST_DNS_WINDOW_MS + i);
            assert_int_equal(is, 0);
        }
}

/* ---- how it is told ---- */

static void the_suffix_is_what_somebody_registered(void **state)
{
    static const char *const rows[][2] = {
        {"www.example.com", "example.com"},
        {"example.com", "example.com"},
        {"a.b.c.example.co.uk", "example.co.uk"},
        {"example.co.uk", "example.co.uk"},
        {"co.uk", "co.uk"},
        {"localhost", "localhost"},
        {"a.com.example", "com.example"},
        {".", "."},
        {"a.b\\046c.de", "b\\046c.de"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct st_dns_look look;

        st_dns_look(st_str(rows[i][0]), A, &look);
        assert_int_equal(look.suffix.len, strlen(rows[i][1]));
        assert_memory_equal(look.suffix.p, rows[i][1], look.suffix.len);
    }
}

static void entropy_is_that_of_the_labels_before_the_suffix(void **state)
{
    static const struct {
        const char *name;
        unsigned below, entropy;
    } rows[] = {
        {"aaaa.example.com", 4, 0},          {"abab.example.com", 4, 1000}, {"ab.cd.example.com", 4, 2000},
        {"abcdefgh.example.com", 8, 3000},   {"aab.example.com", 3, 918},   {"example.com", 0, 0},
        {"\\000\\001.example.com", 2, 1000},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct st_dns_look look;

        st_dns_look(st_str(rows[i].name), A, &look);
        assert_int_equal(look.below, rows[i].below);
        assert_in_range(look.entropy + 3, rows[i].entropy, rows[i].entropy + 6);
    }
}

static void suffixes_without_room_are_forgotten_and_counted(void **state)
{
    char name[64];

    (void)state;
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof(name), "a.domain%d.example%d", i, i);
        ask(name, A, i);
    }
    assert_int_equal(st_dns_tally_forgotten(tally), 0);
    ask("a.one.more", A, 8);
    assert_int_equal(st_dns_tally_forgotten(tally), 1);
    ask("a.domain1.example1", A, 9); /* still there: the first was silent longest */
    assert_int_equal(st_dns_tally_forgotten(tally), 1);
    ask("a.later.example", A, 10 * (int64_t)ST_DNS_WINDOW_MS); /* what is over is no loss */
    assert_int_equal(st_dns_tally_forgotten(tally), 1);
}

static void every_suspicion_has_words(void **state)
{
    (void)state;
    for (unsigned bit = 1; bit < ST_DNS_SUSPICIONS; bit *= 2)
        assert_true(strlen(st_dns_suspicion_text((enum st_dns_suspicion)bit)) > 0);
}

#define WITH_A_TALLY(test) cmocka_unit_test_setup_teardown(test, make_tally, free_tally)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_A_TALLY(a_tunnel_that_fills_its_names_is_seen_at_once),
        WITH_A_TALLY(a_long_name_of_short_labels_is_seen_too),
        WITH_A_TALLY(many_bytes_in_names_are_seen),
        WITH_A_TALLY(a_tunnel_with_names_of_middle_length_is_seen_soon),
        WITH_A_TALLY(a_tunnel_with_short_names_is_seen_before_two_thousand_bytes),
        WITH_A_TALLY(names_with_bytes_of_no_host_are_suspect),
        WITH_A_TALLY(types_that_only_tunnels_ask_for_are_suspect),
        WITH_A_TALLY(rare_types_are_suspect_when_there_are_many),
        WITH_A_TALLY(one_name_asked_for_without_end_is_suspect),
        WITH_A_TALLY(names_of_every_day_are_not_suspect),
        WITH_A_TALLY(what_was_asked_long_ago_does_not_count),
        cmocka_unit_test(the_suffix_is_what_somebody_registered),
        cmocka_unit_test(entropy_is_that_of_the_labels_before_the_suffix),
        WITH_A_TALLY(suffixes_without_room_are_forgotten_and_counted),
        cmocka_unit_test(every_suspicion_has_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
