"""Output of 'scaling model': tables and model.csv."""

from __future__ import annotations

import statistics
from concurrent.futures import ThreadPoolExecutor

from plots.common import GRIDS, save_table
from studies.costs import CPU, OF_NAME, PARTS, SCALE, Key
from studies.folder import Folder
from studies.forecast import N_ASKED, Change, Forecast, Forecaster, name_of
from studies.model import HeldBack, Model, spread
from studies.samples import Machine, Sample
from toolkit import plural

# Relative errors above which to warn: of a held-back point, and of the fit.
FAR_OFF = 0.1
LARGE_RESIDUAL = 0.2
N_NAMED = 3  # points named in the warning of large residuals
N_COLUMNS = 3  # forecasts in the what-if table: the last of the curve, and some before it


def machine_lines(machine: Machine, model: Model, n_solves: int, n_points: int) -> list[str]:
    lines = [f"model of {plural(n_solves, 'solve')} at {plural(n_points, 'point')}"]
    found = [
        f"{each.count:.3g} halo exchanges per visit, {each.all:.2g} with edges and corners ({kind})"
        for kind, each in machine.exchanges.items()
    ]
    if model.cache > 0.0:
        found.append(f"caches of {1e-6 * model.cache:.0f} MB per host")
    if machine.tail_cells:
        found.append(f"one kernel for levels up to {machine.tail_cells} cells")
    lines += ["; ".join(found)] if found else []
    if machine.most_hosts == 1 and machine.exchanges:
        lines.append("measured within one host: set the costs of network messages with --assume")
    return [*lines, ""]


def cost_lines(model: Model, draws: list[Model], assumed: set[Key]) -> list[str]:
    lines = ["cost             value        5 %       95 %  unit  of"]
    for key in sorted(model.values, key=lambda k: list(OF_NAME).index(k[0])):
        about = OF_NAME[key[0]]
        scale = SCALE[about.unit]
        value = scale * model.values[key]
        width = spread(value, [scale * m.values.get(key, 0.0) for m in draws])
        # No cost is negative.
        band = f"{max(value - width, 0.0):10.4g} {value + width:10.4g}"
        band = f"{'assumed':>21}" if key in assumed else band
        lines.append(f"{name_of(key):<13} {value:8.4g} {band}  {about.unit:4}  {about.of}")
    return [*lines, ""]


def width_of(names) -> int:
    return max(15, *map(len, names))


def residuals_of(model: Model, samples: list[Sample]) -> dict[str, dict[int, float]]:
    """Relative errors of the fit by point and grid: the largest over the repeats."""
    worst: dict[str, dict[int, float]] = {}
    for s in samples:
        error = model.of_sample(s) / s.seconds - 1.0
        of_point = worst.setdefault(s.name, {})
        if abs(error) >= abs(of_point.get(s.grid, 0.0)):
            of_point[s.grid] = error
    return worst


def residual_lines(residuals: dict[str, dict[int, float]]) -> list[str]:
    """Table of residuals of each point on h, 2h and 4h."""
    width = width_of(residuals)
    lines = [f"{'residuals':<{width}}        h       2h       4h"]
    for name, errors in residuals.items():
        columns = " ".join(f"{100 * errors[g]:+6.1f} %" for g in sorted(errors))
        lines.append(f"{name:<{width}} {columns}")
    return [*lines, ""]


def residual_warning(residuals: dict[str, dict[int, float]]) -> str | None:
    """A warning that names the solves with large residuals, the worst first; None without any."""
    missed = [
        (abs(error), f"{name} on {GRIDS[grid]} by {100 * error:+.1f} %")
        for name, errors in residuals.items()
        for grid, error in errors.items()
        if abs(error) > LARGE_RESIDUAL
    ]
    if not missed:
        return None
    named = [text for _, text in sorted(missed, key=lambda pair: -pair[0])]
    more = f" and {len(named) - N_NAMED} more" if len(named) > N_NAMED else ""
    return (
        f"the model misses measured times by more than {100 * LARGE_RESIDUAL:.0f} %: "
        f"{', '.join(named[:N_NAMED])}{more}; repeat these runs on a quiet machine, or measure "
        "more points"
    )


def split_lines(model: Model, samples: list[Sample]) -> list[str]:
    """Times of the levels for the point with most ranks: measured (not fitted), and modeled.

    Levels that take less than a percent are summed in one line.
    """
    on_h = [s for s in samples if s.level_seconds]
    most = max(on_h, key=lambda s: (s.ranks, s.dof))
    repeats = [s for s in on_h if s.name == most.name]
    measured = [statistics.median(each) for each in zip(*(s.level_seconds for s in repeats))]
    modeled, solve = model.of_levels(most), statistics.median(s.seconds for s in repeats)
    replayed = any(level.place != CPU for level in most.levels)
    how = "in separate solves without the graph" if replayed else "in the timed solves"
    lines = [f"levels of {most.name} on h: grid, ranks, place, measured ({how}), in the model"]
    rest = [0, 0.0, 0.0]
    for level, seconds, predicted in zip(most.levels, measured, modeled):
        if max(seconds, predicted) < 0.01 * solve:
            rest = [rest[0] + 1, rest[1] + seconds, rest[2] + predicted]
            continue
        error = f"{100 * (predicted / seconds - 1.0):+6.1f} %" if seconds > 0.0 else "     -"
        where = f"{level.dim:7d}^3 {level.ranks:8d} {level.place:5}"
        lines.append(f"  {where} {seconds:10.4g} s {predicted:10.4g} s {error}")
    if rest[0]:
        lines.append(f"  {plural(rest[0], 'other'):<24} {rest[1]:10.4g} s {rest[2]:10.4g} s")
    return [*lines, ""]


def held_lines(held: list[HeldBack], how: str) -> list[str]:
    width = width_of(h.name for h in held)
    lines = [f"{'held back':<{width}}   measured    predicted  error; predicted {how}"]
    for h in held:
        text = "unknown: the others do not determine it"
        if h.predicted is not None:
            text = f"{h.predicted:10.4g} s {100 * h.error:+6.1f} %"
        lines.append(f"{h.name:<{width}} {h.measured:8.4g} s {text}")
    return [*lines, ""]


def curve_lines(curve: list[Forecast], unit: str, how: str) -> list[str]:
    lines = [
        f"forecast: {how}",
        f"{unit:>8}      grid    seconds        5 %       95 %     GDOF/s efficiency "
        + " ".join(f"{part:>9}" for part in PARTS),
    ]
    for f in curve:
        shares = " ".join(f"{100 * f.parts[part] / f.seconds:7.1f} %" for part in PARTS)
        lines.append(
            f"{f.ranks:8d} {f.dim:7d}^3 {f.seconds:10.4g} {f.low:10.4g} {f.high:10.4g} "
            f"{1e-9 * f.dof / f.seconds:10.4g} {100 * efficiency(f, curve[0]):8.1f} % {shares}"
        )
    return [*lines, ""]


def efficiency(f: Forecast, first: Forecast) -> float:
    return (f.dof / f.seconds / f.ranks) / (first.dof / first.seconds / first.ranks)


def level_lines(curve: list[Forecast], unit: str) -> list[str]:
    """Levels of the last forecast, and the numbers of ranks at which coarse levels dominate."""
    last = curve[-1]
    lines = [f"levels of {last.ranks} {unit}: grid, ranks, place, seconds per solve"]
    for level, seconds in last.levels:
        lines.append(
            f"  {level.dim:7d}^3 {level.ranks:8d} {level.place:5} {seconds:10.4g} "
            f"{100 * seconds / last.seconds:6.1f} %"
        )
    coarse = [f.levels[0][1] < 0.5 * f.seconds for f in curve]
    waiting = [f.parts["cells"] < 0.5 * f.seconds for f in curve]
    parts = ("all coarse levels together take", "launches, messages and bytes together take")
    for what, holds in zip(parts, (coarse, waiting)):
        where = where_from(curve, holds, unit)
        lines.append(f"{what} more than half of a solve's time {where}")
    return [*lines, ""]


def where_from(curve: list[Forecast], holds: list[bool], unit: str) -> str:
    """Describe the numbers of ranks for which `holds` is true, as a range or a list."""
    if not any(holds):
        return f"at no number up to {curve[-1].ranks} {unit}"
    start = len(holds)
    while start > 0 and holds[start - 1]:
        start -= 1
    if start < len(holds):
        return f"from {curve[start].ranks} {unit} on"
    alone = ", ".join(str(f.ranks) for f, here in zip(curve, holds) if here)
    return f"with {alone} {unit}, not with {curve[-1].ranks}"


def what_if_lines(forecaster: Forecaster, curve: list[Forecast], unit: str) -> list[str]:
    step = max(1, (len(curve) - 1) // N_COLUMNS)
    columns = curve[::-1][: step * N_COLUMNS : step][::-1]
    head = " ".join(f"{f.ranks:>9}" for f in columns)
    lines = [f"{'what if, ' + unit + ':':<46} {head}"]
    changes = forecaster.changes()
    with ThreadPoolExecutor(N_ASKED) as pool:
        texts = pool.map(lambda change: what_if(forecaster, change, columns), changes)
        lines += [f"{change.text:<46} {text}" for change, text in zip(changes, texts)]
    return [*lines, ""]


def what_if(forecaster: Forecaster, change: Change, columns: list[Forecast]) -> str:
    found = []
    for f in columns:
        other = forecaster.predict(f.ranks // forecaster.study.ranks_per_node, change)
        if not isinstance(other, Forecast):
            if ("cell", CPU) in other:
                return "unknown: no run had levels on the CPU"
            return f"unknown: the runs do not determine {', '.join(map(name_of, other))}"
        found.append(f"{100 * (other.seconds / f.seconds - 1.0):+7.1f} %")
    return " ".join(found)


def write_curve(folder: Folder, curve: list[Forecast]) -> str:
    """Write model.csv with full precision."""
    path = folder.at("model.csv")
    head = ["ranks", "n", "dof", "seconds", "seconds_5", "seconds_95", "efficiency", *PARTS]
    rows = []
    for f in curve:
        numbers = [f.seconds, f.low, f.high, efficiency(f, curve[0]), *f.parts.values()]
        rows.append([f.ranks, f.dim, f.dof, *numbers])
    save_table(path, head, rows, may_follow=False)
    return path
