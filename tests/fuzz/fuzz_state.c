/* Any bytes as the state on a hook's stdin, of which the short reader and the long one must say the same, and
 * as a config.json whose facts and policy are asked for. */
#include "oci/facts.h"
#include "oci/select.h"
#include "oci/state.h"
#include "state_pid.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_selection(const char *id, const struct st_json_node *annotations,
                            const struct st_json_node *env)
{
    static const struct st_select_rules strict = {.default_policy = "d", .light_pods = true};
    static const struct st_select_rules lax = {"d", true, true, true, true};
    const struct st_select_input input = {id, annotations, env};
    struct st_selection s;
    struct st_error err = {0};

    if (st_oci_select(&strict, &input, &s, &err) == 0)
        demand(s.policy && !strchr(s.policy, '/') && !strstr(s.policy, "..") && !s.disabled);
    if (st_oci_select(&lax, &input, &s, &err) == 0)
        demand(s.policy && !strstr(s.policy, "/../") && strlen(s.policy) <= 1024);
}

static void check_facts(const struct st_oci_config *config)
{
    st_auto_buf facts = ST_BUF_INIT;
    st_auto_json doc = NULL;
    struct st_error err = {0};

    st_oci_facts(config, "/b", &facts);
    demand(facts.len < (size_t)1 << 20);
    demand(st_json_parse(facts.data, facts.len, ST_JSON_DEFAULT_LIMITS, &doc, &err) == 0);
    demand(st_json_is(st_json_root(doc), ST_JSON_OBJECT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    st_auto_oci_config config = NULL;
    st_auto_oci_state state = {0};
    st_auto_buf text = ST_BUF_INIT;
    struct st_error err = {0};
    int plain_pid;

    st_buf_add(&text, data, size);
    plain_pid = st_state_pid(text.data, text.len);
    demand(plain_pid == -1 || plain_pid > 1);
    if (st_oci_state_parse(st_buf_cstr(&text), text.len, &state, &err) == 0) {
        demand(st_oci_id_ok(state.id) && !strchr(state.id, '/') && state.bundle[0] == '/');
        demand(state.pid == 0 || state.pid > 1);
        demand(plain_pid == -1 || plain_pid == state.pid);
        check_selection(state.id, state.annotations, NULL);
    }
    if (st_oci_config_parse(st_buf_cstr(&text), text.len, &config, &err) == 0) {
        const struct st_json_node *root = st_oci_config_root(config);

        check_selection("c", st_json_get(root, "annotations"),
                        st_json_get(st_json_get(root, "process"), "env"));
        check_facts(config);
    }
    return 0;
}
