# shellcheck shell=bash disable=SC2154
# mpi_operations: the properties of the operations hold on several ranks, where each rank has part of
# the grid or none, and halos are exchanged as messages. Not of those that any solve uses: mpi_bit_identical.sh,
# mpi_bit_identical_cycles.sh and mpi_bit_identical_all.sh compare solves with each operator, smoother and kind of wall,
# sums and norms with one rank, where the properties are tested.
set -eu
. "$abs_top_srcdir/tests/lib/run_mpi.sh"
# Threads and the guard backend are covered by the same tests on one rank.
FIXTURE_BACKEND=cpu OMP_THREAD_LIMIT=1
export FIXTURE_BACKEND FIXTURE_OPTIONS OMP_THREAD_LIMIT

# run RANKS PROGRAM...: run each test program on RANKS ranks.
run() {
  ranks=$1
  shift
  for program; do
    echo "$program on $ranks ranks"
    mpi_run "$ranks" "$abs_top_builddir/tests/${program%%_*}/$program"
  done
}

# Without agglomeration: every rank keeps its boxes on coarse levels.
FIXTURE_OPTIONS=--agglomerate-below=0
run 3 op_shape op_transfer unit_messages
mpi_run 4 "$abs_top_builddir/tests/op/op_cpu_passes" 3
# With agglomeration of coarse levels.
FIXTURE_OPTIONS=
run 2 api_process
run 3 api_directions api_errors api_memory api_sides api_solve
run 5 cycle_groups cycle_shape op_transfer unit_agglomeration unit_gpu_cutoff unit_messages
# Fused sweeps, which need several ghost layers.
FIXTURE_BACKEND=guard
run 3 op_fused_interpolation op_fused_sweeps
run 5 op_one_exchange parity_overlap
FIXTURE_OPTIONS=--agglomerate-below=0
# With neighbors in all directions.
run 8 op_one_exchange
FIXTURE_OPTIONS=
# Ranks sharing a device.
if have_cuda; then
  FIXTURE_BACKEND=cuda
  run 3 op_fused_interpolation op_fused_sweeps op_one_exchange op_smoother op_transfer parity_fused
  run 2 parity_overlap
fi
