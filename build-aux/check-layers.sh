#!/bin/sh
# check-layers SRCDIR: an include may go down or stay in its folder, never up or sideways
# (docs/architecture.md). Fails and lists each offender.
set -eu
cd "${1:?usage: check-layers.sh SRCDIR}"

layer_of() {
    case $1 in
    base) echo 0 ;;
    model) echo 1 ;;
    config | oci | policy | audit | respond) echo 2 ;;
    bundle | sensors) echo 3 ;;
    monitor | desk) echo 4 ;;
    shim | hooks | cli | init | snapshot) echo 5 ;;
    *) echo "check-layers: unknown folder '$1': give it a layer" >&2; exit 2 ;;
    esac
}

find src hooks -name '*.[ch]' | sort | while read -r file; do
    case $file in
    hooks/*) from=hooks ;;
    *) from=${file#src/}; from=${from%%/*} ;;
    esac
    from_layer=$(layer_of "$from")
    sed -n 's|^#[[:space:]]*include[[:space:]]*"\([a-z_]*\)/.*|\1|p' "$file" | sort -u | while read -r to; do
        [ "$to" = "$from" ] && continue
        to_layer=$(layer_of "$to")
        if [ "$to_layer" -ge "$from_layer" ]; then
            echo "$file: layer $from_layer ($from) includes layer $to_layer ($to)"
        fi
    done
    # Libraries within a folder (src/sensors/net) know nothing else of it.
    case $file in
    src/*/*/*)
        library=${file#src/}; library=${library%/*}
        sed -n 's|^#[[:space:]]*include[[:space:]]*"\(.*\)/[a-z0-9_]*\.h".*|\1|p' "$file" | sort -u | while read -r to; do
            case $to in
            "$library") ;;
            "${library%%/*}" | "${library%%/*}"/*) echo "$file: $library includes $to" ;;
            esac
        done ;;
    esac
done >"${TMPDIR:-/tmp}/check-layers.$$"
trap 'rm -f "${TMPDIR:-/tmp}/check-layers.$$"' EXIT
if [ -s "${TMPDIR:-/tmp}/check-layers.$$" ]; then
    cat "${TMPDIR:-/tmp}/check-layers.$$" >&2
    exit 1
fi
