"""The three files: JSON with all runs, from which the others can be made again; table; chart."""
import json
import os

from . import chart, sums, table

FORMAT = 1


def load(path, size):
    """The slices that are there; none where there is no file. Sizes are not mixed."""
    try:
        with open(path, encoding="utf-8") as file:
            slices = json.load(file)["slices"]
    except FileNotFoundError:
        return []
    for piece in slices:
        if size and piece["size"] != size:
            raise ValueError(f"{path} has figures of size {piece['size']}: they can't be compared with size {size}; leave --append out to begin anew")
    return slices


def put(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def save(directory, name, slices):
    """Writes all three, and says what they say."""
    summary = sums.summary(slices)
    os.makedirs(directory, exist_ok=True)
    whole = {"format": FORMAT, "summary": summary, "slices": slices}
    put(os.path.join(directory, f"{name}.json"), json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    put(os.path.join(directory, f"{name}.svg"), chart.document(summary))
    text = table.document(slices, summary, f"{name}.svg")
    put(os.path.join(directory, f"{name}.md"), text)
    return text
