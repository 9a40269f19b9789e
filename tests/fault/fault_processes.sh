# shellcheck shell=bash disable=SC2154
# fault_processes: no process is left behind, however a run ends: neither a rank nor the daemon that Open MPI starts for
# a program without a launcher. A test that is ended by a signal ends the processes that it started.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
test -r /proc/self/environ || skip_test 'processes cannot be listed without /proc'
cpu_only
held=$abs_top_builddir/tests/mocks/hpgmg-fv-paused
solves=(4 8 --device=cpu --warmup=0 --min-time=10000)
# Unset what the program sets by itself, and variables of a batch job that look like a launcher's.
unset OMPI_MCA_ess_singleton_isolated OMPI_MCA_ess OMPI_COMM_WORLD_SIZE PMIX_NAMESPACE PMIX_RANK PMI_RANK PMI_FD \
  SLURM_STEP_ID

nothing_runs() { test -z "$(processes_of "$dir")"; }
names_of() { ps -o pid=,ppid=,args= -p "$(paste -sd , "$1")" 2>/dev/null || true; }
# gone WHAT: wait without a limit until nothing runs.
gone() {
  checks=$((checks + 1))
  until nothing_runs; do sleep 0.05; done
  echo "nothing is left: $1"
}
# alone WHAT: check that nothing runs now; a single process has no other that could still be ending.
alone() {
  checks=$((checks + 1))
  processes_of "$dir" >"$dir/list"
  test ! -s "$dir/list" || complain "$1: left over: $(names_of "$dir/list")"
}

# A process without a launcher starts no other process, so none can be left behind.
single() {
  hold 1 'signal 1' "$@"
  checks=$((checks + 1))
  processes_of "$dir" >"$dir/list"
  test "$(cat "$dir/list")" = "$(held_process 0)" ||
    complain "more than the program: $(names_of "$dir/list")"
}
for signal in TERM HUP KILL; do
  single "${solves[@]}"
  kill -"$signal" "$(held_process 0)"
  touch "$dir/hold/go"
  wait "$job" 2>/dev/null || true
  alone "SIG$signal"
done
# Runs that end by themselves: with an error, with closed standard descriptors, with a pipe without a reader.
for arguments in --nonsense '4 8 --csv=/nowhere/x.csv' '10 1000' '4 8 --verify-only'; do
  # shellcheck disable=SC2086
  {
    "$HPGMG_FV" $arguments <&- >&- 2>&- || true
    alone "$arguments, closed"
    "$HPGMG_FV" $arguments 2>&1 </dev/null | true
    alone "$arguments, a pipe"
  }
done

# If the launcher or one rank ends, all ranks end.
if have_mpi; then
  for signal in TERM KILL; do
    for whom in 'the launcher' 'a rank'; do
      hold 2 'signal 1' "${solves[@]}"
      if test "$whom" = 'a rank'; then pid=$(held_process 1); else pid=$(held_parent 1); fi
      kill -"$signal" "$pid"
      # A held rank does not end at SIGTERM, and neither does its launcher.
      if test "$signal" = TERM; then touch "$dir/hold/go"; fi
      gone "SIG$signal to $whom"
      wait "$job" 2>/dev/null || true
    done
  done
fi

# A test ended by a signal ends its background processes, those in another session, and its ranks.
cat >"$dir/test.sh" <<'SH'
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
echo "$dir" >"$1/folder"
setsid "$held" 4 8 --device=cpu --warmup=0 --min-time=10000 >/dev/null 2>&1 &
if have_mpi; then
  hold 2 'signal 1' 4 8 --device=cpu --warmup=0 --min-time=10000
fi
touch "$1/ready"
while :; do sleep 0.1; done
SH
export held HOLD_AT='signal 0' HOLD_FOLDER=$dir
for signal in TERM HUP INT; do
  rm -f "$dir/ready"
  # In a new process group, as under the test harness, and with SIGINT not ignored as in background jobs.
  set -m
  env --default-signal=HUP,INT bash "$dir/test.sh" "$dir" >"$dir/out" 2>&1 &
  set +m
  job=$!
  await "$job" test -e "$dir/ready" || cat "$dir/out"
  # Ctrl-C signals the group, and timeout(1) signals it again. Repeat it: the shell drops a signal that arrives while it
  # starts a command.
  while kill -0 "$job" 2>/dev/null; do
    kill -"$signal" -- "-$job" 2>/dev/null || true
    sleep 0.05
  done
  rc=0
  wait "$job" || rc=$?
  test "$rc" -gt 128 || complain "a test ended by SIG$signal: exit code $rc"
  alone "a test ended by SIG$signal"
  test ! -e "$(cat "$dir/folder")" || complain "the folder of a test ended by SIG$signal remains"
done
finish
