"""Solve domains of any shape with hpgmg-fv and with SciPy's sparse direct solver, and compare.

cycle_domains.py PROGRAM random CASES SEED   random sizes, spacings, operators and boundaries
cycle_domains.py PROGRAM files CASES SEED    random widths, coefficients, f and boundary values in
                                             files. The last case remains, its options in case.txt
cycle_domains.py PROGRAM permuted CASES SEED the same with its axes in another order: the norms of
                                             all cycles must be equal up to rounding
cycle_domains.py PROGRAM symmetric           with 7pt and a symmetric smoother, the V-cycle that
                                             preconditions CG must be symmetric; with gsrb it is not
cycle_domains.py PROGRAM changed             a comparison with slightly changed data must fail
cycle_domains.py PROGRAM case ARG...         one case: these options of hpgmg-fv

Writes dumps into the current folder. The matrix comes from the dumped betas and shares no code with
the program. Each failure prints the command line that repeats it; the exit code is then 1.
"""

from __future__ import annotations

import contextlib
import pathlib
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import h5py
import numpy as np
import scipy.sparse as sparse
from face_means import Failure, face_means
from scipy.sparse.linalg import splu

RTOL = 1e-10
EPS = np.finfo(float).eps
DUMP = ("--verify-only", "--quiet", "--dump=domain.hdf")
SOLVE = (f"--rtol={RTOL}", "--max-cycles=200", *DUMP)
FIELDS = "--dump-fields=u,f,residual,beta_i,beta_j,beta_k"


# --- the problem in a dump; axes are in the order k, j, i -----------------------------------------


@dataclass(frozen=True)
class Side:
    """u times the value on the wall + flux * (beta du/dn) = value, with the outward normal n."""

    kind: str
    u: float = 0.0
    flux: float = 0.0
    value: float | np.ndarray = 0.0


@dataclass
class Domain:
    operator: str
    a: float
    sides: list[tuple[Side, Side]]  # of each axis: the low and the high side
    widths: list[np.ndarray]  # of the cells along each axis
    u: np.ndarray
    f: np.ndarray
    flux: np.ndarray  # A u: f - residual
    faces: list[np.ndarray]  # beta on all faces normal to each axis
    norms: np.ndarray  # max|f-Au| after each cycle
    reference: float  # RTOL is relative to it

    @property
    def cycles(self) -> int:
        return len(self.norms)

    @property
    def singular(self) -> bool:
        kinds = {side.kind for pair in self.sides for side in pair}
        return self.a == 0.0 and not kinds & {"dirichlet", "robin"}

    def is_periodic(self, axis: int) -> bool:
        return self.sides[axis][0].kind == "periodic"

    @property
    def volumes(self) -> np.ndarray:
        """Volumes of the cells by their mean, V. The program multiplies all rows by V."""
        return np.einsum("k,j,i->kji", *(w / w.mean() for w in self.widths))

    def areas(self, axis: int) -> np.ndarray:
        """Areas of the faces normal to an axis by the mean volume, with length 1 along the axis."""
        w = [w / w.mean() for w in self.widths]
        w[axis] = np.ones(1) / self.widths[axis].mean()
        return np.einsum("k,j,i->kji", *w)

    def distances(self, axis: int) -> np.ndarray:
        """Distances of the centers of the cells at each face; at walls, widths of the cells."""
        w = self.widths[axis]
        outside = (w[-1:], w[:1]) if self.is_periodic(axis) else (w[:1], w[-1:])
        shape = [1, 1, 1]
        shape[axis] = -1
        low, high = np.concatenate([outside[0], w]), np.concatenate([w, outside[1]])
        return (0.5 * (low + high)).reshape(shape)


def expand_boundary(args: list[str]) -> list[str]:
    """All six sides, from x-low to z-high."""
    words = option(args, "boundary", "dirichlet").split(",")
    return [words[side * len(words) // 6] for side in range(6)]


def side_of(text: str) -> Side:
    kind, *rest = text.split(":")
    numbers = [float(number) for number in rest]
    if kind == "robin":
        return Side(kind, *numbers)
    return Side(kind, float(kind == "dirichlet"), float(kind == "neumann"), *numbers)


def option(args: list[str], name: str, default: str) -> str:
    return ([arg.split("=", 1)[1] for arg in args if arg.startswith(f"--{name}=")] or [default])[-1]


def expected_widths(args: list[str]) -> list[np.ndarray] | None:
    """Cell widths from the options; None for a cube of boxes."""
    cells = option(args, "cells", "")
    if not cells:
        return None
    n = [int(count) for count in cells.split("x")]
    h = np.full(3, 1.0 / n[0])
    if spacing := option(args, "spacing", ""):
        h = np.array(spacing.split(","), float)
    if lengths := option(args, "lengths", ""):
        h = np.array(lengths.split(","), float) / n
    widths = [np.full(count, width) for count, width in zip(n, h)]
    for word in filter(None, option(args, "stretch", "").split(",")):
        axis, b = "xyz".index(word[0]), float(word.split(":")[2])
        s = np.linspace(-1.0, 1.0, n[axis] + 1)
        faces = 0.5 * h[axis] * n[axis] * (1.0 + np.tanh(b * s) / np.tanh(b))
        widths[axis] = np.diff(faces)
    return widths[::-1]


def read_widths(file: h5py.File, shape: tuple[int, ...]) -> list[np.ndarray]:
    if "grid" in file:
        return [np.diff(file["grid"][axis]) for axis in "zyx"]
    h = np.array(file["VTKHDF"].attrs["Spacing"])[::-1]
    return [np.full(count, width) for count, width in zip(shape, h)]


def read(args: list[str]) -> Domain:
    side = [side_of(text) for text in expand_boundary(args)]
    sides = [(side[2 * d], side[2 * d + 1]) for d in (2, 1, 0)]
    faces = []
    with h5py.File("domain.hdf") as file:
        fields = file["VTKHDF/CellData"]
        for axis, name in enumerate(("beta_k", "beta_j", "beta_i")):
            lower = fields[name][...]
            if sides[axis][1].kind == "periodic":
                upper = np.take(lower, 0, axis)
            else:
                upper = file["HPGMG/walls"][name][...]
            faces.append(np.concatenate([lower, np.expand_dims(upper, axis)], axis))
        u, f = fields["u"][...], fields["f"][...]
        widths = read_widths(file, u.shape)
        flux = f - fields["residual"][...]
        attributes = file["HPGMG"].attrs
        norms = attributes["residual_norms"]
        reference = attributes.get("reference_norm", attributes["f_norm"])[0]
    n = option(args, "cells", "")
    if n and u.shape != tuple(int(count) for count in n.split("x"))[::-1]:
        raise Failure(f"the dump has {u.shape} cells")
    for found, wanted in zip(widths, expected_widths(args) or widths):
        if not np.allclose(found, wanted, rtol=1e-11, atol=0):
            raise Failure(f"the dump has cells of widths {found}, not {wanted}")
    a = 1.0 if option(args, "equation", "poisson") == "helmholtz" else 0.0
    operator = option(args, "operator", "fv2")
    return Domain(operator, a, sides, widths, u, f, flux, faces, norms, reference)


def run(program: str, args: list[str], how: tuple[str, ...]) -> Domain:
    # Exit code 1 without an error: the residual is above the tolerance.
    pathlib.Path("domain.hdf").unlink(missing_ok=True)
    done = subprocess.run([program, *args, *how, FIELDS], capture_output=True, text=True)
    if done.returncode > 1 or done.stderr:
        raise Failure(f"exit code {done.returncode}: {done.stderr.strip()}")
    return read(args)


def solve(program: str, args: list[str]) -> Domain:
    domain = run(program, args, SOLVE)  # compare() permits rounding errors above RTOL
    has_numbers = ":" in option(args, "boundary", "") or f"--rhs={FILE}" in args
    return with_values(program, args, domain) if has_numbers else domain


def with_values(program: str, args: list[str], domain: Domain) -> Domain:
    """The dumped f lacks what the values on the walls add to it, and the betas of Neumann's walls
    are 0. Take both from the problem with u = 0 on all walls, and add the values."""
    words = [w if w == "periodic" else "dirichlet" for w in expand_boundary(args)]
    plain_args = [f"--rhs={PLAIN_FILE}" if arg == f"--rhs={FILE}" else arg for arg in args]
    plain = solve(program, [*plain_args, f"--boundary={','.join(words)}"])
    domain = replace(domain, f=plain.f, faces=plain.faces)
    if plain_args != args:
        domain = with_file(domain)
    for axis in range(3):
        for side in (0, 1):
            if not domain.is_periodic(axis):
                volumes = np.moveaxis(domain.volumes, axis, 0)[-side]
                terms = wall_terms(domain, axis, side)[1]
                for field in (domain.f, domain.flux):
                    np.moveaxis(field, axis, 0)[-side] += terms / volumes
    if domain.singular:
        domain.f -= (domain.f * domain.volumes).mean()
    return domain


# --- problems in files ----------------------------------------------------------------------------

# The second one has no values on sides.
FILE, PLAIN_FILE, COEFFICIENTS = "rhs.hdf", "rhs-plain.hdf", "coefficients.hdf"
SIDES = [(f"{axis}_low", f"{axis}_high") for axis in "zyx"]


def with_file(domain: Domain) -> Domain:
    """Values on sides and the betas that the cells of the file have, instead of the dumped ones."""
    sides, faces = [], []
    with h5py.File(FILE) as rhs, h5py.File(COEFFICIENTS) as coefficients:
        for pair, names in zip(domain.sides, SIDES):
            values = [
                rhs[f"boundary/{name}"][...] if f"boundary/{name}" in rhs else None
                for name in names
            ]
            sides.append(
                tuple(s if v is None else replace(s, value=v) for s, v in zip(pair, values))
            )
        beta = coefficients["VTKHDF/CellData/beta"][...]
    for axis, w in enumerate(domain.widths):
        faces.append(face_means(beta, w, axis, domain.is_periodic(axis)))
        inner = inner_faces(domain, axis, domain.faces[axis])
        if not np.allclose(inner, inner_faces(domain, axis, faces[-1]), rtol=1e-13, atol=0.0):
            raise Failure(
                f"betas of faces normal to axis {axis} differ from the means of the cells"
            )
    return replace(domain, sides=sides, faces=faces)


def write_files(rng: random.Random, n: list[int], words: list[str]) -> list[str]:
    """Random cells, coefficients and f; random values on some sides without a number."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    shape = tuple(n[::-1])
    f = numbers.uniform(-1.0, 1.0, shape)
    with h5py.File(COEFFICIENTS, "w") as file:
        file["VTKHDF/CellData/beta"] = 10.0 ** numbers.uniform(-0.5, 0.5, shape)
    for name in (FILE, PLAIN_FILE):
        with h5py.File(name, "w") as file:
            file["VTKHDF/CellData/f"] = f
    with h5py.File(FILE, "a") as file:
        for side, word in enumerate(words):
            n_side = [count for d, count in enumerate(n) if d != side // 2][::-1]
            if word != "periodic" and word.count(":") == 2 * word.startswith("robin"):
                file[f"boundary/{'xyz'[side // 2]}_{('low', 'high')[side % 2]}"] = numbers.uniform(
                    -1.0, 1.0, n_side
                )
    for axis, count in zip("xyz", n):
        # Neighbors differ by a factor of at most 1.3.
        widths = np.cumprod(numbers.uniform(1.0 / 1.3, 1.3, count))
        faces = np.concatenate([[0.0], np.cumsum(widths)]) / widths.sum() + numbers.uniform()
        with h5py.File(COEFFICIENTS, "a") as file:
            file[f"grid/{axis}"] = faces
    return [f"--rhs={FILE}", f"--coefficients={COEFFICIENTS}"]


def case_of_files(rng: random.Random) -> list[str]:
    n = [max(2, count) for count in random_cells(rng)]
    words = expand_boundary([f"--boundary={random_boundary(rng)}"])
    if all(word.startswith(("neumann", "periodic")) for word in words):
        words[0], words[1] = "dirichlet", "neumann"  # f is not compatible
    args = [f"--operator={rng.choice(('7pt', 'fv2'))}", f"--boundary={','.join(words)}"]
    args += write_files(rng, n, words)
    pathlib.Path("case.txt").write_text(" ".join(args))
    return args


# --- the matrix -----------------------------------------------------------------------------------


def ghost_weights(domain: Domain, axis: int) -> tuple[float, float]:
    """Weights of the first and the second cell in a ghost outside a Dirichlet wall of the axis."""
    linear = domain.operator == "7pt" or domain.u.shape[axis] == 1
    return (-1.0, 0.0) if linear else (-2.5, 0.5)


def wall_terms(domain: Domain, axis: int, side: int) -> tuple[np.ndarray, np.ndarray]:
    """What a wall adds to the diagonal (Dirichlet: nothing, see the ghost) and to f, times V."""
    wall, h = domain.sides[axis][side], domain.widths[axis][-side]
    beta = np.moveaxis(domain.faces[axis], axis, 0)[-side]
    area = np.moveaxis(domain.areas(axis), axis, 0)[0]
    none = np.zeros_like(beta)
    if wall.kind == "neumann":
        return none, none + wall.value * area
    if wall.kind == "dirichlet":
        # The weights of all terms of a ghost have the sum 1.
        return none, beta / h * (1.0 - sum(ghost_weights(domain, axis))) * wall.value * area
    # The flux k (w - u), k = 2 beta / h, with the unknown w on the wall, which is eliminated.
    k = 2.0 * beta / h
    through = k / (wall.u + wall.flux * k) * area
    return through * wall.u, through * wall.value


def conductances(domain: Domain, axis: int) -> np.ndarray:
    return domain.faces[axis] * domain.areas(axis) / domain.distances(axis)


def assemble(domain: Domain) -> sparse.csc_matrix:
    """A u = a V u - sum over faces of area beta (neighbor - u) / distance."""
    shape = domain.u.shape
    index = np.arange(domain.u.size).reshape(shape)
    rows, columns, values = [index.ravel()], [index.ravel()], [domain.a * domain.volumes.ravel()]

    def add(row, column, value):
        rows.append(row.ravel())
        columns.append(column.ravel())
        values.append(value.ravel())

    for axis, n in enumerate(shape):
        first, second = ghost_weights(domain, axis)
        for side in (0, 1):
            kind = domain.sides[axis][side].kind
            beta = np.take(conductances(domain, axis), range(side, n + side), axis)
            neighbor = np.roll(index, 1 - 2 * side, axis)
            inner = range(n) if kind == "periodic" else range(1 - side, n - side)
            here = np.take(index, inner, axis)
            flux = np.take(beta, inner, axis)
            add(here, here, flux)
            add(here, np.take(neighbor, inner, axis), -flux)
            if kind == "dirichlet":
                at, next_in = (0, min(1, n - 1)) if side == 0 else (n - 1, max(n - 2, 0))
                wall, flux = np.take(index, at, axis), np.take(beta, at, axis)
                add(wall, wall, flux * (1.0 - first))
                add(wall, np.take(index, next_in, axis), -flux * second)
            elif kind == "robin":
                wall = np.moveaxis(index, axis, 0)[-side]
                add(wall, wall, wall_terms(domain, axis, side)[0])
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.coo_matrix(entries, shape=(index.size, index.size)).tocsc()


def inner_faces(domain: Domain, axis: int, values: np.ndarray) -> np.ndarray:
    """Values of the faces between two cells. A single cell has none, also if periodic."""
    n = domain.u.shape[axis]
    first = 0 if domain.is_periodic(axis) and n > 1 else 1
    return np.take(values, range(first, n), axis)


def smallest_eigenvalue(domain: Domain) -> float:
    """Lower bound of the smallest positive eigenvalue of a singular A: for an axis, the smallest
    conductance times the smallest eigenvalue of differences along it (Courant-Fischer)."""
    least = np.inf
    for axis, n in enumerate(domain.u.shape):
        if n > 1:
            waves = 1.0 if domain.is_periodic(axis) else 0.5
            conductance = inner_faces(domain, axis, conductances(domain, axis)).min()
            least = min(least, conductance * (2.0 * np.sin(np.pi * waves / n)) ** 2)
    return least


def solve_directly(
    domain: Domain, matrix: sparse.csc_matrix, f: np.ndarray
) -> tuple[np.ndarray, float]:
    """The solution, and the maximum norm of the inverse of A or a bound of it."""
    n = f.size
    if domain.singular:
        if abs(f.mean()) > 0.1 * RTOL * abs(f).max():
            raise Failure(f"f has the mean {f.mean():.3e}, max|f| {abs(f).max():.3e}")
        # Find u with mean 0 and a constant c with A u + c = f.
        one = sparse.csc_matrix(np.ones((n, 1)))
        bordered = sparse.bmat([[matrix, one], [one.T, None]], format="csc")
        found = splu(bordered).solve(np.append(f, 0.0))
        return found[:n], np.sqrt(n) / smallest_eigenvalue(domain)
    factors = splu(matrix)
    # A is an M-matrix, so its inverse is not negative, and the norm is the largest row sum.
    return factors.solve(f), factors.solve(np.ones(n)).max()


def check_balance(domain: Domain) -> None:
    """What A u adds up to over the domain leaves it through the walls, or is a u: the fluxes
    through all other faces cancel."""
    inside = (domain.flux * domain.volumes).sum()
    terms = [domain.a * domain.u * domain.volumes]
    for axis, pair in enumerate(domain.sides):
        first, second = ghost_weights(domain, axis)
        u = np.moveaxis(domain.u, axis, 0)
        for side, wall in enumerate(pair):
            if wall.kind == "dirichlet":
                at, next_in = (0, min(1, len(u) - 1)) if side == 0 else (-1, max(len(u) - 2, 0))
                through = np.moveaxis(conductances(domain, axis), axis, 0)[-side]
                terms.append(through * ((1.0 - first) * u[at] - second * u[next_in]))
            elif wall.kind == "robin":
                terms.append(wall_terms(domain, axis, side)[0] * u[-side])
    size = sum(abs(term).sum() for term in terms) + abs(assemble(domain)).sum(axis=1).max() * (
        abs(domain.u).max() * np.sqrt(domain.u.size)
    )
    lost = abs(inside - sum(term.sum() for term in terms))
    if not lost <= 16 * EPS * size:
        raise Failure(f"the balance of A u and the walls is off by {lost:.3e}, terms {size:.3e}")


def compare(domain: Domain) -> float:
    """max|u - direct| / max|direct|; a failure if the difference exceeds what RTOL permits."""
    for axis in range(3):
        beta = inner_faces(domain, axis, domain.faces[axis])
        if not (beta > 0.0).all():
            raise Failure(f"beta is as low as {beta.min():g}")
    matrix = assemble(domain)
    check_balance(domain)
    f = (domain.f * domain.volumes).ravel()
    want, inverse = solve_directly(domain, matrix, f)
    u = domain.u.ravel()
    # A residual adds up to 16 rounded terms.
    rounding = 16 * EPS * abs(matrix).sum(axis=1).max() * max(abs(u).max(), abs(want).max())
    limit = RTOL * domain.reference + rounding
    residual = abs(f - matrix @ u).max()
    if not residual <= limit:
        raise Failure(f"max|f-Au| {residual:.3e}, limit {limit:.3e}")
    if domain.singular:
        u = u - u.mean()
    # The direct solution has a residual of rounding errors too.
    limit = inverse * (limit + rounding)
    difference, largest = abs(u - want).max(), abs(want).max()
    if not difference <= limit:
        raise Failure(f"u differs by {difference:.3e}, limit {limit:.3e}, max|u| {largest:.3e}")
    return difference / largest if largest > 0.0 else 0.0


# --- random cases ---------------------------------------------------------------------------------


def random_cells(rng: random.Random) -> list[int]:
    """1 to 14 cells per direction, with one direction of up to 60 in a quarter of the cases. Small
    sizes are frequent, since they have the most special cases."""
    n = [rng.choice((1, 2, 3, rng.randint(1, 14), rng.randint(4, 14))) for _ in range(3)]
    if rng.random() < 0.25:
        n[rng.randrange(3)] = rng.randint(15, 60)
    return n


def random_wall(rng: random.Random) -> str:
    kind = rng.choice(("dirichlet", "neumann", "dirichlet", "neumann", "robin"))
    numbers = [10 ** rng.uniform(-1.0, 1.0) for _ in range(2 if kind == "robin" else 0)]
    if rng.random() < 0.25:
        numbers.append(rng.uniform(-1.0, 1.0))
    return ":".join([kind, *(f"{number:.3g}" for number in numbers)])


def random_boundary(rng: random.Random) -> str:
    sides = [random_wall(rng) for _ in range(6)]
    for d in range(3):
        if rng.random() < 0.3:
            sides[2 * d] = sides[2 * d + 1] = "periodic"
    words = rng.choice((1, 3, 6))
    return ",".join(sides[:: 6 // words])


def random_case(rng: random.Random) -> list[str]:
    args = [
        f"--operator={rng.choice(('7pt', 'fv2'))}",
        f"--equation={rng.choice(('poisson', 'helmholtz'))}",
        f"--boundary={random_boundary(rng)}",
        "--cells={}x{}x{}".format(*random_cells(rng)),
    ]
    kind = rng.choice(("", "spacing", "lengths"))
    if kind:
        # Ratios of up to 100.
        sizes = ",".join(f"{10 ** rng.uniform(-2.0, 0.0):.4g}" for _ in range(3))
        args.append(f"--{kind}={sizes}")
    stretched = [axis for axis in "xyz" if rng.random() < 0.25]
    if stretched:
        words = (f"{axis}:tanh:{rng.uniform(0.5, 3.0):.3g}" for axis in stretched)
        args.append(f"--stretch={','.join(words)}")
    return args


def report(args: list[str], why: object, how: tuple[str, ...] = SOLVE) -> int:
    print(f"failed: hpgmg-fv {' '.join([*args, *how])}: {why}", flush=True)
    return 1


def run_random(program: str, new_case: Callable, cases: int, seed: int) -> int:
    rng = random.Random(seed)
    failures, worst, most_cycles = 0, 0.0, 0
    for _ in range(cases):
        args = new_case(rng)
        try:
            domain = solve(program, args)
            worst = max(worst, compare(domain))
            most_cycles = max(most_cycles, domain.cycles)
        except Failure as failure:
            failures += report(args, failure)
    print(
        f"{cases} cases, {failures} failures; max|u - direct| / max|direct| is {worst:.1e}, "
        f"at most {most_cycles} cycles"
    )
    return failures


# --- permutations ---------------------------------------------------------------------------------


def permute(args: list[str], order: tuple[int, int, int]) -> list[str]:
    """The options of the same problem, with axis order[d] as axis d."""
    words, widths = expand_boundary(args), expected_widths(args)
    lengths = [widths[2 - d].sum() for d in range(3)]
    cells = option(args, "cells", "").split("x")
    new = [a for a in args if a.split("=")[0] in ("--operator", "--equation")]
    new.append(f"--cells={'x'.join(cells[d] for d in order)}")
    new.append(f"--lengths={','.join(f'{lengths[d]:.17g}' for d in order)}")
    new.append(f"--boundary={','.join(words[2 * d + side] for d in order for side in (0, 1))}")
    stretched = {
        "xyz".index(word[0]): word[1:]
        for word in filter(None, option(args, "stretch", "").split(","))
    }
    axes = [f"{'xyz'[d]}{stretched[e]}" for d, e in enumerate(order) if e in stretched]
    return [*new, f"--stretch={','.join(axes)}"] if axes else new


def random_fields(rng: random.Random, args: list[str]) -> dict[str, np.ndarray]:
    """Of one half of the regular problems, f and betas in cells; of 7pt, solid cells too."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    shape = tuple(int(count) for count in option(args, "cells", "").split("x"))[::-1]
    is_helmholtz = "--equation=helmholtz" in args
    is_fixed = any(w.startswith(("dirichlet", "robin")) for w in expand_boundary(args))
    if rng.random() < 0.5 or not (is_helmholtz or is_fixed):
        return {}
    fields = {
        "beta": 10.0 ** numbers.uniform(-1.5, 1.5, shape),
        "f": numbers.uniform(-1.0, 1.0, shape),
    }
    if is_helmholtz and "--operator=7pt" in args:
        fields["mask"] = (numbers.uniform(0.0, 1.0, shape) > 0.15).astype(float)
    return fields


def solve_permuted(
    program: str, args: list[str], fields: dict[str, np.ndarray], order: tuple[int, int, int]
) -> Domain:
    """The same problem, with axis order[d] as axis d."""
    if not fields:
        return solve(program, args)
    axes = [2 - order[2 - p] for p in range(3)]
    values = {name: field.transpose(axes) for name, field in fields.items()}
    rhs = write_rhs(FILE, values.pop("f"))
    with h5py.File(COEFFICIENTS, "w") as file:
        for name, field in values.items():
            file[f"VTKHDF/CellData/{name}"] = field
    return run(program, [*args, f"--coefficients={COEFFICIENTS}", rhs], SOLVE)


def run_permuted(program: str, cases: int, seed: int) -> int:
    rng = random.Random(seed)
    failures, worst, with_fields = 0, 0.0, 0
    for _ in range(cases):
        args = random_case(rng)
        fields = random_fields(rng, args)
        with_fields += bool(fields)
        order = rng.choice(((1, 2, 0), (2, 0, 1), (1, 0, 2), (2, 1, 0), (0, 2, 1)))
        other = permute(args, order)
        try:
            first = solve_permuted(program, permute(args, (0, 1, 2)), fields, (0, 1, 2))
            second = solve_permuted(program, other, fields, order)
        except Failure as failure:
            failures += report(other, failure)
            continue
        # Solved by a Krylov method or an inverse alone, whose rounding depends on the order.
        if first.u.size <= 8 or (first.u.size <= 512 and first.cycles <= 2):
            continue
        n = min(first.cycles, second.cycles)
        # Norms are rounded to a part of the largest term of a residual.
        terms = abs(assemble(first)).sum(axis=1).max() * abs(first.u).max() + abs(first.f).max()
        difference = abs(first.norms[:n] - second.norms[:n])
        difference = (difference / (first.norms[:n] + 1e4 * EPS * terms)).max()
        worst = max(worst, difference)
        if not difference <= 0.01:
            failures += report(other, f"norms {second.norms}, in the first order {first.norms}")
    print(
        f"{cases} permuted cases, {with_fields} with betas from a file, {failures} failures; "
        f"norms differ by {worst:.1e}"
    )
    return failures


# --- the preconditioner of CG ---------------------------------------------------------------------

# One step of CG from zero. The inverse makes the cycle linear; an iteration stops at its tolerance.
STEP = ("--krylov=cg", "--cycle=v", "--bottom=direct", "--max-cycles=1", "--rtol=1e-30", *DUMP)

# Each has a coarser level, and a different pair of smoothers.
SYMMETRIC_DOMAINS = (
    "--cells=16x8x8",
    "--cells=8x16x8 --boundary=neumann,dirichlet,robin:1:2",
    "--cells=13x7x8 --boundary=dirichlet,neumann,neumann,neumann,robin:0.5:3,dirichlet",
    "--cells=6x12x5 --boundary=neumann --equation=helmholtz",
    "--cells=10x9x8 --boundary=periodic,neumann,neumann",
    "--cells=16x8x8 --lengths=1,0.5,0.5 --boundary=robin:1:0.1,neumann,periodic",
    "--cells=8x8x8 --lengths=2,1,1 --boundary=periodic,periodic,dirichlet",
    "--cells=16x8x8 --stretch=x:tanh:2 --boundary=dirichlet,neumann,robin:2:1",
    "--cells=8x8x16 --stretch=x:tanh:2,y:tanh:1.5,z:tanh:1 --boundary=neumann,robin:1:1,dirichlet",
    "--cells=10x10x10 --lengths=1,2,1 --stretch=x:tanh:2 --boundary=neumann",
)
SMOOTHERS = ("chebyshev", "jacobi", "l1jacobi", "symgs", "ssor")


def write_betas(numbers: np.random.Generator, shape: tuple[int, ...], jump: float) -> None:
    """Random betas, times `jump` in half of the blocks of 3^3 cells."""
    blocks = (np.indices(shape) // 3).sum(axis=0) % 2
    with h5py.File(COEFFICIENTS, "w") as file:
        file["VTKHDF/CellData/beta"] = 10.0 ** numbers.uniform(-0.5, 0.5, shape) * jump**blocks


def write_rhs(name: str, f: np.ndarray) -> str:
    with h5py.File(name, "w") as file:
        file["VTKHDF/CellData/f"] = f
    return f"--rhs={name}"


def asymmetry(program: str, args: list[str], rhs: list[str]) -> float:
    """For a symmetric M, (a,Mb) (b,Mc) (c,Ma) = (b,Ma) (c,Mb) (a,Mc), also with each M x times a
    factor, which the first step of CG has. The difference by (a,Ma) (b,Mb) (c,Mc)."""
    domains = [run(program, [*args, each], STEP) for each in rhs]
    f = np.array([(domain.f * domain.volumes).ravel() for domain in domains])
    products = f @ np.array([domain.u.ravel() for domain in domains]).T
    forth, back, size = (
        np.prod([products[i, (i + shift) % 3] for i in range(3)]) for shift in (1, 2, 0)
    )
    if not size > 0.0:
        raise Failure("M is not positive definite")
    return abs(forth - back) / size


def run_symmetric(program: str) -> int:
    failures, worst, least = 0, 0.0, np.inf
    for case, domain in enumerate(SYMMETRIC_DOMAINS):
        args = [*domain.split(), "--operator=7pt", f"--coefficients={COEFFICIENTS}"]
        numbers = np.random.default_rng(case)
        shape = tuple(int(n) for n in option(args, "cells", "").split("x"))[::-1]
        write_betas(numbers, shape, (1.0, 1e3)[case % 2])
        rhs = [write_rhs(f"rhs-{i}.hdf", numbers.uniform(0.0, 1.0, shape)) for i in range(3)]
        for smoother in (SMOOTHERS[case % 5], SMOOTHERS[(case + 1 + case // 5) % 5], "gsrb"):
            with_smoother = [*args, f"--smoother={smoother}"]
            try:
                found = asymmetry(program, with_smoother, rhs)
            except Failure as failure:
                failures += report([*with_smoother, rhs[0]], failure, STEP)
                continue
            if smoother == "gsrb":
                least = min(least, found)
            else:
                worst = max(worst, found)
            if not (found > 1e-8 if smoother == "gsrb" else found < 1e-13):
                why = f"the asymmetry is {found:.1e}"
                failures += report([*with_smoother, rhs[0]], why, STEP)
    print(
        f"{len(SYMMETRIC_DOMAINS)} domains, {failures} failures; asymmetry at most {worst:.1e}, "
        f"of gsrb at least {least:.1e}"
    )
    return failures


# --- betas that differ between directions ---------------------------------------------------------

# Cells, closed but for one side, widths, and betas normal to i, j, k; None: in layers across k. The
# same couplings by widths alone take as many cycles. The last case is a cube of boxes.
MOST_CYCLES = 16
DIRECTIONS = (
    ((24, 20, 16), (1, 1, 1), (1, 1, 0.1)),
    ((24, 20, 16), (1, 1, 1), (1, 1e-3, 1)),
    ((17, 20, 19), (1, 1, 1), (1e-4, 1, 1)),
    ((24, 20, 16), (1, 1, 1), (1, 1, 1e-6)),
    ((16, 16, 12), (1, 1, 10), (1, 1, 100)),
    ((9, 16, 24), (1, 1, 1), (1, 1e-2, 1e-4)),
    ((16, 15, 24), (1, 1, 1), None),
    ((16, 16, 16), None, (1, 1, 1e-2)),
)


def write_directions(numbers: np.random.Generator, n: tuple, widths: tuple, betas: tuple) -> None:
    shape = tuple(n[::-1])
    layers = 10.0 ** (4 * (np.arange(n[2]) // 3 % 2)).reshape(-1, 1, 1)
    with h5py.File(COEFFICIENTS, "w") as file:
        for name, beta in zip("ijk", betas or (1, 1, 1)):
            varies = layers if betas is None else numbers.uniform(0.9, 1.1, shape)
            file[f"VTKHDF/CellData/beta_{name}"] = beta * varies * np.ones(shape)
        for axis, count, width in zip("xyz", n, widths or ()):
            file[f"grid/{axis}"] = width * np.arange(count + 1.0)


def run_directions(program: str) -> int:
    failures, most = 0, 0
    for case, (n, widths, betas) in enumerate(DIRECTIONS):
        numbers = np.random.default_rng(case)
        words = ["neumann"] * 6
        words[case % 6] = "dirichlet"
        write_directions(numbers, n, widths, betas)
        rhs = write_rhs(FILE, numbers.uniform(0.0, 1.0, n[::-1]))
        args = ["--operator=7pt", f"--boundary={','.join(words)}"]
        args += [f"--coefficients={COEFFICIENTS}", rhs]
        try:
            domain = run(program, args, SOLVE)
            compare(domain)
            if domain.cycles > MOST_CYCLES:
                raise Failure(f"{domain.cycles} cycles")
            most = max(most, domain.cycles)
        except Failure as failure:
            failures += report(args, failure)
        pathlib.Path("case.txt").write_text(" ".join(args))
    print(f"{len(DIRECTIONS)} cases of betas by direction, {failures} failures; {most} cycles")
    return failures


# --- does the comparison notice a change? ---------------------------------------------------------


def run_changed(program: str) -> int:
    """Change the beta of one face by 0.1 %, at each wall and within the domain, and A u."""
    failures = 0
    for operator in ("7pt", "fv2"):
        args = [f"--operator={operator}", "--cells=7x6x5", "--lengths=1,0.8,0.9"]
        args += ["--stretch=y:tanh:1"]
        domain = solve(program, args)
        for axis, faces in enumerate(domain.faces):
            for layer in (0, 2, -1):
                face = [1, 1, 1]
                face[axis] = layer
                kept = faces[tuple(face)]
                faces[tuple(face)] = 1.001 * kept
                with contextlib.suppress(Failure):
                    compare(domain)
                    failures += report(args, f"a change of beta at {face} is not noticed")
                faces[tuple(face)] = kept
        compare(domain)
        domain.flux[1, 2, 3] += 1e-9 * abs(domain.flux).max()
        with contextlib.suppress(Failure):
            check_balance(domain)
            failures += report(args, "a change of A u is not noticed")
    return failures


def run_case(program: str, args: list[str]) -> int:
    try:
        print(f"max|u - direct| / max|direct| is {compare(solve(program, args)):.1e}")
    except Failure as failure:
        return report(args, failure)
    return 0


def main() -> int:
    program, what, *rest = sys.argv[1:]
    if what == "random":
        return run_random(program, random_case, int(rest[0]), int(rest[1])) > 0
    if what == "files":
        return run_random(program, case_of_files, int(rest[0]), int(rest[1])) > 0
    if what == "permuted":
        return run_permuted(program, int(rest[0]), int(rest[1])) > 0
    if what == "directions":
        return run_directions(program) > 0
    if what == "symmetric":
        return run_symmetric(program) > 0
    return (run_changed(program) if what == "changed" else run_case(program, rest)) > 0


if __name__ == "__main__":
    sys.exit(main())
