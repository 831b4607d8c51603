#!/usr/bin/env python3
"""document.py script|compare DOCUMENT SECTION DIR: what a document shows is typed, and what it promises is compared.
document.py commands DOCUMENT: what stands in all its ```sh blocks.

In the section with that heading each ```sh block is run, in order, on a terminal, by a shell that stops at the first failure; a ```text block behind it is
what it prints: each line of it must come, in that order, others may come between. `…` stands for anything, white space for any white space. A ```yaml block that
begins with `# NAME.yaml` is that file. What the environment variable BEFORE has is run before each block: conditions that a person would see.

script prints the shell script; its output goes to DIR, where compare finds it."""
import os
import re
import sys
from pathlib import Path

COLUMNS = 140


def blocks_of(text):
    """(kind, text) of each block."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)


def blocks(text, section):
    """Those below the heading, up to the next of its level."""
    match = re.search(rf"^(#+) {re.escape(section)}$", text, re.M)
    if not match:
        sys.exit(f"no section '{section}'")
    rest = text[match.end():]
    end = re.search(rf"^#{{1,{len(match[1])}}} (?!.*\.yaml)", re.sub(r"```.*?```", lambda m: re.sub(r"[^\n]", " ", m[0]), rest, flags=re.S), re.M)
    return blocks_of(rest[: end.start()] if end else rest)


def script(found, where):
    lines = [f"cd {where}", "set -eo pipefail", "export NO_COLOR=1"]
    for number, (kind, text) in enumerate(found):
        name = re.match(r"# ([\w.-]+\.yaml)\n", text)
        if kind == "yaml" and name:
            lines += [f"cat >{name[1]} <<'END-OF-FILE'", text.rstrip("\n"), "END-OF-FILE"]
        elif kind == "sh":
            lines += [f"cat >block-{number} <<'END-OF-BLOCK'", text.rstrip("\n"), "END-OF-BLOCK", os.environ.get("BEFORE", ":"),
                      f"script -qec 'stty cols {COLUMNS}; bash -eo pipefail block-{number}' /dev/null </dev/null >output-{number} 2>&1"]
    return "\n".join(lines) + "\n"


def pattern(line):
    words = ["".join(".*" if c == "…" else re.escape(c) for c in word) for word in line.split()]
    return re.compile(r"^\s*" + r"\s+".join(words) + r"\s*$")


def compare(found, where):
    compared = 0
    for number, (kind, text) in enumerate(found):
        if kind != "text":
            continue
        printed = (where / f"output-{number - 1}").read_text().splitlines()
        rest = iter(printed)
        for line in filter(str.strip, text.splitlines()):
            if not any(pattern(line).match(given) for given in rest):
                sys.exit(f"promised and not printed (in this order): {line}\nprinted:\n" + "\n".join(printed))
        compared += 1
    print(f"{compared} answers as promised")


def main(what, document, section=None, where=None):
    if what == "commands":
        print("".join(text for kind, text in blocks_of(Path(document).read_text()) if kind == "sh"), end="")
        return
    found = blocks(Path(document).read_text(), section)
    if not any(kind == "sh" for kind, _ in found):
        sys.exit(f"nothing to type in section '{section}'")
    if what == "script":
        print(script(found, where), end="")
    else:
        compare(found, Path(where))


main(*sys.argv[1:])
