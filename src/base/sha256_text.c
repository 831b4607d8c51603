/* sha256_text: see sha256_text.h. */
#include "base/sha256_text.h"

#include <string.h>

static void hash_by_nettle(const struct st_sha256_text *text, unsigned char out[ST_SHA256_SIZE])
{
    struct sha256_ctx ctx;

    sha256_init(&ctx);
    for (size_t i = 0; i < ST_SHA256_PARTS; i++)
        if (text->parts[i].n)
            sha256_update(&ctx, text->parts[i].n, (const uint8_t *)text->parts[i].p);
    sha256_digest(&ctx, ST_SHA256_SIZE, out);
}

#ifdef __x86_64__

#include <cpuid.h>
#include <immintrin.h>

#define BLOCK 64
#define TEXT_MAX 4096 /* longer texts go to nettle */
#define SHA_TARGET __attribute__((target("sha,sse4.1")))
#define SHA_INLINE static inline __attribute__((always_inline, target("sha,sse4.1")))

static const uint32_t round_constants[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* One hash on its way: the state as the instructions want it, the words of the block, each register a name of
 * its own so that the compiler keeps them in registers. */
struct lane {
    __m128i abef, cdgh, w0, w1, w2, w3, abef_before, cdgh_before;
    const uint8_t *p;
};

SHA_INLINE void begin(struct lane *l, const uint8_t *p)
{
    *l = (struct lane){.abef = _mm_set_epi32(0x6a09e667, (int)0xbb67ae85, 0x510e527f, (int)0x9b05688c),
                       .cdgh = _mm_set_epi32(0x3c6ef372, (int)0xa54ff53a, 0x1f83d9ab, 0x5be0cd19),
                       .p = p};
}

SHA_INLINE __m128i load_words(const uint8_t *p)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);

    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), swap);
}

SHA_INLINE void open_block(struct lane *l)
{
    l->abef_before = l->abef;
    l->cdgh_before = l->cdgh;
    l->w0 = load_words(l->p);
    l->w1 = load_words(l->p + 16);
    l->w2 = load_words(l->p + 32);
    l->w3 = load_words(l->p + 48);
    l->p += BLOCK;
}

SHA_INLINE void close_block(struct lane *l)
{
    l->abef = _mm_add_epi32(l->abef, l->abef_before);
    l->cdgh = _mm_add_epi32(l->cdgh, l->cdgh_before);
}

SHA_INLINE void four_rounds(struct lane *l, __m128i words, const uint32_t *constants)
{
    __m128i sum = _mm_add_epi32(words, _mm_load_si128((const __m128i *)(const void *)constants));

    l->cdgh = _mm_sha256rnds2_epu32(l->cdgh, l->abef, sum);
    l->abef = _mm_sha256rnds2_epu32(l->abef, l->cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

/* The words of sixteen rounds later, from those of now and of the twelve rounds behind them. */
SHA_INLINE __m128i schedule(__m128i now, __m128i next, __m128i third, __m128i fourth)
{
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(now, next), _mm_alignr_epi8(fourth, third, 4));

    return _mm_sha256msg2_epu32(sum, fourth);
}

#define ROUNDS(l, w, k) four_rounds(l, (l)->w, k)
#define SCHEDULE(l, a, b, c, d) ((l)->a = schedule((l)->a, (l)->b, (l)->c, (l)->d))
#define BOTH_ROUNDS(w, k) (ROUNDS(&x, w, k), ROUNDS(&y, w, k))
#define BOTH_SCHEDULE(a, b, c, d) (SCHEDULE(&x, a, b, c, d), SCHEDULE(&y, a, b, c, d))

SHA_TARGET static void one_lane(struct lane *lane, size_t blocks)
{
    struct lane x = *lane;

    while (blocks--) {
        const uint32_t *k = round_constants;

        open_block(&x);
#pragma GCC unroll 3
        for (unsigned i = 0; i < 3; i++, k += 16) {
            ROUNDS(&x, w0, k);
            SCHEDULE(&x, w0, w1, w2, w3);
            ROUNDS(&x, w1, k + 4);
            SCHEDULE(&x, w1, w2, w3, w0);
            ROUNDS(&x, w2, k + 8);
            SCHEDULE(&x, w2, w3, w0, w1);
            ROUNDS(&x, w3, k + 12);
            SCHEDULE(&x, w3, w0, w1, w2);
        }
        ROUNDS(&x, w0, k);
        ROUNDS(&x, w1, k + 4);
        ROUNDS(&x, w2, k + 8);
        ROUNDS(&x, w3, k + 12);
        close_block(&x);
    }
    *lane = x;
}

SHA_TARGET static void two_lanes(struct lane lanes[2], size_t blocks)
{
    struct lane x = lanes[0], y = lanes[1];

    while (blocks--) {
        const uint32_t *k = round_constants;

        open_block(&x);
        open_block(&y);
#pragma GCC unroll 3
        for (unsigned i = 0; i < 3; i++, k += 16) {
            BOTH_ROUNDS(w0, k);
            BOTH_SCHEDULE(w0, w1, w2, w3);
            BOTH_ROUNDS(w1, k + 4);
            BOTH_SCHEDULE(w1, w2, w3, w0);
            BOTH_ROUNDS(w2, k + 8);
            BOTH_SCHEDULE(w2, w3, w0, w1);
            BOTH_ROUNDS(w3, k + 12);
            BOTH_SCHEDULE(w3, w0, w1, w2);
        }
        BOTH_ROUNDS(w0, k);
        BOTH_ROUNDS(w1, k + 4);
        BOTH_ROUNDS(w2, k + 8);
        BOTH_ROUNDS(w3, k + 12);
        close_block(&x);
        close_block(&y);
    }
    lanes[0] = x;
    lanes[1] = y;
}

SHA_TARGET static void finish(const struct lane *l, unsigned char out[ST_SHA256_SIZE])
{
    uint32_t abef[4], cdgh[4];

    _mm_storeu_si128((__m128i *)(void *)abef, l->abef);
    _mm_storeu_si128((__m128i *)(void *)cdgh, l->cdgh);
    const uint32_t h[8] = {abef[3], abef[2], cdgh[3], cdgh[2], abef[1], abef[0], cdgh[1], cdgh[0]};
    for (size_t i = 0; i < 8; i++) {
        uint32_t big = __builtin_bswap32(h[i]);

        memcpy(out + 4 * i, &big, 4);
    }
}

static size_t length_of(const struct st_sha256_text *t)
{
    size_t n = 0;

    for (size_t i = 0; i < ST_SHA256_PARTS; i++)
        n += t->parts[i].n;
    return n;
}

/* The parts in one piece, padded; returns the number of blocks. */
static size_t gather(const struct st_sha256_text *t, size_t len, uint8_t *out)
{
    size_t blocks = (len + 8) / BLOCK + 1;
    uint64_t bits = __builtin_bswap64((uint64_t)len * 8);
    uint8_t *p = out;

    for (size_t i = 0; i < ST_SHA256_PARTS; i++)
        if (t->parts[i].n) {
            memcpy(p, t->parts[i].p, t->parts[i].n);
            p += t->parts[i].n;
        }
    memset(p, 0, blocks * BLOCK - len);
    *p = 0x80;
    memcpy(out + blocks * BLOCK - 8, &bits, 8);
    return blocks;
}

bool st_sha256_instructions(void)
{
    unsigned a, b, c, d, sse41;

    if (!__get_cpuid(1, &a, &b, &c, &d))
        return false;
    sse41 = c >> 19 & 1;
    return sse41 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}

SHA_TARGET static void hash_one(const struct st_sha256_text *text, size_t len,
                                unsigned char out[ST_SHA256_SIZE])
{
    uint8_t room[TEXT_MAX + 2 * BLOCK];
    struct lane lane;

    begin(&lane, room);
    one_lane(&lane, gather(text, len, room));
    finish(&lane, out);
}

SHA_TARGET static void hash_two(const struct st_sha256_text texts[2], const size_t lengths[2],
                                unsigned char out[2][ST_SHA256_SIZE])
{
    uint8_t room[2][TEXT_MAX + 2 * BLOCK];
    struct lane lanes[2];
    size_t blocks[2], both;

    for (int i = 0; i < 2; i++) {
        begin(&lanes[i], room[i]);
        blocks[i] = gather(&texts[i], lengths[i], room[i]);
    }
    both = blocks[0] < blocks[1] ? blocks[0] : blocks[1];
    two_lanes(lanes, both);
    for (int i = 0; i < 2; i++) {
        one_lane(&lanes[i], blocks[i] - both);
        finish(&lanes[i], out[i]);
    }
}

void st_sha256_one(bool instructions, const struct st_sha256_text *text, unsigned char out[ST_SHA256_SIZE])
{
    size_t len = length_of(text);

    if (instructions && len <= TEXT_MAX)
        hash_one(text, len, out);
    else
        hash_by_nettle(text, out);
}

void st_sha256_two(bool instructions, const struct st_sha256_text texts[2],
                   unsigned char out[2][ST_SHA256_SIZE])
{
    const size_t lengths[2] = {length_of(&texts[0]), length_of(&texts[1])};

    if (instructions && lengths[0] <= TEXT_MAX && lengths[1] <= TEXT_MAX) {
        hash_two(texts, lengths, out);
        return;
    }
    for (int i = 0; i < 2; i++)
        hash_by_nettle(&texts[i], out[i]);
}

#else

bool st_sha256_instructions(void)
{
    return false;
}

void st_sha256_one(bool instructions, const struct st_sha256_text *text, unsigned char out[ST_SHA256_SIZE])
{
    (void)instructions;
    hash_by_nettle(text, out);
}

void st_sha256_two(bool instructions, const struct st_sha256_text texts[2],
                   unsigned char out[2][ST_SHA256_SIZE])
{
    (void)instructions;
    for (int i = 0; i < 2; i++)
        hash_by_nettle(&texts[i], out[i]);
}

#endif
