"""Plot of a model: forecast with its band, measured points, and the parts of a solve's time."""

from __future__ import annotations

from plots.common import COLORS, figure, save_figure, set_title
from studies.costs import PARTS
from studies.forecast import Forecast
from studies.samples import Sample
from toolkit import need

# A part that is smaller than this percentage everywhere is not visible and gets no label.
LEAST_SEEN = 0.5


def draw_model(
    path: str,
    measured: list[tuple[Sample, float]],
    curve: list[Forecast],
    how: str,
    unit: str,
    title: str | None,
) -> None:
    """`measured`: solves on h of the study that the curve continues, with their modeled times."""
    fig = figure(12.0, 4.6, 120)
    time, share, rate = fig.subplots(1, 3)
    n = [f.ranks for f in curve]
    seconds = [f.seconds for f in curve]
    band = {"color": COLORS[0], "alpha": 0.25, "lw": 0}
    low, high = [f.low for f in curve], [f.high for f in curve]
    time.fill_between(n, low, high, label="5 to 95 % band", **band)
    time.plot(n, seconds, color=COLORS[0], label="forecast")
    ranks = [s.ranks for s, _ in measured]
    dots = {"ls": "", "marker": "o", "color": COLORS[5], "label": "measured"}
    crosses = {"ls": "", "marker": "x", "color": "black", "label": "model of these runs"}
    time.plot(ranks, [s.seconds for s, _ in measured], **dots)
    time.plot(ranks, [model for _, model in measured], **crosses)
    time.set_yscale("log")
    time.set_ylabel("seconds per solve")
    first = curve[0].dof / curve[0].seconds
    rate.fill_between(n, [f.dof / f.high for f in curve], [f.dof / f.low for f in curve], **band)
    rate.plot(n, [f.dof / f.seconds for f in curve], color=COLORS[0], label="forecast")
    rate.plot(ranks, [s.dof / s.seconds for s, _ in measured], **dots)
    rate.plot(ranks, [s.dof / model for s, model in measured], **crosses)
    rate.plot(n, [first * r / n[0] for r in n], color="0.4", ls=":", lw=1.2, label="ideal")
    rate.set_yscale("log")
    rate.set_ylabel("DOF/s")
    parts = [[100.0 * f.parts[part] / f.seconds for f in curve] for part in PARTS]
    # Labels that begin with _ do not appear in the legend.
    labels = [name if max(part) >= LEAST_SEEN else f"_{name}" for name, part in zip(PARTS, parts)]
    share.stackplot(n, parts, labels=labels, colors=COLORS[: len(PARTS)])
    share.set_ylim(0.0, 100.0)
    share.set_ylabel("% of a solve's time")
    ticker = need("matplotlib.ticker", "matplotlib")
    for ax in (time, share, rate):
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(ticker.LogLocator())
        ax.set_xlabel(unit)
        ax.grid(True, color="0.88")
        ax.legend(fontsize=8)
    shown = "Time of one solve: measured, and predicted by the model"
    set_title(fig, shown, [measured[0][0].problem, how], title)
    save_figure(fig, path)
