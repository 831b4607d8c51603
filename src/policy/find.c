/* find: see find.h. */
#include "policy/find.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool st_same_file(const struct layer *layer, const struct stat *sb)
{
    return layer->path && layer->dev == sb->st_dev && layer->ino == sb->st_ino;
}

char *st_find_policy(const struct st_policy_source *source, const char *name, const struct layer *skip)
{
    for (size_t i = 0; i < source->n_dirs; i++) {
        st_auto_free char *path = st_xasprintf("%s/%s.yaml", source->dirs[i], name);
        struct stat sb;

        if (stat(path, &sb) == 0 && !(skip && st_same_file(skip, &sb)))
            return st_steal_ptr(&path);
    }
    return NULL;
}

static void list_dirs(const struct st_policy_source *source, struct st_buf *out)
{
    for (size_t i = 0; i < source->n_dirs; i++)
        st_buf_addf(out, "%s%s", i ? ", " : "", source->dirs[i]);
}

char *st_find_base(const struct st_policy_source *source, const struct layer *layer, const char *name,
                   bool *beside)
{
    const char *slash = layer->by_path ? strrchr(layer->path, '/') : NULL;

    if (slash) {
        st_auto_free char *path = st_xasprintf("%.*s/%s.yaml", (int)(slash - layer->path), layer->path, name);
        struct stat sb;

        *beside = stat(path, &sb) == 0 && !st_same_file(layer, &sb);
        if (*beside)
            return st_steal_ptr(&path);
    }
    return st_find_policy(source, name, layer);
}

/* Offers the names of a directory; what is near is copied, since the entry will be gone. */
static void offer_names(const char *folder, const char *name, struct st_suggestion *best, char near[256])
{
    st_auto_dir dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        size_t len = strlen(entry->d_name);
        unsigned before = best->word ? best->distance : 99;
        char known[256];

        if (len <= 5 || strcmp(entry->d_name + len - 5, ".yaml") != 0)
            continue;
        snprintf(known, sizeof(known), "%.*s", (int)(len - 5), entry->d_name);
        st_suggest_offer(best, name, known);
        if (best->word && best->distance < before)
            snprintf(near, 256, "%s", known);
        if (best->word)
            best->word = near;
    }
}

void st_suggest_policy(const struct st_policy_source *source, const char *name, bool extended,
                       struct st_buf *out)
{
    st_auto_buf dirs = ST_BUF_INIT;
    struct st_suggestion best = {0};
    char near[256];

    /* A monitor does not look through directories for the sake of a message. */
    for (size_t i = 0; source->untrusted_ok && i < source->n_dirs; i++)
        offer_names(source->dirs[i], name, &best, near);
    if (best.word) {
        st_buf_addf(out, "did you mean `%s`?", best.word);
        return;
    }
    if (source->n_dirs)
        list_dirs(source, &dirs);
    else
        st_buf_adds(&dirs, "(no directory)");
    st_buf_addf(out,
                extended ? "put %s.yaml beside this file or into one of: %s" : "looked for %s.yaml in: %s",
                name, st_buf_cstr(&dirs));
}
