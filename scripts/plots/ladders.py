"""hpgmg-bench's reports: the rows of a ladder as bars, and the solver's kernels below a roof."""

from __future__ import annotations

import math

from plots.common import COLOURS, MARKERS, figure, save_figure, save_table, set_title
from plots.report import read_report
from toolkit import FILE, USAGE, ToolError

ROOFLINE = "roofline"
NUMBERS = ("gb_per_s", "of_copy", "useful_bytes", "flops", "seconds")


class Bench:
    """A report of hpgmg-bench --json, each part checked."""

    def __init__(self, path: str):
        self.path = path
        data = read_report(path, "hpgmg-bench")
        try:
            self.machine = str(data["machine"]["name"])
            self.copy = float(data["copy_gb_per_s"])
            self.tables = [
                (str(t["ladder"]), str(t["table"]), [self.row(r) for r in t["rows"]])
                for t in data["tables"]
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise ToolError(f"{path} has no tables of hpgmg-bench ({error})", FILE) from None
        if not self.copy > 0.0:
            raise ToolError(f"{path}: copy_gb_per_s is {self.copy}; make it again", FILE)

    def row(self, row: dict) -> dict:
        values = {key: float(row[key]) for key in NUMBERS}
        if not all(math.isfinite(v) and v >= 0.0 for v in values.values()):
            raise ValueError(f"a row of {values}")
        return {"variant": str(row["variant"]), **values}

    def of(self, ladder: str) -> list[tuple[str, list[dict]]]:
        tables = [(title, rows) for name, title, rows in self.tables if name == ladder]
        if not tables:
            there = ", ".join(dict.fromkeys(name for name, _, _ in self.tables)) or "none"
            raise ToolError(f"{self.path} has no ladder {ladder}; it has {there}", USAGE)
        return tables


def draw_ladder(args) -> str:
    """Percent of the copy for every row, a group of bars a table."""
    bench = Bench(args.files[0])
    ladder = args.ladder or bench.tables[0][0]
    tables = bench.of(ladder)
    n_bars = sum(len(rows) + 2 for _, rows in tables)
    fig = figure(9.0, min(60.0, 1.2 + 0.17 * n_bars), args.dpi)
    ax = fig.subplots()
    at, ticks, names, drawn = 0.0, [], [], []
    for number, (title, rows) in enumerate(tables):
        ax.text(0.0, at, title, fontsize=8, fontweight="bold", va="center")
        at -= 1.0
        for row in rows:
            value = 100.0 * row["of_copy"]
            ax.barh(at, value, color=COLOURS[number % len(COLOURS)], height=0.8)
            ticks.append(at)
            names.append(row["variant"])
            drawn.append([ladder, title, row["variant"], row["gb_per_s"], row["of_copy"]])
            at -= 1.0
        at -= 1.0
    ax.set_yticks(ticks, names, fontsize=7)
    ax.set_ylim(at + 1.0, 1.0)
    ax.axvline(100.0, color="0.4", linestyle=":", linewidth=1.2)
    ax.set_xlabel("useful bytes, % of a copy's")
    set_title(fig, f"hpgmg-bench, {ladder}: a copy moves {bench.copy:.4g} GB/s", [bench.machine])
    save_figure(fig, args.output)
    save_table(args.data, ["ladder", "table", "variant", "gb_per_s", "of_copy"], drawn)
    return f"{ladder}, {sum(len(rows) for _, rows in tables)} rows of {len(tables)} tables"


def draw_roofline(args) -> str:
    """GFLOP/s against flops a byte, below what the copy's bandwidth allows."""
    bench = Bench(args.files[0])
    tables = bench.of(ROOFLINE)
    fig = figure(9.0, 6.0, args.dpi)
    ax = fig.subplots()
    drawn, low, high = [], math.inf, 0.0
    for number, (title, rows) in enumerate(tables):
        rows = [row for row in rows if row["flops"] > 0.0]
        x = [row["flops"] / row["useful_bytes"] for row in rows]
        y = [row["gb_per_s"] * i for row, i in zip(rows, x)]
        low, high = min([low, *x]), max([high, *x])
        look = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
        ax.plot(x, y, ls="", label=title, ms=5, **look)
        drawn += [[title, row["variant"], i, g] for row, i, g in zip(rows, x, y)]
    span = [0.7 * low, 1.4 * high]
    ax.plot(span, [bench.copy * i for i in span], color="black", lw=1.2, label="a copy's bandwidth")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("flops a byte that has to be moved")
    ax.set_ylabel("GFLOP/s")
    ax.grid(True, color="0.88")
    ax.legend(fontsize=6, ncols=2)
    set_title(fig, "The solver's kernels below the memory's roof", [bench.machine])
    save_figure(fig, args.output)
    save_table(args.data, ["table", "kernel", "flops_per_byte", "gflop_per_s"], drawn)
    return f"{len(drawn)} kernels"
