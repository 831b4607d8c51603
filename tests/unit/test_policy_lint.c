/* Warnings about what is allowed but hardly meant, and what can be put into place ahead. */
#include "policy_unit.h"

#define A_HASH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
    const char *text;
    unsigned line;
    const char *what; /* NULL: no warning at all */
} rows[] = {
    {HEAD "scope: [/w]\n", 0, NULL},
    {HEAD "scope: [/w, /]\n", 3, "the scope is everything"},
    {HEAD "floor: mount\ndefaults: { filesystem: { write: allow } }\n", 0, "the floor holds nothing"},
    {"rules: []\n", 1, "read as 1.0"},
    {HEAD "rules:\n  - { id: a, type: filesystem, paths: ['/x/**'] }\n"
          "  - { id: b, type: filesystem, paths: [/x/y, '/x/z/**'] }\n",
     5, "rule `b` never decides anything: rule `a`"},
    {HEAD "rules:\n  - { id: a, type: filesystem, paths: ['/x/**'], access: [read] }\n"
          "  - { id: b, type: filesystem, paths: [/x/y] }\n",
     0, NULL}, /* it still decides about writing */
    {HEAD "rules:\n  - { id: a, type: filesystem, paths: [/x] }\n"
          "  - { id: b, type: filesystem, paths: ['/x/**'] }\n",
     0, NULL},
    {HEAD "rules:\n  - { id: a, type: filesystem, paths: [/x, '/x/*'] }\n"
          "  - { id: b, type: filesystem, paths: ['/x/**'] }\n",
     0, NULL}, /* what is deeper is left to it */
    {HEAD "rules:\n  - { id: a, type: network_egress, destinations: [{ host: '**.x.example' }] }\n"
          "  - { id: b, type: network_egress, destinations: [{ host: '*.a.x.example', port: 443 }] }\n",
     5, "rule `b` never decides"},
    {HEAD "rules:\n  - { id: a, type: network_egress, destinations: [{ host: x.example, port: 443 }] }\n"
          "  - { id: b, type: network_egress, destinations: [{ host: x.example }] }\n",
     0, NULL},
    {HEAD "rules:\n  - { id: a, type: network_egress, action: deny, destinations: [{ cidr: 10.0.0.0/8 }] }\n"
          "  - { id: b, type: network_egress, destinations: [{ cidr: 10.1.0.0/16 }] }\n",
     5, "rule `b` never decides anything: rule `a`"},
    {HEAD "rules:\n  - { id: a, type: network_egress, action: deny, destinations: [{ cidr: 10.1.0.0/16 }] }\n"
          "  - { id: b, type: network_egress, destinations: [{ cidr: 10.0.0.0/8 }] }\n",
     0, NULL},
    {HEAD "rules:\n  - { id: a, type: network_egress }\n"
          "  - { id: b, type: network_egress, destinations: [{ cidr: 10.0.0.0/8 }] }\n",
     5, "rule `b` never decides"},
    {HEAD "rules:\n  - { id: a, type: process, exec: ['sha256:" A_HASH "', '/x/**'] }\n"
          "  - { id: b, type: process, exec: ['sha256:" A_HASH "', /x/y] }\n",
     5, "rule `b` never decides anything: rule `a`"},
    {HEAD "rules:\n  - { id: a, type: process, exec: ['/x/**'] }\n"
          "  - { id: b, type: process, exec: ['sha256:" A_HASH "'] }\n",
     0, NULL},
    {HEAD "rules:\n  - { id: a, type: process, exec: ['/**'] }\n"
          "  - { id: b, type: process, exec: ['sha256:" A_HASH "'] }\n",
     5, "rule `b` never decides"},
    {HEAD "rules:\n  - { id: a, type: syscall, names: [bpf, mount] }\n"
          "  - { id: b, type: syscall, action: deny, names: [mount] }\n",
     5, "rule `b` never decides"},
    {HEAD "rules:\n  - { id: a, type: syscall, names: [bpf] }\n"
          "  - { id: b, type: syscall, action: deny, names: [bpf, mount] }\n",
     0, NULL},
    {HEAD "defaults: { network_egress: allow }\nrules:\n"
          "  - { id: a, type: network_egress, action: deny, destinations: [{ host: evil.example }] }\n",
     5, "its address can still be reached"},
    {HEAD "rules:\n  - { id: a, type: filesystem, paths: ['/x/{a,b}'] }\n", 4, "stand for themselves"},
    {"network: { allowed_ports: [443] }\n", 1, "allow nothing"},
};

static void warnings_do_not_stop_a_policy(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        st_auto_policy policy = NULL;
        st_auto_diag diags = {0};
        struct st_error err = {0};

        if (st_policy_parse("t.yaml", rows[i].text, strlen(rows[i].text), NULL, &policy, &diags, &err) < 0)
            fail_msg("%s\n%s", rows[i].text, err.msg);
        assert_int_equal(diags.errors, 0);
        if (!rows[i].what && diags.n)
            fail_msg("%s\nwarned: %s", rows[i].text, diags.items[0].what);
        if (rows[i].what && (diags.n != 1 || diags.items[0].line != rows[i].line ||
                             !strstr(diags.items[0].what, rows[i].what)))
            fail_msg("%s\n%zu warnings: %s", rows[i].text, diags.n, diags.n ? diags.items[0].what : "");
    }
}

static void what_may_be_written_is_told_as_trees(void **state)
{
    static const struct {
        const char *text;
        const char *trees;
    } cases[] = {
        {HEAD "scope: [/workspace]\n", "/workspace"},
        {HEAD "scope: [/b, /a/c, /a, /a-b, /a/c/d]\n", "/a /a-b /b"},
        {HEAD, ""},
        {HEAD "defaults: { filesystem: { write: allow } }\nscope: [/w]\n", "/"},
        {HEAD
         "scope: [/w]\nrules:\n"
         "  - { id: a, type: filesystem, paths: ['/var/x/**', /etc/motd, '/log/*.txt', '/home/*/c/**'] }\n"
         "  - { id: b, type: filesystem, paths: ['/ro/**'], access: [read] }\n"
         "  - { id: c, type: filesystem, paths: ['/no/**'], action: deny }\n",
         "/etc/motd /home /log /var/x /w"},
        {HEAD "rules:\n  - { id: a, type: filesystem, paths: ['/**/x'] }\n", "/"},
        {"schema_version: \"1.0\"\nrules: [{ id: a, type: filesystem, paths: [/home/agent/**, /tmp/**] }]\n",
         "/home/agent /tmp"},
        {"fs_writes: { allowed_prefixes: [/tmp/], blocked_prefixes: [/tmp/x] }\n", "/tmp"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        st_auto_policy policy = load(cases[i].text);
        st_auto_buf all = ST_BUF_INIT;
        const char *const *trees;
        size_t n = st_policy_writable(policy, &trees);

        for (size_t t = 0; t < n; t++)
            st_buf_addf(&all, "%s%s", t ? " " : "", trees[t]);
        assert_string_equal(st_buf_cstr(&all), cases[i].trees);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warnings_do_not_stop_a_policy),
        cmocka_unit_test(what_may_be_written_is_told_as_trees),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
