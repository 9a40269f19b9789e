"""Flow in a square cavity below a moving lid, at Re = 100, until it is steady.

    pip install ./python
    python3 examples/cavity.py
    python3 examples/cavity.py --n=64 --picture=cavity.png
    python3 examples/cavity.py --n=256 --cupy

du/dt + div(u u) = -grad p + div(grad u) / Re and div u = 0, with central differences on a staggered
grid (Harlow and Welch 1965) of N x N x 1 cells, whose third axis is periodic. A step adds advection
and diffusion, and then projects the velocity (Chorin 1968): p solves div(grad p) = div u / dt with
no flux through the sides; then u - dt grad p has no divergence. The library solves for p. It starts
from the p of the step before, and needs fewer cycles the less the flow changes.

The velocities on both center lines are printed beside those of U. Ghia, K. N. Ghia and C. T. Shin,
High-Re solutions for incompressible flow using the Navier-Stokes equations and a multigrid method,
Journal of Computational Physics 48 (1982), 387-411. Theirs are not the limit of fine grids: v
differs by up to 0.008. So the extreme velocities are compared with those of a spectral method,
which converge with N^2: O. Botella and R. Peyret, Benchmark spectral results on the lid-driven
cavity flow, Computers & Fluids 27 (1998), 421-433.
"""

import argparse
import sys

import hpgmg
import numpy as np

RE = 100.0  # the lid has the speed 1, and the cavity the width 1
RTOL = 1e-8
STEADY = 1e-5  # largest du/dt at the end
MAX_TIME = 50.0
# Ghia et al., tables I and II: places on the center lines, as grid points of 129, and velocities.
GHIA_Y = np.array([1, 8, 9, 10, 14, 23, 37, 59, 65, 80, 95, 110, 123, 124, 125, 126, 129])
GHIA_X = np.array([1, 9, 10, 11, 13, 21, 30, 31, 65, 104, 111, 117, 122, 123, 124, 125, 129])
GHIA_U = (
    "0 -0.03717 -0.04192 -0.04775 -0.06434 -0.10150 -0.15662 -0.21090 -0.20581 -0.13641 0.00332 "
    "0.23151 0.68717 0.73722 0.78871 0.84123 1"
)
GHIA_V = (
    "0 0.09233 0.10091 0.10890 0.12317 0.16077 0.17507 0.17527 0.05454 -0.24533 -0.22445 -0.16914 "
    "-0.10313 -0.08864 -0.07391 -0.05906 0"
)
GHIA = {
    "u": ("y", (GHIA_Y - 1) / 128.0, np.array(GHIA_U.split(), float)),
    "v": ("x", (GHIA_X - 1) / 128.0, np.array(GHIA_V.split(), float)),
}
# Botella and Peyret: the smallest u, the largest and the smallest v on the center lines.
EXTREMA = {"smallest u": -0.2140424, "largest v": 0.1795728, "smallest v": -0.2538030}


class Cavity:
    """u[j, i] is on the face left of cell [j, i], v[j, i] on the face below it, p in cells. u and v
    also have the faces on the right and upper side. Arrays are those of xp, NumPy or CuPy."""

    def __init__(self, n, xp):
        self.xp, self.h = xp, 1.0 / n
        self.u, self.v = xp.zeros((n, n + 1)), xp.zeros((n + 1, n))
        self.p = xp.zeros((n, n))
        # Limits of explicit Euler steps with central differences: diffusion, then advection.
        self.dt = 0.8 * min(0.25 * RE * self.h**2, 2.0 / RE)

    def divergence(self):
        return (self.xp.diff(self.u, axis=1) + self.xp.diff(self.v, axis=0)) / self.h

    def advect_and_diffuse(self):
        """The velocity on faces in the sides stays 0."""
        xp, h, u, v = self.xp, self.h, self.u, self.v
        # A ghost beyond a side makes the mean with its neighbor the velocity of the side.
        u_ghost = xp.concatenate([-u[:1], u, 2.0 - u[-1:]], axis=0)
        v_ghost = xp.concatenate([-v[:, :1], v, -v[:, -1:]], axis=1)
        # u u and v v in cells, u v on the edges between them.
        uu, vv = (0.5 * (u[:, 1:] + u[:, :-1])) ** 2, (0.5 * (v[1:] + v[:-1])) ** 2
        uv = 0.25 * (u_ghost[1:] + u_ghost[:-1]) * (v_ghost[:, 1:] + v_ghost[:, :-1])
        laplace_u = xp.diff(u, 2, axis=1) + xp.diff(u_ghost, 2, axis=0)[:, 1:-1]
        laplace_v = xp.diff(v, 2, axis=0) + xp.diff(v_ghost, 2, axis=1)[1:-1]
        du = laplace_u / (RE * h**2) - (xp.diff(uu, axis=1) + xp.diff(uv, axis=0)[:, 1:-1]) / h
        dv = laplace_v / (RE * h**2) - (xp.diff(vv, axis=0) + xp.diff(uv, axis=1)[1:-1]) / h
        u[:, 1:-1] += self.dt * du
        v[1:-1] += self.dt * dv

    def project(self, solver):
        """Solve for the pressure, and subtract its gradient from the velocity."""
        # The library solves -div(grad p) = f, on arrays [k, j, i].
        result = solver.solve(-self.divergence()[None] / self.dt, self.p[None])
        self.u[:, 1:-1] -= self.dt / self.h * self.xp.diff(self.p, axis=1)
        self.v[1:-1] -= self.dt / self.h * self.xp.diff(self.p, axis=0)
        return result

    def step(self, solver):
        """Returns the result of the solve, the largest du/dt, and the largest |div u| before and
        after the projection."""
        u_old, v_old = self.u.copy(), self.v.copy()
        self.advect_and_diffuse()
        before = abs(self.divergence()).max()
        result = self.project(solver)
        change = max(abs(self.u - u_old).max(), abs(self.v - v_old).max()) / self.dt
        return result, float(change), float(before), float(abs(self.divergence()).max())

    def center_lines(self):
        """Positions of cells and of both sides, u on the vertical line, v on the horizontal one."""
        n = len(self.p)
        at = np.concatenate([[0.0], (np.arange(n) + 0.5) / n, [1.0]])
        u, v = self.u[:, n // 2].tolist(), self.v[n // 2].tolist()
        return at, np.array([0.0, *u, 1.0]), np.array([0.0, *v, 0.0])


def largest(x):
    """Maximum of the parabola through the largest of equidistant values and its neighbors."""
    i = int(np.argmax(x))
    return x[i] + (x[i + 1] - x[i - 1]) ** 2 / (8.0 * (2.0 * x[i] - x[i + 1] - x[i - 1]))


def compare(at, u, v):
    """Print the velocities beside the published ones. Returns the largest differences from both."""
    ours = -largest(-u[1:-1]), largest(v[1:-1]), -largest(-v[1:-1])
    differences = []
    for (name, (axis, places, published)), line in zip(GHIA.items(), (u, v)):
        computed = np.interp(places, at, line)
        print(f"       {axis}         {name}  Ghia et al.")
        for row in zip(places, computed, published):
            print("  {:.4f}  {:8.5f}  {:8.5f}".format(*row))
        differences.append(np.abs(computed - published).max())
    for (name, published), value in zip(EXTREMA.items(), ours):
        print(f"  {name}  {value:8.5f}  Botella and Peyret {published:8.5f}")
    return max(differences), max(abs(a - b) for a, b in zip(ours, EXTREMA.values()))


def draw(flow, lines, path):
    """Streamlines, and the velocities on the center lines with Ghia's."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    at, u_line, v_line = lines
    # Velocities in cell centers.
    u, v = np.array(flow.u.tolist()), np.array(flow.v.tolist())
    u, v = 0.5 * (u[:, 1:] + u[:, :-1]), 0.5 * (v[1:] + v[:-1])
    fig, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.7), dpi=72, layout="constrained")
    left.streamplot(at[1:-1], at[1:-1], u, v, density=0.8, linewidth=0.8)
    left.set(xlabel="x", ylabel="y", aspect="equal", xlim=(0, 1), ylim=(0, 1), title="Streamlines")
    for (name, (axis, places, published)), line in zip(GHIA.items(), (u_line, v_line)):
        (curve,) = right.plot(at, line, label=f"{name}({axis})")
        right.plot(places, published, "o", color=curve.get_color(), markersize=4)
    right.set(xlabel="y or x", title="Center lines; dots: Ghia et al.")
    right.legend()
    fig.savefig(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=32, help="cells per side, even (default: 32)")
    parser.add_argument("--cupy", action="store_true", help="keep all arrays on the GPU")
    parser.add_argument("--picture", metavar="FILE", help="draw streamlines and center lines")
    args = parser.parse_args()
    if args.n < 8 or args.n % 2:
        parser.error("--n must be even and at least 8")
    if args.cupy:
        import cupy as xp
    else:
        xp = np

    flow = Cavity(args.n, xp)
    words = f"--lengths=1,1,{flow.h} --boundary=neumann,neumann,periodic --rtol={RTOL}"
    words += f" --device={'cuda' if args.cupy else 'auto'}"
    steps, cycles, change = 0, 0, np.inf
    with hpgmg.Solver((args.n, args.n, 1), words, guess=True) as solver:
        while change > STEADY and steps * flow.dt < MAX_TIME:
            result, change, before, after = flow.step(solver)
            steps += 1
            cycles += result.cycles
            if steps in (1, 10, 100) or steps % 1000 == 0 or change <= STEADY:
                print(f"step {steps:5}  largest du/dt {change:.1e}  cycles {result.cycles}")
    lines = flow.center_lines()
    ghia, spectral = compare(*lines)
    print(f"{steps} steps, {cycles / steps:.1f} cycles per step")
    print(f"largest |div u| {after:.1e}, before the projection {before:.1e}")
    print(f"largest difference from Ghia et al. {ghia:.5f}, of an extremum {spectral:.5f}")
    if args.picture:
        draw(flow, lines, args.picture)
    if change > STEADY:
        sys.exit("cavity: the flow is not steady")
    # f is div u / dt before the projection, the residual div u / dt after it, but for round-off.
    if after > 1.01 * RTOL * before:
        sys.exit("cavity: the projected velocity has a divergence")


if __name__ == "__main__":
    try:
        main()
    except (hpgmg.Error, ImportError, OSError) as error:
        sys.exit(f"cavity: {error}")
