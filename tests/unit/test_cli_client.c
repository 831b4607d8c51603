/* The client of the control socket: which container is meant, and what is made of a monitor's answers, good
 * and bad. The monitor is a process of the test. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "cli/control_client.h"
#include "unit.h"

#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

struct fixture {
    char dir[64];
    struct st_boxes boxes;
    pid_t monitor;
};

static void make(const struct fixture *f, const char *name)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", f->dir, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static int set_up(void **state)
{
    struct fixture *f = st_xcalloc(1, sizeof(*f));
    struct st_error err = {0};

    snprintf(f->dir, sizeof(f->dir), "/tmp/client.XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    make(f, "abc");
    make(f, "abcdef");
    make(f, "abd");
    make(f, "zed");
    make(f, "bus.d");
    make(f, ".hidden");
    assert_int_equal(st_boxes_read(f->dir, &f->boxes, &err), 0);
    *state = f;
    return 0;
}

static int remove_one(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
    (void)sb;
    (void)type;
    (void)ftw;
    return remove(path);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    if (f->monitor > 0) {
        kill(f->monitor, SIGKILL);
        waitpid(f->monitor, NULL, 0);
    }
    st_boxes_free(&f->boxes);
    nftw(f->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(f);
    return 0;
}

/* A monitor of container zed that answers anything with these bytes and hangs up. */
static void answer_with(struct fixture *f, const char *bytes)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/zed/control.sock", f->dir);
    assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    assert_int_equal(listen(fd, 4), 0);
    f->monitor = fork();
    if (f->monitor == 0) {
        char request[4096];
        int peer = accept(fd, NULL, NULL);

        if (recv(peer, request, sizeof(request), 0) > 0)
            send(peer, bytes, strlen(bytes), MSG_NOSIGNAL);
        _exit(0);
    }
    close(fd);
}

static int ask_zed(const struct fixture *f, struct st_answer *answer, struct st_error *err)
{
    static const char request[] = "{\"request\":\"status\"}";

    return st_ask(st_boxes_find(&f->boxes, "zed", err), request, sizeof(request) - 1, answer, err);
}

static void containers_are_all_but_the_bus_and_hidden_ones(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(f->boxes.n, 4);
    assert_string_equal(f->boxes.list[0].id, "abc");
    assert_string_equal(f->boxes.list[3].id, "zed");
}

static void no_state_directory_means_no_containers(void **state)
{
    st_auto_boxes none = {0};
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_boxes_read("/nowhere/at/all", &none, &err), 0);
    assert_int_equal(none.n, 0);
}

static void a_whole_id_goes_before_those_that_it_begins(void **state)
{
    struct fixture *f = *state;
    struct st_error err = {0};

    assert_string_equal(st_boxes_find(&f->boxes, "abc", &err)->id, "abc");
    assert_string_equal(st_boxes_find(&f->boxes, "abcd", &err)->id, "abcdef");
    assert_string_equal(st_boxes_find(&f->boxes, "z", &err)->id, "zed");
}

static void what_is_ambiguous_or_unknown_is_said(void **state)
{
    struct fixture *f = *state;
    struct st_error err = {0};

    assert_null(st_boxes_find(&f->boxes, "ab", &err));
    assert_string_equal(err.msg, "'ab' is the beginning of 3 containers: abc, abcdef, abd; write more of it");
    assert_null(st_boxes_find(&f->boxes, "x", &err));
    assert_string_equal(err.msg, "no watched container begins with 'x'; sandtrace ps lists them");
    assert_null(st_boxes_find(&f->boxes, "", &err));
}

static void an_answer_is_read_to_its_end(void **state)
{
    struct fixture *f = *state;
    st_auto_answer answer = {0};
    struct st_error err = {0};
    int64_t n;

    answer_with(f, "{\"n\":42,\"ok\":true}\n{\"event\":1}\n");
    assert_int_equal(ask_zed(f, &answer, &err), 0);
    assert_true(st_json_int(st_json_get(answer.root, "n"), &n));
    assert_int_equal(n, 42);
}

static void a_refusal_has_its_code_and_its_words_made_harmless(void **state)
{
    struct fixture *f = *state;
    st_auto_answer answer = {0};
    struct st_error err = {0};

    answer_with(f, "{\"error\":{\"code\":\"pending\",\"message\":\"no \\u001b[2J\"},\"ok\":false}\n");
    assert_int_equal(ask_zed(f, &answer, &err), -EREMOTEIO);
    assert_string_equal(st_answer_code(&answer), "pending");
    assert_string_equal(err.msg, "zed: no \\x1b[2J");
}

static void what_is_no_answer_is_an_error(void **state)
{
    static const char *const bad[] = {"",  "{\"ok\":true}", "x\n", "[]\n", "{\"ok\":1}\n", "{\"ok\":false}\n",
                                      "\n"};
    struct fixture *f = *state;
    char path[128];

    snprintf(path, sizeof(path), "%s/zed/control.sock", f->dir);
    for (size_t i = 0; i < N_OF(bad); i++) {
        st_auto_answer answer = {0};
        struct st_error err = {0};

        answer_with(f, bad[i]);
        assert_true(ask_zed(f, &answer, &err) < 0);
        assert_true(err.msg[0] != '\0');
        waitpid(f->monitor, NULL, 0);
        f->monitor = 0;
        unlink(path);
    }
}

static void a_monitor_that_is_gone_is_said_so(void **state)
{
    struct fixture *f = *state;
    st_auto_answer answer = {0};
    struct st_error err = {0};

    assert_true(ask_zed(f, &answer, &err) < 0);
    assert_non_null(strstr(err.msg, "zed: its monitor can't be reached"));
}

static void a_member_is_put_in_its_place(void **state)
{
    static const char text[] = "{\"a\":1,\"d\":{\"x\":[]}}";
    st_auto_json doc = NULL;
    st_auto_buf out = ST_BUF_INIT;

    (void)state;
    assert_int_equal(st_json_parse(text, sizeof(text) - 1, ST_JSON_DEFAULT_LIMITS, &doc, NULL), 0);
    st_json_with(&out, text, st_json_root(doc), "container", "c");
    st_buf_addc(&out, ' ');
    st_json_with(&out, text, st_json_root(doc), "z", "c");
    assert_string_equal(
        out.data, "{\"a\":1,\"container\":\"c\",\"d\":{\"x\":[]}} {\"a\":1,\"d\":{\"x\":[]},\"z\":\"c\"}");
}

static void the_name_is_of_who_ran_sudo(void **state)
{
    (void)state;
    if (getuid() != 0)
        return;
    setenv("SUDO_USER", "ann", 1);
    assert_string_equal(st_login_name(), "ann");
    unsetenv("SUDO_USER");
    assert_string_equal(st_login_name(), "root");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    static const struct CMUnitTest tests[] = {
        TEST(containers_are_all_but_the_bus_and_hidden_ones),
        TEST(no_state_directory_means_no_containers),
        TEST(a_whole_id_goes_before_those_that_it_begins),
        TEST(what_is_ambiguous_or_unknown_is_said),
        TEST(an_answer_is_read_to_its_end),
        TEST(a_refusal_has_its_code_and_its_words_made_harmless),
        TEST(what_is_no_answer_is_an_error),
        TEST(a_monitor_that_is_gone_is_said_so),
        TEST(a_member_is_put_in_its_place),
        TEST(the_name_is_of_who_ran_sudo),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
