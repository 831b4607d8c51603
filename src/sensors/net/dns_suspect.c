/* dns_suspect: see dns_suspect.h. */
#include "sensors/net/dns_suspect.h"

/* Labels of hosts that people or clouds name end below; tunnels fill theirs. */
#define LONG_LABEL 57
#define LONG_NAME 160
/* Random base32 has 3.8 bits a byte in 20 bytes and 4.4 in 40, random hex 3.4 and 3.7 (medians); two or three
 * words put together 3.3 to 3.8. So that one such name says nothing, and only many do; shorter ones less
 * still. */
#define RANDOM_FROM 20
#define RANDOM_ENTROPY 3500
/* In a window (dns_tally.h). */
#define MANY_RARE 20
#define MANY_RANDOM 16
#define MANY_NAMES 150
#define MANY_QUERIES 15000 /* clients without a memory ask each time */
#define MANY_BYTES 3000

#define N_OF(table) (sizeof(table) / sizeof((table)[0]))

/* ---- types ---- */

static bool is_one_of(uint16_t type, const uint16_t *types, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (types[i] == type)
            return true;
    return false;
}

static void look_at_type(uint16_t type, struct st_dns_look *out)
{
    /* A NS CNAME SOA PTR AAAA SRV DS DNSKEY SVCB HTTPS */
    static const uint16_t usual[] = {1, 2, 5, 6, 12, 28, 33, 43, 48, 64, 65};
    /* MX TXT NAPTR SSHFP RRSIG NSEC TLSA SPF ANY CAA */
    static const uint16_t rare[] = {15, 16, 35, 44, 46, 47, 52, 99, 255, 257};

    out->rare = is_one_of(type, rare, N_OF(rare));
    out->odd = !out->rare && !is_one_of(type, usual, N_OF(usual));
}

/* ---- names ---- */

/* Where the label before this place begins; 0: it is the first. */
static size_t label_before(struct st_str name, size_t end)
{
    while (end > 0 && name.p[end - 1] != '.')
        end--;
    return end;
}

/* `co.uk`, `com.au`: who registers there gets the label before. */
static bool is_second_level(const char *label, size_t n)
{
    static const char *const words[] = {"ac",  "co",  "com", "edu", "go",  "gob", "gov",
                                        "ltd", "mil", "ne",  "net", "nom", "or",  "org"};

    for (size_t i = 0; i < N_OF(words); i++)
        if (strlen(words[i]) == n && memcmp(words[i], label, n) == 0)
            return true;
    return false;
}

static struct st_str suffix_of(struct st_str name)
{
    size_t top = label_before(name, name.len), second, third;

    if (top == 0)
        return name;
    second = label_before(name, top - 1);
    if (second == 0 || name.len - top != 2 || !is_second_level(name.p + second, top - 1 - second))
        return (struct st_str){name.p + second, name.len - second};
    third = label_before(name, second - 1);
    return (struct st_str){name.p + third, name.len - third};
}

/* log2(n) in thousandths, n > 0: whole bits, then one bit of the fraction with each squaring. */
static uint32_t log2_milli(uint32_t n)
{
    uint32_t whole = 31u - (uint32_t)__builtin_clz(n), fraction = 0;
    uint64_t x = ((uint64_t)n << 16) >> whole;

    for (int bit = 9; bit >= 0; bit--) {
        x = x * x >> 16;
        if (x >= 2u << 16) {
            x >>= 1;
            fraction |= 1u << bit;
        }
    }
    return whole * 1000 + fraction * 1000 / 1024;
}

static unsigned entropy_of(const uint16_t counts[256], uint32_t n)
{
    uint64_t sum = 0;

    if (n == 0)
        return 0;
    for (size_t i = 0; i < 256; i++)
        if (counts[i])
            sum += (uint64_t)counts[i] * log2_milli(counts[i]);
    return log2_milli(n) - (unsigned)(sum / n);
}

/* One byte of the name's text: as it is, or `\046`. Returns how many characters it has. */
static size_t take_byte(struct st_str name, size_t at, uint8_t *byte)
{
    const char *p = name.p + at;

    if (p[0] != '\\' || name.len - at < 4) {
        *byte = (uint8_t)p[0];
        return 1;
    }
    *byte = (uint8_t)((p[1] - '0') * 100 + (p[2] - '0') * 10 + (p[3] - '0'));
    return 4;
}

void st_dns_look(struct st_str name, uint16_t qtype, struct st_dns_look *out)
{
    uint16_t counts[256] = {0};
    size_t suffix_at;
    unsigned label = 0;

    *out = (struct st_dns_look){.suffix = suffix_of(name)};
    look_at_type(qtype, out);
    suffix_at = name.len - out->suffix.len;
    for (size_t at = 0; at < name.len;) {
        bool before = at < suffix_at;
        uint8_t byte;

        if (name.p[at] == '.') {
            label = 0;
            at++;
            continue;
        }
        out->escaped |= name.p[at] == '\\';
        at += take_byte(name, at, &byte);
        if (++label > out->longest)
            out->longest = label;
        if (before) {
            counts[byte]++;
            out->below++;
        }
    }
    out->entropy = entropy_of(counts, out->below);
}

bool st_dns_look_random(const struct st_dns_look *look)
{
    return look->below >= RANDOM_FROM && look->entropy >= RANDOM_ENTROPY;
}

/* ---- the judgement ---- */

unsigned st_dns_suspect(const struct st_dns_look *look, const struct st_dns_counts *counts)
{
    unsigned is = 0;

    if (look->longest >= LONG_LABEL || look->below >= LONG_NAME)
        is |= ST_DNS_LONG;
    if (look->escaped)
        is |= ST_DNS_BYTES;
    if (look->odd || counts->rare >= MANY_RARE)
        is |= ST_DNS_TYPE;
    if (counts->random_names >= MANY_RANDOM)
        is |= ST_DNS_RANDOM;
    if (counts->names >= MANY_NAMES)
        is |= ST_DNS_MANY;
    if (counts->queries >= MANY_QUERIES)
        is |= ST_DNS_OFTEN;
    if (counts->bytes >= MANY_BYTES)
        is |= ST_DNS_VOLUME;
    return is;
}

const char *st_dns_suspicion_text(enum st_dns_suspicion one)
{
    switch (one) {
    case ST_DNS_LONG: return "a label or name longer than those of hosts";
    case ST_DNS_BYTES: return "bytes in the name that no host has";
    case ST_DNS_TYPE: return "a type of record that clients do not ask for, or not as often";
    case ST_DNS_RANDOM: return "many names without sense below one domain";
    case ST_DNS_MANY: return "many names below one domain";
    case ST_DNS_OFTEN: return "many queries below one domain";
    case ST_DNS_VOLUME: return "many bytes in names below one domain";
    case ST_DNS_SUSPICIONS: break;
    }
    return "";
}
