#!/usr/bin/env bash
# Check the GPUs of this host with hpgmg-health, one rank per GPU: for a Slurm prolog, or NHC.
#
#   scripts/health-check.sh [-n GPUS] [-b FILE] [-p PROGRAM] [-t SECONDS] [OPTION...]
#
#   -n GPUS      GPUs that this host should have; default: the number of /dev/nvidia0, /dev/nvidia1, ...
#   -b FILE      --json file of an earlier check, to compare with
#   -p PROGRAM   default: hpgmg-health beside this script's installation or in PATH
#   -t SECONDS   end a check that takes longer; default 300
#   OPTION       of hpgmg-health, such as --min-time=5
#
# MPIEXEC is the launcher, by default mpirun. Prints nothing if all GPUs are ok, otherwise one line per
# GPU that is slow, wrong or missing, or the error. A signal ends the check, too. Exit codes are those of hpgmg-health: 0
# if all GPUs are ok, 1 if not (also if a check is ended), 4 if there is no usable GPU.
set -euo pipefail

gpus='' baseline='' program='' limit=300
fail() {
  printf 'health-check: error: %s\n' "$2" >&2
  exit "$1"
}
while [[ ${1-} == -[a-z] ]]; do
  [[ $1 == -h || $# -gt 1 ]] || fail 2 "$1 needs a value; see -h"
  case $1 in
  -n) gpus=$2 ;;
  -b) baseline=$2 ;;
  -p) program=$2 ;;
  -t) limit=$2 ;;
  -h) sed -n '2,/^set/{/^set/d; s/^# \{0,1\}//; p;}' "${BASH_SOURCE[0]}" && exit 0 ;;
  *) fail 2 "unknown option $1; see -h" ;;
  esac
  shift 2
done

if [[ -z $gpus ]]; then
  gpus=0
  for device in /dev/nvidia[0-9]*; do
    [[ ! -e $device ]] || gpus=$((gpus + 1))
  done
fi
[[ $gpus =~ ^[0-9]+$ && $limit =~ ^[0-9]+$ ]] || fail 2 "-n '$gpus' or -t '$limit' is not a number"
((gpus > 0)) || fail 4 'no /dev/nvidia0; -n sets the number of GPUs that this host should have'
if [[ -z $program ]]; then
  program=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)/bin/hpgmg-health
  [[ -x $program ]] || program=hpgmg-health
fi
command -v "$program" >/dev/null || fail 2 "'$program' is not a program; -p names hpgmg-health"

# A prolog runs as root, in the environment of a job whose nodes are not meant.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset "${!SLURM_@}" CUDA_VISIBLE_DEVICES

output=$(mktemp)
trap 'rm -f "$output"' EXIT
command=("${MPIEXEC:-mpirun}" -n "$gpus" "$program")
((gpus > 1)) || command=("$program")

# The check must not outlive this script. A signal ends it. It stays in this process group, which slurmd
# kills. If this script alone is killed, the kernel sends SIGTERM (util-linux 2.33 or newer).
guard=()
! setpriv --help 2>/dev/null | grep -q -- --pdeathsig || guard=(setpriv --pdeathsig TERM)
check='' ended=''
end() {
  ended=yes
  [[ -z $check ]] || kill -TERM "$check" 2>/dev/null || true
}
trap end HUP INT TERM
"${guard[@]}" timeout --foreground -k 10 "$limit" "${command[@]}" ${baseline:+--baseline="$baseline"} --device=cuda --quiet "$@" \
  >"$output" 2>&1 </dev/null &
check=$!
[[ -z $ended ]] || end
rc=0
while true; do # a signal interrupts the wait
  rc=0
  wait "$check" || rc=$?
  kill -0 "$check" 2>/dev/null || break
done
if [[ -n $ended ]]; then
  grep '^hpgmg-health: error: ' "$output" >&2 || true
  fail 1 'a signal ended the check'
fi
((rc != 0)) || exit 0
if ((rc == 124 || rc == 137)); then
  grep '^hpgmg-health: error: ' "$output" >&2 || true
  fail 1 "the check was ended after $limit s"
fi
grep '^hpgmg-health: error: ' "$output" >&2 || tail -n 5 "$output" >&2
exit "$rc"
