"""What all pictures share: titles and labels, figures, tables."""

from __future__ import annotations

import csv
import os
import textwrap
import warnings

from toolkit import USAGE, ToolError, need, plural, write_whole

# Every run solves on three grids: levels 0, 1 and 2.
GRIDS = ("h", "2h", "4h")

# Okabe and Ito's colours, which all kinds of colour vision tell apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
MARKERS = "os^Dv<>p"

LARGEST = 1e150  # beyond it, and below its inverse, Matplotlib's scales overflow
LONGEST = 250  # characters of a text: a damaged report's would leave no room for the picture


def figure(width: float, height: float, dpi: int):
    """A figure of WIDTH times HEIGHT inches that needs no display and knows no user's settings."""
    matplotlib = need("matplotlib", "matplotlib")
    matplotlib.rcdefaults()
    matplotlib.rcParams["svg.hashsalt"] = "hpgmg-fv"
    matplotlib.rcParams["svg.fonttype"] = "none"  # letters that can be searched
    # A letter that the font lacks is drawn as a box, which says enough.
    warnings.filterwarnings("ignore", "Glyph .* missing from")
    need("matplotlib.backends.backend_agg", "matplotlib")
    return need("matplotlib.figure", "matplotlib").Figure(
        figsize=(width, height), dpi=dpi, layout="constrained"
    )


def plain(text: str, most: int = LONGEST) -> str:
    """For Matplotlib: $ is no formula, what has no shape is an escape, and all of it fits."""
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
    return shown.replace("$", r"\$")


def set_title(fig, shown: str, ran: list[str]) -> None:
    """What is shown, and below it what was run, in lines that fit the figure."""
    width = int(fig.get_figwidth() * 13)  # characters at this size of letters
    lines = textwrap.wrap(plain(shown), width)
    for text in ran:
        lines += textwrap.wrap(plain(text), width)
    fig.suptitle("\n".join(lines), fontsize=9.5)


def save_figure(fig, path: str) -> None:
    """As the ending of PATH says; the same bytes each time."""
    import io

    kind = os.path.splitext(path)[1][1:].lower()
    undated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    if kind not in undated:
        raise ToolError(f"{path}: a picture ends in .{', .'.join(undated)}", USAGE)
    content = io.BytesIO()
    fig.savefig(content, format=kind, metadata=undated[kind])
    write_whole(path, content.getvalue())


def save_table(path: str | None, head: list[str], rows) -> None:
    """What was drawn, as CSV with all digits; nothing without PATH."""
    import io

    if path is None:
        return
    content = io.StringIO()
    table = csv.writer(content, lineterminator="\n")
    table.writerow(head)
    for row in rows:
        table.writerow([v if isinstance(v, (int, str)) else repr(float(v)) for v in row])
    write_whole(path, content.getvalue().encode(errors="backslashreplace"))


def phrases(about: dict, timed: bool = False) -> dict[str, str]:
    """What a dump or report says of its run, in words; one phrase for each part.

    Digits are the same on every machine, times are not.
    """
    said = {key: str(about[key]) for key in ("operator", "equation", "boundary")}
    for key, what in (("coefficients", "coefficients"), ("rhs", "right-hand side")):
        if key in about:
            said[key] = f"{what} of {os.path.basename(about[key])}"
    said["smoother"] = about["smoother"]
    if "smooths" in about:
        said["smooths"] = f"{plural(about['smooths'], 'smooth')} before and after"
    said["cycle"] = f"{about['cycle'].upper()}-cycle"
    if about.get("krylov", "none") != "none":
        said["cycle"] += f" and {about['krylov']}"
    said["cells"] = f"{about['n']}³ cells"
    said["machine"] = machine(about["ranks"], about["threads"], about.get("backend"))
    if timed:
        said["host"] = f"on {about['host']}"
    return said


def machine(ranks: int, threads: int, backend: str | None) -> str:
    if backend == "cuda":
        return plural(ranks, "GPU")
    return f"{plural(ranks, 'rank')} of {plural(threads, 'thread')}"


def tell_apart(runs: list[dict], names: list[str]) -> tuple[str, list[str]]:
    """Of several runs' phrases: those that all share, and for each run those that differ.

    Runs that cannot be told apart so have their file's name.
    """
    keys = [key for key in runs[0] if all(key in run for run in runs)]
    shared = [key for key in keys if len({run[key] for run in runs}) == 1]
    labels = [", ".join(run[key] for key in keys if key not in shared) for run in runs]
    for i, label in enumerate(list(labels)):
        if not label or labels.count(label) > 1:
            labels[i] = f"{label}, {names[i]}" if label else names[i]
    return ", ".join(runs[0][key] for key in shared), labels
