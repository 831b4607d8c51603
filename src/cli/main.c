/* sandtrace: the person's command. main is a table of verbs, one file each. */
#include "base/suggest.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void help(FILE *out)
{
    fputs("usage: sandtrace VERB [options] [arguments]; for example: sudo sandtrace demo\n"
          "Watch containers from the host, hold what goes too far, prove what happened.\n\n",
          out);
    for (const struct st_verb *const *v = st_verbs(); *v; v++)
        if (!(*v)->rare)
            fprintf(out, "  %-12s %s\n", (*v)->name, (*v)->summary);
    fputs("also:", out);
    for (const struct st_verb *const *v = st_verbs(); *v; v++)
        if ((*v)->rare)
            fprintf(out, " %s", (*v)->name);
    fputs("; more: VERB --help, man sandtrace\n", out);
}

static const struct st_verb *find_verb(const char *name)
{
    for (const struct st_verb *const *v = st_verbs(); *v; v++)
        if (strcmp((*v)->name, name) == 0)
            return *v;
    return NULL;
}

static bool wants_color(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

static int no_such_verb(const char *name)
{
    struct st_suggestion best = {0};

    for (const struct st_verb *const *v = st_verbs(); *v; v++)
        st_suggest_offer(&best, name, (*v)->name);
    if (best.word)
        return st_cli_error(NULL, "no such verb '%s', did you mean '%s'? sandtrace --help lists them all",
                            name, best.word);
    return st_cli_error(NULL, "no such verb '%s'; sandtrace --help lists them", name);
}

/* `sandtrace help VERB` is `sandtrace VERB --help`. */
static int help_about(const char *name)
{
    const struct st_verb *verb = find_verb(name);

    if (!verb)
        return no_such_verb(name);
    st_cli_help(verb);
    return ST_EXIT_OK;
}

static int flushed(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("sandtrace: standard output");
        return code == ST_EXIT_OK ? ST_EXIT_USAGE : code;
    }
    return code;
}

int main(int argc, char **argv)
{
    struct st_cli cli = {.color = wants_color()};
    const struct st_verb *verb;

    if (argc < 2) {
        help(stderr);
        return ST_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        puts("sandtrace " PACKAGE_VERSION);
        return flushed(ST_EXIT_OK);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        if (argc > 2)
            return flushed(help_about(argv[2]));
        help(stdout);
        return flushed(ST_EXIT_OK);
    }
    verb = find_verb(argv[1]);
    if (!verb)
        return no_such_verb(argv[1]);
    return flushed(verb->run(&cli, verb, argc - 1, argv + 1));
}
