/* news: see news.h. */
#include "monitor/news.h"

#include "audit/frame.h"

bool st_news_read(struct st_str line, struct st_buf *scratch, struct st_ring_entry *out)
{
    struct st_scan_value result, severity;
    struct st_frame f;
    const char *why;
    int type, verdict, grave;

    *out = (struct st_ring_entry){.len = (uint32_t)line.len};
    if (line.len && line.p[line.len - 1] == '\n')
        line.len--;
    if (st_frame_read(line, scratch, &f, &why) != ST_FRAME_OK)
        return false;
    result = st_scan_get(f.verdict, "result", st_frame_rules(&f));
    type = st_event_type_by_name(f.event_type.text);
    verdict = result.type == ST_SCAN_STRING ? st_result_by_name(result.text) : ST_ALLOW;
    severity = st_scan_get(f.verdict, "severity", st_frame_rules(&f));
    grave = severity.type == ST_SCAN_STRING ? st_severity_by_name(severity.text) : ST_SEV_NONE;
    if (type < 0 || verdict < 0 || grave < 0)
        return false;
    out->seq = f.seq;
    out->type = (uint8_t)type;
    out->result = (uint8_t)verdict;
    out->severity = (uint8_t)grave;
    return true;
}

void st_news_tell(struct st_news *n, const char *line, size_t len)
{
    struct st_ring_entry entry;

    if (!st_news_read((struct st_str){.p = line, .len = len}, &n->scratch, &entry))
        return;
    n->by_type[entry.type]++;
    n->by_result[entry.result]++;
    st_ring_put(&n->ring, &entry, line);
    st_control_tell(n->control, &entry, line);
    st_bus_tell(n->bus, entry.seq, line, len);
    st_teller_tell(n->teller, &(struct st_queued){.type = entry.type,
                                                  .result = entry.result,
                                                  .severity = entry.severity,
                                                  .about_sinks = n->about_sinks,
                                                  .line = {.p = line, .len = len}});
}

void st_news_flush(struct st_news *n)
{
    st_control_flush(n->control);
    st_bus_flush(n->bus);
    st_teller_flush(n->teller);
}
