/* bench-trace [FOLDER]: what recording and verifying cost on one core, beside what the machine's own SHA-256
 * would take for the same bytes.
 *
 * The event is one whose canonical JSON without its record_hash has 400 bytes; a line of the trace is 88
 * longer. Rounds of all kinds take turns. Time is that of the processor, so that other work on the machine
 * does not count; the best and the median round are shown. Verifying runs in a process of its own, whose
 * largest memory is shown. Not a test: a busy machine makes it slow, not wrong. */
#include "audit/record.h"
#include "audit/trace.h"
#include "audit/verify.h"
#include "base/cleanup.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define EVENTS 500000
#define ROUNDS 15
#define EVENT_BYTES 400
#define MEMBER_BYTES 88 /* ,"record_hash":"sha256:…" */
#define LINK_BYTES 86   /* ,"prev_hash":"sha256:…" */
#define WRITE_GOAL 1.2
#define VERIFY_GOAL 1.5
#define MEMORY_GOAL_KB 8192

enum kind { SHA, RECORD, VERIFY, KINDS };

struct bench {
    char path[512];
    size_t line; /* bytes of a record, with its newline */
    double ns[KINDS][ROUNDS];
    long verify_kb;
};

static int64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static void die(const char *what, const struct st_error *err)
{
    fprintf(stderr, "bench-trace: %s: %s\n", what, err->msg);
    exit(2);
}

/* An allowed read, as a build has millions of. */
static void make_event(unsigned n, char path[64], struct st_event *ev, struct st_verdict *v)
{
    static const char file[] = "/w/0000000.h";

    memcpy(path, file, sizeof(file));
    for (char *digit = path + sizeof("/w/0000000") - 2; n; n /= 10)
        *digit-- = (char)('0' + n % 10);
    *ev = (struct st_event){.type = ST_EV_FILESYSTEM,
                            .fs = {.op = ST_FS_OPEN,
                                   .access = ST_ACCESS_READ,
                                   .path = {.p = path, .len = sizeof(file) - 1},
                                   .size = ST_UNKNOWN}};
    *v = (struct st_verdict){.rule = ST_STR_LIT("s")};
}

/* The agent's id is as long as makes the event EVENT_BYTES. */
static struct st_trace *open_trace(const char *path, size_t id_len)
{
    char id[ST_ID_MAX + 1];
    struct st_trace_options o = {.path = path, .agent_id = id, .trace_id = "t"};
    struct st_error err;
    struct st_trace *t;

    memset(id, 'a', id_len);
    id[id_len] = '\0';
    if (st_trace_open(&o, &t, &err) < 0)
        die("open", &err);
    return t;
}

static size_t id_length(const char *path)
{
    char id[ST_EVENT_ID_SIZE], name[64];
    struct st_trace *t = open_trace(path, 1);
    struct st_verdict v;
    struct st_event ev;
    struct st_error err;
    size_t len;

    make_event(1, name, &ev, &v);
    ev.wall_us = 1774526400000000;
    for (int i = 0; i < 2; i++) /* the first has no prev_hash */
        if (st_trace_append(t, &ev, &v, id, &err) < 0)
            die("append", &err);
    len = st_trace_line(t).len + 5 - 1 - MEMBER_BYTES - LINK_BYTES; /* seq will have six digits */
    st_trace_forget(t);
    unlink(path);
    return len < EVENT_BYTES ? 1 + EVENT_BYTES - len : 1;
}

static double record(struct bench *b, size_t id_len)
{
    struct st_trace *t;
    char id[ST_EVENT_ID_SIZE], name[64];
    struct st_verdict v;
    struct st_event ev;
    struct st_error err;
    int64_t start;

    unlink(b->path);
    t = open_trace(b->path, id_len);
    start = cpu_ns();
    for (unsigned i = 0; i < EVENTS; i++) {
        make_event(i, name, &ev, &v);
        ev.wall_us = 1774526400000000 + i;
        if (st_trace_append(t, &ev, &v, id, &err) < 0)
            die("append", &err);
    }
    if (st_trace_commit(t, &err) < 0)
        die("commit", &err);
    start = cpu_ns() - start;
    b->line = st_trace_line(t).len;
    if (st_trace_checkpoint(t, true, &err) < 0)
        die("checkpoint", &err);
    st_trace_close(t);
    return (double)start / EVENTS;
}

/* The bytes that a record's hash covers: the event, and its prev_hash. */
static double sha(const struct bench *b)
{
    size_t n = b->line - 1 - MEMBER_BYTES + ST_HASH_SIZE - 1;
    st_auto_free char *bytes = st_xmalloc(n);
    unsigned char digest[ST_SHA256_SIZE];
    int64_t start;

    memset(bytes, 'x', n);
    start = cpu_ns();
    for (unsigned i = 0; i < EVENTS; i++) {
        st_sha256(bytes, n, digest);
        memcpy(bytes, digest, 8);
    }
    return (double)(cpu_ns() - start) / EVENTS;
}

static double verify(const struct bench *b)
{
    struct st_verify_options o = {0};
    st_auto_fd fd = open(b->path, O_RDONLY | O_CLOEXEC);
    st_auto_verifier v = st_verifier_new(&o);
    st_auto_lines lines = st_lines_of_fd(fd);
    const struct st_verify_report *r;
    struct st_error err;
    int64_t start = cpu_ns();

    if (st_verify_lines(v, lines, &err) < 0)
        die("verify", &err);
    r = st_verifier_end(v);
    if (r->n_issues || r->records != EVENTS + 1) {
        fprintf(stderr, "bench-trace: the trace does not stand\n");
        exit(2);
    }
    return (double)(cpu_ns() - start) / EVENTS;
}

static double verify_apart(struct bench *b)
{
    int channel[2];
    struct rusage usage;
    double ns = 0;
    pid_t child;

    if (pipe(channel) < 0 || (child = fork()) < 0) {
        perror("bench-trace");
        exit(2);
    }
    if (child == 0) {
        ns = verify(b);
        _exit(write(channel[1], &ns, sizeof(ns)) != sizeof(ns));
    }
    close(channel[1]);
    if (read(channel[0], &ns, sizeof(ns)) != sizeof(ns) || wait4(child, NULL, 0, &usage) < 0) {
        fprintf(stderr, "bench-trace: the verifier died\n");
        exit(2);
    }
    close(channel[0]);
    b->verify_kb = usage.ru_maxrss > b->verify_kb ? usage.ru_maxrss : b->verify_kb;
    return ns;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void print(struct bench *b, enum kind kind, const char *name, double goal)
{
    double *ns = b->ns[kind], sha_best = b->ns[SHA][0];

    qsort(ns, ROUNDS, sizeof(*ns), by_value);
    if (kind == SHA)
        sha_best = ns[0];
    printf("%-28s %7.0f %7.0f ns %9.2f M/s %8.2f", name, ns[0], ns[ROUNDS / 2], 1000 / ns[0],
           sha_best / ns[0]);
    if (goal > 0)
        printf("   goal %.1f M/s: %s", goal, 1000 / ns[0] >= goal ? "met" : "NOT MET");
    putchar('\n');
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    size_t id_len;

    snprintf(b.path, sizeof(b.path), "%s/bench-trace.%d.jsonl", argc > 1 ? argv[1] : ".", (int)getpid());
    id_len = id_length(b.path);
    for (int i = 0; i < ROUNDS; i++) {
        b.ns[RECORD][i] = record(&b, id_len);
        b.ns[SHA][i] = sha(&b);
        b.ns[VERIFY][i] = verify_apart(&b);
    }
    unlink(b.path);
    printf("events of %zu bytes, %zu with hashes and newline; %d of them, %d rounds, time of one core\n\n",
           b.line - 1 - MEMBER_BYTES - LINK_BYTES, b.line, EVENTS, ROUNDS);
    printf("%-28s %7s %10s %13s %8s\n", "", "best", "median", "rate", "of SHA");
    print(&b, SHA, "SHA-256 alone (the limit)", 0);
    print(&b, RECORD, "record, hash, write", WRITE_GOAL);
    print(&b, VERIFY, "verify, full parse", VERIFY_GOAL);
    printf("\nlargest memory of the verifier: %ld kB for %.0f MB of trace   goal %d kB: %s\n", b.verify_kb,
           (double)b.line * EVENTS / 1e6, MEMORY_GOAL_KB, b.verify_kb <= MEMORY_GOAL_KB ? "met" : "NOT MET");
    return 0;
}
