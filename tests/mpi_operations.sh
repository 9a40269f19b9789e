# shellcheck shell=bash disable=SC2154
# mpi_operations: the properties of the operations hold on several ranks, where patches are pieces
# of the grid, some ranks have none, and halos travel as messages.
set -eu
. "$abs_top_srcdir/tests/run_mpi.sh"
# Threads have their turn in the tests themselves; the guard sees no more here than alone.
FIXTURE_BACKEND=cpu OMP_THREAD_LIMIT=1
export FIXTURE_BACKEND FIXTURE_OPTIONS OMP_THREAD_LIMIT

# run RANKS PROGRAM...
run() {
  ranks=$1
  shift
  for program; do
    echo "$program on $ranks ranks"
    mpi_run "$ranks" "$abs_top_builddir/tests/$program"
  done
}

# Every rank keeps its boxes on coarse levels as long as there are any.
FIXTURE_OPTIONS=--agglomerate-below=0
run 3 op_algebra op_diagonal op_smoother op_transfer op_truncation op_vectors op_walls parity_fused \
  unit_messages
# Coarse levels gather onto fewer ranks.
FIXTURE_OPTIONS=
run 5 op_transfer op_walls parity_fused unit_crossover unit_messages
# Passes of several steps, whose ghosts come in several layers.
FIXTURE_BACKEND=guard
run 3 op_passes
FIXTURE_OPTIONS=--agglomerate-below=0
run 8 op_passes
FIXTURE_OPTIONS=
# Ranks that share a device.
if have_cuda; then
  FIXTURE_BACKEND=cuda
  run 3 op_passes op_smoother op_transfer parity_fused
fi
