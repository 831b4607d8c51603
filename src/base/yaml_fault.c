/* yaml_fault: see yaml_fault.h. */
#include "base/yaml_fault.h"

#include <string.h>

/* By a part of what libyaml says; the first that fits. */
static const struct {
    const char *part, *right;
} remedies[] = {
    {"tab character", "indent with spaces"},
    {"',' or ']'", "put commas between the items and ] at the end"},
    {"',' or '}'", "put commas between the pairs and } at the end"},
    {"mapping values are not allowed",
     "put text with a colon and a space into quotes, or look at the indentation"},
    {"could not find expected ':'", "write `key: value`, with a space behind the colon"},
    {"did not find expected key", "begin it in the same column as the keys above"},
    {"'-' indicator", "begin each item with `- ` in the same column"},
    {"block sequence entries are not allowed", "begin the list on a line of its own"},
    {"cannot start any token",
     "indent with spaces, not tabs; put text that begins with @, % or ` into quotes"},
    {"unknown escape character", "write \\\\ for a backslash, or use single quotes"},
    {"unexpected end of stream", "close the quotes"},
    {"control characters", "take them out; in double quotes they can be written, as in \\t or \\x1b"},
    {"UTF-8", "save the file as UTF-8"},
    {"Unicode", "save the file as UTF-8"},
    {"alphabetic or numeric character", "put text that begins with * or & into quotes"},
    {"directive", "take the line that begins with % out"},
};

const char *st_yaml_remedy(const char *problem)
{
    for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++)
        if (strstr(problem, remedies[i].part))
            return remedies[i].right;
    return NULL;
}

struct st_yaml_place st_yaml_place_of_offset(const char *text, size_t len, size_t offset)
{
    struct st_yaml_place at = {1, 1};

    for (size_t i = 0; i < offset && i < len; i++) {
        if (text[i] == '\n')
            at = (struct st_yaml_place){at.line + 1, 1};
        else if (((unsigned char)text[i] & 0xc0) != 0x80)
            at.column++;
    }
    return at;
}
