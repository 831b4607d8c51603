/* demo_story: see demo_story.h. */
#include "cli/demo_story.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "cli/demo_box.h"
#include "cli/demo_trace.h"
#include "cli/run_copy.h"

#include <poll.h>
#include <string.h>

#define RECORD_MS 60000 /* until a record that is due is on the trace */
#define LOOK_MS 20

struct story {
    const struct st_demo_scenario *scenario;
    struct st_demo_teller tell;
    struct st_demo_place place;
    struct st_demo_box box;
    struct st_demo_arrived *arrived;
    uint64_t seq; /* of the last record that was shown */
    bool over;    /* the container has ended */
};

/* ---- one step ---- */

/* The first that waits is answered; the next one comes with the next look. */
static int answer(struct story *s, const struct st_demo_step *step, const struct st_answer *waiting,
                  struct st_error *err)
{
    const struct st_json_node *pause = st_json_first(st_json_get(waiting->root, "pending"));
    const char *id = st_json_str(st_json_get(pause, "pause_id"), NULL);

    st_demo_tell_pause(&s->tell, s->box.box.id, pause, st_buf_cstr(&waiting->text));
    if (st_demo_box_decide(&s->box, id ? id : "", step->answer ? step->answer : ST_DEMO_DENY, err) < 0)
        return -err->errnum;
    return step->answer ? 0 : st_fail(err, EPROTO, "it was not expected to wait for a decision");
}

static int let_it(struct story *s, const struct st_demo_step *step, struct st_error *err)
{
    bool done = false;

    if (st_demo_box_give(&s->box, step->command, err) < 0)
        return -err->errnum;
    /* One that is to be killed may have left what it began behind, which is asked about later. All others are
     * asked about themselves, or never. */
    while (!done || step->answer == ST_DEMO_KILL) {
        st_auto_answer waiting = {0};

        switch (st_demo_box_wait(&s->box, &waiting)) {
        case ST_DEMO_WAITS:
            if (answer(s, step, &waiting, err) < 0)
                return -err->errnum;
            break;
        case ST_DEMO_DONE: done = true; break;
        case ST_DEMO_LATE: return st_fail(err, ETIMEDOUT, "it takes too long");
        case ST_DEMO_OVER:
            s->over = true;
            return step->answer == ST_DEMO_KILL ? 0 : st_fail(err, EPIPE, "the container has ended");
        }
    }
    return 0;
}

static int find(struct story *s, const struct st_demo_record *wanted, struct st_demo_seen *out,
                struct st_error *err)
{
    st_auto_free char *trace = st_xasprintf("%s/%s.jsonl", s->place.config->log_dir, s->box.box.id);

    if (!wanted->type)
        return 0;
    for (int waited = 0; waited < RECORD_MS; waited += LOOK_MS) {
        if (st_demo_find(trace, wanted, &s->seq, s->tell.cli->color, out))
            return 0;
        poll(NULL, 0, LOOK_MS);
    }
    return st_fail(err, ENOENT, "the trace has no record '%s %s: …%s…'", wanted->outcome, wanted->type,
                   wanted->about);
}

static int check(struct story *s, const struct st_demo_step *step, struct st_demo_seen *record,
                 struct st_demo_seen *decided, struct st_error *err)
{
    const char *said = st_buf_cstr(&s->box.said);

    if (let_it(s, step, err) < 0 || find(s, &step->record, record, err) < 0 ||
        find(s, &step->decided, decided, err) < 0)
        return -err->errnum;
    said = st_buf_cstr(&s->box.said);
    if (step->says && !strstr(said, step->says))
        return st_fail(err, EPROTO, "the command did not say '%s'", step->says);
    if (step->hides && strstr(said, step->hides))
        return st_fail(err, EPROTO, "the command got what it must not have");
    return 0;
}

static bool play_step(struct story *s, const struct st_demo_step *step)
{
    st_auto_demo_seen record = {0}, decided = {0};
    struct st_error err = {0};
    int rc;

    s->tell.steps++;
    st_demo_tell_step(&s->tell, step);
    rc = check(s, step, &record, &decided, &err);
    st_demo_tell_result(&s->tell, step, &s->box.said, &record, &decided, rc < 0 ? err.msg : NULL);
    return rc == 0;
}

/* ---- the end ---- */

/* f NULL: the trace as it is. */
static void prove(struct story *s, const char *trace, const struct st_demo_forgery *f)
{
    static const struct st_demo_forgery none = {0};
    const char *name = f ? "forged.jsonl" : "trace.jsonl", *fault = NULL;
    st_auto_free char *copy = st_xasprintf("%s/%s", s->place.dir, name);
    st_auto_buf said = ST_BUF_INIT;
    struct st_error err = {0};
    int code = st_demo_forge(trace, copy, f ? f : &none, &err);

    s->tell.steps++;
    if (code == 0)
        code = st_demo_verify(&s->place, name, s->tell.cli->json, &said, &err);
    if (code < 0)
        fault = err.msg;
    else if (!f && code != ST_EXIT_OK)
        fault = "the trace does not verify";
    else if (f && code != ST_EXIT_FAILED)
        fault = "verify let it pass";
    else if (f && !strstr(st_buf_cstr(&said), f->issue))
        fault = "verify found something else";
    st_demo_tell_verify(&s->tell, f, &said, fault);
}

static void count_arrived(struct story *s)
{
    uint64_t bytes = s->arrived->bytes;

    s->tell.steps++;
    st_demo_tell_server(&s->tell, bytes, s->scenario->big,
                        bytes <= s->scenario->let_through ? NULL : "too much of it has arrived");
}

static int keep_one(const struct st_demo_scenario *s, const char *dir, const char *from, const char *suffix,
                    struct st_error *err)
{
    st_auto_free char *file = st_xasprintf("%s/%s%s", dir, s->name, suffix);
    st_auto_run_who who = {0};
    struct st_run_copy copy = ST_RUN_COPY_NONE;
    int rc = st_run_who_find(NULL, &who, err);

    if (rc == 0)
        rc = st_run_copy_begin(&copy, file, err);
    if (rc == 0)
        rc = st_run_copy_make(&copy, from, &who, err);
    st_run_copy_end(&copy);
    return rc;
}

static int keep_all(const struct story *s, const char *dir, const char *trace, struct st_error *err)
{
    st_auto_free char *key = st_xasprintf("%s/trace.pub", s->place.config->key_dir);

    if (st_mkdir_p(dir, 0755, err) < 0 || keep_one(s->scenario, dir, trace, ".jsonl", err) < 0)
        return -err->errnum;
    return keep_one(s->scenario, dir, key, ".pub", err);
}

static int finish(struct story *s, const char *keep, struct st_error *err)
{
    st_auto_free char *trace = st_xasprintf("%s/%s.jsonl", s->place.config->log_dir, s->box.box.id);

    st_demo_box_end(&s->box);
    prove(s, trace, NULL);
    if (s->scenario->big)
        count_arrived(s);
    for (const struct st_demo_forgery *f = s->scenario->forgeries; f && f->does; f++)
        prove(s, trace, f);
    return keep ? keep_all(s, keep, trace, err) : 0;
}

/* ---- all of it ---- */

/* Returns when the agent's shell answers. */
static int start(struct story *s, struct st_cli *cli, const struct st_config *machine, struct st_error *err)
{
    const struct st_demo_step first = {.command = s->scenario->prepare ? s->scenario->prepare : "true"};

    if (s->scenario->network && !(s->arrived = st_demo_arrived_new()))
        return st_fail_errno(err, "memory");
    if (st_demo_place_make(&s->place, machine, s->scenario, err) < 0 ||
        st_demo_box_start(&s->box, &s->place, s->scenario, cli, s->arrived, err) < 0)
        return -err->errnum;
    if (let_it(s, &first, err) < 0 && err->errnum == EPIPE) {
        st_auto_buf reason = ST_BUF_INIT;

        st_demo_box_reason(&s->box, &reason);
        return st_fail(err, EPIPE, "%s", st_buf_cstr(&reason));
    }
    return err->errnum ? -err->errnum : 0;
}

int st_demo_play(struct st_cli *cli, const struct st_verb *self, const struct st_config *machine,
                 const struct st_demo_scenario *scenario, const char *keep)
{
    struct story s = {.scenario = scenario,
                      .tell = {.cli = cli, .scenario = scenario},
                      .place = ST_DEMO_PLACE_NONE,
                      .box = ST_DEMO_BOX_NONE};
    struct st_error err = {0};
    int64_t began = st_now_mono_ns();
    int rc;

    st_demo_tell_begin(&s.tell);
    rc = start(&s, cli, machine, &err);
    for (const struct st_demo_step *step = scenario->steps; rc == 0 && step->does && !s.over; step++)
        if (!play_step(&s, step))
            break;
    if (rc == 0)
        rc = finish(&s, keep, &err);
    st_demo_box_free(&s.box);
    st_demo_place_end(&s.place);
    if (rc < 0)
        return st_cli_error(self, "%s: %s", scenario->name, err.msg);
    st_demo_tell_end(&s.tell, keep, (st_now_mono_ns() - began) / 1000000);
    return s.tell.shown == s.tell.steps ? ST_EXIT_OK : ST_EXIT_FAILED;
}
