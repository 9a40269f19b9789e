"""Solve the program's problem through the library, and compare every digit of its report.

Usage: report.py DUMP JSON WORDS: a dump of f and the betas of h, 2h and 4h, the report, and options
without the size."""

import json
import sys

import h5py
import hpgmg
import numpy as np


def mean_of_children(x, axes):
    """In the order of the program: first i, then j, then k."""
    for axis in sorted(axes, reverse=True):
        even = np.take(x, range(0, x.shape[axis], 2), axis)
        x = even + np.take(x, range(1, x.shape[axis], 2), axis)
    return x / 2 ** len(axes)


def problem(file, level):
    """f, and beta on the faces normal to i, j and k. The last faces are those of the upper wall,
    or on a periodic axis the first ones."""
    group = file["VTKHDF/CellData"] if level == 0 else file[f"HPGMG/levels/level_{level}"]
    betas = []
    for d, axis in enumerate("ijk"):
        beta = group[f"beta_{axis}"][...]
        last = np.take(beta, [0], 2 - d)
        if "walls" in file["HPGMG"]:
            wall = file[f"HPGMG/walls/beta_{axis}"][...]
            for _ in range(level):
                wall = mean_of_children(wall, (0, 1))
            last = np.expand_dims(wall, 2 - d)
        betas.append(np.concatenate([beta, last], 2 - d))
    return group["f"][...], betas


def main(dump, report, words):
    with open(report, encoding="utf-8") as file:
        want = json.load(file)
    solutions = []
    with h5py.File(dump) as file:
        for level, solve in enumerate(want["solves"]):
            f, beta = problem(file, level)
            size = f"{f.shape[0].bit_length() - 1} 1"
            with hpgmg.Solver(None, f"{size} {words}", boxes=((0, 0, 0), f.shape)) as solver:
                solver.set_coefficients(beta)
                result = solver.solve(f)
            got = result.cycles, result.residual, result.relative
            assert got == (len(solve["norms"]), solve["norms"][-1], solve["rel"][-1]), (got, solve)
            solutions.append(result.u)
        assert (solutions[0] == file["VTKHDF/CellData/u"][...]).all()
    errors = [
        np.abs(mean_of_children(fine, (0, 1, 2)) - coarse).max()
        for fine, coarse in zip(solutions, solutions[1:])
    ]
    assert errors[0] == want["error"], (errors[0], want["error"])
    assert np.log2(errors[1] / errors[0]) == want["order"], want["order"]


main(*sys.argv[1:])
