/* http_stream: a connection that is told what happens until it goes (http_hub.h): its place among those of
 * the server, and how it sleeps while there is nothing to say. */
#include "desk/http_connection.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 16384

struct st_stream {
    struct st_stream *next, **at; /* in the list of the server */
    struct MHD_Connection *mhd;
    struct st_reader *reader;
    struct st_session *session; /* NULL: by the token */
    char id[ST_SECRET_SIZE];    /* of the session: its place may become another's */
    bool sleeps;
};

/* Who logs out is told nothing more. */
static bool may_read(struct st_stream *s, int64_t now)
{
    return !s->session || st_session_stands(s->session, s->id, now);
}

static ssize_t send_more(void *cls, uint64_t pos, char *buf, size_t max)
{
    struct st_stream *s = cls;
    int64_t now = st_now_mono_ns();
    size_t n;

    (void)pos;
    if (!may_read(s, now))
        return MHD_CONTENT_READER_END_OF_STREAM;
    n = st_reader_take(s->reader, buf, max, now);
    if (n == 0) {
        s->sleeps = true;
        MHD_suspend_connection(s->mhd);
    }
    return (ssize_t)n;
}

static void end(void *cls)
{
    struct st_stream *s = cls;

    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
    st_reader_free(s->reader);
    free(s);
}

struct MHD_Response *st_stream_response(struct st_connection *c)
{
    struct st_error err = {0};
    struct st_reader *reader = st_reader_new(c->server->desk->hub, &c->request.query, &err);
    struct st_stream *s;
    struct MHD_Response *r;

    if (!reader) {
        st_http_refuse(&c->answer, err.errnum == EBUSY ? 503 : 400,
                       err.errnum == EBUSY ? "busy" : "bad_request", "%s", err.msg);
        return NULL;
    }
    s = st_xcalloc(1, sizeof(*s));
    *s = (struct st_stream){.next = c->server->streams,
                            .at = &c->server->streams,
                            .mhd = c->mhd,
                            .reader = reader,
                            .session = c->session};
    if (s->session)
        memcpy(s->id, s->session->id, sizeof(s->id));
    if (s->next)
        s->next->at = &s->next;
    c->server->streams = s;
    r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, send_more, s, end);
    if (!r) {
        end(s);
        st_http_refuse(&c->answer, 503, "busy", "no memory for another reader");
    }
    return r;
}

void st_streams_wake(struct st_server *server)
{
    int64_t now = st_now_mono_ns();

    for (struct st_stream *s = server->streams; s; s = s->next)
        if (s->sleeps && (st_reader_has_news(s->reader, now) || !may_read(s, now))) {
            s->sleeps = false;
            MHD_resume_connection(s->mhd);
        }
}
