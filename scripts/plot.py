#!/usr/bin/env python3
"""Plot dumps (--dump) and JSON reports (--json) of hpgmg-fv and hpgmg-bench, and comparisons.

No display is needed. --data=FILE.csv also writes the plotted values.
Exit codes: 0 done, 2 invalid option or missing module, 3 file cannot be read or written,
4 out of memory.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import sys

# Write no __pycache__ into the source tree.
sys.dont_write_bytecode = True

from plots.common import GRIDS, add_title_options  # noqa: E402
from plots.dump import FIELDS  # noqa: E402
from toolkit import Parser, UsageError, integer_in, number_in, run_main, say  # noqa: E402

PICTURES = ("png", "svg", "pdf")
FILMS = ("gif", "mp4")

BENCH = "a report of hpgmg-bench --json"
# Module, description, the files and their description of each command.
ANIMATE = "animate a plane of one field over several dumps of one run, ordered by cycle"
SCALING = "plot time, DOF/s and parallel efficiency against ranks, threads or GPUs"
PUBLISHED = "plot published results: speed per device, bandwidth and watt"
REPEATS = "reports; several reports of one point show the spread"
BREAKDOWNS = "up to four reports of runs with --levels-breakdown"
LADDER = "plot one ladder: speed, and percent of copy bandwidth"
BARS = "plot all ladders and the roofline, one panel each"
RESULTS = "folder of published results, such as results"
OTHERS = "plot the times of other programs relative to hpgmg-fv"
TABLES = "tables of scripts/compare/compare.py --csv"
ROOFLINE = "plot the solver's kernels below the roofline"
COMMANDS = {
    "slice": ("fields", "plot a plane of one field of a dump", "FILE.hdf", "a dump"),
    "animate": ("animation", ANIMATE, "FILE.hdf", "dumps, as written with --dump-every"),
    "convergence": (
        "convergence",
        "plot the residual after each cycle",
        "FILE",
        "dumps or JSON reports",
    ),
    "levels": ("levels", "plot seconds per level and operation", "FILE.json", BREAKDOWNS),
    "scaling": ("scaling", SCALING, "FILE.json", REPEATS),
    "compare": ("comparison", OTHERS, "FILE.csv", TABLES),
    "published": ("published", PUBLISHED, "FOLDER", RESULTS),
    "ladder": ("ladders", LADDER, "FILE.json", BENCH),
    "bench": ("ladders", BARS, "FILE.json", BENCH),
    "roofline": ("ladders", ROOFLINE, "FILE.json", BENCH),
}


# --- values of options ---------------------------------------------------------------------------


def limits(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low = high = math.nan
    if not (low < high and math.isfinite(low) and math.isfinite(high)):
        raise argparse.ArgumentTypeError(f"'{text}' is not LOW,HIGH with LOW below HIGH")
    return low, high


def grids(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in GRIDS:
            raise argparse.ArgumentTypeError(f"'{name}' is not one of {', '.join(GRIDS)}")
    return names


# --- command line --------------------------------------------------------------------------------


def add_common(parser: Parser, kinds: tuple[str, ...]) -> None:
    output = (
        f"output file, .{', .'.join(kinds)}; default: FIRST-{parser.prog.split()[-1]}.{kinds[0]} "
    )
    output += "in the current folder, where FIRST is the name of the first file"
    dpi = "pixels per inch, 50 to 600; default %(default)s"
    parser.add_options(
        ("-o --output=FILE", str, None, output),
        ("--data=FILE.csv", str, None, "also write the plotted values"),
        ("--dpi=N", integer_in(50, 600), 120, dpi),
    )
    add_title_options(parser)
    parser.set_defaults(kinds=kinds)


def add_plane(parser: Parser, field: str, log: bool | None) -> None:
    """`field` and `log` are the defaults; log=None: logarithmic only for the residual."""
    fields = f"field of the dump (hpgmg-fv --dump-fields): {', '.join(FIELDS)}; default %(default)s"
    at = "position of the plane on the axis, 0 to 1; default %(default)s, where "
    level = "level; 0, the default, is the finest; hpgmg-fv --dump-levels writes the others"
    scale = "limits of the color scale, such as --limits=-1e-3,1e-3; default: from the values"
    parser.add_options(
        ("--field=NAME", str, field, fields),
        ("--axis", "xyz", "z", "normal of the plane; default %(default)s"),
        ("--at=X", number_in(0.0, 1.0), 0.25, at + "the right-hand side of fv2 and fv4 is largest"),
        ("--level=L", integer_in(0, 30), 0, level),
        ("--limits=LOW,HIGH", limits, None, scale),
    )
    scales = parser.add_mutually_exclusive_group()
    text = "logarithmic scale; plots magnitudes if the values change sign"
    text += "; default for the residual" if log is None else ""
    scales.add_argument("--log", action="store_true", default=log, help=text)
    text = "linear scale; default" + (" for all other fields" if log is None else "")
    scales.add_argument("--no-log", dest="log", action="store_false", help=text)


def parse(words: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="plot.py",
        description=__doc__,
        epilog="'plot.py COMMAND --help' lists the options of a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    subs = {}
    for name, (_, text, files, help_files) in COMMANDS.items():
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        one = name in ("slice", "published") or help_files == BENCH
        sub.add_argument("files", nargs=1 if one else "+", metavar=files, help=help_files)
        subs[name] = sub
    add_plane(subs["slice"], "u", False)
    add_plane(subs["animate"], "residual", None)
    fps = "frames per second, 0.1 to 50; default %(default)s"
    subs["animate"].add_options(("--fps=N", number_in(0.1, 50.0), 2.0, fps))
    some = "grids of a JSON report to plot; default: all for one file, h for several files"
    subs["convergence"].add_options((f"--grid={','.join(GRIDS)}", grids, None, some))
    mode = "strong: same grid; weak: same work per unit; default: derived from the sizes"
    subs["scaling"].add_options(
        ("--mode", ("auto", "strong", "weak"), "auto", mode),
        ("--grid", GRIDS, "h", "grid of the solve; default %(default)s"),
    )
    first = "only the first N tables of each ladder; default: all"
    subs["ladder"].add_options(
        ("--ladder=NAME,...", str, None, "such as smooth,reduce; default: the first one"),
        ("--tables=N", integer_in(1, 100), None, first),
    )
    for name, sub in subs.items():
        add_common(sub, FILMS if name == "animate" else PICTURES)
    return parser.parse_args(words)


def check_output(args: argparse.Namespace) -> None:
    """Set the default name and check the type of the output before any input is read."""
    if args.output is None:
        first = os.path.basename(os.path.normpath(args.files[0]))
        args.output = f"{os.path.splitext(first)[0]}-{args.command}.{args.kinds[0]}"
    kind = os.path.splitext(args.output)[1][1:].lower()
    if kind not in args.kinds:
        raise UsageError(
            f"--output={args.output}: the name of a picture of '{args.command}' must end in "
            f".{', .'.join(args.kinds)}"
        )
    inputs = {os.path.realpath(path) for path in args.files}
    for path in (args.output, args.data):
        if path is not None and os.path.realpath(path) in inputs:
            raise UsageError(f"{path} is an input and would be overwritten; use another name")
    if args.data is not None and os.path.realpath(args.data) == os.path.realpath(args.output):
        raise UsageError(f"--output and --data are both {args.output}; use different names")


def draw(args: argparse.Namespace) -> str:
    """Draw the picture and return a summary. Only the modules of one command are imported."""
    module = importlib.import_module(f"plots.{COMMANDS[args.command][0]}")
    return getattr(module, f"draw_{args.command.replace('animate', 'animation')}")(args)


def main() -> int:
    args = parse(sys.argv[1:])
    check_output(args)
    say(f"{args.output}: {draw(args)}")
    return 0


if __name__ == "__main__":
    sys.exit(run_main("plot.py", main))
