# shellcheck shell=bash disable=SC2154
# dry_run: levels, places and bytes match those of the run on any number of ranks. A million ranks are planned without
# allocating cells. Both as text and as JSON.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"

# The level table, one line per level: level, grid, boxes, box width, ranks and place.
table() {
  awk '$1 ~ /^[0-9]+$/ && $2 ~ /\^3$/ { print $1, $2, $3, $4, $5, $6 }' "$1"
}

# planned PATTERN: the bytes after PATTERN in the text of a dry run.
planned() {
  in_bytes "$(sed -n "s/^  $1 \([0-9.]* [kMGTPE]*B\).*/\1/p" "$dir/dry")"
}

# compare RANKS ARG...: a dry run on one process against the run on RANKS ranks.
compare() {
  local ranks=$1
  shift
  ok 1 "$@" --dry-run --ranks="$ranks" --json="$dir/dry.json"
  cp "$dir/out" "$dir/dry"
  ok "$ranks" "$@" --verify-only --json="$dir/run.json"
  diff <(table "$dir/dry") <(table "$dir/out") || complain "$* on $ranks ranks: different levels"
  diff <(level_figures "$dir/dry.json" dim boxes box_dim ranks backend) \
    <(level_figures "$dir/run.json" dim boxes box_dim ranks backend) ||
    complain "$* on $ranks ranks: JSON has different levels"
  diff <(sed -n '/"problem": {/,/}/p' "$dir/dry.json") <(sed -n '/"problem": {/,/}/p' "$dir/run.json") ||
    complain "$* on $ranks ranks: JSON has a different problem"
  # Sizes are printed with 3 decimals, hence 1.0005. Buffer sizes are upper bounds, hence 0.7.
  awk -v most="$(sed -n 's/.*"bytes_per_rank_max": *//p' "$dir/run.json")" -v dry="$(planned 'per rank, all levels:.* max')" '
    BEGIN { dry *= 1.0005; exit !(dry >= most && dry * 0.7 < most) }' ||
    complain "$* on $ranks ranks: wrong bytes of the largest rank"
  awk -v sum="$(sed -n '/^  "levels": \[/,/^  \]/s/.*"bytes": *//p' "$dir/run.json" | tr '\n' '+')0" \
    -v dry="$(planned 'in all ranks: about')" 'BEGIN {
      n = split(sum, bytes, "+"); for (i = 1; i <= n; i++) all += bytes[i]
      dry *= 1.0005
      exit !(dry >= all && dry * 0.7 < all + 1e6)
    }' || complain "$* on $ranks ranks: wrong bytes of all ranks"
}

if have_feature jansson; then
  for size in '4 8' '5 1' '4 27'; do
    for operator in fv2 fv4; do
      # shellcheck disable=SC2086
      compare 1 $size --operator=$operator --cpu-below=0
    done
    # Levels on both CPU and GPU: auto measures and may choose differently in each run.
    # shellcheck disable=SC2086
    compare 1 $size --cpu-below=5000
  done
  # Without message buffers the planned bytes of a level are exact.
  ok 1 --dry-run 4 64 --cpu-below=0
  dry=$(awk '$1 == 0 && $2 ~ /\^3$/ { sub(/  [a-z ]+$/, ""); print $(NF - 1), $NF }' "$dir/out")
  ok 1 4 64 --verify-only --cpu-below=0 --json="$dir/run.json"
  bytes=$(sed -n '/^  "levels": \[/,/^  \]/s/.*"bytes": *//p' "$dir/run.json" | sed -n 1p)
  test "$dry" = "$(awk -v b="$bytes" 'BEGIN { printf "%.3f MB", b / 1e6 }')" ||
    complain "the finest level: $dry planned, $bytes bytes allocated"
  if have_mpi; then
    # With auto, a run on GPUs measures the agglomeration.
    compare 2 4 4 --cpu-below=0 --agglomerate-below=65536
    compare 3 4 3 --boundary=periodic --cpu-below=0 --agglomerate-below=65536
    compare 5 4 6 --operator=fv4 --agglomerate-below=100 --cpu-below=0
  fi
fi

# The plan as JSON.
if have_feature jansson; then
  run 1 --dry-run --ranks=9 4 8 --cpu-below=0 --device=cpu --json=-
  test "$rc" -eq 0 || complain "--dry-run --json=-: exit code $rc"
  grep -q '^dry run: fv2' "$dir/err" || complain '--dry-run --json=-: the text is not on stderr'
  cp "$dir/out" "$dir/plan.json"
  ok 1 --dry-run --ranks=9 4 8 --cpu-below=0 --device=cpu --json=- --quiet
  diff <(grep -v command_line "$dir/plan.json") <(grep -v command_line "$dir/out") ||
    complain '--quiet: a different plan'
  is_json "$dir/out"
  for line in '"dry_run": true' '"ranks": 9' '"ranks_looked_at": 9' '"kind": "host"'; do
    grep -qF -- "$line" "$dir/out" || complain "plan: no $line"
  done
  # 4^3 boxes of 16^3 on 8 of the 9 ranks, 2^3 boxes each: cubes of 32^3 cells that touch 3 others at faces, 3 at edges
  # and 1 at a corner. The next level is the same with boxes of 8^3, since its 32^3 cells are 8 x 4096. The other levels
  # are on one rank.
  diff - <(level_figures "$dir/out" ranks boxes_per_rank_max imbalance messages_per_exchange_max \
    message_doubles_per_exchange_max messages_ranks_looked_at | head -n 3) <<EOF || complain 'plan: levels'
8 8 1.0 7 $((3 * 32 * 32 + 3 * 32 + 1)) 8
8 8 1.0 7 $((3 * 16 * 16 + 3 * 16 + 1)) 8
1 8 1.0 0 0 1
EOF
  # On any GPU, smooths of 16^3, 8^3 and 4^3 cells are resident. fv4 has no tiles for 56^3, 28^3 and 14^3.
  ok 1 --dry-run --ranks=1 4 1 --device=cuda --cpu-below=0 --json="$dir/plan.json"
  diff <(level_figures "$dir/plan.json" steps_per_pass resident) \
    <(printf '%s\n' '6 true' '6 true' '6 true' '1 false' '1 false') || complain 'plan: not the resident levels of 16^3'
  diff <(awk '$6 == "cuda" { print $7 }' "$dir/out") <(printf '%s\n' resident resident resident 1 1) ||
    complain 'plan as text: not the resident levels of 16^3'
  grep -qE '^  \(resident: .* with [1-9][0-9]* SMs\)$' "$dir/out" || complain 'plan as text: for no number of SMs'
  ok 1 --dry-run --ranks=1 4 343 --operator=fv4 --device=cuda --cpu-below=0
  diff <(awk '$6 == "cuda" { print $7 }' "$dir/out") <(printf '%s\n' 2 1 1 1 1) || complain 'plan as text: fv4 of 56^3'
  # A line names what runs instead of the steps that the user chose, and no line if they run. 160^3 cells are too many
  # for resident sweeps on a GPU. --fused-sweeps is the old name.
  all='a CPU fuses all 6 steps of a smooth, or none' none='using 1, as no fused sweep supports' \
    large='with fv4 on large levels'
  while read -r operator smoother device steps path message; do
    run 1 --dry-run --ranks=1 5 125 --operator="$operator" --smoother="$smoother" --fused-sweeps="$steps" \
      --device="$device" --cpu-below=0
    test "$rc" -eq 0 || complain "$operator $smoother $device $steps: exit code $rc"
    test "$(awk '$1 == 0 { print $7 }' "$dir/out")" = "$path" ||
      complain "$operator $smoother $device $steps: not $path: $(awk '$1 == 0' "$dir/out")"
    test "$(cat "$dir/err")" = "${message:+hpgmg-fv: warning: --steps-per-pass=$steps: $message}" ||
      complain "$operator $smoother $device $steps: not '$message': $(cat "$dir/err")"
  done <<EOF
fv2 gsrb cpu 3 resident $all
fv2 chebyshev cpu 2 resident $all
fv2 jacobi cpu 2 resident $all
fv2 symgs cpu 3 resident ${all/6/5}
fv2 ssor cpu 2 1 $none ssor with fv2
fv2 l1jacobi cpu 2 1 $none l1jacobi with fv2
fv2 gsrb cpu 1 1
fv4 gsrb cpu 3 resident $all
fv4 chebyshev cpu 2 resident $all
fv4 symgs cpu 2 1 $none symgs with fv4
7pt gsrb cpu 2 resident ${all/6/4}
27pt gsrb cpu 3 1 $none 27pt
27pt jacobi cpu 1 1
fv2 gsrb cuda 3 3
fv2 gsrb cuda 2 2
fv2 gsrb cuda 1 1
fv2 chebyshev cuda 2 2
fv2 jacobi cuda 3 3
fv2 symgs cuda 2 2
fv2 ssor cuda 2 1 $none ssor with fv2
7pt l1jacobi cuda 3 1 $none l1jacobi with 7pt
fv4 gsrb cuda 2 2
fv4 gsrb cuda 3 2 using 2, the most that a GPU fuses with fv4
fv4 chebyshev cuda 3 1 a GPU fuses no steps of chebyshev $large
fv4 jacobi cuda 2 1 a GPU fuses no steps of jacobi $large
fv4 ssor cuda 3 1 $none ssor with fv4
27pt gsrb cuda 3 1 $none 27pt
fv2 gsrb cuda-simple 2 1 using 1, as --device=cuda-simple fuses no steps
EOF
  # 8 boxes on 3 ranks: 3, 3 and 2, with mean 8/3; 3 boxes form two cuboids. 27 ranks with one box each: the middle one has
  # 6 neighbors at faces, 12 at edges and 8 at corners.
  ok 1 --dry-run --ranks=3 4 3 --quiet --json="$dir/plan.json"
  test "$(level_figures "$dir/plan.json" boxes_per_rank_max imbalance patches_per_rank_max | head -n 1)" = \
    '3 1.125 2' || complain 'plan: not the imbalance and patches of 3 ranks'
  ok 1 --dry-run --ranks=27 4 1 --quiet --json="$dir/plan.json"
  level_figures "$dir/plan.json" messages_per_exchange_max message_doubles_per_exchange_max \
    messages_per_face_exchange_max message_doubles_per_face_exchange_max >"$dir/figures"
  test "$(head -n 1 "$dir/figures")" = "26 $((6 * 16 * 16 + 12 * 16 + 8)) 6 $((6 * 16 * 16))" ||
    complain 'plan: not the messages of 27 ranks'
  # 10^12 boxes per rank are not enumerated, not even those of the surface. A rank's octant has 7 neighbors.
  ok 1 --dry-run --ranks=8 4 1000000000000 --device=cpu --quiet --json="$dir/plan.json"
  level_figures "$dir/plan.json" dim messages_per_exchange_max message_doubles_per_exchange_max |
    awk 'NR == 1 { n = $1 / 2; exit !(n > 100000 && $2 == 7 && $3 == 3 * n * n + 3 * n + 1) }' ||
    complain 'plan: not the messages of 10^12 boxes per rank'
  # More than 2^63 bytes are still a JSON number.
  ok 1 --dry-run --ranks=1000000000 10 1 --quiet --json=-
  grep -qE '^ *"bytes": [1-9]\.[0-9]+e\+?19,' "$dir/out" || complain 'plan: not the bytes of 10^9 ranks'
  # An unwritable file is an error. The json key of a deck applies to runs only.
  expect 3 '--json=.*/none/plan.json cannot be written' 1 --dry-run 4 8 --json="$dir/none/plan.json"
  printf 'log2-box-dim = 4\nboxes-per-rank = 8\njson = %s\n' "$dir/deck.json" >"$dir/deck.ini"
  ok 1 --input="$dir/deck.ini" --dry-run
  test ! -e "$dir/deck.json" || complain "a plan was written to the deck's result file"
else
  expect 2 '--json requires a build with jansson' 1 --dry-run 4 8 --json="$dir/plan.json"
fi
expect 2 '--csv cannot be combined with --dry-run' 1 --dry-run 4 8 --csv=-

# Warnings of ranks without cells, with better rank counts.
warns() {
  local text=$1
  shift
  ok 1 "$@"
  grep -qxF "  warning   $text" "$dir/out" || complain "$*: no '$text': $(grep warning "$dir/out")"
}
warns '6 of 7 ranks hold no cells; use 1 rank for this grid, or 8 ranks for 256^3' --dry-run --ranks=7 7 1
warns '1 of 9 ranks holds no cells; use 8 ranks for this grid, or 16 ranks for 80^3' --dry-run --ranks=9 4 8
warns '115264 of 1000000 ranks hold no cells; use 884736 ranks for this grid, or 1404928 ranks for 28672^3' \
  --dry-run --ranks=1000000 7 8
ok 1 --dry-run --ranks=8 7 1
if grep -q warning "$dir/out"; then complain "all have cells: $(grep warning "$dir/out")"; fi
if have_feature jansson; then
  ok 1 --dry-run --ranks=7 7 1 --quiet --json=-
  tr -d ' \n' <"$dir/out" | grep -qF '"ranks":7,"idle_ranks":6,"useful_ranks":[1,8],' || complain 'plan: idle ranks'
  ok 1 --dry-run --ranks=8 7 1 --quiet --json=-
  tr -d ' \n' <"$dir/out" | grep -qF '"ranks":8,"idle_ranks":0,"useful_ranks":[8],' || complain 'plan: no idle ranks'
fi

# A million ranks: one line per level, consistent ranks and boxes, and the sum.
ok 1 --dry-run --ranks=1000000 7 8
grep -q '24576^3 = ' "$dir/out" || complain 'the grid of a million ranks is not 24576^3'
test "$(table "$dir/out" | wc -l)" -eq 14 || complain "$(table "$dir/out" | wc -l) levels, not 14"
table "$dir/out" | tr -d '^' | awk '
  { sub(/3$/, "", $2); sub(/3$/, "", $3); sub(/3$/, "", $4) }
  $2 != $3 * $4 || $5 > $3 ^ 3 || $5 > 1000000 { bad = 1 }
  NR > 1 && (2 * $2 != before || $5 > ranks) { bad = 1 }
  { before = $2; ranks = $5 }
  END { exit bad }' || complain 'levels do not follow from each other'
grep -q 'in all ranks: about [0-9.]* [TP]B, [0-9.]* bytes per cell' "$dir/out" || complain 'no sum'

# In mixed precision, double cells (40 bytes) and float cells (20 bytes) of the finest level, and the coarser levels.
ok 1 --dry-run 8 8 --device=cpu --precision=mixed
bytes=$(sed -n 's/.*GB, \([0-9]*\)\.[0-9] bytes per cell$/\1/p' "$dir/out")
if ! { test "$bytes" -ge 69 && test "$bytes" -le 72; }; then complain "mixed precision: $bytes bytes per cell"; fi

# The same as JSON. Each of 96^3 ranks has 2^3 boxes, the most that any of a million ranks would have. A coarser level
# stays on these ranks as long as each has at least 4096 cells, then on fewer ranks with 4096 cells each. A rank sends to
# at most 26 neighbors. It needs at least five vectors of its cells, and less than 16 vectors of a cube of that volume
# with ghost cells and padding (the coarsest level has the most vectors).
if have_feature jansson; then
  ok 1 --dry-run --ranks=1000000 7 8 --device=cpu --quiet --json="$dir/plan.json"
  level_figures "$dir/plan.json" dim box_dim boxes_per_rank_max ranks messages_per_exchange_max max \
    messages_ranks_looked_at bytes_ranks_looked_at >"$dir/figures"
  test "$(wc -l <"$dir/figures")" -eq 14 || complain "plan: $(wc -l <"$dir/figures") levels, not 14"
  awk '
    function complain(what) { print "level " NR - 1 ": " what ": " $0; bad = 1 }
    BEGIN { before = 96 ^ 3 }
    {
      want = int($1 ^ 3 / 4096); want = want > before ? before : want > 1 ? want : 1
      cells = $3 * $2 ^ 3; side = cells ^ (1 / 3)
      if ($4 != want) complain("not " want " ranks")
      if ($5 > 26 || ($5 > 0) != ($4 > 1)) complain("messages")
      if ($6 < 40 * cells || $6 > 128 * (side + 18) * (side + 2) ^ 2) complain("bytes")
      if ($7 < 1 || $7 > $4 || $8 < 1 || $8 > $4) complain("ranks looked at")
      before = $4
    }
    END { exit bad }' "$dir/figures" || complain 'the plan of a million ranks'
fi

finish
