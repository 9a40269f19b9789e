# shellcheck shell=bash disable=SC2154,SC2030,SC2031 # each background command has its own $dir
# Functions that compare results of a CUDA device and the CPU; to be sourced. Skips without a device.
#
#   results FILE ARG...       run the program with ARGs; write its norms, error and order to FILE
#   same FILE FILE TEXT       end the test unless both files are equal; counts in $runs
#   in_background COMMAND...  run COMMAND in the background with a private $dir; starting CUDA takes most
#                             of the time of a process
#   all_done                  wait for all of them; end the test if one failed; add up their $runs
#
# TEST_PART=K/N runs the Kth of N parts of a test: every Nth command of in_background, from the Kth one on.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
have_cuda || skip_test 'no CUDA device, or build without CUDA'
runs=0
part=${TEST_PART:-1/1}
parts=${part#*/} part=${part%/*}
test "$part" -ge 1 && test "$part" -le "$parts"

results() {
  local file=$1 lines=4 # a header, and h, 2h and 4h
  shift
  case " $* " in *' --cells='*) lines=2 ;; esac
  solo "$HPGMG_FV" "$@" --verify-only --quiet --csv="$dir/out.csv" >/dev/null
  results_of "$dir/out.csv" >"$file"
  test "$(wc -l <"$file")" -eq $lines
}

same() {
  runs=$((runs + 1))
  if cmp -s "$1" "$2"; then return 0; fi
  echo "$3: results differ; CPU, then CUDA:"
  cat "$1" "$2"
  exit 1
}

at_once=$(nproc) number=0 begun=0
test "$at_once" -ge 8 || at_once=8
test "$at_once" -le 16 || at_once=16
in_background() {
  number=$((number + 1))
  test $((number % parts)) -eq $((part % parts)) || return 0
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
