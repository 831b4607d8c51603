/* sink_spec: see sink_spec.h. */
#include "model/sink_spec.h"

#include "base/path.h"

#include <stddef.h>
#include <string.h>

enum path_rule { NEEDED, POSSIBLE, NONE };

static const struct {
    const char *word;
    enum path_rule path;
} kinds[] = {
    [ST_SINK_FILE] = {"file", NEEDED},           [ST_SINK_STDOUT] = {"stdout", NONE},
    [ST_SINK_UNIX] = {"unix", NEEDED},           [ST_SINK_SYSLOG] = {"syslog", POSSIBLE},
    [ST_SINK_JOURNALD] = {"journald", POSSIBLE}, [ST_SINK_EXEC] = {"exec", NEEDED},
};

static const char *check_target(enum path_rule rule, const char *target)
{
    if (rule == NONE)
        return *target ? "write stdout: nothing may follow it" : NULL;
    if (rule == POSSIBLE && !*target)
        return NULL;
    return target[0] == '/' ? st_path_fault(target) : "an absolute path must follow the colon";
}

const char *st_sink_spec_read(const char *text, struct st_sink_spec *out)
{
    size_t len = strcspn(text, ":");

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strlen(kinds[i].word) != len || memcmp(kinds[i].word, text, len) != 0)
            continue;
        *out = (struct st_sink_spec){.kind = (enum st_sink_kind)i, .target = text + len + (text[len] == ':')};
        return check_target(kinds[i].path, out->target);
    }
    return "write file:PATH, unix:PATH, syslog, journald, exec:PROGRAM or stdout";
}
