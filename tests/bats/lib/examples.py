#!/usr/bin/env python3
"""examples.py SOCKET <LINES: pairs of lines, a request and the answer that a document promises. Each request is
asked of a real monitor; its answer must have the same members, of the same kinds, and the same words of code and ok.
Where a pair says PAUSE, the id of a pause that waits is put in."""
import json
import socket
import sys


def ask(path, line):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    s.sendall(line.encode() + b"\n")
    return json.loads(s.makefile().readline())


def differs(promised, given, where):
    """Why the two are not of one kind; None where they are."""
    if isinstance(promised, dict) and isinstance(given, dict):
        if promised.keys() != given.keys():
            return f"{where}: members {sorted(promised)} were promised, {sorted(given)} came"
        return next(filter(None, (differs(promised[k], given[k], f"{where}.{k}") for k in promised)), None)
    if isinstance(promised, list) and isinstance(given, list):
        return differs(promised[0], given[0], where + "[0]") if promised and given else None
    if promised is None or given is None:
        return None
    if type(promised) is not type(given):
        return f"{where}: {promised!r} was promised, {given!r} came"
    if where.endswith((".ok", ".code")) and promised != given:
        return f"{where}: {promised!r} was promised, {given!r} came"
    return None


def main(path):
    lines = [line for line in sys.stdin.read().splitlines() if line]
    if len(lines) < 20 or len(lines) % 2:
        sys.exit(f"{len(lines)} lines are no pairs")
    for request, promised in zip(lines[::2], lines[1::2]):
        if "PAUSE" in request:
            waiting = ask(path, '{"request":"pending"}')["pending"]
            if not waiting:
                sys.exit(f"nothing waits any more for {request}")
            request = request.replace("PAUSE", waiting[0]["pause_id"])
        given = ask(path, request)
        why = differs(json.loads(promised), given, "")
        if why:
            sys.exit(f"{request}\n{why}\n{json.dumps(given)}")
    print(f"{len(lines) // 2} examples are true")


if __name__ == "__main__":
    main(sys.argv[1])
