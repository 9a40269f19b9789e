# shellcheck shell=bash disable=SC2154
# fault_processes: however a run ends, none of its processes stays: not the daemon that Open MPI starts for a program
# without a launcher, and no rank. A test that is ended by a signal ends what it has started.
. "$abs_top_srcdir/tests/cli_lib.sh"
if ! test -r /proc/self/environ; then
  echo 'skipped: processes cannot be listed without /proc' >&2
  exit 77
fi
cpu_only
held=$abs_top_builddir/tests/mocks/hpgmg-fv-paused
line='4 8 --device=cpu --warmup=0 --min-time=10000'
# What the program chooses by itself, also within a batch job, whose variables could be those of a launcher.
unset OMPI_MCA_ess_singleton_isolated OMPI_MCA_ess OMPI_COMM_WORLD_SIZE PMIX_NAMESPACE PMIX_RANK PMI_RANK PMI_FD \
  SLURM_STEP_ID

nothing_runs() { test -z "$(processes_of "$dir")"; }
names_of() { ps -o pid=,ppid=,args= -p "$(paste -sd , "$1")" 2>/dev/null || true; }
# gone WHAT: wait until nothing runs; forever where something stays.
gone() {
  checks=$((checks + 1))
  until nothing_runs; do sleep 0.05; done
  echo "nothing is left: $1"
}
# alone WHAT: now, and not later: one process has no other that could stay.
alone() {
  checks=$((checks + 1))
  processes_of "$dir" >"$dir/list"
  test ! -s "$dir/list" || complain "$1: left behind: $(names_of "$dir/list")"
}

# One process without a launcher starts no other, and so cannot leave one, whatever ends it.
single() {
  hold 1 'signal 1' "$@"
  checks=$((checks + 1))
  processes_of "$dir" >"$dir/list"
  test "$(cat "$dir/list")" = "$(held_process 0)" ||
    complain "more than the program: $(names_of "$dir/list")"
}
for signal in TERM HUP KILL; do
  # shellcheck disable=SC2086
  single $line
  kill -"$signal" "$(held_process 0)"
  touch "$dir/hold/go"
  wait "$job" 2>/dev/null || true
  alone "SIG$signal"
done
# On its way out by itself: an error, standard descriptors that are closed, a pipe without a reader.
for arguments in --nonsense '4 8 --csv=/nowhere/x.csv' '10 1000' '4 8 --verify-only'; do
  # shellcheck disable=SC2086
  {
    "$HPGMG_FV" $arguments <&- >&- 2>&- || true
    alone "$arguments, closed"
    "$HPGMG_FV" $arguments 2>&1 </dev/null | true
    alone "$arguments, a pipe"
  }
done

# Ranks of a launcher end with it, and with one of them.
if have_mpi; then
  for signal in TERM KILL; do
    for whom in 'the launcher' 'a rank'; do
      # shellcheck disable=SC2086
      hold 2 'signal 1' $line
      if test "$whom" = 'a rank'; then pid=$(held_process 1); else pid=$(held_parent 1); fi
      kill -"$signal" "$pid"
      # A held rank does not end at SIGTERM, and neither does its launcher.
      if test "$signal" = TERM; then touch "$dir/hold/go"; fi
      gone "SIG$signal to $whom"
      wait "$job" 2>/dev/null || true
    done
  done
fi

# A test that is ended by a signal: processes of its own in the background and in another session, and ranks.
cat >"$dir/test.sh" <<'SH'
. "$abs_top_srcdir/tests/cli_lib.sh"
echo "$dir" >"$1/folder"
setsid "$held" 4 8 --device=cpu --warmup=0 --min-time=10000 >/dev/null 2>&1 &
if have_mpi; then
  hold 2 'signal 1' 4 8 --device=cpu --warmup=0 --min-time=10000
fi
touch "$1/ready"
sleep 100000
SH
export held HOLD_AT='signal 0' HOLD_FOLDER=$dir
for signal in TERM HUP INT; do
  rm -f "$dir/ready"
  # Of its own process group, as the harness starts it, and SIGINT is not ignored as in other background jobs.
  set -m
  env --default-signal=HUP,INT bash "$dir/test.sh" "$dir" >"$dir/out" 2>&1 &
  set +m
  job=$!
  await "$job" test -e "$dir/ready" || cat "$dir/out"
  # Ctrl-C reaches the group, and timeout(1) passes it on once more.
  kill -"$signal" -- "-$job"
  kill -"$signal" -- "-$job" 2>/dev/null || true
  rc=0
  wait "$job" || rc=$?
  test "$rc" -gt 128 || complain "a test ended by SIG$signal: exit code $rc"
  alone "a test ended by SIG$signal"
  test ! -e "$(cat "$dir/folder")" || complain "the folder of a test ended by SIG$signal stays"
done
finish
