/* What can happen to the files of a container's mounts, by its mount table and the host's. */
#include "sensors/footings.h"

#include "unit.h"

static const char host_table[] = "1 0 8:1 / / rw - ext4 /dev/sda rw\n"
                                 "2 1 0:30 / /shared rw - tmpfs tmpfs rw\n";

static const char table[] = "50 1 0:40 / /r rw - overlay overlay rw\n"
                            "51 50 0:41 / /r/proc rw - proc proc rw\n"
                            "52 50 0:42 / /r/dev rw - tmpfs tmpfs rw\n"
                            "53 50 0:40 /work /r/work rw - overlay overlay rw\n"
                            "54 50 8:1 /home/a /r/vol ro - ext4 /dev/sda rw\n"
                            "55 50 0:30 / /r/mem ro - tmpfs tmpfs rw\n"
                            "56 1 8:1 / /other rw - ext4 /dev/sda rw\n"
                            "57 50 0:40 /work/.git /r/work/.git ro - overlay overlay rw\n";

static void find(const char *text, const struct st_footings_order *order, struct st_mounts *mounts,
                 struct st_footings *out)
{
    st_auto_mounts host = {0};

    st_mounts_parse(host_table, strlen(host_table), &host);
    st_mounts_parse(text, strlen(text), mounts);
    st_footings_find(mounts, &host, order, out);
}

static const struct st_footing *at(const struct st_footings *f, const char *point)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->list[i].point, point) == 0)
            return &f->list[i];
    fail_msg("no mount at %s", point);
    return NULL;
}

static void mounts_are_told_apart_by_who_can_change_them(void **state)
{
    static const char *const later[] = {"/dev"};
    const struct st_footings_order order = {
        .rootfs = "/r", .root_readonly = true, .readonly = later, .n_readonly = 1};
    static const struct st_footing wanted[] = {
        {"/", 50, false, true, false},          {"/proc", 51, true, false, true},
        {"/dev", 52, false, true, false},       {"/work", 53, true, true, false},
        {"/vol", 54, false, false, false},      {"/mem", 55, false, false, false},
        {"/work/.git", 57, false, true, false},
    };
    st_auto_mounts mounts = {0};
    st_auto_footings found = {0};

    (void)state;
    find(table, &order, &mounts, &found);
    assert_int_equal(found.n, sizeof(wanted) / sizeof(wanted[0]));
    for (size_t i = 0; i < found.n; i++) {
        const struct st_footing *f = at(&found, wanted[i].point);

        if (f->id != wanted[i].id || f->writable != wanted[i].writable || f->own != wanted[i].own ||
            f->silent != wanted[i].silent)
            fail_msg("%s: %d writable %d own %d silent %d", f->point, f->id, f->writable, f->own, f->silent);
    }
}

static void a_second_way_in_makes_a_mount_one_that_others_change(void **state)
{
    const struct st_footings_order order = {.rootfs = "/", .root_readonly = true};
    static const struct {
        const char *text, *point;
        bool own;
    } rows[] = {
        {"1 0 0:40 / / rw - overlay o rw\n2 1 0:40 /w /w rw - overlay o rw\n", "/", true},
        {"1 0 0:40 / / rw - overlay o rw\n2 1 0:40 /root /w rw - overlay o rw\n", "/", false},
        {"1 0 0:40 / / rw - overlay o rw\n2 1 0:40 / /w rw - overlay o rw\n", "/", false},
        {"1 0 0:40 / / rw - overlay o rw\n2 1 0:40 /root /w ro - overlay o rw\n", "/", true},
        {"1 0 8:1 /r / rw - ext4 d rw\n2 1 8:1 / /w rw - ext4 d rw\n", "/", false},
        {"1 0 8:1 /r / rw - ext4 d rw\n2 1 8:1 /rest /w rw - ext4 d rw\n", "/", true},
        {"1 0 8:1 /r / rw - ext4 d rw\n2 1 8:1 /rest /w ro - ext4 d rw\n", "/w", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        st_auto_mounts mounts = {0};
        st_auto_footings found = {0};

        find(rows[i].text, &order, &mounts, &found);
        if (at(&found, rows[i].point)->own != rows[i].own)
            fail_msg("row %zu: %s", i, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mounts_are_told_apart_by_who_can_change_them),
        cmocka_unit_test(a_second_way_in_makes_a_mount_one_that_others_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
