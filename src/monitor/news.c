/* news: see news.h. */
#include "monitor/news.h"

void st_news_tell(struct st_news *n, const struct st_trace_told *told)
{
    const struct st_ring_entry entry = {.seq = told->seq,
                                        .len = (uint32_t)told->line.len,
                                        .type = (uint8_t)told->type,
                                        .result = (uint8_t)told->result,
                                        .severity = (uint8_t)told->severity};

    n->by_type[told->type]++;
    n->by_result[told->result]++;
    st_ring_put(&n->ring, &entry, told->line.p);
    st_control_tell(n->control, &entry, told->line.p);
    st_bus_tell(n->bus, told->seq, told->line.p, told->line.len);
    st_teller_tell(n->teller, &(struct st_queued){.type = entry.type,
                                                  .result = entry.result,
                                                  .severity = entry.severity,
                                                  .about_sinks = n->about_sinks,
                                                  .line = told->line});
}

void st_news_flush(struct st_news *n)
{
    st_control_flush(n->control);
    st_bus_flush(n->bus);
    st_teller_flush(n->teller);
}
