#!/usr/bin/env python3
"""Write one of three problems on domains that are no cube, for --coefficients and --rhs.

    inputs/domains.py reservoir reservoir.hdf       layered rock of 60 x 220 x 85 cells, with wells
    ./hpgmg-fv --coefficients=reservoir.hdf --rhs=reservoir.hdf --boundary=neumann --dump=p.hdf

    inputs/domains.py channel channel.hdf           96 x 48 x 64 cells, narrow at the walls in z
    ./hpgmg-fv --coefficients=channel.hdf --rhs=channel.hdf --boundary=periodic,periodic,neumann

    inputs/domains.py plate plate.hdf               128 x 96 x 12 cells, heated below, cooled above
    ./hpgmg-fv --coefficients=plate.hdf --rhs=plate.hdf \\
        --boundary=neumann,neumann,neumann,neumann,neumann,robin:2:1

reservoir: u is the pressure, beta the permeability. Layers of different rock, with channels in the
lower ones; beta spans a factor of 1e6. A well in the middle injects what four in the corners
produce, and no flow passes the walls. channel: u is the pressure that makes a flow between two
plates free of divergence, f. plate: u is the temperature above that of the air; a hot strip below
heats the plate by a flux, which is /boundary/z_low in the file, and air cools its upper side.
docs/own-problem.md has pictures.

Needs numpy and h5py: apt-get install python3-h5py, or pip install h5py. Exit codes: 0 done,
2 invalid option or missing module, 3 file cannot be written, 4 out of memory.
"""

from __future__ import annotations

import argparse
import io
import os
import sys

# Write no __pycache__ into the source tree.
sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.realpath(__file__))
SCRIPTS = os.path.join(os.path.dirname(HERE), "scripts")
sys.path.insert(0, SCRIPTS)
try:
    from rough_field import add_checksums
    from toolkit import Parser, late_interrupts, need, run_main, say, write_atomically
except ModuleNotFoundError:
    print(f"domains.py: error: toolkit.py is missing in {SCRIPTS}", file=sys.stderr)
    sys.exit(2)


def smooth_noise(shape, lengths, random):
    """White noise after a Gaussian filter with lengths in cells, [z][y][x]; periodic."""
    np = need("numpy", "numpy")
    spectrum = np.fft.rfftn(random.standard_normal(shape))
    for axis, (n, length) in enumerate(zip(shape, lengths)):
        frequency = np.fft.rfftfreq(n) if axis == 2 else np.fft.fftfreq(n)
        wide = [1, 1, 1]
        wide[axis] = -1
        spectrum *= np.exp(-0.5 * (2.0 * np.pi * length * frequency.reshape(wide)) ** 2)
    noise = np.fft.irfftn(spectrum, s=shape, axes=(0, 1, 2))
    return noise / noise.std()


def reservoir():
    np = need("numpy", "numpy")
    random = np.random.default_rng(1)
    shape = (85, 220, 60)
    layers = random.standard_normal((shape[0], 1, 1))
    rock = smooth_noise(shape, (2, 10, 5), random) + 0.5 * layers
    channels = np.abs(smooth_noise(shape, (2, 25, 3), random)) < 0.35
    channels = np.where(channels, 2.0, -1.5) + 0.5 * smooth_noise(shape, (1, 2, 1), random)
    lower = np.arange(shape[0])[:, None, None] < 50
    beta = 10.0 ** np.where(lower, channels, rock).clip(-3.0, 3.0)
    f = np.zeros(shape)
    f[:, 110, 30] = 1.0
    for j in (2, 217):
        for i in (2, 57):
            f[:, j, i] = -0.25
    return {"beta": beta, "f": f}, {"Spacing": [20.0, 10.0, 2.0]}, {}


def channel():
    np = need("numpy", "numpy")
    nx, ny, nz = 96, 48, 64
    s = np.linspace(-1.0, 1.0, nz + 1)
    z = 1.0 + np.tanh(2.5 * s) / np.tanh(2.5)
    grid = {"x": np.linspace(0.0, 4.0, nx + 1), "y": np.linspace(0.0, 2.0, ny + 1), "z": z}
    # Fluxes through the faces of a velocity with a wave in x and y. Their sum over the domain is 0.
    centers = {axis: 0.5 * (face[1:] + face[:-1]) for axis, face in grid.items()}
    across = np.sin(np.pi * grid["z"]) * (2.0 - grid["z"])
    waves = np.cos(np.pi * centers["x"]) * np.cos(2.0 * np.pi * centers["y"])[:, None]
    f = np.einsum("k,ji->kji", np.diff(across) / np.diff(grid["z"]), waves)
    return {"beta": np.ones_like(f), "f": f}, {}, {f"grid/{axis}": grid[axis] for axis in "xyz"}


def plate():
    np = need("numpy", "numpy")
    nx, ny, nz = 128, 96, 12
    x, y = (np.arange(nx) + 0.5) / nx, (np.arange(ny) + 0.5) / ny
    strip = (np.abs(x - 0.5) < 0.05) & (np.abs(y[:, None] - 0.5) < 0.3)
    # The plate conducts better around a circle.
    ring = np.abs(np.hypot(4.0 * (x - 0.5), 3.0 * (y[:, None] - 0.5)) - 1.0) < 0.1
    beta = np.broadcast_to(np.where(ring, 10.0, 1.0), (nz, ny, nx))
    spacing = {"Spacing": [4.0 / nx, 3.0 / ny, 0.2 / nz]}
    heat = {"boundary/z_low": np.where(strip, 1.0, 0.0)}
    return {"beta": beta, "f": np.zeros((nz, ny, nx))}, spacing, heat


def write(path: str, cells: dict, attributes: dict, others: dict) -> None:
    h5py = need("h5py", "h5py")
    content = io.BytesIO()
    # Write to memory first, because HDF5 cannot close a file on a full disk.
    with late_interrupts(), h5py.File(content, "w", libver=("v108", "v110")) as file:
        for name, values in cells.items():
            file[f"VTKHDF/CellData/{name}"] = values
        for name, value in attributes.items():
            file["VTKHDF"].attrs[name] = value
        for name, values in others.items():
            file[name] = values
        add_checksums(file)
    write_atomically(path, content.getbuffer())


def main() -> int:
    problems = {"reservoir": reservoir, "channel": channel, "plate": plate}
    parser = Parser(
        prog="domains.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("problem", metavar="PROBLEM", choices=problems, help=", ".join(problems))
    parser.add_argument("file", metavar="FILE", help="output file")
    args = parser.parse_args()
    need("h5py", "h5py")  # fail before the computation
    cells, attributes, others = problems[args.problem]()
    write(args.file, cells, attributes, others)
    beta = cells["beta"]
    size = " x ".join(str(n) for n in reversed(beta.shape))
    say(f"{args.file}: {size} cells, beta {beta.min():.3g} to {beta.max():.3g}")
    return 0


if __name__ == "__main__":
    sys.exit(run_main("domains.py", main))
