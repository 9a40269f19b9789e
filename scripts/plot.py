#!/usr/bin/env python3
"""Pictures of what hpgmg-fv writes: its dumps (--dump) and its JSON reports (--json).

Needs no display. With --data=FILE.csv the values that were drawn are written beside the picture.
Exit codes: 0 done, 2 a bad option or something missing, 3 a file that cannot be read or written,
4 too little memory.
"""

from __future__ import annotations

import argparse
import math
import os
import sys

# A source tree stays as it is.
sys.dont_write_bytecode = True

from plots.common import GRIDS, add_title_options  # noqa: E402
from plots.dump import FIELDS  # noqa: E402
from toolkit import (  # noqa: E402
    USAGE,
    Parser,
    ToolError,
    integer_in,
    number_in,
    run_main,
    say,
)

PICTURES = ("png", "svg", "pdf")
FILMS = ("gif", "mp4")


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
            raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(GRIDS)}")
    return names


# --- command line --------------------------------------------------------------------------------


def add_common(parser: Parser, kinds: tuple[str, ...]) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"picture to write, .{', .'.join(kinds)}; default: FIRST-{parser.prog.split()[-1]}."
        f"{kinds[0]} in this folder, FIRST being the first file's name",
    )
    parser.add_argument("--data", metavar="FILE.csv", help="write the values that were drawn")
    parser.add_argument(
        "--dpi",
        type=integer_in(50, 600),
        default=120,
        metavar="N",
        help="pixels per inch, 50 to 600; default %(default)s",
    )
    add_title_options(parser)
    parser.set_defaults(kinds=kinds)


def add_plane(parser: Parser, field: str, log: bool | None) -> None:
    """`field` and `log` are defaults; None: a logarithmic scale for the residual."""
    parser.add_argument(
        "--field",
        default=field,
        metavar="NAME",
        help=f"a field of the dump (hpgmg-fv --dump-fields): {', '.join(FIELDS)}; "
        "default %(default)s",
    )
    parser.add_argument(
        "--axis", choices="xyz", default="z", help="normal of the plane; default %(default)s"
    )
    parser.add_argument(
        "--at",
        type=number_in(0.0, 1.0),
        default=0.25,
        metavar="X",
        help="position of the plane on the axis, 0 to 1; default %(default)s, where the right-hand "
        "side of fv2 and fv4 is largest",
    )
    parser.add_argument(
        "--level",
        type=integer_in(0, 30),
        default=0,
        metavar="L",
        help="0, the default, is the finest; hpgmg-fv --dump-levels writes the others",
    )
    scales = parser.add_mutually_exclusive_group()
    scales.add_argument(
        "--log",
        action="store_true",
        default=log,
        help="logarithmic scale, of magnitudes where values change sign"
        + ("; default for the residual" if log is None else ""),
    )
    scales.add_argument(
        "--no-log",
        dest="log",
        action="store_false",
        help="linear scale; default" + (" for all other fields" if log is None else ""),
    )
    parser.add_argument(
        "--limits",
        type=limits,
        metavar="LOW,HIGH",
        help="limits of the colours, such as --limits=-1e-3,1e-3; default: from the values",
    )


def parse(words: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="plot.py",
        description=__doc__,
        epilog="'plot.py COMMAND --help' has the options of a command.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, text: str, files: str, help_files: str, most: int | None = None):
        sub = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        sub.add_argument("files", nargs=1 if most == 1 else "+", metavar=files, help=help_files)
        return sub

    sub = command("slice", "a plane of a field of a dump", "FILE.hdf", "a dump", 1)
    add_plane(sub, "u", False)
    add_common(sub, PICTURES)

    sub = command(
        "animate",
        "a plane of a field in several dumps of one run, in the order of their cycles",
        "FILE.hdf",
        "dumps, such as --dump-every writes",
    )
    add_plane(sub, "residual", None)
    sub.add_argument(
        "--fps",
        type=number_in(0.1, 50.0),
        default=2.0,
        metavar="N",
        help="frames per second, 0.1 to 50; default %(default)s",
    )
    add_common(sub, FILMS)

    text = f"{','.join(GRIDS)}"
    sub = command("convergence", "the residual after each cycle", "FILE", "dumps or JSON reports")
    sub.add_argument(
        "--grid",
        type=grids,
        metavar=text,
        help="solves of a JSON report; default: all of one file, h of several",
    )
    add_common(sub, PICTURES)

    sub = command(
        "levels",
        "seconds per level and operation",
        "FILE.json",
        "reports of runs with --levels-breakdown, four at most",
    )
    add_common(sub, PICTURES)

    sub = command(
        "scaling",
        "time, DOF/s and parallel efficiency against ranks, threads or GPUs",
        "FILE.json",
        "reports; several of the same point show their spread",
    )
    sub.add_argument(
        "--mode",
        choices=("auto", "strong", "weak"),
        default="auto",
        help="strong: the same grid; weak: the same work each; default: what the sizes say",
    )
    sub.add_argument("--grid", choices=GRIDS, default="h", help="of the solve; default %(default)s")
    add_common(sub, PICTURES)

    text = "a report of hpgmg-bench --json"
    sub = command(
        "ladder", "hpgmg-bench's rows: speed, and percent of a copy", "FILE.json", text, 1
    )
    sub.add_argument("--ladder", metavar="NAME", help="such as copy; default: the first one")
    add_common(sub, PICTURES)
    sub = command("bench", "all ladders and the roofline, a panel each", "FILE.json", text, 1)
    add_common(sub, PICTURES)
    sub = command("roofline", "the solver's kernels below the roof", "FILE.json", text, 1)
    add_common(sub, PICTURES)
    return parser.parse_args(words)


def check_output(args: argparse.Namespace) -> None:
    """Before anything is read: has the picture a name and a kind?"""
    if args.output is None:
        first = os.path.basename(args.files[0])
        args.output = f"{os.path.splitext(first)[0]}-{args.command}.{args.kinds[0]}"
    kind = os.path.splitext(args.output)[1][1:].lower()
    if kind not in args.kinds:
        raise ToolError(
            f"--output={args.output}: a picture of '{args.command}' ends in "
            f".{', .'.join(args.kinds)}",
            USAGE,
        )
    same = {os.path.realpath(path) for path in args.files}
    for path in (args.output, args.data):
        if path is not None and os.path.realpath(path) in same:
            raise ToolError(f"{path} is read and would be overwritten; name another", USAGE)
    if args.data is not None and os.path.realpath(args.data) == os.path.realpath(args.output):
        raise ToolError(f"{args.output} cannot be both --output and --data; name another", USAGE)


def draw(args: argparse.Namespace) -> str:
    if args.command == "slice":
        from plots.fields import draw_slice as drawn
    elif args.command == "animate":
        from plots.animation import draw_animation as drawn
    elif args.command == "convergence":
        from plots.convergence import draw_convergence as drawn
    elif args.command == "levels":
        from plots.levels import draw_levels as drawn
    elif args.command == "ladder":
        from plots.ladders import draw_ladder as drawn
    elif args.command == "bench":
        from plots.ladders import draw_bench as drawn
    elif args.command == "roofline":
        from plots.ladders import draw_roofline as drawn
    else:
        from plots.scaling import draw_scaling as drawn
    return drawn(args)


def main() -> int:
    args = parse(sys.argv[1:])
    check_output(args)
    say(f"{args.output}: {draw(args)}")
    return 0


if __name__ == "__main__":
    sys.exit(run_main("plot.py", main))
