/* demo_box: see demo_box.h. */
#include "cli/demo_box.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli/request.h"
#include "cli/run_exit.h"
#include "cli/run_job.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define MARK '\036' /* before the exit code, behind what a command printed */
#define LOOK_MS 20
#define SAID_MAX ((size_t)256 << 10)
#define TIME_NS ((int64_t)300 * 1000000000) /* a machine may be slow; one that hangs is told */
#define ERRORS "errors"

/* ---- the process that runs it ---- */

static int run_agent(const struct st_demo_place *place, const struct st_demo_scenario *s, struct st_cli *cli,
                     struct st_demo_arrived *arrived, struct st_error *err)
{
    char bash[] = "bash", plain[] = "--norc";
    char *command[] = {bash, plain, NULL};
    st_auto_run_args args = {
        .network = arrived ? ST_RUN_NET_USER : ST_RUN_NET_NONE, .command = command, .n_command = 2};
    st_auto_run_who who = {0};
    st_auto_free char *home = st_xasprintf("%s:/root", place->home);
    struct st_cli own = {.config = place->file, .json = cli->json};
    struct st_run_job job = {.cli = &own,
                             .config = place->config,
                             .args = &args,
                             .who = &who,
                             .workspace = place->work,
                             .umask = 022,
                             .connect = arrived ? st_demo_net_connect : NULL,
                             .connect_ctx = arrived};
    int rc;

    if (st_run_who_find(s->user, &who, err) < 0 || st_run_add_bind(&args, home, err) < 0 ||
        st_run_add_env(&args, "HOME=/root", err) < 0 || st_run_add_env(&args, "LC_ALL=C", err) < 0)
        return -err->errnum;
    job.env = st_run_environment(&args, &who, err);
    rc = job.env ? st_run_job(&job, err) : -err->errnum;
    st_run_environment_free(&job.env);
    return rc < 0 ? rc : job.code;
}

/* Without a terminal: the question is the story's to answer. Whoever kills the story ends us, and our guard
 * takes the container away. */
_Noreturn static void be_runner(const struct st_demo_box *b, const struct st_demo_scenario *s,
                                struct st_cli *cli, struct st_demo_arrived *arrived, const int fds[3],
                                pid_t parent)
{
    struct st_error err = {0};
    int rc;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(ST_RUN_EXIT_FAILED);
    setsid();
    for (int i = 0; i < 3; i++)
        dup2(fds[i], i);
    rc = run_agent(b->place, s, cli, arrived, &err);
    if (rc < 0) {
        (void)st_write_all(2, err.msg, strlen(err.msg));
        _exit(ST_RUN_EXIT_FAILED);
    }
    _exit(rc);
}

int st_demo_box_start(struct st_demo_box *b, const struct st_demo_place *place,
                      const struct st_demo_scenario *s, struct st_cli *cli, struct st_demo_arrived *arrived,
                      struct st_error *err)
{
    st_auto_free char *errors = st_xasprintf("%s/" ERRORS, place->dir);
    st_auto_fd file = open(errors, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int in[2], out[2];
    pid_t parent = getpid();

    b->place = place;
    b->deadline = st_now_mono_ns() + TIME_NS;
    if (file < 0 || pipe2(in, O_CLOEXEC) < 0)
        return st_fail_errno(err, "%s", errors);
    if (pipe2(out, O_CLOEXEC) < 0) {
        st_close(&in[0]);
        st_close(&in[1]);
        return st_fail_errno(err, "a pipe");
    }
    b->to = in[1];
    b->from = out[0];
    fflush(NULL); /* what is buffered must not be said twice */
    b->pid = fork();
    if (b->pid == 0) {
        st_close(&in[1]);
        st_close(&out[0]);
        be_runner(b, s, cli, arrived, (const int[]){in[0], out[1], file}, parent);
    }
    st_close(&in[0]);
    st_close(&out[1]);
    return b->pid < 0 ? st_fail_errno(err, "fork") : 0;
}

/* ---- talking to it ---- */

int st_demo_box_give(struct st_demo_box *b, const char *command, struct st_error *err)
{
    st_auto_free char *line = st_xasprintf("{ %s\n} </dev/null 2>&1; printf '\\036%%d\\n' $?\n", command);
    int rc;

    st_buf_clear(&b->said);
    rc = st_write_all(b->to, line, strlen(line));
    return rc < 0 ? st_fail(err, -rc, "the agent's shell: %s", strerror(-rc)) : 0;
}

/* It has a state directory as soon as somebody watches it. */
static bool find_box(struct st_demo_box *b)
{
    st_auto_boxes boxes = {0};
    struct st_error err = {0};

    if (b->box.id)
        return true;
    if (st_boxes_read(b->place->config->state_dir, &boxes, &err) < 0 || boxes.n != 1)
        return false;
    b->box = boxes.list[0];
    boxes.list[0] = (struct st_box){.dirfd = -1};
    return true;
}

static bool something_waits(struct st_demo_box *b, struct st_answer *answer)
{
    static const char request[] = "{\"request\":\"pending\"}";
    struct st_error err = {0};

    if (!find_box(b))
        return false;
    if (st_ask(&b->box, request, sizeof(request) - 1, answer, &err) == 0 &&
        st_json_first(st_json_get(answer->root, "pending")))
        return true;
    st_answer_free(answer);
    return false;
}

/* True: the mark has come; it and what is behind it is cut off. */
static bool has_ended(struct st_buf *said)
{
    char *mark = said->len ? memchr(said->data, MARK, said->len) : NULL;

    if (!mark || !memchr(mark, '\n', said->len - (size_t)(mark - said->data)))
        return false;
    said->len = (size_t)(mark - said->data);
    *mark = '\0';
    return true;
}

enum st_demo_news st_demo_box_wait(struct st_demo_box *b, struct st_answer *answer)
{
    for (;;) {
        struct pollfd p = {.fd = b->from, .events = POLLIN};
        char bytes[4096];
        ssize_t n;

        if (st_now_mono_ns() > b->deadline)
            return ST_DEMO_LATE;
        if (poll(&p, 1, LOOK_MS) <= 0) {
            if (something_waits(b, answer))
                return ST_DEMO_WAITS;
            continue;
        }
        n = read(b->from, bytes, sizeof(bytes));
        if (n <= 0)
            return ST_DEMO_OVER;
        if (b->said.len < SAID_MAX)
            st_buf_add(&b->said, bytes, (size_t)n);
        if (has_ended(&b->said))
            return ST_DEMO_DONE;
    }
}

int st_demo_box_decide(const struct st_demo_box *b, const char *pause, enum st_demo_answer answer,
                       struct st_error *err)
{
    static const char *const words[] = {
        [ST_DEMO_DENY] = "deny", [ST_DEMO_ALLOW] = "approve", [ST_DEMO_KILL] = "kill"};
    st_auto_answer said = {0};
    st_auto_buf body = ST_BUF_INIT;
    struct st_jw w;

    st_jw_init(&w, &body);
    st_jw_object(&w);
    st_request_members(&w, words[answer], answer == ST_DEMO_KILL ? NULL : pause, "sandtrace demo");
    st_jw_end(&w, '}');
    return st_ask(&b->box, body.data, body.len, &said, err);
}

/* ---- the end ---- */

/* What is asked now is a late word of a command that was refused: it is refused too. */
static void wait_for_end(struct st_demo_box *b)
{
    for (;;) {
        st_auto_answer waiting = {0};
        struct st_error err = {0};
        enum st_demo_news news = st_demo_box_wait(b, &waiting);
        const struct st_json_node *pause = st_json_first(st_json_get(waiting.root, "pending"));
        const char *id = st_json_str(st_json_get(pause, "pause_id"), NULL);

        if (news == ST_DEMO_OVER)
            return;
        if (news == ST_DEMO_LATE || (id && st_demo_box_decide(b, id, ST_DEMO_DENY, &err) < 0)) {
            kill(b->pid, SIGKILL);
            return;
        }
    }
}

void st_demo_box_end(struct st_demo_box *b)
{
    st_close(&b->to);
    if (b->pid > 0)
        wait_for_end(b);
    while (b->pid > 0 && waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    b->pid = 0;
    st_close(&b->from);
}

void st_demo_box_reason(const struct st_demo_box *b, struct st_buf *out)
{
    st_auto_free char *errors = st_xasprintf("%s/" ERRORS, b->place->dir);
    st_auto_buf text = ST_BUF_INIT;

    (void)st_read_file(errors, SAID_MAX, &text, NULL);
    st_buf_adds(out, text.len ? st_buf_cstr(&text) : "the container has ended without a word");
}

void st_demo_box_free(struct st_demo_box *b)
{
    if (b->pid > 0)
        st_demo_box_end(b);
    st_close(&b->from);
    free(b->box.id);
    st_close(&b->box.dirfd);
    st_buf_free(&b->said);
}
