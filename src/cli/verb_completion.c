/* sandtrace completion: prints the completion script of a shell from the tables of verbs and options,
 * so that what a shell offers is what the parser takes. The build calls it (contrib/local.mk). */
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

/* What a word named so in a table stands for; any other name: nothing is offered. */
enum kind { NOTHING, FILES, CONTAINERS, COMMANDS };

static enum kind kind_of(const char *name)
{
    static const struct {
        const char *word;
        enum kind kind;
    } table[] = {
        {"FILE", FILES}, {"DIR", FILES},     {"PATH", FILES},           {"POLICY", FILES},
        {"KEY", FILES},  {"ID", CONTAINERS}, {"CONTAINER", CONTAINERS}, {"TRACE", FILES},
        {"SRC", FILES},  {"PUB", FILES},     {"COMMAND", COMMANDS},
    };

    for (size_t i = 0; name && i < sizeof(table) / sizeof(table[0]); i++)
        if (strstr(name, table[i].word))
            return table[i].kind;
    return NOTHING;
}

/* The choices of "on|off FILE" as a length; 0 where the first argument is not one of a few words. */
static size_t choices(const char *args)
{
    size_t len = args ? strspn(args, "abcdefghijklmnopqrstuvwxyz0123456789-|") : 0;

    return len && memchr(args, '|', len) ? len : 0;
}

static void put_choices(const char *args)
{
    size_t len = choices(args);

    for (size_t i = 0; i < len; i++)
        putchar(args[i] == '|' ? ' ' : args[i]);
}

/* Text within single quotes; `special` characters get a backslash before them. All three shells end the
 * quotes for a quote, so that it reads '\''. */
static void put_quoted(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (strchr(special, *text))
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

/* Calls put for the verb's options, then for those that every verb takes. */
static void each_option(const struct st_verb *verb,
                        void (*put)(const struct st_verb *verb, const struct st_opt *opt))
{
    const struct st_opt *tables[] = {verb->opts, st_common_opts()};

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const struct st_opt *opt = tables[i]; opt && opt->name; opt++)
            put(verb, opt);
}

/* ---- bash ---- */

static void bash_option(const struct st_verb *verb, const struct st_opt *opt)
{
    (void)verb;
    printf(" --%s", opt->name);
    if (opt->letter)
        printf(" -%c", opt->letter);
}

static const char *const bash_action[] = {":", "files=1", "ids=1", "files=1 commands=1"}; /* by enum kind */

static void bash_value(const struct st_verb *verb, const struct st_opt *opt)
{
    if (!opt->arg)
        return;
    printf("    '%s --%s'", verb->name, opt->name);
    if (opt->letter)
        printf(" | '%s -%c'", verb->name, opt->letter);
    if (choices(opt->arg)) {
        fputs(") value=1; words='", stdout);
        put_choices(opt->arg);
        fputs("' ;;\n", stdout);
    } else {
        printf(") value=1; %s ;;\n", bash_action[kind_of(opt->arg)]);
    }
}

static void bash_verb(const struct st_verb *verb)
{
    printf("    %s)\n        options='", verb->name);
    each_option(verb, bash_option);
    fputs("'\n", stdout);
    if (choices(verb->args)) {
        fputs("        if [ \"$COMP_CWORD\" -eq 2 ]; then\n            words='", stdout);
        put_choices(verb->args);
        printf("'\n        else\n            %s\n        fi\n", bash_action[kind_of(verb->args)]);
    } else {
        printf("        %s\n", bash_action[kind_of(verb->args)]);
    }
    fputs("        ;;\n", stdout);
}

static void bash(void)
{
    const struct st_verb *const *v;

    fputs("# Completion of sandtrace for bash, made by `sandtrace completion bash`.\n"
          "_sandtrace()\n{\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local words='' options='' files='' commands='' ids='' id='' value=''\n"
          "    COMPREPLY=()\n"
          "    # --option=value arrives as three words.\n"
          "    if [ \"$cur\" = = ]; then\n"
          "        cur=''\n"
          "    elif [ \"$prev\" = = ]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='help",
          stdout);
    for (v = st_verbs(); *v; v++)
        printf(" %s", (*v)->name);
    fputs(" --help --version'\n    fi\n    case \"${COMP_WORDS[1]} $prev\" in\n", stdout);
    for (v = st_verbs(); *v; v++)
        each_option(*v, bash_value);
    fputs("    esac\n    [ -n \"$value\" ] || case ${COMP_WORDS[1]} in\n    help)\n        words='", stdout);
    for (v = st_verbs(); *v; v++)
        printf(" %s", (*v)->name);
    fputs("'\n        ;;\n", stdout);
    for (v = st_verbs(); *v; v++)
        bash_verb(*v);
    fputs("    esac\n"
          "    case $cur in -*) words=\"$words $options\" ;; esac\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
          "    [ -z \"$commands\" ] || mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -c -- "
          "\"$cur\")\n"
          "    if [ -n \"$files\" ]; then\n"
          "        mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\")\n"
          "        compopt -o filenames 2>/dev/null\n"
          "    fi\n"
          "    [ -z \"$ids\" ] || for id in '" ST_RUNDIR "'/*/state.json; do\n"
          "        id=${id%/*}\n"
          "        id=${id##*/}\n"
          "        case $id in '*') ;; \"$cur\"*) COMPREPLY+=(\"$id\") ;; esac\n"
          "    done\n"
          "}\n"
          "complete -F _sandtrace sandtrace\n",
          stdout);
}

/* ---- zsh ---- */

#define ZSH_SPECIAL "[]:\\"

static void zsh_action(const char *name)
{
    static const char *const action[] = {"", "_files", "_sandtrace_ids", "_command_names -e"};

    fputc(':', stdout);
    put_quoted(name, ZSH_SPECIAL);
    if (choices(name) == strlen(name)) {
        fputs(":(", stdout);
        put_choices(name);
        fputc(')', stdout);
    } else {
        printf(":%s", action[kind_of(name)]);
    }
}

static void zsh_option(const struct st_verb *verb, const struct st_opt *opt)
{
    (void)verb;
    for (int i = 0; i < (opt->letter ? 2 : 1); i++) {
        if (i == 0)
            printf(" \\\n            '--%s%s[", opt->name, opt->arg ? "=" : "");
        else
            printf(" \\\n            '-%c[", opt->letter);
        put_quoted(opt->help, ZSH_SPECIAL);
        fputc(']', stdout);
        if (opt->arg)
            zsh_action(opt->arg);
        fputc('\'', stdout);
    }
}

static void zsh_verb(const struct st_verb *verb)
{
    printf("    %s)\n        _arguments", verb->name);
    each_option(verb, zsh_option);
    if (choices(verb->args)) {
        fputs(" \\\n            '1:what:(", stdout);
        put_choices(verb->args);
        fputs(")'", stdout);
    }
    if (verb->args && kind_of(verb->args) != NOTHING) {
        fputs(" \\\n            '*", stdout);
        zsh_action(verb->args);
        fputc('\'', stdout);
    }
    fputs("\n        ;;\n", stdout);
}

static void zsh(void)
{
    const struct st_verb *const *v;

    fputs("#compdef sandtrace\n# Completion of sandtrace for zsh, made by `sandtrace completion zsh`.\n\n"
          "_sandtrace_ids() {\n"
          "    local -a ids\n"
          "    ids=('" ST_RUNDIR "'/*/state.json(N:h:t))\n"
          "    compadd -a ids\n"
          "}\n\n"
          "_sandtrace() {\n    local -a verbs\n    verbs=(\n        'help:about a verb'\n",
          stdout);
    for (v = st_verbs(); *v; v++) {
        printf("        '%s:", (*v)->name);
        put_quoted((*v)->summary, ZSH_SPECIAL);
        fputs("'\n", stdout);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe -t verbs verb verbs\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $words[1] in\n"
          "    help)\n        _describe -t verbs verb verbs\n        ;;\n",
          stdout);
    for (v = st_verbs(); *v; v++)
        zsh_verb(*v);
    /* Loaded by the completion system, the file is the function's body; sourced, it registers itself. */
    fputs("    esac\n}\n\n"
          "if [[ $funcstack[1] == _sandtrace ]]; then\n    _sandtrace \"$@\"\nelse\n    compdef _sandtrace "
          "sandtrace\nfi\n",
          stdout);
}

/* ---- fish ---- */

#define FISH_SPECIAL "\\"

static void fish_option(const struct st_verb *verb, const struct st_opt *opt)
{
    static const char *const action[] = {" -x", " -r -F", " -x -a '(__sandtrace_ids)'",
                                         " -x -a '(__fish_complete_command)'"};

    printf("complete -c sandtrace -n '__fish_seen_subcommand_from %s' -l %s", verb->name, opt->name);
    if (opt->letter)
        printf(" -s %c", opt->letter);
    if (choices(opt->arg)) {
        fputs(" -x -a '", stdout);
        put_choices(opt->arg);
        fputc('\'', stdout);
    } else {
        fputs(opt->arg ? action[kind_of(opt->arg)] : "", stdout);
    }
    fputs(" -d '", stdout);
    put_quoted(opt->help, FISH_SPECIAL);
    fputs("'\n", stdout);
}

static void fish_verb(const struct st_verb *verb)
{
    static const char *const action[] = {"", " -F", " -a '(__sandtrace_ids)'",
                                         " -F -a '(__fish_complete_command)'"};
    enum kind kind = kind_of(verb->args);

    printf("complete -c sandtrace -n __fish_use_subcommand -a %s -d '", verb->name);
    put_quoted(verb->summary, FISH_SPECIAL);
    fputs("'\n", stdout);
    each_option(verb, fish_option);
    if (choices(verb->args)) {
        printf("complete -c sandtrace -n '__fish_seen_subcommand_from %s; and __sandtrace_first' -a '",
               verb->name);
        put_choices(verb->args);
        fputs("'\n", stdout);
    }
    if (kind != NOTHING)
        printf("complete -c sandtrace -n '__fish_seen_subcommand_from %s%s'%s\n", verb->name,
               choices(verb->args) ? "; and not __sandtrace_first" : "", action[kind]);
}

static void fish(void)
{
    fputs("# Completion of sandtrace for fish, made by `sandtrace completion fish`.\n"
          "function __sandtrace_ids\n"
          "    for f in '" ST_RUNDIR "'/*/state.json\n"
          "        basename (dirname $f)\n"
          "    end\n"
          "end\n"
          "function __sandtrace_first\n"
          "    test (count (commandline -opc)) -eq 2\n"
          "end\n"
          "complete -c sandtrace -f\n"
          "complete -c sandtrace -n __fish_use_subcommand -a help -d 'about a verb'\n"
          "complete -c sandtrace -n __fish_use_subcommand -l help -s h -d 'the verbs'\n"
          "complete -c sandtrace -n __fish_use_subcommand -l version -s V -d 'the version'\n",
          stdout);
    for (const struct st_verb *const *v = st_verbs(); *v; v++)
        fish_verb(*v);
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    char **args;
    int code = ST_EXIT_OK, n = st_opts_only_args(self, cli, argc, argv, &args, &code);

    if (n == ST_OPTS_EXIT)
        return code;
    if (n != 1)
        return st_cli_usage(self, "wants one argument, the shell: %s", self->args);
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
        if (strcmp(shells[i].name, args[0]) == 0) {
            shells[i].print();
            return code;
        }
    return st_cli_usage(self, "no completion for '%s': %s are known", args[0], self->args);
}

const struct st_verb st_verb_completion = {
    .name = "completion",
    .rare = true,
    .args = "bash|zsh|fish",
    .summary = "print a shell's completion script",
    .example = "sandtrace completion bash > /etc/bash_completion.d/sandtrace",
    .run = run,
};
