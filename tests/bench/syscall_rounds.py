#!/usr/bin/python3
"""The rounds and the sums of syscall.sh: nothing here knows about bats or the build."""
import argparse
import random
import statistics
import subprocess
import sys

MAX_ADDED_US = 8.0   # median, on an idle machine
MAX_AA_US = 0.5      # beyond this the machine was too uneven for a result
CALLS = ("chroot", "kcmp")


def once(args, ident, call):
    """Microseconds of one call: the median of many, and what nine of ten stay below."""
    out = subprocess.run([args.runtime, "--root", args.root, "exec", ident, "ask", "clock", call, str(args.calls)],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout.split()
    return int(out[0]) / 1000, int(out[1]) / 1000


def show(name, values):
    print(f"  {name:<12} {statistics.median(values):8.2f} µs   ({min(values):.2f} to {max(values):.2f})")


def measure(args, call):
    kinds = {"plain": args.plain, "again": args.again, "sandtrace": args.sandtrace}
    took = {kind: [] for kind in kinds}
    high = []
    for _ in range(args.rounds):
        for kind in random.sample(list(kinds), len(kinds)):
            median, ninety = once(args, kinds[kind], call)
            took[kind].append(median)
            if kind == "sandtrace":
                high.append(ninety)
    added = statistics.median(s - p for s, p in zip(took["sandtrace"], took["plain"]))
    uneven = statistics.median(abs(a - p) for a, p in zip(took["again"], took["plain"]))
    print(f"{call}: {args.rounds} rounds of {args.calls} calls")
    for kind, values in took.items():
        show(kind, values)
    show("nine of ten", high)
    print(f"  added {added:.2f} µs at the median; A/A differs by {uneven:.2f} µs")
    return added, uneven


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--assert", dest="hold", action="store_true")
    for name in ("root", "runtime", "plain", "again", "sandtrace"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    results = [measure(args, call) for call in CALLS]
    if not args.hold:
        return 0
    if any(uneven > MAX_AA_US for _, uneven in results):
        print("no result: the machine was too uneven")
        return 1
    return 1 if any(added > MAX_ADDED_US for added, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
