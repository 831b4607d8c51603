/* sign: see sign.h. The secret lives in one struct that is wiped when freed; buffers that held its text
 * are wiped as well. */
#include "audit/sign.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sha256.h"

#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>

#define SECRET_WORD "sandtrace-ed25519-secret "
#define PUBLIC_WORD "sandtrace-ed25519-public "
#define SEED_SIZE crypto_sign_SEEDBYTES
#define LINE_MAX_SIZE 128

_Static_assert(ST_PUBLIC_KEY_SIZE == crypto_sign_PUBLICKEYBYTES, "Ed25519 public keys have 32 bytes");
_Static_assert(ST_SIGNATURE_SIZE == crypto_sign_BYTES, "Ed25519 signatures have 64 bytes");
_Static_assert(SEED_SIZE == 32, "Ed25519 seeds have 32 bytes");

struct st_signer {
    struct st_public_key public;
    unsigned char secret[crypto_sign_SECRETKEYBYTES];
};

static void set_id(struct st_public_key *key)
{
    unsigned char digest[ST_SHA256_SIZE];
    char hex[ST_SHA256_HEX + 1];

    st_sha256(key->bytes, sizeof(key->bytes), digest);
    st_hex(digest, sizeof(digest), hex);
    snprintf(key->id, sizeof(key->id), "ed25519:%.16s", hex);
}

/* One line: word, base64 of exactly 32 bytes, newline, end. */
static bool parse_line(const char *text, size_t len, const char *word, unsigned char out[32])
{
    size_t skip = strlen(word);

    if (len != skip + ST_BASE64_LEN(32) + 1 || text[len - 1] != '\n' || memcmp(text, word, skip) != 0)
        return false;
    return st_base64_decode(text + skip, len - skip - 1, out, 32) == 32;
}

static size_t format_line(char out[LINE_MAX_SIZE], const char *word, const unsigned char bytes[32])
{
    size_t len = strlen(word);

    memcpy(out, word, len);
    len += st_base64_encode(bytes, 32, out + len);
    out[len++] = '\n';
    return len;
}

/* Who may read or change the key may forge traces. */
static int check_secret_file(int fd, const char *path, struct st_error *err)
{
    struct stat sb;

    if (fstat(fd, &sb) < 0)
        return st_fail_errno(err, "stat %s", path);
    if (!S_ISREG(sb.st_mode))
        return st_fail(err, EINVAL, "%s: not a regular file", path);
    if (sb.st_uid != 0 && sb.st_uid != geteuid())
        return st_fail(err, EPERM, "%s: belongs to uid %u: a signing key must belong to root or to its user",
                       path, (unsigned)sb.st_uid);
    if (sb.st_mode & 077)
        return st_fail(err, EPERM,
                       "%s: mode %04o lets others use the signing key; chmod 0600 it, and make a new "
                       "key if others had access",
                       path, (unsigned)sb.st_mode & 07777);
    return 0;
}

static int read_secret(const char *path, unsigned char seed[SEED_SIZE], struct st_error *err)
{
    st_auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK);
    char line[LINE_MAX_SIZE];
    ssize_t n;
    bool good;
    int rc;

    if (fd < 0)
        return st_fail_errno(err, "open %s", path);
    rc = check_secret_file(fd, path, err);
    if (rc < 0)
        return rc;
    do
        n = read(fd, line, sizeof(line));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return st_fail_errno(err, "read %s", path);
    good = parse_line(line, (size_t)n, SECRET_WORD, seed);
    sodium_memzero(line, sizeof(line));
    return good ? 0 : st_fail(err, EINVAL, "%s: not a sandtrace signing key", path);
}

int st_signer_load(const char *key_dir, struct st_signer **out, struct st_error *err)
{
    st_auto_free char *path = st_xasprintf("%s/" ST_KEY_NAME ".key", key_dir);
    unsigned char seed[SEED_SIZE];
    struct st_signer *s;
    int rc;

    if (sodium_init() < 0)
        return st_fail(err, EIO, "libsodium could not be initialised");
    rc = read_secret(path, seed, err);
    if (rc < 0)
        return rc;
    s = st_xcalloc(1, sizeof(*s));
    crypto_sign_seed_keypair(s->public.bytes, s->secret, seed);
    sodium_memzero(seed, sizeof(seed));
    set_id(&s->public);
    *out = s;
    return 0;
}

void st_signer_free(struct st_signer *s)
{
    if (!s)
        return;
    sodium_memzero(s, sizeof(*s));
    free(s);
}

void st_signer_freep(struct st_signer **s)
{
    st_signer_free(*s);
    *s = NULL;
}

const struct st_public_key *st_signer_public(const struct st_signer *s)
{
    return &s->public;
}

void st_sign(const struct st_signer *s, const void *message, size_t n, unsigned char out[ST_SIGNATURE_SIZE])
{
    if (crypto_sign_detached(out, NULL, message, n, s->secret) != 0)
        abort();
}

bool st_signature_valid(const struct st_public_key *key, const void *message, size_t n,
                        const unsigned char signature[ST_SIGNATURE_SIZE])
{
    return crypto_sign_verify_detached(signature, message, n, key->bytes) == 0;
}

int st_public_key_load(const char *path, struct st_public_key *out, struct st_error *err)
{
    st_auto_buf text = ST_BUF_INIT;
    int rc = st_read_file(path, LINE_MAX_SIZE, &text, err);

    if (rc < 0)
        return rc;
    if (!parse_line(text.data, text.len, PUBLIC_WORD, out->bytes))
        return st_fail(err, EINVAL, "%s: not a sandtrace public key", path);
    set_id(out);
    return 0;
}

static int write_new(int dirfd, const char *name, mode_t mode, const char *text, size_t n,
                     struct st_error *err)
{
    st_auto_fd fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    int rc;

    if (fd < 0)
        return st_fail_errno(err, "create %s", name);
    rc = fchmod(fd, mode) < 0 ? -errno : st_write_all(fd, text, n);
    if (rc == 0 && fsync(fd) < 0)
        rc = -errno;
    if (rc < 0) {
        unlinkat(dirfd, name, 0);
        return st_fail(err, -rc, "write %s: %s", name, strerror(-rc));
    }
    return 0;
}

static int write_pair(int dirfd, const unsigned char seed[SEED_SIZE], const struct st_public_key *public,
                      struct st_error *err)
{
    char line[LINE_MAX_SIZE];
    int rc;

    if (faccessat(dirfd, ST_KEY_NAME ".pub", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return st_fail(err, EEXIST, "%s.pub is there already", ST_KEY_NAME);
    rc = write_new(dirfd, ST_KEY_NAME ".key", 0600, line, format_line(line, SECRET_WORD, seed), err);
    sodium_memzero(line, sizeof(line));
    if (rc < 0)
        return rc;
    rc = write_new(dirfd, ST_KEY_NAME ".pub", 0644, line, format_line(line, PUBLIC_WORD, public->bytes), err);
    if (rc < 0)
        unlinkat(dirfd, ST_KEY_NAME ".key", 0);
    else if (fsync(dirfd) < 0)
        return st_fail_errno(err, "sync the key directory");
    return rc;
}

int st_keygen(const char *key_dir, struct st_public_key *out, struct st_error *err)
{
    unsigned char seed[SEED_SIZE], secret[crypto_sign_SECRETKEYBYTES];
    st_auto_fd dirfd = -1;
    int rc;

    if (sodium_init() < 0)
        return st_fail(err, EIO, "libsodium could not be initialised");
    rc = st_mkdir_p(key_dir, 0755, err);
    if (rc < 0)
        return rc;
    dirfd = open(key_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dirfd < 0)
        return st_fail_errno(err, "open %s", key_dir);
    randombytes_buf(seed, sizeof(seed));
    crypto_sign_seed_keypair(out->bytes, secret, seed);
    sodium_memzero(secret, sizeof(secret));
    set_id(out);
    rc = write_pair(dirfd, seed, out, err);
    sodium_memzero(seed, sizeof(seed));
    return rc < 0 ? st_wrap(err, "%s", key_dir) : 0;
}
