# shellcheck shell=bash disable=SC2154
# tune: scripts/tune finds planted optima, keeps to its budget and continues from its log. With a real program it
# writes a deck that the program accepts, and a picture. An error is one line. Runs $PYTHON; skips without it or
# without jansson.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
command -v "$PYTHON" >/dev/null || skip_test "no $PYTHON"
need_feature jansson
# One process starts faster with these components.
export OMP_NUM_THREADS=1 OMPI_MCA_btl=self OMPI_MCA_pml=ob1
script=$abs_top_srcdir/scripts/tune

# tune ARG...: run it; exit code in $rc, output in $dir/said and $dir/err.
tune() {
  checks=$((checks + 1)) rc=0
  "$PYTHON" "$script" "$@" >"$dir/said" 2>"$dir/err" </dev/null || rc=$?
}
good() {
  tune "$@"
  test "$rc" -eq 0 || complain "tune $*: exit code $rc: $(tail -n 1 "$dir/err")"
}
# refuse RC TEXT ARG...: it must end with RC and one error line with TEXT, and write no deck.
refuse() {
  local want=$1 text=$2
  shift 2
  tune -o "$dir/bad" "$@"
  sed -i '/^tune: \[/d' "$dir/err"
  one_error tune "$want" "$text" "$@"
  rm -f "$dir/bad.csv"
  test ! -e "$dir/bad.ini" || complain "tune $*: a deck"
}

# --- the search, with planted times and a clock that only runs advance --------------------------------

mkdir "$dir/planted"
checks=$((checks + 1))
PYTHONPATH=$abs_top_srcdir/scripts "$PYTHON" "$abs_top_srcdir/tests/scripts/tune.py" "$dir/planted" >"$dir/why" 2>&1 ||
  complain "tune.py: $(tail -n 1 "$dir/why")"

# --- a program with planted times ---------------------------------------------------------------------

# Fast with --bottom=direct and --coarsest=4. Inaccurate, and the fastest, with --coarsest=16. Counts its runs.
cat >"$dir/fake" <<'FAKE'
#!/bin/sh
seconds=1.0 error=1e-5 file= deck= energy=null none='{"joules_per_solve": null, "reason": "planted"}'
for word; do
  case $word in
  --version) echo 'hpgmg-fv 0.1.0, planted'; exit ;;
  --dry-run) echo '{"run": {"ranks": 1, "backend": "cpu"}}'; exit ;;
  --print-config) deck=yes ;;
  --bottom=direct) seconds=$seconds*0.8 ;;
  --coarsest=4) seconds=$seconds*0.9 ;;
  --coarsest=16) seconds=$seconds*0.1 error=2e-5 ;;
  --coarsest=2) echo 'hpgmg-fv: error: planted failure' >&2; exit 4 ;;
  --energy) energy="{\"gpu\": $none, \"cpu\": $none, \"node\": $none}" ;;
  --json=*) file=${word#*=} ;;
  esac
done
if [ -n "$deck" ]; then
  printf 'log2-box-dim = 6\nbottom = bicgstab\ncoarsest = 1\n# words: %s\n' "$*"
  exit
fi
echo "$*" >>"$FAKE_RUNS"
test "$(stat -c %a "${file%/*}")" = 700 || echo "$file" >>"$FAKE_RUNS.open"
cat >"$file" <<JSON
{"verification": "passed", "reason": "", "error": $error, "order": 2.0, "energy": $energy,
 "solves": [{"seconds_min": $(awk "BEGIN { print $seconds }")}]}
JSON
FAKE
chmod +x "$dir/fake"
export FAKE_RUNS=$dir/runs
n_runs() { wc -l <"$FAKE_RUNS"; }

good --no-picture --groups=coarsest,bottom --runs=19 -o "$dir/fake-1" -- "$dir/fake" 6 8
grep -q '^tune: \[10 runs, .*\] the budget ended after 4 candidates$' "$dir/err" || complain "$(cat "$dir/err")"
test "$(n_runs)" -le 19 || complain "$(n_runs) runs, not 19"
# No other user can plant a link where reports are written, and links of known names are refused.
test ! -e "$FAKE_RUNS.open" || complain "reports in open folders: $(cat "$FAKE_RUNS.open")"
echo mine >"$dir/victim"
ln -s "$dir/victim" "$dir/bad.csv"
refuse 3 'bad.csv is not a log of tune' -- "$dir/fake" 6 8
: >"$dir/victim"
ln -s "$dir/victim" "$dir/bad.csv"
refuse 3 'bad.csv is a symbolic link; remove it' -- "$dir/fake" 6 8
test ! -s "$dir/victim" || complain 'tune wrote through a link'
# The second call only makes the missing runs.
good --no-picture --groups=coarsest,bottom -o "$dir/fake-1" -- "$dir/fake" 6 8
test -z "$(grep -e '--min-time=0 ' -e --verify-only "$FAKE_RUNS" | sed 's/--json=.*//' | sort | uniq -d)" ||
  complain "runs are repeated: $(cat "$FAKE_RUNS")"
grep -qxF '# Changed: --coarsest=4 --bottom=direct' "$dir/fake-1.ini" || complain "fake-1.ini: $(cat "$dir/fake-1.ini")"
grep -qE '^# words: 6 8 --coarsest=4 --bottom=direct --print-config$' "$dir/fake-1.ini" || complain 'deck without the options'
grep -qE '^best +0\.720000 +1\.39 +1\.000 +--coarsest=4 --bottom=direct$' "$dir/said" || complain "best: $(cat "$dir/said")"
grep -qx 'energy was not measured: the first call measured none' "$dir/said" || complain "energy: $(cat "$dir/said")"
grep -q 'coarsest=2: planted failure$' "$dir/err" || complain 'no planted failure'
grep -q 'coarsest=16: error at h 2 times that of a converged solve$' "$dir/err" || complain 'no inaccurate run'
# A third call makes only the last runs.
before=$(n_runs)
good --no-picture --groups=coarsest,bottom -o "$dir/fake-1" -- "$dir/fake" 6 8
test "$(n_runs)" -eq $((before + 9)) || complain "$(n_runs) runs, not $before and 9"
# A launcher, and options of the command, which stay.
good --no-picture --groups=coarsest,bottom --runs=40 -o "$dir/fake-2" -- env A=1 "$dir/fake" --bottom=direct 6 8
grep -qxF '# Changed: --coarsest=4' "$dir/fake-2.ini" || complain "fake-2.ini: $(cat "$dir/fake-2.ini")"
# The first long run looks for counters, and no other run measures energy.
good --no-picture --groups=bottom --runs=40 -o "$dir/fake-3" -- "$dir/fake" 6 8
grep -qx 'energy was not measured: planted; planted; planted' "$dir/said" || complain "energy: $(cat "$dir/said")"
test "$(grep -c -e --energy "$FAKE_RUNS")" -eq 3 || complain "runs with --energy: $(cat "$FAKE_RUNS")"

# --- a machine whose fastest options are not those of the least energy ------------------------------

# The program with a mock clock and a mock RAPL counter: 5 solves take 20 J, 40 J or 10 J.
export HPGMG_POWERCAP=$dir/powercap
domain=$HPGMG_POWERCAP/intel-rapl:0
mkdir -p "$domain"
echo package-0 >"$domain/name"
echo 1000000 >"$domain/energy_uj"
echo 10000000000000 >"$domain/max_energy_range_uj"
cat >"$dir/powered" <<POWERED
#!/bin/sh
MOCK_TICK=0.01 step=20000000
for word; do
  case \$word in
  --bottom=direct) MOCK_TICK=0.005 step=40000000 ;;
  --bottom=smoother) MOCK_TICK=0.0125 step=10000000 ;;
  esac
done
echo \$step >"$domain/step"
export MOCK_TICK
exec "$abs_top_builddir/tests/mocks/hpgmg-fv-energy" "\$@"
POWERED
chmod +x "$dir/powered"
own_matplotlib
# powered BEST SPEED-UP JOULES ARG...: tune must find --bottom=BEST.
powered() {
  local best=$1 speed=$2 joules=$3
  shift 3
  good --groups=bottom --budget=100000 -o "$dir/powered" "$@" -- "$dir/powered" 4 1
  grep -qE "^best +[0-9.]+ +$speed +[0-9.]+ +$joules +--bottom=$best\$" "$dir/said" || complain "best: $(cat "$dir/said")"
  grep -qE '^given +[0-9.]+ +1\.00 +[0-9.]+ +4 +as given$' "$dir/said" || complain "given: $(cat "$dir/said")"
  grep -qx 'joules per solve: RAPL package' "$dir/said" || complain "source: $(cat "$dir/said")"
  grep -qE "^# [0-9.]+ s and $joules J \(RAPL package\) per solve, $speed times as fast as given with [0-9.]+ times the energy.\$" \
    "$dir/powered.ini" || complain "powered.ini: $(cat "$dir/powered.ini")"
  grep -qE "^final,--bottom=$best,[0-9.]+,$joules\.0,.*,RAPL package\$" "$dir/powered.csv" || complain "$(cat "$dir/powered.csv")"
}
powered direct '2\.[0-9]+' 8 --energy
powered smoother '0\.[0-9]+' 2 --minimize=energy
rm "$domain/energy_uj"
refuse 2 "--minimize=energy: no counter was read: the run uses no GPU; $domain/energy_uj cannot be read: " --minimize=energy \
  -- "$dir/powered" 4 1

# --- the program --------------------------------------------------------------------------------------

good --groups=smoother,precision --runs=5 --seed=3 -o "$dir/real" -- "$HPGMG_FV" 4 8
grep -qE '^tune: \[1 runs, .*\] converged solve: error [0-9.e-]+, order [0-9.-]+$' "$dir/err" || complain "$(cat "$dir/err")"
if "$PYTHON" -c 'import matplotlib' 2>/dev/null; then
  test "$(head -c 4 "$dir/real.png" | tail -c 3)" = PNG || complain 'no picture'
else
  grep -q '^tune: warning: no picture: the Python module matplotlib is missing' "$dir/err" || complain "$(cat "$dir/err")"
fi
ok 1 --input="$dir/real.ini" --min-time=0 --min-solves=1
test "$(grep -vc '^#' "$dir/real.csv")" -eq 6 || complain "real.csv: $(cat "$dir/real.csv")"

# --- errors -------------------------------------------------------------------------------------------

refuse 2 'the command is missing: tune \[OPTION\]... -- ./hpgmg-fv 6 8' --budget=10
refuse 2 'there is no command after --' --
refuse 2 "argument --budget: '0' is not a number from 1 to" --budget=0 -- "$dir/fake" 6 8
refuse 2 "argument --minimize: invalid choice: 'power' \(choose from 'time', 'energy'\)" --minimize=power -- "$dir/fake" 6 8
refuse 2 '--minimize=energy: no counter was read: planted; planted; planted' --minimize=energy -- "$dir/fake" 6 8
refuse 2 "argument --groups: 'tile' is not one of smoother, precision," --groups=tile -- "$dir/fake" 6 8
refuse 2 'tune does not accept --min-time in the command; remove it' -- "$dir/fake" 6 8 --min-time=3
refuse 2 'none cannot be run: No such file or directory' -- "$dir/none" 6 8
refuse 2 "'echo' does not start hpgmg-fv" -- echo
refuse 2 'the command sets all options that could be tuned' --groups=bottom -- "$dir/fake" --bottom=direct 6 8
refuse 2 'the budget ended before the options as given were measured' --runs=2 -- "$dir/fake" 6 8
refuse 2 "'.*hpgmg-fv 3 8 --version' failed: LOG2_BOX_DIM" -- "$HPGMG_FV" 3 8
refuse 3 'there is no folder' -o "$dir/none/a" -- "$dir/fake" 6 8
refuse 3 'is the log of another command or version' -o "$dir/fake-1" -- "$dir/fake" 5 8
tune --help
grep -q '^usage: tune ' "$dir/said" || complain 'no help'

finish
