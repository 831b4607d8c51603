/* parse: from YAML nodes to settings and rules. Private to src/policy. */
#pragma once

#include "policy/reader.h"
#include "policy/rule.h"

/* Which of the three forms a file is in. */
enum form {
    FORM_OWN,    /* schema_version 2.0 */
    FORM_SEED,   /* schema_version 1.0: rules only, what they do not allow is refused */
    FORM_WRITES, /* fs_writes, network, process_limits, severity_rules */
};

/* All but the rules. A policy that extends another writes over what it says itself. */
struct settings {
    const char *name, *description;
    enum st_policy_mode mode;
    bool locked;
    const char *const *scope;
    size_t n_scope;
    struct st_rule_place scope_at;
    struct st_policy_defaults defaults;
    bool exec_default_given, dns_default_given;
    bool floor_given;
    enum st_floor floor;
    enum st_depth depth;
    struct st_process_limits limits;
    struct st_exec_of exec_of;
    enum st_response on_violation[ST_SEV_CRITICAL + 1];
    struct st_pause_policy pause;
    int64_t fold_ms;
};

void st_settings_init(struct settings *s, enum form form);

struct rules {
    struct st_rule *items;
    size_t n, cap;
};

struct st_rule *st_add_rule(struct rules *rules);

/* FORM_OWN and FORM_SEED: every key but `extends`, which is the loader's. */
void st_parse_settings(struct reader *r, const struct st_yaml_node *root, enum form form, struct settings *s);
void st_parse_rules(struct reader *r, const struct st_yaml_node *list, enum form form, struct rules *out);

/* FORM_WRITES as a whole. */
void st_parse_writes_form(struct reader *r, const struct st_yaml_node *root, struct settings *s,
                          struct rules *out);

/* Which form is it? Where it is none, a diagnostic says so, and it is taken for the present one. */
enum form st_parse_form(struct reader *r, const struct st_yaml_node *root);

/* Pieces of rules that more than one form has. */
void st_parse_paths(struct reader *r, const struct st_yaml_node *node, const char *const **out, size_t *n);
void st_parse_path(struct reader *r, const struct st_yaml_node *item, const char *text);
void st_parse_exec(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule);
void st_parse_access(struct reader *r, const struct st_yaml_node *node, unsigned *access);
void st_parse_limits(struct reader *r, const struct st_yaml_node *node, void *settings);
void st_parse_on_violation(struct reader *r, const struct st_yaml_node *node, void *settings);
void st_parse_destinations(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule);
bool st_parse_port_item(struct reader *r, const struct st_yaml_node *node, struct st_port_range *out);
void st_parse_syscalls(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule);

/* match, threshold, sequence. */
void st_parse_condition(struct reader *r, const struct st_yaml_node *node, struct st_condition *out);
void st_parse_bind(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule);
void st_parse_threshold(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule);
void st_parse_sequence(struct reader *r, const struct st_yaml_node *node, struct st_rule *rule);
