/* policy_event: see policy_event.h. */
#include "cli/policy_event.h"

#include "policy/policy.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_DETAIL ST_WORD_ACCESS

static const struct word {
    const char *name;
    unsigned with;
} words[] = {
#define ROW(word, name, arg, help, with) [ST_WORD_##word] = {name, with},
    ST_EVENT_WORD_TABLE(ROW)
#undef ROW
};

const char *st_event_word_name(enum st_event_word word)
{
    return words[word].name;
}

static int number(const char *text, int64_t fallback, int64_t *out, struct st_error *err)
{
    char *end;

    *out = fallback;
    if (!text)
        return 0;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (errno || end == text || *end || *out < 0)
        return st_fail(err, EINVAL, "`%.60s` is not a number", text);
    return 0;
}

static int access_set(const char *text, unsigned *out, struct st_error *err)
{
    while (*text) {
        size_t n = strcspn(text, ", ");
        int bit = st_access_by_name((struct st_str){text, n});

        if (n && bit < 0)
            return st_fail(err, EINVAL,
                           "`%.*s` is no access; write read, write, exec, create, delete or attrib",
                           (int)(n > 60 ? 60 : n), text);
        *out |= n ? (unsigned)bit : 0;
        text += n + (text[n] != '\0');
    }
    return 0;
}

/* HOST, HOST:PORT, ADDRESS, [ADDRESS]:PORT. */
static int peer(const char *text, struct st_event_room *room, struct st_ev_network *net, struct st_error *err)
{
    const char *colon = strrchr(text, ':'), *port = NULL;
    size_t len = strlen(text);
    int64_t n;

    if (text[0] == '[' && (port = strchr(text, ']'))) {
        text++;
        len = (size_t)(port - text);
        port = port[1] == ':' ? port + 2 : NULL;
    } else if (colon && colon == strchr(text, ':')) {
        len = (size_t)(colon - text);
        port = colon + 1;
    }
    if (len >= sizeof(room->host) || len == 0)
        return st_fail(err, EINVAL, "`%.80s` is no host", text);
    memcpy(room->host, text, len);
    room->host[len] = '\0';
    if (!st_addr_parse(st_str(room->host), &net->addr))
        net->host = (struct st_str){room->host, len};
    if (number(port, 0, &n, err) < 0 || n > 65535 || (port && n == 0))
        return st_fail(err, EINVAL, "`%.20s` is no port; write 1 to 65535", port);
    net->port = (uint16_t)n;
    return 0;
}

struct maker {
    const struct st_event_words *w;
    struct st_event_room *room;
    struct st_event *e;
    enum st_event_word *wrong;
    struct st_error *err;
};

static const char *value(const struct maker *m, enum st_event_word word)
{
    *m->wrong = word; /* who is to blame if what follows fails */
    return m->w->values[word];
}

static int make_file(struct maker *m)
{
    const char *access = value(m, ST_WORD_ACCESS), *op, *target;

    m->e->type = ST_EV_FILESYSTEM;
    m->e->fs.size = ST_UNKNOWN;
    m->e->fs.path = st_str(m->w->values[ST_WORD_PATH]);
    if (access && access_set(access, &m->e->fs.access, m->err) < 0)
        return -EINVAL;
    op = value(m, ST_WORD_OP);
    if (op) {
        int found = st_fs_op_by_name(st_str(op));

        if (found < 0)
            return st_fail(m->err, EINVAL, "`%.60s` is nothing that is done to a file", op);
        m->e->fs.op = (enum st_fs_op)found;
    } else if (!access) {
        m->e->fs.access = ST_ACCESS_READ;
    }
    target = value(m, ST_WORD_TARGET);
    m->e->fs.target = st_str(target);
    return 0;
}

static int make_flow(struct maker *m, enum st_event_word word)
{
    struct st_ev_network *net = &m->e->net;
    const char *ip, *protocol, *bytes;

    m->e->type = word == ST_WORD_CONNECT ? ST_EV_NETWORK_EGRESS : ST_EV_NETWORK_INGRESS;
    net->bytes_received = net->packets_sent = net->packets_received = net->duration_ms = ST_UNKNOWN;
    if (peer(value(m, word), m->room, net, m->err) < 0)
        return -EINVAL;
    ip = value(m, ST_WORD_IP);
    if (ip && !st_addr_parse(st_str(ip), &net->addr))
        return st_fail(m->err, EINVAL, "`%.60s` is no address", ip);
    protocol = value(m, ST_WORD_PROTOCOL);
    net->protocol = IPPROTO_TCP;
    if (protocol && strcmp(protocol, "tcp") != 0) {
        if (strcmp(protocol, "udp") != 0)
            return st_fail(m->err, EINVAL, "`%.60s` is no protocol; write tcp or udp", protocol);
        net->protocol = IPPROTO_UDP;
    }
    bytes = value(m, ST_WORD_BYTES);
    net->state = bytes ? ST_NET_CLOSED : ST_NET_ATTEMPT;
    return number(bytes, ST_UNKNOWN, &net->bytes_sent, m->err);
}

/* An option without a value, or a member of a case that is true or false. */
static int flag(const struct maker *m, enum st_event_word word, bool *out)
{
    const char *text = value(m, word);

    if (text && strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return st_fail(m->err, EINVAL, "%s is true or false", words[word].name);
    *out = text && text[0] == 't';
    return 0;
}

static int make_program(struct maker *m, struct st_program *program)
{
    const char *sha256 = value(m, ST_WORD_SHA256);
    const char *digits = sha256 && strncmp(sha256, "sha256:", 7) == 0 ? sha256 + 7 : sha256;

    if (digits && (strlen(digits) != 64 || strspn(digits, "0123456789abcdefABCDEF") != 64))
        return st_fail(m->err, EINVAL, "`%.80s` is no SHA-256; write 64 hex digits", sha256);
    program->sha256 = st_str(digits);
    return flag(m, ST_WORD_NEW, &program->is_new) < 0 || flag(m, ST_WORD_DELETED, &program->deleted) < 0 ||
                   flag(m, ST_WORD_MEMFD, &program->memfd) < 0
               ? -EINVAL
               : 0;
}

static int make_process(struct maker *m)
{
    struct st_ev_process *proc = &m->e->proc;

    m->e->type = ST_EV_PROCESS;
    proc->op = ST_PROC_EXEC;
    proc->path = st_str(m->w->values[ST_WORD_EXEC]);
    proc->exit_code = proc->exit_signal = ST_UNKNOWN;
    if (make_program(m, &proc->program) < 0 ||
        number(value(m, ST_WORD_DEPTH), ST_UNKNOWN, &proc->depth, m->err) < 0 ||
        number(value(m, ST_WORD_CHILDREN), ST_UNKNOWN, &proc->children, m->err) < 0 ||
        number(value(m, ST_WORD_PROCESSES), ST_UNKNOWN, &proc->processes, m->err) < 0)
        return -EINVAL;
    return number(value(m, ST_WORD_FORKS), ST_UNKNOWN, &proc->forks, m->err);
}

static int make_actor(struct maker *m)
{
    struct st_process *p = &m->e->process;

    p->exe = st_str(m->w->values[ST_WORD_EXE]);
    p->comm = st_str(m->w->values[ST_WORD_COMM]);
    p->gid = ST_UNKNOWN;
    p->present = p->exe.p || p->comm.p || m->w->values[ST_WORD_UID];
    return number(value(m, ST_WORD_UID), ST_UNKNOWN, &p->uid, m->err);
}

static int make_syscall(struct maker *m)
{
    const char *name = value(m, ST_WORD_SYSCALL);
    char near[ST_SYSCALL_NAME_SIZE];

    m->e->type = ST_EV_SYSCALL;
    m->e->sys.name = st_str(name);
    if (st_policy_syscall_known(name))
        return flag(m, ST_WORD_MEMFD, &m->e->sys.memfd);
    st_policy_syscall_near(name, near);
    return near[0] ? st_fail(m->err, EINVAL, "there is no syscall `%.60s`; did you mean `%s`?", name, near)
                   : st_fail(m->err, EINVAL, "there is no syscall `%.60s`; syscalls(2) lists them", name);
}

/* The one word that says what happens; ST_EVENT_WORDS: none, or more than one. */
static enum st_event_word subject(const struct st_event_words *w)
{
    enum st_event_word found = ST_EVENT_WORDS;

    for (unsigned i = 0; i < FIRST_DETAIL; i++) {
        if (!w->values[i])
            continue;
        if (found != ST_EVENT_WORDS)
            return ST_EVENT_WORDS;
        found = (enum st_event_word)i;
    }
    return found;
}

int st_event_from_words(const struct st_event_words *w, struct st_event_room *room, struct st_event *out,
                        enum st_event_word *wrong, struct st_error *err)
{
    struct maker m = {w, room, out, wrong, err};
    enum st_event_word what = subject(w);
    int rc = 0;

    *wrong = ST_WORD_PATH;
    *out = (struct st_event){0};
    if (what == ST_EVENT_WORDS)
        return st_fail(err, EINVAL, "one of path, connect, from, lookup, exec and syscall is needed");
    for (unsigned i = FIRST_DETAIL; i < ST_EVENT_WORDS; i++)
        if (w->values[i] && !(words[i].with & 1u << what)) {
            *wrong = (enum st_event_word)i;
            return st_fail(err, EINVAL, "%s does not go with %s", words[i].name, words[what].name);
        }
    switch (what) {
    case ST_WORD_PATH: rc = make_file(&m); break;
    case ST_WORD_CONNECT:
    case ST_WORD_FROM: rc = make_flow(&m, what); break;
    case ST_WORD_EXEC: rc = make_process(&m); break;
    case ST_WORD_LOOKUP:
        out->type = ST_EV_DNS_QUERY;
        out->dns.name = st_str(w->values[what]);
        break;
    case ST_WORD_SYSCALL: rc = make_syscall(&m); break;
    case ST_WORD_ACCESS:
    case ST_WORD_OP:
    case ST_WORD_TARGET:
    case ST_WORD_IP:
    case ST_WORD_PROTOCOL:
    case ST_WORD_BYTES:
    case ST_WORD_DEPTH:
    case ST_WORD_CHILDREN:
    case ST_WORD_PROCESSES:
    case ST_WORD_FORKS:
    case ST_WORD_SHA256:
    case ST_WORD_NEW:
    case ST_WORD_DELETED:
    case ST_WORD_MEMFD:
    case ST_WORD_UID:
    case ST_WORD_EXE:
    case ST_WORD_COMM:
    case ST_EVENT_WORDS: break;
    }
    return rc < 0 ? rc : make_actor(&m);
}
