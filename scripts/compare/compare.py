#!/usr/bin/env python3
"""Compare hpgmg-fv with other programs on this machine's cores, on the same problem.

Solves to a relative residual max|f - A u| / max|f|, against hypre (PCG with PFMG, and PFMG), PETSc
(CG with DMDA multigrid), and libhpgmg, the library of hpgmg-fv. They get the matrix and right-hand
side of hpgmg-fv, and this script's own code evaluates their residual. With another --beta or
--boundary, libhpgmg takes the place of hpgmg-fv. With --hpgmg, also F-cycles of HPGMG-FV. Each
round runs every program once; the table has medians, and the median of each round's ratio to
hpgmg-fv. The lines of code and the functions called are counted in the libraries' programs, in
scripts/compare/.

Needs a configured build with MPI, and libhypre-dev and petsc-dev (Debian); the column of a missing
package is skipped. Exit codes: 0 done, 1 a solver failed, 2 invalid option or missing program,
3 file cannot be read or written.
"""

from __future__ import annotations

import argparse
import glob
import os
import pathlib
import sys
import tempfile

# Write no __pycache__ into the source tree.
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from plots.common import machine as layout  # noqa: E402
from plots.common import save_table  # noqa: E402
from programs import COLUMNS, FAILED, LIBRARIES, OURS, TOP, Case, build_solver, execute, user_code  # noqa: E402
from studies.systems import usable_cores  # noqa: E402
from toolkit import (  # noqa: E402
    FileError,
    Parser,
    UsageError,
    integer_in,
    number_in,
    plural,
    run_main,
    say,
    whole_number,
)

# --- options -------------------------------------------------------------------------------------


def integers(low: int, high: int, power: bool = False):
    def parse(text: str) -> list[int]:
        numbers = [whole_number(part) for part in text.split(",")]
        for number, part in zip(numbers, text.split(",")):
            if not low <= number <= high or (power and number & (number - 1)):
                kind = "a power of two" if power else "an integer"
                raise argparse.ArgumentTypeError(
                    f"'{part[:40]}' is not {kind} from {low} to {high}"
                )
        return numbers

    return parse


def solvers(text: str) -> list[str]:
    names = [] if text == "none" else text.split(",")
    for name in names:
        if name not in LIBRARIES:
            raise argparse.ArgumentTypeError(
                f"'{name[:40]}' is not none or of {', '.join(LIBRARIES)}"
            )
    return names


def parse(words: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="compare.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )

    def add(name: str, text: str, **settings) -> None:
        shown = settings.get("default")
        shown = ",".join(map(str, shown)) if isinstance(shown, list) else shown
        parser.add_argument(name, help=f"{text}; default {shown}" if shown else text, **settings)

    add("--build", "build folder", default=os.path.join(TOP, "build"), metavar="FOLDER")
    sizes = integers(16, 1024, power=True)
    add("--sizes", "cells per side", type=sizes, default=[64, 128, 256], metavar="N,...")
    text = "MPI ranks; a rank has one thread in solves, and an equal part of the cores in F-cycles"
    add("--ranks", text, type=integers(1, 64), default=[1, 2], metavar="R,...")
    operators = ("fv2", "fv4", "7pt")
    add("--operator", "fv4 has F-cycles only", choices=operators, default="fv2")
    text = "smoother of hpgmg-fv, and the one that HPGMG-FV was built with"
    add("--smoother", text, choices=("gsrb", "chebyshev", "jacobi"), default="gsrb")
    rtol = number_in(1e-13, 0.1)
    add("--rtol", "relative residual of solves", type=rtol, default=1e-10, metavar="R")
    text = "each program solves repeatedly for this long in a round"
    add("--min-time", text, type=number_in(0.0, 1e3), default=0.2, metavar="SECONDS")
    add("--rounds", "number of rounds", type=integer_in(1, 100), default=5, metavar="N")
    text = "variable: of hpgmg-fv; constant: 1; jumps: 1 or 1e4 in blocks; anisotropic: 1e-3 in z"
    betas = ("variable", "constant", "jumps", "anisotropic")
    add("--beta", text, choices=betas, default="variable")
    text = "u = 0 or no flux at the walls"
    add("--boundary", text, choices=("dirichlet", "neumann"), default="dirichlet")
    text = "hypre, petsc, libhpgmg, or none"
    add("--solvers", text, type=solvers, default=list(LIBRARIES), metavar="LIST")
    add("--hpgmg", "an HPGMG-FV built with this operator and smoother", metavar="PATH")
    add("--csv", "write the table; 'plot.py compare FILE' plots it", metavar="FILE")
    add("--plot", "plot the ratios as .png, .svg or .pdf; requires --csv", metavar="FILE")
    args = parser.parse_args(words)
    if args.operator == "fv4":
        args.solvers = []
    if not args.solvers and not args.hpgmg:
        parser.error("nothing to compare with: choose --solvers for fv2 or 7pt, or --hpgmg=PATH")
    args.has_other_problem = args.beta != "variable" or args.boundary != "dirichlet"
    if args.has_other_problem and (args.hpgmg or "libhpgmg" not in args.solvers):
        option = f"--beta={args.beta}" if args.beta != "variable" else f"--boundary={args.boundary}"
        parser.error(f"{option} requires libhpgmg in --solvers, and no --hpgmg")
    if "petsc" in args.solvers and (args.beta == "jumps" or args.boundary == "neumann"):
        say("skip: petsc (its coarse levels evaluate beta, and it is set up for walls with u = 0)")
        args.solvers.remove("petsc")
    if args.plot and not args.csv:
        parser.error("--plot requires --csv")
    if args.hpgmg and not os.access(args.hpgmg, os.X_OK):
        parser.error(f"--hpgmg={args.hpgmg} is not a program")
    return args


# Columns of the printed table: title, key of a row, width and format.
SHOWN = (
    ("cells", "n", 5, "d"),
    ("ranks", "ranks", 5, "d"),
    ("threads", "threads", 7, "d"),
    ("program", "program", -22, "s"),
    ("iterations", "iterations", 10, "d"),
    ("set-up, s", "setup_s", 10, ".4f"),
    ("solve, s", "solve_s", 10, ".5f"),
    ("ratio", "ratio", 6, ".2f"),
    ("lowest", "ratio_low", 6, ".2f"),
    ("highest", "ratio_high", 7, ".2f"),
    ("residual", "relative", 9, ".2e"),
    ("max|u|", "u_max", 12, ".6e"),
    ("error", "error", 10, ".3e"),
)


def print_table(rows: list[dict]) -> None:
    def line(texts) -> str:
        padded = (t.ljust(-w) if w < 0 else t.rjust(w) for t, (_, _, w, _) in zip(texts, SHOWN))
        return "  ".join(padded).rstrip()

    for kind in dict.fromkeys(row["kind"] for row in rows):
        say("")
        say({"solve": "solves to the tolerance", "cycle": "F-cycles"}[kind])
        say(line(title for title, *_ in SHOWN))
        for row in rows:
            if row["kind"] == kind:
                cells = [(row[key], form) for _, key, _, form in SHOWN]
                say(line("-" if v == "" else format(v, form) for v, form in cells))


def machine_name() -> str:
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return names[0] if names else "unknown"


def caches() -> str:
    """CPU 0's caches from the second level on, as the kernel reports them."""
    found = []
    for index in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        level, size = (
            pathlib.Path(index, name).read_text(encoding="ascii").strip()
            for name in ("level", "size")
        )
        if level > "1":
            found.append(f"L{level} {size}")
    return ", ".join(found) or "caches unknown"


def say_strips(case: Case) -> None:
    sizes = sorted(size for size in case.strips if size)
    if sizes:
        say(f"  strips of {OURS}: {', '.join(f'{size / 1e6:.3g}' for size in sizes)} MB")


def warn_of_load() -> None:
    load, cores = os.getloadavg()[0], usable_cores()
    if load > 0.5 * cores:
        cores = plural(cores, "core")
        say(f"warning: load average {load:.1f} on {cores}; ratios need an idle machine")


def measure(case: Case, rounds: int, runs) -> None:
    for _ in range(rounds):
        for run in runs:
            run()


def compare(args, folder: str) -> int:
    config = os.path.join(args.build, "config.h")
    try:
        with open(config, encoding="utf-8") as file:
            with_mpi = "#define HAVE_MPI 1" in file.read()
    except OSError as error:
        raise UsageError(f"{args.build} is not a configured build ({error.strerror})") from None
    if not with_mpi:
        raise UsageError(f"the build in {args.build} has no MPI")
    if not os.access(os.path.join(args.build, OURS), os.X_OK):
        raise UsageError(f"{args.build} has no {OURS}; run 'make -C {args.build}'")
    commands = {library: build_solver(library, folder, args.build) for library in args.solvers}
    runnable = [(library, command) for library in commands for command in commands[library]]
    if args.has_other_problem and not commands["libhpgmg"]:
        raise UsageError(f"this problem needs libhpgmg.so in {args.build}; run 'make'")
    rows, wrong, machine = [], [], machine_name()
    warn_of_load()
    for n in args.sizes:
        for ranks in args.ranks:
            if runnable:
                case = Case(args, n, ranks, 1)
                say(f"{n}^3 to {args.rtol:g} on {plural(ranks, 'rank')}")
                others = [lambda c=case, r=run: c.solve_other(*r) for run in runnable]
                if args.has_other_problem:
                    measure(case, args.rounds, others)
                else:
                    measure(case, args.rounds, [case.solve_ours, *others])
                    case.solution_of_ours()
                say_strips(case)
                wrong += case.failures()
                rows += case.rows("solve", machine)
            if args.hpgmg:
                case = Case(args, n, ranks, max(1, usable_cores() // ranks))
                say(f"{n}^3, F-cycles on {layout(ranks, case.threads, None)}")
                measure(case, args.rounds, [case.cycle_ours, case.cycle_hpgmg])
                say_strips(case)
                rows += case.rows("cycle", machine)
            # After each case, so that a run can be stopped.
            if args.csv:
                save_table(args.csv, COLUMNS, ([row[key] for key in COLUMNS] for row in rows))
    if not rows:
        say("nothing to compare with")
        return 0
    print_table(rows)
    say("")
    base = "libhpgmg" if args.has_other_problem else OURS
    of = f"medians of {args.rounds} rounds" if args.rounds > 1 else "one round"
    say(f"{machine} ({caches()}), {of}; ratio: time relative to {base}")
    for library in commands:
        if commands[library]:
            lines, functions = user_code(library)
            say(f"{library}: {lines} lines of code, {functions} functions called")
    if args.plot:
        plot = os.path.join(TOP, "scripts", "plot.py")
        execute([sys.executable, plot, "compare", args.csv, "-o", args.plot])
    for text in wrong:
        say(f"failed: {text}")
    return FAILED if wrong else 0


def main() -> int:
    args = parse(sys.argv[1:])
    if args.plot and not args.plot.lower().endswith((".png", ".svg", ".pdf")):
        raise UsageError(f"--plot={args.plot} must end in .png, .svg or .pdf")
    try:
        with tempfile.TemporaryDirectory(prefix="hpgmg-compare-") as folder:
            return compare(args, folder)
    except OSError as error:
        raise FileError(f"{error.filename or 'a file'}: {error.strerror}") from None


if __name__ == "__main__":
    sys.exit(run_main("compare.py", main))
