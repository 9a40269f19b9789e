# shellcheck shell=bash disable=SC2154
# fault_signals: SIGINT and SIGTERM end the run after the current cycle with exit code 1, and what
# was measured so far is reported, files included: to a rank, to any of two, and to the launcher; to one
# on a CUDA device where there is one. The solution is dumped as far as it is, and a restart goes on from
# there. In the last solve a signal changes nothing. A second signal of the same kind ends the run at once.
. "$abs_top_srcdir/tests/expect.sh"

# begin RANKS ARG...: start the program in the background and wait until it solves. Its process is
# $job, $dir/pids has a line 'pid parent' for each rank.
begin() {
  local ranks=$1 start=solo
  shift
  test "$ranks" -eq 1 || start="mpi_run $ranks"
  rm -f "$dir/pids" "$dir/out" # what the run before this one said is not to be waited for
  # shellcheck disable=SC2016,SC2086 # expanded by the inner shell; words
  $start bash -c 'echo $$ $PPID >>"$0/pids"; exec "$@"' "$dir" "$HPGMG_FV" "$@" \
    >"$dir/out" 2>"$dir/err" &
  job=$!
  for _ in $(seq 600); do
    if grep -qs 'set-up took' "$dir/out"; then break; fi
    sleep 0.1
  done
  sleep 0.3
}

# end WHAT [REASON]: the program must end with exit code 1 and a report.
end() {
  local reason=${2:-interrupted after 1 of 3 sizes}
  rc=0
  wait "$job" || rc=$?
  checks=$((checks + 1))
  test "$rc" -eq 1 || complain "$1: exit code $rc"
  if grep -q '^hpgmg-fv: error' "$dir/err"; then complain "$1: $(cat "$dir/err")"; fi
  grep -qxF "VERIFICATION: FAILED ($reason)" "$dir/out" ||
    complain "$1: $(tail -n 1 "$dir/out")"
  grep -q ',failed,' "$dir/out.csv" || complain "$1: no CSV: $(cat "$dir/out.csv")"
  test "$(wc -l <"$dir/out.csv")" -eq 2 || complain "$1: the CSV has not the one size"
  awk -F, 'NR == 2 && !($15 > 0 && $16 >= $15 && $18 $19 == "") { exit 1 }' "$dir/out.csv" ||
    complain "$1: what was measured is not in the CSV"
  if have_feature jansson; then
    grep -q '"verification": "failed"' "$dir/out.json" || complain "$1: no JSON"
    grep -qF "\"reason\": \"$reason\"" "$dir/out.json" || complain "$1: no reason"
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
# One size, all of which is solved.
# shellcheck disable=SC2086
begin 1 $forever --coarsest=32
kill -TERM "$(cut -d ' ' -f 1 "$dir/pids")"
end 'SIGTERM in the only size' 'interrupted while the last size was timed'
# Two signals for one request, as timeout(1) sends them.
# shellcheck disable=SC2086
begin 1 $forever
pid=$(cut -d ' ' -f 1 "$dir/pids")
kill -TERM "$pid" "$pid" || true # it may be gone already
end 'SIGTERM twice at once'
if have_cuda; then
  # shellcheck disable=SC2086
  begin 1 $solves --device=cuda --cpu-below=0
  kill -TERM "$(cut -d ' ' -f 1 "$dir/pids")"
  end 'SIGTERM on a device'
fi
if have_mpi; then
  # The launcher kills its ranks so many seconds after it was interrupted itself, 1 by default, or
  # after the first of them has ended with an error.
  mpi_grace 3
  for line in 1 2; do
    # shellcheck disable=SC2086
    begin 2 $forever
    kill -TERM "$(sed -n "${line}s/ .*//p" "$dir/pids")"
    end "SIGTERM to rank $line of 2"
  done
  for signal in INT TERM; do
    # shellcheck disable=SC2086
    begin 2 $forever
    kill -"$signal" "$(sed -n '1s/.* //p' "$dir/pids")"
    end "SIG$signal to the launcher of 2 ranks"
  done
fi

# ended RC: wait for the job, which must end with RC.
ended() {
  rc=0
  wait "$job" || rc=$?
  checks=$((checks + 1))
  test "$rc" -eq "$1" || complain "$2: exit code $rc, not $1: $(cat "$dir/err")"
}
# A cycle that takes seconds.
slow='--device=cpu --verify-only --operator=fv4 --smoother=chebyshev --smooths=100'
export OMP_NUM_THREADS=1
history_of() { grep -E "$1\^3  cycle" "$2"; }
attribute() { h5dump -a "/HPGMG/$2" "$1" | sed -n 's/^ *(0): "\{0,1\}\([^"]*\)"\{0,1\}$/\1/p'; }

# A solve with a tolerance is ended after the current cycle, and what there is of it is dumped: a
# run that goes on from there has the digits of one that nothing ended.
if have_feature HDF5 && command -v h5dump >/dev/null; then
  hard='--device=cpu --smooths=20 --rtol=1e-300 --warmup=0 --min-solves=1 --min-time=0'
  for ranks in 1 2; do
    if test "$ranks" -gt 1 && ! have_mpi; then continue; fi
    # shellcheck disable=SC2086
    begin "$ranks" 4 8 $hard --max-cycles=1000 --dump="$dir/part.hdf"
    kill -TERM "$(cut -d ' ' -f 1 "$dir/pids" | head -n 1)"
    ended 1 "SIGTERM within a solve of $ranks"
    n=$(sed -n 's/^VERIFICATION: FAILED (interrupted after 0 of 3 sizes, after cycle \([0-9]*\) at [0-9]*^3)$/\1/p' "$dir/out")
    if test -z "$n"; then
      complain "within a solve of $ranks: $(tail -n 2 "$dir/out")"
      continue
    fi
    test "$(attribute "$dir/part.hdf" cycles)" = "$n" || complain "the dump has not the $n cycles of the report"
    test "$(attribute "$dir/part.hdf" verification)" = 'not yet' || complain 'the dump of a part was verified'
    run "$ranks" --restart="$dir/part.hdf" --max-cycles=$((n + 2))
    cells=$(sed -n 's/^ *\([0-9]*\)^3  cycle .*/\1/p' "$dir/out" | head -n 1)
    history_of "$cells" "$dir/out" >"$dir/on"
    # shellcheck disable=SC2086
    run "$ranks" 4 8 $hard --max-cycles=$((n + 2))
    history_of "$cells" "$dir/out" >"$dir/whole"
    checks=$((checks + 1))
    test "$(wc -l <"$dir/whole")" -eq $((n + 2)) || complain "no $((n + 2)) cycles: $(cat "$dir/out")"
    tail -n 2 "$dir/on" | cmp -s - <(tail -n 2 "$dir/whole") ||
      complain "$ranks, on from cycle $n: $(tail -n 2 "$dir/on"), not $(tail -n 2 "$dir/whole")"
  done

  # In a later solve: the report has the complete ones, the dump the part.
  begin 1 4 8 --device=cpu --rtol=1e-10 --warmup=0 --min-time=10000 --dump="$dir/later.hdf"
  kill -TERM "$(cut -d ' ' -f 1 "$dir/pids")"
  ended 1 'SIGTERM within a later solve'
  last=$(history_of 32 "$dir/out" | tail -n 1)
  test -n "$last" || complain "no complete solve is in the report: $(cat "$dir/out")"
  run 1 --restart="$dir/later.hdf"
  test "$(history_of 32 "$dir/out" | tail -n 1)" = "$last" || complain "from a later solve: $(cat "$dir/out" "$dir/err")"

  # In the last solve of all it changes nothing; a problem of one's own has one size.
  ok 1 6 1 --device=cpu --verify-only --quiet --dump="$dir/own.hdf" --dump-fields=beta_i,beta_j,beta_k,f
  # shellcheck disable=SC2086
  begin 1 --coefficients="$dir/own.hdf" --rhs="$dir/own.hdf" $slow --rtol=0.9 --dump="$dir/last.hdf"
  kill -TERM "$(cut -d ' ' -f 1 "$dir/pids")"
  sleep 0.1
  kill -0 "$(cut -d ' ' -f 1 "$dir/pids")" || complain 'the last solve was too short'
  ended 0 'SIGTERM within the last solve'
  test "$(attribute "$dir/last.hdf" verification)" = passed || complain 'the last solve was not dumped'

  # A series ends after the file of the current cycle.
  begin 1 4 1 --device=cpu --verify-only --rtol=1e-300 --max-cycles=300 --dump="$dir/s.hdf" --dump-every=1
  for _ in $(seq 600); do
    if test -e "$dir/s.0001.hdf"; then break; fi
    sleep 0.1
  done
  kill -TERM "$(cut -d ' ' -f 1 "$dir/pids")"
  ended 1 'SIGTERM within a series'
  grep -qE '^hpgmg-fv: error: --dump-every=1: a signal ended the series after cycle [0-9]+$' "$dir/err" ||
    complain "a series: $(cat "$dir/err")"
fi

# The signal waits for the current cycle, however long it is; the second does not.
# shellcheck disable=SC2086
begin 1 5 8 $slow
pid=$(cut -d ' ' -f 1 "$dir/pids")
kill -TERM "$pid"
sleep 0.3
kill -0 "$pid" 2>/dev/null || complain 'SIGTERM does not wait for the current cycle'
kill -TERM "$pid" 2>/dev/null || true
ended 143 'a second SIGTERM'

finish
