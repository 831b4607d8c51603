/* config_private: what the files of src/config share. */
#pragma once

#include "base/yaml.h"
#include "config/config.h"

/* "FILE:LINE:COLUMN: WHAT `SUBJECT`; RIGHT", as -EINVAL. */
int st_config_wrong(struct st_error *err, const char *file, struct st_yaml_place at, const char *what,
                    const char *subject, const char *right);

/* The value of the key `sinks`. */
int st_config_read_sinks(struct st_config *config, const char *file, const struct st_yaml_node *list,
                         struct st_error *err);
