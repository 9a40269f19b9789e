#!/usr/bin/env python3
"""Cycles that hpgmg-fv takes on random problems, as a table of methods.

    scripts/random_problems.py --program=./hpgmg-fv --count=300
    scripts/random_problems.py --program=./hpgmg-fv --count=300 auto= \\
        'gsrb=--smoother=gsrb --krylov=none' 'symgs, CG=--smoother=symgs --krylov=cg'

Each METHOD is NAME=OPTIONS of hpgmg-fv; default: auto=. All methods solve the same problems to
1e-8, each with one thread, CPUs side by side: 1 to 40 cells per axis, widths up to 1 : 1000,
stretched axes, all kinds of sides, and betas up to 1e6 that are constant, random in cells, blocks
or layers, or smooth. A solve ends at round-off if the right-hand side is too small for 1e-8. Exit
codes: 0 no solve failed, 1 some did, 2 invalid option or missing module, 3 file cannot be written.

Needs numpy and h5py: apt-get install python3-h5py, or pip install h5py."""

from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import sys
import tempfile

from toolkit import Parser, ToolError, integer_in, need, of_one_rank, reason_of, run, run_main, say

SIDES = ("dirichlet", "neumann", "robin:1:0.5:0")


def widths_of(np, rng, n: int):
    """Equal widths, or those of a stretched axis."""
    kind = rng.random()
    if kind < 0.5 or n < 3:
        return np.ones(n)
    if kind < 0.75:
        return np.diff(np.tanh(rng.uniform(0.5, 3) * np.linspace(-1, 1, n + 1)))
    widths = np.minimum(rng.uniform(1, 1.5) ** np.arange(n), 1000.0)
    return widths if rng.random() < 0.5 else widths[::-1]


def beta_of(np, rng, n: tuple[int, ...]):
    """Betas of cells, from 1 up to a random power of ten."""
    kind, top = rng.random(), 6 * rng.random()
    if kind < 0.25:
        return np.ones(n)
    if kind < 0.45:  # each cell
        return 10 ** rng.uniform(0, top, n)
    if kind < 0.7:  # blocks
        side = int(rng.integers(2, 9))
        values = 10 ** (top * rng.integers(0, 2, [-(-m // side) for m in n]))
        return np.kron(values, np.ones((side,) * 3))[: n[0], : n[1], : n[2]]
    if kind < 0.85:  # layers
        axis = int(rng.integers(3))
        shape = [n[axis] if d == axis else 1 for d in range(3)]
        return np.ones(n) * 10 ** (top * rng.integers(0, 2, shape))
    x, y, z = np.meshgrid(*[np.linspace(0, 1, m) for m in n], indexing="ij")
    return 10 ** (top * (0.5 + 0.5 * np.sin(3 * x + 5 * y) * np.cos(4 * z)))


def write_problem(np, h5py, path: str, seed: int) -> str:
    """Write beta, f and the grid; return the value of --boundary."""
    rng = np.random.default_rng(seed)
    cells = [
        round(40 ** rng.random()) if rng.random() < 0.5 else int(rng.integers(1, 41))
        for _ in range(3)
    ]
    n = tuple(max(m, 2 if d == 0 else 1) for d, m in enumerate(cells))
    faces, sides = [], []
    for m in n:
        widths = widths_of(np, rng, m)
        mean = 10 ** (3 * rng.random()) if rng.random() < 0.5 else 1.0
        faces.append(np.concatenate([[0], np.cumsum(widths * mean / widths.mean())]))
        both = rng.random() < 0.25
        sides += ["periodic"] * 2 if both else [SIDES[s] for s in rng.integers(0, 3, 2)]
    shape = n[::-1]
    f = rng.uniform(-1, 1, shape)
    if all(side in ("neumann", "periodic") for side in sides):  # f must have mean 0
        volume = np.einsum("k,j,i->kji", *[np.diff(x) for x in faces[::-1]])
        f -= (f * volume).sum() / volume.sum()
    with h5py.File(path, "w") as file:
        file["VTKHDF/CellData/beta"] = beta_of(np, rng, shape)
        file["VTKHDF/CellData/f"] = f
        for name, positions in zip("xyz", faces):
            file[f"grid/{name}"] = positions
    return ",".join(sides)


def solve(folder: str, program: str, path: str, boundary: str, options: str) -> tuple[int, str]:
    """Cycles, and how the solve ended: solved, at round-off or failed."""
    words = [f"--coefficients={path}", f"--boundary={boundary}", "--verify-only", *options.split()]
    done = run([program, *words], env=of_one_rank(folder) | {"OMP_NUM_THREADS": "1"})
    if done.returncode not in (0, 1) or "VERIFICATION" not in done.stdout:
        raise ToolError(f"{program}: {reason_of(done.stderr, done.returncode)}", done.returncode)
    cycles = re.findall(r"cycle +(\d+) +max", done.stdout)
    below = "is below round-off" in done.stdout
    end = "solved" if done.returncode == 0 else "at round-off" if below else "failed"
    return int(cycles[-1]) if cycles else 0, end


def row_of(name: str, results: list[tuple[int, str]]) -> str:
    solved = sorted(cycles for cycles, end in results if end == "solved") or [0]
    part = [solved[min(len(solved) - 1, int(p * len(solved)))] for p in (0.5, 0.9, 0.99)]
    ends = [sum(end == word for _, end in results) for word in ("failed", "at round-off")]
    values = [*ends, *part, solved[-1], sum(cycles > 25 for cycles in solved)]
    return f"| {name} | {' | '.join(map(str, values))} |"


def make_parser() -> Parser:
    parser = Parser(
        prog="random_problems.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("methods", metavar="METHOD", nargs="*", default=["auto="], help="see above")
    parser.add_options(
        ("--program=FILE", str, "./hpgmg-fv", "hpgmg-fv (default: %(default)s)"),
        ("--count=N", integer_in(1, 100000), 100, "problems (default: %(default)s)"),
        ("--seed=N", integer_in(0, 2**31), 1, "selects the problems (default: %(default)s)"),
    )
    return parser


def work() -> int:
    args = make_parser().parse_args()
    np, h5py = need("numpy", "numpy"), need("h5py", "h5py")
    failed = False
    say("| method | failed | at round-off | median | 90 % | 99 % | most | over 25 |")
    say("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{c}.hdf") for c in range(args.count)]
        sides = [write_problem(np, h5py, p, args.seed + 1000003 * c) for c, p in enumerate(paths)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for method in args.methods:
                name, _, options = method.partition("=")
                jobs = [
                    pool.submit(solve, folder, args.program, p, s, options)
                    for p, s in zip(paths, sides)
                ]
                results = [job.result() for job in jobs]
                say(row_of(name, results))
                failed = failed or any(end == "failed" for _, end in results)
    return int(failed)


if __name__ == "__main__":
    sys.exit(run_main("random_problems.py", work))
