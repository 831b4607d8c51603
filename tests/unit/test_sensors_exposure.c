/* Which mounts show a place of the machine, and what a process that is no container reaches. */
#include "sensors/exposure.h"
#include "sensors/places.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char table[] = "20 1 8:1 / / rw - ext4 /dev/sda rw\n"
                            "21 20 0:5 / /run rw - tmpfs tmpfs rw\n"
                            "22 20 8:1 /srv/data /data rw - ext4 /dev/sda rw\n";

static struct st_mount mount_of(unsigned major, unsigned minor, const char *root)
{
    return (struct st_mount){.major = major, .minor = minor, .root = root, .options = "rw", .super = "rw"};
}

static void a_place_is_known_by_device_and_path(void **state)
{
    char path[] = "/etc/keys";
    const struct st_place keys = {.major = 8, .minor = 1, .path = path};
    static const struct {
        unsigned minor;
        const char *root;
        bool in, above;
    } cases[] = {
        {1, "/", true, false},           {1, "/etc", true, false},       {1, "/etc/keys", true, true},
        {1, "/etc/keys/a", false, true}, {1, "/etc/key", false, false},  {1, "/etc/keys2", false, false},
        {2, "/", false, false},          {2, "/etc/keys", false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct st_mount m = mount_of(8, cases[i].minor, cases[i].root);

        assert_int_equal(st_place_in(&keys, &m), cases[i].in);
        assert_int_equal(st_place_above(&keys, &m), cases[i].above);
    }
}

static void what_is_there_is_found_through_links(void **state)
{
    char dir[] = "/tmp/places.XXXXXX", link[64];
    st_auto_mounts host = {0};
    st_auto_places places = {0};

    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(link, sizeof(link), "%s/link", dir);
    assert_int_equal(symlink(dir, link), 0);
    st_mounts_parse(table, strlen(table), &host);
    st_places_add(&places, &host, link, 7);
    st_places_add(&places, &host, "/nonexistent/x", 7);
    st_places_add(&places, &host, "/", 8);
    assert_int_equal(places.n, 2);
    assert_string_equal(places.list[0].name, dir);
    assert_string_equal(places.list[0].path, dir);
    assert_true(places.list[0].major == 8 && places.list[0].minor == 1 && places.list[0].kind == 7);
    assert_string_equal(places.list[1].path, "/");
    unlink(link);
    rmdir(dir);
}

static void who_is_no_container_reaches_everything(void **state)
{
    static const char *const secret[] = {"/tmp", NULL}, *const none[] = {NULL};
    st_auto_mount_tables mounts = {0};
    st_auto_places places = {0};
    struct st_exposure_order order = {.pid = getpid(), .rootfs = "/", .mounts = &mounts, .places = &places};
    struct st_exposed found;
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_mount_tables_read(getpid(), &mounts, &err), 0);
    st_exposure_gather(&mounts.ours, secret, none, &places);
    assert_int_equal(st_exposure_find(&order, &found, &err), 0);
    assert_non_null(strstr(found.what[ST_EXPOSED_PIDS], "it shares their pid namespace"));
    assert_non_null(strstr(found.what[ST_EXPOSED_US], "/tmp through its mount /"));
    order.rootfs = "/nonexistent";
    assert_true(st_exposure_find(&order, &found, &err) < 0);
    assert_non_null(strstr(err.msg, "is not among its mounts"));
    order.pid = 0x7ffffff0;
    assert_true(st_exposure_find(&order, &found, &err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_known_by_device_and_path),
        cmocka_unit_test(what_is_there_is_found_through_links),
        cmocka_unit_test(who_is_no_container_reaches_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
