/* argv: see argv.h. One table holds every command with its options; one function reads options as Go's flag
 * package does; one puts words into the order in which runc's command line library looks at them. */
#include "oci/argv.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "model/caps.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Options as words: `long,short`, with a `=` behind those that take a value. The tables are the union of
 * what runc 1.0 to 1.3 and crun know: an option that this runtime does not know makes it fail. */
#define GLOBALS                                                                                              \
    "debug log= log-format= root= criu= systemd-cgroup rootless= cgroup-manager= help,h version,v,V"
#define START_OPTIONS                                                                                        \
    "bundle,b= config,f= console-socket= pidfd-socket= pid-file= no-pivot no-new-keyring no-subreaper "      \
    "preserve-fds= "
#define CRIU_OPTIONS                                                                                         \
    "image-path= work-path= tcp-established ext-unix-sk shell-job lazy-pages file-locks "                    \
    "manage-cgroups-mode= empty-ns= auto-dedup "

struct command {
    const char *name;
    enum st_oci_command command;
    bool in_order; /* its options end at the first other word */
    const char *options;
};

static const struct command commands[] = {
    {"checkpoint", ST_OCI_CHECKPOINT, false,
     CRIU_OPTIONS "parent-path= leave-running status-fd= page-server= pre-dump"},
    {"create", ST_OCI_CREATE, false, START_OPTIONS},
    {"delete", ST_OCI_DELETE, false, "force,f regex,r"},
    {"events", ST_OCI_EVENTS, false, "interval= stats"},
    {"exec", ST_OCI_EXEC, true,
     "console-socket= pidfd-socket= cwd= env,e= tty,t user,u= additional-gids,g= process,p= detach,d "
     "pid-file= "
     "process-label= apparmor= no-new-privs cap,c= preserve-fds= cgroup= ignore-paused"},
    {"features", ST_OCI_FEATURES, false, ""},
    {"h", ST_OCI_HELP, false, ""},
    {"help", ST_OCI_HELP, false, ""},
    {"kill", ST_OCI_KILL, false, "all,a regex,r"},
    {"list", ST_OCI_LIST, false, "format,f= quiet,q"},
    {"pause", ST_OCI_PAUSE, false, ""},
    {"ps", ST_OCI_PS, true, "format,f="},
    {"restore", ST_OCI_RESTORE, false, CRIU_OPTIONS START_OPTIONS "detach,d lsm-profile= lsm-mount-context="},
    {"resume", ST_OCI_RESUME, false, ""},
    {"run", ST_OCI_RUN, false, START_OPTIONS "detach,d keep"},
    {"spec", ST_OCI_SPEC, false, "bundle,b= rootless file,f="},
    {"start", ST_OCI_START, false, ""},
    {"state", ST_OCI_STATE, false, ""},
    {"update", ST_OCI_UPDATE, false,
     "resources,r= blkio-weight= cpu-period= cpu-quota= cpu-share= cpu-burst= cpu-rt-period= cpu-rt-runtime= "
     "cpuset-cpus= cpuset-mems= cpu-idle= kernel-memory= kernel-memory-tcp= memory= memory-reservation= "
     "memory-swap= pids-limit= l3-cache-schema= mem-bw-schema="},
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define HELP_OPTION " help,h"

/* Where the values that somebody wants to know go. */
static const struct {
    const char *name;
    size_t offset;
} values[] =
    {
        {"root", offsetof(struct st_oci_args, root)},
        {"log", offsetof(struct st_oci_args, log)},
        {"log-format", offsetof(struct st_oci_args, log_format)},
        {"bundle", offsetof(struct st_oci_args, bundle)},
        {"config", offsetof(struct st_oci_args, config)},
        {"process", offsetof(struct st_oci_args, process)},
        {"pid-file", offsetof(struct st_oci_args, pid_file)},
        {"console-socket", offsetof(struct st_oci_args, console_socket)},
        {"preserve-fds", offsetof(struct st_oci_args, preserve_fds)},
},
  flags[] = {
      {"help", offsetof(struct st_oci_args, help)},
      {"version", offsetof(struct st_oci_args, version)},
      {"debug", offsetof(struct st_oci_args, debug)},
      {"systemd-cgroup", offsetof(struct st_oci_args, systemd_cgroup)},
};

struct option {
    const char *name; /* its first name, in the table */
    size_t len;
    bool takes_value;
};

/* The words to look at, in that order, as indices of argv. */
struct words {
    char *const *argv;
    int *at;
    int n;
};

static bool same(const char *a, size_t na, const char *b, size_t nb)
{
    return na == nb && memcmp(a, b, na) == 0;
}

/* Look for name in a table of options. */
static bool find_option(const char *table, const char *name, size_t len, struct option *out)
{
    for (const char *entry = table; *entry;) {
        size_t size = strcspn(entry, " ");
        bool takes_value = size && entry[size - 1] == '=';
        size_t names = size - takes_value;

        for (size_t i = 0; i < names;) {
            size_t one = strcspn(entry + i, ",= ");

            if (same(entry + i, one, name, len)) {
                *out = (struct option){entry, strcspn(entry, ",= "), takes_value};
                return true;
            }
            i += one + 1;
        }
        entry += size + strspn(entry + size, " ");
    }
    return false;
}

static int doubt(struct st_oci_args *out, const char *what, const char *word)
{
    snprintf(out->doubt, sizeof(out->doubt), "%s `%.80s`", what, word);
    return -1;
}

/* As Go reads a boolean. Returns 0, 1 or -1: not one. */
static int parse_bool(const char *s)
{
    static const char *const no[] = {"0", "f", "F", "false", "FALSE", "False"};
    static const char *const yes[] = {"1", "t", "T", "true", "TRUE", "True"};

    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
        if (strcmp(s, no[i]) == 0)
            return 0;
        if (strcmp(s, yes[i]) == 0)
            return 1;
    }
    return -1;
}

static void keep_value(struct st_oci_args *out, const struct option *option, const char *value)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        if (same(option->name, option->len, values[i].name, strlen(values[i].name)))
            *(const char **)(void *)((char *)out + values[i].offset) = value;
    if (same(option->name, option->len, "cap", strlen("cap")))
        out->grants |= st_cap_bit(value);
}

static void keep_flag(struct st_oci_args *out, const struct option *option, bool value)
{
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (same(option->name, option->len, flags[i].name, strlen(flags[i].name)))
            *(bool *)((char *)out + flags[i].offset) = value;
}

/* Split `-x`, `--x`, `-x=v`, `--x=v`. False: no option is written like this. */
static bool split_option(const char *word, const char **name, size_t *len, const char **value)
{
    const char *s = word + 1 + (word[1] == '-');
    size_t n = strcspn(s, "=");

    if (s[0] == '\0' || s[0] == '-' || s[0] == '=')
        return false;
    *name = s;
    *len = n;
    *value = s[n] ? s + n + 1 : NULL;
    return true;
}

/* Read options from words up to the first that is none. Returns how many words they took (with the `--` that
 * ends them), or -1 with the doubt: the runtime would stop here with an error, or we do not know it. */
static int read_options(const struct words *words, const char *table, enum st_oci_dialect dialect,
                        struct st_oci_args *out)
{
    int i = 0;

    while (i < words->n) {
        const char *word = words->argv[words->at[i]], *name, *value;
        struct option option;
        size_t len;
        int yes = 1;

        if (word[0] != '-' || word[1] == '\0')
            return i;
        i++;
        if (strcmp(word, "--") == 0)
            return i;
        if (!split_option(word, &name, &len, &value))
            return doubt(out, "badly written option", word);
        /* getopt would read -bundle as -b undle, and -b=x as a bundle called =x. */
        if (dialect == ST_OCI_GETOPT && word[1] != '-' && word[2] != '\0')
            return doubt(out, "short options in one word", word);
        if (!find_option(table, name, len, &option))
            return doubt(out, "unknown option", word);
        if (!option.takes_value) {
            if (value && (yes = parse_bool(value)) < 0)
                return doubt(out, "no truth value in option", word);
            keep_flag(out, &option, yes);
            continue;
        }
        if (!value) {
            if (i == words->n)
                return doubt(out, "no value for option", word);
            value = words->argv[words->at[i++]];
        }
        keep_value(out, &option, value);
    }
    return i;
}

/* Is this one of the command's options, however wrongly written? */
static bool looks_like_option(const char *table, const char *word)
{
    size_t minuses = strspn(word, "-");
    struct option option;

    if (minuses == 0 || word[minuses] == '\0')
        return false;
    if (minuses > 3)
        minuses = 3;
    return find_option(table, word + minuses, strcspn(word + minuses, "="), &option);
}

/* runc's library moves options before the other words, up to a `--`. It takes the word behind any option
 * without `=` along, even where the option has no value: `--no-pivot ID --bundle B` then has three words
 * that are no options. So do we, or we would see another command line than it does. */
static void reorder(struct words *words, const char *table)
{
    size_t room = words->n > 0 ? (size_t)words->n : 1;
    st_auto_free int *rest = st_xcalloc(room, sizeof(*rest));
    int n_moved = 0, n_rest = 0, i = 0;
    bool value_may_follow = false;

    for (; i < words->n; i++) {
        const char *word = words->argv[words->at[i]];
        bool option = looks_like_option(table, word);

        if (value_may_follow && !option) {
            value_may_follow = false;
            words->at[n_moved++] = words->at[i];
        } else if (strcmp(word, "--") == 0) {
            break;
        } else if (option) {
            words->at[n_moved++] = words->at[i];
            value_may_follow = !strchr(word, '=');
        } else {
            rest[n_rest++] = words->at[i];
        }
    }
    if (i < words->n) /* the `--` goes before all that is no option; what follows it stays */
        words->at[n_moved++] = words->at[i];
    memcpy(words->at + n_moved, rest, (size_t)n_rest * sizeof(*rest));
}

static bool edits(enum st_oci_command command)
{
    return command == ST_OCI_CREATE || command == ST_OCI_RUN || command == ST_OCI_RESTORE;
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* May what is in argv from here on start a container, if it is read in another way than ours? */
static bool might_start(int argc, char *const argv[], int from)
{
    for (int i = from; i < argc; i++) {
        const struct command *command = find_command(argv[i]);

        if (command && edits(command->command))
            return true;
    }
    return false;
}

/* create, run or restore without exactly one container: pass it on only where every runtime must fail. */
static enum st_oci_todo judge_words(const struct words *all, const struct words *left,
                                    struct st_oci_args *out)
{
    bool plain = false, dashed = false;

    if (left->n == 1)
        return ST_OCI_EDIT;
    for (int i = 0; i < all->n; i++)
        plain |= all->argv[all->at[i]][0] != '-';
    for (int i = 0; i < left->n; i++)
        dashed |= left->argv[left->at[i]][0] == '-';
    if (left->n == 0 ? !plain : !dashed)
        return ST_OCI_PASS;
    doubt(out, left->n == 0 ? "no container ID given to" : "more than a container ID given to",
          all->argv[out->command_at]);
    return ST_OCI_REFUSE;
}

static void read_command(int argc, char *const argv[], const struct command *command,
                         enum st_oci_dialect dialect, struct st_oci_args *out)
{
    int n = argc - out->command_at - 1, taken;
    st_auto_free int *at = st_xcalloc((size_t)n + 1, sizeof(*at));
    st_auto_free char *table = st_xasprintf("%s" HELP_OPTION, command->options);
    struct words all = {argv, at, n}, left;

    for (int i = 0; i < n; i++)
        at[i] = out->command_at + 1 + i;
    if (!command->in_order && dialect == ST_OCI_GO_FLAGS)
        reorder(&all, table);
    taken = read_options(&all, table, dialect, out);
    left = (struct words){argv, at + (taken < 0 ? 0 : taken), taken < 0 ? 0 : n - taken};
    if (left.n > 0) {
        out->id_at = left.at[0];
        out->id = argv[out->id_at];
        out->word = left.n > 1 ? argv[left.at[1]] : NULL;
    }
    if (!edits(command->command) || (taken >= 0 && out->help))
        return;
    if (taken >= 0) {
        out->todo = judge_words(&all, &left, out);
        return;
    }
    if (n > 1) /* one word can't be both an option that we do not know and a container */
        out->todo = ST_OCI_REFUSE;
}

void st_oci_parse_args(int argc, char *const argv[], enum st_oci_dialect dialect, struct st_oci_args *out)
{
    st_auto_free int *at = st_xcalloc((size_t)argc + 1, sizeof(*at));
    struct words words = {argv, at, argc > 0 ? argc - 1 : 0};
    const struct command *command;
    int taken;

    *out = (struct st_oci_args){.todo = ST_OCI_PASS};
    for (int i = 0; i < words.n; i++)
        at[i] = i + 1;
    taken = read_options(&words, GLOBALS, dialect, out);
    if (taken < 0) {
        if (might_start(argc, argv, 1))
            out->todo = ST_OCI_REFUSE;
        return;
    }
    if (out->help || out->version || taken == words.n)
        return;
    out->command_at = taken + 1;
    command = find_command(argv[out->command_at]);
    out->command = command ? command->command : ST_OCI_UNKNOWN_COMMAND;
    if (command)
        read_command(argc, argv, command, dialect, out);
}

enum st_oci_dialect st_oci_dialect_of(const char *runtime_path)
{
    const char *slash = strrchr(runtime_path, '/');
    const char *name = slash ? slash + 1 : runtime_path;

    return strstr(name, "crun") || strstr(name, "krun") ? ST_OCI_GETOPT : ST_OCI_GO_FLAGS;
}
