/* sink_spec: how a place for copies of records is written: file:PATH, stdout, unix:PATH, syslog[:PATH],
 * journald[:PATH], exec:PROGRAM. */
#pragma once

enum st_sink_kind {
    ST_SINK_FILE,
    ST_SINK_STDOUT,
    ST_SINK_UNIX,
    ST_SINK_SYSLOG,
    ST_SINK_JOURNALD,
    ST_SINK_EXEC
};

struct st_sink_spec {
    enum st_sink_kind kind;
    const char *target; /* an absolute path in the text; "": none */
};

/* NULL, or what would be right. */
const char *st_sink_spec_read(const char *text, struct st_sink_spec *out);
