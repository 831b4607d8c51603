/* manifest: see manifest.h. */
#include "snapshot/manifest.h"

#include "base/cleanup.h"
#include "base/json_write.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MAX_POLICIES 64

static int hash_file(int fd, char hex[ST_SHA256_HEX + 1], int64_t *bytes)
{
    unsigned char digest[ST_SHA256_SIZE], block[65536];
    struct sha256_ctx ctx;
    ssize_t n;

    sha256_init(&ctx);
    *bytes = 0;
    while ((n = pread(fd, block, sizeof(block), *bytes)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0) {
            sha256_update(&ctx, (size_t)n, block);
            *bytes += n;
        }
    if (n < 0 || fsync(fd) < 0)
        return -errno;
    sha256_digest(&ctx, sizeof(digest), digest);
    st_hex(digest, sizeof(digest), hex);
    return 0;
}

/* 1: there is none such. */
static int put_file(struct st_jw *w, const struct st_folder *f, const char *name, struct st_error *err)
{
    st_auto_fd fd = openat(f->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    char hex[ST_SHA256_HEX + 1];
    int64_t bytes;

    if (fd < 0)
        return errno == ENOENT ? 1 : st_fail_errno(err, "%s", name);
    if (hash_file(fd, hex, &bytes) < 0)
        return st_fail_errno(err, "%s", name);
    st_jw_object(w);
    st_jw_kint(w, "bytes", bytes);
    st_jw_kstr(w, "name", name);
    st_jw_kstr(w, "sha256", hex);
    st_jw_end(w, '}');
    return 0;
}

static int put_files(struct st_jw *w, const struct st_folder *f, struct st_error *err)
{
    static const char *const names[] = {"changes.jsonl", "files.tar", "state.json"};
    char name[32];
    int rc = 0;

    st_jw_key(w, "contents");
    st_jw_array(w);
    for (unsigned i = 1; rc == 0 && i <= MAX_POLICIES; i++) {
        snprintf(name, sizeof(name), "policy/%u.yaml", i);
        rc = put_file(w, f, name, err);
    }
    for (size_t i = 0; rc >= 0 && i < sizeof(names) / sizeof(names[0]); i++)
        rc = put_file(w, f, names[i], err);
    st_jw_end(w, ']');
    return rc < 0 ? rc : 0;
}

int st_manifest_write(const struct st_folder *f, const struct st_manifest *m, char sha256[ST_SHA256_HEX + 1],
                      struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;
    unsigned char digest[ST_SHA256_SIZE];
    struct st_jw w;

    st_jw_init(&w, &text);
    st_jw_object(&w);
    st_jw_kstr(&w, "container", m->container);
    if (put_files(&w, f, err) < 0)
        return -err->errnum;
    st_jw_kint(&w, "deleted", m->found->deleted);
    st_jw_kstr(&w, "event_id", m->event_id);
    st_jw_kstr(&w, "failure", m->failure);
    st_jw_kint(&w, "files", m->found->files);
    st_jw_kbool(&w, "frozen", m->frozen);
    st_jw_kstr(&w, "kind", m->kind);
    st_jw_kint(&w, "max_bytes", (int64_t)m->max_bytes);
    st_jw_kint(&w, "mounts", m->found->mounts);
    st_jw_kint(&w, "omitted", m->found->omitted);
    st_jw_kint(&w, "processes", m->found->processes);
    st_jw_kstr(&w, "rootfs", m->rootfs);
    st_jw_kstr(&w, "schema_version", "1.0");
    st_jw_kint(&w, "sockets", m->found->sockets);
    st_jw_kstr(&w, "taken_at", m->taken_at);
    st_jw_kint(&w, "tar_bytes", m->found->tar_bytes);
    st_jw_kint(&w, "took_ms", m->took_ms);
    st_jw_kstr(&w, "trace_id", m->trace_id);
    st_jw_end(&w, '}');
    st_buf_addc(&text, '\n');
    st_sha256(text.data, text.len, digest);
    st_hex(digest, sizeof(digest), sha256);
    return st_folder_write(f, "snapshot.json", text.data, text.len, err);
}
