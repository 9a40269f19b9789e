# shellcheck shell=bash disable=SC2154
# fault_signals: SIGINT and SIGTERM end the run after the current cycle with exit code 1. Results so far
# are reported and written. Signals go to the only rank, to either of two, to the launcher, and to a rank
# on a CUDA device if present. The current solution is dumped, and a restart continues from it. A signal
# in the last solve has no effect. A second signal of the same kind ends the run immediately.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"

# Every signal is sent while the program is held at a known point (tests/mocks/paused.c).

# go_on: release the ranks.
go_on() { touch "$dir/hold/go"; }

# interrupt SIGNAL RANK: signal a rank and release all ranks once the signal has arrived.
interrupt() {
  kill -"$1" "$(held_process "$2")"
  await "$job" test -e "$dir/hold/caught.$2" || true
  go_on
}

# end WHAT [REASON]: the program must exit with 1 and a report.
end() {
  local reason=${2:-interrupted after 1 of 3 sizes}
  ended 1 "$1"
  if grep -q '^hpgmg-fv: error' "$dir/err"; then complain "$1: $(cat "$dir/err")"; fi
  grep -qxF "VERIFICATION: FAILED ($reason)" "$dir/out" ||
    complain "$1: $(tail -n 1 "$dir/out")"
  grep -q ',failed,' "$dir/out.csv" || complain "$1: no CSV: $(cat "$dir/out.csv")"
  test "$(wc -l <"$dir/out.csv")" -eq 2 || complain "$1: the CSV does not have one size"
  awk -F, 'NR == 2 && !($15 > 0 && $16 >= $15 && $18 $19 == "") { exit 1 }' "$dir/out.csv" ||
    complain "$1: the measured times are not in the CSV"
  if have_feature jansson; then
    grep -q '"verification": "failed"' "$dir/out.json" || complain "$1: no JSON"
    grep -qF "\"reason\": \"$reason\"" "$dir/out.json" || complain "$1: no reason"
  fi
  rm -f "$dir"/out.*
}

# The first size alone would take hours.
solves=(4 8 --warmup=0 --min-time=10000 "--csv=$dir/out.csv")
if have_feature jansson; then solves+=("--json=$dir/out.json"); fi
forever=("${solves[@]}" --device=cpu)
# Each solve is one cycle; the run must end after the first.
first_solve='signal 1'

for signal in INT TERM; do
  hold 1 "$first_solve" "${forever[@]}"
  interrupt "$signal" 0
  end "SIG$signal"
done
# A run with only one size.
hold 1 "$first_solve" "${forever[@]}" --coarsest=32
interrupt TERM 0
end 'SIGTERM in the only size' 'interrupted while the last size was timed'
# timeout(1) sends two signals for one request: the clock stands still between them.
hold 1 "$first_solve" "${forever[@]}"
kill -TERM "$(held_process 0)"
await "$job" test -e "$dir/hold/caught.0" || true
interrupt TERM 0
end 'SIGTERM twice at once'
if have_cuda; then
  hold 1 "$first_solve" "${solves[@]}" --device=cuda --cpu-below=0
  interrupt TERM 0
  end 'SIGTERM on a device'
fi
if have_mpi; then
  for rank in 0 1; do
    hold 2 "$first_solve" "${forever[@]}"
    interrupt TERM "$rank"
    end "SIGTERM to rank $rank of 2"
  done
  # shellcheck disable=SC2317 # await calls it
  has_ended() { grep -qs '^State:.*Z' "/proc/$1/status" || test ! -e "/proc/$1"; }
  # The launcher forwards the signal and waits for the ranks before it kills them (tests/mocks/patient_mpi.c).
  for signal in INT TERM; do
    mpi_grace 60 # with 0 it would not sleep at all
    export PATIENT_UNTIL=$dir/hold/ended
    hold 2 "$first_solve" "${forever[@]}"
    unset PATIENT_UNTIL
    mpi_grace 0
    kill -"$signal" "$(held_parent 0)"
    for rank in 0 1; do await "$job" test -e "$dir/hold/caught.$rank" || true; done
    go_on
    for rank in 0 1; do await "$job" has_ended "$(held_process $rank)" || true; done
    touch "$dir/hold/ended"
    end "SIG$signal to the launcher of 2 ranks"
  done
fi

export OMP_NUM_THREADS=1
history_of() { grep -E "$1\^3  cycle" "$2"; }
attribute() { h5dump -a "/HPGMG/$2" "$1" | sed -n 's/^ *(0): "\{0,1\}\([^"]*\)"\{0,1\}$/\1/p'; }

# A solve with a tolerance ends after the current cycle and is dumped. A restart from the dump gives
# the bits of an uninterrupted run.
if have_feature HDF5 && command -v h5dump >/dev/null; then
  hard=(--device=cpu --smooths=20 --rtol=1e-300 --warmup=0 --min-solves=1 --min-time=0)
  for ranks in 1 2; do
    if test "$ranks" -gt 1 && ! have_mpi; then continue; fi
    n=3
    hold "$ranks" "signal $n" 4 8 "${hard[@]}" --max-cycles=1000 --dump="$dir/part.hdf"
    interrupt TERM 0
    ended 1 "SIGTERM within a solve of $ranks"
    grep -qx "VERIFICATION: FAILED (interrupted after 0 of 3 sizes, after cycle $n at [0-9]*^3)" "$dir/out" || {
      complain "within a solve of $ranks: $(tail -n 2 "$dir/out")"
      continue
    }
    test "$(attribute "$dir/part.hdf" cycles)" = "$n" || complain "the dump does not have the $n cycles of the report"
    test "$(attribute "$dir/part.hdf" verification)" = 'not yet' || complain 'the dump of a part was verified'
    run "$ranks" --restart="$dir/part.hdf" --max-cycles=$((n + 2))
    cells=$(sed -n 's/^ *\([0-9]*\)^3  cycle .*/\1/p' "$dir/out" | head -n 1)
    history_of "$cells" "$dir/out" >"$dir/on"
    run "$ranks" 4 8 "${hard[@]}" --max-cycles=$((n + 2))
    history_of "$cells" "$dir/out" >"$dir/whole"
    checks=$((checks + 1))
    test "$(wc -l <"$dir/whole")" -eq $((n + 2)) || complain "no $((n + 2)) cycles: $(cat "$dir/out")"
    tail -n 2 "$dir/on" | cmp -s - <(tail -n 2 "$dir/whole") ||
      complain "$ranks, restarted at cycle $n: $(tail -n 2 "$dir/on"), not $(tail -n 2 "$dir/whole")"
  done

  # In a later solve: the report has the complete solves, the dump the interrupted one. The program checks for signals
  # after each cycle of the first solve, and for its last cycle after the solve.
  ok 1 4 8 --device=cpu --rtol=1e-10 --verify-only
  cycles=$(history_of 32 "$dir/out" | wc -l)
  hold 1 "signal $((cycles + 2))" 4 8 --device=cpu --rtol=1e-10 --warmup=0 --min-time=10000 --dump="$dir/later.hdf"
  interrupt TERM 0
  ended 1 'SIGTERM within a later solve'
  test "$(attribute "$dir/later.hdf" cycles)" = 2 || complain "a later solve: $(attribute "$dir/later.hdf" cycles) cycles, not 2"
  last=$(history_of 32 "$dir/out" | tail -n 1)
  test -n "$last" || complain "no complete solve is in the report: $(cat "$dir/out")"
  run 1 --restart="$dir/later.hdf"
  test "$(history_of 32 "$dir/out" | tail -n 1)" = "$last" || complain "from a later solve: $(cat "$dir/out" "$dir/err")"

  # In the last solve a signal has no effect. A problem from files has one size.
  ok 1 6 1 --device=cpu --verify-only --quiet --dump="$dir/own.hdf" --dump-fields=beta_i,beta_j,beta_k,f
  hold 1 'solve 1' --device=cpu --verify-only --coefficients="$dir/own.hdf" --rhs="$dir/own.hdf" --rtol=0.9 \
    --dump="$dir/last.hdf"
  interrupt TERM 0
  ended 0 'SIGTERM within the last solve'
  test "$(attribute "$dir/last.hdf" verification)" = passed || complain 'the last solve was not dumped'

  # A --dump-every series (the solve after the three sizes) ends after the file of the current cycle.
  hold 1 'solve 4' 4 8 --device=cpu --verify-only --rtol=1e-10 --dump="$dir/s.hdf" --dump-every=1
  interrupt TERM 0
  ended 1 'SIGTERM within a series'
  grep -qx 'hpgmg-fv: error: --dump-every=1: stopped by a signal after cycle 1' "$dir/err" ||
    complain "a series: $(cat "$dir/err")"
  if test ! -e "$dir/s.0001.hdf" || test -e "$dir/s.0002.hdf"; then complain "a series: $(ls "$dir")"; fi
fi

# The first signal waits for the current cycle, however long; the second does not.
hold 1 'solve 1' 5 8 --device=cpu --verify-only
kill -TERM "$(held_process 0)"
await "$job" test -e "$dir/hold/caught.0" || true
touch "$dir/hold/later"
kill -TERM "$(held_process 0)"
ended 143 'a second SIGTERM'

finish
