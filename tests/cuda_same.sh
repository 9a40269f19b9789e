# shellcheck shell=bash disable=SC2154,SC2030,SC2031 # each background command has its own $dir
# Comparing a CUDA device's digits with the CPU's; to be sourced. Skips without a device.
#
#   digits FILE ARG...   run the program with ARGs; its norms, error and order go to FILE
#   same FILE FILE TEXT  the two must be equal, or the test ends; counts in $runs
#   beside COMMAND...    run COMMAND beside others, with a $dir of its own: a process spends most of
#                        its time in starting CUDA
#   all_done             wait for them all: the test ends if one has; their $runs are added
set -eu
. "$abs_top_srcdir/tests/run_mpi.sh"
if ! have_cuda; then
  echo 'skipped: this build or this machine has no CUDA device' >&2
  exit 77
fi
own_folder
runs=0

digits() {
  local file=$1
  shift
  solo "$HPGMG_FV" "$@" --verify-only --quiet --csv="$dir/out.csv" >/dev/null
  awk -F, 'NR > 1 { print $6, $12, $13, $14, $18, $19 }' "$dir/out.csv" >"$file"
  test "$(wc -l <"$file")" -eq 3
}

same() {
  runs=$((runs + 1))
  if cmp -s "$1" "$2"; then return 0; fi
  echo "$3: the CPU's digits, then CUDA's"
  cat "$1" "$2"
  exit 1
}

at_once=8 begun=0
beside() {
  while test "$(jobs -rp | wc -l)" -ge "$at_once"; do sleep 0.05; done
  begun=$((begun + 1))
  (
    dir=$(mktemp -d "$dir/XXXXXX")
    runs=0
    "$@"
    echo "$runs" >"$dir/runs"
  ) &
}

all_done() {
  wait
  test "$(cat "$dir"/*/runs | wc -l)" -eq "$begun"
  runs=$((runs + $(cat "$dir"/*/runs | paste -sd +)))
}
