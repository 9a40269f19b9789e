# shellcheck shell=bash disable=SC2154
# mpi_agglomeration: --agglomerate-below=auto on several ranks with a device. The run measures; the report names the
# choice and the times, and every choice gives results bit-identical to one rank on the CPU. A given value is kept
# and nothing is measured. The guard stands for a GPU. No check depends on times.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-guard
need_feature jansson
have_mpi || skip_test 'several ranks need MPI and mpirun'

# report PATTERN: the text report has a line that matches.
report() { grep -q "$1" "$dir/out" || complain "no line '$1' in the report: $(cat "$dir/out")"; }
norms() { sed -n '/"norms": \[/,/\]/p; /"rel": \[/,/\]/p; /^  "error/p; /^  "order/p' "$1"; }
# field NAME: the value of a key of "run".
field() { sed -n "s/^    \"$1\": \(.*\),$/\1/p" "$dir/run.json"; }

for problem in --operator=fv2 '--operator=fv4 --boundary=periodic' '--operator=7pt --precision=mixed'; do
  # shellcheck disable=SC2086 # options are words
  {
    options="$problem --verify-only --json=$dir/run.json"
    ok 1 4 64 --device=cpu $options
    norms "$dir/run.json" >"$dir/wanted"
    for ranks in 2 3; do
      boxes=$(((64 + ranks - 1) / ranks))
      ok $ranks 4 $boxes --device=guard $options
      norms "$dir/run.json" | diff "$dir/wanted" - || complain "$problem: results differ on $ranks ranks"
      chosen=$(field agglomerate_below)
      report "^  agglomeration --agglomerate-below=$chosen: 64^3 solve in .* ms with $chosen .*; measured in"
      test "$(grep -c '"chosen": true' "$dir/run.json")" = 1 || complain "not one choice: $(cat "$dir/run.json")"
      test "$(grep -c '"chosen": false' "$dir/run.json")" -ge 1 || complain 'no alternative'
      # The chosen number of ranks is that of the finest level.
      ranks_of_finest=$(sed -n '/^  "levels"/,$s/^      "ranks": \([0-9]*\),$/\1/p' "$dir/run.json" | head -n 1)
      grep -B 2 '"chosen": true' "$dir/run.json" | grep -qF "\"finest_level_ranks\": $ranks_of_finest," ||
        complain "$ranks_of_finest ranks have cells of the finest level, which was not chosen"
    done
    ok 2 4 32 --device=guard --agglomerate-below=1000 $options
    norms "$dir/run.json" | diff "$dir/wanted" - || complain "$problem: results differ with a given value"
    test "$(field agglomerate_below)" = 1000 || complain "1000 became $(field agglomerate_below)"
    test "$(field agglomeration)" = '[]' || complain 'measured although a value was given'
    test "$(field idle_ranks)" = 0 || complain 'a given value moved the finest level'
  }
done

# One rank, and CPU ranks, keep the fixed figures.
for run in '1 4 64 --device=guard' '2 4 32 --device=cpu'; do
  # shellcheck disable=SC2086 # options are words
  ok $run --verify-only --json="$dir/run.json"
  test "$(field agglomerate_below),$(field agglomeration)" = 'null,[]' || complain "$run: measured"
  ! grep -q '^  agglomeration' "$dir/out" || complain "$run: reports an agglomeration"
done
ok 1 4 64 --ranks=2 --dry-run --device=guard
report '(a run measures the agglomeration'
finish
