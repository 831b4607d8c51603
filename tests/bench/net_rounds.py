#!/usr/bin/python3
"""Rounds, clock and sums of net.sh. In each container one process carries out the loads, so that nothing is started
between two of them. Each round shuffles its runs; ratios are to the same round's plain one; shown are medians over
rounds, of the last one with its extremes. The last line: how many connections the watched container made."""
import argparse
import random
import statistics
import subprocess

LIMITS = {"bulk": 1.02, "address": 1.15, "name": 1.45}
MAX_AA = 0.02  # beyond this the machine was too uneven for a result
KINDS = ("plain", "again", "tracked", "sandtrace")
RUNS = 5  # of each kind, in a round; the shortest counts


def loads(args):
    return {
        "bulk": ["bulk", args.address],
        "address": ["address", args.address, args.port, "100"],
        "name": ["name", args.name, "100"],
    }


class Box:
    def __init__(self, args, container):
        command = [args.runtime, "--root", args.root, "exec", container, "/usr/bin/python3", "/net_load.py"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.made = 0

    def run(self, load):
        self.process.stdin.write(" ".join(load) + "\n")
        self.process.stdin.flush()
        self.made += int(load[-1]) if len(load) > 2 else 1
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise SystemExit("a load failed")


def one_round(boxes, load):
    kinds = list(boxes) * RUNS
    random.shuffle(kinds)
    times = {}
    for kind in kinds:
        times.setdefault(kind, []).append(boxes[kind].run(load))
    return {kind: min(seen) for kind, seen in times.items()}


def measure(boxes, kind, load, count):
    """Is it over its limit?"""
    for box in boxes.values():
        box.run(load)  # names are asked for, and destinations known
    rounds = [one_round(boxes, load) for _ in range(count)]
    ratio = {k: [r[k] / r["plain"] for r in rounds] for k in KINDS[1:]}
    middle = {k: statistics.median(v) for k, v in ratio.items()}
    plain = statistics.median(r["plain"] for r in rounds)
    print(f"{kind:8} plain {plain * 1000:6.1f} ms   again {middle['again']:.3f}   tracked {middle['tracked']:.3f}   "
          f"sandtrace {middle['sandtrace']:.3f} ({min(ratio['sandtrace']):.3f} to {max(ratio['sandtrace']):.3f}), "
          f"at most {LIMITS[kind]}", flush=True)
    if abs(middle["again"] - 1) > MAX_AA:
        print(f"         the A/A pair differs by {middle['again'] - 1:+.1%}: no result")
        return False
    return middle["sandtrace"] > LIMITS[kind]


def main():
    parser = argparse.ArgumentParser()
    for name in ("root", "runtime", *KINDS, "address", "port", "name"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only", choices=LIMITS, help="this load alone")
    parser.add_argument("--assert", dest="check", action="store_true")
    args = parser.parse_args()
    boxes = {kind: Box(args, getattr(args, kind)) for kind in KINDS}
    over = [measure(boxes, kind, load, args.rounds) for kind, load in loads(args).items() if args.only in (None, kind)]
    for box in boxes.values():
        box.close()
    print(boxes["sandtrace"].made)
    return 1 if any(over) and args.check else 0


raise SystemExit(main())
