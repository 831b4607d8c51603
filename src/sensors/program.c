/* program: see program.h. */
#include "sensors/program.h"

#include <elf.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* As load_script() of the kernel does it: blanks around it are skipped, it ends at a blank, a NUL or the end
 * of the line; a line without an end within the limit counts only where its first word has one. */
static struct st_str interpreter_of(const char *bytes, size_t n)
{
    const char *stop, *line_end, *from = bytes + 2, *end;

    if (n > ST_PROGRAM_LINE_MAX)
        n = ST_PROGRAM_LINE_MAX;
    stop = bytes + n;
    line_end = memchr(bytes, '\n', n);
    if (line_end)
        stop = line_end;
    while (from < stop && is_blank(*from))
        from++;
    for (end = from; end < stop && *end && !is_blank(*end);)
        end++;
    if (end == from || (!line_end && end == stop && n == ST_PROGRAM_LINE_MAX))
        return (struct st_str){0};
    return (struct st_str){.p = from, .len = (size_t)(end - from)};
}

/* Is there a loader among the parts? A table that is not within the bytes may name one. */
static bool has_loader(const char *bytes, size_t n, uint64_t table, size_t entry, size_t entries)
{
    for (size_t i = 0; i < entries; i++) {
        uint32_t type;

        if (table > n || n - table < (i + 1) * entry)
            return true;
        memcpy(&type, bytes + table + i * entry, sizeof(type));
        if (type == PT_INTERP)
            return true;
    }
    return false;
}

static bool elf_goes_on(const char *bytes, size_t n)
{
    Elf64_Ehdr wide;
    Elf32_Ehdr narrow;

    if (n >= sizeof(wide) && bytes[EI_CLASS] == ELFCLASS64) {
        memcpy(&wide, bytes, sizeof(wide));
        return has_loader(bytes, n, wide.e_phoff, sizeof(Elf64_Phdr), wide.e_phnum);
    }
    if (n < sizeof(narrow) || bytes[EI_CLASS] != ELFCLASS32)
        return false;
    memcpy(&narrow, bytes, sizeof(narrow));
    return has_loader(bytes, n, narrow.e_phoff, sizeof(Elf32_Phdr), narrow.e_phnum);
}

void st_program_look(const char *bytes, size_t n, struct st_program_head *out)
{
    *out = (struct st_program_head){0};
    if (n >= 2 && memcmp(bytes, "#!", 2) == 0) {
        out->interpreter = interpreter_of(bytes, n);
        out->goes_on = out->interpreter.p != NULL;
    } else if (n >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0) {
        out->goes_on = elf_goes_on(bytes, n);
    }
}
