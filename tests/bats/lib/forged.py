#!/usr/bin/env python3
"""forged.py TRACE: a trace as nobody but an attacker would write it, with a chain that stands: words that are none of ours, numbers that
add up to more than fits, objects in objects."""
import hashlib
import json
import sys

HOSTILE = ['<script>alert(1)</script>', 'a"b\\c\nd', '\x1b[31m', '\u202egnp', '\u2028', 'x' * 4096, '']
MOST = 2**53 - 1


def records():
    for word in HOSTILE:
        yield word, {"op": word, "path": "/" + word}, word
    for _ in range(1100):
        yield "sensor", {"lost": MOST, "sensor": "x", "state": "y"}, "none"
        yield "security_pause", {"freeze_us": MOST, "pause_id": "p"}, "none"
        yield "network_egress", {"bytes_received": MOST, "bytes_sent": MOST, "count": MOST, "dst_ip": "192.0.2.1", "dst_port": 443, "protocol": "tcp"}, "none"
    yield "sensor", {"lost": "many"}, "none"
    yield "sensor", {"lost": -5}, "none"
    yield "network_egress", {"dst_ip": "192.0.2.1", "dst_port": MOST, "count": -MOST}, "none"
    deep = {}
    for _ in range(60):
        deep = {"lost": deep}
    yield "sensor", deep, "none"


head = None
with open(sys.argv[1], "w", encoding="utf-8") as out:
    for seq, (kind, payload, word) in enumerate(records(), 1):
        record = {"agent_id": "forged", "event_id": "evt_01KMN081G0AVG5BEMGGPBQGSCZ", "event_type": kind, "evidence_tier": "kernel", "payload": payload,
                  "prev_hash": head, "schema_version": "1.0", "seq": seq, "trace_id": "t",
                  "verdict": {"action": word, "policy_rule": word, "policy_sha256": None, "reason": word, "result": word, "severity": word},
                  "wall_time": "2026-03-26T12:00:00.000000Z"}

        def text():
            return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))

        record["record_hash"] = head = "sha256:" + hashlib.sha256((text() + (head or "")).encode()).hexdigest()
        out.write(text() + "\n")
