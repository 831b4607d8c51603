/* run_who: see run_who.h. */
#include "cli/run_who.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <pwd.h>
#include <string.h>

static void take(struct st_run_who *out, const struct passwd *pw)
{
    out->uid = pw->pw_uid;
    out->gid = pw->pw_gid;
    out->name = st_xstrdup(pw->pw_name);
    out->home = pw->pw_dir && pw->pw_dir[0] == '/' ? st_xstrdup(pw->pw_dir) : NULL;
}

static void take_ids(struct st_run_who *out, uid_t uid, const gid_t *gid)
{
    const struct passwd *pw = getpwuid(uid);

    if (pw)
        take(out, pw);
    else
        *out = (struct st_run_who){.uid = uid, .gid = gid ? *gid : uid, .name = st_xasprintf("%u", uid)};
    if (gid)
        out->gid = *gid;
}

static int by_name(const char *named, struct st_run_who *out, struct st_error *err)
{
    unsigned uid, gid = 0;
    bool has_gid;
    const struct passwd *pw;

    if (st_run_parse_ids(named, &uid, &gid, &has_gid)) {
        take_ids(out, uid, has_gid ? &gid : NULL);
        return 0;
    }
    pw = getpwnam(named);
    if (!pw)
        return st_fail(err, ENOENT, "there is no user '%s'; a name, or UID or UID:GID in digits, is wanted",
                       named);
    take(out, pw);
    return 0;
}

int st_run_who_find(const char *named, struct st_run_who *out, struct st_error *err)
{
    const char *sudo_uid = getenv("SUDO_UID"), *sudo_gid = getenv("SUDO_GID");
    unsigned uid, gid, none;
    bool has_gid;

    *out = (struct st_run_who){0};
    if (named)
        return by_name(named, out, err);
    if (getuid() == 0 && sudo_uid && sudo_gid && st_run_parse_ids(sudo_uid, &uid, &none, &has_gid) &&
        !has_gid && st_run_parse_ids(sudo_gid, &gid, &none, &has_gid) && !has_gid)
        take_ids(out, uid, &gid);
    else
        take_ids(out, getuid(), NULL);
    return 0;
}

void st_run_who_free(struct st_run_who *w)
{
    free(w->name);
    free(w->home);
    *w = (struct st_run_who){0};
}

/* ---- environment ---- */

struct list {
    char **items;
    size_t n;
};

static bool has_name(const char *entry, const char *name, size_t len)
{
    return strncmp(entry, name, len) == 0 && entry[len] == '=';
}

/* The last one counts. */
static void put(struct list *l, const char *name, size_t len, const char *value)
{
    char *entry = st_xasprintf("%.*s=%s", (int)len, name, value);

    for (size_t i = 0; i < l->n; i++)
        if (has_name(l->items[i], name, len)) {
            free(l->items[i]);
            l->items[i] = entry;
            return;
        }
    l->items = st_xrealloc(l->items, (l->n + 2) * sizeof(*l->items));
    l->items[l->n++] = entry;
    l->items[l->n] = NULL;
}

static void put_ours(struct list *l, const char *name)
{
    const char *value = getenv(name);

    if (value)
        put(l, name, strlen(name), value);
}

static void put_usual(struct list *l, const struct st_run_who *who)
{
    static const char *const shown[] = {"TERM",     "COLORTERM", "NO_COLOR", "LANG",
                                        "LANGUAGE", "LC_ALL",    "LC_CTYPE", "TZ"};

    put(l, "PATH", 4, "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    put(l, "HOME", 4, ST_RUN_HOME);
    put(l, "USER", 4, who->name);
    put(l, "LOGNAME", 7, who->name);
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        put_ours(l, shown[i]);
}

char **st_run_environment(const struct st_run_args *args, const struct st_run_who *who, struct st_error *err)
{
    struct list l = {0};

    put_usual(&l, who);
    for (size_t i = 0; i < args->n_env; i++) {
        size_t len = strcspn(args->env[i], "=");

        if (args->env[i][len]) {
            put(&l, args->env[i], len, args->env[i] + len + 1);
        } else if (getenv(args->env[i])) {
            put_ours(&l, args->env[i]);
        } else {
            st_fail(err, ENOENT, "--env %s: there is no such variable here; write --env %s=VALUE",
                    args->env[i], args->env[i]);
            st_run_environment_free(&l.items);
            return NULL;
        }
    }
    return l.items;
}

void st_run_environment_free(char ***env)
{
    for (char **e = *env; e && *e; e++)
        free(*e);
    free(*env);
    *env = NULL;
}
