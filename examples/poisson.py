"""Solve -div(grad u) = 1 in the unit cube, with u = 0 on its sides, on 64^3 cells.

pip install ./python
python3 examples/poisson.py
"""

import sys

import hpgmg

try:
    with hpgmg.Solver((64, 64, 64), "--rtol=1e-10") as solver:
        result = solver.solve(1.0)
except hpgmg.Error as error:
    sys.exit(f"poisson: {error}")
print(
    f"u next to the middle: {result.u[32, 32, 32]:.10f} after {result.cycles} cycles, "
    f"residual {result.residual:.1e}"
)
