/* Names, addresses, ports, syscalls: every rule of the format, and the traps. */
#include "model/host.h"

#include "policy_unit.h"

static const struct {
    const char *pattern, *host;
    bool matches;
} host_rows[] = {
    {"api.stripe.com", "api.stripe.com", true},
    {"api.stripe.com", "API.Stripe.COM", true},
    {"API.Stripe.Com", "api.stripe.com", true},
    {"api.stripe.com", "api.stripe.com.", true},
    {"api.stripe.com.", "api.stripe.com", true},
    {"api.stripe.com", "foo.stripe.com", false},
    {"api.stripe.com", "api.stripe.com.evil.com", false},
    {"api.stripe.com", "xapi.stripe.com", false},
    {"api.stripe.com", "stripe.com", false},
    {"*.stripe.com", "api.stripe.com", true},
    {"*.stripe.com", "evilstripe.com", false},
    {"*.stripe.com", "stripe.com", false},
    {"*.stripe.com", ".stripe.com", false},
    {"*.stripe.com", "a.b.stripe.com", false},
    {"*.stripe.com", "stripe.com.evil.com", false},
    {"*.stripe.com", "api.stripe.com.evil.com", false},
    {"**.stripe.com", "api.stripe.com", true},
    {"**.stripe.com", "a.b.c.stripe.com", true},
    {"**.stripe.com", "stripe.com", false},
    {"**.stripe.com", "evilstripe.com", false},
    {"**.stripe.com", "a.b.evilstripe.com", false},
    {"**.stripe.com", "stripe.com.evil.com", false},
    {"**", "anything.example", true},
    {"**", "localhost", true},
    {"**", "", false},
    {"**", "a..b", false},
    {"**", "1.2.3.4", false}, /* an address is no name */
    {"**", "1.2.3.4.", false},
    {"**", "0x7f000001.", false},
    {"*.3.4", "1.2.3.4", false},
    {"localhost", "localhost", true},
    {"b\xc3\xbc"
     "cher.example",
     "xn--bcher-kva.example", true},
    {"xn--bcher-kva.example",
     "b\xc3\xbc"
     "cher.example",
     true},
    {"B\xc3\x9c"
     "CHER.example",
     "xn--bcher-kva.example", true},
    {"b\xc3\xbc"
     "cher.example",
     "bucher.example", false},
    {"*.\xe4\xbe\x8b\xe3\x81\x88.jp", "www.xn--r8jz45g.jp", true},
    {"stripe.com", "str\xd1\x96pe.com", false}, /* a Cyrillic letter that looks the same */
    {"_dmarc.example.com", "_dmarc.example.com", true},
    {"api.stripe.com", "api.stripe.com\n", false},
    {"api.stripe.com", "api.stripe.com..", false},
    {"api.stripe.com", " api.stripe.com", false},
};

static void hosts_match_by_label(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(host_rows); i++) {
        char text[512];
        st_auto_policy policy = NULL;
        struct st_event e = flow(host_rows[i].host, NULL, 443, IPPROTO_TCP);

        snprintf(text, sizeof(text),
                 "schema_version: \"2.0\"\nrules: [{ id: r, type: network_egress, destinations: [{ host: "
                 "'%s' }] }]\n",
                 host_rows[i].pattern);
        policy = load(text);
        if ((one(policy, e).result == ST_ALLOW) != host_rows[i].matches)
            fail_msg("%s %s '%s'", host_rows[i].pattern,
                     host_rows[i].matches ? "should match" : "must not match", host_rows[i].host);
    }
}

static void a_name_with_a_nul_is_not_a_shorter_name(void **state)
{
    st_auto_policy policy =
        load("schema_version: \"2.0\"\nrules: [{ id: r, type: network_egress, destinations: [{ host: "
             "'api.stripe.com' }, { host: '**.evil.com' }] }]\n");
    struct st_event e = flow(NULL, NULL, 443, IPPROTO_TCP);

    (void)state;
    e.net.host = (struct st_str){"api.stripe.com\0.evil.com", 24};
    assert_int_equal(one(policy, e).result, ST_DENY);
    e.net.host = (struct st_str){"api.stripe.com\0", 15};
    assert_int_equal(one(policy, e).result, ST_DENY);
}

static void names_are_canonical_or_nothing(void **state)
{
    static const char *const rows[][2] = {
        {"Example.COM", "example.com"},
        {"example.com.", "example.com"},
        {"m\xc3\xbcnchen.de", "xn--mnchen-3ya.de"},
        {"\xce\x95\xce\xbb\xce\xbb\xce\xac\xce\xb4\xce\xb1.gr", "xn--hxakic4aa.gr"},
        {"\xd0\x9f\xd1\x80\xd0\xb8\xd0\xbc\xd0\xb5\xd1\x80.\xd1\x80\xd1\x84", "xn--e1afmkfd.xn--p1ai"},
        {"", ""},
        {".", ""},
        {"a..b", ""},
        {".a", ""},
        {"a b", ""},
        {"a/b", ""},
        {"*.a", ""},
        {"\xff\xfe.com", ""},
        {"cafe\xcc\x81.fr", ""}, /* not in composed form */
        {"a\xe2\x80\x8b"
         "b.com",
         ""}, /* zero width space */
    };
    char longest[260], out[ST_HOST_SIZE];

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        size_t len = st_host_canonical(st_str(rows[i][0]), out);

        if (len != strlen(rows[i][1]) || (len && strcmp(out, rows[i][1]) != 0))
            fail_msg("'%s' gave '%.*s'", rows[i][0], (int)len, out);
    }
    memset(longest, 'a', sizeof(longest));
    assert_int_equal(st_host_canonical((struct st_str){longest, 63}, out), 63);
    assert_int_equal(st_host_canonical((struct st_str){longest, 64}, out), 0);
    for (size_t i = 3; i < sizeof(longest); i += 4)
        longest[i] = '.';
    assert_int_equal(st_host_canonical((struct st_str){longest, 253}, out), 253);
    assert_int_equal(st_host_canonical((struct st_str){longest, 254}, out), 0);
    assert_int_equal(st_host_canonical((struct st_str){longest, 255}, out), 0);
}

static void addresses_match_as_addresses(void **state)
{
    static const struct {
        const char *prefix, *addr;
        bool matches;
    } rows[] = {
        {"1.2.3.4", "1.2.3.4", true},
        {"1.2.3.4", "0x01020304", true},
        {"1.2.3.4", "16909060", true},
        {"1.2.3.4", "1.2.772", true},
        {"1.2.3.4", "01.02.03.04", true},
        {"1.2.3.4", "::ffff:1.2.3.4", true},
        {"1.2.3.4", "::ffff:102:304", true},
        {"1.2.3.4", "1.2.3.5", false},
        {"::ffff:1.2.3.4", "1.2.3.4", true},
        {"::ffff:1.2.3.0/120", "1.2.3.77", true},
        {"::ffff:0:0/96", "9.9.9.9", true},
        {"0x01020304", "1.2.3.4", true},
        {"10.0.0.0/8", "10.255.1.2", true},
        {"10.0.0.0/8", "11.0.0.0", false},
        {"10.0.0.0/8", "::ffff:10.1.1.1", true},
        {"10.128.0.0/9", "10.127.255.255", false},
        {"10.128.0.0/9", "10.128.0.0", true},
        {"169.254.169.254/32", "169.254.169.254", true},
        {"169.254.169.254", "2852039166", true},
        {"0.0.0.0/0", "8.8.8.8", true},
        {"0.0.0.0/0", "2001:db8::1", false},
        {"::/0", "2001:db8::1", true},
        {"::/0", "8.8.8.8", false},
        {"2001:db8::/32", "2001:db8:ffff::1", true},
        {"2001:db8::/32", "2001:db9::1", false},
        {"2001:db8::1", "2001:0db8:0:0::1", true},
        {"fd00:ec2::254/128", "fd00:ec2::254", true},
        {"::1", "::1", true},
        {"::1", "127.0.0.1", false},
        {"::/1", "7fff::", true},
        {"::/1", "8000::", false},
        {"2001:db8::/65", "2001:db8:0:0:7fff::", true},
        {"2001:db8::/65", "2001:db8:0:0:8000::", false},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        char text[512];
        st_auto_policy policy = NULL;
        struct st_event e = flow(NULL, rows[i].addr, 443, IPPROTO_TCP);

        snprintf(text, sizeof(text),
                 "schema_version: \"2.0\"\nrules: [{ id: r, type: network_egress, destinations: [{ cidr: "
                 "'%s' }] }]\n",
                 rows[i].prefix);
        policy = load(text);
        if ((one(policy, e).result == ST_ALLOW) != rows[i].matches)
            fail_msg("%s %s %s", rows[i].prefix, rows[i].matches ? "should hold" : "must not hold",
                     rows[i].addr);
    }
}

static void credentials_of_a_cloud_need_a_rule_that_names_them(void **state)
{
    static const struct {
        const char *dest, *addr;
        bool allowed;
    } rows[] = {
        {"{ cidr: 0.0.0.0/0 }", "169.254.169.254", false},
        {"{ cidr: 169.254.0.0/16 }", "0xa9fea9fe", false},
        {"{ cidr: 169.254.169.254 }", "2852039166", true},
        {"{ port: 80 }", "169.254.169.254", false},
        {"{ host: '**' }", "169.254.169.254", false},
        {"{ cidr: '::/0' }", "fd00:ec2::254", false},
        {"{ cidr: 'fd00:ec2::254' }", "fd00:ec2::254", true},
        {"{ cidr: 169.254.0.0/16 }", "169.254.169.253", true},
        {"{ cidr: 0.0.0.0/0 }", "::ffff:169.254.169.254", false},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        char text[512];
        st_auto_policy policy = NULL;
        struct st_event e = flow("cloud.example", rows[i].addr, 80, IPPROTO_TCP);

        snprintf(text, sizeof(text),
                 "schema_version: \"2.0\"\ndefaults: { network_egress: allow }\n"
                 "rules: [{ id: r, type: network_egress, destinations: [%s] }]\n",
                 rows[i].dest);
        policy = load(text);
        if ((one(policy, e).result == ST_ALLOW) != rows[i].allowed)
            fail_msg("%s: %s is %s", rows[i].dest, rows[i].addr, rows[i].allowed ? "refused" : "allowed");
    }
}

static void what_is_no_address_is_refused(void **state)
{
    static const char *const rows[] = {
        "",           "1.2.3.256", "256.1.1.1", "1.300.1.1", "1.2.3.4.5",        "1.2.3.",
        ".1.2.3",     "1..2",      "0x",        "08.1.1.1",  "1.2.3.4 ",         " 1.2.3.4",
        "4294967296", "1.2.65536", ":::",       "::g",       "fe80::1%lo",       "[::1]",
        "1.2.3.4/8",  "localhost", "1,2,3,4",   "0x1g",      "::ffff:1.2.3.256", "-1",
        "+1.2.3.4",   "1e3"};
    struct st_addr addr;

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++)
        if (st_addr_parse(st_str(rows[i]), &addr))
            fail_msg("'%s' is no address", rows[i]);
    assert_false(st_addr_parse((struct st_str){"1.2.3.4\0x", 9}, &addr));
    assert_false(st_addr_parse((struct st_str){"::1\0", 4}, &addr));
}

static void an_address_may_stand_in_the_place_of_a_name(void **state)
{
    st_auto_policy policy =
        load("schema_version: \"2.0\"\nrules: [{ id: r, type: network_egress, destinations: [{ host: "
             "'10.1.2.3', port: 443 }] }]\n");
    struct st_event as_text = flow("0x0a010203", NULL, 443, IPPROTO_TCP);
    struct st_event as_addr = flow(NULL, "10.1.2.3", 443, IPPROTO_TCP);
    struct st_event lying = flow("10.1.2.3", "6.6.6.6", 443, IPPROTO_TCP);

    (void)state;
    assert_int_equal(one(policy, as_text).result, ST_ALLOW);
    assert_int_equal(one(policy, as_addr).result, ST_ALLOW);
    assert_int_equal(one(policy, lying).result, ST_DENY); /* the kernel's fact wins over what was claimed */
}

static void ports_and_protocols_narrow_a_destination(void **state)
{
    st_auto_policy policy =
        load("schema_version: \"2.0\"\nrules:\n"
             "  - { id: a, type: network_egress, destinations: [{ cidr: 10.0.0.0/8, ports: [443, "
             "8000-8010], protocol: tcp }] }\n"
             "  - { id: b, type: network_egress, destinations: [{ host: dns.example, port: 53, "
             "protocol: udp }, { host: all.example }] }\n"
             "  - { id: c, type: network_egress, action: deny, destinations: [{ cidr: 11.0.0.0/8, "
             "protocol: udp }] }\n"
             "  - { id: d, type: network_egress, destinations: [{ cidr: 11.0.0.0/8 }] }\n");
    static const struct {
        const char *host, *addr;
        unsigned port, protocol;
        enum st_result result;
    } rows[] = {
        {NULL, "10.1.1.1", 443, IPPROTO_TCP, ST_ALLOW},   {NULL, "10.1.1.1", 444, IPPROTO_TCP, ST_DENY},
        {NULL, "10.1.1.1", 8000, IPPROTO_TCP, ST_ALLOW},  {NULL, "10.1.1.1", 8010, IPPROTO_TCP, ST_ALLOW},
        {NULL, "10.1.1.1", 7999, IPPROTO_TCP, ST_DENY},   {NULL, "10.1.1.1", 8011, IPPROTO_TCP, ST_DENY},
        {NULL, "10.1.1.1", 443, IPPROTO_UDP, ST_DENY},    {NULL, "10.1.1.1", 443, 0, ST_DENY},
        {"dns.example", NULL, 53, IPPROTO_UDP, ST_ALLOW}, {"dns.example", NULL, 53, IPPROTO_TCP, ST_DENY},
        {"all.example", NULL, 1, IPPROTO_SCTP, ST_ALLOW}, {NULL, "11.1.1.1", 1, IPPROTO_TCP, ST_ALLOW},
        {NULL, "11.1.1.1", 1, IPPROTO_UDP, ST_DENY},      {NULL, "11.1.1.1", 1, 0, ST_DENY},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct st_event e = flow(rows[i].host, rows[i].addr, rows[i].port, rows[i].protocol);

        if (one(policy, e).result != rows[i].result)
            fail_msg("row %zu", i);
    }
}

static void syscalls_match_by_their_whole_name(void **state)
{
    st_auto_policy policy = load(
        "schema_version: \"2.0\"\nrules: [{ id: r, type: syscall, action: deny, names: [mount, bpf] }]\n");
    static const struct {
        const char *name;
        enum st_result result;
    } rows[] = {{"mount", ST_DENY},
                {"bpf", ST_DENY},
                {"mount_setattr", ST_ALLOW},
                {"umount2", ST_ALLOW},
                {"", ST_ALLOW}};

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct st_event e = {.type = ST_EV_SYSCALL};

        e.sys.name = st_str(rows[i].name);
        if (one(policy, e).result != rows[i].result)
            fail_msg("%s", rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_match_by_label),
        cmocka_unit_test(a_name_with_a_nul_is_not_a_shorter_name),
        cmocka_unit_test(names_are_canonical_or_nothing),
        cmocka_unit_test(addresses_match_as_addresses),
        cmocka_unit_test(credentials_of_a_cloud_need_a_rule_that_names_them),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(an_address_may_stand_in_the_place_of_a_name),
        cmocka_unit_test(ports_and_protocols_narrow_a_destination),
        cmocka_unit_test(syscalls_match_by_their_whole_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
