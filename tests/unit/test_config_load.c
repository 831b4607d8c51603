/* The configuration: defaults, each key, each refusal with its place, the file's trust, the environment. */
#include "config/config.h"
#include "model/event.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"

#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *const variables[] = {"SANDTRACE_CONFIG",  "SANDTRACE_RUNTIME", "SANDTRACE_STATE_DIR",
                                        "SANDTRACE_LOG_DIR", "SANDTRACE_KEY_DIR", "SANDTRACE_POLICY_DIR"};

static int clean_environment(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(variables); i++)
        unsetenv(variables[i]);
    return 0;
}

static struct st_config *parse(const char *text)
{
    struct st_config *config = NULL;
    struct st_error err = {0};

    if (st_config_parse("f.yaml", text, strlen(text), &config, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    return config;
}

static char *make_dir(void)
{
    char *dir = st_xstrdup("/tmp/sandtrace-unit.XXXXXX");

    assert_non_null(mkdtemp(dir));
    return dir;
}

static char *put_file(const char *dir, const char *name, const char *text, mode_t mode)
{
    char *path = st_xasprintf("%s/%s", dir, name);
    st_auto_fd fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(st_write_all(fd, text, strlen(text)), 0);
    assert_int_equal(fchmod(fd, mode), 0);
    return path;
}

static void remove_dir(char *dir, char *file)
{
    unlink(file);
    assert_int_equal(rmdir(dir), 0);
    free(file);
    free(dir);
}

static void an_empty_file_gives_the_defaults(void **state)
{
    static const char *const texts[] = {"", "# nothing\n", "~\n", "---\n", "runtime:\nhook: ~\n"};

    (void)state;
    for (size_t i = 0; i < N_OF(texts); i++) {
        st_auto_config c = parse(texts[i]);

        assert_null(c->runtime);
        assert_null(c->control_group);
        assert_string_equal(c->hook, ST_LIBEXECDIR "/sandtrace-hook");
        assert_string_equal(c->monitor, ST_LIBEXECDIR "/sandtrace-monitor");
        assert_string_equal(c->state_dir, ST_RUNDIR);
        assert_string_equal(c->log_dir, ST_LOGDIR);
        assert_string_equal(c->events_db, ST_LIBDIR "/events.db");
        assert_string_equal(c->key_dir, ST_SYSCONFDIR "/keys");
        assert_string_equal(c->policy_dirs[0], ST_SYSCONFDIR "/policies");
        assert_string_equal(c->policy_dirs[1], ST_DATADIR "/policies");
        assert_null(c->policy_dirs[2]);
        assert_string_equal(c->default_policy, "agent-default");
        assert_false(c->policy_paths || c->policy_from_env || c->allow_disable || c->allow_unsigned);
        assert_int_equal(c->on_worker_failure, ST_WORKER_FAILURE_KILL);
        assert_int_equal(c->freezer, ST_FREEZER_AUTO);
        assert_int_equal(c->pod_sandbox, ST_POD_SANDBOX_LIGHT);
        assert_int_equal(c->worker_grace_ms, 5000);
        assert_int_equal(c->on_trace_failure, ST_TRACE_FAILURE_PAUSE);
        assert_int_equal(c->trace_rotate, 0);
        assert_int_equal(c->n_sinks, 0);
        assert_int_equal(c->hook_timeout_ms, 30000);
        assert_true(c->network && c->dead_man_switch);
        assert_true(c->host_network == ST_HOST_REFUSE && c->inner_names == ST_REFUSE);
        assert_int_equal(c->net_admin, ST_NET_ADMIN_REFUSE);
        assert_true(c->host_pid == ST_REFUSE && c->cgroup_write == ST_REFUSE);
        assert_true(c->engine_socket == ST_REFUSE && c->host_devices == ST_REFUSE);
        assert_null(c->resolvers);
    }
}

static void every_key_is_taken(void **state)
{
    st_auto_config c =
        parse("runtime: crun\nhook: /a/hook\nmonitor: '/a/mon itor'\nstate_dir: /s\n"
              "log_dir: /l\npolicy_dirs: [/p1, /p2]\nkey_dir: /k\ndefault_policy: audit-only\n"
              "policy_paths: true\npolicy_from_env: true\nallow_disable: true\n"
              "allow_unsigned: true\ncontrol_group: adm\non_worker_failure: pause\n"
              "worker_grace: 250ms\nfreezer: v2\npod_sandbox: full\nhook_timeout: 1m\n"
              "on_trace_failure: kill\ntrace_rotate: 64MiB\nsinks:\n  - syslog\n"
              "  - to: exec:/bin/page\n    types: [security_pause, sensor]\n    only: refusals\n"
              "network: false\ndead_man_switch: false\nhost_network: cgroup\nnet_admin: "
              "outside\ninner_names: allow\n"
              "host_pid: allow\ncgroup_write: allow\nengine_socket: allow\nhost_devices: allow\n"
              "resolvers: [10.0.0.53, 'fd00::53']\n");

    (void)state;
    assert_string_equal(c->file, "f.yaml");
    assert_string_equal(c->runtime, "crun");
    assert_string_equal(c->hook, "/a/hook");
    assert_string_equal(c->monitor, "/a/mon itor");
    assert_string_equal(c->state_dir, "/s");
    assert_string_equal(c->log_dir, "/l");
    assert_string_equal(c->policy_dirs[0], "/p1");
    assert_string_equal(c->policy_dirs[1], "/p2");
    assert_null(c->policy_dirs[2]);
    assert_string_equal(c->key_dir, "/k");
    assert_string_equal(c->default_policy, "audit-only");
    assert_true(c->policy_paths && c->policy_from_env && c->allow_disable && c->allow_unsigned);
    assert_string_equal(c->control_group, "adm");
    assert_int_equal(c->on_worker_failure, ST_WORKER_FAILURE_PAUSE);
    assert_int_equal(c->freezer, ST_FREEZER_V2);
    assert_int_equal(c->pod_sandbox, ST_POD_SANDBOX_FULL);
    assert_int_equal(c->worker_grace_ms, 250);
    assert_int_equal(c->hook_timeout_ms, 60000);
    assert_int_equal(c->on_trace_failure, ST_TRACE_FAILURE_KILL);
    assert_int_equal(c->trace_rotate, 64 << 20);
    assert_int_equal(c->n_sinks, 2);
    assert_string_equal(c->sinks[0].to, "syslog");
    assert_true(c->sinks[0].types == 0 && !c->sinks[0].refusals);
    assert_string_equal(c->sinks[1].to, "exec:/bin/page");
    assert_int_equal(c->sinks[1].types, 1u << ST_EV_SECURITY_PAUSE | 1u << ST_EV_SENSOR);
    assert_true(c->sinks[1].refusals);
    assert_false(c->network || c->dead_man_switch);
    assert_true(c->host_network == ST_HOST_BY_GROUP && c->inner_names == ST_LET);
    assert_int_equal(c->net_admin, ST_NET_ADMIN_OUTSIDE);
    assert_true(c->host_pid == ST_LET && c->cgroup_write == ST_LET);
    assert_true(c->engine_socket == ST_LET && c->host_devices == ST_LET);
    assert_string_equal(c->resolvers[0], "10.0.0.53");
    assert_string_equal(c->resolvers[1], "fd00::53");
    assert_null(c->resolvers[2]);
}

static void example_and_manual_name_every_key(void **state)
{
    static const char *const names[] = {
        "runtime",         "hook",          "monitor",         "state_dir",      "log_dir",
        "events_db",       "policy_dirs",   "key_dir",         "default_policy", "policy_paths",
        "policy_from_env", "allow_disable", "allow_unsigned",  "control_group",  "on_worker_failure",
        "worker_grace",    "freezer",       "pod_sandbox",     "hook_timeout",   "on_trace_failure",
        "trace_rotate",    "sinks",         "network",         "resolvers",      "inner_names",
        "host_network",    "net_admin",     "dead_man_switch", "host_pid",       "cgroup_write",
        "engine_socket",   "host_devices",  "process_events",  "depth"};
    const char *srcdir = getenv("ST_SRCDIR");
    st_auto_free char *path = st_xasprintf("%s/contrib/sandtrace.yaml", srcdir ? srcdir : ".");
    st_auto_free char *manual = st_xasprintf("%s/docs/man/sandtrace.yaml.5.scd", srcdir ? srcdir : ".");
    st_auto_buf text = ST_BUF_INIT, live = ST_BUF_INIT;
    struct st_error err = {0};
    size_t found = 0;

    (void)state;
    assert_int_equal(st_read_file(path, 65536, &text, &err), 0);
    /* As shipped everything is commented out; with the marks taken away each line must be right. */
    for (const char *line = st_buf_cstr(&text); *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t len = strcspn(line, "\n");

        assert_true(len == 0 || line[0] == '#');
        for (size_t i = 0; i < N_OF(names); i++)
            if (len > strlen(names[i]) + 1 && strncmp(line + 1, names[i], strlen(names[i])) == 0 &&
                line[1 + strlen(names[i])] == ':') {
                st_buf_add(&live, line + 1, len - 1);
                st_buf_addc(&live, '\n');
                found++;
            }
    }
    assert_int_equal(found, N_OF(names));
    st_auto_config c = parse(st_buf_cstr(&live));
    assert_string_equal(c->default_policy, "agent-default");

    st_buf_clear(&text);
    assert_int_equal(st_read_file(manual, 65536, &text, &err), 0);
    for (size_t i = 0; i < N_OF(names); i++) {
        st_auto_free char *entry = st_xasprintf("\n*%s:*", names[i]);

        if (!strstr(st_buf_cstr(&text), entry))
            fail_msg("sandtrace.yaml(5) does not describe %s", names[i]);
    }
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"runtme: runc\n", "f.yaml:1:1: unknown key `runtme`; did you mean `runtime`?"},
        {"a: 1\n", "f.yaml:1:1: unknown key `a`; sandtrace.yaml(5) lists the keys"},
        {"\nruntime: ./runc\n", "f.yaml:2:10: wrong value for `runtime`; write an absolute path"},
        {"runtime: ''\n", "f.yaml:1:10: wrong value for `runtime`; write an absolute path"},
        {"hook: sandtrace-hook\n", "f.yaml:1:7: wrong value for `hook`; write an absolute path"},
        {"state_dir: /run/../x\n", "write the path without '..'"},
        {"log_dir: [/a]\n", "f.yaml:1:10: wrong value for `log_dir`; write one plain value"},
        {"policy_dirs: []\n", "f.yaml:1:14: empty list for `policy_dirs`; name at least one directory"},
        {"policy_dirs: [/a, b]\n", "f.yaml:1:19: wrong value in `policy_dirs`; write an absolute path"},
        {"policy_dirs: [/a, [/b]]\n", "wrong value in `policy_dirs`; write a list of paths"},
        {"policy_dirs: b\n", "wrong value for `policy_dirs`; write an absolute path"},
        {"default_policy: ../x\n", "wrong value for `default_policy`; a policy name has"},
        {"default_policy: a..b\n", "wrong value for `default_policy`; a policy name has"},
        {"default_policy: /a/../b\n", "wrong value for `default_policy`; write the path without '..'"},
        {"policy_paths: yes\n", "f.yaml:1:15: wrong value for `policy_paths`; write true or false"},
        {"allow_disable: 'true'\n", "wrong value for `allow_disable`; write true or false without quotes"},
        {"control_group: 'a:b'\n", "write the name or the number of a group"},
        {"on_worker_failure: ignore\n", "write kill or pause"},
        {"on_trace_failure: ignore\n", "write pause or kill"},
        {"trace_rotate: 1\n", "f.yaml:1:15: wrong value for `trace_rotate`; write a size from 1MiB on"},
        {"trace_rotate: 1023KiB\n", "write a size from 1MiB on"},
        {"trace_rotate: 99999999999999999999TiB\n", "write a size from 1MiB on"},
        {"trace_rotate: MiB\n", "write a size from 1MiB on"},
        {"sinks: syslog\n", "f.yaml:1:8: wrong value for `sinks`; write a list of places"},
        {"sinks: [tcp:1.2.3.4]\n", "f.yaml:1:9: wrong value in `sinks`; write file:PATH, unix:PATH, syslog,"},
        {"sinks: [file:x]\n", "an absolute path must follow the colon"},
        {"sinks: [file]\n", "an absolute path must follow the colon"},
        {"sinks: [exec:/a/../b]\n", "write the path without '..'"},
        {"sinks: [stdout]\n", "use `sandtrace watch --json`"},
        {"sinks:\n  - syslog:\n", "f.yaml:2:5: unknown key `syslog`; a sink has to, types and only"},
        {"sinks: [{types: [sensor]}]\n", "missing key `to`; say where records go"},
        {"sinks: [{to: syslog, types: [rumour]}]\n", "sandtrace-trace(5) lists the types of events"},
        {"sinks: [{to: syslog, types: []}]\n", "write a list such as [security_pause, sensor]"},
        {"sinks: [{to: syslog, only: some}]\n", "write refusals, or leave it out"},
        {"freezer: v3\n", "write auto, v1 or v2"},
        {"pod_sandbox: none\n", "write light or full"},
        {"depth: guard\n", "write policy or strict"},
        {"resolvers: [ns.example]\n",
         "wrong value in `resolvers`; write addresses, such as [10.0.0.53, fd00::53]"},
        {"net_admin: yes\n", "wrong value for `net_admin`; write refuse, allow or outside"},
        {"worker_grace: 5\n", "wrong value for `worker_grace`; write a duration such as 5s"},
        {"hook_timeout: 0\n", "write a duration from 1s to 1h"},
        {"hook_timeout: 2h\n", "write a duration from 1s to 1h"},
        {"hook: /a\nhook: /b\n", "f.yaml:2:1: duplicate key `hook`"},
        {"- a\n", "f.yaml:1:1: not a list of `key: value`"},
        {"just words\n", "f.yaml:1:1: not a list of `key: value`"},
        {"hook: &a /x\n", "f.yaml:1:7: anchors and aliases are not supported"},
        {"hook: \"/x\n", "f.yaml:"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct st_config *config = NULL;
        struct st_error err = {0};

        assert_true(st_config_parse("f.yaml", cases[i].text, strlen(cases[i].text), &config, &err) < 0);
        assert_null(config);
        if (!strstr(err.msg, cases[i].said))
            fail_msg("%s: said '%s', not '%s'", cases[i].text, err.msg, cases[i].said);
    }
}

static void a_named_file_must_exist_and_be_trusted(void **state)
{
    char *dir = make_dir(), *file = put_file(dir, "c.yaml", "state_dir: /from-file\n", 0644);
    struct st_config *c = NULL;
    struct st_error err = {0};

    (void)state;
    assert_int_equal(st_config_load(file, &c, &err), 0);
    assert_string_equal(c->file, file);
    assert_string_equal(c->state_dir, "/from-file");
    st_config_freep(&c);

    assert_int_equal(chmod(file, 0664), 0);
    assert_int_equal(st_config_load(file, &c, &err), -EPERM);
    assert_non_null(strstr(err.msg, "chmod go-w"));
    assert_int_equal(chmod(file, 0646), 0);
    assert_int_equal(st_config_load(file, &c, &err), -EPERM);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(st_config_load(file, &c, &err), -ENOENT);
    assert_int_equal(setenv("SANDTRACE_CONFIG", file, 1), 0);
    assert_int_equal(st_config_load(NULL, &c, &err), -ENOENT);
    assert_int_equal(st_config_load(dir, &c, &err), -EINVAL);
    assert_non_null(strstr(err.msg, "not a regular file"));
    assert_null(c);
    remove_dir(dir, file);
}

static void a_relative_file_is_remembered_as_absolute(void **state)
{
    char *dir = make_dir(), *file = put_file(dir, "c.yaml", "", 0600);
    st_auto_free char *back = getcwd(NULL, 0);
    st_auto_config c = NULL;
    struct st_error err = {0};

    (void)state;
    assert_int_equal(chdir(dir), 0);
    assert_int_equal(st_config_load("c.yaml", &c, &err), 0);
    assert_int_equal(chdir(back), 0);
    assert_string_equal(c->file, file);
    remove_dir(dir, file);
}

static void the_environment_wins_over_the_file(void **state)
{
    char *dir = make_dir(),
         *file = put_file(dir, "c.yaml", "state_dir: /f\nlog_dir: /f\nruntime: crun\n", 0600);
    struct st_config *c = NULL;
    struct st_error err = {0};

    (void)state;
    setenv("SANDTRACE_CONFIG", file, 1);
    setenv("SANDTRACE_STATE_DIR", "/e/state", 1);
    setenv("SANDTRACE_KEY_DIR", "/e/keys", 1);
    setenv("SANDTRACE_LOG_DIR", "", 1);
    setenv("SANDTRACE_POLICY_DIR", "/e/p1:/e/p2", 1);
    setenv("SANDTRACE_RUNTIME", "/e/runc", 1);
    assert_int_equal(st_config_load(NULL, &c, &err), 0);
    assert_string_equal(c->state_dir, "/e/state");
    assert_string_equal(c->log_dir, "/f");
    assert_string_equal(c->key_dir, "/e/keys");
    assert_string_equal(c->policy_dirs[0], "/e/p1");
    assert_string_equal(c->policy_dirs[1], "/e/p2");
    assert_null(c->policy_dirs[2]);
    assert_string_equal(c->runtime, "/e/runc");
    st_config_freep(&c);

    setenv("SANDTRACE_POLICY_DIR", "/e::/f", 1);
    assert_int_equal(st_config_load(NULL, &c, &err), -EINVAL);
    assert_non_null(strstr(err.msg, "environment variable SANDTRACE_POLICY_DIR: wrong value"));
    assert_null(c);
    remove_dir(dir, file);
}

static void the_control_group_is_found_by_name_or_number(void **state)
{
    static const struct {
        const char *group;
        int rc;
        gid_t gid;
    } cases[] = {
        {NULL, 0, (gid_t)-1},  {"0", 0, 0},         {"4294967294", 0, 4294967294u},
        {"adm", 0, 4},         {"ad", -ENOENT, 0},  {"admin", -ENOENT, 0},
        {"nogid", -ENOENT, 0}, {"bad", -ENOENT, 0}, {"4294967295", -ENOENT, 0},
        {"last", 0, 77},
    };
    char *dir = make_dir(),
         *file = put_file(dir, "group", "root:x:0:\nadm:x:4:a,b\nnogid:x\nbad:x:4x:\nlast:x:77:", 0644);

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        char *name = cases[i].group ? st_xstrdup(cases[i].group) : NULL;
        struct st_config config = {.control_group = name};
        struct st_error err = {0};
        gid_t gid = 12345;

        assert_int_equal(st_config_control_gid(&config, file, &gid, &err), cases[i].rc);
        if (cases[i].rc == 0)
            assert_int_equal(gid, cases[i].gid);
        free(name);
    }
    remove_dir(dir, file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_file_gives_the_defaults),
        cmocka_unit_test(every_key_is_taken),
        cmocka_unit_test(example_and_manual_name_every_key),
        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
        cmocka_unit_test_setup_teardown(a_named_file_must_exist_and_be_trusted, clean_environment,
                                        clean_environment),
        cmocka_unit_test_setup_teardown(a_relative_file_is_remembered_as_absolute, clean_environment,
                                        clean_environment),
        cmocka_unit_test_setup_teardown(the_environment_wins_over_the_file, clean_environment,
                                        clean_environment),
        cmocka_unit_test(the_control_group_is_found_by_name_or_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
