/* seccomp_edit: see seccomp_edit.h. */
#include "oci/seccomp_edit.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "model/boundary.h"
#include "model/mutation.h"
#include "oci/seccomp_note.h"
#include "oci/seccomp_rules.h"
#include "oci/seccomp_subjects.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/socket.h>

#define LAST_SYSCALL 700

/* As profiles spell the architecture that we were built for; another one has no profile of ours. */
#ifdef __aarch64__
#define NATIVE "SCMP_ARCH_AARCH64"
#define ALL_ARCHITECTURES "[\"SCMP_ARCH_AARCH64\",\"SCMP_ARCH_ARM\"]"
#else
#define NATIVE "SCMP_ARCH_X86_64"
#define ALL_ARCHITECTURES "[\"SCMP_ARCH_X86_64\",\"SCMP_ARCH_X86\",\"SCMP_ARCH_X32\"]"
#endif

struct profile {
    struct st_oci_config *config;
    const struct st_json_node *node; /* NULL: none */
    struct st_seccomp_subjects subjects;
    size_t n_fresh, n_gone; /* rules that we add, that we take away whole */
    struct st_buf restore;  /* elements of an array of rules, for the way back */
    bool observe;
};

static int set_text(struct profile *p, const char *key, const char *json, struct st_error *err)
{
    const char *const path[] = {"linux", "seccomp", key, NULL};

    return st_json_edit_set(st_oci_config_edit(p->config), path, json, err);
}

static int add_rule(struct profile *p, const struct st_seccomp_rule *rule, struct st_error *err)
{
    static const char *const path[] = {"linux", "seccomp", "syscalls", NULL};
    st_auto_buf text = ST_BUF_INIT;

    st_seccomp_write_rule(&text, rule);
    p->n_fresh++;
    return st_json_edit_append(st_oci_config_edit(p->config), path, st_buf_cstr(&text), err);
}

/* ---- taking names out of the rules that decide them ---- */

static void remember(struct profile *p, const struct st_seccomp_rule *rule)
{
    if (p->restore.len)
        st_buf_addc(&p->restore, ',');
    st_seccomp_write_rule(&p->restore, rule);
}

static char *text_of(const struct profile *p, const struct st_json_node *node)
{
    size_t start, end, len;
    const char *text = st_oci_config_text(p->config, &len);

    st_json_span(node, &start, &end);
    return st_xstrndup(text + start, end - start);
}

static void remove_names(struct profile *p, const struct st_json_node *rule, size_t n)
{
    struct st_json_edit *edit = st_oci_config_edit(p->config);
    const struct st_json_node *list = st_json_get(rule, "names");

    if (n == st_json_count(list)) {
        st_json_edit_remove(edit, rule);
        p->n_gone++;
        return;
    }
    st_json_each (item, list)
        if (st_seccomp_gives_up(&p->subjects, rule, st_json_str(item, NULL)))
            st_json_edit_remove(edit, item);
}

/* What was permitted under a condition is asked about under the same. */
static int ask_under(struct profile *p, const struct st_json_node *rule, const char *name, const char *args,
                     struct st_error *err)
{
    const struct st_seccomp_subject *s = st_seccomp_find(&p->subjects, name);
    st_auto_buf forks = ST_BUF_INIT, threads = ST_BUF_INIT;
    struct st_seccomp_rule ask = {&name, 1, ST_SECCOMP_NOTIFY, 0, args};
    int rc;

    if (!s || s->fate != ST_SECCOMP_BY_ARGUMENTS || s->treatment == ST_SECCOMP_NO_SUCH ||
        s->treatment == ST_SECCOMP_ASK_FAMILY)
        return 0;
    if (s->treatment != ST_SECCOMP_ASK_FORK)
        return add_rule(p, &ask, err);
    st_seccomp_part_forks(st_json_get(rule, "args"), args, &forks, &threads);
    ask.args = st_buf_cstr(&forks);
    rc = add_rule(p, &ask, err);
    if (rc < 0 || !threads.len)
        return rc;
    return add_rule(p, &(struct st_seccomp_rule){&name, 1, st_seccomp_action(rule), 0, st_buf_cstr(&threads)},
                    err);
}

static int take_from(struct profile *p, const struct st_json_node *rule, struct st_error *err)
{
    const struct st_json_node *list = st_json_get(rule, "names");
    st_auto_free const char **taken = st_xcalloc(st_json_count(list) + 1, sizeof(*taken));
    st_auto_free char *args = NULL;
    size_t n = 0;

    st_json_each (item, list)
        if (st_seccomp_gives_up(&p->subjects, rule, st_json_str(item, NULL)))
            taken[n++] = st_json_str(item, NULL);
    if (n == 0)
        return 0;
    if (st_seccomp_has_condition(rule))
        args = text_of(p, st_json_get(rule, "args"));
    remember(p, &(struct st_seccomp_rule){taken, n, st_seccomp_action(rule),
                                          st_seccomp_error(rule, "errnoRet"), args});
    remove_names(p, rule, n);
    for (size_t i = 0; args && i < n; i++)
        if (ask_under(p, rule, taken[i], args, err) < 0)
            return -err->errnum;
    return 0;
}

static int take_all(struct profile *p, struct st_error *err)
{
    st_json_each (rule, p->subjects.rules)
        if (take_from(p, rule, err) < 0)
            return -err->errnum;
    return 0;
}

/* ---- our rules ---- */

static int add_masked(struct profile *p, const struct st_seccomp_subject *s, const char *action,
                      uint64_t mask, uint64_t value, struct st_error *err)
{
    st_auto_buf args = ST_BUF_INIT;

    st_seccomp_write_masked(&args, s->flags, mask, value);
    return add_rule(p, &(struct st_seccomp_rule){&s->name, 1, action, EPERM, st_buf_cstr(&args)}, err);
}

/* Asked about where one of the bits is set, and where this one is not (0: none). rest: all else has the
 * action that it had. */
static int add_by_bits(struct profile *p, const struct st_seccomp_subject *s, unsigned (*bit_at)(size_t),
                       uint64_t unless, bool rest, struct st_error *err)
{
    uint64_t all = unless, bit;

    if (unless && add_masked(p, s, ST_SECCOMP_NOTIFY, unless, 0, err) < 0)
        return -err->errnum;

    for (size_t i = 0; (bit = bit_at(i)) != 0; i++) {
        all |= bit;
        if (add_masked(p, s, ST_SECCOMP_NOTIFY, bit, bit, err) < 0)
            return -err->errnum;
    }
    return rest ? add_masked(p, s, s->action, all, unless, err) : 0;
}

/* Namespaces that the profile refuses by a condition of its own, beside which these rules can stand. */
static int add_refused_spaces(struct profile *p, const struct st_seccomp_subject *s, struct st_error *err)
{
    uint64_t bit;

    for (size_t i = 0; (bit = st_namespace_at(i)) != 0; i++)
        if ((bit & s->none_of) && add_masked(p, s, ST_SECCOMP_NOTIFY, bit, bit, err) < 0)
            return -err->errnum;
    return 0;
}

/* Families of sockets, told by the lower half of the argument, which is all that the kernel looks at. Those
 * that programs use all day pass; others are asked about: many are ways that no rule of a network sees.
 * rest: what is left over, which the kernel has not heard of, meets a default that refuses. */
static int add_by_family(struct profile *p, const struct st_seccomp_subject *s, bool rest,
                         struct st_error *err)
{
    static const struct {
        uint32_t mask, value;
    } usual[] = {{~0u, AF_UNIX}, {~0u, AF_INET}, {~0u, AF_INET6}},
      others[] = {{~0u, 0}, {~0u, 3}, {~3u, 4}, {~1u, 8}, {~0u, 11}, {~3u, 12}, {~15u, 16}, {~31u, 32}};
    const char *action = s->fate == ST_SECCOMP_PERMITTED ? s->action : ST_SECCOMP_ALLOW;
    int rc = 0;

    _Static_assert(AF_UNIX == 1 && AF_INET == 2 && AF_INET6 == 10, "all but these are among the others");
    for (size_t i = 0; rc == 0 && rest && i < sizeof(usual) / sizeof(usual[0]); i++)
        rc = add_masked(p, s, action, usual[i].mask, usual[i].value, err);
    for (size_t i = 0; rc == 0 && i < sizeof(others) / sizeof(others[0]); i++)
        rc = add_masked(p, s, ST_SECCOMP_NOTIFY, others[i].mask, others[i].value, err);
    return rc;
}

/* One rule for all that are treated alike. */
static int add_together(struct profile *p, enum st_seccomp_treatment treatment, const char *action,
                        struct st_error *err)
{
    st_auto_free const char **list = st_xcalloc(p->subjects.n, sizeof(*list));
    size_t n = 0;

    for (size_t i = 0; i < p->subjects.n; i++) {
        const struct st_seccomp_subject *s = &p->subjects.list[i];

        if ((s->treatment == treatment && (s->fate == ST_SECCOMP_PERMITTED ||
                                           (treatment == ST_SECCOMP_NO_SUCH && st_seccomp_is_taken(s)))) ||
            (treatment == ST_SECCOMP_ASK && s->forced))
            list[n++] = s->name;
    }
    return n ? add_rule(p, &(struct st_seccomp_rule){list, n, action, ENOSYS, NULL}, err) : 0;
}

/* rest: the default does not permit what our rules leave over. */
static int add_ours(struct profile *p, bool rest, struct st_error *err)
{
    int rc = add_together(p, ST_SECCOMP_ASK, ST_SECCOMP_NOTIFY, err);

    if (rc == 0)
        rc = add_together(p, ST_SECCOMP_NO_SUCH, ST_SECCOMP_ERRNO, err);
    for (size_t i = 0; rc == 0 && i < p->subjects.n; i++) {
        const struct st_seccomp_subject *s = &p->subjects.list[i];

        if (s->fate == ST_SECCOMP_PERMITTED && s->treatment == ST_SECCOMP_ASK_BY_FLAGS)
            rc = add_by_bits(p, s, st_open_change_at, 0, rest, err);
        else if (s->fate == ST_SECCOMP_PERMITTED && s->treatment == ST_SECCOMP_ASK_NAMESPACE)
            rc = add_by_bits(p, s, strcmp(s->name, "unshare") == 0 ? st_unshared_at : st_namespace_at, 0,
                             rest, err);
        else if (s->fate == ST_SECCOMP_PERMITTED && s->treatment == ST_SECCOMP_ASK_FORK)
            rc = add_by_bits(p, s, st_namespace_at, CLONE_THREAD, rest, err);
        else if (s->none_of)
            rc = add_refused_spaces(p, s, err);
        else if (s->treatment == ST_SECCOMP_ASK_FAMILY && st_seccomp_is_taken(s))
            rc = add_by_family(p, s, rest, err);
    }
    return rc;
}

static bool is_named(const struct profile *p, const char *name)
{
    st_json_each (rule, p->subjects.rules)
        if (st_seccomp_names(rule, name))
            return true;
    return st_seccomp_find(&p->subjects, name) != NULL;
}

static int add_permitted(struct profile *p, const struct st_oci_seccomp *plan, struct st_error *err)
{
    st_auto_free const char **list = st_xcalloc(plan->n_permit + 1, sizeof(*list));
    size_t n = 0;

    for (size_t i = 0; i < plan->n_permit; i++)
        if (!is_named(p, plan->permit[i]))
            list[n++] = plan->permit[i];
    return n ? add_rule(p, &(struct st_seccomp_rule){list, n, ST_SECCOMP_ALLOW, 0, NULL}, err) : 0;
}

/* ---- the default ---- */

/* A permissive default can be closed unless some rule leaves to it what its condition does not cover. */
static bool can_close(const struct profile *p)
{
    if (!st_seccomp_permits(p->subjects.fallback))
        return false;
    st_json_each (rule, p->subjects.rules)
        if (st_seccomp_has_condition(rule))
            return false;
    return true;
}

/* Has it a rule that says something else than the default? */
static bool is_ruled(const struct profile *p, const char *name)
{
    st_json_each (rule, p->subjects.rules)
        if (strcmp(st_seccomp_action(rule), p->subjects.fallback) != 0 && st_seccomp_names(rule, name))
            return true;
    return false;
}

static int close_default(struct profile *p, struct st_error *err)
{
    char *known[LAST_SYSCALL];
    const char *list[LAST_SYSCALL];
    size_t n = 0, n_known = 0;
    int rc;

    for (int nr = 0; nr < LAST_SYSCALL; nr++) {
        char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);

        if (!name)
            continue;
        known[n_known++] = name;
        if (!st_seccomp_is_taken(st_seccomp_find(&p->subjects, name)) && !is_ruled(p, name))
            list[n++] = name;
    }
    rc = add_rule(p, &(struct st_seccomp_rule){list, n, p->subjects.fallback, 0, NULL}, err);
    while (n_known > 0)
        free(known[--n_known]);
    if (rc == 0)
        rc = set_text(p, "defaultAction", "\"" ST_SECCOMP_ERRNO "\"", err);
    return rc < 0 ? rc : set_text(p, "defaultErrnoRet", "38", err); /* ENOSYS */
}

/* ---- architectures ---- */

static bool is_native(const struct st_json_node *item)
{
    const char *name = st_json_str(item, NULL);

    return name && strcmp(name, NATIVE) == 0;
}

/* Only our own stays. It is in a filter also where a profile does not list it. */
static void drop_foreign(struct profile *p, const struct st_json_node *list)
{
    st_json_each (item, list)
        if (!is_native(item))
            st_json_edit_remove(st_oci_config_edit(p->config), item);
}

/* ---- the listener, and the note of what was done ---- */

static void copy_member(struct st_jw *w, const struct profile *p, const char *key)
{
    const struct st_json_node *node = st_json_get(p->node, key);
    st_auto_free char *text = node ? text_of(p, node) : NULL;

    if (!text)
        return;
    st_jw_key(w, key);
    st_jw_raw(w, text, strlen(text));
}

static void write_note(struct st_buf *out, const struct profile *p, bool closed)
{
    st_auto_buf rules = ST_BUF_INIT;
    struct st_jw w;

    st_buf_addf(&rules, "[%s]", st_buf_cstr(&p->restore));
    st_buf_adds(out, ST_SECCOMP_MARK);
    st_jw_init(&w, out);
    st_jw_object(&w);
    copy_member(&w, p, "architectures");
    if (closed) {
        copy_member(&w, p, "defaultAction");
        copy_member(&w, p, "defaultErrnoRet");
    }
    st_jw_kint(&w, "first", (int64_t)(st_json_count(p->subjects.rules) - p->n_gone));
    st_jw_kbool(&w, "made", p->node == NULL);
    st_seccomp_note_refused(&w, &p->subjects);
    st_jw_key(&w, "restore");
    st_jw_raw(&w, rules.data, rules.len);
    st_jw_kint(&w, "rules", (int64_t)p->n_fresh);
    st_seccomp_note_sockets(&w, &p->subjects);
    st_seccomp_note_left(&w, &p->subjects);
    st_jw_end(&w, '}');
}

static int set_listener(struct profile *p, const char *listener, bool closed, struct st_error *err)
{
    st_auto_buf note = ST_BUF_INIT, quoted = ST_BUF_INIT;

    write_note(&note, p, closed);
    st_json_quote(&quoted, note.data, note.len);
    if (set_text(p, "listenerMetadata", st_buf_cstr(&quoted), err) < 0)
        return -err->errnum;
    st_buf_clear(&quoted);
    st_json_quote(&quoted, listener, strlen(listener));
    return set_text(p, "listenerPath", st_buf_cstr(&quoted), err);
}

/* ---- all of it ---- */

/* As the default, or of any rule. */
static bool has_action(const struct profile *p, const char *action)
{
    const char *fallback = st_json_str(st_json_get(p->node, "defaultAction"), NULL);

    st_json_each (rule, st_json_get(p->node, "syscalls"))
        if (strcmp(st_seccomp_action(rule), action) == 0)
            return true;
    return fallback && strcmp(fallback, action) == 0;
}

static bool asks_already(const struct profile *p)
{
    const struct st_json_node *listener = st_json_get(p->node, "listenerPath");

    if (listener && !st_json_is(listener, ST_JSON_NULL))
        return true;
    return has_action(p, ST_SECCOMP_NOTIFY);
}

static int check(const struct profile *p, const struct st_oci_seccomp *plan, struct st_error *err)
{
    if (strlen(plan->listener) > ST_OCI_LISTENER_MAX)
        return st_fail(err, ENAMETOOLONG,
                       "%s: longer than the path of a socket may be (%d bytes); shorten state_dir",
                       plan->listener, ST_OCI_LISTENER_MAX);
    if (p->node && !st_json_is(p->node, ST_JSON_OBJECT))
        return st_fail(err, EINVAL, "linux.seccomp is not an object");
    if (p->node && !st_json_str(st_json_get(p->node, "defaultAction"), NULL))
        return st_fail(err, EINVAL, "linux.seccomp has no defaultAction");
    if (asks_already(p))
        return st_fail(err, EBUSY,
                       "the seccomp profile has a listener of its own (SCMP_ACT_NOTIFY, listenerPath) and a "
                       "container can have one only; leave it out, or choose a policy in audit mode");
    /* Such a tracer may be a process of the container: what it lets by nobody is asked about. */
    if (has_action(p, ST_SECCOMP_TRACE))
        return st_fail(err, EINVAL,
                       "the seccomp profile leaves syscalls to a tracer (SCMP_ACT_TRACE), which can't be "
                       "watched; allow or refuse them, or choose a policy in audit mode");
    return 0;
}

/* A profile of ours that changes nothing is good for all that runs here. */
static int make_permissive(struct profile *p, struct st_error *err)
{
    if (p->node)
        return 0;
    return set_text(p, "architectures", ALL_ARCHITECTURES, err) < 0
               ? -err->errnum
               : set_text(p, "defaultAction", "\"" ST_SECCOMP_ALLOW "\"", err);
}

static int apply(struct profile *p, const struct st_oci_seccomp *plan, struct st_error *err)
{
    bool closed = !plan->observe && can_close(p);
    int rc = st_seccomp_gather(&p->subjects, plan, err);

    if (rc == 0)
        rc = take_all(p, err);
    if (rc == 0)
        rc = add_ours(p, closed || !st_seccomp_permits(p->subjects.fallback), err);
    if (rc == 0 && !st_seccomp_permits(p->subjects.fallback))
        rc = add_permitted(p, plan, err);
    if (rc == 0 && closed)
        rc = close_default(p, err);
    if (rc == 0 && plan->observe)
        rc = make_permissive(p, err);
    if (rc == 0)
        rc = set_listener(p, plan->listener, closed, err);
    if (rc == 0 && !plan->observe)
        drop_foreign(p, st_json_get(p->node, "architectures"));
    return rc;
}

int st_oci_set_seccomp(struct st_oci_config *config, const struct st_oci_seccomp *plan, struct st_error *err)
{
    struct profile p = {.config = config, .observe = plan->observe};
    int rc;

    p.node = st_json_get(st_json_get(st_oci_config_root(config), "linux"), "seccomp");
    if (p.node && st_json_is(p.node, ST_JSON_NULL))
        p.node = NULL;
    rc = check(&p, plan, err);
    if (rc == 0) {
        p.subjects.rules = st_json_get(p.node, "syscalls");
        p.subjects.fallback =
            p.node ? st_json_str(st_json_get(p.node, "defaultAction"), NULL) : ST_SECCOMP_ALLOW;
        p.subjects.fallback_error = st_seccomp_error(p.node, "defaultErrnoRet");
        rc = apply(&p, plan, err);
    }
    st_buf_free(&p.restore);
    free(p.subjects.list);
    return rc < 0 ? st_oci_config_wrap(config, err) : 0;
}
