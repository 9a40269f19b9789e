#!/usr/bin/env python3
"""Write a rough problem for --coefficients and --rhs: a heated block with conducting channels.

    inputs/rough_field.py rough.hdf                 64^3 cells, beta jumps by 1e4
    inputs/rough_field.py rough.hdf --cells=96 --jump=1e6 --seed=2
    ./hpgmg-fv --coefficients=rough.hdf --rhs=rough.hdf --dump=heat.hdf

beta is the conductivity. Winding channels conduct --jump times better than the material between
them; they lie where a smooth random field is close to its mean. In addition, beta varies randomly
by a factor of up to 3 from cell to cell. The source is uniform, f = 1, and the walls are cold,
u = 0; u is the temperature. The file is VTKHDF image data, readable by ParaView;
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
    from toolkit import (
        Parser,
        integer_in,
        late_interrupts,
        need,
        number_in,
        run_main,
        say,
        write_atomically,
    )
except ModuleNotFoundError:
    print(f"rough_field.py: error: toolkit.py is missing in {SCRIPTS}", file=sys.stderr)
    sys.exit(2)

MIN_CELLS, MAX_CELLS = 16, 1024
MAX_ODD_PART = 11


def is_size(n: int) -> bool:
    """True if hpgmg-fv can solve on n^3 cells, as is_size in src/plan/plan.c."""
    odd = n // (n & -n)
    return n % MIN_CELLS == 0 and odd <= MAX_ODD_PART


def cells(text: str) -> int:
    n = integer_in(MIN_CELLS, MAX_CELLS)(text)
    if not is_size(n):
        sizes = [m for m in range(MIN_CELLS, MAX_CELLS + 1) if is_size(m)]
        below, above = max(m for m in sizes if m < n), min(m for m in sizes if m > n)
        raise argparse.ArgumentTypeError(
            f"hpgmg-fv cannot solve on {n}^3 cells: the cells per side must be a multiple of 16 "
            f"with an odd part of at most {MAX_ODD_PART}; the nearest sizes are {below} and {above}"
        )
    return n


def smooth_noise(n: int, lengths: tuple[float, float, float], random):
    """White noise of n^3 values after a Gaussian filter with lengths in z, y, x; the cube is 1."""
    np = need("numpy", "numpy")
    spectrum = np.fft.rfftn(random.standard_normal((n, n, n)))
    frequency = [np.fft.fftfreq(n, 1 / n), np.fft.fftfreq(n, 1 / n), np.fft.rfftfreq(n, 1 / n)]
    for axis, length in enumerate(lengths):
        shape = [1, 1, 1]
        shape[axis] = -1
        spectrum *= np.exp(-0.5 * (np.pi * length * frequency[axis].reshape(shape)) ** 2)
    field = np.fft.irfftn(spectrum, s=(n, n, n), axes=(0, 1, 2))
    return field / field.std()


def permeability(n: int, jump: float, random):
    """beta of every cell, [z][y][x], from 1 to 3 jump."""
    np = need("numpy", "numpy")
    # Channels are thin shells around the zero surface of the field, which winds through the cube.
    channels = np.abs(smooth_noise(n, (0.10, 0.16, 0.16), random)) < 0.25
    texture = 3.0 ** random.random((n, n, n))
    return np.where(channels, jump, 1.0) * texture


def checksums(values):
    """Checksum of each entry of the first dimension of floats or doubles, as in docs/format.md."""
    np = need("numpy", "numpy")
    u32, u64 = np.uint32, np.uint64
    stored = "<f4" if values.dtype == np.float32 and values.ndim == 3 else "<f8"
    sums = np.empty(len(values), u64)
    for k in range(len(values)):
        row = np.ascontiguousarray(values[k], stored).ravel()
        words = row.view(u32).reshape(row.size, -1)
        high = words[:, 1] if words.shape[1] == 2 else u32(0)
        index = np.arange(k * row.size, (k + 1) * row.size, dtype=u64).astype(u32)
        a = words[:, 0] + (index + u32(1)) * u32(0x9E3779B1)
        b = high + (index * u32(0x85EBCA6B) ^ u32(0x7FEB352D))
        sums[k] = (a.astype(u64) * b).sum(dtype=u64)
    return sums


def attributes_checksum(file):
    """Checksum of the attributes of /HPGMG and /VTKHDF, as in docs/format.md."""
    np = need("numpy", "numpy")
    words = b""
    for group in "HPGMG", "VTKHDF":
        for name, value in sorted(file[group].attrs.items()):
            if name in ("attributes_checksum", "complete"):
                continue
            value = np.asarray(value)
            if value.dtype.kind in "iuf":
                value = value.astype("<f8" if value.dtype.kind == "f" else "<i8").tobytes()
            elif value.dtype.kind in "SU" and value.size == 1:
                value = value.item()
            else:
                value = b""
            value = value.encode() if isinstance(value, str) else value
            for text in name.encode(), value:
                words += text + bytes(-len(text) % 8)
    return checksums(np.frombuffer(words, "<f8")[None])[0].astype(np.int64)


def add_checksums(file) -> None:
    """Add the checksums of all that hpgmg-fv reads to an open file of h5py."""
    np = need("numpy", "numpy")
    places = {
        "CellData": "VTKHDF/CellData",
        "PointData": "VTKHDF/PointData",
        "walls": "HPGMG/walls",
    }
    listed = []
    for kind, path in {**places, "grid": "grid", "boundary": "boundary"}.items():
        is_field = kind.endswith("Data")
        for name, data in file.get(path, {}).items():
            listed.append(name if is_field else f"{kind}/{name}")
            place = f"level_0/{name}" if is_field else f"{kind}/{name}"
            file[f"HPGMG/checksums/{place}"] = checksums(data if data.ndim == 3 else data[...])
    file["VTKHDF"].attrs["checksums"] = 1
    attributes = file["HPGMG"].attrs
    attributes["checksums"] = np.bytes_(" ".join(listed))
    attributes["attributes_checksum"] = attributes_checksum(file)


def write(path: str, n: int, fields: dict) -> None:
    np, h5py = need("numpy", "numpy"), need("h5py", "h5py")
    content = io.BytesIO()
    # Write to memory first, because HDF5 cannot close a file on a full disk. The format of HDF5
    # 1.10 has checksums for metadata.
    with late_interrupts(), h5py.File(content, "w", libver=("v108", "v110")) as file:
        image = file.create_group("VTKHDF")
        image.attrs["Version"] = np.array([1, 0])
        image.attrs["Type"] = np.bytes_("ImageData")
        image.attrs["WholeExtent"] = np.array([0, n, 0, n, 0, n])
        image.attrs["Origin"] = np.zeros(3)
        image.attrs["Spacing"] = np.full(3, 1 / n)
        image.attrs["Direction"] = np.eye(3).ravel()
        for name, values in fields.items():
            data = image.create_dataset(f"CellData/{name}", (n, n, n), "f8")
            for k in range(n):
                data[k] = values[k]
        add_checksums(file)
    write_atomically(path, content.getbuffer())


def main() -> int:
    parser = Parser(
        prog="rough_field.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="output file; ParaView requires suffix .hdf")
    parser.add_argument(
        "--cells",
        type=cells,
        default=64,
        metavar="N",
        help=f"cells per side, {MIN_CELLS} to {MAX_CELLS}: a multiple of 16 with an odd part of at "
        f"most {MAX_ODD_PART}; default 64",
    )
    parser.add_argument(
        "--jump",
        type=number_in(1.0, 1e12),
        default=1e4,
        metavar="X",
        help="jump of beta, 1 to 1e12; default 1e4",
    )
    parser.add_argument(
        "--seed",
        type=integer_in(0, 2**63 - 1),
        default=1,
        metavar="N",
        help="seed of the random numbers, 0 to 2^63 - 1; default 1",
    )
    args = parser.parse_args()
    n, jump = args.cells, args.jump
    np = need("numpy", "numpy")
    need("h5py", "h5py")  # fail before the computation
    beta = permeability(n, jump, np.random.default_rng(args.seed))
    write(args.file, n, {"beta": beta, "f": np.broadcast_to(1.0, beta.shape)})
    high = (beta >= jump).mean() if jump > 3 else 1.0
    extent = f"beta {beta.min():.3g} to {beta.max():.3g}, {high:.0%} high"
    say(f"{args.file}: {n}^3 cells, {extent}")
    return 0


if __name__ == "__main__":
    sys.exit(run_main("rough_field.py", main))
