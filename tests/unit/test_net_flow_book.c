/* The book of flows: each once, none lost, no more than there is room for. */
#include "sensors/net/flow_book.h"

#include "unit.h"

#include <malloc.h>
#include <netinet/in.h>

static struct st_flow_tuple tuple(uint8_t protocol, const char *src, uint16_t src_port, const char *dst,
                                  uint16_t dst_port)
{
    struct st_flow_tuple t = {.protocol = protocol, .src_port = src_port, .dst_port = dst_port};

    assert_true(st_addr_parse(st_str(src), &t.src));
    assert_true(st_addr_parse(st_str(dst), &t.dst));
    return t;
}

static struct st_flow_tuple nth(uint32_t i)
{
    struct st_flow_tuple t = tuple(IPPROTO_TCP, "10.0.0.2", (uint16_t)i, "192.0.2.1", 443);

    t.dst.bytes[2] = (uint8_t)(i >> 16);
    return t;
}

static void flows_that_differ_in_anything_are_different_flows(void **state)
{
    const struct st_flow_tuple all[] = {
        tuple(IPPROTO_TCP, "10.0.0.2", 1, "192.0.2.1", 443),
        tuple(IPPROTO_UDP, "10.0.0.2", 1, "192.0.2.1", 443),
        tuple(IPPROTO_TCP, "10.0.0.3", 1, "192.0.2.1", 443),
        tuple(IPPROTO_TCP, "10.0.0.2", 2, "192.0.2.1", 443),
        tuple(IPPROTO_TCP, "10.0.0.2", 1, "192.0.2.2", 443),
        tuple(IPPROTO_TCP, "10.0.0.2", 1, "192.0.2.1", 80),
        tuple(IPPROTO_TCP, "192.0.2.1", 443, "10.0.0.2", 1),
        tuple(IPPROTO_TCP, "2001:db8::1", 1, "2001:db8::2", 443),
        tuple(IPPROTO_ICMP, "10.0.0.2", 0, "192.0.2.1", 0),
    };
    struct st_flow_book *book = st_flow_book_new(N_OF(all));

    (void)state;
    for (size_t i = 0; i < N_OF(all); i++) {
        assert_null(st_flow_book_find(book, &all[i]));
        st_flow_book_add(book, &all[i], (int64_t)i)->rule = (uint32_t)i;
    }
    assert_int_equal(st_flow_book_count(book), N_OF(all));
    for (size_t i = 0; i < N_OF(all); i++) {
        struct st_flow_entry *entry = st_flow_book_find(book, &all[i]);

        assert_int_equal(entry->rule, i);
        assert_int_equal(entry->since_ms, i);
    }
    st_flow_book_free(book);
}

static void a_flow_is_read_from_its_packet(void **state)
{
    static const struct {
        uint8_t protocol, icmp_type;
        size_t len;
        uint16_t src_port, dst_port; /* expected */
    } cases[] = {
        {IPPROTO_UDP, 0, 8, 1000, 53},
        {IPPROTO_ICMP, 8, 8, 0xabcd, 0xabcd}, /* an echo, and its answer */
        {IPPROTO_ICMP, 0, 8, 0xabcd, 0xabcd},
        {IPPROTO_ICMPV6, 128, 8, 0xabcd, 0xabcd},
        {IPPROTO_ICMPV6, 129, 8, 0xabcd, 0xabcd},
        {IPPROTO_ICMP, 8, 7, 0, 0},
        {IPPROTO_ICMP, 3, 8, 0, 0},
        {IPPROTO_ICMPV6, 8, 8, 0, 0},
    };
    static const uint8_t payload[8] = {0, 0, 0, 0, 0xab, 0xcd, 0, 1};

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        bool ports = cases[i].protocol == IPPROTO_UDP;
        struct st_packet packet = {
            .protocol = cases[i].protocol,
            .icmp_type = cases[i].icmp_type,
            .src_port = ports ? 1000 : 0,
            .dst_port = ports ? 53 : 0,
            .payload = payload,
            .payload_len = cases[i].len,
        };
        struct st_flow_tuple t = st_flow_tuple_of(&packet);

        assert_int_equal(t.src_port, cases[i].src_port);
        assert_int_equal(t.dst_port, cases[i].dst_port);
        packet.fragment = !ports;
        assert_int_equal(st_flow_tuple_of(&packet).src_port, ports ? 1000 : 0);
    }
}

static void a_flow_is_in_the_book_once(void **state)
{
    struct st_flow_book *book = st_flow_book_new(4);
    struct st_flow_tuple t = nth(1);
    struct st_flow_entry *entry = st_flow_book_add(book, &t, 5);

    (void)state;
    entry->sent = 17;
    assert_ptr_equal(st_flow_book_add(book, &t, 9), entry);
    assert_int_equal(entry->since_ms, 5);
    assert_int_equal(entry->sent, 17);
    assert_int_equal(st_flow_book_count(book), 1);
    st_flow_book_free(book);
}

static void a_full_book_says_so_and_keeps_what_it_has(void **state)
{
    struct st_flow_book *book = st_flow_book_new(2);
    struct st_flow_tuple one = nth(1), two = nth(2), three = nth(3);

    (void)state;
    assert_non_null(st_flow_book_add(book, &one, 0));
    assert_non_null(st_flow_book_add(book, &two, 0));
    assert_null(st_flow_book_add(book, &three, 0));
    assert_non_null(st_flow_book_add(book, &two, 0)); /* known */
    assert_non_null(st_flow_book_find(book, &one));
    st_flow_book_remove(book, st_flow_book_find(book, &one));
    assert_null(st_flow_book_find(book, &one));
    assert_non_null(st_flow_book_add(book, &three, 0));
    st_flow_book_free(book);
}

static void what_a_flow_is_called_belongs_to_it(void **state)
{
    struct st_flow_book *book = st_flow_book_new(2);
    struct st_flow_tuple t = nth(1);
    struct st_flow_entry *entry = st_flow_book_add(book, &t, 0);
    char name[] = "a.test and more";

    (void)state;
    assert_null(entry->host);
    st_flow_set_host(entry, (struct st_str){name, 6}, ST_HOST_DNS);
    name[0] = 'x';
    assert_string_equal(entry->host, "a.test");
    st_flow_set_host(entry, st_str(entry->host), ST_HOST_SNI);
    assert_string_equal(entry->host, "a.test");
    assert_int_equal(entry->host_source, ST_HOST_SNI);
    st_flow_set_exe(entry, ST_STR_LIT("/usr/bin/curl"));
    assert_string_equal(entry->exe, "/usr/bin/curl");
    st_flow_set_exe(entry, (struct st_str){0});
    assert_null(entry->exe);
    st_flow_book_free(book);
}

static void flows_are_walked_in_the_order_in_which_they_came(void **state)
{
    struct st_flow_book *book = st_flow_book_new(100);
    uint32_t seen = 0;

    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        struct st_flow_tuple t = nth(i);

        st_flow_book_add(book, &t, 0)->rule = i;
    }
    for (struct st_flow_entry *e = st_flow_book_first(book), *next; e; e = next) {
        next = st_flow_book_next(e);
        assert_int_equal(e->rule, seen++);
        if (e->rule % 2)
            st_flow_book_remove(book, e);
    }
    assert_int_equal(seen, 100);
    assert_int_equal(st_flow_book_count(book), 50);
    st_flow_book_free(book);
}

static size_t in_use(void)
{
    struct mallinfo2 m = mallinfo2();

    return m.uordblks + m.hblkhd;
}

static void many_flows_fit_and_an_empty_book_is_small(void **state)
{
    enum { MANY = 65536 };
    size_t before = in_use(), n_found = 0;
    struct st_flow_book *book = st_flow_book_new(MANY);

    (void)state;
    assert_true(in_use() - before < 256);
    for (uint32_t i = 0; i < MANY; i++) {
        struct st_flow_tuple t = nth(i * 7);

        assert_non_null(st_flow_book_add(book, &t, i));
    }
    print_message("%d flows: %zu bytes each\n", MANY, (in_use() - before) / MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        struct st_flow_tuple t = nth(i * 7);

        n_found += st_flow_book_find(book, &t)->since_ms == i;
    }
    assert_int_equal(n_found, MANY);
    while (st_flow_book_first(book))
        st_flow_book_remove(book, st_flow_book_first(book));
    assert_true(in_use() - before < 8192); /* what malloc keeps at hand */
    st_flow_book_free(book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_that_differ_in_anything_are_different_flows),
        cmocka_unit_test(a_flow_is_read_from_its_packet),
        cmocka_unit_test(a_flow_is_in_the_book_once),
        cmocka_unit_test(a_full_book_says_so_and_keeps_what_it_has),
        cmocka_unit_test(what_a_flow_is_called_belongs_to_it),
        cmocka_unit_test(flows_are_walked_in_the_order_in_which_they_came),
        cmocka_unit_test(many_flows_fit_and_an_empty_book_is_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
