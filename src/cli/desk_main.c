/* sandtrace-desk: the server of the review desk, started by `sandtrace serve` with its options as words.
 *
 * This process holds the socket and keeps two others alive: one that reads the traces into the database
 * (sandtrace index --follow), and one that speaks HTTP. It parses nothing that anybody else wrote. Both end
 * with it. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "cli/control_client.h"
#include "cli/desk_place.h"
#include "cli/desk_serve.h"
#include "cli/desk_watch.h"
#include "desk/db.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

struct args {
    const char *config, *db, *listen, *sandtrace;
    bool read_only, metrics_open, no_index, no_link;
};

static void read_args(int argc, char **argv, struct args *a)
{
    *a = (struct args){.listen = ST_DESK_LISTEN};
    for (int i = 1; i < argc; i++) {
        const struct {
            const char *name;
            const char **value;
            bool *flag;
        } known[] = {
            {"config=", &a->config, NULL},      {"db=", &a->db, NULL},
            {"listen=", &a->listen, NULL},      {"sandtrace=", &a->sandtrace, NULL},
            {"read-only", NULL, &a->read_only}, {"metrics-open", NULL, &a->metrics_open},
            {"no-index", NULL, &a->no_index},   {"no-open-link", NULL, &a->no_link},
        };

        for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
            size_t len = strlen(known[k].name);

            if (known[k].value && strncmp(argv[i], known[k].name, len) == 0)
                *known[k].value = argv[i] + len;
            if (known[k].flag && strcmp(argv[i], known[k].name) == 0)
                *known[k].flag = true;
        }
    }
}

static int token_of(const char *db, char token[ST_SECRET_SIZE], struct st_error *err)
{
    const char *slash = strrchr(db, '/');
    st_auto_free char *path = st_xasprintf("%.*sdesk.token", slash ? (int)(slash - db) + 1 : 0, db);

    return st_secret_file(path, token, err);
}

static void say(const struct args *a, const struct st_desk_place *p, const struct st_desk_order *o)
{
    char url[64];

    st_desk_place_url(p, url, sizeof(url));
    if (p->local)
        printf("listening at %s\n", p->path);
    if (o->code[0])
        printf("log in once, within ten minutes: %s/login?code=%s\n", url, o->code);
    else if (!p->local)
        printf("listening at %s/sandbox-audit\n", url);
    if (a->read_only)
        printf("read-only: nothing can be approved, denied, paused or killed here\n");
    fflush(stdout);
}

static int run(const struct args *a, struct st_error *err)
{
    st_auto_config config = NULL;
    struct st_desk_place place;
    struct st_desk_order o = {.read_only = a->read_only, .metrics_open = a->metrics_open, .ask_fd = -1};
    st_auto_fd fd = -1;
    gid_t gid = (gid_t)-1;
    long group;

    if (st_config_load(a->config, &config, err) < 0 || st_desk_place_parse(a->listen, &place, err) < 0 ||
        st_config_control_gid(config, "/etc/group", &gid, err) < 0)
        return -err->errnum;
    group = gid == (gid_t)-1 ? -1 : (long)gid;
    o.config = config;
    o.config_file = a->config;
    o.sandtrace = a->sandtrace ? a->sandtrace : "/usr/bin/sandtrace";
    o.db = a->db ? a->db : config->events_db;
    o.gid = group;
    o.quarantine_dir = config->quarantine_dir;
    o.user = st_login_name();
    if (st_db_make_folder(o.db, err) < 0 || token_of(o.db, o.token, err) < 0)
        return -err->errnum;
    fd = st_desk_place_open(&place, group, err);
    if (fd < 0)
        return -err->errnum;
    if (!a->no_link)
        st_secret_make(o.code);
    o.listen_fd = fd;
    o.local = place.local;
    say(a, &place, &o);
    return st_desk_watch(&o, !a->no_index, place.local ? place.path : NULL, err);
}

int main(int argc, char **argv)
{
    struct st_error err = {0};
    struct args a;

    read_args(argc, argv, &a);
    if (sodium_init() < 0)
        return 2;
    if (run(&a, &err) == 0)
        return 0;
    fprintf(stderr, "sandtrace serve: %s\n", err.msg);
    return 2;
}
