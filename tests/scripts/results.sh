# shellcheck shell=bash disable=SC2154
# results: all published results in results/ are valid, and README.md and docs/published.svg show their table. A damaged
# report, a machine without an entry, and a report that does not fit its name or machine are one line each. Runs
# $PYTHON; skips without it.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
command -v "$PYTHON" >/dev/null || skip_test "no $PYTHON"
script=$abs_top_srcdir/scripts/check-result published=$abs_top_srcdir/results

check() { exits "$1" "$PYTHON" "$script" "${@:2}"; }
refuse() { fails check-result "$1" "$2" "$PYTHON" "$script" "${@:3}"; }

# --- the published results ----------------------------------------------------------------------------

check 0 "$published"
test "$(wc -l <"$dir/out")" -eq "$(find "$published" -maxdepth 1 -name '*.json' | wc -l)" || complain "$(cat "$dir/out")"
check 0 --table "$published"
cp "$dir/out" "$dir/table"
sed -n '/^| machine | date |/,/^$/{/^|/p;}' "$abs_top_srcdir/README.md" | diff - "$dir/table" >"$dir/why" ||
  complain "README.md has another table than 'check-result --table results': $(cat "$dir/why")"
# The picture shows the speed per device, per bandwidth and per watt of every row.
sed '1,2d; s/^| //; s/ |$//; s/ | /\t/g' "$dir/table" >"$dir/rows"
# docs/performance.md begins with the rates of GPUs.
while IFS=$'\t' read -r machine _ _ problem devices rate per_device _ per_bandwidth per_watt; do
  test "${devices#* }" != GPU || sed '/^## /q' "$abs_top_srcdir/docs/performance.md" | grep -qE -- " ${rate}[ ,.)]" ||
    complain "docs/performance.md begins without the $rate GDOF/s of $machine"
  for text in "$machine, " "$problem" "> $per_device<" "> $per_bandwidth<" "> $per_watt<"; do
    grep -qF -- "$text" "$abs_top_srcdir/docs/published.svg" ||
      complain "docs/published.svg lacks '$text': draw it with 'scripts/plot.py published results'"
  done
done <"$dir/rows"

# Anyone can repeat them: the build is that of a commit of this repository.
if test "$(git -C "$abs_top_srcdir" rev-parse --show-toplevel 2>/dev/null)" -ef "$abs_top_srcdir" &&
  test "$(git -C "$abs_top_srcdir" rev-parse --is-shallow-repository)" = false; then
  for machine in "$published"/machines/*.json; do
    commit=$(sed -n 's/.*"hpgmg-fv .*, commit \(.*\)".*/\1/p' "$machine")
    exits 0 git -C "$abs_top_srcdir" merge-base --is-ancestor "$commit" HEAD
  done
else
  echo 'skipped: the commits, because this is no clone with a history'
fi

# --- other folders ------------------------------------------------------------------------------------

# fresh: a copy of one report and its machine, as $dir/some/$name.json and $machine.
fresh() {
  rm -rf "$dir/some"
  mkdir -p "$dir/some/machines"
  cp "$published/$name.json" "$dir/some/"
  cp "$published/machines/${name%-fv2-double}.json" "$dir/some/machines/"
  chmod -R u+w "$dir/some"
  report=$dir/some/$name.json machine=$dir/some/machines/${name%-fv2-double}.json
}
name=$(basename "$published"/*-2cores-fv2-double.json .json)
fresh
check 0 "$dir/some"
says "^$report: FOM: .* VALID class=double .* results=known$"

# Damage.
sed -i 's/"dof_per_s": [0-9.e+]*/"dof_per_s": 1e12/' "$report"
check 1 "$dir/some"
says "^$report: INVALID: solves.0.dof_per_s is 1000000000000, but dof / seconds_mean is "
check 1 --table "$dir/some"
says "^$report: INVALID: "
fresh
head -c 500 "$published/$name.json" >"$report"
refuse 3 "$name.json is not JSON" "$dir/some"
# Names and machines.
fresh
mv "$report" "$dir/some/${name%double}mixed.json"
check 1 "$dir/some"
says "^.*-mixed.json: INVALID: the class is double, but mixed in the name of the file$"
mv "$dir/some/${name%double}mixed.json" "$dir/some/best.json"
refuse 3 'best.json: the name is not DATE-MACHINE-OPERATOR-CLASS.json, such as 2026-11-h100-' "$dir/some"
fresh
mv "$machine" "$dir/some/machines/2026-11-other.json"
refuse 3 "$name.json: its machine has no entry; write $machine" "$dir/some"
cp "$dir/some/machines/2026-11-other.json" "$machine"
refuse 3 'machines/2026-11-other.json belongs to no report' "$dir/some"
fresh
sed -i 's/"devices": 1/"devices": 0/' "$machine"
refuse 3 "$(basename "$machine"): devices is not an integer from 1 to 1000000; see results/README.md" "$dir/some"
fresh
sed -i '/"contact"/d' "$machine"
refuse 3 'the keys are not name, host, device, devices, ' "$dir/some"
# Foreign files, and values of another type or out of range.
for content in '[1, 2]:the keys are not name' '{"name": "x":Expecting' '\377:codec can.t decode' ':Expecting value'; do
  printf '%b' "${content%%:[tEc]*}" >"$machine"
  refuse 3 "$(basename "$machine"): .*${content##*:}" "$dir/some"
done
for change in 's/"name": .*/"name": 5,/:name is not a line of at most 40 characters' \
  's/"devices": 1/"devices": true/:devices is not an integer' 's/"device": null/"device": []/:device is neither null' \
  's/"bandwidth_gb_per_s": .*/"bandwidth_gb_per_s": "49",/:bandwidth_gb_per_s is not a number from 0.1 to 1e6' \
  's/"measured: .*"/"guessed"/:bandwidth does not begin with nominal or measured' \
  's/"build": \[/"build": 1, "other": [/:the keys are not' 's/"hpgmg-fv 0.1.0.*"/"hpgmg-fv "/:build is not the output of'; do
  fresh
  sed -i "${change%:*}" "$machine"
  refuse 3 "${change##*:}" "$dir/some"
done
fresh
sed -i 's/"hpgmg-fv 0.1.0/"hpgmg-fv 0.0.9/' "$machine"
check 1 "$dir/some"
says ': INVALID: version is 0.1.0, but build in .* is of 0.0.9$'
fresh
sed -i 's/"device": null/"device": "NVIDIA X"/' "$machine"
check 1 "$dir/some"
says ': INVALID: the device is a CPU, but NVIDIA X in '

# Two GPUs with energy: speed per GPU, per bandwidth and per watt.
fresh
in_python 'a report of two GPUs' "$report" "$machine" <<'CODE'
import json, sys

path, entry = sys.argv[1:]
report, machine = json.load(open(path)), json.load(open(entry))
device = "NVIDIA X, sm_90, 132 SMs"
report["run"].update(ranks=2, backend="cuda", device=device, idle_ranks=0, transport="peer")
report["run"]["command_line"] += " --energy"
for level in report["levels"]:
    level.update(backend="cuda", ranks=2)
total = sum(level["bytes"] for level in report["levels"])
report["memory"].update(kind="device", bytes_per_rank_max=total)
solve = report["solves"][0]
solve.update(seconds_min=0.01, seconds_mean=0.01, dof_per_s=solve["dof"] / 0.01, solves=10000)
report["fom"]["dof_per_s"] = solve["dof_per_s"]
none = {"joules": None, "joules_per_solve": None, "dof_per_joule": None, "counters": 0, "reason": "none"}
none.update(source="RAPL package", idle_watts=None)
gpu = {"joules": 50000.0, "joules_per_solve": 5.0, "dof_per_joule": solve["dof"] / 5.0, "counters": 2}
gpu.update(source="NVML", idle_watts=100.0, reason=None)
report["energy"] = {"solves": 10000, "window_seconds": 101.0, "idle_seconds": 1.0}
report["energy"].update(gpu=gpu, cpu=none, node={**none, "source": "RAPL psys"})
machine.update(device=device, devices=2, bandwidth_gb_per_s=1000, bandwidth="nominal: data sheet")
json.dump(report, open(path, "w"))
json.dump(machine, open(entry, "w"))
CODE
check 0 --table "$dir/some"
# 256^3 / 0.01 s, and 256^3 / 5 J.
says ' \| double \| fv2 gsrb 256³ \| 2 GPUs \| 1\.68 \| 0\.839 \| 2000 nominal \| 0\.839 \| 3\.36 \(GPU\) \|$'
sed -i 's/"devices": 2/"devices": 1/' "$machine"
check 1 "$dir/some"
says ': INVALID: 2 GPUs, but .* has 1$'
sed -i 's/"devices": 1/"devices": 2/' "$machine"

# --- the picture --------------------------------------------------------------------------------------

if "$PYTHON" -c 'import matplotlib' 2>/dev/null; then
  own_matplotlib
  exits 0 "$PYTHON" "$abs_top_srcdir/scripts/plot.py" published "$dir/some" -o "$dir/a.svg" --data="$dir/a.csv"
  says "^$dir/a.svg: 1 result$"
  grep -qE -- '-fv2-double.json,double,0\.83886[0-9]*,0\.83886[0-9]*,3\.35544' "$dir/a.csv" || complain "$(cat "$dir/a.csv")"
  for text in '> 3.36 (GPU)<' ', double<' ', 2 GPUs<'; do
    grep -qF -- "$text" "$dir/a.svg" || complain "no '$text' in the picture"
  done
  # A picture of a folder that check-result refuses: one line.
  for change in 's/"ranks": [0-9]*/"ranks": 0/:run.ranks is 0' '/"smoother"/d:there is no problem.smoother' \
    's/"problem": {/"problem": 1, "x": {/:problem is 1, not' 's/"dof_per_s": [0-9.e+]*/"dof_per_s": 1e9/:but dof / seconds'; do
    fresh
    sed -i "${change%:*}" "$report"
    fails plot.py 3 "${change##*:}" "$PYTHON" "$abs_top_srcdir/scripts/plot.py" published "$dir/some" -o "$dir/b.svg"
  done
  test ! -e "$dir/b.svg" || complain 'a picture of a damaged report'
else
  echo 'skipped: the picture, because matplotlib is missing'
fi

# --- usage --------------------------------------------------------------------------------------------

refuse 2 'is a folder: name it alone, without --row' "$dir/some" "$report"
refuse 2 'is a folder: name it alone, without --row' --row "$dir/some"
refuse 2 '--table: .* is not a folder of published results' --table "$report"
mkdir "$dir/none"
refuse 3 'none has no reports; see results/README.md' "$dir/none"

finish
