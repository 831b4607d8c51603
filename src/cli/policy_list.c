/* policy_list: `policy list`: what is there under a name, in the order in which names are looked for. */
#include "cli/verb_policy.h"

#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "model/policy_name.h"

#include <stdio.h>
#include <string.h>

struct names {
    char **items;
    size_t n;
};

static bool has(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return true;
    return false;
}

static void take(struct names *names, const char *file)
{
    size_t len = strlen(file);
    st_auto_free char *name = NULL;

    if (len <= 5 || strcmp(file + len - 5, ".yaml") != 0)
        return;
    name = st_xstrndup(file, len - 5);
    if (!st_policy_name_ok(st_str(name)) || has(names, name))
        return;
    names->items = st_xrealloc(names->items, (names->n + 1) * sizeof(*names->items));
    names->items[names->n++] = st_steal_ptr(&name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void row_json(const char *name, const struct st_policy *p, const struct st_error *err)
{
    st_auto_buf out = ST_BUF_INIT;
    const char *const *files;
    const struct st_rule *rules;
    struct st_jw w;

    st_jw_init(&w, &out);
    st_jw_object(&w);
    if (p) {
        st_jw_kstr(&w, "description", st_policy_description(p));
        st_policy_files(p, &files);
        st_jw_kstr(&w, "file", files[0]);
        st_jw_kbool(&w, "locked", st_policy_locked(p));
        st_jw_kstr(&w, "mode", st_policy_mode_name(st_policy_mode(p)));
        st_jw_kstr(&w, "name", name);
        st_jw_kint(&w, "rules", (int64_t)st_policy_rules(p, &rules));
        st_jw_kstr(&w, "sha256", st_policy_sha256(p));
    } else {
        st_jw_kstr(&w, "error", err->msg);
        st_jw_kstr(&w, "name", name);
    }
    st_jw_end(&w, '}');
    puts(st_buf_cstr(&out));
}

static void row_text(const char *name, const struct st_policy *p, const struct st_error *err)
{
    const char *const *files;
    const struct st_rule *rules;

    printf("%-20s ", name);
    if (!p) {
        printf("%-8s %5s  ", "broken", "-");
        st_put_text(err->msg);
        printf("\n");
        return;
    }
    st_policy_files(p, &files);
    printf("%-8s %5zu  ", st_policy_locked(p) ? "locked" : st_policy_mode_name(st_policy_mode(p)),
           st_policy_rules(p, &rules));
    st_put_text(*st_policy_description(p) ? st_policy_description(p) : files[0]);
    printf("\n");
}

int st_policy_list(struct policy_cmd *c, int argc, char **args)
{
    struct names names = {0};
    int code = ST_EXIT_OK;

    (void)args;
    if (argc)
        return st_cli_usage(c->verb, "`policy list` takes no argument");
    for (size_t i = 0; i < c->source.n_dirs; i++) {
        st_auto_dir dir = opendir(c->source.dirs[i]);
        struct dirent *entry;

        while (dir && (entry = readdir(dir)))
            take(&names, entry->d_name);
    }
    if (names.n)
        qsort(names.items, names.n, sizeof(*names.items), by_name);
    if (!c->cli->json)
        printf("%-20s %-8s %5s  %s\n", "POLICY", "MODE", "RULES", "");
    for (size_t i = 0; i < names.n; i++) {
        st_auto_policy p = NULL;
        struct st_error err = {0};

        if (st_policy_load(names.items[i], &c->source, &p, NULL, &err) < 0)
            code = ST_EXIT_FAILED;
        (c->cli->json ? row_json : row_text)(names.items[i], p, &err);
        free(names.items[i]);
    }
    free(names.items);
    return code;
}
