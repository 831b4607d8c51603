/* control: see control.h. */
#include "monitor/control.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "monitor/peer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* A request is a handful of members: what wants more is an attempt on our memory. */
#define REQUEST_LIMITS (&(const struct st_json_limits){.max_depth = 8, .max_nodes = 256})

static int open_to_group(int state_dirfd, int64_t gid, struct st_error *err)
{
    if (gid >= 0 && fchownat(state_dirfd, "control.sock", 0, (gid_t)gid, AT_SYMLINK_NOFOLLOW) < 0)
        return st_fail_errno(err, "give control.sock to group %lld", (long long)gid);
    if (fchmodat(state_dirfd, "control.sock", gid >= 0 ? 0660 : 0600, 0) < 0)
        return st_fail_errno(err, "mode of control.sock");
    return 0;
}

int st_control_open(struct st_control *c, int state_dirfd, int64_t gid, const char *id, struct st_error *err)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    st_auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    *c = (struct st_control){.listen_fd = -1, .gid = gid, .id = id};
    for (int i = 0; i < ST_CONTROL_CLIENTS; i++)
        c->clients[i].fd = -1;
    if (fd < 0)
        return st_fail_errno(err, "control socket");
    /* By the directory's fd: the path of a long container ID does not fit into sun_path. */
    snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/control.sock", state_dirfd);
    unlinkat(state_dirfd, "control.sock", 0);
    if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
        return st_fail_errno(err, "bind control.sock");
    if (open_to_group(state_dirfd, gid, err) < 0)
        return -err->errnum;
    if (listen(fd, 16) < 0)
        return st_fail_errno(err, "listen at control.sock");
    c->listen_fd = st_steal_fd(&fd);
    return 0;
}

void st_control_refusal(struct st_buf *out, const char *code, const char *message)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_key(&w, "error");
    st_jw_object(&w);
    st_jw_kstr(&w, "code", code);
    st_jw_kstr(&w, "message", message);
    st_jw_end(&w, '}');
    st_jw_kbool(&w, "ok", false);
    st_jw_end(&w, '}');
}

/* ---- requests ---- */

static void drop(struct st_client *client)
{
    st_loop_remove(client->control->loop, client->fd);
    st_close(&client->fd);
    st_buf_free(&client->in);
    st_outbox_free(&client->out);
    *client = (struct st_client){.control = client->control, .fd = -1};
}

static void reply(struct st_client *client, struct st_buf *out)
{
    st_buf_addc(out, '\n');
    /* Asks and does not read: there is no way to tell it anything. */
    if (!st_outbox_answer(&client->out, out->data, out->len)) {
        st_outbox_free(&client->out);
        client->closing = true;
        client->follows = client->awaits_end = false;
    }
}

static void answer_line(struct st_client *client, const char *line, size_t len)
{
    st_auto_buf out = ST_BUF_INIT;
    st_auto_json doc = NULL;
    struct st_error err = {0};
    const char *request;

    if (st_json_parse(line, len, REQUEST_LIMITS, &doc, &err) < 0) {
        st_control_refusal(&out, "bad_request", err.msg);
        reply(client, &out);
        return;
    }
    request = st_json_str(st_json_get(st_json_root(doc), "request"), NULL);
    if (!request)
        st_control_refusal(&out, "bad_request", "an object with a member \"request\" is wanted");
    else if (!client->control->answer(client->control->ctx, client, request, st_json_root(doc), &out))
        return;
    reply(client, &out);
}

void st_client_feed(struct st_client *client, const char *bytes, size_t n)
{
    struct st_buf *in = &client->in;
    size_t from = 0, seen = in->len;
    const char *newline;

    st_buf_add(in, bytes, n);
    while (!client->closing && (newline = memchr(in->data + seen, '\n', in->len - seen))) {
        size_t end = (size_t)(newline - in->data);

        answer_line(client, in->data + from, end - from);
        from = seen = end + 1;
    }
    memmove(in->data, in->data + from, in->len - from);
    in->len -= from;
    if (!client->closing && in->len > ST_CONTROL_LINE_MAX) {
        st_auto_buf out = ST_BUF_INIT;

        st_control_refusal(&out, "too_long", "a request is one line of at most 1 MiB");
        reply(client, &out);
        client->closing = true;
    }
    if (client->closing || in->len == 0)
        st_buf_free(in);
}

/* ---- the loop ---- */

/* Sends what can be sent, and watches for what is to come. May drop the client. */
static void settle(struct st_client *client)
{
    int rc = st_outbox_flush(&client->out, client->fd, client->control->id);
    uint32_t wanted = (client->closing ? 0 : EPOLLIN) | (rc > 0 ? EPOLLOUT : 0);

    if (rc < 0 || (rc == 0 && client->closing && !client->follows && !client->awaits_end)) {
        drop(client);
        return;
    }
    if (wanted != client->watched)
        st_loop_change(client->control->loop, client->fd, wanted);
    client->watched = wanted;
}

static void on_client(void *ctx, uint32_t events)
{
    struct st_client *client = ctx;
    char bytes[4096];
    ssize_t n;

    if (events & (EPOLLHUP | EPOLLERR)) {
        drop(client);
        return;
    }
    if (!(events & EPOLLIN) || client->closing) {
        settle(client);
        return;
    }
    n = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    /* The end of its words is not the end of its interest. */
    if (n <= 0)
        client->closing = true;
    else
        st_client_feed(client, bytes, (size_t)n);
    settle(client);
}

static struct st_client *free_client(struct st_control *c, uid_t uid)
{
    struct st_client *found = NULL;
    int others = 0;

    for (int i = 0; i < ST_CONTROL_CLIENTS; i++) {
        if (c->clients[i].fd < 0)
            found = &c->clients[i];
        else if (c->clients[i].uid != 0)
            others++;
    }
    return uid != 0 && others >= ST_CONTROL_GROUP_CLIENTS ? NULL : found;
}

static void refuse(int fd, const char *code, const char *message)
{
    st_auto_buf out = ST_BUF_INIT;

    st_control_refusal(&out, code, message);
    st_buf_addc(&out, '\n');
    /* A peer whose buffer is full before it was told anything has nothing to complain of. */
    if (send(fd, out.data, out.len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
}

static void on_connect(void *ctx, uint32_t events)
{
    struct st_control *c = ctx;
    st_auto_fd fd = accept4(c->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct st_client *client;
    struct st_peer peer;

    (void)events;
    if (fd < 0)
        return;
    if (!st_peer_is_welcome(fd, c->gid, &peer) || (c->is_inside && c->is_inside(c->ctx, peer.pid))) {
        refuse(fd, "not_permitted", "only root and the members of the configured control_group may ask");
        return;
    }
    client = free_client(c, peer.uid);
    if (!client || st_loop_add(c->loop, "control client", fd, EPOLLIN, on_client, client) < 0) {
        refuse(fd, "busy", "too many clients are connected");
        return;
    }
    *client = (struct st_client){
        .control = c, .fd = st_steal_fd(&fd), .uid = peer.uid, .pid = peer.pid, .watched = EPOLLIN};
}

int st_control_attach(struct st_control *c, struct st_loop *loop, st_control_answer answer, void *ctx,
                      struct st_error *err)
{
    int rc;

    c->loop = loop;
    c->answer = answer;
    c->ctx = ctx;
    rc = st_loop_add(loop, "control", c->listen_fd, EPOLLIN, on_connect, c);
    return rc < 0 ? st_fail(err, -rc, "watch the control socket") : 0;
}

/* ---- followers, and the end ---- */

void st_control_tell(struct st_control *c, const struct st_ring_entry *entry, const char *line)
{
    for (int i = 0; i < ST_CONTROL_CLIENTS; i++) {
        struct st_client *client = &c->clients[i];

        if (client->fd >= 0 && client->follows && st_interest_takes(&client->filter, entry))
            st_outbox_event(&client->out, entry->seq, line, entry->len);
    }
}

void st_control_flush(struct st_control *c)
{
    for (int i = 0; i < ST_CONTROL_CLIENTS; i++) {
        struct st_client *client = &c->clients[i];

        /* One that waits for room is told by the loop. */
        if (client->fd >= 0 && client->follows && !(client->watched & EPOLLOUT) &&
            st_outbox_waits(&client->out))
            settle(client);
    }
}

void st_control_end(struct st_control *c)
{
    for (int i = 0; i < ST_CONTROL_CLIENTS; i++) {
        struct st_client *client = &c->clients[i];

        if (client->fd < 0)
            continue;
        if (client->awaits_end) {
            st_auto_buf out = ST_BUF_INIT;

            st_buf_adds(&out, "{\"ok\":true,\"sealed\":true}");
            reply(client, &out);
        }
        st_outbox_flush(&client->out, client->fd, c->id);
        drop(client);
    }
    if (c->loop && c->listen_fd >= 0)
        st_loop_remove(c->loop, c->listen_fd);
    st_close(&c->listen_fd);
}
