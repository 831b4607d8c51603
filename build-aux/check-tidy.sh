#!/bin/sh
# check-tidy SRCDIR CACHE: clang-tidy over every file of ./compile_commands.json; every warning is an error.
#
# A file that was clean is known by the hash of its preprocessed text, of the checks and of the tool, and
# is not looked at again. One clang-tidy a file: several in one process confuse its analyzer.
set -eu

if [ "${1-}" = --one ]; then
    # --one FILE COMMAND: COMMAND is how the build compiles it.
    file=$2
    preprocess=$(printf '%s\n' "$3" | sed 's/ -c -o [^ ]*\.o / -E -P -o - /')
    key=$({ cat "$TIDY_KEY"; eval "$preprocess"; } | sha256sum | cut -d' ' -f1)
    [ ! -e "$TIDY_CACHE/$key" ] || exit 0
    # clang-tidy counts on standard error the warnings that it does not show.
    "$CLANG_TIDY" --quiet --warnings-as-errors='*' -p . "$file" 2>"$TIDY_WORK/$key" || {
        grep -vE 'warnings? generated' "$TIDY_WORK/$key" >&2
        exit 1
    }
    : >"$TIDY_CACHE/$key"
    exit 0
fi

srcdir=${1:?usage: check-tidy.sh SRCDIR CACHE}
TIDY_CACHE=${2:?usage: check-tidy.sh SRCDIR CACHE}
: "${CLANG_TIDY:=clang-tidy}"
mkdir -p "$TIDY_CACHE"
TIDY_WORK=$(mktemp -d)
trap 'rm -rf "$TIDY_WORK"' EXIT
TIDY_KEY=$TIDY_WORK/key
{ cat "$srcdir/.clang-tidy" "$srcdir/tests/.clang-tidy"; "$CLANG_TIDY" --version; } >"$TIDY_KEY"
export CLANG_TIDY TIDY_CACHE TIDY_WORK TIDY_KEY

# One file a pair of lines: its name, its command (a JSON string without newlines).
sed -n 's/.*"file": "\([^"]*\)", "command": "\(.*\)"},*$/\1\n\2/p' compile_commands.json | sed 's/\\\(.\)/\1/g' | tr '\n' '\0' |
    xargs -0 -n 2 -P "$(nproc)" sh "$0" --one
