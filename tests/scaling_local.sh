# shellcheck shell=bash disable=SC2016,SC2154,SC2317
# scaling_local: a study on this machine, where it may go wrong: its folder is copied or moved, planned anew, its file
# is edited, its cores are few, its job is stopped, its picture is drawn, and files of its options are relative. Python
# is $PYTHON; skips without it, or without jansson.
. "$abs_top_srcdir/tests/scaling_tool.sh"
need_python
cd "$dir" || exit 1

cat >small.ini <<'INI'
[study]
kind    = weak
nodes   = 1
repeats = 1
[node]
ranks = 1
[problem]
log2-box-dim   = 4
boxes-per-rank = 1
[options]
warmup     = 0
min-solves = 1
min-time   = 0
INI
plan() {
  good plan "$@" --system=local --program="$HPGMG_FV"
}

# --- the folder ----------------------------------------------------------------------------------

# A copy's jobs are the original's until it is planned; its results can be read anywhere.
plan small.ini --folder=first
cp -r first copy
refuse 2 'is a copy of .*/first, or was moved: .* makes them anew' submit copy
test ! -e first/runs/n1.1.json || complain 'a copy wrote into the original'
good submit first
rm -r copy
cp -r first copy
good status copy
good collect copy
plan copy/study.ini --folder=copy
rm copy/runs/n1.1.*
good submit copy
says '^n1: 1 rank'
test -e copy/runs/n1.1.json || complain 'a copy that was planned did not run'
mv copy moved
good status moved
refuse 2 'or was moved' submit moved --again
# By another name it is the same folder.
ln -s first link
good submit link
says '^n1: done'

# What is edited is planned before it counts: more repeats are no other study.
sed -i 's/^repeats .*/repeats = 2/' first/study.ini
refuse 2 'first/study.ini was changed after it was planned; .scaling plan first/study.ini --folder=first' status first
plan first/study.ini --folder=first
grep -q 'repeats=2' first/jobs/n1.sh || complain 'the job has other repeats than the study'
good submit first --again
good status first
says '^n1 +done +2 of 2'
sed -i 's/^boxes-per-rank .*/boxes-per-rank = 8/' first/study.ini
refuse 2 'first holds another study' plan first/study.ini --system=local --program="$HPGMG_FV" --folder=first

# Results of two programs are not mixed.
mkdir other
ln -s "$HPGMG_FV" other/hpgmg-fv
refuse 2 'moved has runs of hpgmg-fv .*, which are not to be mixed' \
  plan moved/study.ini --system=local --program=other/hpgmg-fv --folder=moved
rm moved/runs/n1.1.json
good plan moved/study.ini --system=local --program=other/hpgmg-fv --folder=moved

# --- cores ---------------------------------------------------------------------------------------

# Two ranks run where Open MPI counts one core of two hardware threads, or numbers slots by another job; a core
# with hardware threads counts once, and only what the process may use.
if have_mpi; then
  sed 's/^nodes .*/nodes = 2/' small.ini >core.ini
  plan core.ini
  (
    unset OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_rmaps_default_mapping_policy
    export HWLOC_SYNTHETIC='numa:1 core:1 pu:2' HWLOC_THISSYSTEM=1
    scaling submit core
    exit "$rc"
  ) || complain "two hardware threads: $(cat said core/runs/n2.1.log)"
  sed 's/^ranks .*/ranks = 2\nnuma = 2/' small.ini >domains.ini
  plan domains.ini
  good submit domains
fi
cat >cores.py <<'PY'
import sys
sys.path.insert(0, sys.argv[1])
from studies import systems
systems.os.sched_getaffinity = lambda pid: {0, 2, 4, 5}
systems.siblings_of = lambda cpu: f"{cpu & ~1}-{cpu | 1}"
assert systems.usable_cores() == 3, systems.usable_cores()
PY
"$PYTHON" cores.py "$abs_top_srcdir/scripts" || complain 'cores of a process'

# --- a job that is stopped -----------------------------------------------------------------------

group_is_gone() {
  test -z "$(ps -eo pgid=,stat= | awk -v group="$1" '$1 == group && $2 !~ /^Z/')"
}
until_gone() {
  until group_is_gone "$1"; do sleep 0.1; done
}
job_of() {
  sed -n 's/.*"process \([0-9]*\) .*/\1/p' "$1/state.json"
}
# start FOLDER: submit it in the background, as $tool_pid, until its solver is at work.
start() {
  rm -f "$1/runs/"*
  "$PYTHON" "$tool" submit "$@" >submit.said 2>submit.err </dev/null &
  tool_pid=$!
  await "$tool_pid" test -s "$1/runs/n1.bind" -a -e "$1/runs/n1.1.log"
  job=$(job_of "$1")
}

sed 's/^min-time .*/min-time = 1000000/; s/^nodes .*/nodes = 1, 2/' small.ini >long.ini
have_mpi || sed -i 's/^nodes .*/nodes = 1/' long.ini
plan long.ini
start long
good status long
says "^n1 +running +0 of 1, job process $job "
good submit long --only=n1
says "^n1: running, job process $job "
if have_mpi; then
  good submit long --only=n2
  says "^n2: waits for n1, process $job "
fi
kill -TERM "$tool_pid"
rc=0
wait "$tool_pid" || rc=$?
test "$rc" -eq 143 || complain "after SIGTERM: exit code $rc, $(cat submit.err)"
grep -q '^scaling: error: ended by SIGTERM, and jobs/n1.sh with it' submit.err || complain "SIGTERM: $(cat submit.err)"
until_gone "$job"
good status long
says '^n1 +failed +0 of 1 repeat, the job ended before the others: see runs/n1.out'
test -e long/runs/n1.out || complain 'a file is named that is not there'
# Who follows the job may be killed: it is still found, and not started twice.
start long --again --only=n1
kill -KILL "$tool_pid"
wait "$tool_pid" 2>/dev/null || true
good status long
says "^n1 +running +0 of 1, job process $job "
kill -TERM -- "-$job" || complain "there is no group $job"
until_gone "$job"
good status long
says '^n1 +failed'
# Another process that has the number is not the job.
sed -i "s/process [0-9]* /process $$ /" long/state.json
good status long
says '^n1 +failed'

# Of several that begin at a time one runs the point.
plan small.ini --folder=race
for n in 1 2 3; do
  "$PYTHON" "$tool" submit race >"race.$n" 2>&1 </dev/null &
done
wait
test "$(cat race.[123] | grep -c '^n1: 1 rank')" -eq 1 || complain "started by several: $(cat race.[123])"

# A report that is cut off counts as none: it is named, left out, and repeated.
sed 's/^repeats .*/repeats = 2/' small.ini >cut.ini
plan cut.ini
good submit cut
truncate -s 100 cut/runs/n1.1.json
scaling collect cut
test "$rc" -eq 1 || complain "a damaged report: exit code $rc"
grep -q '^scaling: warning: .*/n1.1.json is damaged and left out' err || complain "a damaged report: $(cat err)"
test "$(wc -l <cut/results.csv)" -eq 2 || complain "the other was not collected: $(cat cut/results.csv)"
good status cut
says '^n1 +failed +1 of 2 repeats, runs/n1.1.json is damaged'
good submit cut --again
good status cut
says '^n1 +done +2 of 2'

# What Open MPI says between two lines of dashes is a reason, and the dashes are none.
sed -i 's/^launch=(.*/launch=(false)/' long/jobs/n1.sh
scaling submit long --again --only=n1
printf '%s\n' ---- 'not enough slots' 'more words' ---- >long/runs/n1.1.log
scaling status long
says '^n1 +failed +0 of 1 repeat, exit code 1: not enough slots$'

# Modules are known to login shells.
sed 's/^\[options\]/[batch]\nmodules = solver\n&/' small.ini >module.ini
plan module.ini
mkdir profile
echo 'unset BASH_ENV; module() { echo "loaded $2"; }' >profile/.bash_profile
HOME=$dir/profile good submit module
says '^loaded solver$'

# --- files of options ----------------------------------------------------------------------------

# They lie beside the study, wherever one plans and the job runs.
mkdir deck
printf 'operator = fv4\n' >deck/fourth.ini
sed 's/^\[options\]/&\ninput = fourth.ini/' small.ini >deck/study.ini
plan deck/study.ini --folder=decked
good submit decked
grep -q '"operator": "fv4"' decked/runs/n1.1.json || complain 'the deck was not read'
plan decked/study.ini --folder=decked
sed 's/^\[options\]/&\ninput = none.ini/' small.ini >deck/missing.ini
refuse 3 'deck/none.ini' plan deck/missing.ini --system=local --program="$HPGMG_FV"
sed 's/^\[options\]/&\ndump = u.hdf/' small.ini >deck/dump.ini
refuse 2 'dump is not to be set there: every run would write the same file' plan deck/dump.ini
# A deck has no more say than the study: what it would write elsewhere is refused before anything runs.
for line in 'csv = x.csv' 'dump = x.hdf'; do
  printf '[output]\n%s\n' "$line" >deck/more.ini
  sed 's/^\[options\]/&\ninput = more.ini/' small.ini >deck/writes.ini
  refuse 2 "more.ini sets ${line%% *} = .*not to be set in a study's deck" plan deck/writes.ini --program="$HPGMG_FV" --system=local
done
sed 's/^\[options\]/&\nverify-only = yes/' small.ini >deck/verifies.ini
refuse 2 'verify-only is not to be set there: a study wants times' plan deck/verifies.ini
# One's own problem has no error and no order: its runs have the same digits all the same.
if have_feature HDF5; then
  ok 1 4 1 --device=cpu --verify-only --quiet --dump=deck/own.hdf --dump-fields=beta_i,beta_j,beta_k,f
  sed 's/^\[options\]/&\ncoefficients = own.hdf\nrhs = own.hdf/; s/^repeats .*/repeats = 2/' small.ini >deck/own.ini
  plan deck/own.ini --folder=own
  good submit own
  good collect own
  test ! -s err || complain "one's own problem: $(cat err)"
  refuse 2 'has no solve of 2h; take --grid=h' plot own --grid=2h
fi
# Pictures leave nothing elsewhere.
if "$PYTHON" -c 'import matplotlib' 2>/dev/null && have_mpi; then
  sed 's/^nodes .*/nodes = 1, 2/' small.ini >two.ini
  plan two.ini
  good submit two
  mkdir home tmp
  (unset MPLCONFIGDIR XDG_CACHE_HOME XDG_CONFIG_HOME && HOME=$dir/home TMPDIR=$dir/tmp scaling plot two) || true
  test -s two/scaling.png || complain 'no picture'
  refuse 2 'x.jpg: a picture ends in .png, .svg, .pdf' plot two --output=x.jpg
  test -z "$(find home tmp -mindepth 1 | tee left)" || complain "plot left behind: $(cat left)"
fi
finish
