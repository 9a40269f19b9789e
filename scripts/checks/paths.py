#!/usr/bin/env python3
"""Fill the price list of fast paths in docs/kernels.md: lines of code and gains (.why).

paths.py --check    compare only, and print the list: exit code 1 if the table is out of date"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs/kernels.md"
WHY = re.compile(r'\.name = "([^"]*)",\s*\.why =((?:\s*"[^"]*")+)')


def gains() -> dict[str, str]:
    """The gain of each path in src/ by its name."""
    rows = WHY.findall("".join(path.read_text() for path in sorted(TOP.glob("src/**/*_path.c"))))
    return {name: "".join(re.findall('"([^"]*)"', text)).replace("^3", "³") for name, text in rows}


def lines_of(code: str) -> int:
    """Lines of the files in a cell: `FOLDER/`, `FILES`, or `FOLDER/`: `FILES`, `FILES`."""
    folder, files = "", []
    for name in re.findall("`([^`]+)`", code):
        if f"`{name}`:" in code:
            folder = name
        else:
            files += TOP.glob(folder + name + ("*" if name.endswith("/") else ""))
    return sum(path.read_text().count("\n") for path in files if path.is_file())


def main() -> int:
    check, page, wrong = sys.argv[1:] == ["--check"], PAGE.read_text(), []
    left = gains()
    for row in re.findall(r"^\| [CG]PU .*", page, re.MULTILINE):
        cells = (cell.strip() for cell in row.strip("|").split("|"))
        place, path, source, code, _, grids, gain = cells
        counts = [lines_of(part) for part in code.split(";")]
        lines = "; ".join(f"{n:,}" for n in counts)
        gain = left.pop(path, gain)
        new = f"| {place} | {path} | {source} | {code} | {lines} | {grids} | {gain} |"
        if new != row:
            wrong.append(f"docs/kernels.md: run scripts/checks/paths.py, which writes: {new}")
        page = page.replace(row, new)
        print(f"{sum(counts)} lines: {path} on {place}: {grids}: {gain}")
    wrong += [f"docs/kernels.md: the table of paths lacks '{path}'" for path in left]
    if not check:
        PAGE.write_text(page)
    for line in wrong if check else []:
        print(line)
    return 1 if check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
