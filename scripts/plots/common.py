"""Shared by all pictures: titles, labels, figures and tables."""

from __future__ import annotations

import csv
import os
import textwrap
import warnings

from toolkit import UsageError, need, plural, printable, write_atomically

# Every run solves on three grids: levels 0, 1 and 2.
GRIDS = ("h", "2h", "4h")

# Palette of Okabe and Ito, safe for color-blind readers.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
MARKERS = "os^Dv<>pPXh*"

LARGEST = 1e150  # Matplotlib's scales overflow above it and below its inverse
LONGEST = 250  # characters of a label: one of a damaged report could fill the picture
TITLE_SIZE, LETTERS = 9.5, 17  # points; most letters per inch of a title
ROOM = 0.94  # maximum width of a title, relative to the figure


def figure(width: float, height: float, dpi: int):
    """A figure of WIDTH x HEIGHT inches, independent of displays and user settings."""
    matplotlib = need("matplotlib", "matplotlib")
    matplotlib.rcdefaults()
    matplotlib.rcParams["svg.hashsalt"] = "hpgmg-fv"
    matplotlib.rcParams["svg.fonttype"] = "none"  # searchable text
    # The box drawn for a missing glyph is enough; suppress the warning.
    warnings.filterwarnings("ignore", "Glyph .* missing from")
    need("matplotlib.backends.backend_agg", "matplotlib")
    return need("matplotlib.figure", "matplotlib").Figure(
        figsize=(width, height), dpi=dpi, layout="constrained"
    )


def plain(text: str, most: int = LONGEST) -> str:
    """Make text safe for Matplotlib: escape $ and unprintable characters, and limit the length."""
    shown = text if len(text) <= most else f"{text[: most - 1]}…"
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
    return shown.replace("$", r"\$")


def add_title_options(parser) -> None:
    """--title and --no-title: `title` is None for the default title, and empty for none."""
    titles = parser.add_mutually_exclusive_group()
    titles.add_argument("--title", metavar="TEXT", help="title instead of the default one")
    titles.add_argument(
        "--no-title", dest="title", action="store_const", const="", help="draw no title"
    )


def set_title(fig, shown: str, ran: list[str], title: str | None = None) -> None:
    """Draw a title of at most two lines: `shown`, then the phrases of `ran`, most important first.

    What does not fit is cut off at the end. `title`, if given, replaces both lines.
    """
    most = int(LETTERS * fig.get_figwidth())
    if title is None:
        lines = [first_lines(shown, most, 1), first_lines(", ".join(ran), most, 1)]
    else:
        lines = [first_lines(title, most, 2)]
    drawn = fig.suptitle("\n".join(line for line in lines if line), fontsize=TITLE_SIZE)
    # Wide letters take more room.
    width = drawn.get_window_extent().width / fig.bbox.width
    drawn.set_fontsize(TITLE_SIZE * min(1.0, ROOM / max(width, ROOM)))


def first_lines(text: str, most: int, n: int) -> str:
    """The first N lines of a text, of at most MOST letters each."""
    lines = textwrap.wrap(text[: 4 * n * most], most)
    return "\n".join(map(plain, lines[:n])) + (" …" if len(lines) > n else "")


def save_figure(fig, path: str) -> None:
    """Save the figure, reproducibly, in the format that the suffix of PATH names."""
    import io

    kind = os.path.splitext(path)[1][1:].lower()
    undated = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    if kind not in undated:
        raise UsageError(f"{path}: the name of a picture must end in .{', .'.join(undated)}")
    content = io.BytesIO()
    fig.savefig(content, format=kind, metadata=undated[kind])
    write_atomically(path, content.getvalue())


def cell(value) -> int | str:
    """A value of a CSV file. Text is no formula of a spreadsheet and has no terminal controls."""
    if isinstance(value, str):
        is_formula = len(value) > 1 and value.lstrip()[:1] in tuple("=+-@")
        return f"'{printable(value)}" if is_formula else printable(value)
    return value if isinstance(value, int) else repr(float(value))


def save_table(path: str | None, head: list[str], rows, may_follow: bool = True) -> None:
    """Write the plotted values as CSV with full precision. Does nothing if PATH is None."""
    import io

    if path is None:
        return
    content = io.StringIO()
    table = csv.writer(content, lineterminator="\n")
    table.writerow(head)
    for row in rows:
        table.writerow(list(map(cell, row)))
    write_atomically(path, content.getvalue().encode(errors="backslashreplace"), may_follow)


def save(fig, args, shown: str, ran: list[str], head: list[str], rows) -> None:
    """Draw the title of a picture, and save it and its plotted values as the options say."""
    set_title(fig, shown, ran, args.title)
    save_figure(fig, args.output)
    save_table(args.data, head, rows)


def shape_of(dim: list[int], between: str = " × ") -> str:
    """Cells along x, y and z in words: 64³, or 60 × 220 × 85."""
    return f"{dim[0]}³" if len(set(dim)) == 1 else between.join(map(str, dim))


def phrases(about: dict, timed: bool = False) -> dict[str, str]:
    """Describe the run of a dump or report, one phrase per property, most important first.

    `timed` adds the host: times depend on it, results do not.
    """
    found = {"cells": f"{shape_of(about['dim'])} cells"}
    found |= {key: str(about[key]) for key in ("operator", "equation", "boundary")}
    if "coefficients" in about and about["coefficients"] == about.get("rhs"):
        found["coefficients"] = (
            f"coefficients and right-hand side of {os.path.basename(about['rhs'])}"
        )
    else:
        for key, what in (("coefficients", "coefficients"), ("rhs", "right-hand side")):
            if key in about:
                found[key] = f"{what} of {os.path.basename(about[key])}"
    found["cycle"] = f"{about['cycle'].upper()}-cycle"
    if about.get("krylov", "none") != "none":
        found["cycle"] += f" and {about['krylov']}"
    if about.get("precision", "double") != "double":
        found["cycle"] += f" in {about['precision']} precision"
    found["smoother"] = about["smoother"]
    if "smooths" in about:
        found["smooths"] = f"{plural(about['smooths'], 'sweep')} before and after"
    found["machine"] = machine(about["ranks"], about["threads"], about.get("backend"))
    if timed:
        found["host"] = f"on {about['host']}"
    return found


def machine(ranks: int, threads: int, backend: str | None) -> str:
    if backend == "cuda":
        return plural(ranks, "GPU")
    return f"{plural(ranks, 'rank')} of {plural(threads, 'thread')}"


def split_phrases(runs: list[dict], names: list[str]) -> tuple[str, list[str]]:
    """Split the phrases of several runs into the shared ones and a label per run.

    A label that is empty or not unique gets the name of the run's file.
    """
    keys = [key for key in runs[0] if all(key in run for run in runs)]
    shared = [key for key in keys if len({run[key] for run in runs}) == 1]
    labels = [", ".join(run[key] for key in keys if key not in shared) for run in runs]
    for i, label in enumerate(list(labels)):
        if not label or labels.count(label) > 1:
            labels[i] = f"{label}, {names[i]}" if label else names[i]
    return ", ".join(runs[0][key] for key in shared), labels
