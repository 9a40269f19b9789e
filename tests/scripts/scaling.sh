# shellcheck shell=bash disable=SC2154,SC2016
# scaling: studies of scripts/scaling. Job scripts for every batch system equal those in tests/scripts/scaling/.
# A study on this machine runs, runs again, fails and is repeated. Jobs are submitted to and followed in
# mocks of the batch systems' commands. An invalid study gives one line of error. No string of the user
# is executed by a shell. SCALING_GOLDEN=write updates the golden files. Runs $PYTHON; skips without it
# or without jansson.
. "$abs_top_srcdir/tests/lib/scaling_lib.sh"
need_python
golden=$abs_top_srcdir/tests/scripts/scaling
source=$(cd "$abs_top_srcdir" && pwd -P)

# --- job scripts ---------------------------------------------------------------------------------

# same NAME [WANTED]: $dir/NAME.jobs must equal the file WANTED (default: tests/scripts/scaling/NAME.jobs).
same() {
  if test "${SCALING_GOLDEN:-}" = write && test $# -eq 1; then
    cp "$dir/$1.jobs" "$golden/$1.jobs"
  elif ! diff "${2-$golden/$1.jobs}" "$dir/$1.jobs" >"$dir/diff"; then
    complain "$1: job scripts differ: $(cat "$dir/diff")"
  fi
}

# compare STUDY SYSTEM NAME [WANTED]: the jobs of a study must equal WANTED likewise, up to the loop over the repeats,
# which body.jobs has. Paths of this machine are replaced first.
compare() {
  local folder=$dir/jobs-$3 file
  good plan "$1" --system="$2" --program="$planner" --folder="$folder"
  for file in "$folder"/jobs/*.sh; do
    sed -n '/^# Skip repeats/,$p' "$file" >"$dir/body.jobs"
    same body
    sed "/^# Skip repeats/,\$d; s|$folder|FOLDER|g; s|$planner|PROGRAM|g; s|$source|SOURCE|g" "$file" >>"$dir/$3.jobs"
  done
  bash -n "$folder/jobs/"*.sh || complain "$3: not a shell script"
  same "${@:3}"
}
for system in slurm pbs lsf flux; do
  compare "$golden/cpu.ini" $system cpu-$system
  compare "$golden/gpu.ini" $system gpu-$system
done
sed 's/^\[batch\]/&\nlauncher = mpirun/' "$golden/gpu.ini" >"$dir/gpu-mpirun.ini"
launch='mpirun -n \1 --map-by ppr:4:node:PE=16 --bind-to core -x OMP_NUM_THREADS -x OMP_PLACES -x OMP_PROC_BIND'
sed "s/^launch=(srun .* --ntasks=\([0-9]*\) .*/launch=($launch)/" "$golden/gpu-slurm.jobs" >"$dir/mpirun"
compare "$dir/gpu-mpirun.ini" slurm gpu-slurm-mpirun "$dir/mpirun"
sed 's/^\[batch\]/&\nlauncher = jsrun/' "$golden/gpu.ini" >"$dir/gpu-jsrun.ini"
compare "$dir/gpu-jsrun.ini" lsf gpu-lsf-jsrun
if command -v mpirun >/dev/null; then compare "$golden/local.ini" local local; fi
test ! -e pwned || complain 'a shell executed a string of the study'

# --- a study on this machine ---------------------------------------------------------------------

small_study '1, 2' 2 1 4 >"$dir/small.ini"
cat >>"$dir/small.ini" <<INI
[environment]
NOTE = \$(touch $dir/pwned) "it's" ; \`touch $dir/pwned\`
INI
have_mpi || sed -i 's/^nodes .*/nodes = 1/' "$dir/small.ini"
points=1
if have_mpi; then points=2; fi
# The name of the folder has blanks, quotes and commands.
study="$dir/a b; touch $dir/pwned \$(touch $dir/pwned) 'x'"
good plan "$dir/small.ini" --system=local --program="$HPGMG_FV" --folder="$study"
for text in 'all points will be INVALID: class double requires 10 timed solves and 1 s of each grid, but ' \
  'n1.* will be INVALID: class double requires a grid of at least 64^3$'; do
  grep -q "^scaling: warning: $text" "$dir/err" || complain "no warning of the class: $(cat "$dir/err")"
done
good submit "$study"
good status "$study"
test "$(grep -c ' done ' "$dir/out")" -eq "$points" || complain "not all done: $(cat "$dir/out")"
good collect "$study"
test "$(wc -l <"$study/results.csv")" -eq $((2 * points + 1)) || complain "results.csv: $(cat "$study/results.csv")"
says '^n1 .* 100\.0 %'
# These runs are too small for class double, so they have no rate.
for line in '^n1 .* invalid +100\.0 %  double$' "^invalid: n1.*: class double requires a grid of at least 64\^3 "; do says "$line"; done
# Norm, error and order in the CSV equal those of a run by hand.
ok 1 4 4 --device=cpu --warmup=0 --min-solves=1 --min-time=0 --csv="$dir/hand.csv"
by_hand=$(awk -F, 'NR == 1 { for (c = 1; c <= NF; c++) column[$c] = c }
  NR == 2 { printf "%.10e %.10e %.10e", $column["norm"], $column["error"], $column["order"] }' "$dir/hand.csv")
collected=$(awk -F, 'NR == 1 { for (c = 1; c <= NF; c++) column[$c] = c }
  $column["point"] == "n1" && $column["repeat"] == 2 {
    printf "%.10e %.10e %.10e", $column["norm"], $column["error"], $column["order"] }' "$study/results.csv")
test "$by_hand" = "$collected" || complain "results.csv has '$collected', a run by hand '$by_hand'"
column() {
  awk -F, -v name="$1" 'NR == 1 { for (c = 1; c <= NF; c++) if ($c == name) at = c } NR == 2 { print $at }' "$study/results.csv"
}
test "$(column class),$(column validity),$(column dof_per_s)" = double,invalid, || complain "results.csv: $(cat "$study/results.csv")"
grep -q ',"class double requires a grid of at least 64^3 and solves at h, 2h and 4h"$' "$study/results.csv" ||
  complain "no reason: $(cat "$study/results.csv")"
# A valid run has a rate; a report of an older version has no class. A class or verdict that does not exist is refused.
cp "$study/runs/n1.1.json" "$dir/whole.json"
sed -i 's/"validity": "invalid"/"validity": "valid"/' "$study/runs/n1.1.json"
good collect "$study"
grep -q ',valid,' "$study/results.csv" || complain "no valid run: $(cat "$study/results.csv")"
test "$(column validity)" = valid -a -n "$(column dof_per_s)" || complain "valid: $(cat "$study/results.csv")"
sed -i '/^  "fom": {/,/^  }/d' "$study/runs/n1.1.json"
good collect "$study"
says '^n1 .* invalid .* double$'
test -z "$(column class)$(column validity)" -a -n "$(column dof_per_s)" || complain "without class: $(cat "$study/results.csv")"
for change in 's/"class": "double"/"class": "fast"/:fom.class has the invalid value fast' \
  's/"validity": "invalid"/"validity": 1/:fom.validity has the invalid value 1' '/"validity"/d:has no fom.validity' \
  's/"validity": "invalid"/"validity": "maybe"/:fom.validity has the invalid value maybe'; do
  sed "${change%:*}" "$dir/whole.json" >"$study/runs/n1.1.json"
  refuse 3 "${change##*:}" collect "$study"
done
# Text of a report is no formula of a spreadsheet and has no terminal controls. A link is not followed.
sed 's/"host": "[^"]*"/"host": "=cmd|calc"/; s/"reason": "class/"reason": "@SUM(1)\\u001b[2J/' "$dir/whole.json" >"$study/runs/n1.1.json"
good collect "$study"
grep -q ",'=cmd|calc,.*,\"\?'@SUM(1).x1b" "$study/results.csv" || complain "formulas: $(cat "$study/results.csv")"
says '^invalid: n1.*: @SUM.1..x1b'
if grep -q $'\e' "$study/results.csv" "$dir/out"; then complain 'terminal controls'; fi
echo mine >"$dir/victim"
ln -sf "$dir/victim" "$study/results.csv"
refuse 3 'results.csv is a symbolic link; remove it' collect "$study"
test "$(cat "$dir/victim")" = mine || complain 'collect wrote through a link'
rm "$study/results.csv"
cp "$dir/whole.json" "$study/runs/n1.1.json"
# A second submit runs only the missing repeat.
before=$(stat -c %Y.%s "$study/runs/n1.1.json")
rm "$study/runs/n1.2.json"
scaling submit "$study"
test "$rc" -eq 1 || complain "incomplete point: exit code $rc"
says '^n1: failed, 1 of 2 repeats'
good submit "$study" --again --only=n1
test -e "$study/runs/n1.2.json" || complain 'the missing repeat did not run'
test "$before" = "$(stat -c %Y.%s "$study/runs/n1.1.json")" || complain 'an existing repeat ran again'
good plan "$dir/small.ini" --system=local --program="$HPGMG_FV" --folder="$study"
good status "$study"
test "$(grep -c ' done ' "$dir/out")" -eq "$points" || complain "planned again, not all done: $(cat "$dir/out")"
test ! -e "$dir/pwned" || complain 'a shell executed a string of the study'
# A report whose number of ranks differs from the plan is refused.
sed -i 's/"ranks": 1/"ranks": 7/' "$study/runs/n1.1.json"
refuse 3 'has 7 ranks, the plan has 1' collect "$study"

# A failing point: exit code, output of submit and status.
sed 's/^min-time .*/&\nrtol = 1e-300\nmax-cycles = 2/' "$dir/small.ini" >"$dir/fails.ini"
good plan "$dir/fails.ini" --system=local --program="$HPGMG_FV" --folder="$dir/fails"
scaling submit "$dir/fails" --only=n1
test "$rc" -eq 1 || complain "failing point: exit code $rc"
says '^n1: failed, 0 of 2 repeats, exit code 1: .*VERIFICATION: FAILED'
scaling status "$dir/fails"
says '^n1 +failed .*exit code 1'
refuse 3 'has no results yet' collect "$dir/fails"

# A damaged report counts as failed.
cp "$study/runs/n1.2.json" "$dir/whole.json"
sed -i 's/"solves"/"solved"/' "$study/runs/n1.2.json"
good status "$study"
says '^n1 +failed +1 of 2 repeats, runs/n1.2.json is damaged'
cp "$dir/whole.json" "$study/runs/n1.2.json"
cp "$study/plan.json" "$dir/plan.whole"
sed -i 's|"name": "n1"|"name": "\\ud800"|' "$study/plan.json"
refuse 3 'plan.json is damaged .*surrogates' status "$study"
cp "$dir/plan.whole" "$study/plan.json"
stdout_errors scaling "$PYTHON" "$tool" status "$study"
stdout_errors scaling "$PYTHON" "$tool" plan --help

# The picture.
if "$PYTHON" -c 'import matplotlib' 2>/dev/null && have_mpi; then
  sed -i 's/"ranks": 7/"ranks": 1/' "$study/runs/n1.1.json"
  good plot "$study"
  test "$(head -c 4 "$study/scaling.png" | od -An -c | tr -d ' ')" = '211PNG' || complain 'no picture'
  # Jobs of a study may run on different hosts; they still form one series.
  sed -i 's/"host": "[^"]*"/"host": "elsewhere"/' "$study"/runs/n2.*.json
  good plot "$study"
  says 'weak scaling, 4 runs in 1 series'
fi

# --- batch systems -------------------------------------------------------------------------------

# Mocks of the batch systems' commands. Each records its calls; a job is in the queue until $dir/ended exists.
mkdir -p "$dir/bin"
make_tool() {
  printf '#!/bin/bash\nprintf "%%s %%s\\n" "${0##*/}" "$*" >>"%s/calls"\n%s\n' "$dir" "$2" >"$dir/bin/$1"
  chmod +x "$dir/bin/$1"
}
queued="test -e \"$dir/ended\" ||"
make_tool sbatch 'echo "41;cluster"'
make_tool squeue "$queued echo '41 PENDING'"
make_tool qsub 'echo 42.server'
make_tool qstat "if test -e \"$dir/ended\"; then exit 35; fi
echo '{\"Jobs\": {\"42.server\": {\"job_state\": \"R\"}}}'"
make_tool bsub 'cat >/dev/null; echo "Job <43> is submitted to queue <normal>."'
make_tool bjobs "$queued echo '43 PEND'"
make_tool flux "case \$1 in batch) echo f44 ;; jobs) $queued echo 'f44 RUN' ;; esac"
# follow SYSTEM JOB STATE: a point is submitted once, reported as STATE, and failed when its job has ended without a report.
follow() {
  local folder=$dir/queue-$1
  rm -f "$dir/calls" "$dir/ended"
  PATH=$dir/bin:$PATH good plan "$golden/gpu.ini" --system="$1" --program="$planner" --folder="$folder"
  PATH=$dir/bin:$PATH good submit "$folder" --only=n2
  says "^n2: submitted as job $2"
  PATH=$dir/bin:$PATH good submit "$folder" --only=n2
  says "^n2: $3, job $2"
  PATH=$dir/bin:$PATH good status "$folder"
  says "^n2 +$3 .*job $2"
  says '^n4 +planned'
  touch "$dir/ended"
  PATH=$dir/bin:$PATH good status "$folder"
  says '^n2 +failed .*job ended'
  test "$(grep -c 'jobs/n2.sh' "$dir/calls")" -le 1 || complain "$1: submitted more than once: $(cat "$dir/calls")"
}
LOGNAME=nobody USER=nobody follow slurm 41 pending
grep -q "^squeue .*--user=$(id -u) " "$dir/calls" || complain "squeue does not query this user: $(cat "$dir/calls")"
follow pbs 42.server running
follow lsf 43 pending
follow flux f44 running
# In a UTF-8 locale, flux prints the f of a job id as U+0192.
make_tool flux "case \$1 in batch) echo f44 ;; jobs) $queued printf '\306\22244 RUN\n' ;; esac"
rm -r "$dir/queue-flux"
follow flux f44 running
# A batch system that refuses a job.
make_tool sbatch 'echo "sbatch: error: invalid account" >&2; exit 1'
PATH=$dir/bin:$PATH good plan "$golden/gpu.ini" --system=slurm --program="$planner" --folder="$dir/refused"
PATH=$dir/bin:$PATH refuse 3 'sbatch failed \(exit code 1\): .*invalid account' submit "$dir/refused"

# No job is submitted if it cannot be recorded.
rm -f "$dir/calls"
ln -sf none/x "$dir/refused/state.json"
PATH=$dir/bin:$PATH refuse 3 'state.json is a symbolic link; remove it' submit "$dir/refused"
if grep -q '^sbatch' "$dir/calls"; then complain 'a job was submitted but not recorded'; fi
make_tool sbatch "ln -sf none/x '$dir/late/state.json'; echo 45"
PATH=$dir/bin:$PATH good plan "$golden/gpu.ini" --system=slurm --program="$planner" --folder="$dir/late"
PATH=$dir/bin:$PATH refuse 3 'n2 was submitted as job 45, which was not recorded' submit "$dir/late"
rm "$dir/late/state.json"
make_tool sbatch 'echo'
PATH=$dir/bin:$PATH refuse 3 "sbatch printed no job id: ''" submit "$dir/late"
# A folder keeps its batch system, even if that does not respond.
sed 's/^nodes .*/nodes = 1/' "$dir/small.ini" >"$dir/one.ini"
make_tool sbatch 'echo 41'
make_tool sinfo 'exit 0'
rm -f "$dir/ended"
PATH=$dir/bin:$PATH good plan "$dir/one.ini" --program="$planner" --folder="$dir/busy"
says 'slurm, srun'
PATH=$dir/bin:$PATH good submit "$dir/busy"
make_tool sinfo 'exit 1'
PATH=$dir/bin:$PATH good plan "$dir/one.ini" --program="$planner" --folder="$dir/busy"
says 'slurm, srun'
PATH=$dir/bin:$PATH good status "$dir/busy"
says '^n1 +pending .*job 41'
refuse 2 'has jobs or runs of slurm \(srun\), which cannot be mixed with those of local' \
  plan "$dir/one.ini" --system=local --program="$planner" --folder="$dir/busy"
refuse 2 'contains % or \\, which Slurm expands' plan "$dir/one.ini" --system=slurm --program="$planner" --folder="$dir/a%j"

# system = auto selects the first batch system that responds; being installed is not enough.
make_tool sinfo 'echo "sinfo: fatal: no configuration" >&2; exit 1'
make_tool qstat 'exit 1'
make_tool lsid 'exit 0'
PATH=$dir/bin:$PATH good plan "$dir/small.ini" --program="$HPGMG_FV" --folder="$dir/auto-lsf"
says '^weak scaling, 2 repeats, lsf, mpirun'
make_tool lsid 'exit 255'
make_tool flux 'exit 1'
PATH=$dir/bin:$PATH good plan "$dir/small.ini" --program="$HPGMG_FV" --folder="$dir/auto-local"
says '^weak scaling, 2 repeats, local, mpirun'

# --- errors --------------------------------------------------------------------------------------

# wrong PATTERN SED [RC]: after an edit of the small study, plan must end with RC (2) and an error that matches PATTERN.
wrong() {
  sed "$2" "$dir/small.ini" >"$dir/wrong.ini"
  refuse "${3:-2}" "$1" plan "$dir/wrong.ini" --system=local --program="$HPGMG_FV" --folder="$dir/wrong"
  test ! -e "$dir/wrong" || complain "$1: a folder was created"
}
wrong "kind = 'week' is not one of weak, strong" 's/^kind .*/kind = week/'
wrong "has no \[study\] nodes" '/^nodes/d'
wrong "nodes = '0' is not an integer from 1" 's/^nodes .*/nodes = 0/'
wrong "nodes = '2, 1': counts must be in ascending order" 's/^nodes .*/nodes = 2, 1/'
digits=$(printf '%05000d' 1)
wrong "repeats = '[01]*' is not an integer" "s/^repeats .*/repeats = $digits/"
wrong 'is not UTF-8 text; a study is an INI file' "s/^NOTE .*/NOTE = $(printf 'caf\351')/"
wrong "repeats = '-3'" 's/^repeats .*/repeats = -3/'
wrong "unknown key 'rank' in \[node\]; did you mean 'ranks'" 's/^ranks = 1/ranks = 1\nrank = 2/'
wrong "unknown key 'rank' in \[node\]; did you mean 'ranks'" 's/^ranks = 1/rank = 1/'
wrong "unknown section \[nodes\]; did you mean 'node'" 's/^\[node\]/[nodes]/'
wrong "unknown section \[nodes\]; did you mean 'node'" 's/^\[node\]/[nodes]\na = 1\n[node]/'
wrong "json must not be set" 's/^min-time .*/json = x.json/'
wrong "restart must not be set: restarted runs are not timed" 's/^min-time .*/restart = x.hdf/'
wrong 'device = cuda needs GPUs: set \[node\] gpus-per-rank' 's/^min-time .*/device = cuda/'
wrong 'device = auto needs GPUs: set \[node\] gpus-per-rank' 's/^min-time .*/device = auto/'
wrong 'device = cpu would leave the GPUs of \[node\] gpus-per-rank = 1 idle: remove one' \
  's/^ranks = 1/&\ngpus-per-rank = 1/; s/^min-time .*/device = cpu/'
# A build with CUDA on a machine without a GPU, and on one with fewer GPUs than ranks.
sed 's/^ranks = 1/&\ngpus-per-rank = 1/; s/^nodes .*/nodes = 1/' "$dir/small.ini" >"$dir/gpu.ini"
no_gpu='.node. gpus-per-rank = 1 needs a GPU to run, but this machine has none that CUDA can use: .*, or remove gpus-per-rank'
CUDA_VISIBLE_DEVICES='' good plan "$dir/gpu.ini" --system=local --program="$planner" --folder="$dir/elsewhere"
grep -q "^scaling: warning: $no_gpu" "$dir/err" || complain "no warning without a GPU: $(cat "$dir/err")"
CUDA_VISIBLE_DEVICES='' refuse 2 "$no_gpu" submit "$dir/elsewhere"
test ! -e "$dir/elsewhere/state.json" || complain 'a study without GPUs was submitted'
# A program without CUDA plans for GPUs, too.
if "$HPGMG_FV" --version | grep -q '^CUDA  *no'; then
  no_cuda='was built without CUDA, so it cannot run .node. gpus-per-rank = 1: .*, or remove gpus-per-rank to plan for the CPU'
  for device in cuda cuda-simple; do
    sed "s/^min-time .*/device = $device/" "$dir/gpu.ini" >"$dir/gpu-$device.ini"
    good plan "$dir/gpu-$device.ini" --system=slurm --program="$HPGMG_FV" --folder="$dir/$device"
    grep -q "^scaling: warning: .*$no_cuda" "$dir/err" || complain "no warning without CUDA: $(cat "$dir/err")"
    refuse 2 "$no_cuda" submit "$dir/$device"
  done
fi
CUDA_VISIBLE_DEVICES='' good plan "$dir/gpu.ini" --system=slurm --program="$planner" --folder="$dir/no-gpu-here"
CUDA_VISIBLE_DEVICES=0 good plan "$dir/gpu.ini" --system=local --program="$planner" --folder="$dir/one-gpu"
if grep -q 'run alternately' "$dir/err"; then complain "one rank on one GPU: $(cat "$dir/err")"; fi
if have_mpi; then
  sed -i 's/^nodes .*/nodes = 1, 8/' "$dir/gpu.ini"
  CUDA_VISIBLE_DEVICES=0 good plan "$dir/gpu.ini" --system=local --program="$planner" --folder="$dir/shared-gpu"
  grep -q '^scaling: warning: this machine has 1 GPU for up to 8 ranks: ranks that share a GPU run alternately' "$dir/err" ||
    complain "shared GPUs: $(cat "$dir/err")"
fi
wrong "unknown option.*smoothre|smoothre" 's/^min-time .*/smoothre = gsrb/'
wrong 'OMP_NUM_THREADS must not be set' 's/^NOTE .*/OMP_NUM_THREADS = 4/'
wrong 'COL:X is not a valid name of a variable' 's/^NOTE .*/COL:X = 5/'
# Values in [environment] are literal. In other sections a comment may follow a value or a section's name.
sed 's/^NOTE .*/NOTE = a #b: "c" ; d\n# one of its own\nURL = x:y#z/; s/^repeats .*/& # twice/; s/^\[options\]/& # [none]/' \
  "$dir/small.ini" >"$dir/values.ini"
good plan "$dir/values.ini" --system=local --program="$HPGMG_FV" --folder="$dir/values"
grep -qxF "export NOTE='a #b: \"c\" ; d'" "$dir/values/jobs/n1.sh" || complain "NOTE: $(grep export "$dir/values/jobs/n1.sh")"
grep -qxF "export URL='x:y#z'" "$dir/values/jobs/n1.sh" || complain "URL: $(grep export "$dir/values/jobs/n1.sh")"
grep -qF 'repeats=2' "$dir/values/jobs/n1.sh" || complain 'a number with a comment is misread'
for name in BASH_ENV ENV SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND BASH_FUNC_module IFS; do
  wrong "\[environment\] $name must not be set" "s|^NOTE .*|$name = \$(touch $dir/pwned)|"
done
# Integer variables of this bash, and of other versions: bash runs commands in subscripts of their values, even if quoted.
for name in $(bash -c 'declare -pi' | sed -n 's/^declare -[a-z]* \([A-Z]*\).*/\1/p') LINENO OPTIND RANDOM SECONDS SRANDOM; do
  wrong "\[environment\] $name must not be set" "s|^NOTE .*|$name = PATH[\$(touch $dir/pwned)]|"
done
test ! -e "$dir/pwned" || complain 'a shell evaluated the value of an integer variable'
# LD_PRELOAD is allowed: the shell does not interpret it.
sed 's/^NOTE .*/LD_PRELOAD =/' "$dir/small.ini" >"$dir/preload.ini"
good plan "$dir/preload.ini" --system=local --program="$HPGMG_FV" --folder="$dir/preload"
for name in "a';touch x;'" '-r' 'a b' 'gcc, --force' '$(id)' '`id`' 'a&b'; do
  printf '[batch]\nmodules = %s\n' "$name" >"$dir/modules"
  wrong 'modules has .*, which is not a valid name of a module' "/^\[environment\]/{
    r $dir/modules
    N
  }"
done
wrong "account = 'a b' has characters" 's/^\[environment\]/[batch]\naccount = a b\n&/'
wrong "launcher = srun does not work with local" 's/^\[environment\]/[batch]\nlauncher = srun\n&/'
wrong "time = '90' is not a time" 's/^\[environment\]/[batch]\ntime = 90\n&/'
wrong "numa = 3 does not divide 1" 's/^ranks = 1/ranks = 1\nnuma = 3/'
wrong 'is not a study: .*already exists' 's/^kind .*/&\n&/'
wrong 'need .* GB, but a node has 0.0001 GB' 's/^ranks = 1/ranks = 1\nmemory = 0.0001/' 4
if have_mpi; then
  wrong 'n27 would solve .* cells, not the' 's/^kind .*/kind = strong/; s/^nodes .*/nodes = 1, 27/; s/^boxes-per-rank .*/boxes-per-rank = 8/'
fi
# Two GPUs that share 5^3 boxes have several cuboids each. With 4^3 boxes, each has half of the cube.
if have_mpi; then
  sed 's/^ranks = 1/&\ngpus-per-rank = 1/; s/^boxes-per-rank .*/boxes-per-rank = 63/' "$dir/small.ini" >"$dir/gpus.ini"
  good plan "$dir/gpus.ini" --system=local --program="$planner" --folder="$dir/gpus"
  grep -qE "^scaling: warning: n2: a rank's boxes form [2-9] cuboids, and a GPU launches" "$dir/err" ||
    complain "cuboids: $(cat "$dir/err")"
  sed -i 's/^boxes-per-rank .*/boxes-per-rank = 32/' "$dir/gpus.ini"
  good plan "$dir/gpus.ini" --system=local --program="$planner" --folder="$dir/halves"
  if grep -qE 'cuboids|one core' "$dir/err"; then complain "half a cube: $(cat "$dir/err")"; fi
  good plan "$dir/gpus.ini" --system=slurm --program="$planner" --folder="$dir/nodes"
  grep -q '^scaling: warning: each rank with a GPU has one core, which' "$dir/err" || complain "one core: $(cat "$dir/err")"
fi
# srun distributes ranks cyclically over sockets, but GPUs are used in order.
sed 's/^gpus-per-rank .*/&\nnuma = 2/' "$golden/gpu.ini" >"$dir/sockets.ini"
good plan "$dir/sockets.ini" --system=slurm --program="$planner" --folder="$dir/sockets"
grep -q '^scaling: warning: with .node. numa, srun distributes ranks cyclically' "$dir/err" || complain "sockets: $(cat "$dir/err")"
good plan "$dir/sockets.ini" --system=pbs --program="$planner" --folder="$dir/sockets-pbs"
if grep -q 'cyclically' "$dir/err"; then complain "sockets of mpirun: $(cat "$dir/err")"; fi
refuse 3 'none.ini cannot be read: No such file' plan "$dir/none.ini"
refuse 2 'is not an executable program' plan "$dir/small.ini" --program="$dir/none"
refuse 2 'has no plan' submit "$dir"
refuse 2 "'n9' is not one of n1" submit "$study" --only=n9
refuse 2 'holds another study' plan "$dir/fails.ini" --system=local --program="$HPGMG_FV" --folder="$study"
refuse 2 'holds files but no study' plan "$dir/small.ini" --system=local --program="$HPGMG_FV" --folder="$dir/bin"
refuse 2 "is not valid UTF-8" plan "$dir/small.ini" --folder="$dir/$(printf 'bad\377')"
refuse 2 "is not valid UTF-8" submit "$dir/$(printf 'bad\377')"
refuse 2 'is not an integer from 1 to 3600' run "$dir/small.ini" --every="$digits"
# Edited files of the folder.
for state in '[]' '{"n1": 3}' '7' '{'; do
  echo "$state" >"$dir/fails/state.json"
  refuse 3 'state.json is damaged.*; remove it once all jobs' status "$dir/fails"
done
rm "$dir/fails/state.json"
cp "$dir/fails/plan.json" "$dir/plan.json.good"
for edit in 's/"system": "local"/"system": "abacus"/' 's/"launcher": "mpirun"/"launcher": "rocket"/' 's/"ranks": 1/"ranks": "1"/' \
  's/"format": 2/"format": 1/' 's/"format"/"form"/' 's/"name": "n1"/"name": null/' 's/"dim"/"din"/' '1i [' 's/"ranks": 1/"ranks": 0/'; do
  sed "$edit" "$dir/plan.json.good" >"$dir/fails/plan.json"
  refuse 3 'plan.json is damaged' status "$dir/fails"
done
printf '\377' >>"$dir/fails/study.ini"
cp "$dir/plan.json.good" "$dir/fails/plan.json"
refuse 2 'study.ini is not UTF-8 text' status "$dir/fails"
refuse 2 'holds another study' plan "$dir/small.ini" --system=local --program="$HPGMG_FV" --folder="$dir/fails"
echo '{' >"$dir/fails/plan.json"
refuse 3 'plan.json is damaged' status "$dir/fails"
finish
