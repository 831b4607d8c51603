"""One workload, measured: containers for it alone, rounds of runs in them, what was seen. Owns no figure: sums.py does."""
import subprocess

from . import sums
from .box import cpu_ns, pss_kb, settle


def runs_of(configurations, rounds):
    """How many runs of a workload there are at most in one container, the first one, which is not counted, with them."""
    return 1 + rounds * sums.baselines_of(configurations)


def one_run(workload, configuration, number):
    """(wall, processor, of it by who watches), in nanoseconds."""
    box = configuration.box
    if workload.before:
        box.execute(["sh", "-c", workload.before])
    with configuration.around() as front:
        watchers = configuration.watchers()
        settle(watchers)
        before = cpu_ns(watchers)
        said = box.execute(workload.command(number), front)
        settle(watchers)
        watch = cpu_ns(watchers) - before if watchers else None
    if workload.after:
        box.execute(["sh", "-c", workload.after])
    # What the work itself prints stands before.
    wall, cpu = map(int, said.split()[-2:])
    return wall, cpu, watch


def measure(workload, configurations, script, rounds, rng):
    """What sums.py calls a workload of a slice."""
    names = list(configurations)
    done = dict.fromkeys(names, 0)
    result = {"title": workload.title, "counts": workload.counts, "runs": [], "seen": {}, "pss_kb": {}}

    def run(name):
        found = one_run(workload, configurations[name], done[name])
        done[name] += 1
        return found

    begun = []
    try:
        for index, name in enumerate(names):
            configurations[name].start(script, index + 2)
            begun.append(name)
        for name in names:
            run(name)
        for number in range(rounds):
            for name in sums.order(names, rng):
                wall, cpu, watch = run(name)
                result["runs"].append({"round": number, "configuration": name, "wall_ns": wall, "cpu_ns": cpu, "watch_ns": watch})
        for name in names:
            watchers = configurations[name].watchers()
            if watchers:
                result["pss_kb"][name] = pss_kb(watchers)
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"{workload.name}: {' '.join(map(str, error.cmd))[-300:]}: status {error.returncode}") from error
    finally:
        for name in begun:
            seen = configurations[name].stop()
            if seen:
                result["seen"][name] = {**seen, "runs": done[name]}
    return result
