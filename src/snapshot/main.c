/* sandtrace-snapshot: started by the warden of a container that ends by a violation, while that stands still.
 *
 *   sandtrace-snapshot ID PID ROOTFS TRACE QUARANTINE_DIR MAX_BYTES [PROGRAM [ARG…]]
 *
 * What is kept and where comes from the warden, by arguments; why, from the worker, by the socket (fd 3). It
 * looks at the container by a confined child, keeps what was found in a folder of its own, and tells the
 * worker and the program of `on_review`. Not meant to be started by hand. */
#include "base/clock.h"
#include "base/io.h"
#include "snapshot/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECES_MAX ((size_t)64 << 20)
#define ASK_S 2

/* The warden's place is not ours: nothing depends on our being quick or alive. */
static void settle_in(void)
{
    umask(077);
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    st_write_small_at(AT_FDCWD, "/proc/self/oom_score_adj", "0");
    setpriority(PRIO_PROCESS, 0, 0);
}

static void end_texts(struct st_snapshot_request *q)
{
    char *const texts[] = {q->cause,    q->severity, q->event_id, q->rule,         q->reason,
                           q->agent_id, q->trace_id, q->policy,   q->policy_sha256};
    const size_t sizes[] = {sizeof(q->cause),    sizeof(q->severity), sizeof(q->event_id),
                            sizeof(q->rule),     sizeof(q->reason),   sizeof(q->agent_id),
                            sizeof(q->trace_id), sizeof(q->policy),   sizeof(q->policy_sha256)};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        texts[i][sizes[i] - 1] = '\0';
}

/* The request, with the fd that comes along. */
static int receive(struct st_keep *k, struct st_error *err)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } room = {0};
    struct iovec iov = {.iov_base = &k->request, .iov_len = sizeof(k->request)};
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof(room.bytes)};
    const struct timeval patience = {.tv_sec = ASK_S};
    struct cmsghdr *c;
    int fd = -1, rc;

    setsockopt(k->socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (recvmsg(k->socket, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(k->request))
        return st_fail(err, EBADMSG, "no request");
    c = CMSG_FIRSTHDR(&m);
    if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
        memcpy(&fd, CMSG_DATA(c), sizeof(fd));
    if (fd < 0 || k->request.version != ST_SNAPSHOT_VERSION)
        return st_fail(err, EBADMSG, "not a request of ours");
    end_texts(&k->request);
    rc = lseek(fd, 0, SEEK_SET) < 0 ? st_fail_errno(err, "pieces")
                                    : st_read_fd(fd, PIECES_MAX, &k->pieces, err);
    close(fd);
    return rc;
}

static int open_group(void)
{
    struct stat st;

    return fstat(ST_SNAPSHOT_GROUP, &st) == 0 && S_ISDIR(st.st_mode) ? ST_SNAPSHOT_GROUP : -1;
}

int main(int argc, char **argv)
{
    struct st_error err = {0};
    struct st_keep k = {.began_ns = st_now_mono_ns(), .socket = ST_SNAPSHOT_SOCKET};
    int rc;

    if (argc < ST_SNAPSHOT_HOOK || argv[1][0] == '-') {
        fputs("sandtrace-snapshot " PACKAGE_VERSION
              "\nStarted by sandtrace-monitor for a container that ends by "
              "a violation; see sandtrace-review(1).\n",
              argc == 2 ? stdout : stderr);
        return argc == 2 ? 0 : 2;
    }
    k.id = argv[ST_SNAPSHOT_ID];
    k.pid = (pid_t)strtol(argv[ST_SNAPSHOT_PID], NULL, 10);
    k.rootfs = argv[ST_SNAPSHOT_ROOTFS];
    k.trace = argv[ST_SNAPSHOT_TRACE];
    k.dir = argv[ST_SNAPSHOT_DIR];
    k.max_bytes = strtoull(argv[ST_SNAPSHOT_BYTES], NULL, 10);
    k.hook = argc > ST_SNAPSHOT_HOOK ? (const char *const *)&argv[ST_SNAPSHOT_HOOK] : NULL;
    k.group = open_group();
    fcntl(ST_SNAPSHOT_SOCKET, F_SETFD, FD_CLOEXEC);
    settle_in();
    rc = receive(&k, &err) < 0 ? 1 : st_keep_run(&k);
    st_buf_free(&k.pieces);
    return rc;
}
