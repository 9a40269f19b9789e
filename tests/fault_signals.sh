# shellcheck shell=bash disable=SC2154
# fault_signals: SIGINT and SIGTERM end the run after the current solve with exit code 1, and what
# was measured so far is reported, files included: to a rank, to any of two, and to the launcher; to one
# on a CUDA device where there is one. A second signal of the same kind ends the run at once.
. "$abs_top_srcdir/tests/expect.sh"

# begin RANKS ARG...: start the program in the background and wait until it solves. Its process is
# $job, $dir/pids has a line 'pid parent' for each rank.
begin() {
  local ranks=$1 start=solo
  shift
  test "$ranks" -eq 1 || start="mpi_run $ranks"
  rm -f "$dir/pids"
  # shellcheck disable=SC2016,SC2086 # expanded by the inner shell; words
  $start bash -c 'echo $$ $PPID >>"$0/pids"; exec "$@"' "$dir" "$HPGMG_FV" "$@" \
    >"$dir/out" 2>"$dir/err" &
  job=$!
  for _ in $(seq 600); do
    if grep -q 'set-up took' "$dir/out"; then break; fi
    sleep 0.1
  done
  sleep 0.3
}

# end WHAT: the program must end with exit code 1 and a report.
end() {
  rc=0
  wait "$job" || rc=$?
  checks=$((checks + 1))
  test "$rc" -eq 1 || complain "$1: exit code $rc"
  if grep -q '^hpgmg-fv: error' "$dir/err"; then complain "$1: $(cat "$dir/err")"; fi
  grep -qE '^VERIFICATION: FAILED \(interrupted after [01] of 3 sizes\)$' "$dir/out" ||
    complain "$1: $(tail -n 1 "$dir/out")"
  grep -q ',failed,' "$dir/out.csv" || complain "$1: no CSV: $(cat "$dir/out.csv")"
  test "$(wc -l <"$dir/out.csv")" -eq 2 || complain "$1: the CSV has not the one size"
  awk -F, 'NR == 2 && !($15 > 0 && $16 >= $15 && $18 $19 == "") { exit 1 }' "$dir/out.csv" ||
    complain "$1: what was measured is not in the CSV"
  if have_feature jansson; then
    grep -q '"verification": "failed"' "$dir/out.json" || complain "$1: no JSON"
    grep -q '"reason": "interrupted after 1 of 3 sizes"' "$dir/out.json" || complain "$1: no reason"
  fi
  rm -f "$dir"/out.*
}

files=--csv=$dir/out.csv
if have_feature jansson; then files="$files --json=$dir/out.json"; fi
# The first size alone would take hours.
solves="4 8 --warmup=0 --min-time=10000 $files"
forever="$solves --device=cpu"

for signal in INT TERM; do
  # shellcheck disable=SC2086
  begin 1 $forever
  kill -"$signal" "$(cut -d ' ' -f 1 "$dir/pids")"
  end "SIG$signal"
done
if have_cuda; then
  # shellcheck disable=SC2086
  begin 1 $solves --device=cuda --cpu-below=0
  kill -TERM "$(cut -d ' ' -f 1 "$dir/pids")"
  end 'SIGTERM on a device'
fi
if have_mpi; then
  for line in 1 2; do
    # shellcheck disable=SC2086
    begin 2 $forever
    kill -TERM "$(sed -n "${line}s/ .*//p" "$dir/pids")"
    end "SIGTERM to rank $line of 2"
  done
  # The launcher kills its ranks so many seconds after it was interrupted itself, 1 by default.
  export OMPI_MCA_odls_base_sigkill_timeout=3 PRTE_MCA_odls_base_sigkill_timeout=3
  for signal in INT TERM; do
    # shellcheck disable=SC2086
    begin 2 $forever
    kill -"$signal" "$(sed -n '1s/.* //p' "$dir/pids")"
    end "SIG$signal to the launcher of 2 ranks"
  done
fi

# The signal waits for one long solve, of 1000 cycles that cannot reach the tolerance; the second
# does not.
begin 1 5 8 --device=cpu --verify-only --smooths=100 --rtol=1e-300 --max-cycles=1000
pid=$(cut -d ' ' -f 1 "$dir/pids")
kill -TERM "$pid"
sleep 0.3
kill -0 "$pid" 2>/dev/null || complain 'SIGTERM does not wait for the current solve'
kill -TERM "$pid" 2>/dev/null || true
rc=0
wait "$job" || rc=$?
checks=$((checks + 1))
test "$rc" -eq 143 || complain "a second SIGTERM: exit code $rc"

finish
