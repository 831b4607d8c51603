#!/usr/bin/env python3
"""How soon a violation stands still, and whether it runs on.

    freeze_trials.py STATE_DIR/ID PAGE TRACE TRIALS

A container runs tests/attack/marker, which opens what its policy pauses on. For each trial: wait for the
pause, note the counter behind the open, watch it, let the container go on. Prints how often the counter moved
while the container was paused (it must not) and the distribution of freeze_us."""
import json
import mmap
import os
import socket
import struct
import sys
import time


def ask(control, request):
    s = socket.socket(socket.AF_UNIX)
    s.connect(control)
    s.sendall(json.dumps(request).encode() + b"\n")
    line = s.makefile().readline()
    s.close()
    return json.loads(line)


def counters(page):
    return struct.unpack("QQQ", page[:24])


def main():
    state, page_file, trace, trials = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    dirfd = os.open(state, os.O_RDONLY)
    control = f"/proc/self/fd/{dirfd}/control.sock"
    with open(page_file, "r+b") as f:
        page = mmap.mmap(f.fileno(), 24)
    moved = sibling_moved = opened = 0
    for _ in range(trials):
        while not ask(control, {"request": "pending"})["pending"]:
            pass
        before = counters(page)
        time.sleep(0.002)
        after = counters(page)
        moved += after[0] != before[0]
        sibling_moved += after[1] != before[1]
        opened = after[2]
        pending = ask(control, {"request": "pending"})["pending"]
        ask(control, {"request": "deny", "pause_id": pending[0]["pause_id"]})
    times = []
    with open(trace) as f:
        for line in f:
            record = json.loads(line)
            if record["event_type"] == "security_pause":
                times.append(record["payload"]["freeze_us"])
    times.sort()
    pick = lambda q: times[min(len(times) - 1, int(len(times) * q))]
    print(f"trials {trials}: ran on {moved}, sibling ran on {sibling_moved}, opens that succeeded {opened}")
    print(f"freeze_us: p50 {pick(.5)} p95 {pick(.95)} p99 {pick(.99)} max {times[-1]}")
    sys.exit(1 if moved or opened or sibling_moved else 0)


main()
