/* sandtrace keygen: the key that signs the traces of this host. */
#include "audit/sign.h"
#include "base/cleanup.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "cli/verbs.h"
#include "config/config.h"

#include <stdio.h>

static const struct st_opt options[] = {
    {"key-dir", 0, "DIR", "where to put it (default: the configuration's key_dir)"},
    ST_OPT_END,
};

static void say(const struct st_cli *cli, const char *dir, const struct st_public_key *key)
{
    st_auto_buf out = ST_BUF_INIT;
    st_auto_free char *path = st_xasprintf("%s/" ST_KEY_NAME ".pub", dir);
    struct st_jw w;

    if (!cli->json) {
        printf("%s\nsecret  %s/%s.key  (keep it on this host, away from containers)\npublic  %s  (hand it to "
               "whoever "
               "verifies traces)\n",
               key->id, dir, ST_KEY_NAME, path);
        return;
    }
    st_jw_init(&w, &out);
    st_jw_object(&w);
    st_jw_kstr(&w, "key_id", key->id);
    st_jw_kstr(&w, "public", path);
    st_jw_end(&w, '}');
    puts(st_buf_cstr(&out));
}

static int run(struct st_cli *cli, const struct st_verb *self, int argc, char **argv)
{
    st_auto_config config = NULL;
    struct st_public_key key;
    struct st_error err = {0};
    const char *dir = NULL;
    struct st_opts opts;
    char **args;
    int index, code = ST_EXIT_OK;

    st_opts_begin(&opts, self, cli, argc, argv);
    while ((index = st_opts_next(&opts, &code)) >= 0)
        dir = opts.value;
    if (index == ST_OPTS_EXIT)
        return code;
    if (st_opts_args(&opts, &args) > 0)
        return st_cli_usage(self, "unexpected argument '%s'", args[0]);
    if (!dir) {
        if (st_config_load(cli->config, &config, &err) < 0)
            return st_cli_error(self, "%s", err.msg);
        dir = config->key_dir;
    }
    if (st_keygen(dir, &key, &err) < 0)
        return st_cli_error(self, "%s%s", err.msg,
                            err.errnum == EEXIST ? "; a key is never overwritten" : "");
    say(cli, dir, &key);
    return ST_EXIT_OK;
}

const struct st_verb st_verb_keygen = {
    .name = "keygen",
    .rare = true,
    .summary = "make the key that signs the traces of this host",
    .example = "sandtrace keygen --key-dir /etc/sandtrace/keys",
    .opts = options,
    .run = run,
};
