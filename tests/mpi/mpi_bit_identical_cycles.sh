# shellcheck shell=bash disable=SC2154
# mpi_bit_identical_cycles: solution and norms of a solve are bit-identical on any number of ranks, for
# every operator, boundary and smoother, with 8 and 27 boxes, with and without agglomeration.
set -eu
. "$abs_top_srcdir/tests/lib/run_mpi.sh"
cpu_only
own_folder
program=$abs_top_builddir/tests/parity/parity_solve
OMP_THREAD_LIMIT=1
export OMP_THREAD_LIMIT FIXTURE_OPTIONS

mpi_run 1 "$program" print >"$dir/alone"
test "$(wc -l <"$dir/alone")" -ge 40

# compare CELLS RANKS...: compare each number of ranks with one rank, with --agglomerate-below=CELLS.
compare() {
  FIXTURE_OPTIONS=--agglomerate-below=$1
  shift
  for ranks; do
    mpi_run "$ranks" "$program" print >"$dir/shared"
    if ! cmp "$dir/alone" "$dir/shared"; then
      diff "$dir/alone" "$dir/shared" | head -20
      echo "$ranks ranks, $FIXTURE_OPTIONS: results differ from one rank"
      exit 1
    fi
    echo "$ranks ranks, $FIXTURE_OPTIONS: bit-identical"
  done
}
compare 0 3
compare 512 12
