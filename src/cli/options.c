/* options: parses a verb's command line by its table, and prints its help from the same table. */
#include "base/suggest.h"
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 80 /* of a screen */

static const struct st_opt common[] = {
    {"config", 0, "FILE", "configuration file (or SANDTRACE_CONFIG)"},
    {"json", 0, NULL, "for programs: one JSON object a line"},
    {"help", 'h', NULL, "this text"},
    ST_OPT_END,
};

const struct st_opt *st_common_opts(void)
{
    return common;
}

void st_opts_begin(struct st_opts *o, const struct st_verb *verb, struct st_cli *cli, int argc, char **argv)
{
    *o = (struct st_opts){.verb = verb, .cli = cli, .argc = argc, .argv = argv, .at = 1};
}

int st_opts_args(const struct st_opts *o, char ***args)
{
    *args = o->argv + 1;
    return o->n_args;
}

__attribute__((format(printf, 2, 0))) static int vsay(const struct st_verb *verb, const char *fmt,
                                                      va_list args)
{
    fprintf(stderr, "sandtrace%s%s: ", verb ? " " : "", verb ? verb->name : "");
    vfprintf(stderr, fmt, args);
    return ST_EXIT_USAGE;
}

int st_cli_error(const struct st_verb *verb, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsay(verb, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    return ST_EXIT_USAGE;
}

int st_cli_usage(const struct st_verb *verb, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsay(verb, fmt, args);
    va_end(args);
    fprintf(stderr, "; see sandtrace %s --help\n", verb ? verb->name : "");
    return ST_EXIT_USAGE;
}

/* How wide it stands on a screen: bytes that begin a character. */
static int columns(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static int columns_of(const struct st_opt *opt)
{
    return (int)strlen(opt->name) + (opt->arg ? 1 + columns(opt->arg) : 0);
}

/* Of the longest, so that what they do stands in one column and has the rest of the line. */
static int widest(const struct st_opt *opts, int width)
{
    for (; opts && opts->name; opts++)
        if (!opts->detail && columns_of(opts) > width)
            width = columns_of(opts);
    return width;
}

static void print_options(const struct st_opt *opts, int width)
{
    for (; opts && opts->name; opts++) {
        char letter[] = "-x,";

        if (opts->detail)
            continue;
        letter[1] = opts->letter;
        printf("  %3s --%s%s%s%*s  %s\n", opts->letter ? letter : "", opts->name, opts->arg ? " " : "",
               opts->arg ? opts->arg : "", width - columns_of(opts), "", opts->help);
    }
}

/* Those that say more of another one, by name, in lines that fit a screen. */
static void print_details(const struct st_verb *verb)
{
    int at = 0;

    for (const struct st_opt *o = verb->opts; o && o->name; o++) {
        int len = (int)(strlen(o->name) + (o->arg ? strlen(o->arg) + 1 : 0)) + 3;

        if (!o->detail)
            continue;
        if (at == 0)
            at = printf("%6sand these, in man sandtrace-%s:", "", verb->name);
        else if (at + len > WIDTH)
            at = printf("\n%5s", "") - 1;
        at += printf(" --%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
    }
    if (at)
        putchar('\n');
}

void st_cli_help(const struct st_verb *verb)
{
    int width = widest(verb->opts, widest(common, 0));
    int at = printf("usage: sandtrace %s [options]", verb->name);

    if (verb->args)
        printf("%s%s", at + 1 + columns(verb->args) > WIDTH ? "\n       " : " ", verb->args);
    printf("\n\n%s\n\n", verb->summary);
    print_options(verb->opts, width);
    print_details(verb);
    print_options(common, width);
    if (verb->example)
        printf("\nexample:\n  %s\n", verb->example);
}

static int find_long(const struct st_opt *opts, const char *name, size_t len)
{
    for (int i = 0; opts && opts[i].name; i++)
        if (strlen(opts[i].name) == len && memcmp(opts[i].name, name, len) == 0)
            return i;
    return -1;
}

static int find_letter(const struct st_opt *opts, char letter)
{
    for (int i = 0; opts && opts[i].name; i++)
        if (opts[i].letter == letter)
            return i;
    return -1;
}

/* The common options act at once. Returns false where the parse is over. */
static bool take_common(struct st_opts *o, int index, const char *value, int *exit_code)
{
    if (strcmp(common[index].name, "config") == 0) {
        o->cli->config = value;
    } else if (strcmp(common[index].name, "json") == 0) {
        o->cli->json = true;
    } else {
        st_cli_help(o->verb);
        *exit_code = ST_EXIT_OK;
        return false;
    }
    return true;
}

/* One option has been recognised: fetch its value, or refuse one that it does not take. */
static bool take_value(struct st_opts *o, const struct st_opt *opt, const char *attached, int *exit_code)
{
    o->value = attached;
    if (opt->arg && !attached) {
        if (o->at >= o->argc) {
            *exit_code = st_cli_usage(o->verb, "--%s needs a value (%s)", opt->name, opt->arg);
            return false;
        }
        o->value = o->argv[o->at++];
    } else if (!opt->arg && attached) {
        *exit_code = st_cli_usage(o->verb, "--%s takes no value", opt->name);
        return false;
    }
    return true;
}

static int finish(struct st_opts *o, int own, int shared, const char *attached, int *exit_code)
{
    const struct st_opt *opt = own >= 0 ? &o->verb->opts[own] : &common[shared];

    if (!take_value(o, opt, attached, exit_code))
        return ST_OPTS_EXIT;
    if (own >= 0)
        return own;
    return take_common(o, shared, o->value, exit_code) ? st_opts_next(o, exit_code) : ST_OPTS_EXIT;
}

static int unknown_option(const struct st_opts *o, const char *word, size_t len)
{
    struct st_suggestion best = {0};
    char name[64];

    snprintf(name, sizeof(name), "%.*s", (int)len, word);
    for (const struct st_opt *opt = o->verb->opts; opt && opt->name; opt++)
        st_suggest_offer(&best, name, opt->name);
    for (const struct st_opt *opt = common; opt->name; opt++)
        st_suggest_offer(&best, name, opt->name);
    if (best.word)
        return st_cli_usage(o->verb, "unknown option --%s (did you mean --%s?)", name, best.word);
    return st_cli_usage(o->verb, "unknown option --%s", name);
}

static int long_option(struct st_opts *o, const char *word, int *exit_code)
{
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen(word);
    int own = find_long(o->verb->opts, word, len), shared = own < 0 ? find_long(common, word, len) : -1;

    if (own < 0 && shared < 0) {
        *exit_code = unknown_option(o, word, len);
        return ST_OPTS_EXIT;
    }
    return finish(o, own, shared, equals ? equals + 1 : NULL, exit_code);
}

static int letter_option(struct st_opts *o, int *exit_code)
{
    char letter = *o->cluster++;
    int own = find_letter(o->verb->opts, letter), shared = own < 0 ? find_letter(common, letter) : -1;
    const char *attached = NULL;

    if (own < 0 && shared < 0) {
        *exit_code = st_cli_usage(o->verb, "unknown option -%c", letter);
        return ST_OPTS_EXIT;
    }
    if ((own >= 0 ? o->verb->opts[own].arg : common[shared].arg) && *o->cluster) {
        attached = o->cluster;
        o->cluster = NULL;
    }
    return finish(o, own, shared, attached, exit_code);
}

int st_opts_next(struct st_opts *o, int *exit_code)
{
    if (o->cluster && *o->cluster)
        return letter_option(o, exit_code);
    o->cluster = NULL;
    while (o->at < o->argc) {
        char *word = o->argv[o->at++];

        if (o->only_args || word[0] != '-' || word[1] == '\0') {
            o->argv[1 + o->n_args++] = word;
            o->only_args |= o->verb->takes_command;
        } else if (strcmp(word, "--") == 0) {
            o->only_args = true;
        } else if (word[1] == '-') {
            return long_option(o, word + 2, exit_code);
        } else {
            o->cluster = word + 1;
            return letter_option(o, exit_code);
        }
    }
    return ST_OPTS_END;
}

int st_opts_only_args(const struct st_verb *verb, struct st_cli *cli, int argc, char **argv, char ***args,
                      int *exit_code)
{
    struct st_opts opts;

    st_opts_begin(&opts, verb, cli, argc, argv);
    if (st_opts_next(&opts, exit_code) == ST_OPTS_EXIT)
        return ST_OPTS_EXIT;
    return st_opts_args(&opts, args);
}
