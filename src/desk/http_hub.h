/* http_hub: what happens now, for everybody who watches: records as the bus brings them, and what waits for
 * an answer.
 *
 * One ring for all readers: who is too slow for it is told how many it missed, and holds up nobody. Records
 * come from the bus' thread, readers are served by the loop's; a thread of the hub's own asks the monitors
 * what waits. */
#pragma once

#include "desk/http_find.h"
#include "desk/live.h"

#define ST_READERS_MAX 256

struct st_stream_hub;
struct st_reader;

/* Lives as long as the process. */
int st_hub_new(const struct st_live *live, struct st_stream_hub **out, struct st_error *err);

/* Becomes readable when there is something new; st_hub_heard() makes it wait again. */
int st_hub_fd(const struct st_stream_hub *h);
void st_hub_heard(struct st_stream_hub *h);

/* A line of the bus: a record, or a gap. container: whose monitor said it; NULL: not known. */
void st_hub_line(struct st_stream_hub *h, const char *container, struct st_str line);

/* Something may wait now, or not any more. */
void st_hub_look_at_pending(struct st_stream_hub *h);

struct st_hub_numbers {
    unsigned readers, kept;
    uint64_t records, missed, unreadable; /* missed: by readers and by ourselves */
};

void st_hub_numbers(struct st_stream_hub *h, struct st_hub_numbers *out);

/* Takes the query over. NULL: too many, or (err) a filter that is wrong. */
struct st_reader *st_reader_new(struct st_stream_hub *h, struct st_query *q, struct st_error *err);
void st_reader_free(struct st_reader *r);

/* Bytes of the stream for a reader; 0: nothing now. */
size_t st_reader_take(struct st_reader *r, char *out, size_t room, int64_t now_ns);
bool st_reader_has_news(struct st_reader *r, int64_t now_ns);
