# shellcheck shell=bash disable=SC2154
# Functions that compare runs with different decompositions of one grid; to be sourced.
#
#   compare PROBLEMS SETUPS   solve each line of PROBLEMS (options) with each line of SETUPS: RANKS
#                             THREADS LOG2_BOX_DIM BOXES_PER_RANK [OPTION...]; all results must be
#                             bit-identical to those of the first line
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
need_feature jansson
comparisons=0

# solve PROBLEM RANKS THREADS LOG2 BOXES OPTION...: one run; results in $dir/results. With --rtol,
# V-cycles follow the first cycle, so that both kinds are covered.
solve() {
  local problem=$1 ranks=$2 threads=$3
  shift 3
  if test "$ranks" -gt 1 && ! have_mpi; then return 1; fi
  # shellcheck disable=SC2086 # options are words
  OMP_NUM_THREADS=$threads ok "$ranks" $problem --verify-only --rtol=1e-6 --max-cycles=200 "$@" \
    --json="$dir/run.json"
  # every norm, error and order
  sed -n '/"norms": \[/,/\]/p; /"rel": \[/,/\]/p; /^  "error/p; /^  "order/p' "$dir/run.json" >"$dir/results"
  rm -f "$dir/run.json"
}

compare() {
  local problem setup first
  while read -r problem; do
    test -n "$problem" || continue
    first=yes
    while read -r setup; do
      test -n "$setup" || continue
      # shellcheck disable=SC2086 # words
      solve "$problem" $setup || continue
      if test $first = yes; then
        first=no
        cp "$dir/results" "$dir/wanted"
        # At least: two lists of two cycles for each of three grids, error and order.
        test "$(grep -cE '[0-9]\.[0-9]' "$dir/wanted")" -ge 14 ||
          complain "$problem: too few results: $(cat "$dir/wanted")"
      else
        comparisons=$((comparisons + 1))
        diff "$dir/wanted" "$dir/results" >"$dir/diff" ||
          complain "$problem: results differ with '$setup': $(head -n 4 "$dir/diff")"
      fi
    done <<<"$2"
  done <<<"$1"
}
