"""Independent residual of a dump: own_problem.py FIELDS.hdf DUMP.hdf BOUNDARY LIMIT.

Applies 7pt with harmonic means of the cells' beta, from alpha and beta in FIELDS and u in DUMP.
Ends with 0 if max|f - A u| < LIMIT * max|f| and the residual in DUMP agrees up to rounding.
"""

import sys

import h5py
import numpy as np


def cells(path: str, name: str):
    with h5py.File(path) as file:
        group = file["VTKHDF/CellData"]
        return group[name][...].astype(float) if name in group else None


def neighbor(x: np.ndarray, axis: int, step: int, periodic: bool, outside) -> np.ndarray:
    """x of the neighbor of each cell; at a wall, `outside` of the cell's x."""
    moved = np.roll(x, -step, axis)
    if periodic:
        return moved
    last = [slice(None)] * 3
    last[axis] = -1 if step > 0 else 0
    moved[tuple(last)] = outside(x[tuple(last)])
    return moved


def main() -> int:
    fields, dump, boundary, limit = sys.argv[1:]
    periodic = boundary == "periodic"
    beta, alpha, f = (cells(fields, name) for name in ("beta", "alpha", "f"))
    u, stored = cells(dump, "u"), cells(dump, "residual")
    n = len(u)
    f = f - f.mean() if periodic and alpha is None else f
    au = np.zeros_like(u) if alpha is None else alpha * u
    for axis in range(3):
        for step in (-1, 1):
            beside = neighbor(beta, axis, step, periodic, lambda x: x)
            face = 2 / (1 / beta + 1 / beside)
            au -= n * n * face * (neighbor(u, axis, step, periodic, lambda x: -x) - u)
    residual = f - au
    largest = abs(residual).max() / abs(f).max()
    # Rounding errors of the largest terms.
    rounding = 1e-14 * n * n * beta.max() * abs(u).max() + 1e-14 * abs(f).max()
    difference = abs(residual - stored).max()
    print(f"max|f-Au| / max|f| = {largest:.3e}; stored differ by {difference:.3e}")
    return 0 if largest < float(limit) and difference < rounding else 1


if __name__ == "__main__":
    sys.exit(main())
