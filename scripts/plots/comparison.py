"""Plot of scripts/compare/compare.py --csv: times of other programs relative to hpgmg-fv."""

from __future__ import annotations

import csv

from plots.common import COLORS, LARGEST, figure, machine, plain, save
from toolkit import FileError, plural, read_text

OURS = "hpgmg-fv"
KINDS = {"solve": "solves to a tolerance", "cycle": "F-cycles"}
BAR = 0.17  # inches
MOST_ROWS = 1000


def read_rows(path: str) -> list[dict]:
    """Rows of the other programs."""
    try:
        lines = [line for line in read_text(path).splitlines() if not line.startswith("#")]
        rows = [read_row(row) for row in csv.DictReader(lines)]
    except (csv.Error, KeyError, TypeError, ValueError, OverflowError) as error:
        text = f"{path} is not a table of compare.py --csv ({str(error)[:80]})"
        raise FileError(text) from None
    if not rows or len(rows) > MOST_ROWS:
        raise FileError(f"{path} has {len(rows)} rows, not 1 to {MOST_ROWS}")
    return [row for row in rows if row["program"] != OURS]


def read_row(row: dict) -> dict:
    ratios = [float(row[key]) for key in ("ratio", "ratio_low", "ratio_high")]
    ratio, low, high = ratios
    if row["kind"] not in KINDS or not 1 / LARGEST < low <= ratio <= high < LARGEST:
        raise ValueError(f"a row of {row['kind']}, {ratios}")
    problem = f"{row['operator']} {row['smoother']}"
    cores = machine(int(row["ranks"]), int(row["threads"]), None)
    return {
        "kind": row["kind"],
        "program": row["program"],
        "label": f"{row['program']}, {problem}",
        "case": f"{int(row['n'])}³, {cores}",
        "ratios": ratios,
        "machine": row["machine"],
    }


def distinct(rows: list[dict], key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def slots(rows: list[dict]) -> int:
    """Number of lines of a panel: a bar per case and an empty line, for each label."""
    return len(distinct(rows, "label")) * (len(distinct(rows, "case")) + 1)


def draw_panel(ax, rows: list[dict]) -> None:
    """One group of bars per program and problem, one bar per case; lines span all rounds."""
    labels, cases = distinct(rows, "label"), distinct(rows, "case")
    step = len(cases) + 1
    for row in rows:
        case = cases.index(row["case"])
        at = -labels.index(row["label"]) * step - case
        ratio, low, high = row["ratios"]
        ax.barh(at, ratio, color=COLORS[case % len(COLORS)], height=0.8)
        ax.plot([low, high], [at, at], color="0.25", linewidth=1.0)
        ax.text(high, at, f" {ratio:.2f}", fontsize=6.5, va="center")
    for number, case in enumerate(cases):
        ax.barh(0.0, 0.0, color=COLORS[number % len(COLORS)], label=plain(case))
    ax.legend(fontsize=7)
    ax.set_yticks(
        [-group * step - (step - 2) / 2 for group in range(len(labels))],
        [plain(label, 60) for label in labels],
        fontsize=8,
    )
    ax.axvline(1.0, color="0.4", linestyle=":", linewidth=1.2)
    ax.set_xlim(0.0, 1.3 * max(row["ratios"][2] for row in rows))
    ax.set_title(KINDS[rows[0]["kind"]], fontsize=9)
    ax.set_xlabel(f"time relative to {OURS}", fontsize=8)


def draw_compare(args) -> str:
    rows = [row for path in args.files for row in read_rows(path)]
    if not rows:
        raise FileError(f"{args.files[0]} has no program besides {OURS}")
    panels = [[row for row in rows if row["kind"] == kind] for kind in KINDS]
    panels = [panel for panel in panels if panel]
    heights = [slots(panel) for panel in panels]
    fig = figure(8.0, min(60.0, 0.8 + BAR * sum(heights) + 0.9 * len(panels)), args.dpi)
    ratios = {"height_ratios": heights}
    axes = fig.subplots(len(panels), 1, squeeze=False, gridspec_kw=ratios)[:, 0]
    for ax, panel in zip(axes, panels):
        draw_panel(ax, panel)
    drawn = [[row["kind"], row["label"], row["case"], *row["ratios"]] for row in rows]
    head = ["kind", "program", "case", "ratio", "low", "high"]
    save(fig, args, f"Times relative to {OURS}", distinct(rows, "machine"), head, drawn)
    return f"{plural(len(distinct(rows, 'program')), 'program')}, {len(rows)} ratios"
