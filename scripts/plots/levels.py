"""Plot of seconds per level and operation."""

from __future__ import annotations

import math

from plots.common import (
    COLORS,
    LARGEST,
    figure,
    first_lines,
    phrases,
    plain,
    save,
    shape_of,
    split_phrases,
)
from plots.report import Report
from toolkit import FileError, UsageError, plural

# In stacking order; the names are those of src/base/operation_timers.c.
OPERATIONS = ["smooth", "residual", "restriction", "interpolation", "halo_exchange"]
OPERATIONS += ["vector_operations", "bottom_solve", "coarse_levels"]
MOST_FILES = 4
HALF = 76  # most letters of the title of one of two panels
MEAN = 1  # index of the mean in [min, mean, max] over ranks


class Level:
    def __init__(self, report: Report, number: int):
        where = f"levels.{number}"
        self.dim = report.dim(f"{where}.dim")
        self.backend = report.get(f"{where}.backend", str)
        if "seconds" not in report.get(where, dict):
            raise FileError(f"{report.path} has no seconds per level; run with --levels-breakdown")
        self.seconds = {
            key: report.numbers(f"{where}.seconds.{key}")
            for key in report.get(f"{where}.seconds", dict)
        }
        for key, value in self.seconds.items():
            if len(value) != 3 or not all(0.0 <= v <= LARGEST for v in value):
                report.wrong(f"{where}.seconds.{key}", value)

    def mean(self, operation: str) -> float:
        return self.seconds[operation][MEAN] if operation in self.seconds else 0.0

    def total(self) -> float:
        return sum(self.mean(operation) for operation in self.seconds)


def unit_for(largest: float) -> tuple[float, str]:
    """Factor and unit for times up to `largest` seconds."""
    if largest >= 1.0:
        return 1.0, "s"
    return (1e3, "ms") if largest >= 1e-3 else (1e6, "µs")


def draw_shares(ax, levels: list[Level], operations: list[str]) -> None:
    """Draw one stacked bar per level: the operations in percent of the level's time."""
    bottom = [0.0] * len(levels)
    for operation in operations:
        height = [
            100.0 * level.mean(operation) / level.total() if level.total() > 0.0 else 0.0
            for level in levels
        ]
        known = operation in OPERATIONS
        ax.bar(
            range(len(levels)),
            height,
            0.8,
            bottom,
            color=COLORS[OPERATIONS.index(operation)] if known else "0.7",
            hatch=None if known else "//",
            edgecolor="white",
            linewidth=0.4,
            label=plain(operation.replace("_", " ")),
        )
        bottom = [b + h for b, h in zip(bottom, height)]


def draw_levels(args) -> str:
    if len(args.files) > MOST_FILES:
        raise UsageError(f"{len(args.files)} files: at most {MOST_FILES} fit into one picture")
    reports = [Report(path) for path in args.files]
    runs = [[Level(r, i) for i in range(len(r.get("levels", list)))] for r in reports]
    for report, levels in zip(reports, runs):
        if not levels:
            raise FileError(f"{report.path} has no levels; repeat the run")
    found = {operation for levels in runs for level in levels for operation in level.seconds}
    operations = [o for o in OPERATIONS if o in found] + sorted(found - set(OPERATIONS))
    shared, labels = split_phrases(
        [phrases(r.about, timed=True) for r in reports], [r.path for r in reports]
    )

    fig = figure(10.5, 1.6 + 3.4 * len(reports), args.dpi)
    # The last row holds the legend.
    grid = fig.add_gridspec(len(reports) + 1, 2, height_ratios=[1.0] * len(reports) + [0.07])
    axes = [[fig.add_subplot(grid[row, side]) for side in (0, 1)] for row in range(len(reports))]
    for row, (report, levels, label) in enumerate(zip(reports, runs, labels)):
        draw_run(axes[row], report, levels, operations, label if len(reports) > 1 else "")
    handles, names = axes[0][1].get_legend_handles_labels()
    below = fig.add_subplot(grid[-1, :])
    below.axis("off")
    below.legend(handles, names, loc="center", ncol=len(names), fontsize=9)
    rows = (
        [report.path, i, *level.dim, operation, *level.seconds[operation]]
        for report, levels in zip(reports, runs)
        for i, level in enumerate(levels)
        for operation in operations
        if operation in level.seconds
    )
    head = ["file", "level", "nx", "ny", "nz", "operation"]
    head += ["seconds_min", "seconds_mean", "seconds_max"]
    save(fig, args, "Time of one solve by level and operation", [shared], head, rows)
    return f"{len(operations)} operations on {plural(max(map(len, runs)), 'level')}"


def draw_run(axes, report: Report, levels: list[Level], operations: list[str], label: str):
    """Draw one run: left the time of each level, right the shares of its operations."""
    factor, unit = unit_for(max(level.total() for level in levels))
    draw_totals(axes[0], [factor * level.total() for level in levels])
    axes[0].set_ylabel(f"time per solve, {unit} (mean over ranks)")
    total = sum(level.total() for level in levels)
    solve = report.get("solves.0.seconds_mean", float)
    timed = f"; mean solve {factor * solve:.3g} {unit}" if math.isfinite(solve) else ""
    text = f"sum over levels {factor * total:.3g} {unit}{timed}"
    if label:
        text = f"{first_lines(label, HALF, 1)}\n{text}"
    axes[0].set_title(text, fontsize=9)

    draw_shares(axes[1], levels, operations)
    axes[1].set_ylim(0.0, 100.0)
    axes[1].set_ylabel("share of the level's time, %")
    places = sorted({level.backend for level in levels})
    axes[1].set_title(f"operations; levels on {plain(' and '.join(places))}", fontsize=9)
    for ax in axes:
        ax.set_xticks(range(len(levels)))
        # A grid that is no cube has a line for each direction: in one line, labels would overlap.
        shapes = [shape_of(level.dim, "\n× ") for level in levels]
        ax.set_xticklabels([f"{i}\n{shape}" for i, shape in enumerate(shapes)], fontsize=8)
        ax.set_xlabel("level and number of cells")


def draw_totals(ax, totals: list[float]) -> None:
    """Draw one bar per level, labeled with its time and its share of all levels.

    The scale is logarithmic: the finest level takes a thousand times as long as the coarsest.
    """
    positive = [t for t in totals if t > 0.0] or [1.0]
    bottom = min(positive) / 4.0
    ax.set_yscale("log")
    ax.set_ylim(bottom, max(positive) * (max(positive) / bottom) ** 0.15)
    ax.bar(range(len(totals)), totals, 0.8, color="0.65")
    for i, total in enumerate(totals):
        share = 100.0 * total / sum(positive)
        share = f"{share:.0f}" if share >= 9.95 else f"{share:.1f}"
        ax.annotate(
            f"{total:.3g}\n{share} %",
            (i, max(total, bottom)),
            (0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=8 if len(totals) < 10 else 7,
        )
