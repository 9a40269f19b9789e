#!/usr/bin/env python3
"""Draw docs/architecture.svg from the table of layers in docs/architecture.md.

architecture.py --check    compare only: exit code 1 if the picture is not what the table gives"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

DOCS = Path(__file__).resolve().parents[2] / "docs"
ROW = re.compile(r"\| (\d+) \| `([^`]+)` \| (.+) \|")  # layer, folder, contents
WIDTH, MARGIN, INDENT = 900, 24, 56  # the arrow is left of the boxes
HEIGHT, GAP = 40, 12
NAME_WIDTH = 130  # of the longest folder in bold
CHARACTER = 7  # width of a character of the contents, on average at most

HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"
     width="{width}" height="{height}" font-family="Helvetica, Arial, sans-serif" font-size="14"
     role="img" aria-labelledby="title desc">
  <!-- Drawn by scripts/plots/architecture.py from the table in docs/architecture.md. -->
  <title id="title">The layers of hpgmg-fv</title>
  <desc id="desc">One row per layer; every include points to the same box or down.</desc>
  <style>
    .panel {{ fill: #fbfaf7; stroke: #8a8577; }}
    .one   {{ fill: #e4ebf5; stroke: #3f5f8a; }}
    .peers {{ fill: #e6f0e2; stroke: #4c7a3d; }}
    .interface  {{ fill: #fdf1d3; stroke: #a87b12; }}
    .name  {{ fill: #14181f; font-weight: bold; }}
    .note  {{ fill: #3a3f48; font-size: 12.5px; }}
    .arrow {{ stroke: #4a4f58; stroke-width: 1.6; fill: none; }}
  </style>
  <rect class="panel" x="1" y="1" width="{right}" height="{bottom}" rx="8"/>
  <path class="arrow" d="M40 {top} V{tip} m-5 -10 l5 10 l5 -10"/>
  <text class="note" transform="translate(30 {middle}) rotate(-90)"
        text-anchor="middle">includes point down</text>
"""
BOX = """  <rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="5"/>
  <text class="name" x="{name_x}" y="{base}">{name}</text>
  <text class="note" x="{note_x}" y="{base}">{note}</text>
"""


def box(x: float, y: float, width: float, name: str, note: str, kind: str) -> str:
    """One folder, its name left and its contents right of it."""
    note = note.replace("`", "")
    if NAME_WIDTH + CHARACTER * len(note) > width:
        sys.exit(f"architecture.py: no room for '{note}'; shorten it in docs/architecture.md")
    places = {"name_x": x + 12, "note_x": x + NAME_WIDTH, "base": y + 25}
    texts = {"kind": kind, "name": escape(name), "note": escape(note)}
    return BOX.format(x=x, y=y, width=width, height=HEIGHT, **places, **texts)


def picture(rows: list[tuple[str, str, str]]) -> str:
    """Layers from top to bottom as in the table; folders of one layer stand side by side."""
    boxes, y = [], MARGIN
    for _, group in groupby(rows, key=lambda row: row[0]):
        peers = list(group)
        width = (WIDTH - INDENT - MARGIN - GAP * (len(peers) - 1)) // len(peers)
        for i, (_, name, note) in enumerate(peers):
            kind = "peers" if len(peers) > 1 else "interface" if "interface" in note else "one"
            boxes.append(box(INDENT + i * (width + GAP), y, width, name, note, kind))
        y += HEIGHT + GAP
    height = y - GAP + MARGIN
    sizes = {"right": WIDTH - 2, "bottom": height - 2, "top": MARGIN, "tip": height - MARGIN}
    head = HEAD.format(width=WIDTH, height=height, middle=height // 2, **sizes)
    return head + "".join(boxes) + "</svg>\n"


def main() -> None:
    svg = picture(ROW.findall((DOCS / "architecture.md").read_text(encoding="utf-8")))
    target = DOCS / "architecture.svg"
    if "--check" not in sys.argv[1:]:
        target.write_text(svg, encoding="utf-8")
    elif target.read_text(encoding="utf-8") != svg:
        sys.exit("docs/architecture.svg is out of date: run scripts/plots/architecture.py")


main()
