"""An implementation of the trace format that shares nothing with the C one: canonical JSON (RFC 8785 within our number
range), records, the chain, checkpoints with Ed25519 (RFC 8032), and the older dialect. Written from the format's
description, for tests only: slow, and not constant-time."""

import base64
import hashlib
import ipaddress
import json
import re
from datetime import datetime, timedelta, timezone

# ---- canonical JSON ----


def canonical(value):
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        assert abs(value) < 1 << 53
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(canonical(v) for v in value) + "]"
    keys = sorted(value, key=lambda k: k.encode("utf-16-be"))
    return "{" + ",".join(canonical(k) + ":" + canonical(value[k]) for k in keys) + "}"


# ---- events as records ----

ACCESS = ["read", "write", "exec", "create", "delete", "attrib"]
PROTOCOLS = {1: "icmp", 2: "igmp", 6: "tcp", 17: "udp", 33: "dccp", 47: "gre", 50: "esp", 51: "ah", 58: "icmpv6",
             132: "sctp", 136: "udplite"}
QTYPES = {1: "A", 2: "NS", 5: "CNAME", 6: "SOA", 12: "PTR", 13: "HINFO", 15: "MX", 16: "TXT", 28: "AAAA", 33: "SRV",
          35: "NAPTR", 43: "DS", 46: "RRSIG", 47: "NSEC", 48: "DNSKEY", 52: "TLSA", 64: "SVCB", 65: "HTTPS", 99: "SPF",
          255: "ANY", 257: "CAA"}


def shown(raw):
    """Bytes as text: each byte that is no part of a UTF-8 character is U+FFFD."""
    text = raw.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if 0xDC80 <= ord(c) <= 0xDCFF else c for c in text)


def put_text(out, name, raw):
    if raw is None:
        return
    out[name] = shown(raw)
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        out[name + "_b64"] = base64.b64encode(raw).decode()


def put_known(out, name, value):
    if value is not None:
        out[name] = value


def large(n):
    return n if n < 1 << 53 else str(n)


def time_text(us):
    t = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=us)
    return t.strftime("%Y-%m-%dT%H:%M:%S.") + "%06dZ" % t.microsecond


def clamp(n):
    return n if n is None else max(-(2**53 - 1), min(2**53 - 1, n))


def raw_or_none(spec, name):
    return bytes.fromhex(spec[name]) if name in spec else None


def put_argv(out, argv):
    if argv is None:
        return
    words = argv.split(b"\0")
    if words[-1] == b"":
        words.pop()
    out["argv"] = [shown(w) for w in words]
    try:
        argv.decode("utf-8")
    except UnicodeDecodeError:
        out["argv_b64"] = base64.b64encode(argv).decode()


def put_program(out, spec):
    put_text(out, "sha256", raw_or_none(spec, "sha256"))
    for name in ("new", "deleted", "memfd", "unhashed"):
        if spec.get(name):
            out[name] = True


def process_object(p):
    out = {}
    if p.get("ancestry"):
        out["ancestry"] = []
        for a in p["ancestry"]:
            item = {"pid": a["pid"]}
            put_text(item, "comm", raw_or_none(a, "comm"))
            put_text(item, "exe", raw_or_none(a, "exe"))
            out["ancestry"].append(item)
    put_argv(out, raw_or_none(p, "argv"))
    for name in ("comm", "cwd", "exe"):
        put_text(out, name, raw_or_none(p, name))
    for name in ("pid", "container_pid"):
        if p.get(name):
            out[name] = p[name]
    for name in ("uid", "gid"):
        put_known(out, name, p.get(name))
    if p.get("incomplete"):
        out["incomplete"] = True
    return out


def payload_of(spec):
    kind = spec["type"]
    out = {}
    if kind == "filesystem":
        out["access"] = [a for i, a in enumerate(ACCESS) if spec["access"] >> i & 1]
        out["blocked"] = spec["blocked"]
        out["op"] = spec["op"]
        if spec["dev"] or spec["ino"]:
            out["dev"], out["ino"] = large(spec["dev"]), large(spec["ino"])
        put_text(out, "path", raw_or_none(spec, "path"))
        put_text(out, "target", raw_or_none(spec, "target"))
        put_known(out, "size", clamp(spec.get("size")))
        put_program(out, spec)
    elif kind in ("network_egress", "network_ingress"):
        end = "dst" if kind == "network_egress" else "src"
        put_text(out, end + "_host", raw_or_none(spec, "host"))
        if "host" in spec and spec["host_source"] != "unknown":
            out[end + "_host_source"] = spec["host_source"]
        if "ip" in spec:
            out[end + "_ip"] = str(ipaddress.ip_address(spec["ip"]))
        out[end + "_port"] = spec["port"]
        out["protocol"] = PROTOCOLS.get(spec["protocol"], str(spec["protocol"]))
        out["state"] = spec["state"]
        out["blocked"] = spec["blocked"]
        for name in ("bytes_sent", "bytes_received", "packets_sent", "packets_received", "duration_ms"):
            put_known(out, name, clamp(spec.get(name)))
    elif kind == "dns_query":
        put_text(out, "name", raw_or_none(spec, "name"))
        out["qtype"] = QTYPES.get(spec["qtype"], "TYPE%d" % spec["qtype"])
        out["answers"] = [shown(bytes.fromhex(a)) for a in spec["answers"]]
        if "ip" in spec:
            out["server"] = str(ipaddress.ip_address(spec["ip"]))
        out["blocked"] = spec["blocked"]
    elif kind == "process":
        out["op"] = spec["op"]
        out["blocked"] = spec["blocked"]
        put_argv(out, raw_or_none(spec, "argv"))
        for name in ("path", "interpreter", "target"):
            put_text(out, name, raw_or_none(spec, name))
        put_program(out, spec)
        if spec.get("incomplete"):
            out["incomplete"] = True
        for name in ("depth", "children", "processes", "exit_code", "exit_signal"):
            put_known(out, name, clamp(spec.get(name)))
    elif kind == "syscall":
        put_text(out, "name", raw_or_none(spec, "name"))
        out["blocked"] = spec["blocked"]
        if spec.get("memfd"):
            out["memfd"] = True
        if "args" in spec:
            out["args"] = spec["args"]
    else:
        return spec["json"]
    if spec.get("count", 0) > 1:
        out["count"] = large(spec["count"])
        out["first_time"] = time_text(spec["first_us"])
        out["last_time"] = time_text(spec["last_us"])
    if "process" in spec:
        out["process"] = process_object(spec["process"])
    return out


def record_of(spec, seq, prev, agent_id, trace_id, event_id):
    """The whole record, as one line of canonical JSON with its hash."""
    verdict = spec.get("verdict") or {"result": "allow", "severity": "none", "action": "none"}
    record = {
        "schema_version": "1.0", "event_id": event_id, "event_type": spec["type"], "agent_id": agent_id,
        "trace_id": trace_id, "seq": seq, "prev_hash": prev, "wall_time": time_text(spec["wall_us"]),
        "evidence_tier": spec["tier"], "payload": payload_of(spec),
        "verdict": {
            "result": verdict["result"], "severity": verdict["severity"], "action": verdict["action"],
            "policy_rule": shown(bytes.fromhex(verdict["rule"])) if "rule" in verdict else None,
            "reason": shown(bytes.fromhex(verdict["reason"])) if "reason" in verdict else None,
            "policy_sha256": verdict.get("policy_sha256"),
        },
    }
    record["record_hash"] = record_hash(record)
    return canonical(record)


def record_hash(record):
    rest = {k: v for k, v in record.items() if k != "record_hash"}
    hashed = canonical(rest).encode() + (rest["prev_hash"] or "").encode()
    return "sha256:" + hashlib.sha256(hashed).hexdigest()


# ---- checkpoints ----

P = 2**255 - 19
D = -121665 * pow(121666, P - 2, P) % P
L = 2**252 + 27742317777372353535851937790883648493
B_Y = 4 * pow(5, P - 2, P) % P


def recover_x(y, sign):
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    assert (x * x - x2) % P == 0
    return P - x if x & 1 != sign else x


def point_add(a, b):
    A = (a[1] - a[0]) * (b[1] - b[0]) % P
    B = (a[1] + a[0]) * (b[1] + b[0]) % P
    C = 2 * a[3] * b[3] * D % P
    E = 2 * a[2] * b[2] % P
    e, f, g, h = B - A, E - C, E + C, B + A
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def point_mul(s, point):
    out = (0, 1, 1, 0)
    while s:
        if s & 1:
            out = point_add(out, point)
        point = point_add(point, point)
        s >>= 1
    return out


def point_decode(raw):
    y = int.from_bytes(raw, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    x = recover_x(y, sign)
    return (x, y, 1, x * y % P)


def ed25519_verify(public, message, signature):
    a, r = point_decode(public), point_decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    base_x = recover_x(B_Y, 0)
    left = point_mul(s, (base_x, B_Y, 1, base_x * B_Y % P))
    right = point_add(r, point_mul(h, a))
    return (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0


def read_public_key(path):
    word, text = open(path).read().split()
    assert word == "sandtrace-ed25519-public"
    raw = base64.b64decode(text, validate=True)
    assert len(raw) == 32
    return raw, "ed25519:" + hashlib.sha256(raw).hexdigest()[:16]


def check_checkpoint(record, public, key_id):
    payload = record["payload"]
    assert payload["key_id"] == key_id, "key id"
    assert payload["head"] == record["prev_hash"] and payload["seq"] == record["seq"] - 1, "place"
    signed = {k: v for k, v in record.items() if k != "record_hash"}
    signed["payload"] = {k: v for k, v in payload.items() if k != "signature"}
    message = b"sandtrace-checkpoint-1\n" + canonical(signed).encode()
    assert ed25519_verify(public, message, base64.b64decode(payload["signature"], validate=True)), "signature"


# ---- reading a trace ----


def read_trace(path, key=None):
    """All records of a trace that is whole; an AssertionError says what is wrong."""
    records, prev = [], None
    for number, line in enumerate(open(path, "rb"), 1):
        assert line.endswith(b"\n"), "line %d is cut" % number
        text = line[:-1].decode("utf-8")
        record = json.loads(text)
        assert canonical(record) == text, "line %d is not canonical" % number
        assert record["seq"] == number and record["prev_hash"] == prev, "line %d does not follow" % number
        assert record["record_hash"] == record_hash(record), "line %d was changed" % number
        assert re.fullmatch("evt_[0-9A-HJKMNP-TV-Z]{26}", record["event_id"])
        if key and record["event_type"] == "checkpoint":
            check_checkpoint(record, *key)
        prev = record["record_hash"]
        records.append(record)
    return records


def older_hash(event_id, event_type, sandbox_id, trace_id, seq, prev, wall_time, tier, payload):
    def item(text):
        raw = text.encode()
        return len(raw).to_bytes(8, "little") + raw

    body = json.dumps(payload, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    hashed = item(event_id) + item(event_type) + item(sandbox_id) + item(trace_id) + seq.to_bytes(8, "little")
    hashed += item(prev or "null") + item(wall_time) + item(tier) + item(body)
    return hashlib.sha256(hashed).hexdigest()
