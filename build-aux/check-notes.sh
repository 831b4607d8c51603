#!/bin/sh
# check-notes SRCDIR: a note that something is left to do must say whose it is, TODO(name).
# Fails and lists each that does not.
set -eu
cd "${1:?usage: check-notes.sh SRCDIR}"

# The words in brackets, so that this file does not find itself.
if grep -rnE '\b([T]ODO|[F]IXME|[X]XX)\b' \
    --include='*.[ch]' --include='*.sh' --include='*.bash' --include='*.bats' --include='*.mk' --include='*.m4' \
    --include='*.ac' --include='*.am' --include='*.md' --include='*.scd' --include='*.yaml' \
    src hooks tests contrib docs policies build-aux/check-* m4/sandtrace.m4 ./*.md ./*.ac ./*.am |
    grep -vE '\b([T]ODO|[F]IXME)\([a-z][a-z0-9_-]*\)'; then
    echo "check-notes: the notes above have no owner" >&2
    exit 1
fi
