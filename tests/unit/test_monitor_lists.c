/* What a policy refuses to be opened is asked about, whatever its patterns look like: random rules over a
 * real tree, where each path that they refuse must be on the list, in a directory that is, or on a mount of
 * which every open is asked about. The sequence is the same in every run. */
#include "policy_unit.h"

#include "base/cleanup.h"
#include "policy/depth.h"
#include "sensors/guarded.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 6000

static const struct st_footing mounts[] = {{.point = "/", .own = true},
                                           {.point = "/w", .writable = true, .own = true}};

static const char *const names[] = {"w", "a", "b", "ab", "k", "k1", "*x", "[a]", "a\\b", ".h"};
static const char *const words[] = {
    "a",  "b",  "ab",  "k",   "k1",   "\\*x", "\\[a]", "[a]",  "a\\\\b", ".h", "*",  "?",  "a*", "*b", "k?",
    "**", "**", "k**", "**b", "a**b", "*x*",  "[a*",   "\\a*", "\\**",   "w",  "?*", ".*", "a?", "k*", "*h"};

#define PLAIN 6 /* of them */

static unsigned below(uint64_t *state, size_t n)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)((*state >> 33) % n);
}

/* ---- the tree ---- */

#define PATHS 600

struct tree {
    char dir[32];
    int fd;
    char paths[PATHS][64];
    size_t n;
};

/* The names at the end are files, the others directories with some of the names in them. */
static void grow(struct tree *t, uint64_t *rng, const char *at, unsigned depth)
{
    for (size_t i = 0; i < N_OF(names) && t->n < PATHS; i++) {
        char *path = t->paths[t->n];
        bool file = depth == 3 || below(rng, 3) == 0;
        int fd;

        if (depth > 0 && below(rng, 3) == 0)
            continue;
        if ((size_t)snprintf(path, sizeof(t->paths[0]), "%s/%s", at, names[i]) >= sizeof(t->paths[0]))
            continue;
        t->n++;
        if (!file) {
            assert_int_equal(mkdirat(t->fd, path + 1, 0700), 0);
            grow(t, rng, path, depth + 1);
            continue;
        }
        fd = openat(t->fd, path + 1, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
}

static int remove_one(const char *path, const struct stat *sb, int type, struct FTW *at)
{
    (void)sb, (void)type, (void)at;
    return remove(path);
}

/* ---- the rules ---- */

static void add_pattern(struct st_buf *out, uint64_t *rng)
{
    unsigned n = 1 + below(rng, 4);

    st_buf_adds(out, "'");
    for (unsigned i = 0; i < n; i++) /* most begin with a name: what may lie anywhere is not listed */
        st_buf_addf(out, "/%s", words[below(rng, i == 0 && below(rng, 4) ? PLAIN : N_OF(words))]);
    st_buf_adds(out, "'");
}

static void write_rules(struct st_buf *out, uint64_t *rng)
{
    static const char *const access[] = {"paths: [", "access: [read], paths: [", "access: [write], paths: ["};
    unsigned rules = 1 + below(rng, 3);

    st_buf_adds(out, HEAD "scope: [/w]\nrules:\n");
    for (unsigned i = 0; i < rules; i++) {
        st_buf_addf(out, "  - { id: r%u, type: filesystem, action: %s, ", i,
                    below(rng, 3) == 0 ? "allow" : "deny");
        st_buf_adds(out, access[below(rng, N_OF(access))]);
        add_pattern(out, rng);
        if (below(rng, 2)) {
            st_buf_adds(out, ", ");
            add_pattern(out, rng);
        }
        st_buf_adds(out, "] }\n");
    }
}

/* NULL: there is something in it that can never match, which is refused. */
static struct st_policy *random_policy(uint64_t *rng, struct st_buf *text)
{
    struct st_policy *policy = NULL;
    struct st_error err = {0};

    st_buf_clear(text);
    write_rules(text, rng);
    return st_policy_parse("t.yaml", text->data, text->len, NULL, &policy, NULL, &err) < 0 ? NULL : policy;
}

/* ---- the list ---- */

static void collect(const struct tree *t, struct st_depth_plan *plan, struct st_guarded *objects)
{
    st_auto_free struct st_guarded_pattern *patterns = calloc(plan->n_objects + 1, sizeof(*patterns));

    assert_non_null(patterns);
    for (size_t i = 0; i < plan->n_objects; i++)
        patterns[i].text = plan->objects[i].list;
    st_guarded_collect(objects, t->fd, patterns, plan->n_objects);
    for (size_t i = 0; i < plan->n_objects; i++)
        if (!patterns[i].whole)
            st_depth_plan_widen(plan, &plan->objects[i], "too much");
}

static bool is_listed(const struct tree *t, const struct st_guarded *objects, const char *path)
{
    struct stat sb;

    assert_int_equal(fstatat(t->fd, *path ? path + 1 : ".", &sb, AT_SYMLINK_NOFOLLOW), 0);
    return st_guarded_find(objects, sb.st_dev, sb.st_ino) != NULL;
}

static bool is_in_workspace(const char *path)
{
    return strcmp(path, "/w") == 0 || strncmp(path, "/w/", 3) == 0;
}

static bool is_asked_about_anyway(const struct st_depth_plan *plan, const char *path)
{
    return plan->depth == ST_DEPTH_STRICT || plan->mounts[is_in_workspace(path)].every_open;
}

static bool is_asked_about(const struct tree *t, const struct st_guarded *objects, const char *path)
{
    char parent[64];

    if (is_listed(t, objects, path))
        return true;
    snprintf(parent, sizeof(parent), "%s", path);
    *strrchr(parent, '/') = '\0';
    return is_listed(t, objects, parent);
}

/* Outside of the workspace nobody can write, whatever a rule says. */
static bool is_refused(struct st_policy *policy, const char *path)
{
    return one(policy, file(path, ST_ACCESS_READ)).result != ST_ALLOW ||
           (is_in_workspace(path) && one(policy, file(path, ST_ACCESS_WRITE)).result != ST_ALLOW);
}

static size_t check(const struct tree *t, struct st_policy *policy, const char *text)
{
    const struct st_depth_facts facts = {
        .asked = ST_DEPTH_GUARD, .notified = true, .mounts = mounts, .n_mounts = N_OF(mounts)};
    st_auto_guarded objects = st_guarded_new();
    st_auto_depth_plan plan = {0};
    size_t refused = 0;

    st_depth_plan_make(policy, &facts, &plan);
    collect(t, &plan, objects);
    for (size_t i = 0; i < t->n; i++) {
        const char *path = t->paths[i];

        if (!is_refused(policy, path) || is_asked_about_anyway(&plan, path))
            continue;
        refused++;
        if (!is_asked_about(t, objects, path))
            fail_msg("%s is refused, and not asked about:\n%s", path, text);
    }
    return refused;
}

static void what_is_refused_is_asked_about(void **state)
{
    struct tree t = {.dir = "/tmp/st-lists.XXXXXX"};
    st_auto_buf text = ST_BUF_INIT;
    uint64_t rng = 1;
    size_t tried = 0, listed = 0;

    (void)state;
    assert_non_null(mkdtemp(t.dir));
    t.fd = open(t.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(t.fd >= 0);
    grow(&t, &rng, "", 0);
    for (size_t i = 0; i < TRIES; i++) {
        struct st_policy *policy = random_policy(&rng, &text);

        if (!policy)
            continue;
        tried++;
        listed += check(&t, policy, st_buf_cstr(&text));
        st_policy_unref(policy);
    }
    /* Else it shows nothing. */
    assert_true(tried > TRIES / 2);
    assert_true(listed > TRIES / 2);
    close(t.fd);
    assert_int_equal(nftw(t.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_refused_is_asked_about),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
