/* hands: see hands.h. */
#include "monitor/hands.h"

#include "base/cleanup.h"

#include <sys/epoll.h>
#include <sys/socket.h>

int st_hands_open(struct st_hands *h, int socket, st_hands_taker take, void *ctx, struct st_error *err)
{
    *h = (struct st_hands){.socket = socket, .take = take, .ctx = ctx};
    for (size_t i = 0; i < ST_HANDS; i++)
        h->list[i].reply = -1;
    h->epfd = epoll_create1(EPOLL_CLOEXEC);
    return h->epfd < 0 ? st_fail_errno(err, "epoll") : 0;
}

int st_hands_send(struct st_hands *h, const struct st_errand *e, int fds[ST_ERRAND_FDS], void *what)
{
    st_auto_fd ours = -1, theirs = -1;
    struct epoll_event ev = {.events = EPOLLIN};
    struct st_hand *hand = NULL;
    int pair[2], rc;

    for (size_t i = 0; i < ST_HANDS && !hand; i++)
        if (h->list[i].reply < 0)
            hand = &h->list[i];
    if (!hand)
        return -EBUSY;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    ours = pair[0];
    theirs = pair[1];
    fds[ST_ERRAND_REPLY] = theirs;
    ev.data.ptr = hand;
    if (epoll_ctl(h->epfd, EPOLL_CTL_ADD, ours, &ev) < 0)
        return -errno;
    rc = st_errand_send(h->socket, e, fds);
    if (rc < 0)
        return rc;
    *hand = (struct st_hand){st_steal_fd(&ours), what};
    return 0;
}

static void finish(struct st_hands *h, struct st_hand *hand, int error, int fd)
{
    void *what = hand->what;

    st_close(&hand->reply);
    hand->what = NULL;
    h->take(h->ctx, what, error, fd);
}

void st_hands_work(struct st_hands *h)
{
    struct epoll_event events[8];
    int n = epoll_wait(h->epfd, events, sizeof(events) / sizeof(events[0]), 0);

    for (int i = 0; i < n; i++) {
        struct st_hand *hand = events[i].data.ptr;
        struct st_errand_result r;
        int fd = -1, rc;

        if (hand->reply < 0)
            continue;
        rc = st_errand_result(hand->reply, &r, &fd);
        if (rc == -EAGAIN)
            continue;
        finish(h, hand, rc == 1 ? r.error : EIO, fd);
    }
}
