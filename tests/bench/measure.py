#!/usr/bin/python3
"""The clock and the sums of start.sh: nothing here knows about bats or the build.

    measure.py start --rounds N --runs N --bundle DIR --pristine FILE --root DIR --id PREFIX --plain RUNC --nothing PROGRAM
                --sandtrace RUNTIME
    measure.py idle --state STATE.JSON

Method: each round shuffles its runs; a round's medians are compared with the
same round's plain median; shown are medians over rounds with their extremes.
"""
import argparse
import json
import os
import random
import select
import shutil
import statistics
import sys
import time

MAX_ADDED_MS = 2.0      # start, median against plain
MAX_AA_RATIO = 0.02     # beyond this the machine was too uneven for a result
MAX_PSS_KB = 2048       # warden and worker together
MAX_PRIVATE_KB = 512
IDLE_SECONDS = 10
SETTLE_SECONDS = 5
WALL, CPU = 0, 1


class CpuClock:
    """Processor time of everything that descends from us, containers and monitors with it, by a v1 cpuacct group.

    It says what a start costs also where the machine is too busy for the wall clock; without that hierarchy it
    stands still."""

    def __init__(self, name):
        self.file = None
        if os.path.exists("/sys/fs/cgroup/cpuacct/cpuacct.usage"):
            group = os.path.join("/sys/fs/cgroup/cpuacct", name)
            os.makedirs(group, exist_ok=True)
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as procs:
                procs.write(str(os.getpid()))
            self.file = open(os.path.join(group, "cpuacct.usage"), encoding="ascii")

    def now_ns(self):
        if not self.file:
            return 0
        self.file.seek(0)
        return int(self.file.read())


def take_precedence(name):
    """What else the machine does waits for us, where there is a v1 hierarchy to say so: the containers' own groups lie below."""
    if os.path.exists("/sys/fs/cgroup/cpu/cpu.shares"):
        group = os.path.join("/sys/fs/cgroup/cpu", name)
        os.makedirs(group, exist_ok=True)
        for file, value in (("cpu.shares", "262144"), ("cgroup.procs", str(os.getpid()))):
            with open(os.path.join(group, file), "w", encoding="ascii") as out:
                out.write(value)


def with_hook(pristine, hook):
    """The same bundle with a hook that does nothing."""
    with open(pristine, encoding="utf-8") as file:
        config = json.load(file)
    config["hooks"] = {"createRuntime": [{"path": hook}]}
    with open(pristine + ".hook", "w", encoding="utf-8") as file:
        json.dump(config, file)
    return pristine + ".hook"


def new_bundle(kind, args):
    """As an engine: a new one each time."""
    shutil.copy(kind[1], os.path.join(args.bundle, "config.json"))


def timed(kind, args, *command):
    """Milliseconds of one command of the runtime by the wall clock and of the processor; its exit code must be 0."""
    front = kind[0]
    runtime = front[0]
    argv = [*front, "--root", args.root, *command]
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1)]
    cpu = args.cpu.now_ns()
    begin = time.perf_counter_ns()
    pid = os.posix_spawn(runtime, argv, os.environ, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    end = time.perf_counter_ns()
    cpu = args.cpu.now_ns() - cpu
    os.close(null)
    if status != 0:
        sys.exit(f"{' '.join(argv)}: status {status}")
    return (end - begin) / 1e6, cpu / 1e6


def timed_run(kind, args, ident):
    new_bundle(kind, args)
    return timed(kind, args, "run", "--bundle", args.bundle, ident)


def timed_phases(kind, args, ident):
    """Milliseconds of `create`, of `start`, and of `delete` once the container has ended."""
    new_bundle(kind, args)
    pid_file = os.path.join(args.bundle, "pid")
    create = timed(kind, args, "create", "--bundle", args.bundle, "--pid-file", pid_file, ident)[WALL]
    with open(pid_file, encoding="ascii") as file:
        init = os.pidfd_open(int(file.read()))
    begin = timed(kind, args, "start", ident)[WALL]
    select.select([init], [], [])
    os.close(init)
    return create, begin, timed(kind, args, "delete", ident)[WALL]


def phases(args, kinds):
    """Where the time goes: shim, the monitor's own start and the wait for it are in `create`, what is asked about the first
    program in `start`, the wait for the sealed trace in `delete`."""
    names = ("plain", "nothing", "sandtrace")
    order = [name for name in names for _ in range(args.runs)]
    random.shuffle(order)
    times = {name: [] for name in names}
    for n, name in enumerate(order):
        times[name].append(timed_phases(kinds[name], args, f"{args.id}-phase-{n}"))
    medians = {name: [statistics.median(column) for column in zip(*values)] for name, values in times.items()}
    for name in names:
        parts = zip(("create", "start", "delete"), medians[name], medians["plain"])
        print(f"  {name:12} " + "   ".join(f"{part} {ms:.2f} ms ({ms - plain:+.2f})" for part, ms, plain in parts))


def one_round(number, args, kinds):
    order = [kind for kind in kinds for _ in range(args.runs)]
    random.shuffle(order)
    times = {kind: [] for kind in kinds}
    for n, kind in enumerate(order):
        times[kind].append(timed_run(kinds[kind], args, f"{args.id}-{number}-{n}"))
    return {kind: [statistics.median(column) for column in zip(*values)] for kind, values in times.items()}


def spread(values, form):
    return f"{form % statistics.median(values)}  ({form % min(values)} to {form % max(values)})"


def added(rounds, clock, kind="sandtrace"):
    return statistics.median(r[kind][clock] - (r["plain"][clock] + r["plain again"][clock]) / 2 for r in rounds)


def start(args):
    take_precedence(args.id)
    args.cpu = CpuClock(args.id)
    plain = ([args.plain], args.pristine)
    kinds = {"plain": plain, "plain again": plain,
             "nothing": ([args.nothing, args.plain], with_hook(args.pristine, args.nothing)),
             "sandtrace": ([args.sandtrace], args.pristine)}
    for kind in kinds:  # caches warm, once each; not counted
        timed_run(plain, args, f"{args.id}-warm-{kind.split()[-1]}")
    rounds = [one_round(number, args, kinds) for number in range(args.rounds)]
    print(f"start of `true`: {args.rounds} rounds of {args.runs} runs; median of rounds (least to most)")
    for kind in kinds:
        print(f"  {kind:12} {spread([r[kind][WALL] for r in rounds], '%.2f')} ms"
              f"   ratio {spread([r[kind][WALL] / r['plain'][WALL] for r in rounds], '%.3f')}"
              f"   processor {spread([r[kind][CPU] for r in rounds], '%.2f')} ms")
    aa = statistics.median(r["plain again"][WALL] / r["plain"][WALL] for r in rounds) - 1
    print(f"  added by sandtrace: {added(rounds, WALL):.2f} ms, processor {added(rounds, CPU):.2f} ms"
          f"   A/A difference: {aa * 100:+.2f} %")
    print(f"  of it by two programs that do nothing in our places: {added(rounds, WALL, 'nothing'):.2f} ms,"
          f" processor {added(rounds, CPU, 'nothing'):.2f} ms")
    phases(args, kinds)
    return [
        (abs(aa) <= MAX_AA_RATIO, f"the A/A pair differs by {aa * 100:.2f} %: no result"),
        (added(rounds, WALL) <= MAX_ADDED_MS, f"{added(rounds, WALL):.2f} ms added, at most {MAX_ADDED_MS} allowed"),
    ]


def proc_sum(pids, name, keys):
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/{name}", encoding="utf-8") as lines:
            total += sum(int(line.split()[1]) for line in lines if line.split(":")[0] in keys)
    return total


def wake_ups(pids):
    return proc_sum(pids, "status", ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"))


def wait_until_quiet(pids):
    """What is put off until after readiness (moving to cgroups …) is not idleness: two looks, a while apart, with nothing
    between them but the dead man's switch."""
    while True:
        before = wake_ups(pids)
        time.sleep(SETTLE_SECONDS)
        if wake_ups(pids) - before <= SETTLE_SECONDS + 1:
            return


def idle(args):
    with open(args.state, encoding="utf-8") as file:
        state = json.load(file)
    pids = [state["warden"], state["worker"]]
    wait_until_quiet(pids)
    before = wake_ups(pids)
    time.sleep(IDLE_SECONDS)
    woken = wake_ups(pids) - before
    pss = proc_sum(pids, "smaps_rollup", ("Pss",))
    private = proc_sum(pids, "smaps_rollup", ("Private_Clean", "Private_Dirty"))
    print(f"idle monitor: {woken} wake-ups in {IDLE_SECONDS} s; warden and worker {pss} KB PSS, of it {private} KB private")
    return [
        (woken <= IDLE_SECONDS + 1, f"{woken} wake-ups, one a second allowed, for the dead man's switch"),
        (pss <= MAX_PSS_KB, f"{pss} KB PSS, at most {MAX_PSS_KB} allowed"),
        (private <= MAX_PRIVATE_KB, f"{private} KB private, at most {MAX_PRIVATE_KB} allowed"),
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("start", "idle"))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--assert", dest="hold", action="store_true")
    for name in ("bundle", "pristine", "root", "id", "plain", "nothing", "sandtrace", "state"):
        parser.add_argument(f"--{name}")
    args = parser.parse_args()
    limits = start(args) if args.what == "start" else idle(args)
    broken = [words for holds, words in limits if not holds]
    for words in broken:
        print(f"  over the limit: {words}")
    if args.hold and broken:
        sys.exit(1)


main()
