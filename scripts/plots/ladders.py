"""Plots of hpgmg-bench reports: the rows of a ladder as bars, and the roofline."""

from __future__ import annotations

import math

from plots.common import COLORS, LARGEST, MARKERS, figure, plain, save
from plots.report import read_report
from toolkit import FileError, UsageError, need, plural

ROOFLINE = "roofline"
ARITHMETIC = "arithmetic, double"  # the table of the peak flop rate; others are solver kernels
# Groups of the solver's kernels by words in their names; the first that matches counts.
OTHERS = "vector operations"
GROUPS = (
    ("smoothers", ("GSRB", "Jacobi", "Chebyshev", "smooth")),
    ("residuals", ("residual",)),
    ("transfers between levels", ("restriction", "interpolation", "guess")),
    ("norms and sums", ("norm", "dot")),
)
GROUP_NAMES = [*(group for group, _ in GROUPS), OTHERS]
MOST_NAMES = 14  # as many as fit next to the picture
# Places of a number around its point, in points.
PLACES = tuple(
    (far * dx, far * dy) for far in (6, 12, 18) for dx, dy in ((0, 1), (1, 0), (0, -1), (-1, 0))
)
BAR = 0.17  # inches
WIDEST = 200.0  # percent of the copy: longest bar of a row in the cache
WIDTHS = (3.0, 2.0)  # relative widths of the axes for speed and for percent of the copy
SPEED = "speed, % of the table's fastest row\n(ns per element; speed-up over the first row)"
BAR_COLUMNS = ["ladder", "table", "variant", "gb_per_s", "of_copy", "ns_per_element", "speed_up"]
BAR_COLUMNS += ["in_cache"]
ROW = ("variant", "gb_per_s", "of_copy", "ns", "speed_up")
NUMBERS = ("gb_per_s", "of_copy", "useful_bytes", "flops", "seconds", "elements", "speed_up")


class Bench:
    """A checked report of hpgmg-bench --json."""

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
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            why = str(error)[:80]
            raise FileError(f"{path} has no tables of hpgmg-bench ({why})") from None
        if not self.tables:
            raise FileError(f"{path} has no tables of hpgmg-bench; repeat the run")
        if not 0.0 < self.copy <= LARGEST:
            raise FileError(f"{path}: invalid copy_gb_per_s {self.copy}; repeat the run")

    def row(self, row: dict) -> dict:
        values = {key: float(row[key]) for key in NUMBERS}
        if not all(0.0 <= v <= LARGEST for v in values.values()):
            raise ValueError(f"a row of {values}")
        if values["seconds"] < 1 / LARGEST or values["elements"] < 1.0:
            raise ValueError(f"a row of {values}")
        ns = 1e9 * values["seconds"] / values["elements"]
        # Older reports do not know.
        in_cache = row.get("in_cache", False) is True
        return {"variant": str(row["variant"]), "ns": ns, "in_cache": in_cache, **values}

    def of(self, ladder: str) -> list[tuple[str, list[dict]]]:
        tables = [(title, rows) for name, title, rows in self.tables if name == ladder]
        if not tables:
            there = ", ".join(dict.fromkeys(name for name, _, _ in self.tables)) or "none"
            raise UsageError(f"{self.path} has no ladder {ladder}; it has {there}")
        return tables


def bar_slots(tables) -> int:
    """Number of lines of a panel. Each table needs a title, one bar per row and an empty line."""
    return sum(len(rows) + 2 for _, rows in tables)


def is_compared(tables) -> bool:
    """True if the rows of each table do the same work, so that their speeds compare."""
    return all(row["speed_up"] > 0.0 for _, rows in tables for row in rows)


def drawn_rows(tables) -> list[list]:
    """Plotted values of tables (ladder, title, rows)."""
    return [
        [name, title, *(row[key] for key in ROW), int(row["in_cache"])]
        for name, title, rows in tables
        for row in rows
    ]


def draw_bars(fig, cell, tables) -> list:
    """Draw one group of bars per table: speed, if rows compare, and percent of copy bandwidth.

    Fused sweeps need fewer useful bytes, so the fastest row may have the lowest percentage, and
    without speed the shortest bar. Returns the axes in CELL of a grid.
    """
    compared = is_compared(tables)
    grid = cell.subgridspec(1, 2 if compared else 1, width_ratios=WIDTHS if compared else None)
    axes = [fig.add_subplot(part) for part in grid]
    at, ticks, names = 0.0, [], []
    for number, (title, rows) in enumerate(tables):
        color = COLORS[number % len(COLORS)]
        axes[0].text(0.0, at, plain(title), fontsize=8, fontweight="bold", va="center")
        at -= 1.0
        fastest = min(row["ns"] for row in rows)
        for row in rows:
            percent = 100.0 * row["of_copy"]
            # A speed of the cache may be many times that of memory: the bar ends at the edge.
            shown = min(percent, WIDEST) if row["in_cache"] else percent
            look = {"alpha": 0.45, "hatch": "////"} if row["in_cache"] else {}
            said = f" {percent:.3g} %{', in cache' if row['in_cache'] else ''}"
            axes[-1].barh(at, shown, color=color, height=0.8, **look)
            axes[-1].text(shown, at, said, fontsize=6, va="center")
            if compared:
                label = f" {row['ns']:.3g} ns, {row['speed_up']:.3g}x"
                axes[0].barh(at, 100.0 * fastest / row["ns"], color=color, height=0.8)
                axes[0].text(100.0 * fastest / row["ns"], at, label, fontsize=6, va="center")
            ticks.append(at)
            names.append(plain(row["variant"], 80))
            at -= 1.0
        at -= 1.0
    axes[0].set_yticks(ticks, names, fontsize=7)
    axes[-1].set_xlim(0.0, 1.5 * axes[-1].get_xlim()[1])  # room for the labels
    axes[-1].axvline(100.0, color="0.4", linestyle=":", linewidth=1.2)
    axes[-1].set_xlabel("useful bytes/s,\n% of a copy", fontsize=7)
    if compared:
        axes[0].set_xlim(0.0, 145.0)  # room for the labels
        axes[0].set_xticks([0, 50, 100])
        axes[0].set_xlabel(SPEED, fontsize=7)
        axes[1].set_yticks([])
    for ax in axes:
        ax.set_ylim(at + 1.0, 1.0)
    return axes


def kind_of(title: str) -> tuple[str, str]:
    """Operator, with its kind of alpha and cells, and size of a roofline table, from its title."""
    parts = title.split(", ")
    kinds = [part for part in parts[1:-1] if part.startswith("alpha") or part.endswith("float")]
    return " ".join([parts[0], *kinds]), parts[-1]


def kinds_of(tables: list) -> tuple[list[str], list[str]]:
    """All operators and all sizes of tables, without repetition."""
    kinds = [kind_of(title) for title, _ in tables]
    return list(dict.fromkeys(k[0] for k in kinds)), list(dict.fromkeys(k[1] for k in kinds))


def group_of(kernel: str) -> str:
    """The group of a solver kernel, which has a color of its own."""
    return next((group for group, words in GROUPS if any(w in kernel for w in words)), OTHERS)


def number_points(ax, points: list[tuple[float, float, str]]) -> None:
    """Write the number of each point next to it, clear of other numbers."""
    root = ax.figure.figure  # of a panel, too
    root.draw_without_rendering()  # places the axes
    agg = need("matplotlib.backends.backend_agg", "matplotlib")
    renderer, taken = agg.FigureCanvasAgg(root).get_renderer(), []
    for number, (x, y, _) in enumerate(points, 1):
        for place in PLACES:
            text = ax.annotate(
                str(number),
                (x, y),
                place,
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=7,
                fontweight="bold",
            )
            box = text.get_window_extent(renderer)
            if not any(box.overlaps(other) for other in taken):
                break
            if place != PLACES[-1]:
                text.remove()
        taken.append(box)


def arithmetic(bench: Bench) -> list[list]:
    """Rows of the peak flop rate, in the form that draw_roof returns; older reports have none."""
    rows = [row for title, rows in bench.of(ROOFLINE) if title == ARITHMETIC for row in rows]
    per_byte = [row["flops"] / row["useful_bytes"] for row in rows]
    return [[ARITHMETIC, row["variant"], i, row["gb_per_s"] * i] for row, i in zip(rows, per_byte)]


def draw_roof(ax, bench: Bench) -> list[list]:
    """Draw GFLOP/s against flops per byte below the roofline; return the plotted values.

    Color: group of the kernel. Marker: operator. Size: number of cells. Hollow: in the cache.
    The fastest kernels of each group have numbers, on the largest level.
    """
    drawn, low, high, named = arithmetic(bench), math.inf, 0.0, []
    ceiling = max((row[-1] for row in drawn), default=math.inf)
    tables = [(title, rows) for title, rows in bench.of(ROOFLINE) if title != ARITHMETIC]
    operators, sizes = kinds_of(tables)
    for title, rows in tables:
        operator, size = kind_of(title)
        for row in rows:
            if row["flops"] <= 0.0:
                continue
            x = row["flops"] / row["useful_bytes"]
            y = row["gb_per_s"] * x
            low, high = min(low, x), max(high, x)
            group = group_of(row["variant"])
            color = COLORS[GROUP_NAMES.index(group)]
            ax.plot(
                x,
                y,
                ls="",
                ms=4.0 + 2.0 * sizes.index(size) / max(len(sizes) - 1, 1),
                color=color,
                alpha=1.0 if size == sizes[-1] else 0.45,
                fillstyle="none" if row["in_cache"] else "full",
                marker=MARKERS[operators.index(operator) % len(MARKERS)],
            )
            if size == sizes[-1]:
                named.append((group, operator, y, x, row["variant"]))
            drawn.append([title, row["variant"], x, y])
    corner = ceiling / bench.copy
    span = [0.7 * low, 1.4 * max(high, corner if math.isfinite(corner) else 0.0)]
    roof = [x for x in (span[0], corner, span[1]) if math.isfinite(x)]
    label = "copy bandwidth" + (", peak arithmetic" if math.isfinite(corner) else "")
    ax.plot(roof, [min(bench.copy * x, ceiling) for x in roof], color="black", lw=1.2, label=label)
    for number, group in enumerate(GROUP_NAMES):
        if any(group == n[0] for n in named):
            ax.plot([], [], ls="", marker="s", color=COLORS[number], label=group)
    for number, operator in enumerate(operators):
        marker = MARKERS[number % len(MARKERS)]
        ax.plot([], [], ls="", marker=marker, color="0.4", label=plain(operator))
    if len(sizes) > 1:
        ax.plot([], [], ls="", marker="o", ms=6, color="0.4", label=plain(sizes[-1]))
        ax.plot([], [], ls="", marker="o", ms=4, color="0.7", label="smaller levels")
    if any(row["in_cache"] for _, rows in tables for row in rows):
        ax.plot([], [], ls="", marker="o", fillstyle="none", color="0.4", label="in the cache")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlim(span)
    ax.set_xlabel("flops per useful byte")
    ax.set_ylabel("GFLOP/s")
    ax.grid(True, color="0.88")
    points = main_points(named)
    look = {"fontsize": 7, "borderaxespad": 0.0}
    first = ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), **look)
    for number, (_, _, name) in enumerate(points, 1):
        ax.plot([], [], ls="", label=f"{number}  {plain(name, 60)}")
    numbers = ax.get_legend_handles_labels()
    drawn_so_far = len(numbers[0]) - len(points)
    ax.legend(
        *(part[drawn_so_far:] for part in numbers),
        loc="lower left",
        bbox_to_anchor=(1.01, 0.0),
        handlelength=0.0,
        handletextpad=0.0,
        **look,
    )
    ax.add_artist(first)
    first.set_clip_on(False)  # otherwise the layout ignores it
    number_points(ax, points)
    return drawn


def main_points(named: list[tuple]) -> list[tuple[float, float, str]]:
    """Points with names: of each group the fastest kernel of each operator, in flops per second.

    Operators in double precision with a constant alpha only, if there are any.
    """
    best: dict = {}
    plain_ones = [point for point in named if " " not in point[1]]
    for group, operator, y, x, kernel in plain_ones or named:
        if group != OTHERS and y > best.get((operator, group), (0.0,))[0]:
            best[operator, group] = (y, x, f"{operator} {kernel}")
    order = sorted(best, key=lambda key: (GROUP_NAMES.index(key[1]), key[0]))[:MOST_NAMES]
    return [(best[key][1], best[key][0], best[key][2]) for key in order]


def draw_ladder(args) -> str:
    bench = Bench(args.files[0])
    names = args.ladder.split(",") if args.ladder else [bench.tables[0][0]]
    chosen = [(name, *t) for name in names for t in bench.of(name)[: args.tables]]
    tables = [(title, rows) for _, title, rows in chosen]
    fig = figure(9.0, min(60.0, 1.2 + BAR * bar_slots(tables)), args.dpi)
    draw_bars(fig, fig.add_gridspec(1, 1)[0], tables)
    drawn = drawn_rows(chosen)
    shown = f"hpgmg-bench, {', '.join(names)}; copy bandwidth {bench.copy:.4g} GB/s"
    save(fig, args, shown, [bench.machine], BAR_COLUMNS, drawn)
    return f"{', '.join(names)}, {len(drawn)} rows of {plural(len(tables), 'table')}"


def draw_roofline(args) -> str:
    bench = Bench(args.files[0])
    fig = figure(9.0, 6.0, args.dpi)
    drawn = draw_roof(fig.subplots(), bench)
    head = ["table", "kernel", "flops_per_byte", "gflop_per_s"]
    save(fig, args, "Roofline of the solver's kernels", [bench.machine], head, drawn)
    return f"{len(drawn) - len(arithmetic(bench))} kernels"


def panel_height(bench: Bench, ladder: str) -> float:
    """Height of a panel in inches, including title and axis."""
    return 6.0 if ladder == ROOFLINE else 1.1 + BAR * bar_slots(bench.of(ladder))


def in_columns(heights: dict[str, float], n_columns: int) -> list[list[str]]:
    """Distribute panels over columns, tallest first into the shortest column, then sort by run."""
    order = list(heights).index
    columns = [[] for _ in range(n_columns)]
    for name in sorted(heights, key=heights.get, reverse=True):
        min(columns, key=lambda column: sum(heights[n] for n in column)).append(name)
    return sorted((sorted(column, key=order) for column in columns), key=lambda c: order(c[0]))


def draw_bench(args) -> str:
    """Draw one panel per ladder; that of the roofline is a roofline plot."""
    bench = Bench(args.files[0])
    names = list(dict.fromkeys(name for name, _, _ in bench.tables))
    heights = {name: panel_height(bench, name) for name in names}
    columns = in_columns(heights, min(3, len(names)))
    tall = max(sum(heights[name] for name in column) for column in columns)
    fig = figure(max(9.0, 7.0 * len(columns)), min(60.0, 1.0 + tall), args.dpi)
    parts = fig.subfigures(1, len(columns), squeeze=False)[0]
    for part, column in zip(parts, columns):
        ratios = {"height_ratios": [heights[name] for name in column]}
        grid = part.add_gridspec(len(column), 1, **ratios)
        for cell, name in zip(grid, column):
            if name == ROOFLINE:
                ax = part.add_subplot(cell)
                draw_roof(ax, bench)
            else:
                ax = draw_bars(part, cell, bench.of(name))[0]
            ax.set_title(plain(name), fontsize=9.5)
    drawn = drawn_rows(bench.tables)
    shown = f"hpgmg-bench; copy bandwidth {bench.copy:.4g} GB/s"
    save(fig, args, shown, [bench.machine], BAR_COLUMNS, drawn)
    return f"{plural(len(names), 'ladder')}, {len(drawn)} rows"
