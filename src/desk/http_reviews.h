/* http_reviews: tasks for a person (review.h), told by the review desk. */
#pragma once

#include "base/json_write.h"
#include "desk/desk.h"
#include "desk/review.h"

/* All there are; none where they can't be read. */
void st_reviews_of(const struct st_desk *desk, struct st_reviews *out);

/* Members of a container: quarantined, and review (the newest open task, or null). */
void st_review_put(struct st_jw *w, const struct st_reviews *all, const char *container);
void st_review_put_id(struct st_jw *w, const struct st_reviews *all, const char *container);
