/* hashes: see hashes.h. */
#include "monitor/hashes.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define CHUNK 65536
#define SETTLED_NS                                                                                           \
    1000000000 /* clocks of file systems tick slowly: two changes within a tick look like one */

static int64_t nanoseconds(const struct statx_timestamp *t)
{
    return t->tv_sec * 1000000000 + t->tv_nsec;
}

static struct st_hashed key_of(const struct statx *sx)
{
    return (struct st_hashed){.dev = makedev(sx->stx_dev_major, sx->stx_dev_minor),
                              .ino = sx->stx_ino,
                              .size = sx->stx_size,
                              .mtime_ns = nanoseconds(&sx->stx_mtime),
                              .ctime_ns = nanoseconds(&sx->stx_ctime)};
}

static bool is_same(const struct st_hashed *a, const struct st_hashed *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns &&
           a->ctime_ns == b->ctime_ns;
}

/* All that is there, but no more than so much: it may grow while it is read. */
static bool read_all(int fd, uint64_t most, char out[ST_SHA256_HEX + 1])
{
    unsigned char digest[ST_SHA256_SIZE];
    struct sha256_ctx ctx;
    uint64_t at = 0;
    char bytes[CHUNK];
    ssize_t n;

    sha256_init(&ctx);
    while ((n = pread(fd, bytes, sizeof(bytes), (off_t)at)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || (at += (uint64_t)n) > most)
            return false;
        sha256_update(&ctx, (size_t)n, (const uint8_t *)bytes);
    }
    sha256_digest(&ctx, sizeof(digest), digest);
    st_hex(digest, sizeof(digest), out);
    return true;
}

bool st_hashes_of(struct st_hashes *h, int fd, const struct statx *sx, uint64_t most, bool fresh,
                  char out[ST_SHA256_HEX + 1])
{
    struct st_hashed key = key_of(sx), *place = &h->known[(key.ino ^ key.dev * 31) % ST_HASHES];

    if (!S_ISREG(sx->stx_mode) || sx->stx_size > most)
        return false;
    if (!fresh && place->hex[0] && is_same(place, &key)) {
        memcpy(out, place->hex, sizeof(place->hex));
        return true;
    }
    h->read++;
    if (!read_all(fd, most, out))
        return false;
    if (st_now_wall_us() * 1000 - key.ctime_ns < SETTLED_NS)
        return true;
    *place = key;
    memcpy(place->hex, out, sizeof(place->hex));
    return true;
}

bool st_is_being_written(int fd)
{
    if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
        return errno == EAGAIN;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
}
