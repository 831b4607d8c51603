/* cli: the frame that every verb of `sandtrace` hangs in.
 *
 * A verb is one file with one const struct: its name, its options as a table, its function. Help,
 * parsing and shell completion all come from that table, so that they can't disagree. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Exit codes of every verb (formats.md, 3). */
#define ST_EXIT_OK 0
#define ST_EXIT_FAILED 1 /* the answer is no: chain broken, policy violated, test failed */
#define ST_EXIT_USAGE 2  /* could not be read, bad usage, could not be done */

struct st_opt {
    const char *name; /* long name, without dashes; NULL ends the table */
    char letter;      /* 0: none */
    const char *arg;  /* NULL: a flag */
    const char *help;
    bool detail; /* of another option: the help only names it, the man page tells */
};

#define ST_OPT_END                                                                                           \
    {                                                                                                        \
        0                                                                                                    \
    }

/* What the global options say; handed to every verb. */
struct st_cli {
    const char *config; /* --config, or NULL */
    bool json;          /* --json */
    bool color;         /* standard output takes colours */
};

struct st_verb {
    const char *name;
    const char *args; /* "FILE…"; "on|off FILE" where the first is one of a few words */
    const char *summary;
    const char *example;
    const struct st_opt *opts;
    bool rare;          /* the help only names it */
    bool takes_command; /* the first argument is a command: what follows belongs to it, options too */
    /* argv[0] is the verb; returns an exit code. */
    int (*run)(struct st_cli *cli, const struct st_verb *self, int argc, char **argv);
};

/* NULL-terminated, in the order of the help. */
const struct st_verb *const *st_verbs(void);

/* The options that every verb takes. */
const struct st_opt *st_common_opts(void);

/* ---- parsing: options in any order among the arguments, until `--` (or a command) ---- */

struct st_opts {
    const struct st_verb *verb;
    struct st_cli *cli;
    int argc;
    char **argv;
    int at;              /* next word */
    int n_args;          /* words that are no options, moved to the front of argv + 1 */
    bool only_args;      /* after `--` */
    const char *cluster; /* rest of a -abc group */
    const char *value;   /* argument of the option just returned */
};

#define ST_OPTS_END (-1)
#define ST_OPTS_EXIT (-2) /* --help was shown, or an error was printed: return st_opts_exit_code() */

void st_opts_begin(struct st_opts *o, const struct st_verb *verb, struct st_cli *cli, int argc, char **argv);

/* Index into verb->opts, or ST_OPTS_END, or ST_OPTS_EXIT. --json, --config and --help are known to
 * every verb and never returned. */
int st_opts_next(struct st_opts *o, int *exit_code);

/* After ST_OPTS_END: the arguments. */
int st_opts_args(const struct st_opts *o, char ***args);

/* The whole parse for a verb without options of its own: the number of arguments, or ST_OPTS_EXIT. */
int st_opts_only_args(const struct st_verb *verb, struct st_cli *cli, int argc, char **argv, char ***args,
                      int *exit_code);

/* ---- saying things ---- */

/* "sandtrace VERB: …" on standard error. Returns ST_EXIT_USAGE. */
int st_cli_error(const struct st_verb *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As st_cli_error, with a pointer to --help. */
int st_cli_usage(const struct st_verb *verb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void st_cli_help(const struct st_verb *verb);
