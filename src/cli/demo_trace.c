/* demo_trace: see demo_trace.h. */
#include "cli/demo_trace.h"

#include "audit/decode.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "cli/beside.h"
#include "cli/input.h"
#include "cli/show.h"
#include "cli/term.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define TRACE_MAX ((size_t)64 << 20)

/* ---- records ---- */

static bool is_as_claimed(const struct st_decoded *d, const struct st_demo_record *wanted)
{
    st_auto_buf about = ST_BUF_INIT;

    if (d->type_name.len != strlen(wanted->type) ||
        memcmp(d->type_name.p, wanted->type, d->type_name.len) != 0 ||
        strcmp(st_show_outcome(&d->verdict), wanted->outcome) != 0)
        return false;
    st_show_subject(&about, d);
    return strstr(st_buf_cstr(&about), wanted->about) != NULL;
}

/* Of a decision: "deny, by root". */
static void describe_decision(const struct st_decoded *d, struct st_buf *out)
{
    st_auto_json doc = NULL;
    const struct st_json_node *root;
    const char *decision, *name;

    if (st_json_parse(d->ev.json.p, d->ev.json.len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
        return;
    root = st_json_root(doc);
    decision = st_json_str(st_json_get(root, "decision"), NULL);
    name = st_json_str(st_json_get(st_json_get(root, "by"), "name"), NULL);
    st_buf_addf(out, "%s, by ", decision ? decision : "?");
    st_show_text(out, name ? (struct st_str){.p = name, .len = strlen(name)}
                           : (struct st_str){.p = "?", .len = 1});
}

/* In words, without the time: outcome, type, what, who, rule. */
static void describe(const struct st_decoded *d, bool color, struct st_buf *out)
{
    bool refused = d->verdict.result != ST_ALLOW;

    if (d->ev.type == ST_EV_SECURITY_RESUME) {
        st_buf_adds(out, "security_resume: ");
        describe_decision(d, out);
        return;
    }
    st_buf_addf(out, "%s%s%s %.*s: ", st_term_on(color, refused ? ST_TERM_ALARM : ST_TERM_GOOD),
                st_show_outcome(&d->verdict), st_term_off(color), (int)d->type_name.len, d->type_name.p);
    st_show_subject(out, d);
    if (d->ev.process.present) {
        st_buf_adds(out, " by ");
        st_show_actor(out, d);
    }
    if (refused) {
        st_buf_adds(out, d->verdict.rule.p ? "; rule " : "; ");
        st_show_text(out, d->verdict.rule.p ? d->verdict.rule : d->verdict.reason);
    }
}

bool st_demo_find(const char *trace, const struct st_demo_record *wanted, uint64_t *after, bool color,
                  struct st_demo_seen *out)
{
    st_auto_input in = NULL;
    st_auto_decoder decoder = st_decoder_new();
    st_auto_buf scratch = ST_BUF_INIT;
    struct st_error err = {0};
    struct st_line line;

    if (st_input_open(trace, &in, &err) < 0)
        return false;
    while (st_input_line(in, &line, &err) > 0) {
        struct st_frame frame;
        struct st_decoded d;
        const char *why;

        if (!line.ended || st_frame_read(line.text, &scratch, &frame, &why) != ST_FRAME_OK ||
            frame.seq <= *after || st_decode(decoder, &frame, &d, &err) < 0 || !is_as_claimed(&d, wanted))
            continue;
        *after = out->seq = frame.seq;
        out->number = line.number;
        describe(&d, color, &out->line);
        st_buf_add(&out->record, line.text.p, line.text.len);
        return true;
    }
    return false;
}

void st_demo_seen_free(struct st_demo_seen *s)
{
    st_buf_free(&s->line);
    st_buf_free(&s->record);
}

/* ---- forgeries ---- */

/* The last place of it in the text: the record that tells of it, not the one before. */
static char *last_place(struct st_buf *text, const char *words)
{
    char *found = NULL;

    for (char *at = text->data; at && (at = strstr(at, words)); at++)
        found = at;
    return found;
}

static void cut_lines(struct st_buf *text, int lines)
{
    for (int i = 0; i <= lines && text->len; i++)
        while (text->len && (text->data[--text->len] != '\n'))
            continue;
    text->len += text->len > 0; /* the newline of the last that stays */
}

int st_demo_forge(const char *trace, const char *copy, const struct st_demo_forgery *f, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT, out = ST_BUF_INIT;
    st_auto_fd fd = -1;
    char *place;
    int rc;

    if (st_read_file(trace, TRACE_MAX, &text, err) < 0)
        return -err->errnum;
    if (f->from) {
        place = last_place(&text, f->from);
        if (!place)
            return st_fail(err, ENOENT, "%s is nowhere in the trace", f->from);
        st_buf_add(&out, text.data, (size_t)(place - text.data));
        st_buf_adds(&out, f->to);
        st_buf_adds(&out, place + strlen(f->from));
    } else {
        cut_lines(&text, f->lines);
        st_buf_add(&out, text.data, text.len);
    }
    fd = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    rc = fd < 0 ? -errno : st_write_all(fd, out.data, out.len);
    return rc < 0 ? st_fail(err, -rc, "%s: %s", copy, strerror(-rc)) : 0;
}

/* ---- verify ---- */

int st_demo_verify(const struct st_demo_place *p, const char *name, bool json, struct st_buf *said,
                   struct st_error *err)
{
    st_auto_free char *self = st_beside("sandtrace");
    st_auto_free char *config = st_xasprintf("SANDTRACE_CONFIG=%s", p->file);
    st_auto_fd nothing = open("/dev/null", O_RDWR | O_CLOEXEC), out = memfd_create("verify", MFD_CLOEXEC);
    const char *argv[] = {"sandtrace", "verify", name, json ? "--json" : NULL, NULL};
    const char *env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", config, NULL};
    int fds[3] = {fcntl(nothing, F_DUPFD_CLOEXEC, 3), fcntl(out, F_DUPFD_CLOEXEC, 3),
                  fcntl(out, F_DUPFD_CLOEXEC, 3)};
    const struct st_spawn s = {
        .program = self, .argv = argv, .envp = env, .fds = fds, .n_fds = 3, .cgroup_fd = -1, .say_fd = 2};
    int status = 0;
    pid_t pid;

    pid = self ? st_spawn_fork(-1) : -1;
    if (pid == 0) {
        if (chdir(p->dir) < 0)
            _exit(127);
        st_spawn_become(&s);
    }
    for (int i = 0; i < 3; i++)
        st_close(&fds[i]);
    if (pid < 0)
        return st_fail_errno(err, "sandtrace verify");
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    lseek(out, 0, SEEK_SET);
    if (st_read_fd(out, TRACE_MAX, said, err) < 0)
        return -err->errnum;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
