#!/bin/sh
# embed.sh FILE…: a C source that carries the files, for http_static.h. The assembler reads them itself.
set -eu
cat <<'END'
/* Made by embed.sh. */
#include "desk/http_static.h"

END
n=0
for file; do
    cat <<END
__asm__(".section .rodata\n.global st_web_$n\nst_web_$n:\n.incbin \"$file\"\n.global st_web_end_$n\nst_web_end_$n:\n.byte 0\n.previous\n");
extern const unsigned char st_web_$n[], st_web_end_$n[];
END
    n=$((n + 1))
done
echo 'const struct st_web_file st_web_files[] = {'
n=0
for file; do
    echo "    {\"${file##*/}\", st_web_$n, st_web_end_$n},"
    n=$((n + 1))
done
echo '    {0},'
echo '};'
