#!/usr/bin/env python3
"""A terminal's screen as a picture: what `tmux capture-pane -e -p` printed, on standard input, becomes an SVG.

usage: terminal_to_svg.py COLUMNS TITLE <SCREEN >PICTURE

Knows the attributes that tmux writes for the colours of sandtrace, and fails at any other: nothing is left out unseen.
"""
import re
import sys
from html import escape

CELL, LINE, SIZE, PAD, BAR = 8.4, 18, 14, 14, 28
COLOURS = dict(zip(range(30, 38), "#3b4252 #e06c75 #7ec16e #e5b567 #6c99e0 #c678dd #56b6c2 #d8dee9".split()))
NO_BREAK = "\u00a0"  # spaces next to one another would become one
PLAIN, DIM, BACK = "#d8dee9", "#8b93a5", "#1b1f2a"


class Style:
    def __init__(self):
        self.colour, self.bold, self.dim, self.line = None, False, False, False

    def take(self, code):
        if code == 0:
            self.__init__()
        elif code in COLOURS:
            self.colour = COLOURS[code]
        elif code in (1, 2, 4):
            setattr(self, {1: "bold", 2: "dim", 4: "line"}[code], True)
        elif code == 22:
            self.bold = self.dim = False
        elif code == 24:
            self.line = False
        elif code == 49:
            pass  # the background is always the terminal's
        elif code == 39:
            self.colour = None
        else:
            sys.exit(f"terminal_to_svg.py: attribute {code} is not known")

    def svg(self):
        words = [f'fill="{self.colour or (DIM if self.dim else PLAIN)}"']
        words += ['font-weight="bold"'] if self.bold else []
        words += ['text-decoration="underline"'] if self.line else []
        return " ".join(words)


def runs(line, style):
    """Column, text and look of each piece; the style goes on into the next line."""
    column = 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", line.replace("\x0f", "").replace("\x1b(B", "")):
        if part.startswith("\x1b["):
            for code in part[2:-1].split(";"):
                style.take(int(code or 0))
        elif part:
            if re.search(r"[\x00-\x1f]", part):
                sys.exit(f"terminal_to_svg.py: {part!r} is not known")
            yield column, part, style.svg()
            column += len(part)


def main():
    columns, title = int(sys.argv[1]), sys.argv[2]
    lines = sys.stdin.read().rstrip("\n").split("\n")
    width, height = round(columns * CELL + 2 * PAD), BAR + len(lines) * LINE + 2 * PAD
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">')
    print(f"<title>{escape(title)}</title>")
    print(f'<rect width="{width}" height="{height}" rx="8" fill="{BACK}"/><rect width="{width}" height="{BAR}" rx="8" fill="#2a3040"/>')
    print(f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{SIZE}" xml:space="preserve">')
    print(f'<text x="{width / 2}" y="{BAR - 9}" fill="{DIM}" text-anchor="middle">{escape(title)}</text>')
    style = Style()
    for n, line in enumerate(lines):
        for column, text, look in runs(line, style):
            if text.strip():
                shown = escape(text).replace(" ", NO_BREAK)
                print(f'<text x="{PAD + column * CELL:.1f}" y="{BAR + PAD + n * LINE + SIZE}" textLength="{len(text) * CELL:.1f}" '
                      f'lengthAdjust="spacingAndGlyphs" {look}>{shown}</text>')
    print("</g></svg>")


if __name__ == "__main__":
    main()
