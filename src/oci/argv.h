/* argv: what an OCI runtime's command line asks for, read as runc (or crun) itself will read it.
 *
 * By known arity, never by looking for a word: a container may be called `create`, a log file `run`. The
 * command line is not changed and nothing is copied. Where we can't be sure that the runtime will see the
 * same command and the same bundle, a command that starts a container is refused, not passed on. */
#pragma once

#include <stdbool.h>

enum st_oci_command {
    ST_OCI_NO_COMMAND,
    ST_OCI_UNKNOWN_COMMAND,
    ST_OCI_CHECKPOINT,
    ST_OCI_CREATE,
    ST_OCI_DELETE,
    ST_OCI_EVENTS,
    ST_OCI_EXEC,
    ST_OCI_FEATURES,
    ST_OCI_HELP,
    ST_OCI_KILL,
    ST_OCI_LIST,
    ST_OCI_PAUSE,
    ST_OCI_PS,
    ST_OCI_RESTORE,
    ST_OCI_RESUME,
    ST_OCI_RUN,
    ST_OCI_SPEC,
    ST_OCI_START,
    ST_OCI_STATE,
    ST_OCI_UPDATE
};

/* How the real runtime reads options: runc by Go's flag package, crun by getopt. */
enum st_oci_dialect { ST_OCI_GO_FLAGS, ST_OCI_GETOPT };

enum st_oci_todo {
    ST_OCI_PASS,  /* exec the runtime: it starts no container, or fails with words of its own */
    ST_OCI_EDIT,  /* create, run, restore: edit the bundle, then exec */
    ST_OCI_REFUSE /* a container might be started past us; doubt says why */
};

struct st_oci_args { /* strings are those of argv; NULL: not given */
    enum st_oci_todo todo;
    enum st_oci_command command;
    int command_at, id_at; /* index in argv; 0: none */
    const char *id;
    const char *word; /* after the ID: of kill, the signal */
    const char *bundle;
    const char *config; /* crun's --config */
    const char *root, *log, *log_format;
    const char *process, *pid_file, *console_socket, *preserve_fds;
    unsigned grants;    /* of exec, by --cap: caps.h */
    bool help, version; /* asked of the runtime, or (help) of the command */
    bool debug, systemd_cgroup;
    char doubt[256];
};

void st_oci_parse_args(int argc, char *const argv[], enum st_oci_dialect dialect, struct st_oci_args *out);

/* By the name of its program: crun and what is built on it read by getopt. */
enum st_oci_dialect st_oci_dialect_of(const char *runtime_path);
