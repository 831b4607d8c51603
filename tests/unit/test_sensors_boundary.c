/* Arguments of boundary syscalls, by registers and from a memory that is not ours. */
#include "base/cleanup.h"
#include "base/json.h"
#include "model/event.h"
#include "sensors/boundary_args.h"
#include "unit.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>

/* A memory of a few places; all else can't be read. */
struct place {
    uint64_t at;
    const void *bytes;
    size_t n;
};

struct memory {
    struct place places[8];
};

static ssize_t read_memory(void *ctx, uint64_t address, void *out, size_t n)
{
    const struct memory *m = ctx;

    for (const struct place *p = m->places; p->bytes; p++)
        if (address >= p->at && address < p->at + p->n) {
            size_t there = (size_t)(p->at + p->n - address), got = n < there ? n : there;

            memcpy(out, (const char *)p->bytes + (address - p->at), got);
            return (ssize_t)got;
        }
    return -EFAULT;
}

static void expect(const struct seccomp_data *call, struct memory *m, const char *json)
{
    st_auto_buf out = ST_BUF_INIT;

    st_boundary_decode(st_boundary_by_nr(call->nr), call, read_memory, m, &out);
    assert_string_equal(st_buf_cstr(&out), json);
}

#define CALL(name, ...)                                                                                      \
    &(struct seccomp_data)                                                                                   \
    {                                                                                                        \
        .nr = SYS_##name, .args = { __VA_ARGS__ }                                                            \
    }
#define TEXT(address, s)                                                                                     \
    {                                                                                                        \
        (address), (s), sizeof(s)                                                                            \
    }

static void arguments_in_registers_have_names(void **state)
{
    struct memory none = {0};

    (void)state;
    expect(CALL(ptrace, 16, 42), &none, "{\"pid\":42,\"request\":\"attach\"}");
    expect(CALL(ptrace, 0x7777, (uint64_t)-1), &none, "{\"pid\":-1,\"request\":\"0x7777\"}");
    expect(CALL(unshare, CLONE_NEWNS | CLONE_NEWUSER | 1), &none,
           "{\"flags\":[\"newns\",\"newuser\",\"0x1\"]}");
    expect(CALL(clone, CLONE_NEWPID | 17), &none, "{\"flags\":[\"newpid\"]}");
    expect(CALL(setns, 5, CLONE_NEWNET), &none, "{\"fd\":5,\"type\":[\"newnet\"]}");
    expect(CALL(socket, AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 768), &none,
           "{\"family\":\"packet\",\"protocol\":768,\"type\":\"raw\"}");
    expect(CALL(socket, AF_NETLINK, SOCK_RAW, 12), &none,
           "{\"family\":\"netlink\",\"protocol\":\"netfilter\",\"type\":\"raw\"}");
    expect(CALL(setresuid, 0, (uint32_t)-1, 1000), &none, "{\"effective\":-1,\"real\":0,\"saved\":1000}");
    expect(CALL(setuid, 0xfffffffeu), &none, "{\"uid\":4294967294}");
    expect(CALL(bpf, 5, 0, 128), &none, "{\"cmd\":\"prog_load\",\"size\":128}");
    expect(CALL(bpf, 99, 0, UINT64_MAX), &none, "{\"cmd\":\"0x63\",\"size\":\"0xffffffffffffffff\"}");
    expect(CALL(keyctl, 1, 0), &none, "{\"key\":\"0x0\",\"operation\":\"join_session_keyring\"}");
    expect(CALL(reboot, 0, 0, 0x4321fedc), &none, "{\"cmd\":\"power_off\"}");
    expect(CALL(personality, 0x40000), &none, "{\"persona\":[\"addr_no_randomize\"]}");
}

static void texts_are_read_from_memory(void **state)
{
    struct memory m = {{TEXT(0x1000, "/dev/sda\"\n"), TEXT(0x2000, "/mnt"), TEXT(0x3000, "ext4")}};

    (void)state;
    expect(CALL(mount, 0x1000, 0x2000, 0x3000, 4096 | 16384, 0), &m,
           "{\"flags\":[\"bind\",\"rec\"],\"fstype\":\"ext4\",\"source\":\"/dev/sda\\\"\\n\","
           "\"target\":\"/mnt\"}");
    expect(CALL(mount, 0, 0x2000, 1, 0, 0), &m,
           "{\"flags\":[],\"fstype\":{\"unreadable\":\"0x1\"},\"source\":null,\"target\":\"/mnt\"}");
    expect(CALL(chroot, 0xdead0000), &m, "{\"path\":{\"unreadable\":\"0xdead0000\"}}");
    expect(CALL(sethostname, 0x2000, 3), &m, "{\"name\":\"/mn\"}");
    expect(CALL(sethostname, 0x2000, UINT64_MAX), &m, "{\"name\":{\"cut\":true,\"text\":\"/mnt\\u0000\"}}");
    expect(CALL(open_tree, (uint32_t)-100, 0x2000, 1), &m,
           "{\"dir\":\"cwd\",\"flags\":[\"clone\"],\"path\":\"/mnt\"}");
}

static void files_in_memory_have_their_name_and_flags(void **state)
{
    static char longer[300];
    struct memory m = {{TEXT(0x1000, "a\"b"), TEXT(0x2000, ""), {0x3000, longer, sizeof(longer)}}};
    st_auto_buf out = ST_BUF_INIT;

    (void)state;
    expect(CALL(memfd_create, 0x1000, 0x13), &m,
           "{\"flags\":[\"cloexec\",\"allow_sealing\",\"exec\"],\"name\":\"a\\\"b\"}");
    expect(CALL(memfd_create, 0, 0xffffffff00000008), &m, "{\"flags\":[\"noexec_seal\"],\"name\":null}");
    expect(CALL(memfd_create, 0x9000, 21u << 26 | 4), &m,
           "{\"flags\":[\"hugetlb\",\"0x54000000\"],\"name\":{\"unreadable\":\"0x9000\"}}");
    memset(longer, 'x', sizeof(longer) - 1);
    st_boundary_decode(st_boundary_by_nr(SYS_memfd_create), CALL(memfd_create, 0x3000), read_memory, &m,
                       &out);
    assert_non_null(strstr(st_buf_cstr(&out), longer)); /* the kernel will not take it */
    expect(CALL(execveat, 5, 0x2000, 0, 0, 0x11000), &m,
           "{\"dir\":5,\"flags\":[\"empty_path\",\"execve_check\"],\"path\":\"\"}");
}

static void one_more_text_is_added_to_what_was_decoded(void **state)
{
    static char longer[ST_BOUNDARY_TEXT + 1];
    struct memory m = {{TEXT(0x2000, "")}};
    st_auto_buf out = ST_BUF_INIT, none = ST_BUF_INIT, cut = ST_BUF_INIT;

    (void)state;
    st_boundary_decode(st_boundary_by_nr(SYS_execveat), CALL(execveat, 5, 0x2000, 0, 0, 0x1000), read_memory,
                       &m, &out);
    st_boundary_add_text(&out, "program", "/memfd:\xff", 8);
    assert_string_equal(st_buf_cstr(&out),
                        "{\"dir\":5,\"flags\":[\"empty_path\"],\"path\":\"\",\"program\":{\"b64\":"
                        "\"L21lbWZkOv8=\",\"text\":\"/memfd:\xef\xbf\xbd\"}}");
    st_buf_adds(&none, "{}");
    st_boundary_add_text(&none, "program", "x", 1);
    assert_string_equal(st_buf_cstr(&none), "{\"program\":\"x\"}");
    memset(longer, 'x', sizeof(longer));
    st_buf_adds(&cut, "{}");
    st_boundary_add_text(&cut, "program", longer, sizeof(longer));
    assert_non_null(strstr(st_buf_cstr(&cut), "\"cut\":true"));
}

static void what_is_no_text_is_shown_exactly_all_the_same(void **state)
{
    struct memory m = {{TEXT(0x1000, "\xff/x")}};

    (void)state;
    expect(CALL(chroot, 0x1000), &m, "{\"path\":{\"b64\":\"/y94\",\"text\":\"\xef\xbf\xbd/x\"}}");
}

static void a_long_text_is_cut_and_one_that_just_fits_is_not(void **state)
{
    static char bytes[8192];
    struct memory m = {{{0x10ffa, bytes, sizeof(bytes)}}};

    (void)state;
    for (size_t n = ST_BOUNDARY_TEXT - 1; n <= ST_BOUNDARY_TEXT + 1; n++) {
        st_auto_buf out = ST_BUF_INIT;
        bool cut;

        memset(bytes, 'x', sizeof(bytes));
        bytes[n] = '\0';
        st_boundary_decode(st_boundary_by_nr(SYS_chroot), CALL(chroot, 0x10ffa), read_memory, &m, &out);
        cut = strstr(st_buf_cstr(&out), "\"cut\":true") != NULL;
        assert_int_equal(cut, n > ST_BOUNDARY_TEXT);
    }
}

static void memory_that_ends_in_the_middle_is_shown_as_far_as_it_goes(void **state)
{
    struct memory m = {{{0x1ffd, "abc", 3}}};

    (void)state;
    expect(CALL(chroot, 0x1ffd), &m, "{\"path\":\"abc\"}");
}

static void sets_of_capabilities_have_names(void **state)
{
    const struct __user_cap_header_struct three = {_LINUX_CAPABILITY_VERSION_3, 0},
                                          one = {_LINUX_CAPABILITY_VERSION_1, 0};
    const struct __user_cap_data_struct sets[2] = {{1u << 21, 1u << 12 | 1, 0},
                                                   {0, 1u << (39 - 32), 1u << 31}};
    struct memory m = {
        {{0x1000, &three, sizeof(three)}, {0x1100, &one, sizeof(one)}, {0x2000, sets, sizeof(sets)}}};

    (void)state;
    expect(CALL(capset, 0x1000, 0x2000), &m,
           "{\"caps\":{\"effective\":[\"sys_admin\"],\"inheritable\":[\"0x8000000000000000\"],"
           "\"permitted\":[\"chown\",\"net_admin\",\"bpf\"]}}");
    expect(CALL(capset, 0x1100, 0x2000), &m,
           "{\"caps\":{\"effective\":[\"sys_admin\"],\"inheritable\":[],\"permitted\":[\"chown\",\"net_"
           "admin\"]}}");
    expect(CALL(capset, 0x1000, 0), &m, "{\"caps\":null}");
    expect(CALL(capset, 0x9000, 0x2000), &m, "{\"caps\":{\"unreadable\":\"0x9000\"}}");
    expect(CALL(capset, 0x1000, 0x2001), &m, "{\"caps\":{\"unreadable\":\"0x2001\"}}");
}

static void every_row_gives_an_object_whatever_its_arguments_are(void **state)
{
    static const uint64_t values[] = {0, 1, 0x1000, 0xffffffff, UINT64_MAX, 1ull << 63};
    struct memory m = {{TEXT(0x1000, "some text, and more than four bytes of it")}};
    const struct st_boundary *row;

    (void)state;
    for (size_t i = 0; (row = st_boundary_at(i)); i++) {
        assert_ptr_equal(st_boundary_by_nr(row->nr), row);
        assert_int_equal(st_boundary_index(row), i);
        for (size_t v = 0; v < N_OF(values); v++) {
            struct seccomp_data call = {.nr = row->nr};
            st_auto_buf out = ST_BUF_INIT;
            st_auto_json doc = NULL;
            struct st_error err = {0};

            for (size_t k = 0; k < 6; k++)
                call.args[k] = values[v];
            st_boundary_decode(row, &call, read_memory, &m, &out);
            if (st_json_parse(out.data, out.len, ST_JSON_DEFAULT_LIMITS, &doc, &err) < 0)
                fail_msg("%s: %s: %s", row->name, st_buf_cstr(&out), err.msg);
            assert_true(st_json_is(st_json_root(doc), ST_JSON_OBJECT));
        }
    }
}

static bool quiet(const struct seccomp_data *call, int64_t uid, int64_t gid)
{
    return st_boundary_is_quiet(st_boundary_by_nr(call->nr), call, uid, gid);
}

static void what_crosses_nothing_is_quiet(void **state)
{
    (void)state;
    assert_true(quiet(CALL(setuid, 1000), 0, 0));
    assert_true(quiet(CALL(setuid, 0), 0, 0));
    assert_false(quiet(CALL(setuid, 0), 1000, 1000));
    assert_false(quiet(CALL(setuid, 1ull << 32), 1000, 1000)); /* the kernel looks at 32 bits */
    assert_false(quiet(CALL(setuid, 0), ST_UNKNOWN, ST_UNKNOWN));
    assert_true(quiet(CALL(setresuid, 1000, 1000, 1000), 1000, 0));
    assert_false(quiet(CALL(setresuid, (uint32_t)-1, (uint32_t)-1, 0), 1000, 0));
    assert_false(quiet(CALL(setgid, 0), 0, 1000));
    assert_true(quiet(CALL(setgid, 0), 1000, 0));
    assert_true(quiet(CALL(personality, 0xffffffff), 0, 0));
    assert_true(quiet(CALL(personality, UINT64_MAX), 0, 0));
    assert_false(quiet(CALL(personality, 0), 0, 0));
    assert_true(quiet(CALL(socket, AF_INET6), 0, 0));
    assert_false(quiet(CALL(socket, AF_VSOCK), 0, 0));
    assert_true(quiet(CALL(clone, 17 | 0x80), 0, 0));
    assert_false(quiet(CALL(unshare, 0x80), 0, 0));
    assert_false(quiet(CALL(clone, CLONE_NEWNET), 0, 0));
    assert_false(quiet(CALL(ptrace, 0), 0, 0));
    assert_true(quiet(CALL(memfd_create, 0, 3), 0, 0));
    assert_true(quiet(CALL(memfd_create, 0, 8), 0, 0));
    assert_false(quiet(CALL(memfd_create, 0, 0x10), 0, 0));
    assert_false(quiet(CALL(memfd_create, 0, 0xffffffffffffffff), 0, 0));
    assert_true(quiet(CALL(memfd_create, 0, 1ull << 36), 0, 0)); /* the kernel looks at 32 bits */
    assert_true(quiet(CALL(execveat, 5, 0, 0, 0, 0x100), 0, 0));
    assert_false(quiet(CALL(execveat, 5, 0, 0, 0, 0x1000), 0, 0));
}

static void what_can_be_executed_is_told_by_the_flags(void **state)
{
    (void)state;
    assert_true(st_memfd_makes_program(0x10, false));
    assert_true(st_memfd_makes_program(0x18, true)); /* the kernel will not take it */
    assert_false(st_memfd_makes_program(0, false));
    assert_true(st_memfd_makes_program(0, true));
    assert_false(st_memfd_makes_program(8, true));
    assert_true(st_memfd_makes_program(4, true));
}

static const char *needs(const struct seccomp_data *call)
{
    const char *name = st_boundary_capability(st_boundary_by_nr(call->nr), call);

    return name ? name : "";
}

static void a_use_names_the_capability_that_it_needs(void **state)
{
    (void)state;
    assert_string_equal(needs(CALL(mount, 0)), "CAP_SYS_ADMIN");
    assert_string_equal(needs(CALL(ptrace, 0)), "");
    assert_string_equal(needs(CALL(unshare, CLONE_NEWNS)), "CAP_SYS_ADMIN");
    assert_string_equal(needs(CALL(unshare, CLONE_NEWNS | CLONE_NEWUSER)), "");
    assert_string_equal(needs(CALL(socket, AF_PACKET, SOCK_DGRAM)), "CAP_NET_RAW");
    assert_string_equal(needs(CALL(socket, AF_NETLINK, SOCK_RAW)), "");
    assert_string_equal(needs(CALL(setgid, 0)), "CAP_SETGID");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_in_registers_have_names),
        cmocka_unit_test(texts_are_read_from_memory),
        cmocka_unit_test(files_in_memory_have_their_name_and_flags),
        cmocka_unit_test(one_more_text_is_added_to_what_was_decoded),
        cmocka_unit_test(what_is_no_text_is_shown_exactly_all_the_same),
        cmocka_unit_test(a_long_text_is_cut_and_one_that_just_fits_is_not),
        cmocka_unit_test(memory_that_ends_in_the_middle_is_shown_as_far_as_it_goes),
        cmocka_unit_test(sets_of_capabilities_have_names),
        cmocka_unit_test(every_row_gives_an_object_whatever_its_arguments_are),
        cmocka_unit_test(what_crosses_nothing_is_quiet),
        cmocka_unit_test(what_can_be_executed_is_told_by_the_flags),
        cmocka_unit_test(a_use_names_the_capability_that_it_needs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
