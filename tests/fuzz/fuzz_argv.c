/* Any command line: no crash, and what our reading of it must always be true of. The first byte chooses the
 * dialect, the rest are words that end with a newline. */
#include "oci/argv.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool starts(const char *word)
{
    return strcmp(word, "create") == 0 || strcmp(word, "run") == 0 || strcmp(word, "restore") == 0;
}

static bool among(int argc, char *const argv[], const char *s)
{
    for (int i = 0; i < argc; i++)
        if (s >= argv[i] && s <= argv[i] + strlen(argv[i]))
            return true;
    return s == NULL;
}

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check(int argc, char *const argv[], enum st_oci_dialect dialect, const struct st_oci_args *a)
{
    char *debug[MAX_WORDS + 3];
    struct st_oci_args again;
    bool may_start = false;

    for (int i = 1; i < argc; i++)
        may_start |= starts(argv[i]);
    demand(may_start || a->todo == ST_OCI_PASS);
    demand(a->todo != ST_OCI_EDIT || (a->id && a->id == argv[a->id_at] && starts(argv[a->command_at])));
    demand(a->todo != ST_OCI_REFUSE || a->doubt[0]);
    demand(among(argc, argv, a->bundle) && among(argc, argv, a->config) && among(argc, argv, a->log) &&
           among(argc, argv, a->root) && among(argc, argv, a->log_format));
    if (argc < 1)
        return;
    /* One more option that every runtime knows must change nothing. */
    debug[0] = argv[0];
    debug[1] = (char[]){"--debug"};
    memcpy(debug + 2, argv + 1, (size_t)argc * sizeof(*argv));
    st_oci_parse_args(argc + 1, debug, dialect, &again);
    demand(again.todo == a->todo && again.command == a->command && again.id == a->id &&
           again.bundle == a->bundle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum st_oci_dialect dialect = size && data[0] & 1 ? ST_OCI_GETOPT : ST_OCI_GO_FLAGS;
    st_auto_free char *text = st_xstrndup(size ? (const char *)data + 1 : "", size ? size - 1 : 0);
    char *argv[MAX_WORDS + 2] = {0};
    struct st_oci_args args;
    int argc = 0;

    for (char *at = text; *at && argc < MAX_WORDS;) {
        char *end = at + strcspn(at, "\n");
        bool more = *end;

        *end = '\0';
        argv[argc++] = at;
        at = end + more;
    }
    st_oci_parse_args(argc, argv, dialect, &args);
    check(argc, argv, dialect, &args);
    return 0;
}
