/* news: what was recorded, told to those who listen: followers at the control socket, the bus, the sinks, the
 * ring for those who come late, and the counts of `summary`. Never blocks, never fails, never decides. */
#pragma once

#include "audit/trace.h"
#include "model/event.h"
#include "monitor/bus.h"
#include "monitor/control.h"
#include "monitor/ring.h"
#include "monitor/teller.h"

#define ST_NEWS_RESULTS (ST_ANOMALY + 1)

struct st_news {
    struct st_control *control;
    struct st_bus *bus;
    struct st_teller *teller;
    bool about_sinks; /* the record that comes is about what the sinks lost */
    struct st_ring ring;
    uint64_t by_type[ST_EV_TYPES], by_result[ST_NEWS_RESULTS];
};

/* It is sent at the end of the round (st_news_flush), when what had to be on disk first is there. */
void st_news_tell(struct st_news *n, const struct st_trace_told *told);
void st_news_flush(struct st_news *n);
