/* sandtrace install: tells an engine of the runtime, or undoes that; shows what it changes. */
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/suggest.h"
#include "cli/beside.h"
#include "cli/install.h"
#include "cli/install_hooks.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPT_DRY_RUN, OPT_UNINSTALL, OPT_FILE, OPT_HOOKS, OPT_RUNTIME };

static const struct st_opt options[] = {
    {"dry-run", 'n', NULL, "only show the change"},
    {"uninstall", 0, NULL, "undo it"},
    {"file", 0, "PATH", "the engine's file (podman --hooks: directory), if unusual"},
    {"hooks", 0, NULL, "podman: watch every container by hooks, whatever runtime"},
    {"runtime", 0, "PATH", "the sandtrace-runtime to name (else the one beside this)"},
    ST_OPT_END,
};

struct order {
    struct st_cli *cli;
    const struct st_verb *verb;
    const struct st_engine *engine;
    const char *file;
    char *runtime;
    bool dry_run, undo, hooks;
    unsigned changes;
};

static int unknown_engine(const struct st_verb *self, const char *name)
{
    struct st_suggestion best = {0};

    for (const struct st_engine *const *e = st_engines(); *e; e++)
        st_suggest_offer(&best, name, (*e)->name);
    if (best.word)
        return st_cli_usage(self, "no engine '%s' is known (did you mean %s?)", name, best.word);
    return st_cli_usage(self, "no engine '%s' is known: docker, podman and containerd are", name);
}

static const struct st_engine *engine_by_name(const char *name)
{
    for (const struct st_engine *const *e = st_engines(); *e; e++)
        if (strcmp((*e)->name, name) == 0)
            return *e;
    return NULL;
}

/* ---- saying ---- */

/* NULL: nothing is to be done. */
static const char *next_of(const struct order *o)
{
    if (o->hooks)
        return NULL;
    return o->undo ? o->engine->forget : o->engine->reload;
}

static void say_json(const struct order *o, const struct st_change *c, bool changed)
{
    st_auto_buf out = ST_BUF_INIT, diff = ST_BUF_INIT;
    st_auto_free char *backup = st_xasprintf("%s" ST_INSTALL_BACKUP, c->file);
    struct st_jw w;

    if (changed)
        st_change_show(c, &diff, false);
    st_jw_init(&w, &out);
    st_jw_object(&w);
    st_jw_kstr(&w, "backup", c->keep && changed ? backup : NULL);
    st_jw_kbool(&w, "changed", changed);
    st_jw_kstr(&w, "diff", changed ? st_buf_cstr(&diff) : NULL);
    st_jw_kbool(&w, "dry_run", o->dry_run);
    st_jw_kstr(&w, "engine", o->engine->name);
    st_jw_kstr(&w, "file", c->file);
    st_jw_kstr(&w, "next", changed ? next_of(o) : NULL);
    st_jw_end(&w, '}');
    puts(st_buf_cstr(&out));
}

static void say(const struct order *o, const struct st_change *c, bool changed)
{
    st_auto_buf diff = ST_BUF_INIT;

    if (o->cli->json) {
        say_json(o, c, changed);
        return;
    }
    if (!changed) {
        printf("%s: nothing to do: %s\n", c->file,
               o->undo ? "sandtrace is not in it" : "sandtrace is in it already");
        return;
    }
    st_change_show(c, &diff, o->cli->color);
    fputs(st_buf_cstr(&diff), stdout);
    if (o->dry_run)
        printf("%s: not changed (--dry-run)\n", c->file);
    else
        printf("%s: %s\n", c->file, c->will ? "written" : "removed");
    if (!o->dry_run && c->keep)
        printf("%s" ST_INSTALL_BACKUP ": what was there before\n", c->file);
}

static void say_what_next(const struct order *o)
{
    if (o->cli->json || o->dry_run || !o->changes)
        return;
    if (next_of(o))
        printf("next: %s\n", next_of(o));
    if (!o->undo)
        printf("then: %s\n", o->hooks ? "podman run --rm IMAGE COMMAND" : o->engine->use);
}

/* ---- doing ---- */

static int carry_out(void *ctx, const struct st_change *c, struct st_error *err)
{
    struct order *o = ctx;
    bool changed = !st_change_is_none(c);

    if (changed && !o->dry_run && st_change_make(c, err) < 0)
        return -err->errnum;
    o->changes += changed;
    say(o, c, changed);
    return 0;
}

static int change_engine(struct order *o, struct st_error *err)
{
    st_auto_change c = {0};

    if (st_change_plan(o->engine, o->file ? o->file : o->engine->file, o->runtime, o->undo, &c, err) < 0)
        return -err->errnum;
    return carry_out(o, &c, err);
}

/* Named, or beside us; it must be one that an engine could start. */
static int find_runtime(struct order *o, const char *given, struct st_error *err)
{
    const char *fault;

    o->runtime = given ? st_xstrdup(given) : st_beside("sandtrace-runtime");
    if (!o->runtime)
        return st_fail(err, ENOENT, "where this program lies is not known; name the runtime by --runtime");
    fault = st_path_fault(o->runtime);
    if (fault)
        return st_fail(err, EINVAL, "runtime '%.100s': %s", o->runtime, fault);
    if (!o->undo && access(o->runtime, X_OK) < 0)
        return st_fail_errno(err, "%s: install sandtrace first, or name the runtime by --runtime",
                             o->runtime);
    return 0;
}

static int install(struct order *o, const char *runtime)
{
    struct st_error err = {0};
    int rc = find_runtime(o, runtime, &err);

    if (rc == 0)
        rc = o->hooks ? st_install_hooks(o->file, o->undo, carry_out, o, &err) : change_engine(o, &err);
    free(o->runtime);
    if (rc < 0 && (err.errnum == EACCES || err.errnum == EPERM) && geteuid() != 0)
        return st_cli_error(o->verb, "%s; try with sudo", err.msg);
    if (rc < 0)
        return st_cli_error(o->verb, "%s", err.msg);
    say_what_next(o);
    return ST_EXIT_OK;
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    struct order o = {.cli = cli, .verb = self};
    const char *runtime = NULL;
    struct st_opts opts;
    char **args;
    int index, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0) {
        o.dry_run |= index == OPT_DRY_RUN;
        o.undo |= index == OPT_UNINSTALL;
        o.hooks |= index == OPT_HOOKS;
        if (index == OPT_FILE)
            o.file = opts.value;
        if (index == OPT_RUNTIME)
            runtime = opts.value;
    }
    if (index == ST_OPTS_EXIT)
        return code;
    if (st_opts_args(&opts, &args) != 1)
        return st_cli_usage(self, "name one engine: docker, podman or containerd");
    o.engine = engine_by_name(args[0]);
    if (!o.engine)
        return unknown_engine(self, args[0]);
    if (o.hooks && o.engine != &st_engine_podman)
        return st_cli_usage(self, "--hooks is for podman alone: %s has no hooks directory", o.engine->name);
    if (o.file && o.file[0] != '/')
        return st_cli_usage(self, "--file %s: an absolute path is needed", o.file);
    return install(&o, runtime);
}

const struct st_verb st_verb_install = {
    .name = "install",
    .args = "docker|podman|containerd",
    .summary = "tell an engine of the runtime, or undo that",
    .example = "sudo sandtrace install docker --dry-run",
    .opts = options,
    .run = run,
};
