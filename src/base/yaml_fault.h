/* yaml_fault: where and how a text is not YAML, in words that help. Private to yaml.c. */
#pragma once

#include "base/yaml.h"

/* Lines and columns count characters, as libyaml's own places do. */
struct st_yaml_place st_yaml_place_of_offset(const char *text, size_t len, size_t offset);

/* What would be right, for what libyaml says is wrong; NULL: no more is to be said. */
const char *st_yaml_remedy(const char *problem);
