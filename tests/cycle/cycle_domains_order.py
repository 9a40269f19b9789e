"""Order of the error on a domain that is no cube, with grids of h, h/2, h/4 and h/8.

cycle_domains_order.py PROGRAM

The built-in u of 7pt is a polynomial that is zero at the walls, as is its normal derivative. So it
is the solution with Dirichlet and with Neumann walls. fv2 has no known solution: its error is the
difference from the restricted u of the next grid. Writes dumps into the current folder.
"""

from __future__ import annotations

import subprocess
import sys

import h5py
import numpy as np

COARSEST, LENGTHS = (14, 12, 16), "1,0.5,2"
SOLVE = ("--rtol=1e-10", "--verify-only", "--quiet", "--dump=order.hdf", "--dump-fields=u")
CASES = (
    ("7pt", "poisson", "dirichlet"),
    ("7pt", "poisson", "neumann"),
    ("7pt", "helmholtz", "dirichlet,neumann,periodic"),
    ("fv2", "poisson", "dirichlet"),
    ("fv2", "helmholtz", "neumann"),
    ("fv2", "poisson", "periodic,dirichlet,neumann"),
)


def solve(command: list[str]) -> np.ndarray:
    subprocess.run(command, check=True)
    with h5py.File("order.hdf") as file:
        return file["VTKHDF/CellData/u"][...]


def restrict(u: np.ndarray) -> np.ndarray:
    nz, ny, nx = (n // 2 for n in u.shape)
    return u.reshape(nz, 2, ny, 2, nx, 2).mean(axis=(1, 3, 5))


def exact(shape: tuple[int, ...]) -> np.ndarray:
    """u of 7pt at the cell centers, [k][j][i]."""
    centers = [(np.arange(n) + 0.5) / n for n in shape]
    return np.einsum("k,j,i->kji", *[2 * t**6 - 6 * t**5 + 5 * t**4 - t**2 for t in centers])


def centered(u: np.ndarray, singular: bool) -> np.ndarray:
    return u - u.mean() if singular else u


def orders(program: str, operator: str, equation: str, boundary: str) -> np.ndarray:
    grids = []
    for refinement in (1, 2, 4, 8):
        cells = "x".join(str(refinement * n) for n in COARSEST)
        case = [f"--operator={operator}", f"--equation={equation}", f"--boundary={boundary}"]
        case += [f"--cells={cells}", f"--lengths={LENGTHS}"]
        grids.append(solve([program, *case, *SOLVE]))
    singular = equation == "poisson" and "dirichlet" not in boundary
    wanted = [exact(u.shape) for u in grids] if operator == "7pt" else map(restrict, grids[1:])
    error = [
        abs(centered(u, singular) - centered(want, singular)).max()
        for u, want in zip(grids, wanted)
    ]
    return np.log2(np.divide(error[:-1], error[1:]))


def main() -> int:
    failures = 0
    for case in CASES:
        found = orders(sys.argv[1], *case)
        # These grids are not asymptotic. With errors C h^2 (1 + D h^2), the deficit falls to 1/4
        # when the grid doubles, or to 1/2 with D h at walls. That of a first order rises to 1.
        deficit = abs(found[-2:] - 2.0)
        failed = bool(deficit[1] > max(0.6 * deficit[0], 0.05))
        failures += failed
        print(f"{'failed: ' if failed else ''}{' '.join(case)}: order {found.round(3)}", flush=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
