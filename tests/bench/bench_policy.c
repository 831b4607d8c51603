/* bench-policy: what a verdict costs, by the number of rules. Prints nanoseconds (median and best of the
 * rounds) and the ratio to the smallest table of the same run; the budget is that of the design. Not a test:
 * a busy machine makes it slow, not wrong. */
#include "base/buf.h"
#include "base/mem.h"
#include "policy/policy.h"

#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 15
#define EVENTS 4096
#define KINDS 4

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static uint64_t rng = 7;

static unsigned below(unsigned n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (unsigned)(rng % n);
}

/* A mix of what policies have: files, trees, one wildcard in the middle, names anywhere, globs. */
static void add_path_rule(struct st_buf *b, unsigned i)
{
    st_buf_addf(b, "  - { id: p%u, type: filesystem, action: %s, paths: [\"", i, i % 3 ? "deny" : "allow");
    switch (i % 20) {
    case 0: st_buf_addf(b, "/**/secret%u.pem", i); break;
    case 1: st_buf_addf(b, "/data/log%u-*.txt", i); break;
    case 2:
    case 3: st_buf_addf(b, "/home/*/.config/app%u/**", i); break;
    case 4:
    case 5:
    case 6:
    case 7: st_buf_addf(b, "/srv/tenant%u/**", i); break;
    default: st_buf_addf(b, "/opt/app%u/lib/file%u.so", i / 50, i); break;
    }
    st_buf_adds(b, "\"] }\n");
}

static void add_addr_rule(struct st_buf *b, unsigned i)
{
    unsigned bits = 12 + i % 21, addr = (i * 2654435761u) & ~(uint32_t)(bits == 32 ? 0 : UINT32_MAX >> bits);

    st_buf_addf(
        b, "  - { id: a%u, type: network_egress, action: %s, destinations: [{ cidr: %u.%u.%u.%u/%u }] }\n", i,
        i % 3 ? "allow" : "deny", addr >> 24, addr >> 16 & 255, addr >> 8 & 255, addr & 255, bits);
}

static void add_host_rule(struct st_buf *b, unsigned i)
{
    static const char *const front[] = {"", "*.", "**."};

    st_buf_addf(
        b, "  - { id: h%u, type: network_egress, destinations: [{ host: \"%shost%u.example%u.com\" }] }\n", i,
        front[i % 3], i, i % 100);
}

static struct st_policy *make_policy(unsigned n, void (*add)(struct st_buf *, unsigned), double *load_ms)
{
    st_auto_buf text = ST_BUF_INIT;
    struct st_policy *policy = NULL;
    struct st_error err = {0};
    int64_t start;

    st_buf_adds(&text, "schema_version: \"2.0\"\nscope: [/workspace]\nrules:\n");
    for (unsigned i = 0; i < n; i++)
        add(&text, i);
    start = now_ns();
    if (st_policy_parse("bench", text.data, text.len, NULL, &policy, NULL, &err) < 0) {
        fprintf(stderr, "bench-policy: %s\n", err.msg);
        exit(2);
    }
    *load_ms = (double)(now_ns() - start) / 1e6;
    return policy;
}

/* Half of the events meet a rule, half do not. */
static void path_event(struct st_event *e, unsigned n, char *room)
{
    unsigned i = below(n);

    switch (below(8)) {
    case 0: snprintf(room, 128, "/workspace/src/project/module%u/file.c", i); break;
    case 1: snprintf(room, 128, "/usr/lib/x86_64-linux-gnu/libfoo.so.%u", i); break;
    case 2: snprintf(room, 128, "/home/agent/.config/app%u/settings.json", i); break;
    case 3: snprintf(room, 128, "/srv/tenant%u/data/2026/01/part.bin", i); break;
    case 4: snprintf(room, 128, "/opt/app%u/lib/file%u.so", i / 50, i); break;
    case 5: snprintf(room, 128, "/workspace/keys/secret%u.pem", i); break;
    case 6: snprintf(room, 128, "/data/log%u-today.txt", i); break;
    default: snprintf(room, 128, "/proc/self/status"); break;
    }
    *e = (struct st_event){.type = ST_EV_FILESYSTEM};
    e->fs.path = st_str(room);
    e->fs.access = below(3) ? ST_ACCESS_READ : ST_ACCESS_READ | ST_ACCESS_WRITE;
}

static void addr_event(struct st_event *e, unsigned n, char *room)
{
    unsigned addr = below(2) ? (below(n) * 2654435761u) : (unsigned)rng;

    (void)room;
    *e = (struct st_event){.type = ST_EV_NETWORK_EGRESS};
    e->net.addr = (struct st_addr){
        .family = 4,
        .bytes = {(uint8_t)(addr >> 24), (uint8_t)(addr >> 16), (uint8_t)(addr >> 8), (uint8_t)addr}};
    e->net.port = 443;
    e->net.protocol = IPPROTO_TCP;
    e->net.bytes_sent = ST_UNKNOWN;
}

static void host_event(struct st_event *e, unsigned n, char *room)
{
    unsigned i = below(n);

    *e = (struct st_event){.type = ST_EV_NETWORK_EGRESS};
    snprintf(room, 128, below(2) ? "www.host%u.example%u.com" : "host%u.example%u.com", i, i % 100);
    e->net.host = st_str(room);
    e->net.port = 443;
    e->net.protocol = IPPROTO_TCP;
    e->net.bytes_sent = ST_UNKNOWN;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double measure(struct st_policy *policy, const struct st_event *events, double *best, double *refused)
{
    struct st_counters *counters = st_counters_new(policy);
    double rounds[ROUNDS];
    size_t denied = 0;

    for (int r = 0; r < ROUNDS; r++) {
        int64_t start = now_ns();

        for (size_t i = 0; i < EVENTS; i++) {
            struct st_verdict v;

            st_policy_eval(policy, counters, &events[i], &v);
            denied += v.result != ST_ALLOW;
        }
        rounds[r] = (double)(now_ns() - start) / EVENTS;
    }
    st_counters_free(counters);
    qsort(rounds, ROUNDS, sizeof(rounds[0]), by_value);
    *best = rounds[0];
    *refused = 100.0 * (double)denied / (EVENTS * ROUNDS);
    return rounds[ROUNDS / 2];
}

static const struct kind {
    const char *name;
    void (*rule)(struct st_buf *, unsigned);
    void (*event)(struct st_event *, unsigned, char *);
    bool budgeted;
} kinds[] = {{"path", add_path_rule, path_event, true},
             {"address", add_addr_rule, addr_event, true},
             {"name", add_host_rule, host_event, false}};

int main(void)
{
    static const unsigned sizes[] = {10, 1000, 100000};
    static const double budgets[] = {0, 1000, 2000};
    struct st_event *events = st_xcalloc(EVENTS, sizeof(*events));
    char(*rooms)[128] = st_xcalloc(EVENTS, 128);
    int over = 0;

    printf("%-8s %8s %9s %9s %7s %9s %8s  budget\n", "kind", "rules", "median ns", "best ns", "ratio",
           "load ms", "refused");
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        double base = 0;

        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            double load_ms, best, refused, median;
            struct st_policy *policy = make_policy(sizes[s], kinds[k].rule, &load_ms);
            bool bound = kinds[k].budgeted && budgets[s] > 0;

            for (size_t i = 0; i < EVENTS; i++)
                kinds[k].event(&events[i], sizes[s], rooms[i]);
            median = measure(policy, events, &best, &refused);
            base = s == 0 ? median : base;
            printf("%-8s %8u %9.0f %9.0f %7.2f %9.1f %7.0f%%  ", kinds[k].name, sizes[s], median, best,
                   median / base, load_ms, refused);
            if (bound)
                printf("%.0f ns: %s\n", budgets[s], median <= budgets[s] ? "kept" : "PASSED OVER");
            else
                printf("-\n");
            over += bound && median > budgets[s];
            st_policy_unref(policy);
        }
    }
    free(events);
    free(rooms);
    return over ? 1 : 0;
}
