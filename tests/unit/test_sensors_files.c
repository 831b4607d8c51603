/* What the filesystem sensor knows before it asks anybody: which mounts to mark, what an opener wants, which
 * objects are guarded. */
#include "base/cleanup.h"
#include "model/event.h"
#include "sensors/access.h"
#include "sensors/guarded.h"
#include "sensors/marks.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* ---- marks ---- */

static const char host_text[] = "1 0 254:1 / / rw - ext4 /dev/vda rw\n"
                                "50 1 0:60 / /var/lib/docker/x/merged rw - overlay overlay rw\n"
                                "51 1 0:61 / /live rw - overlay overlay rw\n";

static const struct st_mark *find(const struct st_mark_plan *plan, const char *point)
{
    for (size_t i = 0; i < plan->n; i++)
        if (strcmp(plan->list[i].mount->point, point) == 0)
            return &plan->list[i];
    return NULL;
}

static enum st_fan_target target_of(const struct st_mark_plan *plan, const char *point)
{
    const struct st_mark *mark = find(plan, point);

    if (!mark || mark->skip)
        fail_msg("%s is not watched", point);
    return mark ? mark->target : ST_FAN_INODE;
}

static bool is_skipped(const struct st_mark_plan *plan, const char *point)
{
    const struct st_mark *mark = find(plan, point);

    return mark && mark->skip;
}

static int plan_of(const char *container_text, const char *rootfs, struct st_mounts *container,
                   struct st_mark_plan *plan)
{
    st_auto_mounts host = {0};
    struct st_error err = {0};

    st_mounts_parse(host_text, strlen(host_text), &host);
    st_mounts_parse(container_text, strlen(container_text), container);
    return st_marks_plan(container, &host, rootfs, plan, &err);
}

static void the_containers_own_overlay_is_marked_as_a_whole_and_its_binds_by_mount(void **state)
{
    static const char text[] = "100 99 254:1 / / rw - ext4 /dev/vda rw\n"
                               "101 100 0:60 / /var/lib/docker/x/merged rw - overlay overlay rw\n"
                               "102 101 0:70 / /var/lib/docker/x/merged/proc rw - proc proc rw\n"
                               "103 101 0:71 / /var/lib/docker/x/merged/dev rw - tmpfs tmpfs rw\n"
                               "104 101 254:1 /srv /var/lib/docker/x/merged/workspace rw - ext4 /dev/vda rw\n"
                               "105 100 0:72 / /var/lib/docker/x/mergedother rw - tmpfs tmpfs rw\n";
    st_auto_mounts container = {0};
    st_auto_mark_plan plan = {0};

    (void)state;
    assert_int_equal(plan_of(text, "/var/lib/docker/x/merged", &container, &plan), 0);
    assert_int_equal(plan.n, 4);
    assert_int_equal(target_of(&plan, "/var/lib/docker/x/merged"), ST_FAN_SUPERBLOCK);
    assert_int_equal(target_of(&plan, "/var/lib/docker/x/merged/dev"), ST_FAN_MOUNT);
    assert_int_equal(target_of(&plan, "/var/lib/docker/x/merged/workspace"), ST_FAN_MOUNT);
    assert_true(is_skipped(&plan, "/var/lib/docker/x/merged/proc"));
    assert_null(find(&plan, "/var/lib/docker/x/mergedother"));
    assert_null(find(&plan, "/"));
}

static void a_file_system_that_the_host_uses_is_never_marked_as_a_whole(void **state)
{
    static const struct {
        const char *text, *rootfs;
    } cases[] = {
        /* A plain directory on the host's disk. */
        {"101 100 254:1 /bundle/rootfs /bundle/rootfs rw - ext4 /dev/vda rw\n", "/bundle/rootfs"},
        /* A directory of an overlay that is mounted elsewhere on the host. */
        {"101 100 0:61 /sub /live/sub rw - overlay overlay rw\n", "/live/sub"},
        /* That overlay itself, bound to another place. */
        {"101 100 0:61 / /bundle/rootfs rw - overlay overlay rw\n", "/bundle/rootfs"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_mounts container = {0};
        st_auto_mark_plan plan = {0};

        assert_int_equal(plan_of(cases[i].text, cases[i].rootfs, &container, &plan), 0);
        assert_int_equal(plan.n, 1);
        assert_int_equal(plan.list[0].target, ST_FAN_MOUNT);
    }
}

static void a_root_that_is_no_mount_is_an_error(void **state)
{
    st_auto_mounts container = {0};
    st_auto_mark_plan plan = {0};

    (void)state;
    assert_int_equal(plan_of("1 0 254:1 / / rw - ext4 /dev/vda rw\n", "/bundle/rootfs", &container, &plan),
                     -ENOENT);
}

/* ---- access ---- */

static void what_is_wanted_is_read_from_registers_and_unknown_is_write(void **state)
{
    const unsigned r = ST_ACCESS_READ, w = ST_ACCESS_WRITE, x = ST_ACCESS_EXEC;
    const struct {
        const char *text;
        unsigned access;
        int creates;
    } cases[] = {
        {"257 0xffffff9c 0x7f 0x0 0x0 0x0 0x0 0x7ffc 0x7f", r, 0},
        {"257 0xffffff9c 0x7f 0x1 0x0 0x0 0x0 0x7ffc 0x7f", w, 0},
        {"257 0xffffff9c 0x7f 0x2 0x0 0x0 0x0 0x7ffc 0x7f", r | w, 0},
        {"257 0xffffff9c 0x7f 0x3 0x0 0x0 0x0 0x7ffc 0x7f", r | w, 0},
        {"257 0xffffff9c 0x7f 0x200 0x0 0x0 0x0 0x7ffc 0x7f", r | w, 0}, /* O_TRUNC */
        {"257 0xffffff9c 0x7f 0x40 0x0 0x0 0x0 0x7ffc 0x7f", r, 1},      /* O_CREAT */
        {"257 0xffffff9c 0x7f 0x80000 0x0 0x0 0x0 0x7ffc 0x7f", r, 0},   /* O_CLOEXEC */
        {"2 0x7f 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x7f", r, 0},
        {"2 0x7f 0x241 0x0 0x0 0x0 0x0 0x7ffc 0x7f", w, 1},
        {"85 0x7f 0x1b6 0x0 0x0 0x0 0x0 0x7ffc 0x7f", w, 1},
        {"59 0x7f 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x7f", x, 0},
        {"437 0xffffff9c 0x7f 0x7e 0x18 0x0 0x0 0x7ffc 0x7f", r | w, 0}, /* openat2 */
        {"426 0x3 0x1 0x0 0x0 0x0 0x0 0x7ffc 0x7f", r | w, 0},           /* io_uring_enter */
        {"5 0x7f 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x7f", r | w, 0},            /* open, 32-bit */
        {"running", r | w, 0},
        {"-1 0x7ffc 0x7f", r | w, 0},
        {"", r | w, 0},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct st_wanted got = st_access_of_syscall(cases[i].text, 0);

        if (got.access != cases[i].access || got.creates != cases[i].creates)
            fail_msg("%s: access %u, creates %d", cases[i].text, got.access, got.creates);
    }
    assert_int_equal(st_access_of_syscall("257 0x0 0x0 0x1 0x0 0x0 0x0 0x0 0x0", 1).access, x);
}

/* ---- guarded ---- */

struct tree {
    char dir[64];
    int fd;
};

static void make(const struct tree *t, const char *path, const char *content)
{
    char full[256];

    snprintf(full, sizeof(full), "%s/%s", t->dir, path);
    if (!content) {
        assert_int_equal(mkdir(full, 0755), 0);
        return;
    }
    st_auto_file f = fopen(full, "w");

    assert_non_null(f);
    fputs(content, f);
}

static void grow(struct tree *t)
{
    snprintf(t->dir, sizeof(t->dir), "/tmp/st-guarded.XXXXXX");
    assert_non_null(mkdtemp(t->dir));
    make(t, "etc", NULL);
    make(t, "etc/shadow", "s");
    make(t, "home", NULL);
    make(t, "home/a", NULL);
    make(t, "home/a/.ssh", NULL);
    make(t, "home/a/.ssh/id_rsa", "k");
    make(t, "home/a/.ssh/sub", NULL);
    make(t, "home/a/.ssh/sub/deep", "d");
    make(t, "home/b", NULL);
    t->fd = open(t->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(t->fd >= 0);
}

static void fell(struct tree *t)
{
    static const char *const gone[] = {"home/a/.ssh/sub/deep", "home/a/.ssh/sub", "home/a/.ssh/id_rsa",
                                       "home/a/.ssh",          "home/a/link",     "home/a",
                                       "home/b/etc",           "home/b",          "home",
                                       "etc/shadow",           "etc/moved",       "etc"};

    close(t->fd);
    for (size_t i = 0; i < N_OF(gone); i++) {
        char full[256];

        snprintf(full, sizeof(full), "%s/%s", t->dir, gone[i]);
        remove(full);
    }
    remove(t->dir);
}

static const char *guarded_as(const struct st_guarded *g, const struct tree *t, const char *path)
{
    struct stat sb;

    assert_int_equal(fstatat(t->fd, path, &sb, AT_SYMLINK_NOFOLLOW), 0);
    return st_guarded_find(g, sb.st_dev, sb.st_ino);
}

static bool collects(struct st_guarded *g, const struct tree *t, const char *text)
{
    struct st_guarded_pattern pattern = {.text = text};

    st_guarded_collect(g, t->fd, &pattern, 1);
    return pattern.whole;
}

static void an_object_is_known_whatever_its_name(void **state)
{
    struct st_guarded *g = st_guarded_new();
    struct tree t;

    (void)state;
    grow(&t);
    assert_true(collects(g, &t, "/etc/shadow"));
    assert_true(collects(g, &t, "/home/*/.ssh/**"));
    assert_true(collects(g, &t, "/no/such/file"));
    assert_string_equal(guarded_as(g, &t, "etc/shadow"), "/etc/shadow");
    assert_string_equal(guarded_as(g, &t, "home/a/.ssh"), "/home/a/.ssh");
    assert_string_equal(guarded_as(g, &t, "home/a/.ssh/id_rsa"), "/home/a/.ssh/id_rsa");
    assert_string_equal(guarded_as(g, &t, "home/a/.ssh/sub/deep"), "/home/a/.ssh/sub/deep");
    assert_null(guarded_as(g, &t, "home/a"));
    assert_int_equal(linkat(t.fd, "etc/shadow", t.fd, "home/a/link", 0), 0);
    assert_string_equal(guarded_as(g, &t, "home/a/link"), "/etc/shadow");
    assert_int_equal(renameat(t.fd, "etc/shadow", t.fd, "etc/moved"), 0);
    assert_string_equal(guarded_as(g, &t, "etc/moved"), "/etc/shadow");
    st_guarded_free(g);
    fell(&t);
}

static void what_can_not_be_enumerated_is_said(void **state)
{
    struct st_guarded *g = st_guarded_new();
    struct tree t;

    (void)state;
    grow(&t);
    assert_false(collects(g, &t, "/**/.git/config"));
    assert_false(collects(g, &t, "/home/**/id_rsa"));
    assert_false(collects(g, &t, "relative"));
    assert_int_equal(st_guarded_count(g), 0);
    st_guarded_free(g);
    fell(&t);
}

static void a_file_is_the_tree_below_its_own_name(void **state)
{
    struct st_guarded *g = st_guarded_new();
    struct tree t;

    (void)state;
    grow(&t);
    assert_true(collects(g, &t, "/etc/shadow/**"));
    assert_true(collects(g, &t, "/home/*/.ssh/id_*/**"));
    assert_string_equal(guarded_as(g, &t, "etc/shadow"), "/etc/shadow");
    assert_string_equal(guarded_as(g, &t, "home/a/.ssh/id_rsa"), "/home/a/.ssh/id_rsa");
    assert_int_equal(st_guarded_count(g), 2);
    st_guarded_free(g);
    fell(&t);
}

static void what_a_name_alone_does_not_tell_is_not_taken_for_listed(void **state)
{
    static const char *const texts[] = {"/home/a**", "/home/**a", "/etc/\\*", "/etc/[s]hadow",
                                        "/etc/sha\\dow"};
    struct st_guarded *g = st_guarded_new();
    struct tree t;

    (void)state;
    grow(&t);
    for (size_t i = 0; i < N_OF(texts); i++)
        assert_false(collects(g, &t, texts[i]));
    st_guarded_free(g);
    fell(&t);
}

static void patterns_that_share_directories_find_what_each_finds_alone(void **state)
{
    static const char *const texts[] = {
        "/home/*/.ssh/**", "/etc/shadow",   "/home/a/.ssh/id_rsa", "/*/shadow", "/home/?/.ssh", "/home/b",
        "/home/**/x",      "/etc/shadow/x", "/home/*/.ssh/*",      "/etc/sha*", "/no/such/**",  "/etc/**"};
    struct st_guarded *together = st_guarded_new(), *alone = st_guarded_new();
    struct st_guarded_pattern patterns[N_OF(texts)];
    struct tree t;

    (void)state;
    grow(&t);
    for (size_t i = 0; i < N_OF(texts); i++)
        patterns[i].text = texts[i];
    st_guarded_collect(together, t.fd, patterns, N_OF(texts));
    for (size_t i = 0; i < N_OF(texts); i++)
        assert_int_equal(collects(alone, &t, texts[i]), patterns[i].whole);
    assert_int_equal(st_guarded_count(together), 7);
    assert_int_equal(st_guarded_count(alone), 7);
    assert_string_equal(guarded_as(together, &t, "etc"), "/etc");
    assert_string_equal(guarded_as(together, &t, "etc/shadow"), "/etc/shadow");
    assert_string_equal(guarded_as(together, &t, "home/b"), "/home/b");
    assert_string_equal(guarded_as(together, &t, "home/a/.ssh/sub/deep"), "/home/a/.ssh/sub/deep");
    assert_null(guarded_as(together, &t, "home/a"));
    st_guarded_free(together);
    st_guarded_free(alone);
    fell(&t);
}

static void what_is_too_much_is_said_of_who_asked_for_it(void **state)
{
    struct st_guarded_pattern patterns[] = {
        {.text = "/etc/shadow"}, {.text = "/home/b/*"}, {.text = "/home/a/.ssh"}};
    struct st_guarded *g = st_guarded_new();
    struct rlimit before, enough;
    struct tree t;
    char path[64];

    (void)state;
    assert_int_equal(prlimit(0, RLIMIT_NOFILE, NULL, &before), 0);
    enough = (struct rlimit){before.rlim_max, before.rlim_max};
    assert_int_equal(prlimit(0, RLIMIT_NOFILE, &enough, NULL), 0);
    grow(&t);
    for (int i = 0; i < ST_GUARDED_MAX; i++) {
        snprintf(path, sizeof(path), "home/b/%d", i);
        make(&t, path, "x");
    }
    st_guarded_collect(g, t.fd, patterns, N_OF(patterns));
    assert_int_equal(st_guarded_count(g), ST_GUARDED_MAX);
    assert_true(patterns[0].whole);
    assert_false(patterns[1].whole);
    assert_false(patterns[2].whole);
    for (int i = 0; i < ST_GUARDED_MAX; i++) {
        snprintf(path, sizeof(path), "home/b/%d", i);
        assert_int_equal(unlinkat(t.fd, path, 0), 0);
    }
    st_guarded_free(g);
    fell(&t);
    assert_int_equal(prlimit(0, RLIMIT_NOFILE, &before, NULL), 0);
}

static void what_can_not_be_held_open_is_not_taken_for_all_there_is(void **state)
{
    struct st_guarded *g = st_guarded_new();
    struct rlimit before, few;
    struct tree t;

    (void)state;
    grow(&t);
    assert_int_equal(prlimit(0, RLIMIT_NOFILE, NULL, &before), 0);
    few = (struct rlimit){(rlim_t)t.fd + 3, before.rlim_max};
    assert_int_equal(prlimit(0, RLIMIT_NOFILE, &few, NULL), 0);
    assert_false(collects(g, &t, "/home/**"));
    assert_int_equal(prlimit(0, RLIMIT_NOFILE, &before, NULL), 0);
    st_guarded_free(g);
    fell(&t);
}

static void a_symlink_of_the_image_is_not_followed(void **state)
{
    struct st_guarded *g = st_guarded_new();
    struct tree t;

    (void)state;
    grow(&t);
    assert_int_equal(symlinkat("/etc", t.fd, "home/b/etc"), 0);
    assert_true(collects(g, &t, "/home/b/etc/passwd"));
    assert_int_equal(st_guarded_count(g), 0);
    st_guarded_free(g);
    fell(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_containers_own_overlay_is_marked_as_a_whole_and_its_binds_by_mount),
        cmocka_unit_test(a_file_system_that_the_host_uses_is_never_marked_as_a_whole),
        cmocka_unit_test(a_root_that_is_no_mount_is_an_error),
        cmocka_unit_test(what_is_wanted_is_read_from_registers_and_unknown_is_write),
        cmocka_unit_test(an_object_is_known_whatever_its_name),
        cmocka_unit_test(what_can_not_be_enumerated_is_said),
        cmocka_unit_test(a_file_is_the_tree_below_its_own_name),
        cmocka_unit_test(what_a_name_alone_does_not_tell_is_not_taken_for_listed),
        cmocka_unit_test(patterns_that_share_directories_find_what_each_finds_alone),
        cmocka_unit_test(what_is_too_much_is_said_of_who_asked_for_it),
        cmocka_unit_test(what_can_not_be_held_open_is_not_taken_for_all_there_is),
        cmocka_unit_test(a_symlink_of_the_image_is_not_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
