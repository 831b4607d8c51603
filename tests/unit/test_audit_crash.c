/* The writer under fire: kill -9 and full disks at random points, 500 times. What was acknowledged as forced
 * is in the file, verify says valid or torn_tail and nothing else, and writing goes on.
 *
 * Needs root: each run has a small tmpfs in a mount namespace of its own, so that nothing is left behind. */
#include "audit_support.h"

#include "audit/verify.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "unit.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUNS 500
#define CHAIN 8   /* runs that go on with the same trace */
#define MOST 2000 /* events that one run appends: CHAIN times as many must fit the disk */

/* What the writer said before it died; in memory that both see. */
struct said {
    _Atomic uint64_t forced_seq, forced_size, refusals, appended;
};

struct arena_of_runs {
    struct place place;
    struct said *said;
    unsigned seed;
    unsigned torn, refused, cut, crashes; /* how often each happened, over all runs */
};

/* Leaves about so many bytes free. */
static void fill_disk(const char *dir, unsigned long leave)
{
    char path[128];
    st_auto_fd fd = -1;
    struct statvfs fs;

    snprintf(path, sizeof(path), "%s/filler", dir);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || statvfs(dir, &fs) < 0)
        abort();
    if (fs.f_bfree * fs.f_bsize > leave && fallocate(fd, 0, 0, (off_t)(fs.f_bfree * fs.f_bsize - leave)) < 0)
        abort();
}

static void free_disk(const char *dir)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/filler", dir);
    if (truncate(path, 0) < 0 && errno != ENOENT)
        abort();
}

/* Acknowledge only what a force that succeeded stands for. */
static bool force(struct st_trace *t, struct arena_of_runs *a)
{
    struct st_error err;
    struct stat sb;

    if (st_trace_force(t, &err) < 0) {
        if (err.errnum != ENOSPC)
            abort();
        return false;
    }
    if (stat(a->place.path, &sb) < 0)
        abort();
    atomic_store(&a->said->forced_size, (uint64_t)sb.st_size);
    atomic_store(&a->said->forced_seq, st_trace_seq(t));
    return true;
}

/* Writes until it is killed; on a busy machine that may be late, and the trace alone must not fill the disk.
 * A refused append is tried again once there is room. */
static void writer(struct arena_of_runs *a, unsigned seed, bool full_disk)
{
    struct st_trace *t = open_trace(&a->place, true, 0);
    char id[ST_EVENT_ID_SIZE];
    struct st_verdict v;
    struct st_event ev;
    struct st_error err;

    for (unsigned n = 0;; n++) {
        bool refused;

        sample_open((unsigned)st_trace_seq(t), &ev, &v);
        refused = st_trace_append(t, &ev, &v, id, &err) < 0;
        if (refused && err.errnum != ENOSPC)
            abort();
        if (!refused)
            atomic_fetch_add(&a->said->appended, 1);
        if (!refused && rand_r(&seed) % 64 == 0)
            refused = !force(t, a);
        else if (!refused && rand_r(&seed) % 200 == 0)
            refused = st_trace_checkpoint(t, false, &err) < 0 || !force(t, a);
        if (refused) {
            atomic_fetch_add(&a->said->refusals, 1);
            free_disk(a->place.dir);
        } else if (full_disk && rand_r(&seed) % 100 == 0) {
            fill_disk(a->place.dir, (unsigned long)rand_r(&seed) % 20 * 4096);
        }
        while (atomic_load(&a->said->appended) >= MOST)
            pause();
    }
}

static pid_t start_writer(struct arena_of_runs *a, bool full_disk)
{
    unsigned seed = (unsigned)rand_r(&a->seed);
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        writer(a, seed, full_disk);
        _exit(1);
    }
    return child;
}

/* Kill it after some number of events, wherever it is by then. */
static void kill_at_random(struct arena_of_runs *a, pid_t child)
{
    uint64_t target = (uint64_t)rand_r(&a->seed) % 1000;
    int status;

    while (atomic_load(&a->said->appended) < target) {
        assert_int_equal(waitpid(child, &status, WNOHANG), 0); /* it must not end by itself */
        sched_yield();
    }
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    a->crashes++;
}

/* A power failure: of what was not forced, any part from the end may be missing. */
static void lose_power(struct arena_of_runs *a)
{
    uint64_t forced = atomic_load(&a->said->forced_size);
    struct stat sb;

    if (stat(a->place.path, &sb) < 0 || (uint64_t)sb.st_size <= forced || rand_r(&a->seed) % 3)
        return;
    assert_int_equal(truncate(a->place.path,
                              (off_t)(forced + (uint64_t)rand_r(&a->seed) % ((uint64_t)sb.st_size - forced))),
                     0);
    a->cut++;
}

static struct st_verify_report look(const struct arena_of_runs *a, bool closed)
{
    struct st_verify_options o = {.keys = st_signer_public(a->place.signer), .n_keys = 1, .running = !closed};
    st_auto_fd fd = open(a->place.path, O_RDONLY | O_CLOEXEC);
    st_auto_lines lines = st_lines_of_fd(fd);
    st_auto_verifier v = st_verifier_new(&o);
    struct st_error err;

    assert_true(fd >= 0);
    assert_int_equal(st_verify_lines(v, lines, &err), 0);
    return *st_verifier_end(v);
}

static void check_after_crash(struct arena_of_runs *a)
{
    struct st_verify_report r;
    struct stat sb;

    if (stat(a->place.path, &sb) < 0 || sb.st_size == 0) { /* killed before its first write */
        assert_int_equal(atomic_load(&a->said->forced_seq), 0);
        return;
    }
    r = look(a, false);
    if (r.n_issues && r.issues[0].code == ST_ISSUE_TORN_TAIL)
        a->torn++;
    else if (r.n_issues)
        fail_msg("%s at line %d", st_issue_name(r.issues[0].code), (int)r.issues[0].line);
    assert_true(r.n_issues <= 1);
    assert_true(r.seq >= atomic_load(&a->said->forced_seq));
    a->refused += (unsigned)atomic_load(&a->said->refusals);
}

static void go_on_and_close(struct arena_of_runs *a)
{
    struct st_verify_report r;
    struct st_error err;
    struct st_trace *t;

    free_disk(a->place.dir);
    t = open_trace(&a->place, true, 0);
    append_samples(t, 10);
    assert_int_equal(st_trace_checkpoint(t, true, &err), 0);
    st_trace_close(t);
    r = look(a, true);
    if (r.n_issues)
        fail_msg("after going on: %s at line %d, seq %d", st_issue_name(r.issues[0].code),
                 (int)r.issues[0].line, (int)r.issues[0].seq);
    assert_true(r.final && r.signed_seq == r.seq);
}

static void one_run(struct arena_of_runs *a, unsigned run)
{
    if (run % CHAIN == 0) {
        unlink(a->place.path);
        memset(a->said, 0, sizeof(*a->said));
    }
    atomic_store(&a->said->appended, 0);
    atomic_store(&a->said->refusals, 0);
    free_disk(a->place.dir);
    kill_at_random(a, start_writer(a, run % 2));
    lose_power(a);
    check_after_crash(a);
    if (rand_r(&a->seed) % 2)
        go_on_and_close(a);
    if (run % CHAIN == CHAIN - 1)
        go_on_and_close(a);
}

static void five_hundred_crashes_lose_nothing_that_was_forced(void **state)
{
    struct arena_of_runs a = {.seed = 20260326};

    (void)state;
    assert_int_equal(unshare(CLONE_NEWNS), 0);
    assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    place_make(&a.place);
    assert_int_equal(mount("tmpfs", a.place.dir, "tmpfs", 0, "size=16m,mode=0700"), 0);
    a.said = mmap(NULL, sizeof(*a.said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(a.said != MAP_FAILED);
    for (unsigned run = 0; run < RUNS; run++)
        one_run(&a, run);
    printf("# %u kills, %u cuts as of a power failure, %u torn ends, %u refusals of a full disk\n", a.crashes,
           a.cut, a.torn, a.refused);
    assert_true(a.torn >= 20);
    assert_true(a.refused >= 100);
    munmap(a.said, sizeof(*a.said));
    assert_int_equal(umount(a.place.dir), 0);
    place_remove(&a.place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_hundred_crashes_lose_nothing_that_was_forced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
