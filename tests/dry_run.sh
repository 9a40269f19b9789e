# shellcheck shell=bash disable=SC2154
# dry_run: its levels, their places and their bytes are those of the run, on any number of ranks, and a
# million ranks can be planned without one of their cells.
. "$abs_top_srcdir/tests/expect.sh"

# The levels table: grid, boxes, width, ranks and place of each level, one a line.
table() {
  awk '$1 ~ /^[0-9]+$/ && $2 ~ /\^3$/ { print $1, $2, $3, $4, $5, $6 }' "$1"
}

# compare RANKS ARG...: the dry run on one process against the run itself on RANKS ranks.
compare() {
  local ranks=$1
  shift
  ok 1 "$@" --dry-run --ranks="$ranks"
  cp "$dir/out" "$dir/dry"
  ok "$ranks" "$@" --verify-only --json="$dir/run.json"
  diff <(table "$dir/dry") <(table "$dir/out") || complain "$* on $ranks ranks: other levels"
  # MB a rank, smallest to largest, with 3 digits; buffers are bounded from above.
  awk -v most="$(sed -n 's/.*"bytes_per_rank_max": *//p' "$dir/run.json")" '
    / in all, MB a rank:/ { max = $NF + 0.0005; if (!(max * 1e6 >= most && max * 0.7e6 < most)) exit 1 }
    ' "$dir/dry" || complain "$* on $ranks ranks: not the bytes of the fullest rank"
  awk -v sum="$(sed -n '/^  "levels": \[/,/^  \]/s/.*"bytes": *//p' "$dir/run.json" | tr '\n' '+')0" '
    / in all ranks: about/ {
      n = split(sum, bytes, "+"); for (i = 1; i <= n; i++) all += bytes[i]
      dry = ($5 + 0.0005) * 1e9
      if (!(dry >= all && dry * 0.7 < all + 1e6)) exit 1
    }' "$dir/dry" || complain "$* on $ranks ranks: not the bytes of all ranks"
}

if have_feature jansson; then
  for size in '4 8' '5 1' '4 27'; do
    for operator in fv2 fv4; do
      # shellcheck disable=SC2086
      compare 1 $size --operator=$operator --cpu-below=0
    done
    # With levels on both sides, where there are two: what auto measures may differ between runs.
    # shellcheck disable=SC2086
    compare 1 $size --cpu-below=5000
  done
  # Without message buffers the plan is exact: the level's bytes, to the last one.
  ok 1 --dry-run 4 64 --cpu-below=0
  dry=$(awk '$1 == 0 && $2 ~ /\^3$/ { print $NF }' "$dir/out")
  ok 1 4 64 --verify-only --cpu-below=0 --json="$dir/run.json"
  bytes=$(sed -n '/^  "levels": \[/,/^  \]/s/.*"bytes": *//p' "$dir/run.json" | sed -n 1p)
  test "$dry" = "$(awk -v b="$bytes" 'BEGIN { printf "%.3f", b / 1e6 }')" ||
    complain "the finest level: $dry MB planned, $bytes bytes allocated"
  if have_mpi; then
    compare 2 4 4 --cpu-below=0
    compare 3 4 3 --boundary=periodic --cpu-below=0
    compare 5 4 6 --operator=fv4 --agglomerate-below=100 --cpu-below=0
  fi
fi

# A million ranks: every level has its line, ranks and boxes fit each other, and the sum is there.
ok 1 --dry-run --ranks=1000000 7 8
grep -q '24576^3 = ' "$dir/out" || complain 'the grid of a million ranks is not 24576^3'
test "$(table "$dir/out" | wc -l)" -eq 14 || complain "$(table "$dir/out" | wc -l) levels, not 14"
table "$dir/out" | tr -d '^' | awk '
  { sub(/3$/, "", $2); sub(/3$/, "", $3); sub(/3$/, "", $4) }
  $2 != $3 * $4 || $5 > $3 ^ 3 || $5 > 1000000 { bad = 1 }
  NR > 1 && (2 * $2 != before || $5 > ranks) { bad = 1 }
  { before = $2; ranks = $5 }
  END { exit bad }' || complain 'levels do not follow from each other'
grep -q 'in all ranks: about [0-9.]* GB, [0-9.]* bytes a cell' "$dir/out" || complain 'no sum'

finish
