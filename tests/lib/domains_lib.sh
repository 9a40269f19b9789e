# shellcheck shell=bash disable=SC2154
# Functions for tests of solutions on domains of any shape, in addition to tests/lib/cli_lib.sh. Source this file. They
# run in $dir, also with the guard backend. Skips without HDF5, numpy, scipy or h5py.
#
#   check SCRIPT ARG...          run a script of tests/cycle with the program and ARGs
#   digits RANKS ARG...          solve the case whose options case.txt has, and print the norms of all cycles
#   same_digits OPTIONS WAY...   solves with OPTIONS on one rank of the CPU and in each WAY ("2 --device=guard") must
#                                have the same norms
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-guard
cpu_only
need_feature HDF5
need_modules numpy scipy h5py
cd "$dir"

check() {
  local script=$1
  shift
  checks=$((checks + 1))
  solo "$PYTHON" "$abs_top_srcdir/tests/cycle/$script.py" "$HPGMG_FV" "$@" || complain "$script $*"
}

digits() {
  local ranks=$1
  shift
  # shellcheck disable=SC2046 # words
  ok "$ranks" $(cat case.txt) --rtol=1e-10 "$@"
  sed -n '/^FOM/!s/.*cycle/cycle/p' "$dir/out"
}

# shellcheck disable=SC2086 # words
same_digits() {
  local options=$1 way want got
  shift
  have_mpi || return 0
  want=$(digits 1 --device=cpu $options)
  for way; do
    checks=$((checks + 1))
    got=$(digits $way $options)
    test "$got" = "$want" || complain "$(cat case.txt) on $way: $got, not $want"
  done
}
