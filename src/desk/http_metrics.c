/* http_metrics: numbers for Prometheus, in its text format. What is counted since ever comes from the
 * database, what is now from the monitors and from this server. */
#include "base/cleanup.h"
#include "desk/desk.h"
#include "desk/http_hub.h"
#include "desk/http_live.h"
#include "desk/http_pool.h"

#include <string.h>

static void head(struct st_buf *out, const char *name, const char *type, const char *help)
{
    st_buf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void plain(struct st_buf *out, const char *name, const char *type, const char *help, uint64_t value)
{
    head(out, name, type, help);
    st_buf_addf(out, "%s %llu\n", name, (unsigned long long)value);
}

/* A label's value: text that others chose. */
static void put_label(struct st_buf *out, const char *name, struct st_str value)
{
    st_buf_addf(out, "%s=\"", name);
    for (size_t i = 0; i < value.len; i++) {
        if (value.p[i] == '\n') {
            st_buf_adds(out, "\\n");
            continue;
        }
        if (value.p[i] == '"' || value.p[i] == '\\')
            st_buf_addc(out, '\\');
        st_buf_addc(out, value.p[i]);
    }
    st_buf_addc(out, '"');
}

/* ---- from the database ---- */

struct counted {
    const char *name, *type, *help, *sql;
    const char *labels[3]; /* columns before the last, which is the number */
};

static const struct counted counted[] = {
    {"sandtrace_events_total",
     "counter",
     "Records of all traces.",
     "SELECT kind, result, severity, sum(n) FROM class WHERE n > 0 GROUP BY 1, 2, 3",
     {"type", "verdict", "severity"}},
    {"sandtrace_blocked_total",
     "counter",
     "Operations that did not happen.",
     "SELECT kind, sum(n) FROM class WHERE n > 0 AND blocked GROUP BY 1",
     {"type"}},
    /* Each severity from the first look on: a counter that appears with its first event has not increased. */
    {"sandtrace_violations_total",
     "counter",
     "Events whose verdict was not allow.",
     "WITH s(severity) AS (VALUES('none'), ('low'), ('medium'), ('high'), ('critical'))"
     " SELECT s.severity, coalesce(sum(n), 0) FROM s LEFT JOIN class c ON c.severity = s.severity"
     " AND c.result <> 'allow' GROUP BY 1",
     {"severity"}},
    {"sandtrace_pauses_total",
     "counter",
     "Containers paused, by a violation or by a person.",
     "SELECT coalesce(sum(n), 0) FROM class WHERE kind = 'security_pause'",
     {0}},
    {"sandtrace_traces",
     "gauge",
     "Traces by state.",
     "SELECT state, count(*) FROM trace GROUP BY 1",
     {"state"}},
    {"sandtrace_traces_broken",
     "gauge",
     "Traces whose chain is broken.",
     "SELECT count(*) FROM trace WHERE chain = 'broken'",
     {0}},
    {"sandtrace_lost_total",
     "counter",
     "Records that a sink, or events that a sensor, lost, as the traces tell it.",
     /* sum() fails where it overflows, and a forged trace must not silence all the others. */
     "SELECT total(n) FROM (SELECT json_extract(e.raw_detail, '$.lost') AS n FROM class c"
     " JOIN sandbox_audit_event e INDEXED BY event_by_class ON e.class = c.no"
     " WHERE c.kind = 'sensor' AND c.n > 0) WHERE typeof(n) = 'integer' AND n > 0",
     {0}},
};

static int put_counted(struct st_buf *out, struct st_db *db, const struct counted *m, struct st_error *err)
{
    st_auto_stmt s = NULL;
    int rc = st_db_prepare(db, m->sql, &s, err);

    head(out, m->name, m->type, m->help);
    while (rc == 0 && (rc = st_db_step(db, s, err)) > 0) {
        int n = 0;

        st_buf_adds(out, m->name);
        for (; n < 3 && m->labels[n]; n++) {
            st_buf_adds(out, n ? "," : "{");
            put_label(out, m->labels[n], st_column_str(s, n));
        }
        st_buf_addf(out, "%s %lld\n", n ? "}" : "", (long long)sqlite3_column_int64(s, n));
        rc = 0;
    }
    return rc;
}

/* From the kernel's report of a violation to the confirmed freeze. */
static int put_freezes(struct st_buf *out, struct st_db *db, struct st_error *err)
{
    static const struct {
        int64_t us;
        const char *le;
    } limits[] = {{100, "0.0001"},  {250, "0.00025"}, {500, "0.0005"}, {1000, "0.001"},
                  {2500, "0.0025"}, {5000, "0.005"},  {10000, "0.01"}, {25000, "0.025"},
                  {50000, "0.05"},  {100000, "0.1"},  {500000, "0.5"}, {1000000, "1"}};
    enum { LIMITS = sizeof(limits) / sizeof(limits[0]) };
    uint64_t counts[LIMITS] = {0}, n = 0, sum = 0;
    st_auto_stmt s = NULL;
    int rc = st_db_prepare(
        db,
        "SELECT json_extract(e.raw_detail, '$.freeze_us') FROM class c JOIN sandbox_audit_event e"
        " INDEXED BY event_by_class ON e.class = c.no WHERE c.kind = 'security_pause' AND c.n > 0",
        &s, err);

    while (rc == 0 && (rc = st_db_step(db, s, err)) > 0) {
        int64_t us = sqlite3_column_int64(s, 0);

        rc = 0;
        if (sqlite3_column_type(s, 0) != SQLITE_INTEGER || us < 0)
            continue;
        for (size_t i = 0; i < LIMITS; i++)
            counts[i] += us <= limits[i].us;
        n++;
        sum += (uint64_t)us;
    }
    head(out, "sandtrace_freeze_seconds", "histogram",
         "From the kernel's report of a violation to the confirmed freeze.");
    for (size_t i = 0; i < LIMITS; i++)
        st_buf_addf(out, "sandtrace_freeze_seconds_bucket{le=\"%s\"} %llu\n", limits[i].le,
                    (unsigned long long)counts[i]);
    st_buf_addf(out, "sandtrace_freeze_seconds_bucket{le=\"+Inf\"} %llu\n", (unsigned long long)n);
    st_buf_addf(out, "sandtrace_freeze_seconds_sum %llu.%06llu\nsandtrace_freeze_seconds_count %llu\n",
                (unsigned long long)(sum / 1000000), (unsigned long long)(sum % 1000000),
                (unsigned long long)n);
    return rc;
}

/* ---- now ---- */

static void put_monitors(struct st_buf *out, const struct st_live *l)
{
    static const char *const states[] = {"watching", "paused", "stuck", "stopping", "unwatched"};
    enum { STATES = sizeof(states) / sizeof(states[0]) };
    st_auto_buf ids = ST_BUF_INIT;
    uint64_t counts[STATES] = {0}, pending = 0;
    struct st_error err = {0};
    size_t n = 0;

    if (l->list(l->ctx, &ids, &n, &err) < 0)
        n = 0;
    for (const char *id = ids.data; n > 0; n--, id += strlen(id) + 1) {
        st_auto_live_answer a = {0};
        size_t state = STATES - 1;
        const char *said;
        int64_t waits;

        st_live_ask_plain(l, id, "status", &a, &err);
        said = st_json_str(st_json_get(a.root, "status"), NULL);
        for (size_t i = 0; said && i < STATES; i++)
            if (strcmp(said, states[i]) == 0)
                state = i;
        counts[state]++;
        pending += st_json_int(st_json_get(a.root, "pending"), &waits) && waits > 0 ? (uint64_t)waits : 0;
    }
    head(out, "sandtrace_monitors", "gauge", "Watched containers by the status of their monitor.");
    for (size_t i = 0; i < STATES; i++)
        st_buf_addf(out, "sandtrace_monitors{status=\"%s\"} %llu\n", states[i],
                    (unsigned long long)counts[i]);
    plain(out, "sandtrace_pending", "gauge", "Operations and containers that wait for a person.", pending);
}

static void put_desk(struct st_buf *out, const struct st_call *c)
{
    struct st_hub_numbers hub;
    unsigned room;

    st_hub_numbers(c->desk->hub, &hub);
    plain(out, "sandtrace_reviews_open", "gauge", "Quarantined runs that nobody has judged.",
          (uint64_t)st_call_quarantined(c));
    plain(out, "sandtrace_desk_readers", "gauge", "Pages and programs that are told live.", hub.readers);
    plain(out, "sandtrace_desk_bus_records_total", "counter", "Records that the bus brought.", hub.records);
    plain(out, "sandtrace_desk_missed_total", "counter", "Records of the bus that somebody was too slow for.",
          hub.missed);
    plain(out, "sandtrace_desk_stream_depth", "gauge", "Records kept for slow readers.", hub.kept);
    plain(out, "sandtrace_desk_queue_depth", "gauge", "Requests that wait for a worker.",
          st_pool_waiting(c->desk->pool, &room));
    plain(out, "sandtrace_desk_queue_room", "gauge", "Requests that may wait for a worker.", room);
    head(out, "sandtrace_build_info", "gauge", "The version that answers.");
    st_buf_adds(out, "sandtrace_build_info{version=\"" PACKAGE_VERSION "\"} 1\n");
}

void st_answer_metrics(struct st_call *c)
{
    struct st_buf *out = &c->a->body;
    struct st_error err = {0};
    struct st_db *db = st_call_db(c);
    int rc = 0;

    if (!db)
        return;
    for (size_t i = 0; rc == 0 && i < sizeof(counted) / sizeof(counted[0]); i++)
        rc = put_counted(out, db, &counted[i], &err);
    if (rc == 0)
        rc = put_freezes(out, db, &err);
    if (rc < 0) {
        st_call_failed(c, &err);
        return;
    }
    put_monitors(out, c->desk->live);
    put_desk(out, c);
    c->a->type = "text/plain; version=0.0.4; charset=utf-8";
    c->a->status = 200;
}
