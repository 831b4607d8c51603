/* bpf_program: BPF programs of our own, written instruction by instruction and loaded by bpf(2): a few dozen
 * instructions need neither a compiler for them at build time nor a library that reads five megabytes of
 * types at each start.
 *
 * Fields of the kernel's structs are named, not numbered: the kernel itself finds where they are in the one
 * that runs (CO-RE relocations, 5.17 and later). What it can't find, it refuses to load. Programs only look
 * and tell.
 */
#pragma once

#include "base/error.h"

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>

/* Members of task_struct, signal_struct, linux_binprm, file and inode. */
enum st_bpf_field {
    ST_BPF_TASK_PID,
    ST_BPF_TASK_TGID,
    ST_BPF_TASK_REAL_PARENT,
    ST_BPF_TASK_GROUP_LEADER,
    ST_BPF_TASK_EXIT_CODE,
    ST_BPF_TASK_START,
    ST_BPF_TASK_SIGNAL,
    ST_BPF_SIGNAL_LIVE,
    ST_BPF_SIGNAL_FLAGS,
    ST_BPF_SIGNAL_EXIT_CODE,
    ST_BPF_BINPRM_FILE,
    ST_BPF_FILE_INODE,
    ST_BPF_INODE_NUMBER,
    ST_BPF_FIELDS
};

#define ST_BPF_INSNS 160

struct st_bpf_program {
    struct bpf_insn insns[ST_BPF_INSNS];
    struct bpf_core_relo relocations[24];
    size_t outs[12]; /* jumps to the end */
    uint32_t n, n_relocations, n_outs;
};

/* Registers are BPF_REG_*, stack places negative, helpers BPF_FUNC_*. */
void st_bpf_move(struct st_bpf_program *p, int to, int from);
void st_bpf_set(struct st_bpf_program *p, int reg, int32_t value);
void st_bpf_alu(struct st_bpf_program *p, int op, int reg, int32_t value);
void st_bpf_load(struct st_bpf_program *p, int size, int to, int from, int16_t at);
void st_bpf_store(struct st_bpf_program *p, int size, int16_t stack, int from);
void st_bpf_store_value(struct st_bpf_program *p, int size, int16_t stack, int32_t value);
void st_bpf_add_to(struct st_bpf_program *p, int address, int reg); /* 8 bytes, atomic */
/* The same; reg is then what was there before. Nothing is moved across it, in neither direction. */
void st_bpf_fetch_add(struct st_bpf_program *p, int address, int reg);
void st_bpf_stack(struct st_bpf_program *p, int reg, int32_t stack);
void st_bpf_map(struct st_bpf_program *p, int reg, int fd);
void st_bpf_call(struct st_bpf_program *p, int helper);

/* Read a field of the struct that a register points to, onto the stack. Uses registers 1 to 5 and 0. */
void st_bpf_read(struct st_bpf_program *p, enum st_bpf_field field, int reg, int16_t stack, int32_t size);

/* Jump where the comparison (BPF_JNE …) holds: to a place that is set later, or to the end. */
size_t st_bpf_jump(struct st_bpf_program *p, int op, int reg, int32_t value);
void st_bpf_land(struct st_bpf_program *p, size_t jump);
void st_bpf_out(struct st_bpf_program *p, int op, int reg, int32_t value);
void st_bpf_out_by(struct st_bpf_program *p, int op, int reg, int other);

/* The end: what jumped here leaves. result: for programs of a control group 1 lets what they look at go on.
 */
void st_bpf_end(struct st_bpf_program *p);
void st_bpf_end_with(struct st_bpf_program *p, int32_t result);

/* Our view of the kernel's structs, to be given to each load. */
int st_bpf_types(struct st_error *err);

/* The fds are the caller's. A program runs at the tracepoint as long as the fd of its attachment is open. */
int st_bpf_load_tracepoint(const struct st_bpf_program *p, const char *name, int types, struct st_error *err);
int st_bpf_attach_tracepoint(int program, const char *tracepoint, struct st_error *err);

/* The same at a control group and all below it, beside what others have put there. */
int st_bpf_load_group(const struct st_bpf_program *p, enum bpf_prog_type type, enum bpf_attach_type where,
                      const char *name, struct st_error *err);
int st_bpf_attach_group(int program, int group, enum bpf_attach_type where, struct st_error *err);

int st_bpf_map_create(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries, uint32_t flags,
                      struct st_error *err);
int st_bpf_map_set(int map, uint32_t key, const void *value, struct st_error *err);
