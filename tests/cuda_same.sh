# shellcheck shell=bash disable=SC2154
# Comparing a CUDA device's digits with the CPU's; to be sourced. Skips without a device.
#
#   digits FILE ARG...   run the program with ARGs; its norms, error and order go to FILE
#   same FILE FILE TEXT  the two must be equal, or the test ends; counts in $runs
set -eu
. "$abs_top_srcdir/tests/run_mpi.sh"
if ! have_cuda; then
  echo 'skipped: this build or this machine has no CUDA device' >&2
  exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
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
