#!/usr/bin/env python3
"""cross_check.py PROGRAM DIR COUNT SEED: COUNT random events, written by PROGRAM (tests/audit/write_events) and, on its
own, by reference.py. Every byte of every line must agree; only the event's id is taken from the line."""

import json
import random
import subprocess
import sys

import reference

PIECES = [b"/workspace", b"/src/main.c", b"\xc3\xa9t\xc3\xa9", b"\xff", b"\xe2\x82", b"\xf0\x9f\x98\x80", b"\n", b"\t", b"\x00",
          b"\x1f", b"\x7f", b'"', b"\\", b" ", b"a", b"-", b"\xed\xa0\x80", b"\xc0\xaf", b"\xef\xbf\xbd", b"\xe2\x80\xa8", b"<script>",
          b"0123456789abcdef0123456789abcdef", b"\x1b[31m", b"\xf4\x90\x80\x80"]


def text(r, most=6):
    return b"".join(r.choice(PIECES) for _ in range(r.randrange(most))).hex()


def maybe(r, spec, name, value):
    if r.random() < 0.7:
        spec[name] = value


def number(r):
    return r.choice([0, 1, -1, r.randrange(1 << 16), r.randrange(1 << 40), 2**53 - 1, 2**53, 2**62, -(2**60)])


def some_json(r, depth=3):
    kind = r.randrange(6 if depth else 4)
    if kind == 0:
        return r.choice([None, True, False])
    if kind == 1:
        return r.randrange(-(2**53) + 1, 2**53)
    if kind in (2, 3):
        return bytes.fromhex(text(r)).decode("utf-8", "replace")
    if kind == 4:
        return [some_json(r, depth - 1) for _ in range(r.randrange(4))]
    return {bytes.fromhex(text(r)).decode("utf-8", "replace"): some_json(r, depth - 1) for _ in range(r.randrange(4))}


def argv(r):
    return (b"".join(bytes.fromhex(text(r)) + b"\0" for _ in range(r.randrange(5))) + r.choice([b"", b"cut"])).hex()


def program(r, spec):
    for name in ("new", "deleted", "memfd", "unhashed"):
        spec[name] = r.random() < 0.2


def process(r):
    p = {}
    for name in ("comm", "exe", "cwd"):
        maybe(r, p, name, text(r))
    maybe(r, p, "argv", argv(r))
    for name in ("pid", "container_pid"):
        maybe(r, p, name, r.randrange(1 << 22))
    for name in ("uid", "gid"):
        maybe(r, p, name, r.choice([0, 1000, 65534, 2**32 - 1]))
    maybe(r, p, "incomplete", r.random() < 0.5)
    p["ancestry"] = [{"pid": r.randrange(1 << 22), "comm": text(r), "exe": text(r)} for _ in range(r.randrange(4))]
    return p


def address(r):
    return r.choice(["1.2.3.4", "255.255.255.255", "::1", "2001:db8::1", "fe80::1:0:0:1", "1:0:2:0:3:0:4:0", "::"])


def specific(r, spec):
    kind = spec["type"]
    spec["blocked"] = r.random() < 0.3
    if kind == "filesystem":
        spec.update(op=r.choice(["open", "exec", "create", "modify", "delete", "rename", "link", "attrib", "mount"]),
                    access=r.randrange(64), dev=r.choice([0, 2049, 2**63 + 5]), ino=r.choice([0, 131, 2**53, 2**64 - 1]))
        for name in ("path", "target", "sha256"):
            maybe(r, spec, name, text(r, 12))
        program(r, spec)
        maybe(r, spec, "size", number(r))
    elif kind.startswith("network"):
        spec.update(port=r.randrange(65536), protocol=r.randrange(256), state=r.choice(["attempt", "established", "closed"]),
                    host_source=r.choice(["unknown", "dns", "sni", "http_host"]))
        maybe(r, spec, "host", text(r))
        maybe(r, spec, "ip", address(r))
        for name in ("bytes_sent", "bytes_received", "packets_sent", "packets_received", "duration_ms"):
            maybe(r, spec, name, number(r))
    elif kind == "dns_query":
        spec.update(qtype=r.choice([1, 28, 65, 257, 65280, 0]), answers=[text(r) for _ in range(r.randrange(4))])
        maybe(r, spec, "name", text(r))
        maybe(r, spec, "ip", address(r))
    elif kind == "process":
        spec["op"] = r.choice(["exec", "fork_limit", "depth_limit", "exit"])
        for name in ("path", "interpreter", "sha256", "target"):
            maybe(r, spec, name, text(r))
        maybe(r, spec, "argv", argv(r))
        program(r, spec)
        spec["incomplete"] = r.random() < 0.2
        for name in ("depth", "children", "processes", "exit_code", "exit_signal"):
            maybe(r, spec, name, number(r))
    elif kind == "syscall":
        maybe(r, spec, "name", text(r))
        maybe(r, spec, "args", {"a": some_json(r)})
        spec["memfd"] = r.random() < 0.2
    else:
        spec["json"] = {"x": some_json(r), "\u20ac": 1, "": 2}


def event(r, at):
    spec = {"type": r.choice(["lifecycle", "filesystem", "filesystem_summary", "network_egress", "network_ingress",
                              "dns_query", "process", "syscall", "security_pause", "sensor"]),
            "tier": r.choice(["kernel", "derived", "polled"]), "wall_us": at}
    specific(r, spec)
    if "json" not in spec:
        maybe(r, spec, "process", process(r))
        if r.random() < 0.3:
            spec.update(count=r.choice([1, 2, 1000, 2**53, 2**64 - 1]), first_us=at - 5000000, last_us=at - 1)
    if r.random() < 0.9:
        v = {"result": r.choice(["allow", "deny", "anomaly"]), "action": r.choice(["none", "denied", "paused", "killed"]),
             "severity": r.choice(["none", "low", "medium", "high", "critical"])}
        maybe(r, v, "rule", text(r))
        maybe(r, v, "reason", text(r))
        maybe(r, v, "policy_sha256", "%064x" % r.getrandbits(256))
        spec["verdict"] = v
    return spec


def main():
    program, folder, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    r = random.Random(seed)
    at, specs, lines = 1774526400000000, [], []
    for _ in range(count):
        at += r.choice([0, 1, 999, 1000, 700000, 86400000000, -1000])
        spec = event(r, at)
        specs.append(spec)
        # Raw JSON goes to the writer in canonical form, as its callers hand it over.
        sent = dict(spec)
        for name in ("json", "args"):
            if name in spec:
                sent[name] = reference.canonical(spec[name])
        lines.append(json.dumps(sent))
    path = folder + "/cross.jsonl"
    subprocess.run([program, folder, path, "agent \u00e9\n\"7\"", "trace-1"], input="\n".join(lines) + "\n", text=True, check=True)

    written = open(path, "rb").read().decode("utf-8").split("\n")
    assert written.pop() == "" and len(written) == count + 1, "%d lines" % len(written)
    prev = last_id = None
    for seq, (spec, line) in enumerate(zip(specs, written), 1):
        event_id = json.loads(line)["event_id"]
        assert last_id is None or event_id > last_id, "event ids do not ascend"
        expected = reference.record_of(spec, seq, prev, "agent \u00e9\n\"7\"", "trace-1", event_id)
        if expected != line:
            sys.exit("seq %d differs\nexpected %s\nwritten  %s" % (seq, expected, line))
        prev, last_id = json.loads(line)["record_hash"], event_id
    records = reference.read_trace(path, reference.read_public_key(folder + "/trace.pub"))
    assert records[-1]["payload"]["final"] is True
    print("%d events agree" % count)


if __name__ == "__main__":
    main()
