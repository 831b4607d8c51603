#!/usr/bin/python3
"""judge.py TABLE OUTPUT TRACE [--lenient]: was each attack of the table refused, and recorded as what it was?

TABLE has WAY ACT PATH EXPECTED RULE a line: EXPECTED is the path that the record must have (= for PATH), or
syscall:NAME; RULE is the policy's rule (- for none, ? for any). OUTPUT is what `attack reach` said of it, in the same
order. --lenient: a syscall may have been refused by the engine's own profile, which no record tells of.
Prints what is wrong; says nothing where all is right."""
import json
import sys


def rows(path):
    with open(path, encoding="utf-8") as f:
        return [line.split() for line in f if line.strip() and not line.startswith("#")]


def describe(event):
    p = event["payload"]
    return f'{p.get("op", p.get("name"))} {p.get("path")} by {event["verdict"].get("policy_rule")}'


def list_of(events):
    return "; ".join(sorted({describe(e) for e in events})) or "nothing"


def is_of(event, path):
    """What is replaced by a rename is its target."""
    return event["event_type"] in ("filesystem", "process") and path in (event["payload"].get("path"), event["payload"].get("target"))


def fault(row, said, events, lenient):
    way, act, path, expected, rule = row
    if said[1:4] != [way, act, path]:
        return f"said of something else: {said}"
    if said[4] == "chroot:EPERM": # it did not come as far as the path
        expected, rule = "syscall:chroot", "?"
    mine = [e for e in events if e["payload"].get("process", {}).get("container_pid") == int(said[0])]
    refused = [e for e in mine if e["verdict"]["result"] == "deny"]
    closed = expected.startswith("syscall:")
    if said[4] == "ok":
        return "succeeded; recorded: " + list_of(mine)
    if not refused and (said[4] == "chroot:EPERM" or (closed and lenient)):
        return None # by the kernel, for want of a capability, or by the engine's profile
    if closed:
        right = [e for e in refused if e["event_type"] == "syscall" and e["payload"]["name"] == expected[8:]]
    else:
        true = path if expected == "=" else expected
        right = [e for e in refused if is_of(e, true)]
    if not right:
        return f"{said[4]}, but recorded: " + list_of(mine)
    if len(right) != len(refused):
        return "also refused: " + list_of(e for e in refused if e not in right)
    for e in right:
        process = e["payload"]["process"]
        if not e["payload"].get("blocked") or e["verdict"]["action"] != "denied":
            return f'not marked as blocked: {e["verdict"]}'
        if rule not in ("?", e["verdict"]["policy_rule"] or "-"):
            return f'by rule {e["verdict"]["policy_rule"]}: {e["verdict"]["reason"]}'
        if process.get("exe") != "/bin/attack" or process.get("comm") != "attack" or process["pid"] <= 1:
            return f"blamed on {process}"
    return None


def main():
    table, output = rows(sys.argv[1]), rows(sys.argv[2])
    with open(sys.argv[3], encoding="utf-8") as f:
        events = [json.loads(line) for line in f]
    events = [e for e in events if e["event_type"] in ("filesystem", "process", "syscall")]
    faults = 0
    if len(table) != len(output):
        print(f"{len(table)} attacks, {len(output)} answers")
        faults += 1
    for row, said in zip(table, output):
        why = fault(row, said, events, "--lenient" in sys.argv)
        if why:
            print(" ".join(row[:3]) + ": " + why)
            faults += 1
    return 1 if faults else 0


sys.exit(main())
