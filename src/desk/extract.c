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

static const struct {
    const char *key;
    size_t len;
    enum member member;
} keys[] = {
#define KEY(key, member)                                                                                     \
    {                                                                                                        \
        key, sizeof(key) - 1, member                                                                         \
    }
    KEY("argv", ARGV),     KEY("blocked", BLOCKED), KEY("comm", COMM),       KEY("dest_host", HOST),
    KEY("dest_ip", IP),    KEY("dest_port", PORT),  KEY("dst_host", HOST),   KEY("dst_ip", IP),
    KEY("dst_port", PORT), KEY("exe", EXE),         KEY("name", NAME),       KEY("op", OP),
    KEY("path", PATH),     KEY("pause_id", PAUSE),  KEY("process", PROCESS), KEY("sensor", SENSOR),
    KEY("src_host", HOST), KEY("src_ip", IP),       KEY("src_port", PORT),   KEY("target", TARGET),
#undef KEY
};

#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

/* Both are in ascending order, so that one walk over both finds all. */
static void find_members(struct st_scan_value object, enum st_scan_rules rules,
                         struct st_scan_value found[MEMBERS])
{
    struct st_scan_members m;
    size_t at = 0;

    st_scan_members(&m, object, rules);
    while (at < N_KEYS && st_scan_next(&m)) {
        int order = -1;

        while (m.key.plain && at < N_KEYS) {
            size_t n = m.key.text.len < keys[at].len ? m.key.text.len : keys[at].len;

            order = memcmp(m.key.text.p, keys[at].key, n);
            if (order == 0)
                order = m.key.text.len > keys[at].len ? 1 : m.key.text.len < keys[at].len ? -1 : 0;
            if (order <= 0)
                break;
            at++;
        }
        if (order == 0 && at < N_KEYS)
            found[keys[at++].member] = m.value;
    }
}

static bool is_text(const struct st_scan_value *v)
{
    return v->type == ST_SCAN_STRING && v->text.len > 0;
}

/* Appends a string's value, at most so many bytes of it, whole characters. SQLite's text ends at a NUL for
 * some of its functions, so there is none. */
static void add_text(struct st_buf *b, struct st_scan_value v, size_t most)
{
    size_t start = b->len, n;

    st_buf_reserve(b, v.text.len);
    n = st_scan_unescape(v, b->data + start);
    if (n > most)
        for (n = most; n > 0 && ((unsigned char)b->data[start + n] & 0xc0) == 0x80;)
            n--;
    b->len = start + n;
    b->data[b->len] = '\0';
    for (char *p = b->data + start; (p = memchr(p, '\0', (size_t)(b->data + b->len - p)));)
        *p = ' ';
}

/* Where in the room a text lies: it may move while it grows. */
struct span {
    size_t from, to;
    bool there;
};

static struct span begin(const struct st_buf *b)
{
    return (struct span){.from = b->len};
}

static void add_word(struct st_buf *b, struct span *s, const struct st_scan_value *v)
{
    size_t used = b->len - s->from;

    if (v->type != ST_SCAN_STRING || used + 1 >= TEXT_MAX)
        return;
    if (used)
        st_buf_addc(b, ' ');
    add_text(b, *v, TEXT_MAX - used);
    s->there = true;
}

static void end(struct st_buf *b, struct span *s)
{
    s->to = b->len;
    st_buf_addc(b, '\0');
}

static struct st_str text_of(const struct st_buf *b, struct span s)
{
    return s.there ? (struct st_str){.p = b->data + s.from, .len = s.to - s.from} : (struct st_str){0};
}

/* Of what every record has. */
static struct st_str sure(const struct st_buf *b, struct span s)
{
    return s.there ? text_of(b, s) : ST_STR_LIT("");
}

/* host:port, address:port; an address of IPv6 in brackets. */
static struct span far_end(struct st_buf *b, const struct st_scan_value found[MEMBERS])
{
    const struct st_scan_value *who = is_text(&found[HOST]) ? &found[HOST] : &found[IP];
    bool brackets = who == &found[IP] && memchr(who->text.p, ':', who->text.len);
    struct span s = begin(b);

    st_buf_adds(b, brackets ? "[" : "");
    add_text(b, *who, TEXT_MAX);
    st_buf_adds(b, brackets ? "]" : "");
    if (found[PORT].type == ST_SCAN_NUMBER) {
        st_buf_addc(b, ':');
        st_buf_add(b, found[PORT].text.p, found[PORT].text.len);
    }
    s.there = true;
    end(b, &s);
    return s;
}

/* The first that it has is what it was about. */
static struct span name_subject(struct st_buf *b, const struct st_scan_value found[MEMBERS])
{
    static const enum member order[] = {PATH, NAME, PAUSE, SENSOR, OP};
    struct span s = begin(b);

    if (is_text(&found[HOST]) || is_text(&found[IP]))
        return far_end(b, found);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && !s.there; i++)
        if (is_text(&found[order[i]]))
            add_word(b, &s, &found[order[i]]);
    end(b, &s);
    return s;
}

/* All by which it can be found. Where that is no more than its name, the name itself. */
static struct span search_subject(struct st_buf *b, const struct st_scan_value found[MEMBERS],
                                  struct span name)
{
    bool more = is_text(&found[TARGET]) || (is_text(&found[HOST]) && is_text(&found[IP]));
    struct span s = begin(b);

    if (!is_text(&found[PATH]) && !is_text(&found[HOST]) && !is_text(&found[IP]) && !is_text(&found[NAME]))
        return s;
    if (!more)
        return name;
    st_buf_reserve(b, name.to - name.from); /* before the address of what is copied is taken */
    st_buf_add(b, b->data + name.from, name.to - name.from);
    s.there = true;
    add_word(b, &s, &found[TARGET]);
    if (is_text(&found[HOST]))
        add_word(b, &s, &found[IP]);
    end(b, &s);
    return s;
}

/* The program and its words. */
static struct span search_command(struct st_buf *b, const struct st_scan_value own[MEMBERS],
                                  const struct st_scan_value process[MEMBERS], enum st_scan_rules rules)
{
    const struct st_scan_value *argv = own[ARGV].type == ST_SCAN_ARRAY ? &own[ARGV] : &process[ARGV];
    struct st_scan_members m;
    struct span s = begin(b);

    add_word(b, &s, is_text(&process[EXE]) ? &process[EXE] : &process[COMM]);
    st_scan_members(&m, *argv, rules);
    while (argv->type == ST_SCAN_ARRAY && st_scan_next(&m))
        add_word(b, &s, &m.value);
    end(b, &s);
    return s;
}

static struct st_str plain(struct st_scan_value v, const char *otherwise)
{
    return v.type == ST_SCAN_STRING && v.plain ? v.text : st_str(otherwise);
}

/* A member of the record as text; where it is plain it stays where it is. */
static struct span copied(struct st_buf *b, struct st_scan_value v)
{
    struct span s = begin(b);

    if (v.type == ST_SCAN_STRING) {
        add_text(b, v, TEXT_MAX);
        s.there = true;
        end(b, &s);
    }
    return s;
}

void st_extract(const struct st_frame *f, struct st_extract_room *room, struct st_extract *out)
{
    const enum st_scan_rules rules = st_frame_rules(f);
    struct st_scan_value own[MEMBERS], process[MEMBERS];
    struct span name, subject, command, agent, event, kind, rule, reason;
    struct st_buf *b = &room->text;

    for (int i = 0; i < MEMBERS; i++)
        own[i] = process[i] = (struct st_scan_value){.type = ST_SCAN_BAD};
    st_buf_clear(b);
    find_members(f->payload, rules, own);
    if (own[PROCESS].type == ST_SCAN_OBJECT)
        find_members(own[PROCESS], rules, process);
    name = name_subject(b, own);
    subject = search_subject(b, own, name);
    command = search_command(b, own, process, rules);
    agent = copied(b, f->agent_id);
    event = copied(b, f->event_id);
    kind = copied(b, f->event_type);
    rule = copied(b, st_scan_get(f->verdict, "policy_rule", rules));
    reason = copied(b, st_scan_get(f->verdict, "reason", rules));
    *out = (struct st_extract){.analysis_id = sure(b, agent),
                               .event_id = sure(b, event),
                               .kind = sure(b, kind),
                               .severity = plain(st_scan_get(f->verdict, "severity", rules), "none"),
                               .result = plain(st_scan_get(f->verdict, "result", rules), "allow"),
                               .action = plain(st_scan_get(f->verdict, "action", rules), "none"),
                               .rule = text_of(b, rule),
                               .reason = text_of(b, reason),
                               .path_or_addr = text_of(b, name),
                               .subject = text_of(b, subject),
                               .command = text_of(b, command),
                               .raw_detail = f->payload.text,
                               .blocked = own[BLOCKED].type == ST_SCAN_TRUE};
    if (!f->wall_time.plain || !st_parse_rfc3339(f->wall_time.text.p, f->wall_time.text.len, &out->ts))
        out->ts = 0;
}

void st_extract_room_free(struct st_extract_room *room)
{
    st_buf_free(&room->text);
}
