"""The figures as a picture (SVG), legible on light and on dark. Pure: a summary in, a text out."""
import math
from xml.sax.saxutils import escape

from . import sums, table

COLOURS = {"again": ("#9aa0a6", "#80868b"), "guard": ("#188038", "#5bb974"), "record": ("#1967d2", "#8ab4f8"), "strict": ("#b06000", "#fdd663"),
           "bpftrace": ("#8430ce", "#c58af9"), "strace": ("#c5221f", "#f28b82"), "fapolicyd": ("#00796b", "#4dd0c4"), "auditd": ("#7c4a03", "#d7a86e")}
OTHER = ("#5f6368", "#bdc1c6")
LEFT, WIDTH, RIGHT, TOP, BAR, GAP = 230, 560, 70, 74, 11, 12


def scale(value, most):
    """Pixels from the left edge of the plot; logarithmic, because an observer may cost a few percent or ten times."""
    low, high = math.log(0.9), math.log(most)
    return (math.log(min(max(value, 0.9), most)) - low) / (high - low) * WIDTH


def ticks(most):
    steps = [1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 200]
    inside = [step for step in steps if step <= most]
    return inside if most < 3 else [step for step in inside if step not in (1.1, 1.25)]


def style(names):
    rules = ["text{font:12px sans-serif;fill:#202124}", ".small{font-size:10px}", ".axis{stroke:#dadce0}", ".one{stroke:#5f6368}",
             ".whisker{stroke:#202124}", ".back{fill:#ffffff}"]
    dark = ["text{fill:#e8eaed}", ".axis{stroke:#3c4043}", ".one{stroke:#9aa0a6}", ".whisker{stroke:#e8eaed}", ".back{fill:#202124}"]
    for name in names:
        light_colour, dark_colour = COLOURS.get(name, OTHER)
        rules.append(f".{name}{{fill:{light_colour}}}")
        dark.append(f".{name}{{fill:{dark_colour}}}")
    return f"<style>{''.join(rules)}@media (prefers-color-scheme:dark){{{''.join(dark)}}}</style>"


def bar(y, name, entry, most):
    """One bar from 1 to its median, with its extremes as a line; hollow where it is no result."""
    ratio = entry["ratio"]
    zero, end = scale(1, most), scale(ratio["median"], most)
    left, width = LEFT + min(zero, end), max(abs(end - zero), 1)
    middle = y + BAR / 2
    solid = "" if entry.get("stands", True) else ' fill-opacity="0.35"'
    parts = [f'<rect class="{name}" x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" height="{BAR - 2}"{solid}/>']
    right = LEFT + end
    if "min" in ratio:
        right = LEFT + scale(ratio["max"], most)
        parts.append(f'<line class="whisker" x1="{LEFT + scale(ratio["min"], most):.1f}" x2="{right:.1f}" y1="{middle - 1:.1f}" y2="{middle - 1:.1f}"/>')
    words = f"{ratio['median']:.2f}" + ("" if entry.get("stands", True) else " no result")
    parts.append(f'<text class="small" x="{max(right, LEFT + zero) + 4:.1f}" y="{middle + 3:.1f}">{words}</text>')
    return parts


def groups(summary, names):
    """(title, [(configuration, entry)]), the mean last."""
    found = [(row["title"], [(name, row["cells"][name]) for name in names if name in row["cells"]]) for row in summary["workloads"].values()]
    mean = [(name, {"ratio": {"median": summary["means"][name]["ratio"]}}) for name in names if summary["means"][name]["ratio"] is not None]
    return found + ([("geometric mean", mean)] if mean else [])


def document(summary):
    names = table.configurations(summary)
    rows = groups(summary, names)
    values = [entry["ratio"].get("max", entry["ratio"]["median"]) for _, entries in rows for _, entry in entries]
    most = max([1.3, *(value * 1.1 for value in values)])
    height = TOP + sum(max(1, len(entries)) * BAR + GAP for _, entries in rows) + 30
    width = LEFT + WIDTH + RIGHT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
             "<title>Wall time under observation, ratio to plain runc</title>", style(names),
             f'<rect class="back" width="{width}" height="{height}"/>',
             '<text x="12" y="20">Wall time, ratio to plain runc; medians, with least and most. Logarithmic. Shorter is better.</text>']
    x = 12
    for name in names:
        words = table.title(name)
        parts.append(f'<rect class="{name}" x="{x}" y="32" width="10" height="10"/><text class="small" x="{x + 14}" y="41">{escape(words)}</text>')
        x += 30 + 6 * len(words)
    for tick in ticks(most):
        place = LEFT + scale(tick, most)
        kind = "one" if tick == 1 else "axis"
        parts.append(f'<line class="{kind}" x1="{place:.1f}" x2="{place:.1f}" y1="{TOP - 8}" y2="{height - 24}"/>'
                     f'<text class="small" text-anchor="middle" x="{place:.1f}" y="{TOP - 12}">{tick:g}</text>')
    y = TOP
    for words, entries in rows:
        middle = y + max(1, len(entries)) * BAR / 2 + 3
        parts.append(f'<text text-anchor="end" x="{LEFT - 10}" y="{middle:.1f}">{escape(words)}</text>')
        for name, entry in entries:
            parts += bar(y, name, entry, most)
            y += BAR
        y += GAP + (0 if entries else BAR)
    return "\n".join([*parts, "</svg>", ""])
