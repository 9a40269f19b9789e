# shellcheck shell=bash disable=SC2154
# fault_memory: one allocation fails on one rank (tests/mocks/failing_malloc.c). For any allocation, all ranks exit with
# code 4 without a hang, and one error line names what could not be allocated.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
export OMP_NUM_THREADS=1
program=$abs_top_builddir/tests/mocks/hpgmg-fv-failing-malloc

# run_failing RANKS ARG...: run the program; FAIL_* in the environment select the allocation. The limit ends a hang.
limit=1800 # seconds
run_failing() {
  local ranks=$1
  shift
  rc=0
  if test "$ranks" -eq 1; then
    solo timeout "$limit" "$program" --device=cpu "$@" >"$dir/out" 2>"$dir/err" || rc=$?
  else
    mpi_run "$ranks" timeout "$limit" "$program" --device=cpu "$@" >"$dir/out" 2>"$dir/err" || rc=$?
  fi
}

# count RANKS RANK ARG...: set $calls to the number of allocations of a rank.
count() {
  local ranks=$1
  export FAIL_RANK=$2
  shift 2
  checks=$((checks + 1))
  FAIL_COUNT=$dir/count run_failing "$ranks" "$@"
  test "$rc" -eq 0 || complain "$* on $ranks ranks: exit code $rc: $(cat "$dir/err")"
  calls=$(cat "$dir/count")
}

# sweep RANKS RANK POINTS ARG...: fail POINTS evenly spread allocations of a rank, one per run, from number $first on.
first=1
sweep() {
  local ranks=$1 rank=$2 points=$3 call calls
  shift 3
  count "$ranks" "$rank" "$@"
  for ((call = first; call <= calls; call += (calls - first) / points + 1)); do
    checks=$((checks + 1))
    FAIL_AT=$call run_failing "$ranks" "$@"
    if test "$rc" -ne 4 || test "$(grep -c '^hpgmg-fv: error: ' "$dir/err")" -ne 1; then
      complain "$* on $ranks ranks, rank $rank, call $call of $calls: exit code $rc, $(grep '^hpgmg-fv' "$dir/err")"
    fi
    grep -qE '^hpgmg-fv: error: .*(no|out of) memory' "$dir/err" || complain "$*, call $call: $(cat "$dir/err")"
  done
  unset FAIL_RANK
}

sweep 1 0 40 4 8 --verify-only --quiet
sweep 1 0 20 4 1 --verify-only --quiet --operator=fv4 --smoother=chebyshev
sweep 1 0 20 4 1 --verify-only --quiet --operator=7pt --smoother=symgs --krylov=cg --rtol=1e-4 --levels-breakdown
sweep 1 0 10 4 1 --verify-only --quiet --device=guard --boundary=periodic --bottom=smoother
sweep 1 0 30 4 1 --verify-only --quiet --precision=mixed
if have_feature HDF5; then
  ok 1 4 1 --verify-only --quiet --dump="$dir/a.hdf" --dump-fields=all
  sweep 1 0 20 4 1 --verify-only --quiet --dump="$dir/b.hdf" --dump-fields=all --dump-levels=0,1
  test "$(echo "$dir"/*.tmp)" = "$dir/*.tmp" || complain "left over: $(echo "$dir"/*.tmp)"
  sweep 1 0 10 --restart="$dir/a.hdf" --quiet
  sweep 1 0 10 --rhs="$dir/a.hdf" --coefficients="$dir/a.hdf" --quiet
fi
if have_mpi; then
  for rank in 0 1; do
    sweep 2 "$rank" 12 4 4 --verify-only --quiet
  done
  # Allocations of the dump, and a few before it.
  if have_feature HDF5; then
    for rank in 0 1; do
      count 2 "$rank" 4 4 --verify-only --quiet
      first=$calls
      sweep 2 "$rank" 16 4 4 --verify-only --quiet --dump="$dir/c.hdf"
    done
    test "$(echo "$dir"/*.tmp)" = "$dir/*.tmp" || complain "left over: $(echo "$dir"/*.tmp)"
  fi
fi
finish
