"""Draw the plane that porous.c writes: its permeability, pressure and streamlines.

usage: porous_picture.py FILE PICTURE
"""

import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import LogNorm  # noqa: E402

if len(sys.argv) != 3:
    sys.exit(__doc__)
i, k, permeability, pressure = np.loadtxt(sys.argv[1], unpack=True)
n_x, n_z = int(i.max()) + 1, int(k.max()) + 1
permeability, pressure = permeability.reshape(n_z, n_x), pressure.reshape(n_z, n_x)
h = 1.0 / n_z


def flow(axis):
    """Velocity in cell centers: the mean over both faces, which have the harmonic mean of K."""
    low, high = np.delete(permeability, -1, axis), np.delete(permeability, 0, axis)
    faces = -2.0 * low * high / (low + high) * np.diff(pressure, axis=axis) / h
    pad = [(1, 1) if d == axis else (0, 0) for d in range(2)]
    # Half a cell from the sides of the block the outermost faces do well enough for a picture.
    faces = np.pad(faces, pad, "edge" if axis == 1 else "constant")
    return 0.5 * (np.delete(faces, -1, axis) + np.delete(faces, 0, axis))


x, z = (np.arange(n_x) + 0.5) * h, (np.arange(n_z) + 0.5) * h
fig, ax = plt.subplots(figsize=(7.0, 3.4), dpi=72, layout="constrained")
rock = ax.pcolormesh(x, z, permeability, norm=LogNorm(), cmap="YlOrBr_r", rasterized=True)
lines = ax.contour(x, z, pressure, np.arange(0.1, 1.0, 0.1), colors="black", linewidths=0.8)
ax.clabel(lines, fontsize=8)
ax.streamplot(x, z, flow(1), flow(0), color="tab:blue", linewidth=0.8, density=0.6, arrowsize=0.7)
fig.colorbar(rock, label="K")
ax.set(xlabel="x", ylabel="z", aspect="equal", xlim=(0.0, 2.0), ylim=(0.0, 1.0))
ax.set_title("Pressure (black) and flow (blue) through sand with clay lenses")
fig.savefig(sys.argv[2])
