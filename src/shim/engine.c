/* engine: see engine.h. */
#include "shim/engine.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/json.h"
#include "base/json_write.h"
#include "model/caps.h"
#include "monitor/dial.h"
#include "monitor/sealed.h"
#include "oci/state.h"
#include "shim/look.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>

#define ANSWER_S 5 /* a monitor that hangs is its warden's business */
#define ANSWER_MAX ((size_t)64 << 10)
#define SEAL_MS 10000

static const struct {
    enum st_oci_command command;
    const char *name;
} asked[] = {
    {ST_OCI_CHECKPOINT, "checkpoint"},
    {ST_OCI_DELETE, "delete"},
    {ST_OCI_EVENTS, "events"},
    {ST_OCI_EXEC, "exec"},
    {ST_OCI_KILL, "kill"},
    {ST_OCI_PAUSE, "pause"},
    {ST_OCI_PS, "ps"},
    {ST_OCI_RESUME, "resume"},
    {ST_OCI_STATE, "state"},
    {ST_OCI_UPDATE, "update"},
};

static const char *name_of(enum st_oci_command command)
{
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
        if (asked[i].command == command)
            return asked[i].name;
    return NULL;
}

/* As the runtimes read it: a number, or a name with or without its SIG, in letters of any case. */
static bool is_sigkill(const char *word)
{
    return word &&
           (strcmp(word, "9") == 0 || strcasecmp(word, "KILL") == 0 || strcasecmp(word, "SIGKILL") == 0);
}

static void write_request(struct st_buf *out, const char *command, bool kills, unsigned grants)
{
    struct st_jw w;

    st_jw_init(&w, out);
    st_jw_object(&w);
    st_jw_kstr(&w, "command", command);
    st_jw_key(&w, "grants");
    st_jw_array(&w);
    for (unsigned cap = 1; cap <= ST_CAPS_ALL; cap <<= 1)
        if (grants & cap)
            st_jw_str(&w, st_cap_name(cap));
    st_jw_end(&w, ']');
    st_jw_kbool(&w, "kills", kills);
    st_jw_kstr(&w, "request", "engine");
    st_jw_end(&w, '}');
    st_buf_addc(out, '\n');
}

/* The answer's one line; empty: nobody answered. */
static void ask(int fd, const struct st_buf *request, struct st_buf *out)
{
    const struct timeval limit = {.tv_sec = ANSWER_S};
    char bytes[4096];

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (send(fd, request->data, request->len, MSG_NOSIGNAL) != (ssize_t)request->len)
        return;
    while (out->len < ANSWER_MAX && !(out->len && out->data[out->len - 1] == '\n')) {
        ssize_t got = recv(fd, bytes, sizeof(bytes), 0);

        if (got <= 0)
            return;
        st_buf_add(out, bytes, (size_t)got);
    }
}

/* *wait: it is about to end. */
static int obey(const struct st_buf *answer, const struct st_oci_args *args, bool *wait, struct st_error *err)
{
    st_auto_json doc = NULL;
    const char *what, *reason;

    if (st_json_parse(answer->data, answer->len, ST_JSON_DEFAULT_LIMITS, &doc, NULL) < 0)
        return 0;
    what = st_json_str(st_json_get(st_json_root(doc), "do"), NULL);
    reason = st_json_str(st_json_get(st_json_root(doc), "reason"), NULL);
    if (what && strcmp(what, "refuse") == 0)
        return st_fail(err, EBUSY, "%s", reason ? reason : "refused by the monitor");
    if (what && strcmp(what, "done") == 0)
        return 1;
    *wait = what && strcmp(what, "wait") == 0;
    return what && strcmp(what, "look") == 0 ? st_shim_look(args, err) : 0;
}

int st_shim_ask_monitor(const struct st_config *config, const struct st_oci_args *args, unsigned grants,
                        struct st_error *err)
{
    const char *command = args->help ? NULL : name_of(args->command);
    st_auto_fd dirfd = -1, fd = -1;
    st_auto_buf request = ST_BUF_INIT, answer = ST_BUF_INIT;
    bool wait = false;
    int rc = 0;

    if (!command || !args->id || !st_oci_id_ok(args->id))
        return 0;
    dirfd = st_dial_dir(config->state_dir, args->id);
    fd = dirfd < 0 ? -1 : st_dial(dirfd);
    write_request(&request, command, args->command == ST_OCI_KILL && is_sigkill(args->word), grants);
    if (fd >= 0)
        ask(fd, &request, &answer);
    if (answer.len)
        rc = obey(&answer, args, &wait, err);
    /* Who removes a container finds its trace whole. One that still runs is the runtime's business. */
    if (rc == 0 && args->command == ST_OCI_DELETE && (wait || st_sealed_is_near(config->state_dir, args->id)))
        (void)st_sealed_wait(config->state_dir, args->id, SEAL_MS, NULL);
    return rc;
}
