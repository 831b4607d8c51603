"""The figures as Markdown. Pure: a summary in, a text out."""
from . import sums

ORDER = ("again", "guard", "record", "strict", "bpftrace", "strace", "fapolicyd", "auditd")
TITLES = {"again": "plain again (A/A)", "strace": "strace -f", "bpftrace": "bpftrace opensnoop"}


def configurations(summary):
    """Those that were measured, in the order in which they are shown."""
    there = {name for row in summary["workloads"].values() for name in row["cells"]} - {sums.BASELINE}
    return [name for name in ORDER if name in there] + sorted(there - set(ORDER))


def title(name):
    return TITLES.get(name, name)


def number(value, digits=2):
    return "–" if value is None else f"{value:.{digits}f}"


def ratio_text(cell, configuration):
    """1.03 (1.01 to 1.06), or why that is no result."""
    ratio = cell["ratio"]
    text = f"{ratio['median']:.2f} ({ratio['min']:.2f} to {ratio['max']:.2f})"
    if configuration != sums.AGAIN and cell["missed"]:
        return f"failed: {cell['missed']}"
    if not cell["even"]:
        return f"no result: {text}" if configuration == sums.AGAIN else f"*{text}*"
    return text + ("" if cell["enough"] or configuration == sums.AGAIN else " ?")


def line(cells):
    return "| " + " | ".join(cells) + " |"


def grid(head, rows):
    return "\n".join([line(head), line(["---"] * len(head)), *map(line, rows)])


def ratio_rows(summary, names):
    rows = []
    for row in summary["workloads"].values():
        plain = row["cells"].get(sums.BASELINE)
        rows.append([row["title"], f"{plain['milliseconds']:.1f} ms" if plain else "–",
                     *(ratio_text(row["cells"][name], name) if name in row["cells"] else "–" for name in names)])
    last = ["**geometric mean**", ""]
    for name in names:
        mean = summary["means"][name]
        last.append("–" if mean["ratio"] is None else f"**{mean['ratio']:.2f}**" + ("" if mean["of"] == mean["among"] else f" of {mean['of']} of {mean['among']}"))
    return rows + [last]


def event_rows(summary, names):
    return [[row["title"], *("–" if row["cells"].get(name, {}).get("events") is None else f"{row['cells'][name]['events']:,.0f}" for name in names)]
            for row in summary["workloads"].values()]


def monitor_rows(summary, names):
    def words(cell):
        share = cell.get("watch_share")
        size = cell.get("pss_kb")
        return "–" if share is None else f"{share * 100:.1f} %" + (f", {size / 1024:.1f} MB" if size else "")
    return [[row["title"], *(words(row["cells"].get(name, {})) for name in names)] for row in summary["workloads"].values()]


def processor_rows(summary, names):
    def words(cell):
        found = cell.get("processor")
        return "–" if not found else f"{found['median']:.2f} ({found['min']:.2f} to {found['max']:.2f})"
    return [[row["title"], *(words(row["cells"].get(name, {})) for name in names)] for row in summary["workloads"].values()]


def limit_rows(summary):
    says = {True: "holds", False: "**exceeded**", None: "no result"}
    return [[entry["words"] + (f" (worst: {entry['where']})" if entry["where"] else ""), number(entry["value"], 3), f"{entry['most']:g}", says[entry["holds"]]]
            for entry in summary["limits"]]


def verdict(summary):
    """What the run says of itself, first."""
    uneven = [row["title"] for row in summary["workloads"].values()
              if any(name != sums.BASELINE and not cell["even"] for name, cell in row["cells"].items())]
    failed = [f"{row['title']} by {title(name)}" for row in summary["workloads"].values()
              for name, cell in row["cells"].items() if cell["missed"]]
    lines = []
    if uneven:
        lines.append(f"**No result** where the A/A pair differs by more than {sums.MAX_AA:.0%} (figures in italics): {'; '.join(uneven)}.")
    if failed:
        lines.append(f"**Failed**, by what was seen: {'; '.join(failed)}.")
    return lines or [f"Every A/A pair is within {sums.MAX_AA:.0%}, and everybody saw what there was to see."]


def slice_line(piece):
    rounds = sorted({len({run["round"] for run in workload["runs"]}) for workload in piece["workloads"].values()})
    return (f"- {piece['date']}, {piece['version']}, {piece['machine']}: {', '.join(piece['workloads'])}; "
            f"{' or '.join(map(str, rounds))} rounds, size {piece['size']}")


def document(slices, summary, chart):
    names = configurations(summary)
    watching = [name for name in names if name != sums.AGAIN]
    parts = [
        "# What watching costs", "Made by `make bench`; [README.md](README.md) says how, and how to read it.", *verdict(summary), f"![chart]({chart})",
        "## Wall time, ratio to plain runc",
        "Median of the rounds (least to most). Italics: the A/A pair of that row was uneven, no result. `?`: a difference below "
        f"{sums.FINE_CLAIM:.0%} with fewer than {sums.FINE_ROUNDS} rounds, no claim.",
        grid(["workload", "plain", *map(title, names)], ratio_rows(summary, names)),
        "## Events seen, of one run", grid(["workload", *map(title, watching)], event_rows(summary, watching)),
        "## Processor time, ratio to plain runc", "Of the workload and its watcher together; less in need of a quiet machine than wall time.",
        grid(["workload", *map(title, names)], processor_rows(summary, names)),
        "## What the watcher takes", "Its processor time as a share of the workload's own, and its memory (PSS) afterwards.",
        grid(["workload", *map(title, watching)], monitor_rows(summary, watching)),
        "## Limits", grid(["what", "found", "at most", ""], limit_rows(summary)),
    ]
    if summary["absent"]:
        parts += ["## Not measured", "\n".join(f"- {title(name)}: {why}" for name, why in sorted(summary["absent"].items()))]
    parts += ["## Measured in", "\n".join(map(slice_line, slices))]
    return "\n\n".join(parts) + "\n"
