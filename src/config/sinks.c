/* sinks: the key `sinks`: a list of places, or of mappings with what goes there. See config.h. */
#include "config/config_private.h"

#include "base/mem.h"
#include "model/event.h"
#include "model/sink_spec.h"

#include <string.h>

#define MAX_SINKS 16

static int read_to(struct st_config_sink *sink, const char *file, const struct st_yaml_node *node,
                   struct st_error *err)
{
    struct st_sink_spec spec;
    const char *fault =
        node->type == ST_YAML_SCALAR ? st_sink_spec_read(node->value, &spec) : "write where records go";

    if (!fault && spec.kind == ST_SINK_STDOUT)
        fault = "a monitor has no standard output; use `sandtrace watch --json`";
    if (fault)
        return st_config_wrong(err, file, node->at, "wrong value in", "sinks", fault);
    if (sink->to)
        return st_config_wrong(err, file, node->at, "second", "to", "write one sink for each place");
    sink->to = st_xstrdup(node->value);
    return 0;
}

static int read_types(struct st_config_sink *sink, const char *file, const struct st_yaml_node *list,
                      struct st_error *err)
{
    if (list->type != ST_YAML_SEQUENCE || !list->first)
        return st_config_wrong(err, file, list->at, "wrong value for", "types",
                               "write a list such as [security_pause, sensor]");
    st_yaml_each (item, list) {
        int type = item->type == ST_YAML_SCALAR ? st_event_type_by_name(st_str(item->value)) : -1;

        if (type < 0)
            return st_config_wrong(err, file, item->at, "wrong value in", "types",
                                   "sandtrace-trace(5) lists the types of events");
        sink->types |= 1u << type;
    }
    return 0;
}

static int read_only(struct st_config_sink *sink, const char *file, const struct st_yaml_node *node,
                     struct st_error *err)
{
    if (node->type != ST_YAML_SCALAR || strcmp(node->value, "refusals") != 0)
        return st_config_wrong(err, file, node->at, "wrong value for", "only",
                               "write refusals, or leave it out");
    sink->refusals = true;
    return 0;
}

static int read_sink(struct st_config_sink *sink, const char *file, const struct st_yaml_node *node,
                     struct st_error *err)
{
    if (node->type != ST_YAML_MAPPING)
        return read_to(sink, file, node, err);
    st_yaml_each (member, node) {
        int rc;

        if (strcmp(member->key, "to") == 0)
            rc = read_to(sink, file, member, err);
        else if (strcmp(member->key, "types") == 0)
            rc = read_types(sink, file, member, err);
        else if (strcmp(member->key, "only") == 0)
            rc = read_only(sink, file, member, err);
        else
            rc = st_config_wrong(err, file, member->key_at, "unknown key", member->key,
                                 "a sink has to, types and only");
        if (rc < 0)
            return rc;
    }
    return sink->to ? 0 : st_config_wrong(err, file, node->at, "missing key", "to", "say where records go");
}

int st_config_read_sinks(struct st_config *config, const char *file, const struct st_yaml_node *list,
                         struct st_error *err)
{
    if (list->type != ST_YAML_SEQUENCE)
        return st_config_wrong(err, file, list->at, "wrong value for", "sinks", "write a list of places");
    st_yaml_each (node, list) {
        int rc;

        if (config->n_sinks == MAX_SINKS)
            return st_config_wrong(err, file, node->at, "too many", "sinks", "write at most 16");
        config->sinks = st_xrealloc(config->sinks, (config->n_sinks + 1) * sizeof(*config->sinks));
        config->sinks[config->n_sinks] = (struct st_config_sink){0};
        rc = read_sink(&config->sinks[config->n_sinks++], file, node, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}
