/* bpf_program: see bpf_program.h. */
#include "sensors/bpf_program.h"

#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel lends some of its helpers only to programs under a licence that it knows. This one holds for
 * what is loaded from here; the source has that of the project. */
#define LICENCE "Dual BSD/GPL"

/* ---- writing ---- */

static void emit(struct st_bpf_program *p, struct bpf_insn insn)
{
    if (p->n >= ST_BPF_INSNS)
        abort(); /* programs are constant: a test would have met this */
    p->insns[p->n++] = insn;
}

void st_bpf_move(struct st_bpf_program *p, int to, int from)
{
    emit(p, (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = to & 15, .src_reg = from & 15});
}

void st_bpf_set(struct st_bpf_program *p, int reg, int32_t value)
{
    st_bpf_alu(p, BPF_MOV, reg, value);
}

void st_bpf_alu(struct st_bpf_program *p, int op, int reg, int32_t value)
{
    emit(p, (struct bpf_insn){.code = (uint8_t)(BPF_ALU64 | op | BPF_K), .dst_reg = reg & 15, .imm = value});
}

void st_bpf_load(struct st_bpf_program *p, int size, int to, int from, int16_t at)
{
    emit(p, (struct bpf_insn){.code = (uint8_t)(BPF_LDX | size | BPF_MEM),
                              .dst_reg = to & 15,
                              .src_reg = from & 15,
                              .off = at});
}

void st_bpf_store(struct st_bpf_program *p, int size, int16_t stack, int from)
{
    emit(p, (struct bpf_insn){.code = (uint8_t)(BPF_STX | size | BPF_MEM),
                              .dst_reg = BPF_REG_10,
                              .src_reg = from & 15,
                              .off = stack});
}

void st_bpf_store_value(struct st_bpf_program *p, int size, int16_t stack, int32_t value)
{
    emit(p,
         (struct bpf_insn){
             .code = (uint8_t)(BPF_ST | size | BPF_MEM), .dst_reg = BPF_REG_10, .off = stack, .imm = value});
}

void st_bpf_add_to(struct st_bpf_program *p, int address, int reg)
{
    emit(p, (struct bpf_insn){.code = BPF_STX | BPF_DW | BPF_ATOMIC,
                              .dst_reg = address & 15,
                              .src_reg = reg & 15,
                              .imm = BPF_ADD});
}

void st_bpf_fetch_add(struct st_bpf_program *p, int address, int reg)
{
    st_bpf_add_to(p, address, reg);
    p->insns[p->n - 1].imm |= BPF_FETCH;
}

void st_bpf_stack(struct st_bpf_program *p, int reg, int32_t stack)
{
    st_bpf_move(p, reg, BPF_REG_10);
    st_bpf_alu(p, BPF_ADD, reg, stack);
}

void st_bpf_map(struct st_bpf_program *p, int reg, int fd)
{
    emit(p, (struct bpf_insn){.code = BPF_LD | BPF_DW, /* BPF_IMM is 0 */
                              .dst_reg = reg & 15,
                              .src_reg = BPF_PSEUDO_MAP_FD,
                              .imm = fd});
    emit(p, (struct bpf_insn){0});
}

void st_bpf_call(struct st_bpf_program *p, int helper)
{
    emit(p, (struct bpf_insn){.code = BPF_JMP | BPF_CALL, .imm = helper});
}

size_t st_bpf_jump(struct st_bpf_program *p, int op, int reg, int32_t value)
{
    emit(p, (struct bpf_insn){.code = (uint8_t)(BPF_JMP | op | BPF_K), .dst_reg = reg & 15, .imm = value});
    return p->n - 1;
}

void st_bpf_land(struct st_bpf_program *p, size_t jump)
{
    p->insns[jump].off = (int16_t)(p->n - jump - 1);
}

static void note_out(struct st_bpf_program *p)
{
    if (p->n_outs >= sizeof(p->outs) / sizeof(p->outs[0]))
        abort();
    p->outs[p->n_outs++] = p->n - 1;
}

void st_bpf_out(struct st_bpf_program *p, int op, int reg, int32_t value)
{
    st_bpf_jump(p, op, reg, value);
    note_out(p);
}

void st_bpf_out_by(struct st_bpf_program *p, int op, int reg, int other)
{
    emit(p, (struct bpf_insn){
                .code = (uint8_t)(BPF_JMP | op | BPF_X), .dst_reg = reg & 15, .src_reg = other & 15});
    note_out(p);
}

void st_bpf_end_with(struct st_bpf_program *p, int32_t result)
{
    for (uint32_t i = 0; i < p->n_outs; i++)
        st_bpf_land(p, p->outs[i]);
    st_bpf_set(p, BPF_REG_0, result);
    emit(p, (struct bpf_insn){.code = BPF_JMP | BPF_EXIT});
}

void st_bpf_end(struct st_bpf_program *p)
{
    st_bpf_end_with(p, 0);
}

/* ---- the kernel's structs, as far as we name their members ---- */

enum type {
    TYPE_INT = 1,
    TYPE_U64,
    TYPE_POINTER,
    TYPE_COUNTER,
    TYPE_TASK,
    TYPE_SIGNAL,
    TYPE_BINPRM,
    TYPE_FILE,
    TYPE_INODE,
    TYPE_PROTO,
    TYPE_FUNCTION
};

/* Where a member is in our own view: any place will do, the kernel puts its own there. */
static const struct {
    enum type of, type;
    const char *name, *access; /* access: its place among the members */
    uint32_t at;
} fields[ST_BPF_FIELDS] = {
    [ST_BPF_TASK_PID] = {TYPE_TASK, TYPE_INT, "pid", "0:0", 0},
    [ST_BPF_TASK_TGID] = {TYPE_TASK, TYPE_INT, "tgid", "0:1", 4},
    [ST_BPF_TASK_REAL_PARENT] = {TYPE_TASK, TYPE_POINTER, "real_parent", "0:2", 8},
    [ST_BPF_TASK_GROUP_LEADER] = {TYPE_TASK, TYPE_POINTER, "group_leader", "0:3", 16},
    [ST_BPF_TASK_EXIT_CODE] = {TYPE_TASK, TYPE_INT, "exit_code", "0:4", 24},
    [ST_BPF_TASK_START] = {TYPE_TASK, TYPE_U64, "start_boottime", "0:5", 32},
    [ST_BPF_TASK_SIGNAL] = {TYPE_TASK, TYPE_POINTER, "signal", "0:6", 40},
    [ST_BPF_SIGNAL_LIVE] = {TYPE_SIGNAL, TYPE_COUNTER, "live", "0:0", 0},
    [ST_BPF_SIGNAL_FLAGS] = {TYPE_SIGNAL, TYPE_INT, "flags", "0:1", 4},
    [ST_BPF_SIGNAL_EXIT_CODE] = {TYPE_SIGNAL, TYPE_INT, "group_exit_code", "0:2", 8},
    [ST_BPF_BINPRM_FILE] = {TYPE_BINPRM, TYPE_POINTER, "file", "0:0", 0},
    [ST_BPF_FILE_INODE] = {TYPE_FILE, TYPE_POINTER, "f_inode", "0:0", 0},
    [ST_BPF_INODE_NUMBER] = {TYPE_INODE, TYPE_U64, "i_ino", "0:0", 0},
};

struct types {
    uint32_t words[128];
    char strings[512];
    size_t n, len;
    uint32_t access[ST_BPF_FIELDS]; /* where the strings are */
};

static uint32_t name_it(struct types *t, const char *text)
{
    size_t at = t->len, len = strlen(text) + 1;

    if (at + len > sizeof(t->strings))
        abort();
    memcpy(t->strings + at, text, len);
    t->len += len;
    return (uint32_t)at;
}

static void put_word(struct types *t, uint32_t word)
{
    if (t->n >= sizeof(t->words) / sizeof(t->words[0]))
        abort();
    t->words[t->n++] = word;
}

static void put_type(struct types *t, const char *name, uint32_t kind, uint32_t members,
                     uint32_t size_or_type)
{
    put_word(t, name ? name_it(t, name) : 0);
    put_word(t, kind << 24 | members);
    put_word(t, size_or_type);
}

static void put_member(struct types *t, const char *name, enum type type, uint32_t at)
{
    put_word(t, name_it(t, name));
    put_word(t, type);
    put_word(t, at * 8);
}

static void put_struct(struct types *t, const char *name, enum type of, uint32_t members, uint32_t size)
{
    put_type(t, name, BTF_KIND_STRUCT, members, size);
    for (size_t i = 0; i < ST_BPF_FIELDS; i++)
        if (fields[i].of == of)
            put_member(t, fields[i].name, fields[i].type, fields[i].at);
}

/* In the order of enum type. */
static void make_types(struct types *t)
{
    *t = (struct types){.len = 1};
    put_type(t, "int", BTF_KIND_INT, 0, 4);
    put_word(t, (uint32_t)BTF_INT_SIGNED << 24 | 32);
    put_type(t, "u64", BTF_KIND_INT, 0, 8);
    put_word(t, 64);
    put_type(t, NULL, BTF_KIND_PTR, 0, 0);
    put_type(t, "counter", BTF_KIND_STRUCT, 1, 4);
    put_member(t, "counter", TYPE_INT, 0);
    put_struct(t, "task_struct", TYPE_TASK, ST_BPF_TASK_SIGNAL + 1, 48);
    put_struct(t, "signal_struct", TYPE_SIGNAL, ST_BPF_BINPRM_FILE - ST_BPF_SIGNAL_LIVE, 12);
    put_struct(t, "linux_binprm", TYPE_BINPRM, 1, 8);
    put_struct(t, "file", TYPE_FILE, 1, 8);
    put_struct(t, "inode", TYPE_INODE, 1, 8);
    put_type(t, NULL, BTF_KIND_FUNC_PROTO, 1, TYPE_INT);
    put_word(t, name_it(t, "context"));
    put_word(t, TYPE_POINTER);
    put_type(t, "look", BTF_KIND_FUNC, 0, TYPE_PROTO);
    for (size_t i = 0; i < ST_BPF_FIELDS; i++)
        t->access[i] = name_it(t, fields[i].access);
}

void st_bpf_read(struct st_bpf_program *p, enum st_bpf_field field, int reg, int16_t stack, int32_t size)
{
    struct types t;

    if (p->n_relocations >= sizeof(p->relocations) / sizeof(p->relocations[0]))
        abort();
    make_types(&t);
    st_bpf_stack(p, BPF_REG_1, stack);
    st_bpf_set(p, BPF_REG_2, size);
    st_bpf_move(p, BPF_REG_3, reg);
    p->relocations[p->n_relocations++] =
        (struct bpf_core_relo){.insn_off = p->n * (uint32_t)sizeof(struct bpf_insn),
                               .type_id = fields[field].of,
                               .access_str_off = t.access[field],
                               .kind = BPF_CORE_FIELD_BYTE_OFFSET};
    st_bpf_alu(p, BPF_ADD, BPF_REG_3, (int32_t)fields[field].at);
    st_bpf_call(p, BPF_FUNC_probe_read_kernel);
}

/* ---- the kernel ---- */

static int call(enum bpf_cmd cmd, union bpf_attr *attr)
{
    return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

int st_bpf_types(struct st_error *err)
{
    struct types t;
    char bytes[sizeof(struct btf_header) + sizeof(t.words) + sizeof(t.strings)];
    struct btf_header head = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(head)};
    union bpf_attr attr = {0};
    int fd;

    make_types(&t);
    head.type_len = head.str_off = (uint32_t)(t.n * sizeof(t.words[0]));
    head.str_len = (uint32_t)t.len;
    memcpy(bytes, &head, sizeof(head));
    memcpy(bytes + sizeof(head), t.words, head.type_len);
    memcpy(bytes + sizeof(head) + head.type_len, t.strings, t.len);
    attr.btf = (uintptr_t)bytes;
    attr.btf_size = (uint32_t)sizeof(head) + head.type_len + head.str_len;
    fd = call(BPF_BTF_LOAD, &attr);
    return fd < 0 ? st_fail_errno(err, "bpf: types") : fd;
}

int st_bpf_load_tracepoint(const struct st_bpf_program *p, const char *name, int types, struct st_error *err)
{
    const struct bpf_func_info function = {.insn_off = 0, .type_id = TYPE_FUNCTION};
    union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT};
    int fd;

    attr.insns = (uintptr_t)p->insns;
    attr.insn_cnt = p->n;
    attr.license = (uintptr_t)LICENCE;
    attr.prog_btf_fd = (uint32_t)types;
    attr.func_info = (uintptr_t)&function;
    attr.func_info_cnt = 1;
    attr.func_info_rec_size = sizeof(function);
    attr.core_relos = (uintptr_t)p->relocations;
    attr.core_relo_cnt = p->n_relocations;
    attr.core_relo_rec_size = sizeof(p->relocations[0]);
    snprintf(attr.prog_name, sizeof(attr.prog_name), "%s", name);
    fd = call(BPF_PROG_LOAD, &attr);
    return fd < 0 ? st_fail_errno(err, "bpf: program %s", name) : fd;
}

int st_bpf_attach_tracepoint(int program, const char *tracepoint, struct st_error *err)
{
    union bpf_attr attr = {0};
    int fd;

    attr.raw_tracepoint.name = (uintptr_t)tracepoint;
    attr.raw_tracepoint.prog_fd = (uint32_t)program;
    fd = call(BPF_RAW_TRACEPOINT_OPEN, &attr);
    return fd < 0 ? st_fail_errno(err, "bpf: tracepoint %s", tracepoint) : fd;
}

int st_bpf_load_group(const struct st_bpf_program *p, enum bpf_prog_type type, enum bpf_attach_type where,
                      const char *name, struct st_error *err)
{
    union bpf_attr attr = {.prog_type = type};
    int fd;

    attr.expected_attach_type = where;
    attr.insns = (uintptr_t)p->insns;
    attr.insn_cnt = p->n;
    attr.license = (uintptr_t)LICENCE;
    snprintf(attr.prog_name, sizeof(attr.prog_name), "%s", name);
    fd = call(BPF_PROG_LOAD, &attr);
    return fd < 0 ? st_fail_errno(err, "bpf: program %s", name) : fd;
}

int st_bpf_attach_group(int program, int group, enum bpf_attach_type where, struct st_error *err)
{
    union bpf_attr attr = {0};
    int fd;

    attr.link_create.prog_fd = (uint32_t)program;
    attr.link_create.target_fd = (uint32_t)group;
    attr.link_create.attach_type = where;
    fd = call(BPF_LINK_CREATE, &attr);
    return fd < 0 ? st_fail_errno(err, "bpf: a program for a control group") : fd;
}

int st_bpf_map_create(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries, uint32_t flags,
                      struct st_error *err)
{
    union bpf_attr attr = {.map_type = type};
    int fd;

    attr.key_size = key;
    attr.value_size = value;
    attr.max_entries = entries;
    attr.map_flags = flags;
    fd = call(BPF_MAP_CREATE, &attr);
    return fd < 0 ? st_fail_errno(err, "bpf: map") : fd;
}

int st_bpf_map_set(int map, uint32_t key, const void *value, struct st_error *err)
{
    union bpf_attr attr = {.map_fd = (uint32_t)map};

    attr.key = (uintptr_t)&key;
    attr.value = (uintptr_t)value;
    return call(BPF_MAP_UPDATE_ELEM, &attr) < 0 ? st_fail_errno(err, "bpf: fill a map") : 0;
}
