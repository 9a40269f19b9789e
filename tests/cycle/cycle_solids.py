"""Solve domains with closed faces, solid cells and cells of a given u with hpgmg-fv, and compare
with SciPy's sparse direct solver on the solved cells alone.

cycle_solids.py PROGRAM random CASES SEED    random sizes, widths, coefficients, masks and sides.
                                             The last case remains, its options in case.txt
cycle_solids.py PROGRAM shapes N             a sphere, a plate, a ridge and random blocks of N^3
                                             cells in few cycles; no comparison above 32^3
cycle_solids.py PROGRAM changed              a comparison with a slightly changed problem must fail

The matrix comes from the files that this script writes and shares no code with the program. Each
failure prints the seed of its case; the exit code is then 1.
"""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
import sys
from dataclasses import dataclass

import h5py
import numpy as np
import scipy.sparse as sparse
from face_means import Failure, face_means
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

SOLID, SOLVED, GIVEN = 0, 1, 2
RTOL = 1e-10
FILE = "solids.hdf"
MOST_CYCLES = 40


# --- problems; axes are in the order k, j, i ------------------------------------------------------


@dataclass
class Problem:
    widths: list[np.ndarray]
    mask: np.ndarray
    beta: np.ndarray | list[np.ndarray]  # of cells, or on all faces normal to each axis
    alpha: np.ndarray | None
    f: np.ndarray
    given: np.ndarray  # u of given cells
    sides: list[list[tuple[str, float, float, float]]]  # kind, factors of u and of the flux, value
    mean: float = 0.0

    @property
    def volumes(self) -> np.ndarray:
        return np.einsum("k,j,i->kji", *self.widths)

    def is_periodic(self, axis: int) -> bool:
        return self.sides[axis][0][0] == "periodic"


def along(axis: int, values: np.ndarray) -> np.ndarray:
    """A value for each layer across an axis."""
    shape = [1, 1, 1]
    shape[axis] = -1
    return values.reshape(shape)


def area(problem: Problem, axis: int) -> np.ndarray:
    w = list(problem.widths)
    w[axis] = np.ones(1)
    return np.einsum("k,j,i->kji", *w)


def face_betas(problem: Problem, axis: int) -> np.ndarray:
    """On all faces normal to an axis: the mean of two cells, or of a file."""
    if isinstance(problem.beta, list):
        return problem.beta[axis]
    return face_means(problem.beta, problem.widths[axis], axis, problem.is_periodic(axis))


@dataclass
class System:
    """Rows times the volume of their cell."""

    matrix: sparse.csr_matrix
    rhs: np.ndarray
    inside: np.ndarray
    singular: np.ndarray  # the number of each cell's singular pocket, or -1


def pairs_of(problem: Problem, axis: int):
    """The cells below and above each face inside of the grid, and the face's coupling."""
    n, w = problem.mask.shape[axis], problem.widths[axis]
    index = np.arange(problem.mask.size).reshape(problem.mask.shape)
    beta = face_betas(problem, axis)
    low = [m - 1 for m in range(n)] if problem.is_periodic(axis) else list(range(n - 1))
    high = [m + 1 for m in low]
    distance = np.array([0.5 * (w[a] + w[b]) for a, b in zip(low, high)])
    coupling = np.take(beta, high, axis) * area(problem, axis) / along(axis, distance)
    return np.take(index, low, axis).ravel(), np.take(index, high, axis).ravel(), coupling.ravel()


def wall_terms(problem: Problem, axis: int, side: int):
    """The cells at a side, their couplings with the wall, and what it adds to the diagonal and f.
    With 7pt the wall is half a width away."""
    kind, u, flux, value = problem.sides[axis][side]
    cells = np.take(np.arange(problem.mask.size).reshape(problem.mask.shape), -side, axis).ravel()
    beta = np.take(face_betas(problem, axis), -side, axis).ravel()
    size = np.take(area(problem, axis), 0, axis)
    size = np.broadcast_to(size, np.take(problem.mask, 0, axis).shape).ravel()
    k = 2.0 * beta / problem.widths[axis][-side] * size
    if kind == "neumann":
        return cells, np.zeros_like(k), np.zeros_like(k), value * size
    if kind == "dirichlet":
        return cells, k, k, k * value
    through = np.where(k > 0, k / (u + flux * np.where(k > 0, k, 1.0) / size), 0.0)
    return cells, np.zeros_like(k), through * u, through * value


def assemble(problem: Problem) -> System:
    mask, size = problem.mask.ravel(), problem.mask.size
    given = problem.given.ravel()
    rhs = (problem.f * problem.volumes).ravel()
    diagonal = (
        np.zeros(size) if problem.alpha is None else (problem.alpha * problem.volumes).ravel()
    )
    fixed = diagonal != 0.0
    is_open = np.zeros(size, bool)
    rows, columns, values = [], [], []
    for axis in range(3):
        if mask.size and problem.mask.shape[axis] > 1:
            low, high, coupling = pairs_of(problem, axis)
            for mine, other in ((low, high), (high, low)):
                joined = (coupling > 0) & (mask[mine] == SOLVED) & (mask[other] == SOLVED)
                to_given = (coupling > 0) & (mask[mine] == SOLVED) & (mask[other] == GIVEN)
                is_open[mine[joined | to_given]] = fixed[mine[to_given]] = True
                np.add.at(diagonal, mine, np.where(joined | to_given, coupling, 0.0))
                np.add.at(rhs, mine, np.where(to_given, coupling * given[other], 0.0))
                rows.append(mine[joined])
                columns.append(other[joined])
                values.append(-coupling[joined])
        for side in (0, 1):
            if problem.is_periodic(axis):
                continue
            cells, through, on_diagonal, on_rhs = wall_terms(problem, axis, side)
            solved = mask[cells] == SOLVED
            is_open[cells[solved & (through > 0)]] = True
            fixed[cells[solved & (on_diagonal > 0)]] = True
            np.add.at(diagonal, cells, np.where(solved, on_diagonal, 0.0))
            np.add.at(rhs, cells, np.where(solved, on_rhs, 0.0))
    cells = np.arange(size)
    entries = (
        np.concatenate([*values, diagonal]),
        (np.concatenate([*rows, cells]), np.concatenate([*columns, cells])),
    )
    matrix = sparse.coo_matrix(entries, shape=(size, size)).tocsr()
    inside = is_open & (mask == SOLVED)
    n, number = connected_components(matrix - sparse.diags(matrix.diagonal()), directed=False)
    has_fixed = np.zeros(n, bool)
    np.logical_or.at(has_fixed, number, fixed & inside)
    singular = np.where(inside & ~has_fixed[number], number, -1)
    return System(matrix, rhs, inside, singular)


def without_means(system: System, values: np.ndarray, weights: np.ndarray, mean: float):
    """Values with another mean in each singular pocket."""
    cells = np.flatnonzero(system.singular >= 0)
    number = system.singular[cells]
    values = values.copy()
    if len(cells):
        total = np.bincount(number, values[cells] * weights[cells])
        weight = np.bincount(number, weights[cells])
        values[cells] += mean - (total / np.maximum(weight, 1e-300))[number]
    return values


def direct(problem: Problem, system: System) -> np.ndarray:
    """u by a direct solver; one cell of each singular pocket is left out."""
    volumes = problem.volumes.ravel()
    rhs = without_means(system, system.rhs / volumes, volumes, 0.0) * volumes
    first = np.unique(system.singular, return_index=True)[1]
    keep = system.inside.copy()
    keep[first[system.singular[first] >= 0]] = False
    cells = np.flatnonzero(keep)
    u = np.zeros(problem.mask.size)
    if len(cells):
        a = system.matrix[cells][:, cells].tocsc()
        solver = splu(a)
        u[cells] = solver.solve(rhs[cells])
        u[cells] += solver.solve(rhs[cells] - a @ u[cells])
    u = without_means(system, u, volumes, problem.mean)
    return np.where(problem.mask.ravel() == GIVEN, problem.given.ravel(), u)


# --- files and runs -------------------------------------------------------------------------------


def write(problem: Problem) -> list[str]:
    """The options of a problem, whose numbers are in FILE."""
    with h5py.File(FILE, "w") as file:
        fields = file.create_group("VTKHDF/CellData")
        if isinstance(problem.beta, list):
            for axis, name in enumerate(("beta_k", "beta_j", "beta_i")):
                faces = problem.beta[axis]
                fields[name] = np.take(faces, range(problem.mask.shape[axis]), axis)
                if not problem.is_periodic(axis):
                    file[f"HPGMG/walls/{name}"] = np.take(faces, -1, axis)
        else:
            fields["beta"] = problem.beta
        if (problem.mask != SOLVED).any():
            fields["mask"] = problem.mask.astype(np.int8)
        if (problem.mask == GIVEN).any():
            fields["u"] = problem.given
        if problem.alpha is not None:
            fields["alpha"] = problem.alpha
        fields["f"] = problem.f
        for axis, widths in zip("zyx", problem.widths):
            file[f"grid/{axis}"] = np.concatenate([[0.0], np.cumsum(widths)])
    words = []
    for pair in reversed(problem.sides):
        for kind, u, flux, value in pair:
            numbers = [u, flux, value] if kind == "robin" else [value]
            words.append(":".join([kind, *(f"{x:.17g}" for x in numbers)]))
    words = [word.replace("periodic:0", "periodic") for word in words]
    args = [f"--coefficients={FILE}", f"--rhs={FILE}", f"--boundary={','.join(words)}"]
    return [*args, f"--mean={problem.mean:.17g}"] if problem.mean else args


def run(program: str, args: list[str], *more: str) -> tuple[np.ndarray, np.ndarray, int]:
    """u and mask of the dump, and cycles."""
    pathlib.Path("dump.hdf").unlink(missing_ok=True)
    fields = "--dump-fields=u,f,beta_i,beta_j,beta_k"
    fields += ",alpha" if "alpha" in h5py.File(FILE)["VTKHDF/CellData"] else ""
    how = (f"--rtol={RTOL}", "--quiet", "--dump=dump.hdf", fields)
    done = subprocess.run([program, *args, *how, *more], capture_output=True, text=True)
    pathlib.Path("case.txt").write_text(" ".join(args))
    if done.returncode > 1 or done.stderr:
        raise Failure(f"exit code {done.returncode}: {done.stderr.strip()}")
    with h5py.File("dump.hdf") as file:
        fields = file["VTKHDF/CellData"]
        u = fields["u"][...]
        mask = fields["mask"][...] if "mask" in fields else np.ones_like(u)
        return u, mask, len(file["HPGMG"].attrs["residual_norms"])


def compare(problem: Problem, system: System, u: np.ndarray, mask: np.ndarray) -> float:
    """The largest error of u by the largest u. Round-off of a direct solver grows with the ratio of
    the largest and the least coupling; the residual is exact enough where it is large."""
    kinds = np.where(system.inside, SOLVED, np.where(problem.mask.ravel() == GIVEN, GIVEN, SOLID))
    if (mask.ravel() != kinds).any():
        raise Failure(f"the mask of the dump differs in {(mask.ravel() != kinds).sum()} cells")
    want = direct(problem, system)
    outside = ~system.inside
    if (u.ravel()[outside] != want[outside]).any():
        raise Failure("u outside is not 0 or as given")
    means = without_means(system, u.ravel(), problem.volumes.ravel(), problem.mean)
    scale = max(abs(want).max(), 1e-300)
    if abs(means - u.ravel()).max() > 1e-12 * scale:
        raise Failure("a singular pocket has another mean")
    return abs(u.ravel() - want).max() / scale


# --- random problems ------------------------------------------------------------------------------


def random_side(rng: np.random.Generator, closed: bool) -> tuple[str, float, float, float]:
    kind = "neumann" if closed else rng.choice(["dirichlet", "neumann", "neumann", "robin"])
    value = float(rng.uniform(-1, 1)) if rng.random() < 0.5 else 0.0
    if kind == "neumann":
        return "neumann", 0.0, 1.0, 0.0
    if kind == "dirichlet":
        return "dirichlet", 1.0, 0.0, value
    return "robin", float(rng.uniform(0.5, 2)), float(rng.uniform(0.5, 2)), value


def random_mask(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    mask = np.full(shape, SOLVED)
    kind = rng.integers(5)
    if kind < 2:
        mask[rng.random(shape) < rng.uniform(0, 0.5)] = SOLID
    elif kind < 4:
        side = int(rng.integers(2, 6))
        blocks = rng.random([-(-n // side) for n in shape]) < rng.uniform(0.1, 0.45)
        cells = np.kron(blocks, np.ones((side,) * 3, int))
        mask[cells[: shape[0], : shape[1], : shape[2]] > 0] = SOLID
    if rng.random() < 0.4:
        mask[rng.random(shape) < rng.uniform(0, 0.2)] = GIVEN
    if kind == 4:  # a wall of solid cells with a hole
        axis = int(rng.integers(3))
        wall = [slice(None)] * 3
        wall[axis] = slice(shape[axis] // 2, shape[axis] // 2 + 1)
        hole = tuple(int(rng.integers(n)) for n in np.shape(mask[tuple(wall)]))
        part = mask[tuple(wall)]
        kept = part[hole]
        part[...] = SOLID
        part[hole] = kept
    return mask


def random_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 21, 3))
    widths = []
    for n in shape:
        w = np.cumprod(rng.uniform(1 / 1.3, 1.3, n)) if rng.random() < 0.3 else np.ones(n)
        widths.append(w / w.sum() * n / shape[2])
    sides = []
    closed = rng.random() < 0.5
    for n in shape:
        low, high = random_side(rng, closed), random_side(rng, closed)
        if n > 1 and rng.random() < 0.3:
            low = high = ("periodic", 0.0, 0.0, 0.0)
        sides.append([low, high])
    top = rng.choice([0.0, 0.0, 1.0, 3.0])
    beta = 10 ** rng.uniform(0, top, shape)
    if rng.random() < 0.4:  # cells that conduct nothing
        beta[rng.random(shape) < 0.3] = 0.0
    if rng.random() < 0.3:  # faces, some of them closed
        beta = [
            10 ** rng.uniform(0, top, [n + (d == a) for d, n in enumerate(shape)])
            * (rng.random([n + (d == a) for d, n in enumerate(shape)]) > rng.uniform(0, 0.6))
            for a in range(3)
        ]
        for axis, pair in enumerate(sides):
            if pair[0][0] == "periodic":
                first = [slice(None)] * 3
                first[axis] = slice(0, 1)
                last = list(first)
                last[axis] = slice(shape[axis], None)
                beta[axis][tuple(last)] = beta[axis][tuple(first)]
    alpha = rng.uniform(0.5, 2, shape) if rng.random() < 0.2 else None
    kinds = {side[0] for pair in sides for side in pair}
    has_mean = alpha is None and kinds <= {"neumann", "periodic"}
    return Problem(
        widths,
        random_mask(rng, shape),
        beta,
        alpha,
        rng.uniform(-1, 1, shape),
        rng.uniform(-1, 1, shape),
        sides,
        float(has_mean and rng.integers(2)),
    )


def make_compatible(problem: Problem) -> System:
    """Remove the means of f in singular pockets, so that the program has nothing to warn of."""
    system, volumes = assemble(problem), problem.volumes.ravel()
    rhs = system.rhs / volumes
    change = without_means(system, rhs, volumes, 0.0) - rhs
    problem.f = problem.f + change.reshape(problem.f.shape)
    return assemble(problem)


def check(program: str, problem: Problem) -> tuple[float, int, int]:
    """The error of u, the number of singular pockets, and cycles."""
    system = make_compatible(problem)
    args = write(problem)
    u, mask, cycles = run(program, args)
    error = compare(problem, system, u, mask) if u.size <= 32**3 else 0.0
    if not error < 1e-6:
        raise Failure(f"u differs by {error:.1e}")
    return error, len(np.unique(system.singular[system.singular >= 0])), cycles


def check_dump(program: str, problem: Problem, u: np.ndarray) -> None:
    """A dump is a file of the same problem, but for values on sides, which are options. Betas of
    stretched cells are rounded once more."""
    args = [arg.replace(FILE, "again.hdf") for arg in write(problem)]
    pathlib.Path("dump.hdf").rename("again.hdf")
    again = run(program, args)[0]
    if not abs(again - u).max() <= 1e-7 * abs(u).max():
        raise Failure(f"u of its dump differs by {abs(again - u).max():.1e}")


def run_random(program: str, cases: int, seed: int) -> int:
    failures, worst, pockets, counts = 0, 0.0, 0, [0]
    for case in range(seed, seed + cases):
        problem = random_problem(case)
        try:
            error, n, cycles = check(program, problem)
            worst, pockets = max(worst, error), max(pockets, n)
            counts.append(cycles)
            if case % 4 == 0:
                check_dump(program, problem, h5py.File("dump.hdf")["VTKHDF/CellData/u"][...])
        except Failure as failure:
            print(f"seed {case}: {failure}")
            failures += 1
    print(
        f"{cases} cases, {failures} failures; u differs by at most {worst:.1e}; up to {pockets} "
        f"singular pockets; cycles: median {np.median(counts):.0f}, 99 % "
        f"{np.percentile(counts, 99):.0f}, most {max(counts)}"
    )
    return failures


# --- shapes ---------------------------------------------------------------------------------------


def sphere(n: int) -> np.ndarray:
    x = (np.indices((n, n, n)) + 0.5) / n - 0.5
    return np.where((x**2).sum(axis=0) < 0.0625, SOLID, SOLVED)


def plate_with_slit(n: int) -> np.ndarray:
    mask = np.full((n, n, n), SOLVED)
    mask[n // 2 + 1] = SOLID
    mask[n // 2 + 1, :, n // 2] = SOLVED
    return mask


def blocks(n: int, part: float) -> np.ndarray:
    closed = np.random.default_rng(5).random((-(-n // 4),) * 3) < part
    cells = np.kron(closed, np.ones((4, 4, 4), int))[:n, :n, :n]
    return np.where(cells > 0, SOLID, SOLVED)


def ridge(n: int) -> np.ndarray:
    mask = np.full((n, n, n), SOLVED)
    mask[: 3 * n // 4, :, n // 2 + 1] = SOLID
    return mask


SHAPES = {
    "sphere": sphere,
    "plate": plate_with_slit,
    "blocks 20 %": lambda n: blocks(n, 0.2),
    "blocks 35 %": lambda n: blocks(n, 0.35),
    "ridge": ridge,
}
WALL, CLOSED = ("dirichlet", 1.0, 0.0, 0.0), ("neumann", 0.0, 1.0, 0.0)


def shaped_problem(mask: np.ndarray, sides: list) -> Problem:
    n = mask.shape[0]
    f = np.random.default_rng(7).uniform(-1, 1, mask.shape)
    widths = [np.full(n, 1.0 / n)] * 3
    return Problem(widths, mask, np.ones(mask.shape), None, f, np.zeros(mask.shape), sides)


def run_shapes(program: str, n: int) -> int:
    failures, most = 0, 0
    for name, shape in SHAPES.items():
        for sides in ([[WALL, WALL]] * 3, [[CLOSED, CLOSED]] * 3):
            try:
                _, pockets, cycles = check(program, shaped_problem(shape(n), sides))
                most = max(most, cycles)
                print(f"{name}, {sides[0][0][0]}: {pockets} singular pockets, {cycles} cycles")
                if cycles > MOST_CYCLES:
                    raise Failure(f"{cycles} cycles")
            except Failure as failure:
                print(f"{name}, {sides[0][0][0]}: {failure}")
                failures += 1
    print(f"{2 * len(SHAPES)} shapes of {n}^3 cells, {failures} failures; at most {most} cycles")
    return failures


# --- does the comparison notice a change? ---------------------------------------------------------


def run_changed(program: str) -> int:
    """Open one closed face by 1 %, solve one more cell, change a given u, each behind the back of
    the program."""
    failures = 0
    mask = np.full((6, 7, 8), SOLVED)
    mask[2:4, 2:5, 3:6] = SOLID
    mask[5, 5, 5] = GIVEN
    problem = shaped_problem(mask[:6, :6, :6], [[WALL, CLOSED]] * 3)
    problem.beta = [np.ones([6 + (d == axis) for d in range(3)]) for axis in range(3)]
    problem.beta[1][1, 3, 1] = 0.0
    problem.given += 1.0
    system = make_compatible(problem)
    u, mask, _ = run(program, write(problem))
    compare_or_fail(problem, system, u, mask)
    for change in ("beta", "mask", "given"):
        kept = problem.beta[1][1, 3, 1], problem.mask[2, 2, 3], problem.given[5, 5, 5]
        if change == "beta":
            problem.beta[1][1, 3, 1] = 0.01
        elif change == "mask":
            problem.mask[2, 2, 3] = SOLVED
        else:
            problem.given[5, 5, 5] = 1.001
        with contextlib.suppress(Failure):
            compare_or_fail(problem, assemble(problem), u, mask)
            print(f"a change of {change} is not noticed")
            failures += 1
        problem.beta[1][1, 3, 1], problem.mask[2, 2, 3], problem.given[5, 5, 5] = kept
    return failures


def compare_or_fail(problem: Problem, system: System, u: np.ndarray, mask: np.ndarray) -> None:
    if not compare(problem, system, u, mask) < 1e-6:
        raise Failure("u differs")


def main() -> int:
    program, what, *rest = sys.argv[1:]
    if what == "random":
        return run_random(program, int(rest[0]), int(rest[1])) > 0
    if what == "shapes":
        return run_shapes(program, int(rest[0])) > 0
    return run_changed(program) > 0


if __name__ == "__main__":
    sys.exit(main())
