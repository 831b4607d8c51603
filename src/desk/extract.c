/* extract: see extract.h. Reads the payload once, and knows of it only the members that people look for. */
#include "desk/extract.h"

#include "base/clock.h"

#include <string.h>

/* No search text is longer: words beyond it are in raw_detail. */
#define TEXT_MAX ((size_t)4096)

/* Members of a payload, and of its process. */
enum member {
    PATH,
    TARGET,
    HOST,
    IP,
    PORT,
    NAME,
    PAUSE,
    SENSOR,
    OP,
    ARGV,
    PROCESS,
    BLOCKED,
    EXE,
    COMM,
    MEMBERS
};

/* Of a verdict. */
enum part { ACTION, RULE, REASON, RESULT, SEVERITY, PARTS };

struct key {
    const char *text;
    size_t len;
    int member;
};

#define KEY(key, member)                                                                                     \
    {                                                                                                        \
        key, sizeof(key) - 1, member                                                                         \
    }

static const struct key members[] = {
    KEY("argv", ARGV),     KEY("blocked", BLOCKED), KEY("comm", COMM),       KEY("dest_host", HOST),
    KEY("dest_ip", IP),    KEY("dest_port", PORT),  KEY("dst_host", HOST),   KEY("dst_ip", IP),
    KEY("dst_port", PORT), KEY("exe", EXE),         KEY("name", NAME),       KEY("op", OP),
    KEY("path", PATH),     KEY("pause_id", PAUSE),  KEY("process", PROCESS), KEY("sensor", SENSOR),
    KEY("src_host", HOST), KEY("src_ip", IP),       KEY("src_port", PORT),   KEY("target", TARGET),
};

static const struct key parts[] = {
    KEY("action", ACTION), KEY("policy_rule", RULE),  KEY("reason", REASON),
    KEY("result", RESULT), KEY("severity", SEVERITY),
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Negative: text comes before key. */
static inline int compare(struct st_str text, const struct key *key)
{
    size_t n = text.len < key->len ? text.len : key->len;
    int order;

    if (n && text.p[0] != key->text[0])
        return (unsigned char)text.p[0] < (unsigned char)key->text[0] ? -1 : 1;
    order = memcmp(text.p, key->text, n);
    return order ? order : text.len > key->len ? 1 : text.len < key->len ? -1 : 0;
}

/* Keys and members are both in ascending order, so that one walk over both finds all. */
static void find(struct st_scan_value object, enum st_scan_rules rules, const struct key *keys, size_t n,
                 struct st_scan_value *found)
{
    struct st_scan_members m;
    size_t at = 0;

    if (object.type != ST_SCAN_OBJECT)
        return;
    st_scan_members(&m, object, rules);
    while (at < n && st_scan_next(&m)) {
        int order = -1;

        while (m.key.plain && at < n && (order = compare(m.key.text, &keys[at])) > 0)
            at++;
        if (order == 0 && at < n)
            found[keys[at++].member] = m.value;
    }
}

static bool is_text(const struct st_scan_value *v)
{
    return v->type == ST_SCAN_STRING && v->text.len > 0;
}

/* Appends a string's value, at most so many bytes of it, whole characters. SQLite's text ends at a NUL for
 * some of its functions, so there is none. The room is there. */
static void add_text(struct st_buf *b, struct st_scan_value v, size_t most)
{
    char *start = b->data + b->len;
    size_t n = v.text.len;

    if (v.plain)
        memcpy(start, v.text.p, n);
    else
        n = st_scan_unescape(v, start);
    if (n > most)
        for (n = most; n > 0 && ((unsigned char)start[n] & 0xc0) == 0x80;)
            n--;
    b->len += n;
    start[n] = '\0';
    for (char *p = start; !v.plain && (p = memchr(p, '\0', (size_t)(start + n - p)));)
        *p = ' ';
}

/* A text that is put together at the end of the room. */
static struct st_str begin(const struct st_buf *b)
{
    return (struct st_str){.p = b->data + b->len};
}

static struct st_str end(struct st_buf *b, struct st_str text)
{
    text.len = (size_t)(b->data + b->len - text.p);
    st_buf_addc(b, '\0');
    return text;
}

/* One more word of it; it has none yet where p is NULL. */
static void add_word(struct st_buf *b, struct st_str *text, const struct st_scan_value *v)
{
    struct st_str s = text->p ? *text : begin(b);
    size_t used = (size_t)(b->data + b->len - s.p);

    if (v->type != ST_SCAN_STRING || used + 1 >= TEXT_MAX)
        return;
    if (used)
        st_buf_addc(b, ' ');
    add_text(b, *v, TEXT_MAX - used);
    *text = s;
}

static struct st_str end_words(struct st_buf *b, struct st_str text)
{
    return text.p ? end(b, text) : text;
}

/* host:port, address:port; an address of IPv6 in brackets. */
static struct st_str far_end(struct st_buf *b, const struct st_scan_value found[MEMBERS])
{
    const struct st_scan_value *who = is_text(&found[HOST]) ? &found[HOST] : &found[IP];
    bool brackets = who == &found[IP] && memchr(who->text.p, ':', who->text.len);
    struct st_str s = begin(b);

    st_buf_adds(b, brackets ? "[" : "");
    add_text(b, *who, TEXT_MAX);
    st_buf_adds(b, brackets ? "]" : "");
    if (found[PORT].type == ST_SCAN_NUMBER) {
        st_buf_addc(b, ':');
        st_buf_add(b, found[PORT].text.p, found[PORT].text.len);
    }
    return end(b, s);
}

/* The first that it has is what it was about. */
static struct st_str name_subject(struct st_buf *b, const struct st_scan_value found[MEMBERS])
{
    static const enum member order[] = {PATH, NAME, PAUSE, SENSOR, OP};
    struct st_str s = {0};

    if (is_text(&found[HOST]) || is_text(&found[IP]))
        return far_end(b, found);
    for (size_t i = 0; i < COUNT(order) && !s.p; i++)
        if (is_text(&found[order[i]]))
            add_word(b, &s, &found[order[i]]);
    return end_words(b, s);
}

/* All by which it can be found. Where that is no more than its name, the name itself. */
static struct st_str search_subject(struct st_buf *b, const struct st_scan_value found[MEMBERS],
                                    struct st_str name)
{
    bool more = is_text(&found[TARGET]) || (is_text(&found[HOST]) && is_text(&found[IP]));
    struct st_str s = {0};

    if (!is_text(&found[PATH]) && !is_text(&found[HOST]) && !is_text(&found[IP]) && !is_text(&found[NAME]))
        return s;
    if (!more)
        return name;
    s = begin(b);
    st_buf_add(b, name.p, name.len);
    add_word(b, &s, &found[TARGET]);
    if (is_text(&found[HOST]))
        add_word(b, &s, &found[IP]);
    return end(b, s);
}

/* The program and its words. */
static struct st_str search_command(struct st_buf *b, const struct st_scan_value own[MEMBERS],
                                    const struct st_scan_value process[MEMBERS], enum st_scan_rules rules)
{
    const struct st_scan_value *argv = own[ARGV].type == ST_SCAN_ARRAY ? &own[ARGV] : &process[ARGV];
    struct st_scan_members m;
    struct st_str s = {0};

    add_word(b, &s, is_text(&process[EXE]) ? &process[EXE] : &process[COMM]);
    st_scan_members(&m, *argv, rules);
    while (argv->type == ST_SCAN_ARRAY && st_scan_next(&m))
        add_word(b, &s, &m.value);
    return end_words(b, s);
}

/* A member of the record as text; p NULL where it has none. */
static struct st_str copied(struct st_buf *b, struct st_scan_value v)
{
    struct st_str s = begin(b);

    if (v.type != ST_SCAN_STRING)
        return (struct st_str){0};
    add_text(b, v, TEXT_MAX);
    return end(b, s);
}

/* Of what every record has. */
static struct st_str sure(struct st_buf *b, struct st_scan_value v, const char *otherwise)
{
    return v.type == ST_SCAN_STRING ? copied(b, v) : st_str(otherwise);
}

/* One word of a few. */
static struct st_str plain(struct st_buf *b, struct st_scan_value v, const char *otherwise)
{
    return v.plain ? sure(b, v, otherwise) : st_str(otherwise);
}

/* Each byte of the line is taken at most for the name, for what is searched, and for the payload as it
 * stands; what is put between words is less than the quotes that were around them. */
size_t st_extract_most(const struct st_frame *f)
{
    return 4 * f->line.len + 64;
}

void st_extract(const struct st_frame *f, struct st_buf *room, struct st_extract *out)
{
    const enum st_scan_rules rules = st_frame_rules(f);
    struct st_scan_value own[MEMBERS], process[MEMBERS], verdict[PARTS];

    for (int i = 0; i < MEMBERS; i++)
        own[i] = process[i] = (struct st_scan_value){.type = ST_SCAN_BAD};
    for (int i = 0; i < PARTS; i++)
        verdict[i] = (struct st_scan_value){.type = ST_SCAN_BAD};
    st_buf_reserve(room, st_extract_most(f)); /* from here on nothing moves */
    find(f->payload, rules, members, COUNT(members), own);
    find(own[PROCESS], rules, members, COUNT(members), process);
    find(f->verdict, rules, parts, COUNT(parts), verdict);
    out->path_or_addr = name_subject(room, own);
    out->subject = search_subject(room, own, out->path_or_addr);
    out->command = search_command(room, own, process, rules);
    out->analysis_id = sure(room, f->agent_id, "");
    out->event_id = sure(room, f->event_id, "");
    out->kind = sure(room, f->event_type, "");
    out->severity = plain(room, verdict[SEVERITY], "none");
    out->result = plain(room, verdict[RESULT], "allow");
    out->action = plain(room, verdict[ACTION], "none");
    out->rule = copied(room, verdict[RULE]);
    out->reason = copied(room, verdict[REASON]);
    out->raw_detail = begin(room);
    st_buf_add(room, f->payload.text.p, f->payload.text.len);
    out->raw_detail = end(room, out->raw_detail);
    out->blocked = own[BLOCKED].type == ST_SCAN_TRUE;
    if (!f->wall_time.plain || !st_parse_rfc3339(f->wall_time.text.p, f->wall_time.text.len, &out->ts))
        out->ts = 0;
}
