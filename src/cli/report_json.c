/* report_json: a report for programs, in one line. */
#include "base/json_write.h"
#include "cli/report.h"

static void write_outcomes(struct st_jw *w, const uint64_t by_outcome[5])
{
    st_jw_key(w, "outcomes");
    st_jw_object(w);
    st_jw_kint(w, "allow", (int64_t)by_outcome[0]);
    st_jw_kint(w, "anomaly", (int64_t)by_outcome[2]);
    st_jw_kint(w, "deny", (int64_t)by_outcome[1]);
    st_jw_kint(w, "killed", (int64_t)by_outcome[4]);
    st_jw_kint(w, "paused", (int64_t)by_outcome[3]);
    st_jw_end(w, '}');
}

static void write_row(struct st_jw *w, const struct st_table *t, const struct st_tally_item *item)
{
    st_jw_array(w);
    for (unsigned c = 0; c < ST_REPORT_COLUMNS && t->columns[c].title; c++) {
        st_auto_buf cell = ST_BUF_INIT;

        t->cell(item, c, &cell);
        st_jw_strn(w, st_buf_cstr(&cell), cell.len);
    }
    st_jw_end(w, ']');
}

static void write_table(struct st_jw *w, const struct st_table *t, size_t top)
{
    st_jw_object(w);
    st_jw_key(w, "columns");
    st_jw_array(w);
    for (unsigned c = 0; c < ST_REPORT_COLUMNS && t->columns[c].title; c++)
        st_jw_str(w, t->columns[c].title);
    st_jw_end(w, ']');
    st_jw_key(w, "rows");
    st_jw_array(w);
    for (size_t i = 0; i < t->tally->n && i < top; i++)
        write_row(w, t, &t->tally->items[i]);
    st_jw_end(w, ']');
    st_jw_kint(w, "rows_total", (int64_t)t->tally->n);
    st_jw_kstr(w, "title", t->title);
    st_jw_end(w, '}');
}

void st_report_json(const struct st_report *r, struct st_buf *out)
{
    struct st_table tables[ST_REPORT_TABLES];
    struct st_jw w;

    st_report_tables(r, tables);
    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kint(&w, "bytes_received", (int64_t)r->bytes_received);
    st_jw_kint(&w, "bytes_sent", (int64_t)r->bytes_sent);
    st_jw_kint(&w, "duration_ms", (r->last_us - r->first_us) / 1000);
    st_jw_kint(&w, "events", (int64_t)r->events);
    st_jw_kstr(&w, "file", r->file);
    st_jw_kint(&w, "issues", (int64_t)r->verified->n_issues);
    write_outcomes(&w, r->by_outcome);
    st_jw_kint(&w, "records", (int64_t)r->records);
    st_jw_key(&w, "tables");
    st_jw_array(&w);
    for (size_t i = 0; i < ST_REPORT_TABLES; i++)
        write_table(&w, &tables[i], r->top);
    st_jw_end(&w, ']');
    st_jw_kint(&w, "unreadable", (int64_t)r->unreadable);
    st_jw_kbool(&w, "valid", r->verified->n_issues == 0);
    st_jw_end(&w, '}');
    st_buf_addc(out, '\n');
}
