/* What was approved for good is there in the next run: under the same policy, whole, from a file that nobody
 * else could have written. */
#include "audit/trace.h"
#include "monitor/grants.h"
#include "monitor/kept.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLICY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER_POLICY "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

static char dir[64], trace_path[96], kept_path[96];
static struct st_trace *trace;
static struct st_grants grants;

static int set_up(void **state)
{
    struct st_trace_options options = {.path = trace_path, .agent_id = "box", .trace_id = "box@now"};
    struct st_error err = {0};

    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/st-kept.XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(trace_path, sizeof(trace_path), "%s/box.jsonl", dir);
    snprintf(kept_path, sizeof(kept_path), "%s/box.approved", dir);
    return st_trace_open(&options, &trace, &err);
}

static int tear_down(void **state)
{
    (void)state;
    st_trace_close(trace);
    st_grants_free(&grants);
    unlink(trace_path);
    unlink(kept_path);
    return rmdir(dir);
}

static struct st_event connection(uint16_t port)
{
    struct st_event ev = {.type = ST_EV_NETWORK_EGRESS,
                          .tier = ST_TIER_KERNEL,
                          .wall_us = 1,
                          .net = {.port = port,
                                  .protocol = 6,
                                  .host = ST_STR_LIT("api.example.test"),
                                  .host_source = ST_HOST_DNS,
                                  .bytes_sent = ST_UNKNOWN,
                                  .bytes_received = ST_UNKNOWN,
                                  .packets_sent = ST_UNKNOWN,
                                  .packets_received = ST_UNKNOWN,
                                  .duration_ms = ST_UNKNOWN}};

    assert_true(st_addr_parse(ST_STR_LIT("192.0.2.1"), &ev.net.addr));
    return ev;
}

/* The record of its refusal, which the caller frees. */
static char *refused(const struct st_event *ev)
{
    const struct st_verdict v = {.result = ST_DENY,
                                 .severity = ST_SEV_HIGH,
                                 .action = ST_ACT_PAUSED,
                                 .reason = ST_STR_LIT("no rule allows it"),
                                 .policy_sha256 = POLICY};
    char id[ST_EVENT_ID_SIZE];
    struct st_error err = {0};
    struct st_str line;

    assert_int_equal(st_trace_append(trace, ev, &v, id, &err), 0);
    line = st_trace_line(trace);
    return strndup(line.p, line.len);
}

static void keep(const struct st_event *ev)
{
    char *line = refused(ev);
    struct st_error err = {0};

    assert_int_equal(st_kept_add(trace_path, line, &err), 0);
    free(line);
}

static void on_recalled(void *ctx, const struct st_decoded *d)
{
    (void)ctx;
    st_grants_add(&grants, &d->ev, "recalled");
}

static int recall(const char *policy)
{
    struct st_error err = {0};

    return st_kept_recall(trace_path, policy, on_recalled, NULL, &err);
}

static void test_what_was_approved_is_granted_and_nothing_else(void **state)
{
    struct st_event https = connection(443), http = connection(80);
    struct st_event name = {.type = ST_EV_DNS_QUERY,
                            .tier = ST_TIER_KERNEL,
                            .wall_us = 1,
                            .dns = {.name = ST_STR_LIT("other.example.test"), .qtype = 1}};

    (void)state;
    keep(&https);
    keep(&name);
    assert_int_equal(recall(POLICY), 0);
    assert_int_equal(grants.n, 2);
    assert_non_null(st_grants_cover(&grants, &https));
    assert_non_null(st_grants_cover(&grants, &name));
    assert_null(st_grants_cover(&grants, &http));
}

static void test_another_policy_has_not_been_asked(void **state)
{
    struct st_event https = connection(443);

    (void)state;
    keep(&https);
    assert_int_equal(recall(OTHER_POLICY), 0);
    assert_int_equal(grants.n, 0);
}

static void test_a_line_that_was_cut_grants_nothing_and_spoils_none(void **state)
{
    struct st_event https = connection(443), http = connection(80);
    char *line;
    int fd;

    (void)state;
    keep(&https);
    line = refused(&https);
    fd = open(kept_path, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(write(fd, line, strlen(line) / 2), strlen(line) / 2);
    close(fd);
    free(line);
    keep(&http);
    assert_int_equal(recall(POLICY), 0);
    assert_int_equal(grants.n, 2);
    assert_non_null(st_grants_cover(&grants, &http));
}

static void test_a_line_that_was_changed_grants_nothing(void **state)
{
    struct st_event https = connection(443);
    char *line = refused(&https), *port = strstr(line, "\"dst_port\":443");
    struct st_error err = {0};

    (void)state;
    assert_non_null(port);
    port[strlen("\"dst_port\":44")] = '4';
    assert_int_equal(st_kept_add(trace_path, line, &err), 0);
    free(line);
    assert_int_equal(recall(POLICY), 0);
    assert_int_equal(grants.n, 0);
}

static void test_files_are_approved_for_one_run(void **state)
{
    struct st_event file = {.type = ST_EV_FILESYSTEM,
                            .tier = ST_TIER_KERNEL,
                            .wall_us = 1,
                            .fs = {.op = ST_FS_OPEN,
                                   .access = ST_ACCESS_READ,
                                   .path = ST_STR_LIT("/etc/shadow"),
                                   .size = ST_UNKNOWN}};

    (void)state;
    assert_false(st_kept_concerns(&file));
    keep(&file);
    assert_int_equal(recall(POLICY), 0);
    assert_int_equal(grants.n, 0);
}

static void test_a_file_that_others_may_write_is_not_believed(void **state)
{
    struct st_event https = connection(443);

    (void)state;
    keep(&https);
    assert_int_equal(chmod(kept_path, 0622), 0);
    assert_int_equal(recall(POLICY), -EPERM);
    assert_int_equal(grants.n, 0);
}

static void test_a_new_trace_begins_without(void **state)
{
    struct st_event https = connection(443);

    (void)state;
    keep(&https);
    st_kept_forget(trace_path);
    assert_int_equal(recall(POLICY), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_was_approved_is_granted_and_nothing_else, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_another_policy_has_not_been_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_line_that_was_cut_grants_nothing_and_spoils_none, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_line_that_was_changed_grants_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_files_are_approved_for_one_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_that_others_may_write_is_not_believed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_new_trace_begins_without, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
