#!/usr/bin/env python3
"""A rough problem for --coefficients and --rhs: a heated block with conducting channels.

    inputs/rough_field.py rough.hdf                 64^3 cells, beta jumps by 1e4
    inputs/rough_field.py rough.hdf --cells=96 --jump=1e6 --seed=2
    ./hpgmg-fv --coefficients=rough.hdf --rhs=rough.hdf --dump=heat.hdf

beta is the conductivity. Winding channels, where a smooth random field is near its middle value,
conduct --jump times as well as what is between them, and both vary by another factor of up to 3
from cell to cell. Heat is made evenly, f = 1, and leaves through the walls, u = 0; u is the
temperature. The file is VTKHDF image data, which ParaView shows; docs/own-problem.md has pictures.

Needs numpy and h5py: apt-get install python3-h5py, or pip install h5py.
"""

import argparse
import sys

try:
    import h5py
    import numpy as np
except ImportError as error:
    print(
        f"rough_field.py: error: no Python module {error.name}; apt-get install python3-h5py, "
        "or pip install h5py",
        file=sys.stderr,
    )
    sys.exit(2)


def smooth_noise(n: int, lengths: tuple[float, float, float], random) -> np.ndarray:
    """White noise of n^3 values through a Gaussian filter; lengths in z, y, x, the cube is 1."""
    spectrum = np.fft.rfftn(random.standard_normal((n, n, n)))
    frequency = [np.fft.fftfreq(n, 1 / n), np.fft.fftfreq(n, 1 / n), np.fft.rfftfreq(n, 1 / n)]
    for axis, length in enumerate(lengths):
        shape = [1, 1, 1]
        shape[axis] = -1
        spectrum *= np.exp(-0.5 * (np.pi * length * frequency[axis].reshape(shape)) ** 2)
    field = np.fft.irfftn(spectrum, s=(n, n, n), axes=(0, 1, 2))
    return field / field.std()


def permeability(n: int, jump: float, random) -> np.ndarray:
    """beta of every cell, [z][y][x], from 1 to 3 jump."""
    # The surface of a field's middle value winds through the whole cube: thin shells about it.
    channels = np.abs(smooth_noise(n, (0.10, 0.16, 0.16), random)) < 0.25
    texture = 3.0 ** random.random((n, n, n))
    return np.where(channels, jump, 1.0) * texture


def write(path: str, fields: dict[str, np.ndarray]) -> None:
    n = len(next(iter(fields.values())))
    # The format of HDF5 1.10, which has checksums for what describes the fields.
    with h5py.File(path, "w", libver=("v108", "v110")) as file:
        image = file.create_group("VTKHDF")
        image.attrs["Version"] = np.array([1, 0])
        image.attrs["Type"] = np.bytes_("ImageData")
        image.attrs["WholeExtent"] = np.array([0, n, 0, n, 0, n])
        image.attrs["Origin"] = np.zeros(3)
        image.attrs["Spacing"] = np.full(3, 1 / n)
        image.attrs["Direction"] = np.eye(3).ravel()
        for name, values in fields.items():
            image.create_dataset(f"CellData/{name}", data=values)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", help="to be written; ParaView wants the ending .hdf")
    parser.add_argument("--cells", type=int, default=64, metavar="N", help="a side; 64")
    parser.add_argument("--jump", type=float, default=1e4, help="of beta; 1e4")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers; 1")
    arguments = parser.parse_args()
    n, jump = arguments.cells, arguments.jump
    if not 16 <= n <= 1024:
        parser.error(f"--cells={n}: from 16 to 1024 cells a side")
    if not 1 <= jump <= 1e12:
        parser.error(f"--jump={jump:g}: from 1 to 1e12")
    if not 0 <= arguments.seed < 2**63:
        parser.error(f"--seed={arguments.seed}: from 0 to 2^63 - 1")
    random = np.random.default_rng(arguments.seed)
    beta = permeability(n, jump, random)
    try:
        write(arguments.file, {"beta": beta, "f": np.ones((n, n, n))})
    except OSError as error:
        print(f"rough_field.py: error: {arguments.file}: {error}", file=sys.stderr)
        return 3
    high = (beta >= jump).mean() if jump > 3 else 1.0
    extent = f"beta {beta.min():.3g} to {beta.max():.3g}, {high:.0%} high"
    print(f"{arguments.file}: {n}^3 cells, {extent}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
