"""The picture of a plane of a field."""

from __future__ import annotations

from plots.common import (
    GRIDS,
    LARGEST,
    figure,
    phrases,
    plain,
    save_figure,
    save_table,
    set_title,
)
from plots.dump import Dump, Plane
from toolkit import USAGE, ToolError, need, plural

# A logarithmic scale shows so many decades below the largest value.
DECADES = 4


def limits_of(planes: list[Plane], log: bool) -> tuple[float, float]:
    """Limits of colours that hold for all planes. Around 0 where values have both signs."""
    numpy = need("numpy", "numpy")
    finite = [p.values[numpy.isfinite(p.values)].astype(float) for p in planes]
    finite = [v.clip(-LARGEST, LARGEST) for v in finite]  # as which they are drawn
    largest = [float(abs(v).max()) for v in finite if v.size > 0]
    smallest = 10.0**DECADES / LARGEST if log else 0.0
    if not any(v > smallest for v in largest):
        return (1e-1, 1.0) if log else (-1.0, 1.0)
    if log:
        # The smallest of the planes has decades of its own.
        return min(v for v in largest if v > smallest) * 10.0**-DECADES, max(largest)
    low = min(float(v.min()) for v in finite if v.size > 0)
    high = max(float(v.max()) for v in finite if v.size > 0)
    if low < 0.0 < high:
        return -max(largest), max(largest)
    if low == high:  # the same everywhere: a scale needs some width
        return max(low - 0.5 * abs(low), -LARGEST), min(high + 0.5 * abs(high), LARGEST)
    return low, high


def colours_for(limits: tuple[float, float], log: bool) -> str:
    """Blue and red around 0, else from dark to light: both are told apart by everybody."""
    return "RdBu_r" if not log and limits[0] == -limits[1] else "viridis"


def draw_plane(plane: Plane, dump: Dump, limits: tuple[float, float], log: bool, dpi: int):
    """The figure of a plane."""
    fig = figure(7.0, 6.6, dpi)
    numpy = need("numpy", "numpy")
    colors = need("matplotlib.colors", "matplotlib")
    matplotlib = need("matplotlib", "matplotlib")
    words, formula = plane.words, plane.formula
    values = numpy.ma.masked_invalid(plane.values.astype(float))
    cmap = matplotlib.colormaps[colours_for(limits, log)].with_extremes(bad="0.6")
    if log:
        # Masked are only values that are no numbers: zero is below every scale.
        values, norm = abs(values).clip(min=limits[0] * 1e-3), colors.LogNorm(*limits)
    else:
        norm = colors.Normalize(*limits)

    ax = fig.add_subplot()
    across, up = plane.across
    edges = [plane.start(across), plane.start(across) + 1.0, plane.start(up), plane.start(up) + 1.0]
    image = ax.imshow(
        values.clip(-LARGEST, LARGEST), origin="lower", extent=edges, cmap=cmap, norm=norm
    )
    ax.set_xlabel(f"{across} (edge of the cube = 1)")
    ax.set_ylabel(f"{up} (edge of the cube = 1)")
    outside = [values.min() < limits[0], values.max() > limits[1]] if values.count() else [0, 0]
    extend = ("neither", "min", "max", "both")[int(outside[0]) + 2 * int(outside[1])]
    bar = fig.colorbar(image, ax=ax, extend=extend, shrink=0.9)
    bar.set_label(plain(f"|{formula}| (dimensionless)" if log else f"{words} (dimensionless)"))
    if not log:
        bar.formatter.set_powerlimits((-2, 3))
        bar.formatter.set_useMathText(True)
        bar.update_ticks()

    set_title(fig, headline(plane, dump, log), run_lines(plane, dump))
    return fig


def headline(plane: Plane, dump: Dump, log: bool) -> str:
    words = plane.words
    bad = plane.values.size - int(need("numpy", "numpy").isfinite(plane.values).sum())
    return (
        f"{'Magnitude of the ' if log else ''}{words if log else words[0].upper() + words[1:]} "
        f"at {plane.where()}, {dump.after()}"
        + (f"; {plural(bad, 'value')} not finite (grey)" if bad else "")
    )


def run_lines(plane: Plane, dump: Dump) -> list[str]:
    said = phrases(dump.about)
    norms, f_norm = dump.history()
    where = f"{said.pop('cells')}, {said.pop('machine')}"
    if plane.level > 0:
        where += f"; level {plane.level}: {plane.n}³ cells{what_of(plane)}"
    elif norms:
        where += f"; max|f − Au| = {norms[-1]:.3e}"
        where += f", relative {norms[-1] / f_norm:.3e}" if f_norm > 0.0 else ""
    return [", ".join(said.values()), where]


def what_of(plane: Plane) -> str:
    """Coarse grids of every run are solved too, below them is what the last cycle left."""
    if plane.field != "u":
        return ""
    solved = plane.level < len(GRIDS)
    return f", the solution at {GRIDS[plane.level]}" if solved else ", what the last cycle left"


def rows_of(plane: Plane):
    across, up = plane.across
    for j, row in enumerate(plane.values):
        for i, value in enumerate(row):
            yield plane.position(across, i), plane.position(up, j), value


def draw_slice(args) -> str:
    with Dump(args.files[0]) as dump:
        plane = dump.plane(args.field, args.level, args.axis, args.at)
        limits = args.limits or limits_of([plane], args.log)
        check_limits(limits, args.log)
        save_figure(draw_plane(plane, dump, limits, args.log, args.dpi), args.output)
    save_table(args.data, [*plane.across, args.field], rows_of(plane))
    return f"{args.field} at {plane.where()}"


def check_limits(limits: tuple[float, float], log: bool) -> None:
    why = ""
    if max(map(abs, limits)) > LARGEST:
        why = f"{LARGEST:g} is the largest that can be drawn"
    elif log and limits[0] < 1.0 / LARGEST:
        why = f"a logarithmic scale begins above 0, at {1.0 / LARGEST:g} or more"
    if why:
        raise ToolError(f"--limits={limits[0]:g},{limits[1]:g}: {why}", USAGE)
