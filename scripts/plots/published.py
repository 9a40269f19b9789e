"""Plot of published results: speed per device, per bandwidth and per watt."""

from __future__ import annotations

from checks.published import CLASSES, PARTS, Published, published_in, verify
from plots.common import COLORS, figure, plain, save
from toolkit import FileError, plural

BAR = 0.34  # inches
PANELS = ("GDOF/s per device", "MDOF/s per GB/s", "MDOF/s per W")
HEAD = ["file", "class", "gdof_per_s_per_device", "mdof_per_s_per_gb_per_s", "mdof_per_s_per_watt"]


def values_of(p: Published) -> list[float | None]:
    watts = p.per_watt()
    return [
        p.rate() / 1e9 / p.devices(),
        p.per_bandwidth() / 1e6,
        None if watts is None else watts[0] / 1e6,
    ]


def label_of(p: Published) -> str:
    """Two lines: the machine, then the run."""
    count = plural(p.devices(), "GPU" if p.on_gpus() else "CPU")
    return f"{plain(p.machine.name)}, {count}\n{plain(p.problem())}, {p.name['class']}"


def draw_panel(ax, found: list[Published], panel: int) -> None:
    values = [values_of(p)[panel] for p in found]
    for row, (p, value) in enumerate(zip(found, values)):
        color = COLORS[CLASSES.index(p.name["class"])]
        if value is None:
            ax.text(0.0, -row, " -", fontsize=8, va="center", transform=ax.get_yaxis_transform())
            continue
        ax.barh(-row, value, color=color, height=0.7)
        part = f" ({p.per_watt()[1]})" if panel == len(PARTS) - 1 else ""
        ax.text(value, -row, f" {value:#.3g}{part}", fontsize=8, va="center")
    known = [value for value in values if value is not None]
    ax.set_yticks([])
    ax.set_ylim(0.6 - len(found), 0.6)
    ax.set_xlabel(PANELS[panel], fontsize=8)
    ax.tick_params(labelsize=7)
    if not known:
        ax.set_xticks([])
        return
    # Machines differ by orders of magnitude.
    if panel == 0 and max(known) > 20 * min(known):
        ax.set_xscale("log")
        ax.set_xlim(0.5 * min(known), 5 * max(known))
    else:
        ax.set_xlim(0.0, 1.4 * max(known))


def draw_published(args) -> str:
    """Draw a folder of valid reports."""
    folder = args.files[0]
    found = published_in(folder)
    verify(found)
    for p in found:
        for reason in p.result.reasons[:1]:
            raise FileError(f"{p.path} is INVALID: {reason}; see 'check-result {folder}'")
    return draw_sorted(sorted(found, key=Published.order), args)


def draw_sorted(found: list[Published], args) -> str:
    fig = figure(9.0, 1.1 + BAR * len(found), args.dpi)
    axes = fig.subplots(1, len(PANELS), gridspec_kw={"width_ratios": (1.2, 1.0, 1.0)})
    for panel, ax in enumerate(axes):
        draw_panel(ax, found, panel)
    labels = [label_of(p) for p in found]
    axes[0].set_yticks([-row for row in range(len(found))], labels, fontsize=7)
    shown = lambda p: ["" if v is None else v for v in values_of(p)]  # noqa: E731
    rows = [[p.path, p.name["class"], *shown(p)] for p in found]
    save(fig, args, "F-cycles of published results", [], HEAD, rows)
    return plural(len(found), "result")
