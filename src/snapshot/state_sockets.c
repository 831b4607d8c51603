/* state_sockets: the sockets that processes have open, by the kernel's lists of each network namespace that
 * one of them is in. A container may share the host's: what none of its processes holds is not its own. */
#include "snapshot/state_private.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "model/addr.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_TEXT ((size_t)32 << 20)
#define MAX_NAMESPACES 64
#define MAX_WORDS 18

static const struct {
    const char *file, *protocol;
    bool local; /* of the kind that has paths for addresses */
} lists[] = {{"tcp", "tcp", false},   {"tcp6", "tcp", false}, {"udp", "udp", false},
             {"udp6", "udp", false},  {"raw", "raw", false},  {"raw6", "raw", false},
             {"icmp", "icmp", false}, {"unix", "unix", true}, {"icmp6", "icmp", false}};

static const char *const tcp_states[] = {"",           "established", "syn_sent",  "syn_recv",
                                         "fin_wait1",  "fin_wait2",   "time_wait", "close",
                                         "close_wait", "last_ack",    "listen",    "closing"};

static int by_inode(const void *a, const void *b)
{
    const struct st_state_socket *x = a, *y = b;

    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static const struct st_state_socket *owner_of(const struct st_state *s, const char *inode)
{
    struct st_state_socket key = {.inode = strtoull(inode, NULL, 10)};

    return s->n_sockets && key.inode ? bsearch(&key, s->sockets, s->n_sockets, sizeof(key), by_inode) : NULL;
}

/* "0100007F:1F90": words of the machine's order, in hex. */
static bool read_end(const char *text, char out[ST_ADDR_TEXT_SIZE + 8])
{
    const char *colon = strchr(text, ':');
    size_t digits = colon ? (size_t)(colon - text) : 0;
    char word[9] = "", address[ST_ADDR_TEXT_SIZE];
    uint8_t bytes[16] = {0};
    struct st_addr addr;

    if (digits != 8 && digits != 32)
        return false;
    for (size_t i = 0; i < digits; i += 8) {
        uint32_t value;

        memcpy(word, text + i, 8);
        value = (uint32_t)strtoul(word, NULL, 16);
        memcpy(bytes + i / 2, &value, sizeof(value));
    }
    addr = digits == 8 ? st_addr_from4(bytes) : st_addr_from6(bytes);
    st_addr_format(&addr, address);
    snprintf(out, ST_ADDR_TEXT_SIZE + 8, addr.family == 6 ? "[%s]:%lu" : "%s:%lu", address,
             strtoul(colon + 1, NULL, 16));
    return true;
}

static const char *state_of(const char *protocol, const char *word)
{
    unsigned long n = strtoul(word, NULL, 16);

    return strcmp(protocol, "tcp") == 0 && n < sizeof(tcp_states) / sizeof(tcp_states[0]) ? tcp_states[n]
                                                                                          : NULL;
}

static size_t split(char *line, const char *words[MAX_WORDS])
{
    char *save = NULL;
    size_t n = 0;

    for (char *word = strtok_r(line, " ", &save); word && n < MAX_WORDS; word = strtok_r(NULL, " ", &save))
        words[n++] = word;
    return n;
}

static void put_inet(struct st_state *s, const char *protocol, char *line)
{
    char local[ST_ADDR_TEXT_SIZE + 8], remote[ST_ADDR_TEXT_SIZE + 8];
    const char *words[MAX_WORDS];
    const struct st_state_socket *owner;

    if (split(line, words) < 10 || !(owner = owner_of(s, words[9])) || !read_end(words[1], local) ||
        !read_end(words[2], remote))
        return;
    st_jw_object(&s->w);
    st_jw_kint(&s->w, "inode", (int64_t)owner->inode);
    st_jw_kstr(&s->w, "local", local);
    st_jw_kint(&s->w, "pid", owner->pid);
    st_jw_kstr(&s->w, "protocol", protocol);
    st_jw_kstr(&s->w, "remote", remote);
    st_jw_kstr(&s->w, "state", state_of(protocol, words[3]));
    st_jw_end(&s->w, '}');
    s->facts->sockets++;
}

/* A path may hold spaces; it is the rest of the line. */
static void put_unix(struct st_state *s, char *line)
{
    char *at = line, *inode = NULL;
    const struct st_state_socket *owner;

    for (int i = 0; i < 7; i++) {
        at += strspn(at, " ");
        if (i == 6)
            inode = at;
        at += strcspn(at, " ");
    }
    owner = inode ? owner_of(s, inode) : NULL;
    if (!owner)
        return;
    st_jw_object(&s->w);
    st_jw_kint(&s->w, "inode", (int64_t)owner->inode);
    st_jw_kstr(&s->w, "local", *at == ' ' ? at + 1 : at);
    st_jw_kint(&s->w, "pid", owner->pid);
    st_jw_kstr(&s->w, "protocol", "unix");
    st_jw_end(&s->w, '}');
    s->facts->sockets++;
}

static void read_lists(struct st_state *s, pid_t pid)
{
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        st_auto_buf text = ST_BUF_INIT;
        char path[48], *save = NULL, *line;

        snprintf(path, sizeof(path), "%d/net/%s", (int)pid, lists[i].file);
        if (st_read_file_at(s->facts->proc, path, false, MAX_TEXT, &text, NULL) < 0 || !text.len)
            continue;
        strtok_r(text.data, "\n", &save); /* the head of the table */
        while ((line = strtok_r(NULL, "\n", &save)) && !st_state_over(s))
            lists[i].local ? put_unix(s, line) : put_inet(s, lists[i].protocol, line);
    }
}

void st_state_write_sockets(struct st_state *s)
{
    ino_t seen[MAX_NAMESPACES];
    size_t n = 0;

    if (s->n_sockets)
        qsort(s->sockets, s->n_sockets, sizeof(*s->sockets), by_inode);
    st_jw_key(&s->w, "sockets");
    st_jw_array(&s->w);
    for (size_t i = 0; i < s->n_pids && n < MAX_NAMESPACES && !st_state_over(s); i++) {
        char path[32];
        struct stat st;
        bool known = false;

        snprintf(path, sizeof(path), "%d/ns/net", (int)s->pids[i]);
        if (fstatat(s->facts->proc, path, &st, 0) < 0)
            continue;
        for (size_t k = 0; k < n && !known; k++)
            known = seen[k] == st.st_ino;
        if (known)
            continue;
        seen[n++] = st.st_ino;
        read_lists(s, s->pids[i]);
    }
    st_jw_end(&s->w, ']');
}
