"""Plot of time, DOF/s and parallel efficiency against ranks, threads or GPUs."""

from __future__ import annotations

import statistics

from plots.common import (
    COLORS,
    GRIDS,
    LARGEST,
    MARKERS,
    figure,
    phrases,
    plain,
    save,
    shape_of,
    split_phrases,
)
from plots.report import Report
from toolkit import FileError, UsageError, need, plural

# Grids of boxes are cubes, so not every number of ranks can have the same work per rank. Within a
# weak series it may vary by this factor.
WEAK_SPREAD = 1.5
COLUMNS = ["series", "kind", "units", "ranks", "threads", "dof", "repeats"]
COLUMNS += ["seconds", "seconds_min", "seconds_max", "dof_per_s", "efficiency"]


class Run:
    """The solve of one report on one grid."""

    def __init__(self, report: Report, grid: str):
        where = f"solves.{GRIDS.index(grid)}"
        about = report.about
        self.path = report.path
        if GRIDS.index(grid) >= len(report.get("solves", list)):
            raise UsageError(f"{self.path} has no solve of {grid}; use --grid=h")
        self.ranks, self.threads = about["ranks"], about["threads"]
        self.on_gpus = about["backend"] == "cuda"
        self.dof = report.get(f"{where}.dof", int)
        self.seconds = report.get(f"{where}.seconds_mean", float)
        if not self.seconds > 0.0:
            raise FileError(
                f"{self.path} was not timed; run without --verify-only, or omit the file"
            )
        if not 1.0 / LARGEST <= self.seconds <= LARGEST:
            report.wrong(f"{where}.seconds_mean", self.seconds)
        self.dim = report.dim(f"levels.{GRIDS.index(grid)}.dim")
        self.phrases = phrases({**about, "dim": self.dim}, timed=True)
        del self.phrases["machine"]
        self.units = self.ranks if self.on_gpus else self.ranks * self.threads

    def problem(self, of_study: bool) -> tuple:
        """Key that runs of one series share. Hosts within a study may differ: one machine."""
        apart = ("cells", "host") if of_study else ("cells",)
        return (self.on_gpus, *(v for key, v in self.phrases.items() if key not in apart))


class Series:
    """Runs of one problem: points, sorted by number of units, each with its repeats."""

    def __init__(self, runs: list[Run], strong: bool):
        self.runs, self.strong = runs, strong
        self.units = sorted({run.units for run in runs})
        self.points = [[run for run in runs if run.units == u] for u in self.units]
        self.seconds = [statistics.median(run.seconds for run in p) for p in self.points]
        self.dof = [p[0].dof for p in self.points]
        self.rate = [dof / s for dof, s in zip(self.dof, self.seconds)]
        per_unit = [rate / u for rate, u in zip(self.rate, self.units)]
        self.efficiency = [100.0 * v / per_unit[0] for v in per_unit]
        self.phrases = dict(runs[0].phrases)
        hosts = {run.phrases["host"] for run in runs}
        if len(hosts) > 1:
            self.phrases["host"] = f"jobs on {len(hosts)} hosts"
        if not strong:
            work = sorted({dof // u for dof, u in zip(self.dof, self.units)})
            span = f"{work[0]} to {work[-1]}" if len(work) > 1 else f"{work[0]}"
            unit = "GPU" if runs[0].on_gpus else "rank" if runs[0].threads == 1 else "thread"
            self.phrases["cells"] = f"{span} cells per {unit}"
        threads = sorted({run.threads for run in runs})
        if not runs[0].on_gpus and len(threads) == 1:
            self.phrases["threads"] = f"{plural(threads[0], 'thread')} per rank"

    def spread(self, of) -> list[list[float]]:
        """Distances from the median to the minimum and the maximum, for error bars."""
        middle = [statistics.median(map(of, p)) for p in self.points]
        low = [m - min(map(of, p)) for m, p in zip(middle, self.points)]
        high = [max(map(of, p)) - m for m, p in zip(middle, self.points)]
        return [low, high]


def groups(runs: list[Run], key) -> list[list[Run]]:
    found: dict = {}
    for run in runs:
        found.setdefault(key(run), []).append(run)
    return list(found.values())


def n_units(runs: list[Run]) -> int:
    return len({run.units for run in runs})


def split_machines(runs: list[Run]) -> list[list[Run]]:
    """Split runs by threads per rank, or by ranks, if each part has several numbers of units."""
    if runs[0].on_gpus:
        return [runs]
    for key in (lambda run: run.threads, lambda run: run.ranks):
        parts = groups(runs, key)
        if all(n_units(part) > 1 for part in parts):
            return parts
    return [runs]


def series_of(runs: list[Run], mode: str) -> list[Series]:
    """Group runs: strong scaling if grids are equal, weak scaling if the work per unit is."""
    if n_units(runs) < 2:
        raise UsageError(
            "scaling needs runs on at least two numbers of ranks; "
            f"{', '.join(run.path for run in runs[:3])} have {runs[0].units} (ranks x threads)"
        )
    by_size = groups(runs, lambda run: tuple(run.dim))
    if mode != "weak" and (mode == "strong" or all(n_units(part) > 1 for part in by_size)):
        parts = [part for part in by_size if n_units(part) > 1]
        if not parts:
            raise UsageError("--mode=strong: no two numbers of ranks have the same grid")
        return [Series(p, True) for part in parts for p in split_machines(part)]
    work = [run.dof / run.units for run in runs]
    one_size = all(
        len(groups(p, lambda r: tuple(r.dim))) == 1 for p in groups(runs, lambda r: r.units)
    )
    if mode == "weak" or (max(work) <= WEAK_SPREAD * min(work) and one_size):
        if not one_size:
            raise UsageError("--mode=weak: one number of ranks has several grids")
        return [Series(p, False) for p in split_machines(runs)]
    sizes = ", ".join(sorted({f"{shape_of(run.dim)} on {run.units}" for run in runs})[:6])
    raise UsageError(
        f"neither strong nor weak scaling ({sizes}): use files of one kind, or set --mode"
    )


def axis_of_units(series: list[Series]) -> str:
    runs = [run for s in series for run in s.runs]
    if all(run.on_gpus for run in runs):
        return "GPUs"
    if any(run.on_gpus for run in runs):
        return "GPUs, or threads of all ranks"
    if all(run.threads == 1 for run in runs):
        return "ranks (one thread each)"
    if all(run.ranks == 1 for run in runs):
        return "threads (one rank)"
    return "threads of all ranks"


def draw_scaling(args) -> str:
    runs = [Run(Report(path), args.grid) for path in args.files]
    of_study = getattr(args, "of_study", False)
    parts = groups(runs, lambda run: run.problem(of_study))
    series = [s for part in parts for s in series_of(part, args.mode)]
    shared, labels = split_phrases([s.phrases for s in series], [s.runs[0].path for s in series])
    if len(series) == 1:
        labels = ["measured"]

    fig = figure(12.0, 4.6, args.dpi)
    axes = fig.subplots(1, 3)
    for i, (s, label) in enumerate(zip(series, labels)):
        draw_series(axes, s, label, COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)], i == 0)
    finish_axes(axes, series)
    kinds = {s.strong for s in series}
    kind = "Strong and weak" if len(kinds) == 2 else "Strong" if True in kinds else "Weak"
    repeats = max(len(p) for s in series for p in s.points)
    shown = f"{kind} scaling of one solve"
    shown += ": median of repeats, bars from the fastest to the slowest" if repeats > 1 else ""
    save(fig, args, shown, [shared], COLUMNS, rows_of(series, labels))
    return f"{kind.lower()} scaling, {plural(len(runs), 'run')} in {len(series)} series"


def draw_series(axes, s: Series, label: str, color: str, marker: str, first: bool) -> None:
    look = {"color": color, "marker": marker, "capsize": 3, "label": plain(label)}
    ideal = {
        "color": color,
        "linestyle": ":",
        "linewidth": 1.2,
        "label": "ideal" if first else None,
    }
    n, base = s.units, s.units[0]
    axes[0].errorbar(n, s.seconds, s.spread(lambda run: run.seconds), **look)
    grown = [dof / s.dof[0] * base / u for dof, u in zip(s.dof, n)]
    axes[0].plot(n, [s.seconds[0] * g for g in grown], **ideal)
    axes[1].errorbar(n, s.rate, s.spread(lambda run: run.dof / run.seconds), **look)
    axes[1].plot(n, [s.rate[0] * u / base for u in n], **ideal)
    per_unit = s.rate[0] / base
    of = lambda run: 100.0 * run.dof / run.seconds / run.units / per_unit  # noqa: E731
    axes[2].errorbar(n, s.efficiency, s.spread(of), **look)


def finish_axes(axes, series: list[Series]) -> None:
    ticker = need("matplotlib.ticker", "matplotlib")
    units = sorted({u for s in series for u in s.units})
    for ax, what in zip(axes, ("seconds per solve", "DOF/s", "parallel efficiency, %")):
        ax.set_xscale("log", base=2)
        ax.set_xticks(units)
        ax.xaxis.set_major_formatter(ticker.FormatStrFormatter("%d"))
        ax.xaxis.set_minor_locator(ticker.NullLocator())
        ax.set_xlabel(axis_of_units(series))
        ax.set_ylabel(what)
        ax.grid(True, color="0.88")
    for ax in axes[:2]:
        ax.set_yscale("log")
        # Label minor ticks if the values span less than a decade.
        ax.yaxis.set_minor_formatter(ticker.LogFormatterSciNotation(minor_thresholds=(1.5, 0.7)))
        ax.tick_params(axis="y", which="minor", labelsize=8)
    axes[2].axhline(100.0, color="0.4", linestyle=":", linewidth=1.2, label="ideal")
    axes[2].set_ylim(0.0, max(110.0, 1.05 * axes[2].get_ylim()[1]))
    axes[0].legend(fontsize=8)


def rows_of(series: list[Series], labels: list[str]):
    for s, label in zip(series, labels):
        for i, p in enumerate(s.points):
            seconds = [run.seconds for run in p]
            row = [label, "strong" if s.strong else "weak", s.units[i], p[0].ranks, p[0].threads]
            row += [s.dof[i], len(p), s.seconds[i], min(seconds), max(seconds)]
            yield [*row, s.rate[i], s.efficiency[i] / 100.0]
