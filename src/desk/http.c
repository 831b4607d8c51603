/* http: see http.h. */
#include "desk/http.h"

#include "base/cleanup.h"
#include "base/json_write.h"

#include <stdarg.h>
#include <stdio.h>

void st_http_request_free(struct st_http_request *r)
{
    st_query_free(&r->query);
    st_buf_free(&r->body);
}

void st_http_answer_free(struct st_http_answer *a)
{
    st_buf_free(&a->body);
    *a = (struct st_http_answer){0};
}

unsigned st_http_refuse(struct st_http_answer *a, unsigned status, const char *code, const char *fmt, ...)
{
    char message[1024];
    struct st_jw w;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(message, sizeof(message), fmt, ap);
    va_end(ap);
    a->status = status;
    a->type = NULL;
    a->fixed = NULL;
    st_buf_clear(&a->body);
    st_jw_init(&w, &a->body);
    st_jw_object(&w);
    st_jw_key(&w, "error");
    st_jw_object(&w);
    st_jw_kstr(&w, "code", code);
    st_jw_kstr(&w, "message", message);
    st_jw_end(&w, '}');
    st_jw_end(&w, '}');
    return status;
}
