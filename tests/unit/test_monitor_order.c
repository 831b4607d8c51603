/* The order from hook to monitor, and the payloads that the monitor writes of itself. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "monitor/order.h"
#include "monitor/record.h"
#include "monitor/syscalls.h"
#include "unit.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>

static const char whole[] =
    "{\"agent_id\":\"a\",\"facts\":{\"rootfs\":\"/r\"},\"id\":\"c1\",\"key_dir\":\"/k\",\"pid\":42,"
    "\"policy\":\"p\",\"policy_dirs\":[\"/a\",\"/b\"],\"rootfs\":\"/r\",\"state_dir\":\"/s/c1\",\"trace\":\"/"
    "t\","
    "\"trace_id\":\"c1-1\",\"on_worker_failure\":\"pause\",\"worker_grace_ms\":250,\"on_trace_failure\":"
    "\"kill\","
    "\"profile\":{\"refused\":[{\"errno\":13,\"name\":\"mount\"},{\"errno\":1,\"flags\":131072,\"name\":"
    "\"clone\"}],\"sockets\":[{\"errno\":22,\"family\":16,\"protocol\":9}],\"unwatched\":[\"chroot\"]},"
    "\"rotate_bytes\":1048576,\"sinks\":[{\"refusals\":true,\"to\":\"syslog\",\"types\":[\"sensor\"]},{"
    "\"to\":"
    "\"unix:/s\"}]}";

static void what_a_profile_refuses_is_refused_with_its_errno_and_under_its_condition(void **state)
{
    struct st_syscalls *s = calloc(1, sizeof(*s));
    struct st_error err = {0};
    struct st_order o;
    struct st_jw w;
    st_auto_buf counts = ST_BUF_INIT;

    (void)state;
    assert_int_equal(st_order_parse(whole, strlen(whole), &o, &err), 0);
    st_syscalls_init(s, &o);
    assert_int_equal(st_syscalls_refusal(s, SYS_mount, 0), 13);
    assert_int_equal(st_syscalls_refusal(s, SYS_clone, 17), 0);
    assert_int_equal(st_syscalls_refusal(s, SYS_clone, 131072 | 17), 1);
    assert_int_equal(st_syscalls_refusal(s, SYS_chroot, 0), 0);
    assert_int_equal(st_syscalls_refusal(s, -1, 0), 0);
    assert_int_equal(st_syscalls_refusal(s, INT_MAX, 0), 0);
    st_syscalls_count(s, SYS_mount, false);
    st_syscalls_count(s, SYS_chroot, true);
    st_syscalls_count(s, SYS_chroot, true);
    st_syscalls_count(s, -1, true);
    st_syscalls_count(s, ST_SYSCALL_NUMBERS, true);
    st_syscalls_count(s, ST_SYSCALL_NUMBERS - 1, true);
    st_jw_init(&w, &counts);
    st_syscalls_write(s, &w);
    assert_string_equal(
        st_buf_cstr(&counts),
        "{\"1023\":{\"permitted\":1,\"refused\":0},\"chroot\":{\"permitted\":2,\"refused\":0},"
        "\"mount\":{\"permitted\":0,\"refused\":1}}");
    st_order_free(&o);
    free(s);
}

static void the_errno_of_a_refusal_is_one(void **state)
{
    static const char *const bad[] = {"0", "-1", "4096", "\"x\""};

    (void)state;
    for (size_t i = 0; i < N_OF(bad); i++) {
        st_auto_buf text = ST_BUF_INIT;
        struct st_error err = {0};
        struct st_order o;
        const char *at = strstr(whole, "\"errno\":13");

        assert_non_null(at);
        st_buf_add(&text, whole, (size_t)(at - whole));
        st_buf_addf(&text, "\"errno\":%s%s", bad[i], at + strlen("\"errno\":13"));
        assert_true(st_order_parse(text.data, text.len, &o, &err) < 0);
        assert_non_null(strstr(err.msg, "errno of a refusal"));
    }
}

static void an_order_is_read_whole(void **state)
{
    struct st_error err = {0};
    struct st_order o;

    (void)state;
    assert_int_equal(st_order_parse(whole, strlen(whole), &o, &err), 0);
    assert_string_equal(o.id, "c1");
    assert_int_equal(o.pid, 42);
    assert_int_equal(o.n_policy_dirs, 2);
    assert_string_equal(o.policy_dirs[1], "/b");
    assert_int_equal(o.on_failure, ST_FAIL_PAUSE);
    assert_int_equal(o.on_trace_failure, ST_FAIL_KILL);
    assert_int_equal(o.rotate_bytes, 1048576);
    assert_int_equal(o.n_sinks, 2);
    assert_string_equal(o.sinks[0].to, "syslog");
    assert_true(o.sinks[0].refusals && o.sinks[0].types == 1u << ST_EV_SENSOR);
    assert_string_equal(o.sinks[1].to, "unix:/s");
    assert_true(!o.sinks[1].refusals && !o.sinks[1].types);
    assert_int_equal(o.worker_grace_ns, 250000000);
    assert_int_equal(o.n_refused, 2);
    assert_string_equal(o.refused[0].name, "mount");
    assert_true(o.refused[0].error == 13 && o.refused[0].flags == 0 && o.refused[1].flags == 131072);
    assert_int_equal(o.n_sockets, 1);
    assert_true(o.sockets[0].error == 22 && o.sockets[0].family == 16 && o.sockets[0].protocol == 9);
    assert_int_equal(o.n_unwatched, 1);
    assert_int_equal(o.control_gid, -1);
    assert_string_equal(o.freezer, "auto");
    assert_int_equal(o.facts_len, strlen("{\"rootfs\":\"/r\"}"));
    assert_memory_equal(o.facts, "{\"rootfs\":\"/r\"}", o.facts_len);
    st_order_free(&o);
}

static void an_order_that_lacks_anything_is_refused(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "{\"id\":\"c1\"}",
        "not json",
        "{\"agent_id\":\"a\",\"facts\":{},\"id\":\"c1\",\"key_dir\":\"/"
        "k\",\"pid\":-1,\"policy\":\"p\",\"rootfs\":\"/r\",\"state_dir\":\"/s\","
        "\"trace\":\"/t\",\"trace_id\":\"x\"}",
        "{\"agent_id\":\"a\",\"facts\":1,\"id\":\"c1\",\"key_dir\":\"/"
        "k\",\"pid\":2,\"policy\":\"p\",\"rootfs\":\"/r\",\"state_dir\":\"/s\","
        "\"trace\":\"/t\",\"trace_id\":\"x\"}",
    };

    (void)state;
    for (size_t i = 0; i < N_OF(texts); i++) {
        struct st_error err = {0};
        struct st_order o;

        assert_true(st_order_parse(texts[i], strlen(texts[i]), &o, &err) < 0);
        assert_non_null(strstr(err.msg, "order to the monitor"));
    }
}

static void a_stop_record_says_how_it_ended(void **state)
{
    static const struct {
        struct st_stop_facts facts;
        const char *json;
    } cases[] = {
        {{.status_known = true, .status = 42 << 8, .reason = "ended", .events = 3, .duration_ms = 5},
         "{\"counts\":{\"events\":3,\"refused\":0},\"duration_ms\":5,\"exit_code\":42,\"op\":\"stop\","
         "\"reason\":\"ended\"}"},
        {{.status_known = true, .status = 9, .reason = "ended"},
         "{\"counts\":{\"events\":0,\"refused\":0},\"duration_ms\":0,\"exit_code\":null,\"exit_signal\":9,"
         "\"op\":\"stop\",\"reason\":\"ended\"}"},
        {{.status_known = false, .reason = "worker lost"},
         "{\"counts\":{\"events\":0,\"refused\":0},\"duration_ms\":0,\"exit_code\":null,\"op\":\"stop\","
         "\"reason\":\"worker lost\"}"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_buf out = ST_BUF_INIT;

        st_record_stop(&out, &cases[i].facts);
        assert_string_equal(st_buf_cstr(&out), cases[i].json);
    }
}

static void a_loss_record_names_its_cause(void **state)
{
    struct st_loss loss = {.cause = "killed by signal 9", .frozen = true, .freeze_us = 104, .unwritten = 7};
    st_auto_buf out = ST_BUF_INIT;

    (void)state;
    st_record_loss(&out, &loss, "kill");
    assert_string_equal(st_buf_cstr(&out),
                        "{\"detail\":\"killed by signal 9\",\"freeze_us\":104,\"frozen\":true,"
                        "\"name\":\"worker\",\"state\":\"lost\",\"then\":\"kill\",\"unwritten\":7}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_is_read_whole),
        cmocka_unit_test(what_a_profile_refuses_is_refused_with_its_errno_and_under_its_condition),
        cmocka_unit_test(the_errno_of_a_refusal_is_one),
        cmocka_unit_test(an_order_that_lacks_anything_is_refused),
        cmocka_unit_test(a_stop_record_says_how_it_ended),
        cmocka_unit_test(a_loss_record_names_its_cause),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
