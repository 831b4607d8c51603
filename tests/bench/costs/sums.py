"""From runs to figures: the order of a round, ratios, medians, what counts as a result, the limits. Pure.

A slice is what one call has measured:
    {"version", "date", "size", "rounds", "absent": {configuration: why}, "workloads": {name: {"title", "counts": {kind: n},
     "runs": [{"round", "configuration", "wall_ns", "cpu_ns", "watch_ns"}], "seen": {configuration: {"runs": n, kind: n …}},
     "pss_kb": {configuration: n}}}}
"""
import math
import statistics

BASELINE, AGAIN = "plain", "again"
BASELINE_EVERY = 3
MAX_AA = 0.02        # the A/A pair may differ by that much, or there is no result
FINE_CLAIM = 0.05    # a difference below this is a claim only
FINE_ROUNDS = 15     # with so many rounds
# Which kinds each must have seen. Where the kernel tells of some opens that are alike as one, it is not opens but files: those of
# all runs, and fresh ones, others in each run.
SEES = {
    "guard": ("creates", "execs", "flows"),
    "record": ("files", "fresh", "creates", "execs", "flows"),
    "strict": ("opens", "creates", "execs", "flows"),
    "strace": ("opens", "execs", "flows"),
    "bpftrace": ("opens",),
    "fapolicyd": ("opens",),
}


def order(configurations, rng):
    """Of one round: shuffled, with the baseline in every third slot."""
    others = [name for name in configurations if name != BASELINE]
    rng.shuffle(others)
    slots = []
    while others:
        slots += [BASELINE, *others[:BASELINE_EVERY - 1]]
        del others[:BASELINE_EVERY - 1]
    return slots or [BASELINE]


def baselines_of(configurations):
    """How often the baseline is in a round."""
    return max(1, math.ceil((len(set(configurations) - {BASELINE})) / (BASELINE_EVERY - 1)))


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def wall(run):
    return run["wall_ns"]


def processor(run):
    """Of the workload and of who watches it."""
    return run["cpu_ns"] + (run.get("watch_ns") or 0)


def by_round(runs, configuration, what):
    """{round: [value …]}"""
    values = {}
    for run in runs:
        if run["configuration"] == configuration:
            values.setdefault(run["round"], []).append(what(run))
    return values


def ratios(runs, configuration, what=wall):
    """Of each round: to the median of the same round's baselines."""
    plain = by_round(runs, BASELINE, what)
    return [statistics.median(values) / statistics.median(plain[number])
            for number, values in sorted(by_round(runs, configuration, what).items()) if number in plain]


def missed(configuration, counts, seen):
    """What it must have seen and has not, in words; a fast run that saw less has failed."""
    if configuration in SEES and not seen.get("runs"):
        return "nothing is known of what it saw"
    words = []
    for kind in SEES.get(configuration, ()):
        due = counts.get(kind, 0) * (1 if kind == "files" else seen["runs"])
        if seen.get(kind, 0) < due:
            words.append(f"{seen.get(kind, 0):,} of {due:,} {kind}")
    if seen.get("refused", 0):
        words.append(f"{seen['refused']:,} refused")
    if seen.get("lost", 0):
        words.append(f"{seen['lost']:,} lost")
    return ", ".join(words)


def cell(workload, configuration):
    """One figure of the table with all that belongs to it."""
    runs = [run for run in workload["runs"] if run["configuration"] == configuration]
    found = ratios(workload["runs"], configuration)
    again = ratios(workload["runs"], AGAIN)
    aa = statistics.median(again) if again else None
    seen = workload.get("seen", {}).get(configuration, {})
    ratio = spread(found)
    cpu = sum(run["cpu_ns"] for run in runs)
    watch = [run["watch_ns"] for run in runs if run.get("watch_ns") is not None]
    result = {
        "ratio": ratio, "rounds": len(found), "milliseconds": statistics.median(run["wall_ns"] for run in runs) / 1e6, "aa": aa,
        "even": aa is not None and abs(aa - 1) <= MAX_AA,
        "enough": len(found) >= FINE_ROUNDS or abs(ratio["median"] - 1) >= FINE_CLAIM,
        "missed": missed(configuration, workload.get("counts", {}), seen),
        "events": seen["events"] / seen["runs"] if seen.get("runs") and "events" in seen else None,
        "watch_share": sum(watch) / cpu if watch and cpu else None,
        "processor": spread(ratios(workload["runs"], configuration, processor)) if watch or configuration in (BASELINE, AGAIN) else None,
        "pss_kb": workload.get("pss_kb", {}).get(configuration),
    }
    result["stands"] = result["even"] and not result["missed"]
    return result


def summary(slices):
    """{"workloads": {name: {"title", "cells": {configuration: cell}}}, "means", "absent", "limits"}; a later slice replaces the
    figures of an earlier one, each is judged by its own A/A pair."""
    rows, absent = {}, {}
    for piece in slices:
        for name, workload in piece["workloads"].items():
            row = rows.setdefault(name, {"title": workload["title"], "cells": {}})
            for configuration in dict.fromkeys(run["configuration"] for run in workload["runs"]):
                row["cells"][configuration] = cell(workload, configuration)
                absent.pop(configuration, None)
        absent.update({name: why for name, why in piece.get("absent", {}).items()
                       if not any(name in row["cells"] for row in rows.values())})
    result = {"workloads": rows, "means": means(rows), "absent": absent}
    result["limits"] = limits(result)
    return result


def means(rows):
    """{configuration: {"ratio", "of": how many workloads that stand, "among"}}"""
    found = {}
    for configuration in dict.fromkeys(name for row in rows.values() for name in row["cells"]):
        cells = [row["cells"][configuration] for row in rows.values() if configuration in row["cells"]]
        good = [entry["ratio"]["median"] for entry in cells if entry["stands"]]
        found[configuration] = {"ratio": geometric_mean(good) if good else None, "of": len(good), "among": len(cells)}
    return found


def worst(rows, configuration):
    """(ratio, workload) of what stands."""
    return max(((row["cells"][configuration]["ratio"]["median"], name) for name, row in rows.items()
                if configuration in row["cells"] and row["cells"][configuration]["stands"]), default=(None, None))


def limit(words, value, most, where=""):
    return {"words": words, "value": value, "most": most, "holds": None if value is None else value <= most, "where": where or ""}


def limits(result):
    """What the project promises, against what was found; holds is None where nothing was found."""
    rows, mean = result["workloads"], {name: entry["ratio"] for name, entry in result["means"].items()}
    top, place = worst(rows, "guard")
    untar = rows.get("untar", {}).get("cells", {}).get("guard", {})
    shares = [(row["cells"]["guard"]["watch_share"], name) for name, row in rows.items()
              if row["cells"].get("guard", {}).get("watch_share") is not None]
    sizes = [(entry["pss_kb"] / 1024, f"{name}, {configuration}") for name, row in rows.items()
             for configuration, entry in row["cells"].items() if configuration in ("guard", "record", "strict") and entry["pss_kb"]]
    found = [
        limit("guard, geometric mean", mean.get("guard"), 1.03),
        limit("guard, any workload", top, 1.10, place),
        limit("guard, untar, whose writes are all on the trace", untar["ratio"]["median"] if untar.get("stands") else None, 1.25),
        limit("record, geometric mean", mean.get("record"), 1.10),
        limit("strict, geometric mean", mean.get("strict"), 1.8),
        limit("monitor of guard, share of the workload's processor time", *(max(shares)[:1] if shares else (None,)), 0.05,
              max(shares)[1] if shares else ""),
        limit("monitor, MB of PSS after the work", *(max(sizes)[:1] if sizes else (None,)), 2.0, max(sizes)[1] if sizes else ""),
    ]
    if mean.get("fapolicyd") and mean.get("strict"):
        found.append(limit("what strict adds, as a share of what fapolicyd adds", (mean["strict"] - 1) / (mean["fapolicyd"] - 1), 0.25))
    return found
