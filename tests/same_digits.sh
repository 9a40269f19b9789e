# shellcheck shell=bash disable=SC2154
# Comparing the digits of runs that deal one grid differently; to be sourced.
#
#   compare PROBLEMS DEALS   solve each line of PROBLEMS (options) in each way of DEALS, which are
#                            lines RANKS THREADS LOG2_BOX_DIM BOXES_PER_RANK [OPTION...]; the digits
#                            of all must be those of the first
. "$abs_top_srcdir/tests/cli_lib.sh"
if ! have_feature jansson; then
  echo 'skipped: a build without JSON reports'
  exit 77
fi
comparisons=0

# deal PROBLEM RANKS THREADS LOG2 BOXES OPTION...: one run, its digits in $dir/digits. V-cycles
# follow the first cycle, so that both kinds are seen.
deal() {
  local problem=$1 ranks=$2 threads=$3
  shift 3
  if test "$ranks" -gt 1 && ! have_mpi; then return 1; fi
  # shellcheck disable=SC2086 # options are words
  OMP_NUM_THREADS=$threads ok "$ranks" $problem --verify-only --rtol=1e-6 --max-cycles=200 "$@" \
    --json="$dir/run.json"
  digits "$dir/run.json" >"$dir/digits"
  rm -f "$dir/run.json"
}

compare() {
  local problem way first
  while read -r problem; do
    test -n "$problem" || continue
    first=yes
    while read -r way; do
      test -n "$way" || continue
      # shellcheck disable=SC2086 # the way's words
      deal "$problem" $way || continue
      if test $first = yes; then
        first=no
        cp "$dir/digits" "$dir/wanted"
        # Two lists for each of three grids with two cycles or more, error and order.
        test "$(grep -cE '[0-9]\.[0-9]' "$dir/wanted")" -ge 14 ||
          complain "$problem: few digits: $(cat "$dir/wanted")"
      else
        comparisons=$((comparisons + 1))
        diff "$dir/wanted" "$dir/digits" >"$dir/diff" ||
          complain "$problem: other digits with '$way': $(head -n 4 "$dir/diff")"
      fi
    done <<<"$2"
  done <<<"$1"
}
