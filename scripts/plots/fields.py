"""Plot of a plane of one field."""

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
from toolkit import UsageError, need, plural

SIZE = (7.0, 6.6)  # inches
# Fields that change with each cycle.
CHANGED_BY_CYCLES = ("u", "residual")
# Limits of a logarithmic scale. Values below the first percentile are outliers. If values change
# sign, magnitudes come arbitrarily close to 0: the scale then spans DECADES below the largest, or
# more if a quarter of the values are smaller still.
LOWEST_PERCENT, SIGNED_PERCENT, DECADES = 1.0, 25.0, 4
MOST_ELONGATED = 4.0  # ratio of the sides of a plane that is drawn in its proportions


def limits_of(planes: list[Plane], log: bool) -> tuple[float, float]:
    """Common color limits of all planes; symmetric about 0 if values have both signs."""
    numpy = need("numpy", "numpy")
    finite = [p.values[numpy.isfinite(p.values)].astype(float) for p in planes]
    finite = [v.clip(-LARGEST, LARGEST) for v in finite]  # as drawn
    if log:
        return log_limits(finite)
    largest = [float(abs(v).max()) for v in finite if v.size > 0]
    if not any(v > 0.0 for v in largest):
        return -1.0, 1.0
    low = min(float(v.min()) for v in finite if v.size > 0)
    high = max(float(v.max()) for v in finite if v.size > 0)
    if low < 0.0 < high:
        return -max(largest), max(largest)
    if low == high:  # constant field: a scale needs a nonzero width
        return max(low - 0.5 * abs(low), -LARGEST), min(high + 0.5 * abs(high), LARGEST)
    return low, high


def log_limits(planes: list) -> tuple[float, float]:
    """From the smallest magnitude in any plane, without outliers, to the largest of all planes."""
    numpy = need("numpy", "numpy")
    limits = []
    for values in planes:
        sizes = abs(values)
        sizes = sizes[sizes > 10.0**DECADES / LARGEST]
        if sizes.size == 0:
            continue
        low, high = float(numpy.percentile(sizes, LOWEST_PERCENT)), float(sizes.max())
        if changes_sign(values):
            quarter = float(numpy.percentile(sizes, SIGNED_PERCENT))
            low = max(low, min(quarter, high * 10.0**-DECADES))
        limits.append((low, high))
    if not limits:
        return 1e-1, 1.0
    low, high = min(low for low, _ in limits), max(high for _, high in limits)
    return (low, high) if low < high else (0.5 * low, min(2.0 * high, LARGEST))


def changes_sign(values) -> bool:
    return bool((values < 0.0).any() and (values > 0.0).any())


def colors_for(limits: tuple[float, float], log: bool) -> str:
    """Color map: diverging for symmetric limits, otherwise dark to light; color-blind safe."""
    return "RdBu_r" if not log and limits[0] == -limits[1] else "viridis"


def beyond(planes: list[Plane], limits: tuple[float, float], log: bool) -> str:
    """The ends of the scale that values exceed, as Matplotlib's argument `extend`."""
    numpy = need("numpy", "numpy")
    shown = [numpy.ma.masked_invalid(p.values) for p in planes]
    shown = [abs(v) if log else v for v in shown if v.count()]
    low = any(v.min() < limits[0] for v in shown)
    high = any(v.max() > limits[1] for v in shown)
    return ("neither", "min", "max", "both")[int(low) + 2 * int(high)]


def draw_plane(fig, plane: Plane, dump: Dump, limits, extend: str, args) -> None:
    """Draw a plane with the scale and title of the options."""
    log = args.log
    numpy = need("numpy", "numpy")
    colors = need("matplotlib.colors", "matplotlib")
    matplotlib = need("matplotlib", "matplotlib")
    words, formula = plane.words, plane.formula
    values = numpy.ma.masked_invalid(plane.values.astype(float))
    cmap = matplotlib.colormaps[colors_for(limits, log)].with_extremes(bad="0.6")
    if log:
        # Only non-finite values are masked; zero is drawn as a value below the scale.
        values, norm = abs(values).clip(min=limits[0] * 1e-3), colors.LogNorm(*limits)
    else:
        norm = colors.Normalize(*limits)

    ax = fig.add_subplot()
    across, up = plane.across
    x, y = plane.edges(across), plane.edges(up)
    shown = values.clip(-LARGEST, LARGEST)
    # Cells in their proportions, unless the picture would be a strip.
    ratio = (x[-1] - x[0]) / (y[-1] - y[0])
    aspect = "equal" if 1.0 / MOST_ELONGATED <= ratio <= MOST_ELONGATED else "auto"
    if plane.is_even(across) and plane.is_even(up):
        extent = [x[0], x[-1], y[0], y[-1]]
        image = ax.imshow(shown, origin="lower", extent=extent, cmap=cmap, norm=norm, aspect=aspect)
    else:
        image = ax.pcolormesh(x, y, shown, cmap=cmap, norm=norm, rasterized=True)
        ax.set_aspect(aspect)
    unit = " (edge of the cube = 1)" if plane.is_cube else ""
    ax.set_xlabel(f"{across}{unit}")
    ax.set_ylabel(f"{up}{unit}")
    bar = fig.colorbar(image, ax=ax, extend=extend, shrink=0.9)
    label = f"|{formula}|" if log and has_negative(plane) else words
    bar.set_label(plain(f"{label} (dimensionless)"))
    if not log:
        bar.formatter.set_powerlimits((-2, 3))
        bar.formatter.set_useMathText(True)
        bar.update_ticks()

    set_title(fig, headline(plane, dump, log), run_phrases(plane, dump), args.title)


def has_negative(plane: Plane) -> bool:
    return bool((plane.values < 0.0).any())


def headline(plane: Plane, dump: Dump, log: bool) -> str:
    words = plane.words
    bad = plane.values.size - int(need("numpy", "numpy").isfinite(plane.values).sum())
    magnitude = log and has_negative(plane)
    shown = f"Magnitude of the {words}" if magnitude else words[0].upper() + words[1:]
    shown += f" at {plane.where()}"
    if plane.field in CHANGED_BY_CYCLES:
        shown += f", {dump.after()}"
    return shown + (f"; {plural(bad, 'value')} not finite (grey)" if bad else "")


def run_phrases(plane: Plane, dump: Dump) -> list[str]:
    """Phrases of the second line of the title, most important first."""
    found = phrases(dump.about)
    for key in ("machine", "smooths"):  # no value depends on the machine, few on the sweeps
        found.pop(key, None)
    norms, reference = dump.history()
    first = [found.pop("cells")]
    if plane.level > 0:
        first.append(f"level {plane.level}: {plane.size()}{content_of(plane)}")
    elif norms and reference > 0.0 and plane.field in CHANGED_BY_CYCLES:
        first.append(f"relative residual {norms[-1] / reference:.2e}")
    return [*first, *found.values()]


def content_of(plane: Plane) -> str:
    """What u is on a coarse level: the solution of 2h or 4h; below, data of the last cycle."""
    if plane.field != "u":
        return ""
    solved = plane.level < len(GRIDS)
    return f", the solution at {GRIDS[plane.level]}" if solved else ", data of the last cycle"


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
        extend = beyond([plane], limits, args.log)
        fig = figure(*SIZE, args.dpi)
        draw_plane(fig, plane, dump, limits, extend, args)
        save_figure(fig, args.output)
    save_table(args.data, [*plane.across, args.field], rows_of(plane))
    return f"{args.field} at {plane.where()}"


def check_limits(limits: tuple[float, float], log: bool) -> None:
    why = ""
    if max(map(abs, limits)) > LARGEST:
        why = f"the largest possible limit is {LARGEST:g}"
    elif log and limits[0] < 1.0 / LARGEST:
        why = f"a logarithmic scale needs a lower limit of at least {1.0 / LARGEST:g}"
    if why:
        raise UsageError(f"--limits={limits[0]:g},{limits[1]:g}: {why}")
