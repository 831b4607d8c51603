/* report_data: adds a trace up. See report.h. */
#include "base/clock.h"
#include "base/duration.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/report.h"
#include "cli/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_MAX 20000 /* of each thing that is told apart */

void st_report_init(struct st_report *r, const char *file, size_t top)
{
    *r = (struct st_report){.file = st_xstrdup(file), .top = top, .timeline = {.width_us = 1000000}};
    for (size_t i = 0; i < ST_TALLIES; i++)
        st_tally_init(&r->tallies[i], KINDS_MAX);
}

void st_report_free(struct st_report *r)
{
    for (size_t i = 0; i < ST_TALLIES; i++)
        st_tally_free(&r->tallies[i]);
    free(r->file);
}

static struct st_tally_item *count_text(struct st_report *r, enum st_report_tally which,
                                        const struct st_buf *key, uint64_t count, bool refused)
{
    struct st_tally_item *item = st_tally_add(&r->tallies[which], st_buf_cstr(key), key->len, count);

    if (item && refused)
        st_tally_sum(&item->refused, count);
    return item;
}

static bool is_refused(const struct st_decoded *d)
{
    return d->has_verdict && (d->verdict.result != ST_ALLOW || d->verdict.action != ST_ACT_NONE);
}

static unsigned outcome_index(const struct st_decoded *d)
{
    static const unsigned by_result[] = {[ST_ALLOW] = 0, [ST_DENY] = 1, [ST_ANOMALY] = 2};

    if (d->verdict.action == ST_ACT_PAUSED)
        return 3;
    return d->verdict.action == ST_ACT_KILLED ? 4 : by_result[d->verdict.result];
}

/* Buckets double in width when the trace is longer than they reach. */
static void add_to_timeline(struct st_timeline *t, int64_t us, unsigned outcome, uint64_t count)
{
    int64_t at = us > t->start_us ? us - t->start_us : 0;

    while (at / t->width_us >= ST_REPORT_BUCKETS) {
        for (size_t i = 0; i < ST_REPORT_BUCKETS; i++)
            for (size_t k = 0; k < ST_REPORT_OUTCOMES; k++)
                t->counts[i][k] =
                    i < ST_REPORT_BUCKETS / 2 ? t->counts[2 * i][k] + t->counts[2 * i + 1][k] : 0;
        t->width_us *= 2;
    }
    st_tally_sum(&t->counts[at / t->width_us][outcome == 0 ? 0 : outcome < 3 ? 1 : 2], count);
}

static void show_far_end(struct st_buf *out, const struct st_decoded *d)
{
    const struct st_ev_network *net = &d->ev.net;
    char addr[ST_ADDR_TEXT_SIZE];

    st_addr_format(&net->addr, addr);
    st_show_text(out, net->host.p ? net->host : st_str(addr));
    if (d->ev.type == ST_EV_NETWORK_EGRESS)
        st_buf_addf(out, ":%u", net->port);
}

/* The name that a process gives itself is not believed where its program is known. */
static void show_actor(struct st_buf *out, const struct st_process *p)
{
    const char *slash = p->exe.p ? memrchr(p->exe.p, '/', p->exe.len) : NULL;
    size_t skip = slash ? (size_t)(slash - p->exe.p) + 1 : 0;

    if (p->exe.len > skip)
        st_show_text(out, (struct st_str){p->exe.p + skip, p->exe.len - skip});
    else
        st_show_text(out, p->comm.p ? p->comm : ST_STR_LIT("?"));
}

/* What says how something ended that was counted when it began. */
static bool is_outcome(const struct st_decoded *d)
{
    if (d->dialect == ST_DIALECT_OLDER)
        return false;
    return d->ev.type == ST_EV_DNS_QUERY ? d->ev.dns.n_answers > 0 : d->ev.net.state == ST_NET_CLOSED;
}

static void add_network(struct st_report *r, const struct st_decoded *d, uint64_t count)
{
    const struct st_ev_network *net = &d->ev.net;
    st_auto_buf key = ST_BUF_INIT;
    uint64_t sent = net->bytes_sent > 0 ? (uint64_t)net->bytes_sent : 0;
    uint64_t received = net->bytes_received > 0 ? (uint64_t)net->bytes_received : 0;
    struct st_tally_item *item;

    show_actor(&key, &d->ev.process);
    st_buf_adds(&key, d->ev.type == ST_EV_NETWORK_EGRESS ? " → " : " ← ");
    show_far_end(&key, d);
    item = count_text(r, ST_TALLY_TALKED, &key, is_outcome(d) ? 0 : count, is_refused(d) || net->blocked);
    if (item) {
        st_tally_sum(&item->a, sent);
        st_tally_sum(&item->b, received);
    }
    st_tally_sum(&r->bytes_sent, sent);
    st_tally_sum(&r->bytes_received, received);
}

static void add_file(struct st_report *r, const struct st_decoded *d, uint64_t count)
{
    const struct st_ev_filesystem *fs = &d->ev.fs;
    st_auto_buf key = ST_BUF_INIT;
    struct st_tally_item *item;
    bool writes = fs->access & (ST_ACCESS_WRITE | ST_ACCESS_CREATE | ST_ACCESS_ATTRIB) ||
                  fs->op == ST_FS_CREATE || fs->op == ST_FS_MODIFY || fs->op == ST_FS_LINK ||
                  fs->op == ST_FS_ATTRIB;

    if (fs->op == ST_FS_EXEC) {
        st_show_text(&key, fs->path);
        count_text(r, ST_TALLY_RAN, &key, count, is_refused(d) || fs->blocked);
    } else if (fs->op == ST_FS_DELETE || fs->op == ST_FS_RENAME || fs->access & ST_ACCESS_DELETE) {
        st_show_text(&key, fs->path);
        if (fs->target.p) {
            st_buf_adds(&key, " → ");
            st_show_text(&key, fs->target);
        }
        count_text(r, ST_TALLY_DELETED, &key, count, is_refused(d) || fs->blocked);
    } else if (writes) {
        st_show_text(&key, fs->path);
        item = count_text(r, ST_TALLY_WRITTEN, &key, count, is_refused(d) || fs->blocked);
        if (item && fs->size >= 0)
            item->a = (uint64_t)fs->size;
    }
}

/* The older dialect has no records of single files; where there are, a summary repeats them, and knows their
 * sizes. */
static void add_summary(struct st_report *r, const struct st_decoded *d)
{
    static const struct {
        const char *key;
        enum st_report_tally tally;
    } lists[] = {{"files_created", ST_TALLY_WRITTEN},
                 {"files_modified", ST_TALLY_WRITTEN},
                 {"files_deleted", ST_TALLY_DELETED}};
    bool counts = d->dialect == ST_DIALECT_OLDER;
    st_auto_json doc = NULL;

    if (st_json_parse(d->ev.json.p, d->ev.json.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
        return;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        st_json_each (item, st_json_get(st_json_root(doc), lists[i].key)) {
            st_auto_buf key = ST_BUF_INIT;
            struct st_tally_item *row;
            struct st_str path;
            int64_t size;

            path.p =
                st_json_str(st_json_is(item, ST_JSON_OBJECT) ? st_json_get(item, "path") : item, &path.len);
            st_show_text(&key, path.p ? path : ST_STR_LIT("?"));
            row = count_text(r, lists[i].tally, &key, counts, false);
            if (row && lists[i].tally == ST_TALLY_WRITTEN && st_json_int(st_json_get(item, "size"), &size) &&
                size >= 0)
                row->a = (uint64_t)size;
        }
}

static void add_kind(struct st_report *r, const struct st_decoded *d, uint64_t count)
{
    st_auto_buf key = ST_BUF_INIT;
    struct st_scan_value value;

    switch (d->ev.type) {
    case ST_EV_FILESYSTEM: add_file(r, d, count); return;
    case ST_EV_NETWORK_EGRESS:
    case ST_EV_NETWORK_INGRESS: add_network(r, d, count); return;
    case ST_EV_DNS_QUERY:
        st_show_text(&key, d->ev.dns.name);
        count_text(r, ST_TALLY_NAMES, &key, is_outcome(d) ? 0 : count, is_refused(d) || d->ev.dns.blocked);
        return;
    case ST_EV_PROCESS:
        if (d->ev.proc.op == ST_PROC_EXEC) {
            st_show_text(&key, d->ev.proc.path);
            count_text(r, ST_TALLY_RAN, &key, count, is_refused(d) || d->ev.proc.blocked);
        }
        return;
    case ST_EV_SYSCALL:
        st_show_text(&key, d->ev.sys.name);
        count_text(r, ST_TALLY_SYSCALLS, &key, count, is_refused(d) || d->ev.sys.blocked);
        return;
    case ST_EV_SECURITY_RESUME:
        value = st_scan_get((struct st_scan_value){.type = ST_SCAN_OBJECT, .text = d->ev.json}, "decision",
                            ST_SCAN_RFC8785);
        st_show_text(&key, value.type == ST_SCAN_STRING ? value.text : ST_STR_LIT("?"));
        count_text(r, ST_TALLY_ANSWERS, &key, count, false);
        return;
    case ST_EV_SENSOR:
        st_show_subject(&key, d);
        count_text(r, ST_TALLY_SENSORS, &key, count, false);
        return;
    case ST_EV_FILESYSTEM_SUMMARY: add_summary(r, d); return;
    case ST_EV_LIFECYCLE:
    case ST_EV_SECURITY_PAUSE:
    case ST_EV_POLICY_CHANGE:
    case ST_EV_CHECKPOINT:
    case ST_EV_TYPES: return;
    }
}

static void add_refused(struct st_report *r, const struct st_decoded *d, uint64_t count)
{
    static const unsigned ranks[] = {0, 2, 1, 3, 4}; /* by outcome: the gravest first */
    st_auto_buf key = ST_BUF_INIT;
    struct st_decoded once = *d;
    struct st_tally_item *item;

    once.ev.count = 0;
    st_buf_addf(&key, "%s\t", st_show_outcome(&d->verdict));
    if (d->known_type && d->ev.type == ST_EV_DNS_QUERY)
        once.ev.dns.n_answers = 0;
    if (d->known_type && d->ev.type == ST_EV_PROCESS)
        once.ev.proc.argv = (struct st_str){0};
    if (d->known_type && (d->ev.type == ST_EV_NETWORK_EGRESS || d->ev.type == ST_EV_NETWORK_INGRESS)) {
        st_buf_adds(&key, d->ev.type == ST_EV_NETWORK_EGRESS ? "connect to " : "connection from ");
        show_far_end(&key, d); /* without what differs each time: bytes, one of its addresses */
    } else {
        st_show_subject(&key, &once);
    }
    st_buf_adds(&key, "\t");
    st_show_text(&key, d->verdict.rule.p ? d->verdict.rule : ST_STR_LIT("(default)"));
    item = count_text(r, ST_TALLY_REFUSED, &key, count, true);
    if (item)
        item->rank = ranks[outcome_index(d)];
}

void st_report_add(struct st_report *r, const struct st_decoded *d)
{
    uint64_t count = d->ev.count > 1 ? d->ev.count : 1;
    st_auto_buf agent = ST_BUF_INIT;

    if (r->records++ == 0) {
        r->first_us = r->last_us = d->ev.wall_us;
        r->timeline.start_us = d->ev.wall_us - d->ev.wall_us % 1000000;
    }
    if (d->ev.wall_us > r->last_us)
        r->last_us = d->ev.wall_us;
    st_tally_sum(&r->events, count);
    st_tally_sum(&r->by_type[d->known_type ? d->ev.type : ST_EV_TYPES], count);
    st_tally_sum(&r->by_outcome[outcome_index(d)], count);
    add_to_timeline(&r->timeline, d->ev.wall_us, outcome_index(d), count);
    st_show_text(&agent, d->agent_id);
    count_text(r, ST_TALLY_AGENTS, &agent, 1, false);
    if (d->verdict.policy_sha256)
        st_tally_add(&r->tallies[ST_TALLY_POLICIES], d->verdict.policy_sha256,
                     strlen(d->verdict.policy_sha256), 1);
    if (d->known_type)
        add_kind(r, d, count);
    if (is_refused(d))
        add_refused(r, d, count);
}

void st_report_finish(struct st_report *r, const struct st_verify_report *verified)
{
    r->verified = verified;
    for (size_t i = 0; i < ST_TALLIES; i++)
        st_tally_sort(&r->tallies[i]);
}
