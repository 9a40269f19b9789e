# shellcheck shell=bash disable=SC2154
# cycle_solids: closed faces, solid cells and cells of a given u. SciPy's direct solver gets the same u in the solved
# cells. CASES random problems (default 150), selected by SEED; spheres, plates, ridges and random blocks in
# few cycles; the same digits on any ranks and the guard backend. Runs $PYTHON; skips without HDF5, numpy, scipy or h5py.
. "$abs_top_srcdir/tests/lib/domains_lib.sh"

# The last case, on several ranks, on the guard backend and in mixed precision.
last_case() {
  same_digits '' '1 --device=guard' '2 --device=cpu' '3 --device=guard --agglomerate-below=0' \
    '4 --device=cpu --agglomerate-below=0'
  digits 1 --precision=mixed
}

check cycle_solids random "${CASES:-150}" "${SEED:-37}"
check cycle_solids shapes 20
last_case
check cycle_solids shapes 16
last_case

check cycle_solids changed
last_case

# bad CODE PATTERN NUMPY...: the program refuses a file with these fields.
bad() {
  local code=$1 pattern=$2 fields=$3
  shift 3
  solo "$PYTHON" -c "
import h5py, numpy as np
with h5py.File('bad.hdf', 'w') as file:
    cells = file.create_group('VTKHDF/CellData')
    cells['f'] = np.ones((4, 4, 4))
    mask = np.ones((4, 4, 4))
    $fields"
  expect "$code" "$pattern" 1 --coefficients=bad.hdf --rhs=bad.hdf "$@"
}
bad 3 'mask has 3 in plane 1, at \[1\]\[2\]\[0\]; it must be 0 .solid., 1 .solved. or 2' \
  'mask[1, 2, 0] = 3; cells["mask"] = mask'
bad 3 'mask has cells whose u is given .2., but --rhs=bad.hdf has no u' 'mask[0] = 2; cells["mask"] = mask'
bad 2 'bad.hdf has mask, which requires --operator=7pt' 'mask[0] = 0; cells["mask"] = mask' --operator=fv2
bad 3 'beta has 0 in plane 2.*from 1e-60 to 1e60' 'mask[2, 1, 1] = 0; cells["beta"] = mask' --operator=fv2
bad 3 'beta has -1 in plane 2.*0 or from 1e-60 to 1e60' 'mask[2, 1, 1] = -1; cells["beta"] = mask'
bad 3 'u has nan in plane 0, at \[0\]\[0\]\[1\]; it must be finite' \
  'mask[0] = 2; cells["mask"] = mask; cells["u"] = np.where(np.indices(mask.shape)[2] == 1, np.nan, 1)'
finish
