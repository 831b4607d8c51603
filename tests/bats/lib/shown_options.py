#!/usr/bin/env python3
"""shown_options.py SANDTRACE DOCUMENT…: what documents show of `sandtrace VERB --option`, compared with what the program takes.

A verb is looked at where code is shown: behind four blanks, between backticks or fences, in a manual page everywhere."""
import re
import subprocess
import sys
from pathlib import Path


def said(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, check=True).stdout


def takes(program):
    """{verb: its options}"""
    text = said(program, "--help")
    verbs = re.findall(r"^  ([a-z]+) ", text, re.M) + re.search(r"^also: ([^;]*);", text, re.M)[1].split()
    return {verb: set(re.findall(r"--[a-z][a-z0-9-]*", said(program, verb, "--help"))) for verb in verbs}


def code(path):
    """(line number, text) of what is shown as code."""
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if path.suffix == ".scd":
            yield number, line.replace("*", "").replace("_", "")
            continue
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or line.startswith("    "):
            yield number, line
        else:
            yield from ((number, shown) for shown in re.findall(r"`([^`]+)`", line))


# Podman's own word of that name: `podman --runtime sandtrace run`.
OTHERS = re.compile(r"--runtime[ =]sandtrace run.*")


def main(program, *documents):
    known = takes(program)
    looked_at, wrong = 0, []
    for document in map(Path, documents):
        for number, text in code(document):
            for verb, rest in re.findall(r"(?:^|(?<=[ (|&;]))sandtrace ([a-z]+)((?: [^|;&]*)?)", OTHERS.sub("", text)):
                where = f"{document}:{number}: sandtrace {verb}{rest}"
                if verb not in known:
                    if document.suffix != ".scd" and re.match(rf" *(sudo )?sandtrace {verb}\b", text):  # else a sentence, or another program's word
                        wrong.append(f"{where}: no such verb")
                    continue
                looked_at += 1
                own = rest.split(" -- ")[0]
                wrong += [f"{where}: no {option}" for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", own) if option not in known[verb]]
    if wrong or looked_at < 100:
        sys.exit("\n".join(wrong) or f"only {looked_at} found")
    print(f"{looked_at} as they are shown")


main(*sys.argv[1:])
