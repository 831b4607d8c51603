/* http_event_write: see http_event_write.h. */
#include "desk/http_event_write.h"

#include "base/clock.h"

void st_jw_ktext(struct st_jw *w, const char *key, struct st_str text)
{
    st_jw_key(w, key);
    if (text.p)
        st_jw_strn(w, text.p, text.len);
    else
        st_jw_null(w);
}

void st_jw_ktime(struct st_jw *w, const char *key, int64_t us)
{
    char text[ST_RFC3339_SIZE];

    st_format_rfc3339(us, text);
    st_jw_kstr(w, key, text);
}

/* The payload as it stands in the trace; where the trace is broken it may be anything that is JSON of ours or
 * nothing. */
static void put_detail(struct st_jw *w, struct st_str raw)
{
    st_jw_key(w, "detail");
    if (raw.len >= 2 && raw.p[0] == '{')
        st_jw_raw(w, raw.p, raw.len);
    else
        st_jw_null(w);
}

void st_event_write(struct st_jw *w, sqlite3_stmt *s)
{
    st_jw_object(w);
    st_jw_ktext(w, "action", st_column_str(s, 11));
    st_jw_kbool(w, "allowed", sqlite3_column_int(s, 14) != 0);
    st_jw_ktext(w, "analysis_id", st_column_str(s, 1));
    st_jw_kbool(w, "blocked", sqlite3_column_int(s, 15) != 0);
    st_jw_ktext(w, "chain", st_column_str(s, 16));
    st_jw_ktext(w, "container", st_column_str(s, 2));
    put_detail(w, st_column_str(s, 17));
    st_jw_ktext(w, "event_id", st_column_str(s, 5));
    st_jw_kint(w, "id", sqlite3_column_int64(s, 0));
    st_jw_ktext(w, "kind", st_column_str(s, 7));
    st_jw_ktext(w, "path_or_addr", st_column_str(s, 8));
    st_jw_ktext(w, "reason", st_column_str(s, 13));
    st_jw_ktext(w, "result", st_column_str(s, 10));
    st_jw_ktext(w, "rule", st_column_str(s, 12));
    st_jw_kint(w, "seq", sqlite3_column_int64(s, 4));
    st_jw_ktext(w, "severity", st_column_str(s, 9));
    st_jw_ktext(w, "trace", st_column_str(s, 3));
    st_jw_ktime(w, "ts", sqlite3_column_int64(s, 6));
    st_jw_end(w, '}');
}
