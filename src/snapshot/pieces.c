/* pieces: see pieces.h. */
#include "snapshot/pieces.h"

#include "monitor/snapshot.h"

#include <string.h>

bool st_piece_next(const struct st_buf *all, size_t *at, struct st_piece *out)
{
    struct st_snapshot_piece head;
    size_t left = all->len - *at;

    if (left < sizeof(head))
        return false;
    memcpy(&head, all->data + *at, sizeof(head));
    left -= sizeof(head);
    if (head.name_len > left || head.text_len > left - head.name_len)
        return false;
    *out = (struct st_piece){.kind = head.kind,
                             .name = all->data + *at + sizeof(head),
                             .name_len = head.name_len,
                             .text = all->data + *at + sizeof(head) + head.name_len,
                             .text_len = head.text_len};
    *at += sizeof(head) + head.name_len + head.text_len;
    return true;
}
