"""Several ranks with a communicator of mpi4py get the u of one rank, to the bit."""

import warnings

import hpgmg
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
words = "--operator=7pt --rtol=1e-9 --device=cpu"
f = np.random.default_rng(3).random((12, 16, 20))
low, high = (12 * (comm.rank + end) // comm.size for end in (0, 1))
with hpgmg.Solver(
    f.shape[::-1], words, boxes=((0, 0, low), (20, 16, high - low)), comm=comm
) as solver:
    u = solver.solve(f[low:high]).u
with hpgmg.Solver(f.shape[::-1], words) as solver:
    assert (solver.solve(f).u[low:high] == u).all(), comm.rank

# A destructor cannot free what is collective.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    solver = hpgmg.Solver((8, 8, 8), boxes=[((0, 0, 0), (8, 8, 8))][comm.rank :], comm=comm)
    handle = solver._handle
    del solver
    assert handle and [w.category for w in caught] == [ResourceWarning], caught
