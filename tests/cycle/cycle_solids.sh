# shellcheck shell=bash disable=SC2154
# cycle_solids: closed faces, solid cells and cells of a given u. SciPy's direct solver gets the same u in the solved
# cells. CASES random problems (default 150), selected by SEED; spheres, plates, ridges and random blocks in
# few cycles; the same digits on any ranks and the guard backend. Runs $PYTHON; skips without HDF5, numpy, scipy or h5py.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-guard
cpu_only
need_feature HDF5
need_modules numpy scipy h5py
export PYTHONDONTWRITEBYTECODE=1
cd "$dir"

check() {
  checks=$((checks + 1))
  solo "$PYTHON" "$abs_top_srcdir/tests/cycle/cycle_solids.py" "$HPGMG_FV" "$@" || complain "cycle_solids $*"
}

# The last case: norms on several ranks, on the guard backend and in mixed precision.
digits() {
  local ranks=$1
  shift
  # shellcheck disable=SC2046 # words
  ok "$ranks" $(cat case.txt) --rtol=1e-10 "$@"
  sed -n '/^FOM/!s/.*cycle/cycle/p' "$dir/out"
}
same_digits() {
  local how want got
  have_mpi || return 0
  want=$(digits 1 --device=cpu)
  for how in '1 --device=guard' '2 --device=cpu' '3 --device=guard --agglomerate-below=0' '4 --device=cpu --agglomerate-below=0'; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086 # words
    got=$(digits $how)
    test "$got" = "$want" || complain "$(cat case.txt) on $how: $got, not $want"
  done
  digits 1 --precision=mixed >mixed.txt
}

check random "${CASES:-150}" "${SEED:-37}"
check shapes 20
same_digits
check shapes 16
same_digits

check changed
same_digits

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
