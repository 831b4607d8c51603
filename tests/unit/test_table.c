/* The keyed hash by its authors' own figures, and the table against the simplest there is. */
#include "base/keyed_hash.h"
#include "base/table.h"

#include "unit.h"

#include <stdbool.h>

/* The vectors of the paper's appendix and of its reference code: bytes 0, 1, 2 …, key 0 … 15. */
static void the_hash_is_siphash(void **state)
{
    static const struct {
        size_t n;
        uint64_t hash;
    } cases[] = {
        {0, 0x726fdb47dd0e0e31}, {1, 0x74f839c593dc67fd}, {7, 0xab0200f58b01d137},
        {8, 0x93f5f5799a932462}, {9, 0x9e0082df0ba9e4b0}, {15, 0xa129ca6149be45e5},
    };
    const struct st_hash_key key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    uint8_t bytes[16];

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)i;
    for (size_t i = 0; i < N_OF(cases); i++)
        assert_int_equal(st_keyed_hash(&key, bytes, cases[i].n), cases[i].hash);
    assert_int_equal(st_keyed_hash(&key, NULL, 0), cases[0].hash);
}

static void keys_differ(void **state)
{
    struct st_hash_key a = st_hash_key_random(), b = st_hash_key_random();

    (void)state;
    assert_true(a.k0 != b.k0 && a.k1 != b.k1);
    assert_true(st_keyed_hash(&a, "x", 1) != st_keyed_hash(&b, "x", 1));
}

struct thing {
    int number;
    bool in;
    struct st_table_link link;
};

static struct thing *find(const struct st_table *t, int number, uint64_t hash)
{
    struct st_table_link *link = st_table_find(t, hash);

    while (link && st_table_entry(link, struct thing, link)->number != number)
        link = st_table_find_next(link);
    return link ? st_table_entry(link, struct thing, link) : NULL;
}

/* Hashes that are often equal, and equal in their low bits more often. */
static uint64_t bad_hash(int number)
{
    return (uint64_t)(number % 97) << 8;
}

static void what_is_in_is_found_and_nothing_else(void **state)
{
    static struct thing things[2000];
    struct st_table t = {0};
    unsigned random = 1;
    size_t n = 0;

    (void)state;
    for (int round = 0; round < 50000; round++) {
        struct thing *one = &things[(random = random * 1103515245 + 12345) / 65536 % N_OF(things)];

        one->number = (int)(one - things);
        assert_ptr_equal(find(&t, one->number, bad_hash(one->number)), one->in ? one : NULL);
        if (!one->in)
            st_table_add(&t, &one->link, bad_hash(one->number));
        else if (round % 3)
            st_table_remove(&t, &one->link);
        else
            st_table_touch(&t, &one->link);
        if (!one->in || round % 3) {
            one->in = !one->in;
            n += one->in ? 1 : -1ul;
        }
        assert_int_equal(t.n, n);
    }
    while (t.oldest)
        st_table_remove(&t, t.oldest);
    assert_int_equal(t.n, 0);
    assert_null(t.buckets);
}

static void the_order_is_that_of_the_last_touch(void **state)
{
    struct thing things[40] = {0};
    struct st_table t = {0};
    int at = 0;

    (void)state;
    for (int i = 0; i < 40; i++) {
        things[i].number = i;
        st_table_add(&t, &things[i].link, 5);
    }
    for (int i = 0; i < 40; i += 2)
        st_table_touch(&t, &things[i].link);
    for (struct st_table_link *link = t.oldest; link; link = link->newer, at++)
        assert_int_equal(st_table_entry(link, struct thing, link)->number,
                         at < 20 ? 2 * at + 1 : 2 * (at - 20));
    assert_int_equal(at, 40);
    assert_int_equal(st_table_entry(st_table_find(&t, 5), struct thing, link)->number, 38);
    while (t.newest)
        st_table_remove(&t, t.newest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_siphash),
        cmocka_unit_test(keys_differ),
        cmocka_unit_test(what_is_in_is_found_and_nothing_else),
        cmocka_unit_test(the_order_is_that_of_the_last_touch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
