"""Plot of the log of scripts/tune: time, error and energy of every candidate."""

from __future__ import annotations

import math

from plots.common import COLORS, LARGEST, figure, plain, save
from toolkit import FileError, plural
from tuning.log import FINAL, LONG, QUICK, REFERENCE, Run, read_log
from tuning.search import Candidate, Target, ranked

HEAD = ["options", "seconds", "joules", "error_difference", "reached"]
SMALLEST = 1e-4  # difference from the converged error that is drawn


class Tried(Candidate):
    """A candidate of a log; `options` are words here."""

    def add(self, run: Run, target: Target) -> None:
        self.run, self.miss = run, target.miss(run)
        if run.phase == QUICK:
            self.quick = run.seconds
        else:
            (self.long if run.phase == LONG else self.last).append(run)

    def deviation(self, target: Target) -> float:
        """Largest relative difference of the two errors from those of a converged solve."""
        ratios = target.ratios(self.run)
        if ratios is None:
            return math.nan
        return max(SMALLEST, *(abs(ratio - 1.0) for ratio in ratios))


def target_in(runs: list[Run], tolerance: float) -> Target:
    for run in runs:
        if run.phase == REFERENCE and not run.reason and run.error and run.order is not None:
            return Target(run.error, run.error * 2.0**run.order, tolerance)
    return Target(None, None, tolerance)


def tried_in(path: str, runs: list[Run], target: Target) -> list[Tried]:
    """All candidates that were timed, in the order of their first runs."""
    found: dict[str, Tried] = {}
    for run in runs:
        if run.phase == REFERENCE or run.reason or run.seconds is None:
            continue
        if not 1.0 / LARGEST < run.seconds < LARGEST:
            raise FileError(f"{path}: a run took {run.seconds:g} s; remove the log")
        found.setdefault(run.options, Tried(tuple(run.options.split()), {})).add(run, target)
    if not found:
        raise FileError(f"{path} has no timed runs")
    return list(found.values())


def front_of(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that no other one beats in both coordinates, sorted by the first."""
    found, least = [], math.inf
    for x, y in sorted(points):
        if y < least:
            found.append((x, y))
            least = y
    return found


def draw_panel(ax, tried: list[Tried], y_of, best: Tried | None, logarithmic: bool) -> None:
    """One point per candidate, the Pareto front, and stars for two candidates."""
    points = {id(c): (1e3 * c.time(), y_of(c)) for c in tried}
    reached = [c for c in tried if not c.miss]
    missed = [c for c in tried if c.miss]
    kinds = ((missed, "error not reached", "0.65", "x"), (reached, "error reached", COLORS[0], "o"))
    for some, label, color, marker in kinds:
        if some:
            x, y = zip(*(points[id(c)] for c in some))
            ax.plot(x, y, ls="", marker=marker, ms=5, color=color, label=f"{label} ({len(some)})")
    ax.plot(*zip(*front_of(list(points.values()))), color="0.5", lw=1.0, label="Pareto front")
    marks = [(c, "as given", COLORS[1]) for c in tried if not c.options]
    if best is not None and best.options:
        marks.append((best, "\n".join(["best:", *map(plain, best.options)]), COLORS[2]))
    for c, label, color in marks:
        ax.plot(*([v] for v in points[id(c)]), ls="", marker="*", ms=13, color=color, label=label)
    ax.set_xscale("log")
    ax.set_yscale("log" if logarithmic else "linear")
    ax.margins(0.1)
    ax.set_xlabel("milliseconds of a solve")
    ax.grid(True, which="major", color="0.88")


def draw_tuning(args) -> str:
    path = args.files[0]
    comments, runs = read_log(path)
    target = target_in(runs, args.tolerance)
    tried = tried_in(path, runs, target)
    final = {tuple(run.options.split()) for run in runs if run.phase == FINAL}
    able = [c for c in tried if not c.miss]
    measured = [c for c in able if not math.isnan(c.energy())]
    best = (
        ranked([c for c in able if c.options in final], args.minimize)
        or ranked(able, args.minimize)
        or [None]
    )[0]

    fig = figure(7.5, 4.8 if not measured else 8.2, args.dpi)
    axes = list(fig.subplots(2 if measured else 1, 1, squeeze=False)[:, 0])
    if target.error is not None:
        draw_panel(axes[0], tried, lambda c: 100.0 * c.deviation(target), best, True)
        axes[0].axhline(100.0 * args.tolerance, color="0.4", linestyle=":", linewidth=1.2)
        axes[0].set_ylabel("difference from a converged solve's error, %")
    else:
        draw_panel(axes[0], tried, lambda c: tried.index(c) + 1, best, False)
        axes[0].set_ylabel("candidate")
    if measured:
        draw_panel(axes[1], measured, Candidate.energy, best, True)
        counters = sorted({run.counter for c in measured for run in c.last or c.long} - {""})
        axes[1].set_ylabel(f"joules of a solve ({', '.join(counters)})")
    axes[0].legend(fontsize=7)
    command = comments[0].partition(": ")[2] if comments else path
    number = lambda value: "" if value is None or math.isnan(value) else value  # noqa: E731
    rows = [
        [
            " ".join(c.options),
            c.time(),
            number(c.energy()),
            number(c.deviation(target)),
            "no" if c.miss else "yes",
        ]
        for c in tried
    ]
    save(fig, args, "Candidates of scripts/tune", [command], HEAD, rows)
    return f"{plural(len(tried), 'candidate')}, {len(able)} reach the error"
