# mpi_operations: the properties of the operations hold on several ranks, where patches are pieces
# of the grid, some ranks have none, and halos travel as messages.
set -eu
. "$abs_top_srcdir/tests/run_mpi.sh"
FIXTURE_BACKEND=cpu FIXTURE_OPTIONS=--agglomerate-below=0
export FIXTURE_BACKEND FIXTURE_OPTIONS
for ranks in 3 5; do
  for program in op_algebra op_transfer op_walls; do
    echo "$program on $ranks ranks"
    mpi_run "$ranks" "$abs_top_builddir/tests/$program"
  done
done
