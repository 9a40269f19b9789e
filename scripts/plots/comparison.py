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
        rows = [read_row(row) for row in csv.DictReader(read_text(path).splitlines())]
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


def draw_panel(ax, rows: list[dict], cases: list[str]) -> None:
    """One group of bars per program and problem, one bar per case; whiskers span all rounds."""
    labels = list(dict.fromkeys(row["label"] for row in rows))
    step = len(cases) + 1
    for row in rows:
        at = -labels.index(row["label"]) * step - cases.index(row["case"])
        ratio, low, high = row["ratios"]
        color = COLORS[cases.index(row["case"]) % len(COLORS)]
        ax.barh(at, ratio, color=color, height=0.8)
        ax.plot([low, high], [at, at], color="0.25", linewidth=1.0)
        ax.text(high, at, f" {ratio:.2f}", fontsize=6.5, va="center")
    ax.set_yticks(
        [-group * step - (step - 2) / 2 for group in range(len(labels))],
        [plain(label, 60) for label in labels],
        fontsize=8,
    )
    ax.axvline(1.0, color="0.4", linestyle=":", linewidth=1.2)
    ax.set_xlim(0.0, 1.12 * max(row["ratios"][2] for row in rows))
    ax.set_title(KINDS[rows[0]["kind"]], fontsize=9)
    ax.set_xlabel(f"time relative to {OURS}", fontsize=8)


def draw_compare(args) -> str:
    rows = [row for path in args.files for row in read_rows(path)]
    if not rows:
        raise FileError(f"{args.files[0]} has no program besides {OURS}")
    panels = [[row for row in rows if row["kind"] == kind] for kind in KINDS]
    panels = [panel for panel in panels if panel]
    cases = list(dict.fromkeys(row["case"] for row in rows))
    slots = [(len({row["label"] for row in p}) * (len(cases) + 1)) for p in panels]
    fig = figure(8.0, min(60.0, 1.2 + BAR * sum(slots) + 0.8 * len(panels)), args.dpi)
    axes = fig.subplots(len(panels), 1, squeeze=False, gridspec_kw={"height_ratios": slots})[:, 0]
    for ax, panel in zip(axes, panels):
        draw_panel(ax, panel, cases)
    for number, case in enumerate(cases):
        axes[0].barh(0.0, 0.0, color=COLORS[number % len(COLORS)], label=plain(case))
    axes[0].legend(fontsize=7)
    machines = list(dict.fromkeys(row["machine"] for row in rows))
    drawn = [[row["kind"], row["label"], row["case"], *row["ratios"]] for row in rows]
    head = ["kind", "program", "case", "ratio", "low", "high"]
    save(fig, args, f"Times relative to {OURS}", machines, head, drawn)
    return f"{plural(len({row['program'] for row in rows}), 'program')}, {len(rows)} ratios"
