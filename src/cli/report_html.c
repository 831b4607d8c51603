/* report_html: a report as one page that needs nothing else: no script, no font, no picture from elsewhere.
 * Charts are SVG in the page. Everything that others chose is escaped, and the page's own policy would stop
 * it as well. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/mem.h"
#include "cli/report.h"
#include "cli/show.h"

#include <stdlib.h>

static const char page_head[] =
    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
    "'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Trace "
    "report</title>\n<style>\n"
    ":root{--ink:#1c2330;--soft:#5b6575;--line:#dfe3ea;--paper:#fff;--bar:#3b82b8;--ok:#4a9d6f;--no:#c8453b;-"
    "-stop:#7d4fa8;--"
    "head:#f4f6f9}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--soft:#98a2b3;--line:#303846;--paper:#161b22;--"
    "bar:#5aa2d8;--ok:#"
    "5fb884;--no:#e0685f;--stop:#a57fd0;--head:#1f2630}}\n"
    "body{font:15px/1.5 "
    "system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:70rem;margin:2rem "
    "auto;padding:0 1rem}\n"
    "h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2.2rem 0 .6rem}\n"
    ".headline{padding:.7rem 1rem;border-left:.4rem solid var(--ok);background:var(--head);margin:1rem 0}\n"
    ".headline.bad{border-color:var(--no)}\n"
    "table{border-collapse:collapse;width:100%}td,th{padding:.3rem .6rem;border-bottom:1px solid "
    "var(--line);text-align:left;"
    "vertical-align:top}\n"
    "th{font-weight:600;color:var(--soft)}td:first-child{overflow-wrap:anywhere}.n{text-align:right;white-"
    "space:nowrap;font-"
    "variant-numeric:tabular-nums}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem "
    "1rem;margin:0}dt{color:var(--soft)}dd{margin:0;overflow-"
    "wrap:anywhere}\n"
    "svg{display:block;width:100%;height:auto}text{fill:var(--soft);font:12px "
    "system-ui,sans-serif}.k{display:flex;gap:1.2rem;"
    "color:var(--soft)}\n"
    ".k i{display:inline-block;width:.8rem;height:.8rem;margin-right:.4rem}.none,.more{color:var(--soft)}\n"
    "</style>\n";

static void add_html(struct st_buf *out, const char *s)
{
    for (; *s; s++) {
        switch (*s) {
        case '&': st_buf_adds(out, "&amp;"); break;
        case '<': st_buf_adds(out, "&lt;"); break;
        case '>': st_buf_adds(out, "&gt;"); break;
        case '"': st_buf_adds(out, "&quot;"); break;
        case '\'': st_buf_adds(out, "&#39;"); break;
        default: st_buf_addc(out, *s);
        }
    }
}

static void add_facts(const struct st_report *r, struct st_buf *out)
{
    const char *label;

    st_buf_adds(out, "<dl>\n");
    for (unsigned i = 0;; i++) {
        st_auto_buf fact = ST_BUF_INIT;

        if (!st_report_fact(r, i, &label, &fact))
            break;
        st_buf_addf(out, "<dt>%s</dt><dd>", label);
        add_html(out, st_buf_cstr(&fact));
        st_buf_adds(out, "</dd>\n");
    }
    st_buf_adds(out, "</dl>\n");
}

/* ---- charts ---- */

#define CHART_WIDTH 960
#define CHART_HEIGHT 140
#define BARS 12
#define LABEL_MAX 60

static size_t used_buckets(const struct st_timeline *t)
{
    size_t n = ST_REPORT_BUCKETS;

    while (n > 1 && !t->counts[n - 1][0] && !t->counts[n - 1][1] && !t->counts[n - 1][2])
        n--;
    return n;
}

static uint64_t sum(const uint64_t counts[ST_REPORT_OUTCOMES])
{
    uint64_t all = counts[0];

    st_tally_sum(&all, counts[1]);
    st_tally_sum(&all, counts[2]);
    return all;
}

static void add_bucket(const struct st_timeline *t, size_t i, size_t n, uint64_t most, struct st_buf *out)
{
    static const char *const colors[] = {"--ok", "--no", "--stop"};
    double step = (double)CHART_WIDTH / (double)n, y = CHART_HEIGHT;

    for (size_t k = 0; k < ST_REPORT_OUTCOMES; k++) {
        double height = CHART_HEIGHT * (double)t->counts[i][k] / (double)most;

        if (!t->counts[i][k])
            continue;
        if (height < 2) /* what happened once must be seen */
            height = 2;
        y -= height;
        st_buf_addf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"var(%s)\"/>",
                    step * (double)i, y, step * 0.86, height, colors[k]);
    }
}

static void add_timeline(const struct st_report *r, struct st_buf *out)
{
    const struct st_timeline *t = &r->timeline;
    size_t n = used_buckets(t);
    char from[ST_RFC3339_SIZE], to[ST_RFC3339_SIZE], width[ST_DURATION_SIZE];
    uint64_t most = 1;

    for (size_t i = 0; i < n; i++)
        if (sum(t->counts[i]) > most)
            most = sum(t->counts[i]);
    st_format_rfc3339(t->start_us, from);
    st_format_rfc3339(t->start_us + t->width_us * (int64_t)n, to);
    st_buf_addf(out,
                "<h2>When</h2>\n<svg viewBox=\"0 -8 %d %d\" role=\"img\" aria-label=\"events over time\">",
                CHART_WIDTH, CHART_HEIGHT + 28);
    for (size_t i = 0; i < n; i++)
        add_bucket(t, i, n, most, out);
    st_buf_addf(out,
                "<text x=\"0\" y=\"%d\">%.19sZ</text><text x=\"%d\" y=\"%d\" "
                "text-anchor=\"end\">%.19sZ</text></svg>\n",
                CHART_HEIGHT + 16, from, CHART_WIDTH, CHART_HEIGHT + 16, to);
    st_duration_format(t->width_us / 1000, width);
    st_buf_addf(
        out,
        "<div class=\"k\"><span><i style=\"background:var(--ok)\"></i>allowed</span><span><i "
        "style=\"background:var(--no)\"></i>refused or anomalous</span><span><i "
        "style=\"background:var(--stop)\"></i>paused or killed</span><span>a bar is %s, the highest is "
        "%llu</span></div>\n",
        width, (unsigned long long)most);
}

static uint64_t traffic_of(const struct st_tally_item *item)
{
    uint64_t sum = item->a;

    st_tally_sum(&sum, item->b);
    return sum;
}

static int by_traffic(const void *a, const void *b)
{
    const struct st_tally_item *x = *(const struct st_tally_item *const *)a,
                               *y = *(const struct st_tally_item *const *)b;
    uint64_t more = traffic_of(x), less = traffic_of(y);

    return more != less ? (more < less) - (more > less) : strcmp(x->key, y->key);
}

/* The end of a long name says more than its beginning, and what does not fit would stand outside. */
static void add_label(struct st_buf *out, const char *key)
{
    size_t len = strlen(key), skip = len > LABEL_MAX ? len - LABEL_MAX : 0;

    while (skip && ((unsigned char)key[skip] & 0xc0) == 0x80)
        skip++;
    st_buf_adds(out, skip ? "…" : "");
    add_html(out, key + skip);
}

static void add_bar(const struct st_tally_item *item, size_t row, uint64_t most, struct st_buf *out)
{
    double scale = CHART_WIDTH * 0.42 / (double)most, sent = scale * (double)item->a,
           both = sent + scale * (double)item->b;

    st_buf_addf(out, "<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">", CHART_WIDTH / 2 - 12, row * 26 + 17);
    add_label(out, item->key);
    st_buf_addf(out, "</text><rect x=\"%d\" y=\"%zu\" width=\"%.1f\" height=\"18\" fill=\"var(--no)\"/>",
                CHART_WIDTH / 2, row * 26 + 4, sent);
    st_buf_addf(out, "<rect x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"18\" fill=\"var(--bar)\"/>",
                CHART_WIDTH / 2.0 + sent, row * 26 + 4, both - sent);
    st_buf_addf(out, "<text x=\"%.1f\" y=\"%zu\">", CHART_WIDTH / 2.0 + both + 6, row * 26 + 17);
    st_show_bytes(out, traffic_of(item));
    st_buf_adds(out, "</text>");
}

/* Bars of bytes to and from the far ends that had most. */
static void add_traffic(const struct st_report *r, struct st_buf *out)
{
    const struct st_tally *t = &r->tallies[ST_TALLY_TALKED];
    st_auto_free const struct st_tally_item **order = st_xcalloc(t->n + 1, sizeof(*order));
    size_t n = t->n < BARS ? t->n : BARS;

    for (size_t i = 0; i < t->n; i++)
        order[i] = &t->items[i];
    qsort(order, t->n, sizeof(*order), by_traffic);
    while (n && !traffic_of(order[n - 1]))
        n--;
    if (n == 0)
        return;
    st_buf_addf(
        out, "<h2>Traffic by far end</h2>\n<svg viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"traffic\">",
        CHART_WIDTH, n * 26 + 4);
    for (size_t i = 0; i < n; i++)
        add_bar(order[i], i, traffic_of(order[0]), out);
    st_buf_adds(out,
                "</svg>\n<div class=\"k\"><span><i style=\"background:var(--no)\"></i>sent</span><span><i "
                "style=\"background:var(--bar)\"></i>received</span></div>\n");
}

/* ---- tables ---- */

static void add_row(const struct st_table *t, const struct st_tally_item *item, struct st_buf *out)
{
    st_buf_adds(out, "<tr>");
    for (unsigned c = 0; c < ST_REPORT_COLUMNS && t->columns[c].title; c++) {
        st_auto_buf cell = ST_BUF_INIT;

        t->cell(item, c, &cell);
        st_buf_adds(out, t->columns[c].right ? "<td class=\"n\">" : "<td>");
        add_html(out, st_buf_cstr(&cell));
        st_buf_adds(out, "</td>");
    }
    st_buf_adds(out, "</tr>\n");
}

static void add_table(const struct st_report *r, const struct st_table *t, struct st_buf *out)
{
    size_t rows = t->tally->n < r->top ? t->tally->n : r->top;

    st_buf_addf(out, "<h2>%s</h2>\n", t->title);
    if (rows == 0) {
        st_buf_addf(out, "<p class=\"none\">%s</p>\n", t->empty);
        return;
    }
    st_buf_adds(out, "<table>\n<tr>");
    for (unsigned c = 0; c < ST_REPORT_COLUMNS && t->columns[c].title; c++)
        st_buf_addf(out, t->columns[c].right ? "<th class=\"n\">%s</th>" : "<th>%s</th>",
                    t->columns[c].title);
    st_buf_adds(out, "</tr>\n");
    for (size_t i = 0; i < rows; i++)
        add_row(t, &t->tally->items[i], out);
    st_buf_adds(out, "</table>\n");
    if (t->tally->n > rows)
        st_buf_addf(out, "<p class=\"more\">… and %zu more</p>\n", t->tally->n - rows);
    if (t->tally->others)
        st_buf_addf(out, "<p class=\"more\">… and %llu events that are not told apart here</p>\n",
                    (unsigned long long)t->tally->others);
}

void st_report_html(const struct st_report *r, struct st_buf *out)
{
    struct st_table tables[ST_REPORT_TABLES];
    bool bad = r->verified->n_issues || r->by_outcome[0] != r->events;

    st_buf_adds(out, page_head);
    st_buf_addf(out, "<h1>Trace report</h1>\n<p class=\"headline%s\">", bad ? " bad" : "");
    st_report_headline(r, out);
    st_buf_adds(out, "</p>\n");
    add_facts(r, out);
    add_timeline(r, out);
    add_traffic(r, out);
    st_report_tables(r, tables);
    for (size_t i = 0; i < ST_REPORT_TABLES; i++)
        add_table(r, &tables[i], out);
    st_buf_adds(out, "</html>\n");
}
