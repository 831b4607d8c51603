/* summary: what a container did to files, in one record. */
#include "monitor/summary.h"
#include "unit.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

static void use(struct st_summary *s, enum st_fs_op op, unsigned access, const char *path, const char *target,
                int64_t size)
{
    struct st_ev_filesystem fs = {.op = op, .access = access, .path = st_str(path), .size = size};

    if (target)
        fs.target = st_str(target);
    st_summary_use(s, &fs);
}

static void create(struct st_summary *s, const char *path)
{
    use(s, ST_FS_CREATE, ST_ACCESS_CREATE | ST_ACCESS_WRITE, path, NULL, ST_UNKNOWN);
}

static void closed(struct st_summary *s, const char *path, int64_t size)
{
    st_summary_closed(s, &(struct st_ev_filesystem){.path = st_str(path), .size = size});
}

static void is(struct st_summary *s, const char *json)
{
    st_auto_buf out = ST_BUF_INIT;

    st_summary_write(s, &out);
    assert_string_equal(st_buf_cstr(&out), json);
    st_summary_free(s);
}

static void nothing_is_nothing(void **state)
{
    struct st_summary s = {0};

    (void)state;
    is(&s, "{\"files_created\":[],\"files_deleted\":[],\"files_modified\":[],\"total_bytes_written\":0}");
}

static void what_comes_and_goes_is_not_listed(void **state)
{
    struct st_summary s = {0};

    (void)state;
    create(&s, "/w/tmp");
    closed(&s, "/w/tmp", 7);
    use(&s, ST_FS_DELETE, ST_ACCESS_DELETE, "/w/tmp", NULL, 7);
    create(&s, "/w/a");
    use(&s, ST_FS_RENAME, ST_ACCESS_DELETE, "/w/a", "/w/b", 3);
    is(&s, "{\"files_created\":[{\"path\":\"/w/b\",\"size\":3}],\"files_deleted\":[],\"files_modified\":[],"
           "\"total_bytes_written\":3}");
}

static void what_was_there_is_modified_or_deleted(void **state)
{
    struct st_summary s = {0};

    (void)state;
    use(&s, ST_FS_OPEN, ST_ACCESS_WRITE, "/w/log", NULL, 10);
    closed(&s, "/w/log", 15);
    use(&s, ST_FS_OPEN, ST_ACCESS_READ, "/w/read", NULL, 10);
    use(&s, ST_FS_OPEN, ST_ACCESS_WRITE, "/dev/null", NULL, ST_UNKNOWN);
    use(&s, ST_FS_DELETE, ST_ACCESS_DELETE, "/w/old", NULL, 4);
    use(&s, ST_FS_DELETE, ST_ACCESS_DELETE, "/w/again", NULL, 4);
    create(&s, "/w/again");
    is(&s, "{\"files_created\":[],\"files_deleted\":[{\"path\":\"/w/old\",\"size\":4}],"
           "\"files_modified\":[{\"path\":\"/w/log\",\"size\":15},{\"path\":\"/w/again\"}],"
           "\"total_bytes_written\":15}");
}

static void a_file_whose_path_is_lost_is_known_by_its_inode(void **state)
{
    struct st_summary s = {0};

    (void)state;
    create(&s, "/w/open");
    st_summary_identify(&s, &(struct st_ev_filesystem){.path = ST_STR_LIT("/w/open"), .dev = 5, .ino = 6});
    st_summary_closed(&s,
                      &(struct st_ev_filesystem){.path = ST_STR_LIT("/open"), .dev = 5, .ino = 6, .size = 9});
    st_summary_closed(
        &s, &(struct st_ev_filesystem){.path = ST_STR_LIT("/host"), .dev = 5, .ino = 7, .size = 99});
    is(&s, "{\"files_created\":[{\"path\":\"/w/open\",\"size\":9}],\"files_deleted\":[],"
           "\"files_modified\":[],\"total_bytes_written\":9}");
}

static void a_directory_takes_its_files_along(void **state)
{
    struct st_summary s = {0};

    (void)state;
    create(&s, "/w/d");
    create(&s, "/w/d/a");
    create(&s, "/w/dd");
    closed(&s, "/w/d/a", 1);
    use(&s, ST_FS_RENAME, ST_ACCESS_DELETE, "/w/d", "/w/e", ST_UNKNOWN);
    closed(&s, "/w/e/a", 2);
    is(&s, "{\"files_created\":[{\"path\":\"/w/e\"},{\"path\":\"/w/e/a\",\"size\":2},{\"path\":\"/w/dd\"}],"
           "\"files_deleted\":[],\"files_modified\":[],\"total_bytes_written\":2}");
}

static void bytes_that_are_no_text_are_kept(void **state)
{
    struct st_summary s = {0};

    (void)state;
    create(&s, "/w/\xff\n");
    is(&s, "{\"files_created\":[{\"path\":\"/w/\xef\xbf\xbd\\n\",\"path_b64\":\"L3cv/wo=\"}],\"files_"
           "deleted\":[],\"files_modified\":[],\"total_bytes_written\":0}");
}

static void what_is_too_many_is_counted_and_memory_is_bounded(void **state)
{
    struct st_summary s = {0};
    st_auto_buf out = ST_BUF_INIT;
    char path[5000];

    (void)state;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2 * ST_SUMMARY_FILES; i++) {
            snprintf(path, sizeof(path), "/tmp/%d", i);
            create(&s, path);
            use(&s, ST_FS_DELETE, ST_ACCESS_DELETE, path, NULL, 1);
        }
    assert_int_equal(s.omitted, 0);
    for (int i = 0; i < ST_SUMMARY_FILES + 7; i++) {
        snprintf(path, sizeof(path), "/w/%04000d", i);
        create(&s, path);
    }
    assert_int_equal(s.n, ST_SUMMARY_FILES);
    assert_int_equal(s.omitted, 7);
    st_summary_write(&s, &out);
    assert_true(out.len < ST_SUMMARY_BYTES + 8192);
    assert_non_null(strstr(st_buf_cstr(&out), "\"omitted\":40"));
    st_summary_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_nothing),
        cmocka_unit_test(what_comes_and_goes_is_not_listed),
        cmocka_unit_test(what_was_there_is_modified_or_deleted),
        cmocka_unit_test(a_file_whose_path_is_lost_is_known_by_its_inode),
        cmocka_unit_test(a_directory_takes_its_files_along),
        cmocka_unit_test(bytes_that_are_no_text_are_kept),
        cmocka_unit_test(what_is_too_many_is_counted_and_memory_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
