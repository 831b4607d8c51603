/* What an execution asks for: registers, arguments in a memory that is not to be trusted, the first line of a
 * script. */
#include "sensors/exec_call.h"
#include "sensors/program.h"

#include "unit.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

/* ---- a memory of four pages; behind it there is nothing ---- */

#define BASE 0x10000u
#define PAGES 4u
#define PAGE 4096u

static unsigned char memory[PAGES * PAGE];
static unsigned reads;

static ssize_t fake_read(void *ctx, uint64_t address, void *out, size_t n)
{
    (void)ctx;
    reads++;
    if (address < BASE || address >= BASE + sizeof(memory))
        return -14;
    if (n > BASE + sizeof(memory) - address)
        n = (size_t)(BASE + sizeof(memory) - address);
    memcpy(out, memory + (address - BASE), n);
    return (ssize_t)n;
}

static void put_pointer(size_t at, uint64_t value)
{
    memcpy(memory + at, &value, sizeof(value));
}

static void put_text(size_t at, const char *text)
{
    memcpy(memory + at, text, strlen(text) + 1);
}

static int empty_memory(void **state)
{
    (void)state;
    memset(memory, 0, sizeof(memory));
    reads = 0;
    return 0;
}

static void argv_is(uint64_t address, const char *bytes, size_t len, bool incomplete, bool cut)
{
    struct st_exec_argv argv;

    st_exec_argv_read(address, fake_read, NULL, &argv);
    assert_int_equal(argv.len, len);
    if (bytes)
        assert_memory_equal(argv.bytes, bytes, len);
    assert_int_equal(argv.incomplete, incomplete);
    assert_int_equal(argv.cut, cut);
}

static void words_are_read_in_order(void **state)
{
    (void)state;
    put_text(100, "sh");
    put_text(103, "-c");
    put_text(PAGE + 7, "echo \xff");
    put_pointer(0, BASE + 100);
    put_pointer(8, BASE + 103);
    put_pointer(16, BASE + PAGE + 7);
    argv_is(BASE, "sh\0-c\0echo \xff", 12, false, false);
    assert_true(reads <= 4);
}

static void no_words_are_no_mistake(void **state)
{
    (void)state;
    argv_is(0, NULL, 0, false, false);
    argv_is(BASE, NULL, 0, false, false);
    put_pointer(0, BASE + 50); /* one that is empty */
    argv_is(BASE, NULL, 0, false, false);
}

static void a_word_may_lie_across_pages(void **state)
{
    (void)state;
    put_text(PAGE - 2, "abcd");
    put_pointer(2 * PAGE - 4, BASE + PAGE - 2); /* its pointer too */
    argv_is(BASE + 2 * PAGE - 4, "abcd", 4, false, false);
}

static void what_is_not_there_is_said(void **state)
{
    (void)state;
    put_text(100, "sh");
    put_pointer(0, BASE + 100);
    put_pointer(8, 8);
    argv_is(BASE, "sh", 2, true, false);
    argv_is(8, NULL, 0, true, false);
    argv_is(UINT64_MAX - 3, NULL, 0, true, false);
    put_pointer(sizeof(memory) - 8, BASE + 100); /* the list runs off the end */
    argv_is(BASE + sizeof(memory) - 8, "sh", 2, true, false);
    memset(memory + PAGE, 'x', 3 * PAGE); /* and so does a word */
    put_pointer(0, BASE + sizeof(memory) - 3);
    argv_is(BASE, "xxx", 3, true, false);
}

static void too_much_is_cut(void **state)
{
    (void)state;
    memset(memory + PAGE, 'x', 2 * PAGE);
    put_pointer(0, BASE + PAGE);
    argv_is(BASE, NULL, ST_EXEC_ARGV_MAX, false, true);
    put_pointer(0, BASE + PAGE + PAGE / 2);
    put_pointer(8, BASE + 3 * PAGE - 10);
    argv_is(BASE, NULL, ST_EXEC_ARGV_MAX, false, true);
}

static void a_list_without_an_end_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(memory) / 8; i++)
        put_pointer(i * 8, BASE + 7); /* each an empty word */
    argv_is(BASE, NULL, sizeof(memory) / 8 - 1, true, false);
    empty_memory(state);
    for (size_t i = 0; i < 2 * PAGE / 8; i++)
        put_pointer(i * 8, BASE + 2 * PAGE + (i % 2) * PAGE); /* each on another page than the one before */
    argv_is(BASE, NULL, 255, true, false);
    assert_true(reads < 300);
}

static void registers_say_where(void **state)
{
    struct st_exec_call call;
    char text[256];

    (void)state;
    snprintf(text, sizeof(text), "%d 0x11 0x22 0x33 0x44 0x55 0x66 0x7ffe 0x7f00\n", SYS_execve);
    st_exec_call_parse(text, &call);
    assert_true(call.known && call.path == 0x11 && call.argv == 0x22);
    snprintf(text, sizeof(text), "%d 0x11 0x22 0x33 0x44 0x55 0x66 0x7ffe 0x7f00\n", SYS_execveat);
    st_exec_call_parse(text, &call);
    assert_true(call.known && call.path == 0x22 && call.argv == 0x33);
    for (size_t i = 0; i < 6; i++) {
        static const char *const others[] = {"running\n",    "",
                                             "-1 0x1 0x2\n", "1 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8\n",
                                             "59\n",         "0x3b 0 0 0 0 0 0 0 0\n"};

        st_exec_call_parse(others[i], &call);
        assert_false(call.known);
    }
}

static void the_same_call_looks_the_same(void **state)
{
    struct st_exec_call call = {.known = true, .path = BASE + 200, .argv = BASE, .registers = 7};
    struct st_exec_argv argv;
    uint64_t first;

    (void)state;
    put_text(200, "/bin/sh");
    put_text(100, "sh");
    put_pointer(0, BASE + 100);
    st_exec_argv_read(BASE, fake_read, NULL, &argv);
    first = st_exec_call_hash(&call, &argv, fake_read, NULL);
    assert_int_equal(first, st_exec_call_hash(&call, &argv, fake_read, NULL));
    put_text(200, "/bin/sl");
    assert_int_not_equal(first, st_exec_call_hash(&call, &argv, fake_read, NULL));
    put_text(200, "/bin/sh");
    put_text(100, "ss");
    st_exec_argv_read(BASE, fake_read, NULL, &argv);
    assert_int_not_equal(first, st_exec_call_hash(&call, &argv, fake_read, NULL));
}

static void a_page_is_read_once(void **state)
{
    struct st_exec_call call = {.known = true, .path = BASE + 200, .argv = BASE, .registers = 7};
    struct st_exec_pages pages;
    struct st_exec_argv argv, other;
    uint64_t hash;

    (void)state;
    put_text(200, "/bin/sh");
    put_text(100, "sh");
    put_text(PAGE + 8, "-c");
    put_pointer(0, BASE + 100);
    put_pointer(8, BASE + PAGE + 8);
    put_pointer(16, BASE + 100);
    st_exec_argv_read(BASE, fake_read, NULL, &other);
    hash = st_exec_call_hash(&call, &other, fake_read, NULL);
    reads = 0;
    st_exec_pages_init(&pages, fake_read, NULL);
    st_exec_argv_read(BASE, st_memory_of_pages, &pages, &argv);
    assert_int_equal(st_exec_call_hash(&call, &argv, st_memory_of_pages, &pages), hash);
    assert_int_equal(argv.len, other.len);
    assert_memory_equal(argv.bytes, "sh\0-c\0sh", 8);
    assert_int_equal(reads, 2);
}

static void what_is_no_whole_page_is_read_as_it_is(void **state)
{
    struct st_exec_pages pages;
    char bytes[16];

    (void)state;
    st_exec_pages_init(&pages, fake_read, NULL);
    put_text(PAGE - 4, "one two");
    assert_int_equal(st_memory_of_pages(&pages, BASE + PAGE - 4, bytes, 8), 8); /* across two */
    assert_string_equal(bytes, "one two");
    assert_int_equal(st_memory_of_pages(&pages, BASE + PAGES * PAGE, bytes, 8), -14);
    assert_int_equal(st_memory_of_pages(&pages, UINT64_MAX - 2, bytes, 8), -14);
}

/* ---- what a file begins with ---- */

static void a_script_names_its_interpreter(void **state)
{
    static const struct {
        const char *text, *interpreter;
    } rows[] = {
        {"#!/bin/sh\necho", "/bin/sh"},
        {"#!/bin/sh", "/bin/sh"},
        {"#! \t /bin/sh -e x\n", "/bin/sh"},
        {"#!/bin/sh\t-e\n", "/bin/sh"},
        {"#!/bin/sh\r\n", "/bin/sh\r"},
        {"#!bin/sh\n", "bin/sh"},
        {"#!/bin/sh   \n", "/bin/sh"},
        {"#!\n/bin/sh\n", NULL},
        {"#!   \n", NULL},
        {"#!", NULL},
        {"#", NULL},
        {"", NULL},
        {" #!/bin/sh\n", NULL},
        {"#/bin/sh\n", NULL},
        {"echo #!/bin/sh\n", NULL},
    };
    struct st_program_head head;

    (void)state;
    for (size_t i = 0; i < N_OF(rows); i++) {
        st_program_look(rows[i].text, strlen(rows[i].text), &head);
        if (!rows[i].interpreter != !head.interpreter.p ||
            (head.interpreter.p &&
             (head.interpreter.len != strlen(rows[i].interpreter) ||
              memcmp(head.interpreter.p, rows[i].interpreter, head.interpreter.len) != 0)))
            fail_msg("`%s`: %.*s", rows[i].text, (int)head.interpreter.len, head.interpreter.p);
        assert_int_equal(head.goes_on, head.interpreter.p != NULL);
    }
}

static void a_line_counts_up_to_the_kernels_limit(void **state)
{
    struct st_program_head head;
    char line[300];

    (void)state;
    memset(line, 'a', sizeof(line));
    memcpy(line, "#!/", 3);
    st_program_look(line, sizeof(line), &head); /* a path that may be cut is none */
    assert_null(head.interpreter.p);
    st_program_look(line, 256, &head);
    assert_null(head.interpreter.p);
    st_program_look(line, 255, &head); /* the file ends there, so does the path */
    assert_int_equal(head.interpreter.len, 253);
    line[255] = ' ';
    st_program_look(line, sizeof(line), &head);
    assert_int_equal(head.interpreter.len, 253);
    line[100] = ' '; /* only the argument is cut */
    st_program_look(line, sizeof(line), &head);
    assert_int_equal(head.interpreter.len, 98);
    line[50] = '\0';
    st_program_look(line, sizeof(line), &head);
    assert_int_equal(head.interpreter.len, 48);
}

static void a_program_may_have_a_loader(void **state)
{
    char bytes[sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr)] = {0};
    Elf64_Ehdr head = {.e_phoff = sizeof(head), .e_phnum = 2};
    Elf64_Phdr parts[2] = {{.p_type = PT_LOAD}, {.p_type = PT_INTERP}};
    struct st_program_head found;

    (void)state;
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    for (unsigned i = 0; i < 3; i++) {
        head.e_phoff = i == 2 ? UINT64_MAX - 8 : sizeof(head); /* not within the bytes: it may */
        parts[1].p_type = i == 1 ? PT_LOAD : PT_INTERP;
        memcpy(bytes, &head, sizeof(head));
        memcpy(bytes + sizeof(head), parts, sizeof(parts));
        st_program_look(bytes, sizeof(bytes), &found);
        assert_int_equal(found.goes_on, i != 1);
        assert_null(found.interpreter.p);
    }
    st_program_look(bytes, 20, &found);
    assert_false(found.goes_on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(words_are_read_in_order, empty_memory),
        cmocka_unit_test_setup(no_words_are_no_mistake, empty_memory),
        cmocka_unit_test_setup(a_word_may_lie_across_pages, empty_memory),
        cmocka_unit_test_setup(what_is_not_there_is_said, empty_memory),
        cmocka_unit_test_setup(too_much_is_cut, empty_memory),
        cmocka_unit_test_setup(a_list_without_an_end_ends, empty_memory),
        cmocka_unit_test(registers_say_where),
        cmocka_unit_test_setup(the_same_call_looks_the_same, empty_memory),
        cmocka_unit_test_setup(a_page_is_read_once, empty_memory),
        cmocka_unit_test_setup(what_is_no_whole_page_is_read_as_it_is, empty_memory),
        cmocka_unit_test(a_script_names_its_interpreter),
        cmocka_unit_test(a_line_counts_up_to_the_kernels_limit),
        cmocka_unit_test(a_program_may_have_a_loader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
