/* Any bytes as a message of the kernel about a queued packet, a flow, a device, a logged frame: what is given
 * lies within them, or they are refused. */
#include "sensors/netfilter/conntrack.h"
#include "sensors/netfilter/links.h"
#include "sensors/netfilter/nflog.h"
#include "sensors/netfilter/nfqueue.h"

#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void within(const uint8_t *message, size_t size, const uint8_t *bytes, size_t n)
{
    demand(n == 0 || (bytes >= message && bytes + n <= message + size));
}

/* As the kernel would have it: what its length says, and of this kind. Most inputs would else go no further.
 */
static void as_each_kind(uint8_t *message, size_t size)
{
    static const uint16_t kinds[] = {0x300, 0x100, 0x102, 0x10, 0x11, 0x400};
    struct nlmsghdr *h = (void *)message;

    if (size < sizeof(*h))
        return;
    h->nlmsg_len = (uint32_t)size;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct st_nfqueue_packet packet;
        struct st_nflog_frame frame;
        struct st_ct_flow flow;
        struct st_device link;

        h->nlmsg_type = kinds[i];
        if (st_nfqueue_parse(message, size, &packet))
            within(message, size, packet.bytes, packet.len);
        if (st_nflog_parse(message, size, &frame))
            within(message, size, frame.bytes, frame.len);
        if (st_conntrack_parse(message, size, &flow))
            demand((flow.src.family == 4 || flow.src.family == 6) && flow.src.family == flow.dst.family);
        if (st_links_parse(message, size, &link))
            demand(link.index > 0 && strnlen(link.name, sizeof(link.name)) < sizeof(link.name));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct st_nfqueue_packet packet;
    struct st_nflog_frame frame;
    struct st_ct_flow flow;
    struct st_device link;
    uint8_t *message = malloc(size ? size : 1);

    demand(message != NULL);
    if (size)
        memcpy(message, data, size);
    if (st_nfqueue_parse(message, size, &packet))
        within(message, size, packet.bytes, packet.len);
    if (st_nflog_parse(message, size, &frame))
        within(message, size, frame.bytes, frame.len);
    st_conntrack_parse(message, size, &flow);
    st_links_parse(message, size, &link);
    as_each_kind(message, size);
    free(message);
    return 0;
}
