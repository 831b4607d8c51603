/* http_secret: see http_secret.h. */
#include "desk/http_secret.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"

#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>

void st_secret_make(char out[ST_SECRET_SIZE])
{
    unsigned char bytes[ST_SECRET_BITS / 8];
    char text[ST_BASE64_LEN(sizeof(bytes))];

    randombytes_buf(bytes, sizeof(bytes));
    st_base64_encode(bytes, sizeof(bytes), text);
    for (size_t i = 0; i < ST_SECRET_LEN; i++)
        out[i] = (char)(text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i]);
    out[ST_SECRET_LEN] = '\0';
    sodium_memzero(bytes, sizeof(bytes));
    sodium_memzero(text, sizeof(text));
}

bool st_secret_is(const char *secret, const char *given, size_t len)
{
    return given && len == ST_SECRET_LEN && sodium_memcmp(secret, given, ST_SECRET_LEN) == 0;
}

static bool well_formed(const struct st_buf *b)
{
    size_t len = b->len && b->data[b->len - 1] == '\n' ? b->len - 1 : b->len;

    return len == ST_SECRET_LEN &&
           strspn(st_buf_cstr(b), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == len;
}

static int read_it(int fd, const char *path, char out[ST_SECRET_SIZE], struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;
    struct stat sb;

    if (fstat(fd, &sb) < 0)
        return st_fail_errno(err, "%s", path);
    if (!S_ISREG(sb.st_mode) || (sb.st_mode & 077) || sb.st_uid != geteuid())
        return st_fail(
            err, EPERM,
            "%s: others than its owner may have read it; remove it, and the next start makes a new one",
            path);
    if (st_read_fd(fd, 256, &text, err) < 0)
        return st_wrap(err, "%s", path);
    if (!well_formed(&text))
        return st_fail(err, EINVAL, "%s: no token; remove it, and the next start makes one", path);
    memcpy(out, text.data, ST_SECRET_LEN);
    out[ST_SECRET_LEN] = '\0';
    sodium_memzero(text.data, text.len);
    return 0;
}

/* Written whole under another name first: whoever is killed leaves no half of one. */
static int make_it(const char *path, struct st_error *err)
{
    st_auto_free char *beside = st_xasprintf("%s.%d", path, (int)getpid());
    char token[ST_SECRET_SIZE + 1];
    st_auto_fd fd = -1;
    int rc;

    unlink(beside);
    fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
    if (fd < 0)
        return st_fail_errno(err, "make %s", beside);
    st_secret_make(token);
    token[ST_SECRET_LEN] = '\n';
    rc = st_write_all(fd, token, ST_SECRET_LEN + 1);
    if (rc == 0 && fsync(fd) < 0)
        rc = -errno;
    if (rc == 0 && link(beside, path) < 0 &&
        errno != EEXIST) /* EEXIST: somebody was quicker, with another one */
        rc = -errno;
    unlink(beside);
    sodium_memzero(token, sizeof(token));
    return rc < 0 ? st_fail(err, -rc, "make %s: %s", path, strerror(-rc)) : 0;
}

int st_secret_file(const char *path, char out[ST_SECRET_SIZE], struct st_error *err)
{
    for (int round = 0;; round++) {
        st_auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);

        if (fd >= 0)
            return read_it(fd, path, out, err);
        if (errno != ENOENT || round)
            return st_fail_errno(err, "open %s", path);
        if (make_it(path, err) < 0)
            return -err->errnum;
    }
}
