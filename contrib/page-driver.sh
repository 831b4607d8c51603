#!/bin/bash
# page-driver.sh DIR: what drives a browser in the tests of the review desk's page (tests/page/package.json), by npm, into DIR.
# Quick where it is there already.
set -euo pipefail

to=${1:?usage: contrib/page-driver.sh DIR}
from=$(cd "$(dirname "${BASH_SOURCE[0]}")/../tests/page" && pwd)

cmp -s "$from/package-lock.json" "$to/package-lock.json" && [ -d "$to/node_modules/playwright-core" ] && exit
new=$to.new.$$
trap 'rm -rf "$new"' EXIT
mkdir -p "$new"
cp "$from/package.json" "$from/package-lock.json" "$new/"
# No script of a package is run; each is what the lock's hash says.
(cd "$new" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier)
rm -rf "$to"
mv "$new" "$to"
