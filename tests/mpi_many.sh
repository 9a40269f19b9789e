# shellcheck shell=bash disable=SC2154
# mpi_many: 64 and 512 ranks have the digits of one, and no more messages than the algorithm needs: each
# level's are bounded by its own ranks and those of the next finer level, however many there are in all.
# 128^3 cells; the grids that 64 and 512 ranks deal out are in tests/mpi_same_digits_all.sh too.
. "$abs_top_srcdir/tests/cli_lib.sh"
cpu_only
if ! have_mpi; then
  echo 'skipped: many ranks need MPI and mpirun'
  exit 77
fi
has_json=no
if have_feature jansson; then
  has_json=yes
else
  echo 'skipped: the messages, in a build without JSON reports'
fi

# Processes of Open MPI that have started look every 0.1 ms whether the others have; hundreds of them leave
# the cores no time to start the rest. Timers that may be 0.1 s late let them sleep (docs/performance.md, Many
# ranks). 512 processes take 10 MB each, and four descriptors each of their launcher.
many='64 512'
sleepy() { echo 100000000 >/proc/self/timerslack_ns; }
available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || true)
files=$(ulimit -Hn)
if ! (sleepy) 2>/dev/null; then
  many=64
  echo 'skipped: 512 ranks, which take minutes to start where timers cannot be told to be late'
elif test "$files" != unlimited && test "$files" -lt 4096; then
  many=64
  echo "skipped: 512 ranks need 4096 open files, $files are allowed"
elif test "${available:-0}" -lt 8000; then
  many=64
  echo "skipped: 512 ranks want 8000 MB of memory, ${available:-0} are there"
else
  sleepy
  test "$(ulimit -Sn)" = unlimited || test "$(ulimit -Sn)" -ge 4096 || ulimit -Sn 4096
fi

# The digits: cells a side, cycles, norms, error, order and verdict.
digits_of() {
  cut -d, -f6,12-14,18-20 "$1"
}

# The messages of a solve at h, which is one F-cycle with fv2, GSRB and 3 smooths. The ranks of a level are a
# cube of c a side, each with a cube of cells: 3 min(2, c - 1) neighbours at faces, (1 + min(2, c - 1))^3 - 1
# with those at edges and corners, 6 and 26 at the most. The next finer level has q times as many a side.
# - Level l is in l + 1 V-cycles: the one that begins there and those of each finer level. Each takes 6 half
#   sweeps and a residual on its way down and 6 half sweeps up, with a halo at faces; all but the first begin
#   from zero, and their first half sweep needs none: 12 (l + 1) + 1 halos. The residual norm at h is one more.
# - Restricted values go to one rank, for f and in each V-cycle: l + 2 messages, where fewer ranks hold the
#   next coarser level.
# - From level l > 0 is interpolated l + 1 times: for the F-cycle and in each V-cycle of the finer level. That
#   reads a rank's cells and a rim. Where the same ranks hold both levels, this is a halo with edges and
#   corners; else the cells go to all finer ranks that lie in these or beside: (q + min(2, c - 1))^3, of which
#   the sender is one. A finer rank lies in or beside 8 at the most, which bounds the sum over ranks.
# The one reduction is that of the residual norm: the coarsest levels are on one rank.
check_messages() {
  level_figures "$dir/$1.json" ranks messages reductions >"$dir/figures.$1"
  awk '
    function side(n) { return int(n ^ (1 / 3) + 0.5) }
    function rim(n) { return side(n) > 2 ? 2 : side(n) - 1 }
    function complain(what) { print "level " l ": " what ": " line[l]; bad = 1 }
    { line[NR - 1] = $0; ranks[NR - 1] = $1; messages[NR - 1] = $2; reductions[NR - 1] = $3 }
    END {
      if (NR < 5 || ranks[NR - 1] != 1) complain("no levels of this grid")
      for (l = 0; l < NR; l++) {
        n = ranks[l]
        finer = l > 0 ? ranks[l - 1] : 0
        gathers = l + 1 < NR && ranks[l + 1] < n ? l + 2 : 0
        own = 3 * rim(n) * (12 * (l + 1) + 1 + (l == 0)) + gathers
        same = finer == n
        q = same ? 1 : side(finer / n)
        to = l == 0 ? 0 : (l + 1) * ((q + rim(n)) ^ 3 - 1)
        in_all = l == 0 ? 0 : same ? n * to : (l + 1) * 8 * finer
        split(messages[l], m, ",")
        split(reductions[l], r, ",")
        sends = n > 1 || finer > n
        if (side(n) ^ 3 != n || sends != (m[1] > 0)) complain("other ranks")
        if (!(m[1] <= m[2] && m[2] <= m[3])) complain("not min, mean and max")
        if (m[3] > own + to) complain("more messages of a rank than " own + to)
        if (n * m[2] > n * own + in_all) complain("more messages of all ranks than " n * own + in_all)
        if (r[1] != (l == 0) || r[3] != (l == 0)) complain("other reductions")
      }
      exit bad
    }' "$dir/figures.$1" || complain "$1 ranks: messages"
}

ok 1 4 512 --verify-only --csv="$dir/one.csv"
test "$(digits_of "$dir/one.csv" | wc -l)" -eq 4 || complain 'not three grids'
for ranks in $many; do
  options="--verify-only --levels-breakdown --csv=$dir/$ranks.csv"
  if test $has_json = yes; then options="$options --json=$dir/$ranks.json"; fi
  # shellcheck disable=SC2086 # options are words
  ok "$ranks" 4 $((512 / ranks)) $options
  grep -q "^  machine   $ranks ranks" "$dir/out" || complain "not $ranks ranks"
  diff <(digits_of "$dir/one.csv") <(digits_of "$dir/$ranks.csv") || complain "$ranks ranks: other digits"
  if test $has_json = no; then continue; fi
  check_messages "$ranks"
  # It was what the plan says.
  ok 1 --dry-run --ranks="$ranks" 4 $((512 / ranks)) --json="$dir/plan.json"
  level_figures "$dir/plan.json" dim ranks boxes >"$dir/planned"
  diff "$dir/planned" <(level_figures "$dir/$ranks.json" dim ranks boxes) ||
    complain "$ranks ranks: other levels than planned"
done

# Eight times the ranks, and not a message more on levels that have as many, their next finer ones too.
if test $has_json = yes && test "$many" != 64; then
  diff <(tail -n +3 "$dir/figures.64") <(tail -n +3 "$dir/figures.512") ||
    complain 'the messages of coarse levels grow with the ranks'
fi
finish
