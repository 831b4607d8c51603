#!/usr/bin/python3
"""The rounds and the sums of syscall.sh and open.sh: nothing here knows about bats or the build.

Three containers make the same use, and a process in the groups of the first makes it of somebody who answers and does
nothing else (bare), or reads what an answer may depend on before (look). What is added is the kernel's way of asking,
its way of telling, and what is ours."""
import argparse
import random
import statistics
import subprocess
import sys

MAX_AA_US = 0.5      # beyond this the machine was too uneven for a result
USES = {             # in the container; bare; look; the most that may be added at the median, on an idle machine
    "chroot": (["ask", "clock", "chroot"], "call", "text", 8.0),
    "kcmp": (["ask", "clock", "kcmp"], "call", None, 8.0),
    "open": (["clock", "each", "/etc/passwd"], "open", "look", 10.0),
}


def microseconds(command):
    """Of one use: the median of many, and what nine of ten stay below."""
    out = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout.split()
    return int(out[0]) / 1000, int(out[1]) / 1000


def show(name, values):
    print(f"  {name:<12} {statistics.median(values):8.2f} µs   ({min(values):.2f} to {max(values):.2f})")


def measure(args, use):
    command, bare, look, limit = USES[use]
    count = str(args.calls)
    inside = [args.runtime, "--root", args.root, "exec"]
    kinds = {kind: [*inside, getattr(args, kind), *command, count] for kind in ("plain", "again", "sandtrace")}
    kinds["bare"] = [args.bare, bare, args.pid, count]
    if look:
        kinds["look"] = [args.bare, look, args.pid, count]
    took = {kind: [] for kind in kinds}
    high = []
    for _ in range(args.rounds):
        for kind in random.sample(list(kinds), len(kinds)):
            median, ninety = microseconds(kinds[kind])
            took[kind].append(median)
            if kind == "sandtrace":
                high.append(ninety)

    def differ(a, b):
        return [x - y for x, y in zip(took[a], took[b])]

    added = statistics.median(differ("sandtrace", "plain"))
    parts = [f"bare {statistics.median(differ('bare', 'plain')):.2f}"]
    if look:
        parts.append(f"look {statistics.median(differ('look', 'bare')):.2f}")
    parts.append(f"ours {statistics.median(differ('sandtrace', 'look' if look else 'bare')):.2f}")
    uneven = statistics.median(abs(d) for d in differ("again", "plain"))
    print(f"{use}: {args.rounds} rounds of {count}")
    for kind, values in took.items():
        show(kind, values)
    show("nine of ten", high)
    print(f"  added {added:.2f} µs at the median (limit {limit:.0f}): {', '.join(parts)}; A/A differs by {uneven:.2f} µs",
          flush=True)
    return added <= limit, uneven


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--calls", type=int, default=5000)
    parser.add_argument("--assert", dest="hold", action="store_true")
    parser.add_argument("--uses", nargs="+", choices=USES, required=True)
    for name in ("root", "runtime", "plain", "again", "sandtrace", "bare", "pid"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    results = [measure(args, use) for use in args.uses]
    if not args.hold:
        return 0
    if any(uneven > MAX_AA_US for _, uneven in results):
        print("no result: the machine was too uneven")
        return 1
    return 0 if all(kept for kept, _ in results) else 1


if __name__ == "__main__":
    sys.exit(main())
