/* trust: see trust.h. */
#include "cli/trust.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "config/config.h"

#include <stdlib.h>
#include <string.h>

int st_trust_add(struct st_trust *t, const char *path, struct st_error *err)
{
    struct st_public_key key;
    int rc = st_public_key_load(path, &key, err);

    if (rc < 0)
        return rc;
    t->keys = st_xrealloc(t->keys, (t->n + 1) * sizeof(*t->keys));
    t->keys[t->n++] = key;
    return 0;
}

int st_trust_add_folder(struct st_trust *t, const char *folder, struct st_error *err)
{
    st_auto_dir dir = opendir(folder);
    struct dirent *entry;

    if (!dir)
        return errno == ENOENT || errno == EACCES ? 0 : st_fail_errno(err, "open %s", folder);
    while ((entry = readdir(dir))) {
        size_t len = strlen(entry->d_name);
        st_auto_free char *path = NULL;
        int rc;

        if (len < 5 || entry->d_name[0] == '.' || strcmp(entry->d_name + len - 4, ".pub") != 0)
            continue;
        path = st_xasprintf("%s/%s", folder, entry->d_name);
        rc = st_trust_add(t, path, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int st_trust_add_default(struct st_trust *t, const struct st_cli *cli, struct st_error *err)
{
    st_auto_config config = NULL;
    int rc = st_config_load(cli->config, &config, err);

    return rc < 0 ? rc : st_trust_add_folder(t, config->key_dir, err);
}

static bool lies_in(const char *file, const char *folder)
{
    const char *slash = strrchr(file, '/');
    st_auto_free char *above = slash ? st_xstrndup(file, (size_t)(slash - file) + 1) : st_xstrdup(".");
    st_auto_free char *a = realpath(above, NULL), *b = realpath(folder, NULL);

    return a && b && strcmp(a, b) == 0;
}

bool st_trust_wants_signature(const struct st_trust *t, bool own_keys, const struct st_cli *cli,
                              const char *file)
{
    st_auto_config config = NULL;
    struct st_error err = {0};

    if (t->n == 0 || own_keys)
        return own_keys;
    return strcmp(file, "-") != 0 && st_config_load(cli->config, &config, &err) == 0 &&
           lies_in(file, config->log_dir);
}

void st_trust_free(struct st_trust *t)
{
    free(t->keys);
    *t = (struct st_trust){0};
}
