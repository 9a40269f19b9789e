# shellcheck shell=bash disable=SC2154
# mpi_many: results on 8 and 64 ranks are bit-identical to one rank, and no more messages are sent than the
# algorithm needs: those of a level are bounded by the ranks of that level and the next finer one, independent
# of the total number of ranks. The grid has 128^3 cells. TEST_LARGE=yes adds 512 ranks.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
have_mpi || skip_test 'many ranks need MPI and mpirun'
has_json=no
if have_feature jansson; then
  has_json=yes
else
  echo 'skipped: checks of messages; build without JSON reports'
fi

# During start-up, each process of Open MPI polls every 0.1 ms for the others. Hundreds of them leave the cores
# no time to start the rest. A timer slack of 0.1 s makes them sleep longer (docs/performance.md, Many ranks).
# 512 processes need 10 MB each, and four file descriptors each in the launcher.
many='8 64 512'
sleepy() { echo 100000000 >/proc/self/timerslack_ns; }
available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || true)
files=$(ulimit -Hn)
if test "${TEST_LARGE:-no}" != yes; then
  many='8 64'
elif ! (sleepy) 2>/dev/null; then
  many='8 64'
  echo 'skipped: 512 ranks, which take minutes to start if the timer slack cannot be set'
elif test "$files" != unlimited && test "$files" -lt 4096; then
  many='8 64'
  echo "skipped: 512 ranks need 4096 open files, but only $files are allowed"
elif test "${available:-0}" -lt 8000; then
  many='8 64'
  echo "skipped: 512 ranks need 8000 MB of memory, but only ${available:-0} MB are available"
else
  sleepy
  test "$(ulimit -Sn)" = unlimited || test "$(ulimit -Sn)" -ge 4096 || ulimit -Sn 4096
fi

# check_messages RANKS: check the messages of a solve on h: one F-cycle with fv2, GSRB and 3 sweeps. The ranks of
# a level form a cube with c ranks per side; each rank has a cube of cells. The largest numbers of neighbors are
# 3 min(2, c - 1) at faces, and (1 + min(2, c - 1))^3 - 1 including edges and corners: at most 6 and 26. The next
# finer level has q times as many ranks per side.
# - Level l takes part in l + 1 V-cycles: the one that starts there and one for each finer level. A V-cycle has 6
#   half sweeps and a residual on the way down, and 6 half sweeps on the way up; each needs a face halo. All
#   V-cycles but the first start from zero, so their first half sweep needs no halo: 12 (l + 1) + 1 halos. The
#   residual norm on h needs one more.
# - If fewer ranks hold the next coarser level, each rank sends restricted values to one rank, for f and in each
#   V-cycle: l + 2 messages.
# - Level l > 0 is interpolated l + 1 times: for the F-cycle, and in each V-cycle of the finer level. Interpolation
#   reads the rank's cells and one ghost layer. If the same ranks hold both levels, it needs a halo with edges and
#   corners. Otherwise a rank sends cells to all finer ranks inside or next to its part: (q + min(2, c - 1))^3,
#   including itself. A finer rank is inside or next to at most 8 parts, which bounds the sum over ranks.
# The only reduction is the residual norm, because the coarsest levels are on one rank.
check_messages() {
  level_figures "$dir/$1.json" ranks messages reductions >"$dir/figures.$1"
  awk '
    function side(n) { return int(n ^ (1 / 3) + 0.5) }
    function rim(n) { return side(n) > 2 ? 2 : side(n) - 1 }
    function complain(what) { print "level " l ": " what ": " line[l]; bad = 1 }
    { line[NR - 1] = $0; ranks[NR - 1] = $1; messages[NR - 1] = $2; reductions[NR - 1] = $3 }
    END {
      if (NR < 5 || ranks[NR - 1] != 1) complain("wrong levels")
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
        if (side(n) ^ 3 != n || sends != (m[1] > 0)) complain("wrong number of ranks")
        if (!(m[1] <= m[2] && m[2] <= m[3])) complain("not min, mean and max")
        if (m[3] > own + to) complain("more messages of a rank than " own + to)
        if (n * m[2] > n * own + in_all) complain("more messages of all ranks than " n * own + in_all)
        if (r[1] != (l == 0) || r[3] != (l == 0)) complain("wrong number of reductions")
      }
      exit bad
    }' "$dir/figures.$1" || complain "$1 ranks: messages"
}

ok 1 4 512 --verify-only --csv="$dir/one.csv"
test "$(results_of "$dir/one.csv" | wc -l)" -eq 4 || complain 'not three grids'
for ranks in $many; do
  options="--verify-only --levels-breakdown --csv=$dir/$ranks.csv"
  if test $has_json = yes; then options="$options --json=$dir/$ranks.json"; fi
  # shellcheck disable=SC2086 # options are words
  ok "$ranks" 4 $((512 / ranks)) $options
  grep -q "^  machine   $ranks ranks" "$dir/out" || complain "not $ranks ranks"
  diff <(results_of "$dir/one.csv") <(results_of "$dir/$ranks.csv") || complain "$ranks ranks: results differ"
  if test $has_json = no; then continue; fi
  check_messages "$ranks"
  # The levels of the plan are those of the run.
  ok 1 --dry-run --ranks="$ranks" 4 $((512 / ranks)) --json="$dir/plan.json"
  level_figures "$dir/plan.json" dim ranks boxes >"$dir/planned"
  diff "$dir/planned" <(level_figures "$dir/$ranks.json" dim ranks boxes) ||
    complain "$ranks ranks: levels differ from the plan"
done

# With more ranks, levels whose own and next finer ranks stay the same have the same number of messages.
fewer=
for ranks in $many; do
  if test $has_json = yes && test -n "$fewer"; then
    awk '
      NR == FNR { ranks[NR] = $1; figures[NR] = $0; next }
      FNR > 1 && $1 == ranks[FNR] && finer == ranks[FNR - 1] { n++; if ($0 != figures[FNR]) { print; bad = 1 } }
      { finer = $1 }
      END { exit bad || n < 3 }' "$dir/figures.$fewer" "$dir/figures.$ranks" ||
      complain "the messages of coarse levels grow from $fewer to $ranks ranks"
  fi
  fewer=$ranks
done
finish
