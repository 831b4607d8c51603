#!/bin/bash
# In the machine, in the payload's folder: what the suites need and it has not. What it has is its own.
set -euo pipefail

tar -C / --skip-old-files --keep-directory-symlink -xf tools.tar
ldconfig
# Where every program looks: the monitor has no environment.
there=$(ldconfig -p)
for lib in lib/*; do grep -qF "${lib#lib/}" <<<"$there" || cp "$lib" /usr/local/lib/; done
ldconfig

# This one insists on the very library that it was made with.
if ! sqlite3 :memory: 'select 1' >/dev/null 2>&1; then
    own=/usr/local/lib/sqlite3
    mkdir -p "$own"
    tar -C "$own" --strip-components=3 --wildcards -xf tools.tar 'usr/lib/*/libsqlite3.so*'
    mv /usr/bin/sqlite3 "$own/"
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s/sqlite3 "$@"\n' "$own" "$own" >/usr/bin/sqlite3
    chmod +x /usr/bin/sqlite3
fi
rm tools.tar
