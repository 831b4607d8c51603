/* link: see link.h. The head is kept with its prefix, which the older dialect does not write. */
#include "audit/link.h"

#define PREFIX "sha256:"
#define PREFIX_LEN (sizeof(PREFIX) - 1)

bool st_link_followed(const struct st_link *link, const struct st_frame *f)
{
    const char *head = link->head + (f->dialect == ST_DIALECT_CURRENT ? 0 : PREFIX_LEN);

    if (link->seq == 0)
        return !f->prev_hash.p;
    return f->prev_hash.p && strlen(head) == f->prev_hash.len &&
           memcmp(head, f->prev_hash.p, f->prev_hash.len) == 0;
}

void st_link_take(struct st_link *link, const struct st_frame *f)
{
    link->seq = f->seq;
    memcpy(link->head, PREFIX, PREFIX_LEN);
    memcpy(link->head + PREFIX_LEN, f->record_hash.p + f->record_hash.len - ST_SHA256_HEX, ST_SHA256_HEX);
    link->head[ST_HASH_SIZE - 1] = '\0';
}
