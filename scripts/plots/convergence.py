"""Plot of the residual after each cycle."""

from __future__ import annotations

import math

from plots.common import (
    COLORS,
    GRIDS,
    LARGEST,
    MARKERS,
    figure,
    phrases,
    plain,
    save,
    split_phrases,
)
from plots.dump import Dump, is_dump
from plots.report import Report
from toolkit import FileError, need, plural

MOST_MARKERS = 40  # per curve: more would overlap


class Curve:
    """Norms and relative norms of one solve, from the first cycle on."""

    def __init__(self, path: str, about: dict, norms: list[float], rel: list[float]):
        self.path, self.run, self.dim = path, phrases(about), about["dim"]
        self.norms, self.rel = norms, rel

    def factor(self) -> str:
        """Mean convergence factor per cycle after the first, as text."""
        first, last = self.rel[0], self.rel[-1]
        if len(self.rel) < 2 or not (first > 0.0 and last > 0.0 and math.isfinite(last)):
            return ""
        return f"; factor {(last / first) ** (1.0 / (len(self.rel) - 1)):.3g} per cycle"


def curves_of(path: str, grids: list[str]) -> list[Curve]:
    if is_dump(path):
        with Dump(path) as dump:
            norms, reference = dump.history()
            rel = [norm / reference if reference > 0.0 else math.nan for norm in norms]
            about = dump.about
        return [Curve(path, about, norms, rel)]
    report, curves = Report(path), []
    for s in range(len(report.get("solves", list))):
        if s < len(GRIDS) and GRIDS[s] in grids:
            about = {**report.about, "dim": report.dim(f"levels.{s}.dim")}
            norms, rel = report.numbers(f"solves.{s}.norms"), report.numbers(f"solves.{s}.rel")
            curves.append(Curve(path, about, norms, rel))
    return curves


def axis_of_cycles(cycles: set[str]) -> str:
    if cycles == {"F-cycle"}:
        return "cycle (an F-cycle, then V-cycles)"
    return "V-cycle" if cycles == {"V-cycle"} else "cycle"


def draw_convergence(args) -> str:
    grids = args.grid or (list(GRIDS) if len(args.files) == 1 else ["h"])
    curves = [curve for path in args.files for curve in curves_of(path, grids)]
    curves = [curve for curve in curves if curve.rel]
    if not curves:
        raise FileError(f"{args.files[0]} has no residual norms; repeat the run")
    shared, labels = split_phrases([c.run for c in curves], [c.path for c in curves])

    fig = figure(7.5, 5.4, args.dpi)
    ax = fig.add_subplot()
    for i, (curve, label) in enumerate(zip(curves, labels)):
        # Drop values that a logarithmic axis of Matplotlib cannot show.
        drawn = [v if 1.0 / LARGEST <= v <= LARGEST else math.nan for v in curve.rel]
        ax.plot(
            range(1, len(drawn) + 1),
            drawn,
            marker=MARKERS[i % len(MARKERS)],
            markevery=-(-len(drawn) // MOST_MARKERS),
            color=COLORS[i % len(COLORS)],
            linestyle=("-", "--", ":")[i // len(COLORS) % 3],
            label=f"{plain(label)}{curve.factor()}",
        )
    longest = max(len(c.rel) for c in curves)
    ax.set_yscale("log")
    ax.set_xlim(0.5, longest + 0.5)
    ticker = need("matplotlib.ticker", "matplotlib")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
    ax.set_xlabel(axis_of_cycles({c.run["cycle"] for c in curves}))
    ax.set_ylabel("relative residual max|f − Au| / max|f|")
    ax.grid(True, which="major", color="0.85")
    if len(curves) > 1 or curves[0].factor():
        ax.legend(fontsize=9)
    rows = (
        [c.path, *c.dim, k, norm, rel]
        for c in curves
        for k, (norm, rel) in enumerate(zip(c.norms, c.rel), 1)
    )
    head = ["file", "nx", "ny", "nz", "cycle", "norm", "relative"]
    save(fig, args, "Residual after each cycle", [shared], head, rows)
    histories = "1 history" if len(curves) == 1 else f"{len(curves)} histories"
    return f"{histories} of up to {plural(longest, 'cycle')}"
