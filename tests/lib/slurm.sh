# shellcheck shell=bash disable=SC2154
# A private Slurm on this machine, without system services: four nodes, n1 to n4, of 8 CPUs each. Source
# this file after setting $dir, the folder of the test.
#
#   slurm_start    start the daemons; skip the test if Slurm or munge is missing or does not start
#   slurm_stop     stop them
#   slurm_wait     wait until no job is left; false if Slurm has ended
#   slurm_lives    true if Slurm runs
slurm_start() {
  local tool n key port=$((20000 + $$ % 10000)) # below the ports of outgoing connections
  PATH=$PATH:/usr/sbin:/sbin
  for tool in slurmctld slurmd sbatch srun squeue munged; do
    command -v $tool >/dev/null || skip_test "no $tool (slurm-wlm, munge)"
  done
  slurm=$dir/slurm
  mkdir -p "$slurm/state" "$slurm/spool" "$slurm/tmp"
  for n in 1 2 3 4; do mkdir -p "$slurm/spool/n$n" "$slurm/tmp/n$n"; done
  key=$slurm/munge.key
  (umask 077 && head -c 1024 /dev/urandom >"$key")
  chmod 755 "$dir" "$slurm"
  cat >"$slurm/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.sock
CredType=cred/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool/%n
TmpFS=$slurm/tmp/%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
SlurmdParameters=config_overrides
ReturnToService=2
# Long timeouts, for a busy machine.
MessageTimeout=300
TCPTimeout=300
BatchStartTimeout=3600
SlurmctldTimeout=3600
SlurmdTimeout=3600
UnkillableStepTimeout=3600
NodeName=n[1-4] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + 1))-$((port + 4)) CPUs=8 State=UNKNOWN
PartitionName=test Nodes=n[1-4] Default=YES MaxTime=UNLIMITED State=UP
CONF
  export SLURM_CONF=$slurm/slurm.conf
  munged --key-file="$key" --socket="$slurm/munge.sock" --pid-file="$slurm/munged.pid" \
    --log-file="$slurm/munged.log" --seed-file="$slurm/munge.seed" --force 2>"$slurm/munged.err" ||
    slurm_failed 'munged does not start' "$slurm/munged.err"
  slurmctld -c -f "$SLURM_CONF" 2>"$slurm/ctld.err" || slurm_failed 'slurmctld does not start' "$slurm/ctld.err"
  for n in 1 2 3 4; do
    slurmd -N "n$n" -f "$SLURM_CONF" 2>"$slurm/d.err" || slurm_failed 'slurmd does not start' "$slurm/d.err"
  done
  for ((n = 0; n < 6000; n++)); do
    if test "$(sinfo -h -N -t idle -o %n 2>/dev/null | wc -l)" -eq 4; then return 0; fi
    sleep 0.1
  done
  slurm_failed 'the nodes do not come up' "$slurm/slurmctld.log"
}

# slurm_failed REASON LOG: skip the test if the daemons do not run on this machine.
slurm_failed() {
  tail -n 20 "$2"
  slurm_stop
  skip_test "$1 on this machine: $(tail -n 1 "$2")"
}

slurm_stop() {
  local file n pids=()
  test -n "${slurm:-}" || return 0
  for file in "$slurm"/slurmd.*.pid "$slurm/slurmctld.pid" "$slurm/munged.pid"; do
    test ! -s "$file" || pids+=("$(cat "$file")")
  done
  test "${#pids[@]}" -gt 0 || return 0
  kill "${pids[@]}" 2>/dev/null || true
  # Wait: they write into their folders until they end.
  for ((n = 0; n < 100; n++)); do
    # kill -0 succeeds while any process is alive.
    kill -0 "${pids[@]}" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -9 "${pids[@]}" 2>/dev/null || true
}

slurm_lives() { kill -0 "$(cat "$slurm/slurmctld.pid")" 2>/dev/null; }

slurm_wait() {
  local jobs
  # squeue fails if Slurm is too busy to respond.
  until jobs=$(squeue -h 2>/dev/null) && test -z "$jobs"; do
    slurm_lives || return 1
    sleep 0.2
  done
}
