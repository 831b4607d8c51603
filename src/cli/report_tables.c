/* report_tables: the facts and tables of a report, whichever format they are written in. */
#include "base/clock.h"
#include "base/duration.h"
#include "cli/report.h"
#include "cli/show.h"

static void add_times(struct st_buf *out, const struct st_tally_item *item, unsigned column, unsigned first)
{
    if (column == first)
        st_buf_addu(out, item->count);
    else if (item->refused)
        st_buf_addu(out, item->refused);
}

/* What, how often, how often refused. */
static void plain_cell(const struct st_tally_item *item, unsigned column, struct st_buf *out)
{
    if (column == 0)
        st_buf_adds(out, item->key);
    else
        add_times(out, item, column, 1);
}

static void talk_cell(const struct st_tally_item *item, unsigned column, struct st_buf *out)
{
    if (column == 0)
        st_buf_adds(out, item->key);
    else if (column == 1)
        st_show_bytes(out, item->a);
    else if (column == 2)
        st_show_bytes(out, item->b);
    else
        add_times(out, item, column, 3);
}

static void written_cell(const struct st_tally_item *item, unsigned column, struct st_buf *out)
{
    if (column == 0)
        st_buf_adds(out, item->key);
    else if (column == 1 && item->a)
        st_show_bytes(out, item->a);
    else if (column > 1)
        add_times(out, item, column, 2);
}

/* The key has three parts, separated by tabs, which no shown text holds. */
static void refused_cell(const struct st_tally_item *item, unsigned column, struct st_buf *out)
{
    const char *part = item->key;

    if (column == 3) {
        st_buf_addu(out, item->count);
        return;
    }
    for (; column; column--)
        part = strchr(part, '\t') + 1;
    st_buf_add(out, part, strcspn(part, "\t"));
}

#define LEFT(title)                                                                                          \
    {                                                                                                        \
        title, false                                                                                         \
    }
#define RIGHT(title)                                                                                         \
    {                                                                                                        \
        title, true                                                                                          \
    }

void st_report_tables(const struct st_report *r, struct st_table out[ST_REPORT_TABLES])
{
    static const struct st_table shapes[ST_REPORT_TABLES] = {
        [ST_TALLY_REFUSED] = {"What was refused",
                              "Nothing.",
                              {LEFT("outcome"), LEFT("what"), LEFT("rule"), RIGHT("times")},
                              NULL,
                              refused_cell},
        [ST_TALLY_TALKED] = {"Who talked to whom",
                             "Nobody.",
                             {LEFT("process and far end"), RIGHT("sent"), RIGHT("received"), RIGHT("times"),
                              RIGHT("refused")},
                             NULL,
                             talk_cell},
        [ST_TALLY_NAMES] = {"Names that were looked up",
                            "None.",
                            {LEFT("name"), RIGHT("times"), RIGHT("refused")},
                            NULL,
                            plain_cell},
        [ST_TALLY_WRITTEN] = {"What was written",
                              "Nothing.",
                              {LEFT("path"), RIGHT("size"), RIGHT("times"), RIGHT("refused")},
                              NULL,
                              written_cell},
        [ST_TALLY_DELETED] = {"What was deleted or renamed",
                              "Nothing.",
                              {LEFT("path"), RIGHT("times"), RIGHT("refused")},
                              NULL,
                              plain_cell},
        [ST_TALLY_RAN] = {"What was run",
                          "Nothing.",
                          {LEFT("program"), RIGHT("times"), RIGHT("refused")},
                          NULL,
                          plain_cell},
        [ST_TALLY_SYSCALLS] = {"System calls of note",
                               "None.",
                               {LEFT("call"), RIGHT("times"), RIGHT("refused")},
                               NULL,
                               plain_cell},
        [ST_TALLY_ANSWERS] = {"How pauses were answered",
                              "There were none.",
                              {LEFT("decision"), RIGHT("times")},
                              NULL,
                              plain_cell},
        [ST_TALLY_SENSORS] = {"What the sensors said of themselves",
                              "Nothing.",
                              {LEFT("record"), RIGHT("times")},
                              NULL,
                              plain_cell},
    };

    for (size_t i = 0; i < ST_REPORT_TABLES; i++) {
        out[i] = shapes[i];
        out[i].tally = &r->tallies[i];
    }
}

/* ---- facts ---- */

static void add_keys(struct st_buf *out, const struct st_tally *t)
{
    for (size_t i = 0; i < t->n && i < 3; i++)
        st_buf_addf(out, "%s%s", i ? ", " : "", t->items[i].key);
    if (t->n > 3)
        st_buf_addf(out, " and %zu more", t->n - 3);
    if (t->n == 0)
        st_buf_adds(out, "none");
}

static void fact_file(const struct st_report *r, struct st_buf *out)
{
    st_show_text(out, st_str(r->file));
}

static void fact_agent(const struct st_report *r, struct st_buf *out)
{
    add_keys(out, &r->tallies[ST_TALLY_AGENTS]);
}

static void fact_time(const struct st_report *r, struct st_buf *out)
{
    char from[ST_RFC3339_SIZE], to[ST_RFC3339_SIZE], length[ST_DURATION_SIZE];
    int64_t ms = (r->last_us - r->first_us) / 1000;

    st_format_rfc3339(r->first_us, from);
    st_format_rfc3339(r->last_us, to);
    st_duration_format(ms > 1000 ? ms - ms % 1000 : ms, length);
    st_buf_addf(out, "%.19sZ to %.19sZ (%s)", from, to, length);
}

static void fact_events(const struct st_report *r, struct st_buf *out)
{
    static const char *const words[] = {"allowed", "denied", "anomalous", "paused", "killed"};

    st_buf_addf(out, "%llu in %llu records", (unsigned long long)r->events, (unsigned long long)r->records);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (r->by_outcome[i])
            st_buf_addf(out, ", %llu %s", (unsigned long long)r->by_outcome[i], words[i]);
    if (r->unreadable)
        st_buf_addf(out, "; %llu lines could not be read", (unsigned long long)r->unreadable);
}

static void fact_traffic(const struct st_report *r, struct st_buf *out)
{
    st_show_bytes(out, r->bytes_sent);
    st_buf_adds(out, " sent, ");
    st_show_bytes(out, r->bytes_received);
    st_buf_adds(out, " received");
}

static void fact_policy(const struct st_report *r, struct st_buf *out)
{
    add_keys(out, &r->tallies[ST_TALLY_POLICIES]);
}

static void fact_chain(const struct st_report *r, struct st_buf *out)
{
    const struct st_verify_report *v = r->verified;

    if (v->n_issues)
        st_buf_addf(out, "BROKEN: %llu issues, the first %s at seq %llu, line %llu",
                    (unsigned long long)v->n_issues, st_issue_name(v->issues[0].code),
                    (unsigned long long)v->issues[0].seq, (unsigned long long)v->issues[0].line);
    else
        st_buf_addf(out, "stands, head %s", v->head);
    if (v->signed_seq)
        st_buf_addf(out, "; signed up to seq %llu of %llu", (unsigned long long)v->signed_seq,
                    (unsigned long long)v->seq);
    else
        st_buf_adds(out, "; no signature was checked");
}

bool st_report_fact(const struct st_report *r, unsigned n, const char **label, struct st_buf *out)
{
    static const struct {
        const char *label;
        void (*add)(const struct st_report *, struct st_buf *);
    } facts[] = {{"Trace", fact_file},    {"Agent", fact_agent},     {"Time", fact_time},
                 {"Events", fact_events}, {"Traffic", fact_traffic}, {"Policy", fact_policy},
                 {"Chain", fact_chain}};

    if (n >= sizeof(facts) / sizeof(facts[0]))
        return false;
    *label = facts[n].label;
    facts[n].add(r, out);
    return true;
}

void st_report_headline(const struct st_report *r, struct st_buf *out)
{
    uint64_t refused = r->by_outcome[1] + r->by_outcome[2], stopped = r->by_outcome[3] + r->by_outcome[4];

    st_buf_adds(out, r->verified->n_issues ? "The chain is BROKEN: what follows may have been tampered with. "
                                           : "The chain stands. ");
    if (refused + stopped == 0)
        st_buf_adds(out, "Nothing was refused.");
    else
        st_buf_addf(out, "%llu events were refused or anomalous, %llu stopped the container.",
                    (unsigned long long)refused, (unsigned long long)stopped);
}
