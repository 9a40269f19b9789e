# shellcheck shell=bash disable=SC2154
# fault_divergence: a NaN or a growing residual ends the run with exit code 1. One line on stderr and
# VERIFICATION: FAILED on stdout name the level where it began and the cycle. Results up to that point
# are reported, but no DOF/s; NaN is null in JSON. Runs on one rank, on two, and on a CUDA device if present.
set -eu
. "$abs_top_srcdir/tests/lib/run_mpi.sh"
bad_problem=$abs_top_builddir/tests/mocks/hpgmg-fv-bad-problem
own_folder
reports=--csv=$dir/out.csv
if solo "$HPGMG_FV" --version | grep -q '^jansson *yes'; then reports="$reports --json=$dir/out.json"; fi

fail() {
  echo "$*: $line"
  cat "$dir/err" "$dir/out"
  exit 1
}

place=--device=cpu
# run RANKS FAULT OPTION...: 64^3 cells in 64 boxes, at $place
run() {
  ranks=$1 rc=0
  HPGMG_FAULT=$2
  export HPGMG_FAULT
  shift 2
  rm -f "$dir"/out.*
  set -- "$bad_problem" 4 $((64 / ranks)) "$@"
  test "$ranks" -eq 1 || set -- mpi_run "$ranks" "$@"
  # shellcheck disable=SC2086 # options are words
  "$@" $place $reports >"$dir/out" 2>"$dir/err" || rc=$?
}

# check RANKS FAULT OPTIONS LEVEL CYCLE SIZE
check() {
  line="$1 ranks: $2 | $3"
  # shellcheck disable=SC2086 # options are words
  run "$1" "$2" $3
  level=$4 cycle=$5 size=$6 began=$((64 >> level))
  test "$rc" -eq 1 || fail "exit code $rc"
  test "$(grep -c 'hpgmg-fv: error:' "$dir/err")" -eq 1 || fail "not one line of error"
  grep -q "error:.* diverged on level $level ($began^3 cells) in cycle $cycle: " "$dir/err" ||
    fail "level $level and cycle $cycle are not named"
  grep -qx "VERIFICATION: FAILED (the solve at $size^3 diverged in cycle $cycle on level $level)" \
    "$dir/out" || fail "no such verification"
  test "$(grep -c "$size^3  cycle" "$dir/out")" -eq "$cycle" || fail "the history is not reported"
  test "$(grep -c "failed" "$dir/out.csv")" -ge 1 || fail "not failed in the CSV"
  awk -F, 'NR == 1 { while ($++rate != "dof_per_s") if (rate > NF) exit 1; next } $rate != "" { exit 1 }' \
    "$dir/out.csv" || fail "DOF/s in the CSV"
  if grep -q '^ *[24]*h  1/.*[0-9]$' "$dir/out"; then fail "DOF/s in the report"; fi
  test -e "$dir/out.json" || return 0
  grep -q '"verification": "failed"' "$dir/out.json" || fail "not failed in the JSON"
  grep -q '"error": null' "$dir/out.json" || fail "an error in the JSON"
  if grep '"dof_per_s": ' "$dir/out.json" | grep -qv null; then fail "DOF/s in the JSON"; fi
  if grep -qiE '[:[] *[-+]?(nan|inf)' "$dir/out.json"; then fail "not JSON"; fi
  nulls=$(tr -d ' \n' <"$dir/out.json" | grep -oE '"norms":\[[^]]*\]' | grep -c null || :)
  case $2 in
  smooth*) test "$nulls" -eq 0 || fail "a finite norm is null" ;;
  *) test "$nulls" -eq 1 || fail "a NaN is not null" ;;
  esac
}

# RANKS | FAULT | OPTIONS | LEVEL CYCLE SIZE. Levels are 64^3, 32^3, 16^3, 8^3, 4^3, 2^3, 1^3.
# "smooth L X" divides the largest eigenvalue that Chebyshev uses on level L by X, which makes the
# residual grow; growth is detected when the residual exceeds 1000 times the right-hand side, or when ten cycles
# in a row raise it (omega 1.03).
cases='
  1 | f 0          | --verify-only                                     | 0 1 64
  1 | beta 0       | --verify-only                                     | 0 1 64
  1 | beta 1       | --min-solves=1 --min-time=0                       | 1 1 64
  1 | beta 3       | --verify-only --cycle=v --rtol=1e-6               | 3 1 64
  1 | beta 5       | --verify-only --bottom=smoother                   | 5 1 64
  1 | beta 2       | --verify-only --operator=fv4 --boundary=periodic  | 2 1 64
  1 | beta 4       | --verify-only --operator=7pt --equation=helmholtz | 4 1 64
  1 | smooth 0 20  | --verify-only --smoother=chebyshev                | 0 1 64
  1 | smooth 2 20  | --verify-only --smoother=chebyshev                | 2 1 64
  1 | smooth 0 1.5 | --verify-only --smoother=chebyshev --rtol=1e-9    | 0 3 64
  1 | smooth 1 1.2 | --verify-only --smoother=chebyshev --rtol=1e-9    | 1 12 32
  1 | smooth 0 1   | --verify-only --smoother=jacobi --omega=1.03 --rtol=1e-9 --max-cycles=99 | 0 32 64
  1 | beta 0       | --verify-only --krylov=cg --rtol=1e-6             | 0 1 64
  1 | beta 3       | --verify-only --krylov=cg --rtol=1e-6 --cycle=v   | 3 1 64
  2 | f 0          | --verify-only                                     | 0 1 64
  2 | beta 0       | --min-solves=1 --min-time=0                       | 0 1 64
  2 | beta 4       | --verify-only                                     | 4 1 64
  2 | smooth 1 1.2 | --verify-only --smoother=chebyshev --rtol=1e-9    | 1 12 32
'

# The same program with a fault without effect.
line='without a fault'
run 1 'smooth 0 1' --verify-only --smoother=chebyshev
test "$rc" -eq 0 || fail "exit code $rc"
n=0
# check_all CASES
check_all() {
  while IFS='|' read -r ranks fault options wanted; do
    read -r ranks <<<"$ranks"
    test -n "$ranks" || continue
    test "$ranks" -eq 1 || have_mpi || continue
    read -r fault <<<"$fault"
    read -r level cycle size <<<"$wanted"
    check "$ranks" "$fault" "$options" "$level" "$cycle" "$size"
    n=$((n + 1))
  done <<<"$1"
}
check_all "$cases"
# On the guard device set-up times cycles, to choose the ranks of each level. These diverge too.
place=--device=guard
check_all '
  2 | smooth 0 1 | --verify-only --smoother=jacobi --omega=1.5 --smooths=10 | 4 1 64
'
echo "$n cases"
test "$n" -ge 11

# The same levels and cycles on a device, since results are bit-identical. The host can only access managed memory.
if have_cuda; then
  place='--device=cuda --cpu-below=0'
  check_all '
    1 | f 0          | --verify-only --memory=unified                 | 0 1 64
    1 | smooth 0 20  | --verify-only --smoother=chebyshev             | 0 1 64
    1 | smooth 1 1.2 | --verify-only --smoother=chebyshev --rtol=1e-9 | 1 12 32
  '
  echo "$n cases with those on a device"
fi
