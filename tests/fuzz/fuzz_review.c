/* The files of a task: any bytes, as review.json and as verdicts.jsonl. What was read is written again and
 * read once more: it must be the same. */
#include "desk/review.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    st_auto_review r = {0}, again = {0};
    st_auto_buf text = ST_BUF_INIT, second = ST_BUF_INIT;
    struct st_error err = {0};

    st_review_parse_verdicts((const char *)data, size, &r);
    if (st_review_parse((const char *)data, size, &r, &err) < 0)
        return 0;
    st_review_write(&r, &text);
    if (st_review_parse(text.data, text.len, &again, &err) < 0)
        abort();
    st_review_write(&again, &second);
    if (text.len != second.len || memcmp(text.data, second.data, text.len) != 0)
        abort();
    return 0;
}
