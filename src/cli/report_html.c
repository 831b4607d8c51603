/* report_html: a report as one page that needs nothing else: no script, no font, no picture from elsewhere.
 * Charts are SVG in the page. Everything that others chose is escaped, and the page's own policy would stop
 * it as well. */
#include "base/clock.h"
#include "cli/report.h"
#include "cli/show.h"

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

static size_t used_buckets(const struct st_timeline *t)
{
    size_t n = ST_REPORT_BUCKETS;

    while (n > 1 && !t->counts[n - 1][0] && !t->counts[n - 1][1] && !t->counts[n - 1][2])
        n--;
    return n;
}

static uint64_t sum(const uint64_t counts[ST_REPORT_OUTCOMES])
{
    return counts[0] + counts[1] + counts[2];
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
    char from[ST_RFC3339_SIZE], to[ST_RFC3339_SIZE];
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
    st_buf_adds(out, "<div class=\"k\"><span><i style=\"background:var(--ok)\"></i>allowed</span><span><i "
                     "style=\"background:var(--no)\"></i>refused or anomalous</span><span><i "
                     "style=\"background:var(--stop)\"></i>paused or killed</span></div>\n");
}

/* Bars of bytes to and from each far end. */
static void add_traffic(const struct st_report *r, struct st_buf *out)
{
    const struct st_tally *t = &r->tallies[ST_TALLY_TALKED];
    size_t n = t->n < 12 ? t->n : 12;
    uint64_t most = 1;

    for (size_t i = 0; i < n; i++)
        if (t->items[i].a + t->items[i].b > most)
            most = t->items[i].a + t->items[i].b;
    if (most == 1)
        return;
    st_buf_addf(
        out, "<h2>Traffic by far end</h2>\n<svg viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"traffic\">",
        CHART_WIDTH, n * 26 + 4);
    for (size_t i = 0; i < n; i++) {
        const struct st_tally_item *item = &t->items[i];
        double scale = CHART_WIDTH * 0.45 / (double)most, sent = scale * (double)item->a;

        st_buf_addf(out, "<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">", CHART_WIDTH / 2 - 12, i * 26 + 17);
        add_html(out, item->key);
        st_buf_addf(out, "</text><rect x=\"%d\" y=\"%zu\" width=\"%.1f\" height=\"18\" fill=\"var(--no)\"/>",
                    CHART_WIDTH / 2, i * 26 + 4, sent);
        st_buf_addf(out, "<rect x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"18\" fill=\"var(--bar)\"/>",
                    CHART_WIDTH / 2.0 + sent, i * 26 + 4, scale * (double)item->b);
    }
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
