/* mountinfo: every field, octal escapes, hostile lines, and which mount covers a path. */
#include "base/mountinfo.h"
#include "unit.h"

static const char text[] =
    "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "23 22 0:21 / /proc rw,nosuid - proc proc rw\n"
    "40 22 0:99 /sub\\040dir /mnt/a\\011b ro,nodev master:2 propagate_from:3 - overlay over\\134lay "
    "rw,lowerdir=/x\n"
    "41 40 0:100 / /mnt/a\\011b/inner rw - tmpfs tmpfs rw,size=1k\n"
    "not a mount\n"
    "42 22 nonsense / /x rw - tmpfs tmpfs rw\n"
    "43 22 0:5 / /y rw tmpfs tmpfs rw\n"
    "44 22 0:6 / /mnt rw - tmpfs second rw";

static void every_field_is_read(void **state)
{
    st_auto_mounts m = {0};

    (void)state;
    st_mounts_parse(text, strlen(text), &m);
    assert_int_equal(m.n, 5);
    assert_int_equal(m.list[2].id, 40);
    assert_int_equal(m.list[2].parent, 22);
    assert_int_equal(m.list[2].major, 0);
    assert_int_equal(m.list[2].minor, 99);
    assert_string_equal(m.list[2].root, "/sub dir");
    assert_string_equal(m.list[2].point, "/mnt/a\tb");
    assert_string_equal(m.list[2].options, "ro,nodev");
    assert_string_equal(m.list[2].type, "overlay");
    assert_string_equal(m.list[2].source, "over\\lay");
    assert_string_equal(m.list[2].super, "rw,lowerdir=/x");
}

static void a_mount_without_a_source_is_a_mount(void **state)
{
    static const char line[] = "50 22 0:7 / /z rw - tmpfs  rw,size=1k\n";
    st_auto_mounts m = {0};

    (void)state;
    st_mounts_parse(line, strlen(line), &m);
    assert_int_equal(m.n, 1);
    assert_string_equal(m.list[0].point, "/z");
    assert_string_equal(m.list[0].source, "");
    assert_string_equal(m.list[0].super, "rw,size=1k");
}

static void a_path_is_covered_by_the_nearest_mount(void **state)
{
    static const struct {
        const char *path, *point;
    } cases[] = {
        {"/", "/"},
        {"/etc", "/"},
        {"/proc", "/proc"},
        {"/proc/1", "/proc"},
        {"/procx", "/"},
        {"/mnt", "/mnt"},
        {"/mnt/a\tb/c", "/mnt/a\tb"},
        {"/mnt/a\tb/inner/x", "/mnt/a\tb/inner"},
        {"/mnt/ab", "/mnt"},
    };
    st_auto_mounts m = {0};

    (void)state;
    st_mounts_parse(text, strlen(text), &m);
    for (size_t i = 0; i < N_OF(cases); i++)
        assert_string_equal(st_mounts_cover(&m, cases[i].path)->point, cases[i].point);
}

static void an_option_is_a_whole_word(void **state)
{
    (void)state;
    assert_true(st_option_has("rw,freezer", "freezer"));
    assert_true(st_option_has("freezer,rw", "freezer"));
    assert_true(st_option_has("freezer", "freezer"));
    assert_false(st_option_has("freezerx", "freezer"));
    assert_false(st_option_has("xfreezer", "freezer"));
    assert_false(st_option_has("", "freezer"));
    assert_false(st_option_has(NULL, "freezer"));
}

static void our_own_mounts_can_be_read(void **state)
{
    st_auto_mounts m = {0};
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_mounts_read(0, &m, &err), 0);
    assert_true(m.n > 0);
    assert_non_null(st_mounts_cover(&m, "/"));
    st_mounts_free(&m);
    assert_true(st_mounts_read(-5, &m, &err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_read),
        cmocka_unit_test(a_mount_without_a_source_is_a_mount),
        cmocka_unit_test(a_path_is_covered_by_the_nearest_mount),
        cmocka_unit_test(an_option_is_a_whole_word),
        cmocka_unit_test(our_own_mounts_can_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
