/* The archive of a snapshot, as GNU tar reads it; and the walk that fills it, over trees that mean no good.
 */
#include "unit.h"

#include "base/clock.h"
#include "snapshot/gather.h"
#include "snapshot/tar.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct place {
    char dir[64];
    int root, tar, list;
};

static int set_up(void **state)
{
    struct place *p = calloc(1, sizeof(*p));

    assert_non_null(p);
    snprintf(p->dir, sizeof(p->dir), "/tmp/test_snapshot.XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    p->root = open(p->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(p->root, "tree", 0700), 0);
    p->tar = openat(p->root, "files.tar", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    p->list = openat(p->root, "changes.jsonl", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(p->tar >= 0 && p->list >= 0);
    *state = p;
    return 0;
}

static void run(const char *const *argv)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int tear_down(void **state)
{
    struct place *p = *state;
    const char *const argv[] = {"rm", "-rf", p->dir, NULL};

    run(argv);
    close(p->root);
    close(p->tar);
    close(p->list);
    free(p);
    return 0;
}

static void write_file(const struct place *p, const char *name, const char *text)
{
    int fd = openat(p->root, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static struct st_gather gather(struct place *p, uint64_t max, int64_t deadline_ns)
{
    int tree = openat(p->root, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct st_tar tar = {.fd = p->tar};
    struct st_gather g = {.tar = &tar, .list_fd = p->list, .max_bytes = max, .deadline_ns = deadline_ns};

    st_gather_tree(&g, tree);
    assert_int_equal(st_tar_finish(&tar), 0);
    assert_int_equal(st_gather_finish(&g), 0);
    close(tree);
    return g;
}

static void unpack(const struct place *p)
{
    char file[96], to[96];
    const char *const argv[] = {"tar", "-C", to, "-xf", file, NULL};

    assert_int_equal(mkdirat(p->root, "out", 0700), 0);
    snprintf(file, sizeof(file), "%s/files.tar", p->dir);
    snprintf(to, sizeof(to), "%s/out", p->dir);
    run(argv);
}

static void a_record_counts_its_own_length(void **state)
{
    st_auto_buf out = ST_BUF_INIT;
    char value[100];

    (void)state;
    memset(value, 'v', sizeof(value));
    for (size_t n = 0; n < sizeof(value); n++) {
        st_buf_clear(&out);
        st_tar_record(&out, "path", value, n);
        assert_int_equal(strtoul(st_buf_cstr(&out), NULL, 10), out.len);
    }
}

static void names_of_any_length_and_kind_come_back(void **state)
{
    struct place *p = *state;
    char name[256] = "tree/", out[256] = "out/";
    struct st_gather g;
    struct stat st;

    memset(name + 5, 'n', 200);
    memset(out + 4, 'n', 200);
    write_file(p, name, "long");
    write_file(p, "tree/new\nline \x1b[31m", "odd");
    write_file(p, "tree/\xff\xfe", "no text");
    assert_int_equal(symlinkat("/etc/shadow", p->root, "tree/link"), 0);
    g = gather(p, 1 << 20, INT64_MAX);
    assert_int_equal(g.files, 4);
    assert_int_equal(g.omitted, 0);
    unpack(p);
    assert_int_equal(fstatat(p->root, out, &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(st.st_size, 4);
    assert_int_equal(fstatat(p->root, "out/new\nline \x1b[31m", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(fstatat(p->root, "out/\xff\xfe", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(fstatat(p->root, "out/link", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static void holes_stay_holes(void **state)
{
    struct place *p = *state;
    int fd = openat(p->root, "tree/sparse", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct st_gather g;
    struct stat st;
    char byte = 0;

    assert_int_equal(ftruncate(fd, 1 << 30), 0);
    assert_int_equal(pwrite(fd, "x", 1, 1 << 29), 1);
    close(fd);
    g = gather(p, 1 << 20, INT64_MAX);
    assert_int_equal(g.files, 1);
    assert_true(lseek(p->tar, 0, SEEK_END) < 1 << 20);
    unpack(p);
    fd = openat(p->root, "out/sparse", O_RDONLY | O_CLOEXEC);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 1 << 30);
    assert_int_equal(pread(fd, &byte, 1, 1 << 29), 1);
    assert_int_equal(byte, 'x');
    close(fd);
}

static void what_is_too_big_is_left_out_and_the_rest_is_not(void **state)
{
    struct place *p = *state;
    char *big = calloc(1, 100001);
    struct st_gather g;

    assert_non_null(big);
    memset(big, 'b', 100000);
    write_file(p, "tree/big", big);
    write_file(p, "tree/small", "small");
    free(big);
    g = gather(p, 10000, INT64_MAX);
    assert_int_equal(g.files, 1);
    assert_int_equal(g.omitted, 1);
}

static void time_that_is_up_ends_it(void **state)
{
    struct place *p = *state;
    struct st_gather g;

    write_file(p, "tree/a", "a");
    g = gather(p, 1 << 20, st_now_mono_ns() - 1);
    assert_true(g.late);
    assert_int_equal(g.files, 0);
    assert_int_equal(g.omitted, 1);
}

static void a_listed_path_leads_nowhere_else(void **state)
{
    struct place *p = *state;
    int tree = openat(p->root, "tree", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct st_tar tar = {.fd = p->tar};
    struct st_gather g = {.tar = &tar, .list_fd = p->list, .max_bytes = 1 << 20, .deadline_ns = INT64_MAX};

    write_file(p, "secret", "not yours");
    write_file(p, "tree/fine", "fine");
    assert_int_equal(symlinkat("..", p->root, "tree/up"), 0);
    st_gather_path(&g, tree, "/up/secret", "modified");
    st_gather_path(&g, tree, "/../secret", "modified");
    st_gather_path(&g, tree, "/..", "modified");
    st_gather_path(&g, tree, "/", "modified");
    assert_int_equal(g.files, 0);
    assert_int_equal(g.omitted, 4);
    st_gather_path(&g, tree, "/fine", "created");
    st_gather_path(&g, tree, "/gone", "deleted");
    assert_int_equal(g.files, 1);
    assert_int_equal(g.deleted, 1);
    assert_int_equal(st_tar_finish(&tar), 0);
    assert_int_equal(st_gather_finish(&g), 0);
    close(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_counts_its_own_length),
        cmocka_unit_test_setup_teardown(names_of_any_length_and_kind_come_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(holes_stay_holes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_too_big_is_left_out_and_the_rest_is_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_that_is_up_ends_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_listed_path_leads_nowhere_else, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
