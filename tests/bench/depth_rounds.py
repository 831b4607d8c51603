#!/usr/bin/python3
"""The rounds and the sums of depth.sh: nothing here knows about bats or the build."""
import argparse
import random
import statistics
import subprocess

KINDS = ("plain", "again", "strict", "record", "guard")
WORK = {
    "open, hot": ["clock", "open", "/etc/passwd", "2000"],
    "open in the scope, hot": ["clock", "open", "/workspace/ticks", "2000"],
    "find and grep, system": ["clock", "run", "sh", "-c", "find /opt/files -type f | xargs grep -l nothing >/dev/null; true"],
    "find and grep, scope": ["clock", "run", "sh", "-c", "find /workspace/files -type f | xargs grep -l nothing >/dev/null; true"],
    "untar 2,000": ["clock", "run", "tar", "-C", "/workspace/out", "-xf", "/opt/files.tar"],
    "fork and exec, 200": ["clock", "run", "sh", "-c", "for i in $(seq 200); do clock open / 1 >/dev/null; done"],
}


def in_container(args, ident, command):
    """Standard output of a command there."""
    return subprocess.run([args.runtime, "--root", args.root, "exec", ident, *command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, check=True).stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--root", required=True)
    parser.add_argument("--runtime", required=True)
    parser.add_argument("--ids", nargs=len(KINDS), required=True)
    args = parser.parse_args()
    ids = dict(zip(KINDS, args.ids))
    for ident in args.ids:
        in_container(args, ident, ["touch", "/workspace/ticks"])
    print(f"{'':<24} {'plain':>12}  " + "  ".join(f"{kind:>20}" for kind in KINDS[1:]))
    for name, command in WORK.items():
        took = {kind: [] for kind in KINDS}
        for _ in range(args.rounds):
            for kind in random.sample(KINDS, len(KINDS)):
                took[kind].append(int(in_container(args, ids[kind], command)))
                if name.startswith("untar"):
                    in_container(args, ids[kind], ["rm", "-rf", "/workspace/out/files"])
        cells = []
        for kind in KINDS[1:]:
            ratios = [ours / plain for ours, plain in zip(took[kind], took["plain"])]
            cells.append(f"{statistics.median(ratios):6.2f} ({min(ratios):5.2f} {max(ratios):5.2f})")
        print(f"{name:<24} {statistics.median(took['plain']) / 1000:9.1f} µs  " + "  ".join(f"{c:>20}" for c in cells), flush=True)


if __name__ == "__main__":
    main()
