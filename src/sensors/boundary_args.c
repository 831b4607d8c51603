/* boundary_args: see boundary_args.h. */
#include "sensors/boundary_args.h"

#include "base/base64.h"
#include "base/json_write.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define PAGE 4096u
#define SOCK_KIND 0xf /* below SOCK_CLOEXEC, SOCK_NONBLOCK */

struct decoding {
    const struct seccomp_data *call;
    st_memory_reader read;
    void *ctx;
    struct st_jw w;
};

/* ---- numbers ---- */

static void put_hex(struct decoding *d, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
    st_jw_str(&d->w, text);
}

/* Above 53 bits a reader would round it. */
static void put_size(struct decoding *d, uint64_t value)
{
    if (value < (uint64_t)ST_JSON_INT_MAX)
        st_jw_int(&d->w, (int64_t)value);
    else
        put_hex(d, value);
}

static void put_word(struct decoding *d, enum st_words words, uint64_t value)
{
    const char *name = st_word_of(words, value);

    if (name)
        st_jw_str(&d->w, name);
    else
        put_hex(d, value);
}

/* Bits without a name come last, as one number. */
static void put_flags(struct decoding *d, enum st_words words, uint64_t value)
{
    st_jw_array(&d->w);
    for (const struct st_word *w = st_words(words); w && w->name; w++)
        if (w->value && (value & w->value) == w->value) {
            st_jw_str(&d->w, w->name);
            value &= ~w->value;
        }
    if (value)
        put_hex(d, value);
    st_jw_end(&d->w, ']');
}

/* The type that is limited is in the lowest byte. */
static void put_quota(struct decoding *d, enum st_words words, uint32_t value)
{
    put_word(d, words, value >> 8);
}

/* ---- memory ---- */

static void put_unreadable(struct decoding *d, uint64_t address)
{
    st_jw_object(&d->w);
    st_jw_key(&d->w, "unreadable");
    put_hex(d, address);
    st_jw_end(&d->w, '}');
}

static void put_text(struct decoding *d, const char *bytes, size_t n, bool cut)
{
    char b64[ST_BASE64_LEN(ST_BOUNDARY_TEXT) + 1];
    bool exact = st_utf8_valid(bytes, n);

    if (exact && !cut) {
        st_jw_strn(&d->w, bytes, n);
        return;
    }
    st_jw_object(&d->w);
    if (!exact) {
        st_jw_key(&d->w, "b64");
        st_jw_strn(&d->w, b64, st_base64_encode(bytes, n, b64));
    }
    if (cut)
        st_jw_kbool(&d->w, "cut", true);
    st_jw_key(&d->w, "text");
    st_jw_strn(&d->w, bytes, n);
    st_jw_end(&d->w, '}');
}

/* Up to max bytes, page by page, as the next one may not be there. stop: at the first NUL. How many could be
 * read; -1: not even the first. */
static ssize_t read_text(struct decoding *d, uint64_t address, char *out, size_t max, bool stop)
{
    size_t len = 0;

    while (len < max) {
        size_t page = PAGE - (size_t)((address + len) % PAGE), want = page < max - len ? page : max - len;
        ssize_t got = d->read(d->ctx, address + len, out + len, want);
        const char *end;

        if (got <= 0 || (size_t)got > want)
            return len ? (ssize_t)len : -1;
        end = stop ? memchr(out + len, '\0', (size_t)got) : NULL;
        if (end)
            return end - out;
        len += (size_t)got;
    }
    return (ssize_t)len;
}

/* One byte more than is shown tells whether that is all. */
static void put_string(struct decoding *d, uint64_t address)
{
    char bytes[ST_BOUNDARY_TEXT + 1];
    ssize_t n = address ? read_text(d, address, bytes, sizeof(bytes), true) : 0;

    if (!address)
        st_jw_null(&d->w);
    else if (n < 0)
        put_unreadable(d, address);
    else if ((size_t)n > ST_BOUNDARY_TEXT)
        put_text(d, bytes, ST_BOUNDARY_TEXT, true);
    else
        put_text(d, bytes, (size_t)n, false);
}

static void put_counted(struct decoding *d, uint64_t address, uint64_t count)
{
    char bytes[ST_BOUNDARY_TEXT];
    size_t want = count < sizeof(bytes) ? (size_t)count : sizeof(bytes);
    ssize_t n = address ? read_text(d, address, bytes, want, false) : 0;

    if (!address)
        st_jw_null(&d->w);
    else if (n < 0)
        put_unreadable(d, address);
    else
        put_text(d, bytes, (size_t)n, (uint64_t)n < count);
}

static bool read_u32(struct decoding *d, uint64_t address, uint32_t *out)
{
    return d->read(d->ctx, address, out, sizeof(*out)) == (ssize_t)sizeof(*out);
}

static void put_at(struct decoding *d, const struct st_barg *arg, uint64_t address)
{
    uint32_t value;

    if (!address)
        st_jw_null(&d->w);
    else if (!read_u32(d, address, &value))
        put_unreadable(d, address);
    else if (arg->kind == ST_BARG_WORD_AT)
        put_word(d, arg->words, value);
    else
        put_flags(d, arg->words, value);
}

/* ---- capabilities ---- */

static void put_set(struct decoding *d, const char *key, uint32_t low, uint32_t high)
{
    static const char *const names[] = {"chown",
                                        "dac_override",
                                        "dac_read_search",
                                        "fowner",
                                        "fsetid",
                                        "kill",
                                        "setgid",
                                        "setuid",
                                        "setpcap",
                                        "linux_immutable",
                                        "net_bind_service",
                                        "net_broadcast",
                                        "net_admin",
                                        "net_raw",
                                        "ipc_lock",
                                        "ipc_owner",
                                        "sys_module",
                                        "sys_rawio",
                                        "sys_chroot",
                                        "sys_ptrace",
                                        "sys_pacct",
                                        "sys_admin",
                                        "sys_boot",
                                        "sys_nice",
                                        "sys_resource",
                                        "sys_time",
                                        "sys_tty_config",
                                        "mknod",
                                        "lease",
                                        "audit_write",
                                        "audit_control",
                                        "setfcap",
                                        "mac_override",
                                        "mac_admin",
                                        "syslog",
                                        "wake_alarm",
                                        "block_suspend",
                                        "audit_read",
                                        "perfmon",
                                        "bpf",
                                        "checkpoint_restore"};
    uint64_t set = (uint64_t)high << 32 | low;

    st_jw_key(&d->w, key);
    st_jw_array(&d->w);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (set >> i & 1)
            st_jw_str(&d->w, names[i]);
    set &= ~(((uint64_t)1 << (sizeof(names) / sizeof(names[0]))) - 1);
    if (set)
        put_hex(d, set);
    st_jw_end(&d->w, ']');
}

static void put_caps(struct decoding *d)
{
    struct __user_cap_header_struct head;
    struct __user_cap_data_struct sets[2] = {{0}};
    uint64_t at = d->call->args[0], data = d->call->args[1];
    size_t want;

    if (!at || !data) {
        st_jw_null(&d->w);
        return;
    }
    if (d->read(d->ctx, at, &head, sizeof(head)) != (ssize_t)sizeof(head)) {
        put_unreadable(d, at);
        return;
    }
    want = head.version == _LINUX_CAPABILITY_VERSION_1 ? sizeof(sets[0]) : sizeof(sets);
    if (d->read(d->ctx, data, sets, want) != (ssize_t)want) {
        put_unreadable(d, data);
        return;
    }
    st_jw_object(&d->w);
    put_set(d, "effective", sets[0].effective, sets[1].effective);
    put_set(d, "inheritable", sets[0].inheritable, sets[1].inheritable);
    put_set(d, "permitted", sets[0].permitted, sets[1].permitted);
    st_jw_end(&d->w, '}');
}

/* ---- all of it ---- */

static void put_arg(struct decoding *d, const struct st_barg *arg)
{
    uint64_t value = d->call->args[arg->index];
    int32_t number = (int32_t)value;

    switch (arg->kind) {
    case ST_BARG_NONE: break;
    case ST_BARG_INT: st_jw_int(&d->w, number); break;
    case ST_BARG_ID: st_jw_int(&d->w, number == -1 ? -1 : (int64_t)(uint32_t)value); break;
    case ST_BARG_DIR:
        if (number == -100) /* AT_FDCWD */
            st_jw_str(&d->w, "cwd");
        else
            st_jw_int(&d->w, number);
        break;
    case ST_BARG_SIZE: put_size(d, value); break;
    case ST_BARG_HEX: put_hex(d, value); break;
    case ST_BARG_WORD: put_word(d, arg->words, (uint32_t)value); break;
    case ST_BARG_FLAGS: put_flags(d, arg->words, (uint32_t)value); break;
    case ST_BARG_CLONE: put_flags(d, arg->words, (uint32_t)value & ~0xffu); break;
    case ST_BARG_TEXT: put_string(d, value); break;
    case ST_BARG_COUNTED: put_counted(d, value, d->call->args[arg->index + 1]); break;
    case ST_BARG_WORD_AT:
    case ST_BARG_FLAGS_AT: put_at(d, arg, value); break;
    case ST_BARG_KIND: put_word(d, arg->words, (uint32_t)value & SOCK_KIND); break;
    case ST_BARG_PROTOCOL:
        if ((uint32_t)d->call->args[0] == AF_NETLINK)
            put_word(d, arg->words, (uint32_t)value);
        else
            st_jw_int(&d->w, number);
        break;
    case ST_BARG_QUOTA: put_quota(d, arg->words, (uint32_t)value); break;
    case ST_BARG_CAPS: put_caps(d); break;
    }
}

void st_boundary_decode(const struct st_boundary *row, const struct seccomp_data *call, st_memory_reader read,
                        void *ctx, struct st_buf *out)
{
    struct decoding d = {.call = call, .read = read, .ctx = ctx};

    st_jw_init(&d.w, out);
    st_jw_object(&d.w);
    for (size_t i = 0; i < ST_BARGS && row->args[i].kind != ST_BARG_NONE; i++) {
        st_jw_key(&d.w, row->args[i].name);
        put_arg(&d, &row->args[i]);
    }
    st_jw_end(&d.w, '}');
}

void st_boundary_add_text(struct st_buf *args, const char *key, const char *bytes, size_t n)
{
    struct decoding d = {0};
    bool cut = n > ST_BOUNDARY_TEXT;

    args->len--; /* the brace */
    st_buf_adds(args, args->len > 1 ? ",\"" : "\"");
    st_buf_adds(args, key);
    st_buf_adds(args, "\":");
    st_jw_init(&d.w, args);
    put_text(&d, bytes, cut ? ST_BOUNDARY_TEXT : n, cut);
    st_buf_addc(args, '}');
}

/* ---- what it means ---- */

static unsigned spaces_of(const struct seccomp_data *call)
{
    unsigned all = 0, bit;

    for (size_t i = 0; (bit = call->nr == SYS_clone ? st_namespace_at(i) : st_unshared_at(i)) != 0; i++)
        all |= bit;
    return (unsigned)call->args[0] & all;
}

const char *st_boundary_capability(const struct st_boundary *row, const struct seccomp_data *call)
{
    uint32_t family = (uint32_t)call->args[0], type = (uint32_t)call->args[1] & SOCK_KIND;
    unsigned spaces;

    switch (row->quiet) {
    case ST_QUIET_NO_SPACE: /* in a user namespace of its own it has all that it needs */
        spaces = spaces_of(call);
        return spaces && !(spaces & CLONE_NEWUSER) ? "CAP_SYS_ADMIN" : NULL;
    case ST_QUIET_FAMILY:
        return family == AF_PACKET || (type == SOCK_RAW && (family == AF_INET || family == AF_INET6))
                   ? "CAP_NET_RAW"
                   : NULL;
    case ST_QUIET_NEVER:
    case ST_QUIET_NOT_ROOT:
    case ST_QUIET_NOT_WHEEL:
    case ST_QUIET_DATA:
    case ST_QUIET_NAMED:
    case ST_QUIET_QUERY: break;
    }
    return row->capability;
}

static bool becomes_zero(const struct st_boundary *row, const struct seccomp_data *call)
{
    for (size_t i = 0; i < row->ids; i++)
        if ((uint32_t)call->args[i] == 0)
            return true;
    return false;
}

bool st_boundary_is_quiet(const struct st_boundary *row, const struct seccomp_data *call, int64_t uid,
                          int64_t gid)
{
    switch (row->quiet) {
    case ST_QUIET_NEVER: return false;
    case ST_QUIET_NOT_ROOT: return uid == 0 || !becomes_zero(row, call);
    case ST_QUIET_NOT_WHEEL: return gid == 0 || !becomes_zero(row, call);
    case ST_QUIET_QUERY: return (uint32_t)call->args[0] == 0xffffffffu;
    case ST_QUIET_FAMILY: return st_family_is_usual((uint32_t)call->args[0]);
    case ST_QUIET_NO_SPACE: return spaces_of(call) == 0;
    case ST_QUIET_DATA: return !st_memfd_makes_program(call->args[1], false);
    case ST_QUIET_NAMED: return !(call->args[4] & AT_EMPTY_PATH);
    }
    return false;
}
