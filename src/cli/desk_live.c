/* desk_live: see desk_live.h. */
#include "cli/desk_live.h"

#include "base/cleanup.h"
#include "cli/control_client.h"
#include "cli/desk_errand.h"

#include <string.h>

static int list(void *ctx, struct st_buf *ids, size_t *n, struct st_error *err)
{
    const struct st_desk_live *l = ctx;
    st_auto_boxes boxes = {0};

    if (st_boxes_read(l->state_dir, &boxes, err) < 0)
        return -err->errnum;
    for (size_t i = 0; i < boxes.n; i++)
        st_buf_add(ids, boxes.list[i].id, strlen(boxes.list[i].id) + 1);
    *n = boxes.n;
    return 0;
}

/* The one of exactly this name. */
static const struct st_box *find(struct st_boxes *boxes, const struct st_desk_live *l, const char *id,
                                 struct st_error *err)
{
    if (st_boxes_read(l->state_dir, boxes, err) < 0)
        return NULL;
    for (size_t i = 0; i < boxes->n; i++)
        if (strcmp(boxes->list[i].id, id) == 0)
            return &boxes->list[i];
    st_fail(err, ENOENT, "no watched container is called %s", id);
    return NULL;
}

static int ask(void *ctx, const char *id, const struct st_buf *request, struct st_buf *answer,
               struct st_error *err)
{
    st_auto_boxes boxes = {0};
    st_auto_answer got = {0};
    const struct st_box *box = find(&boxes, ctx, id, err);
    int rc;

    if (!box)
        return -err->errnum;
    rc = st_ask(box, request->data, request->len, &got, err);
    if (rc < 0 && rc != -EREMOTEIO)
        return rc;
    st_buf_add(answer, got.text.data, got.text.len);
    return 0;
}

static int state(void *ctx, const char *id, struct st_buf *json, struct st_error *err)
{
    st_auto_boxes boxes = {0};
    st_auto_answer got = {0};
    const struct st_box *box = find(&boxes, ctx, id, err);

    if (!box)
        return -err->errnum;
    if (!st_box_state(box, &got))
        return st_fail(err, ENOENT, "%s: has no state.json that can be read", id);
    st_buf_add(json, got.text.data, got.text.len);
    return 0;
}

static int verify(void *ctx, const char *name, struct st_buf *answer, struct st_error *err)
{
    const struct st_desk_live *l = ctx;

    return st_errand_verify(l->ask_fd, name, answer, err);
}

static void tell_review(void *ctx, const char *id)
{
    const struct st_desk_live *l = ctx;
    struct st_error err = {0};

    if (st_errand_tell(l->ask_fd, id, &err) < 0)
        fprintf(stderr, "sandtrace serve: on_review was not told of %s: %s\n", id, err.msg);
}

struct st_live st_desk_live(struct st_desk_live *ctx)
{
    return (struct st_live){
        .ctx = ctx, .list = list, .ask = ask, .state = state, .verify = verify, .tell_review = tell_review};
}
