/* Hashes of files: read once, read again when the kernel says that something changed, never while it is too
 * large; and whether somebody writes. */
#include "monitor/hashes.h"

#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HELLO "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define WORLD "486ea46224d1bb4fb680f34f7c9ad96a8f24ec88be73ea8e5a6c65260e9cb8a7"

static struct st_hashes hashes;
static char path[] = "/tmp/st-hashes.XXXXXX";
static int fd = -1;

static int set_up(void **state)
{
    (void)state;
    memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
    memset(&hashes, 0, sizeof(hashes));
    fd = mkstemp(path);
    return fd < 0 || write(fd, "hello", 5) != 5;
}

static int tear_down(void **state)
{
    (void)state;
    close(fd);
    return unlink(path);
}

static bool hash(uint64_t most, bool fresh, char out[65])
{
    struct statx sx;

    assert_int_equal(statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &sx), 0);
    return st_hashes_of(&hashes, fd, &sx, most, fresh, out);
}

static void a_file_is_read_until_it_has_settled(void **state)
{
    const struct timespec while_ = {1, 100000000};
    char hex[65];

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_true(hash(100, false, hex));
        assert_string_equal(hex, HELLO);
    }
    assert_int_equal(hashes.read, 2); /* changed a moment ago: it may again, within the same tick */
    nanosleep(&while_, NULL);
    for (int i = 0; i < 3; i++)
        assert_true(hash(100, false, hex));
    assert_int_equal(hashes.read, 3);
    assert_true(hash(100, true, hex));
    assert_int_equal(hashes.read, 4);
    assert_int_equal(pwrite(fd, "world", 5, 0), 5);
    assert_true(hash(100, false, hex));
    assert_string_equal(hex, WORLD);
}

static void what_is_too_large_is_not_read(void **state)
{
    char hex[65];

    (void)state;
    assert_false(hash(4, false, hex));
    assert_true(hash(5, false, hex));
    assert_int_equal(ftruncate(fd, 1 << 30), 0);
    assert_false(hash(1 << 20, false, hex));
    assert_int_equal(hashes.read, 1);
}

static void who_writes_is_seen(void **state)
{
    int reader = open(path, O_RDONLY);

    (void)state;
    assert_true(st_is_being_written(reader));
    close(fd);
    fd = dup(reader);
    assert_false(st_is_being_written(reader));
    assert_false(st_is_being_written(reader)); /* nothing stays behind */
    close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_read_until_it_has_settled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_too_large_is_not_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_writes_is_seen, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
