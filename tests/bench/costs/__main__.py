"""Measures, and writes the three files. Started by bench.sh, which has made the place.

    bench.sh [--size full|quick|tiny] [--rounds N] [--workloads A,B…] [--configurations A,B…] [--out DIR] [--name NAME] [--append]
    bench.sh --report [--out DIR] [--name NAME]      the table and the chart once more, from the JSON
"""
import argparse
import datetime
import os
import platform
import random
import sys

from . import configurations, rounds, store, sums, workloads

DEFAULT_ROUNDS = {"full": 15, "quick": 3, "tiny": 1}


def arguments():
    parser = argparse.ArgumentParser(prog="bench.sh", description="What watching costs. Method: docs/bench/README.md")
    parser.add_argument("--size", choices=workloads.SIZES, default="full", help="of the work (%(default)s)")
    parser.add_argument("--rounds", type=int, help="15, quick 3, tiny 1; a difference below 5 %% needs 15")
    parser.add_argument("--workloads", help="only these, with commas between")
    parser.add_argument("--configurations", help="only these; plain and again are always there")
    parser.add_argument("--out", default="docs/bench", help="the folder of the files (%(default)s)")
    parser.add_argument("--name", default="results", help="of the files (%(default)s)")
    parser.add_argument("--append", action="store_true", help="to what is in the JSON: a figure that is there is replaced")
    parser.add_argument("--report", action="store_true", help="measure nothing: make the table and the chart from the JSON")
    parser.add_argument("--seed", type=int, help="of the shuffling")
    for name in ("--box", "--server", "--port", "--version"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    return parser.parse_args()


def chosen(words, table, what):
    """Those that are named, in the table's order; all where none is."""
    names = words.split(",") if words else list(table)
    unknown = [name for name in names if name not in table]
    if unknown:
        sys.exit(f"bench: no {what} {', '.join(unknown)}; there are {', '.join(table)}")
    return {name: table[name] for name in table if name in names}


def present(table, wanted):
    """(those that can be had, {name: why not}); the A/A pair always."""
    here, absent = {}, {}
    for name, configuration in table.items():
        if name in (sums.BASELINE, sums.AGAIN):
            here[name] = configuration
        elif name in wanted:
            why = configuration.absent()
            if why:
                absent[name] = why
            else:
                here[name] = configuration
    return here, absent


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"Linux {platform.release()}, {os.cpu_count()} × {model}"


def measure(args):
    every = configurations.table()
    here, absent = present(every, chosen(args.configurations, every, "configuration"))
    for name, why in absent.items():
        print(f"{name}: {why}")
    work = chosen(args.workloads, workloads.table(args.size, args.server, args.port), "workload")
    count = args.rounds or DEFAULT_ROUNDS[args.size]
    path = os.path.join(args.out, f"{args.name}.json")
    slices = store.load(path, args.size) if args.append else []
    piece = {"version": args.version, "machine": machine(), "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
             "size": args.size, "rounds": count, "absent": absent, "workloads": {}}
    slices.append(piece)
    base = os.path.join(os.environ["WORLD"], "base")
    for workload in work.values():
        workload.prepare(base, rounds.runs_of(here, count))
    text = ""
    for name, workload in work.items():
        piece["workloads"][name] = rounds.measure(workload, here, args.box, count, random.Random(args.seed))
        # After each, so that what was measured is kept when the time is over.
        text = store.save(args.out, args.name, slices)
        cells = {entry: sums.cell(piece["workloads"][name], entry) for entry in here if entry != sums.BASELINE}
        print(f"{name}: " + ", ".join(f"{entry} {found['ratio']['median']:.2f}" + (f" ({found['missed']})" if found["missed"] else "")
                                      for entry, found in cells.items()), flush=True)
    return text


def main():
    args = arguments()
    try:
        if args.report:
            text = store.save(args.out, args.name, store.load(os.path.join(args.out, f"{args.name}.json"), None))
        else:
            text = measure(args)
    except (RuntimeError, ValueError) as error:
        sys.exit(f"bench: {error}")
    print("\n" + text)


main()
