# shellcheck shell=bash disable=SC2016,SC2154,SC2317
# scaling_local: studies on this machine. The folder is copied, moved and planned again; the study is edited; cores are
# few; jobs are stopped; pictures are drawn; files in [options] have relative paths. Runs $PYTHON; skips without it or
# without jansson.
. "$abs_top_srcdir/tests/lib/scaling_lib.sh"
need_python
cd "$dir" || exit 1

small_study 1 1 1 1 >small.ini
plan() {
  good plan "$@" --system=local --program="$HPGMG_FV"
}

# --- the folder ----------------------------------------------------------------------------------

# The jobs of a copy run in the original folder until it is planned; its results can be read.
plan small.ini --folder=first
cp -r first copy
refuse 2 'was copied or moved from .*/first, and its jobs would run there; plan again' submit copy
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
test -e copy/runs/n1.1.json || complain 'a planned copy did not run'
mv copy moved
good status moved
refuse 2 'was copied or moved' submit moved --again
# A symbolic link names the same folder.
ln -s first link
good submit link
says '^n1: done'

# An edited study must be planned again. Only repeats may change.
sed -i 's/^repeats .*/repeats = 2/' first/study.ini
refuse 2 'first/study.ini was changed after planning; .*scaling plan first/study.ini --folder=first' status first
plan first/study.ini --folder=first
grep -q 'repeats=2' first/jobs/n1.sh || complain 'the repeats of job and study differ'
good submit first --again
good status first
says '^n1 +done +2 of 2'
sed -i 's/^boxes-per-rank .*/boxes-per-rank = 8/' first/study.ini
refuse 2 'first holds another study' plan first/study.ini --system=local --program="$HPGMG_FV" --folder=first

# Results of two programs are not mixed.
mkdir other
ln -s "$HPGMG_FV" other/hpgmg-fv
refuse 2 'moved has runs of hpgmg-fv .*, which cannot be mixed' \
  plan moved/study.ini --system=local --program=other/hpgmg-fv --folder=moved
rm moved/runs/n1.1.json
good plan moved/study.ini --system=local --program=other/hpgmg-fv --folder=moved

# --- cores ---------------------------------------------------------------------------------------

# Two ranks run even if Open MPI counts one core with two hardware threads, or takes its slots from another job.
# usable_cores counts a core with hardware threads once, and only cores in the affinity of the process.
if have_mpi; then
  sed 's/^nodes .*/nodes = 2/' small.ini >core.ini
  plan core.ini
  (
    unset OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_rmaps_default_mapping_policy
    export HWLOC_SYNTHETIC='numa:1 core:1 pu:2' HWLOC_THISSYSTEM=1
    scaling submit core
    exit "$rc"
  ) || complain "two hardware threads: $(cat out core/runs/n2.1.log)"
  sed 's/^ranks .*/ranks = 2\nnuma = 2/' small.ini >domains.ini
  plan domains.ini
  good submit domains
fi
in_python 'cores of a process' <<'PY'
from studies import systems
systems.os.sched_getaffinity = lambda pid: {0, 2, 4, 5}
systems.siblings_of = lambda cpu: f"{cpu & ~1}-{cpu | 1}"
assert systems.usable_cores() == 3, systems.usable_cores()
PY

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
# start FOLDER: submit it in the background, as process $tool_pid, and wait until its solver runs.
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
  says "^n2: not started, n1 is running \(process $job "
fi
kill -TERM "$tool_pid"
rc=0
wait "$tool_pid" || rc=$?
test "$rc" -eq 143 || complain "after SIGTERM: exit code $rc, $(cat submit.err)"
grep -q '^scaling: error: SIGTERM ended this program and jobs/n1.sh' submit.err || complain "SIGTERM: $(cat submit.err)"
until_gone "$job"
good status long
says '^n1 +failed +0 of 1 repeat, the job ended before the other repeats: see runs/n1.out'
test -e long/runs/n1.out || complain 'status names a file that does not exist'
# If submit is killed, status still finds the job, and no second one is started.
start long --again --only=n1
kill -KILL "$tool_pid"
wait "$tool_pid" 2>/dev/null || true
good status long
says "^n1 +running +0 of 1, job process $job "
kill -TERM -- "-$job" || complain "there is no process group $job"
until_gone "$job"
good status long
says '^n1 +failed'
# Another process with the same id is not the job.
sed -i "s/process [0-9]* /process $$ /" long/state.json
good status long
says '^n1 +failed'

# Of several concurrent submits, one runs the point.
plan small.ini --folder=race
for n in 1 2 3; do
  "$PYTHON" "$tool" submit race >"race.$n" 2>&1 </dev/null &
done
wait
test "$(cat race.[123] | grep -c '^n1: 1 rank')" -eq 1 || complain "started by several: $(cat race.[123])"

# A truncated report is named, skipped and repeated.
sed 's/^repeats .*/repeats = 2/' small.ini >cut.ini
plan cut.ini
good submit cut
truncate -s 100 cut/runs/n1.1.json
scaling collect cut
test "$rc" -eq 1 || complain "damaged report: exit code $rc"
grep -q '^scaling: warning: .*/n1.1.json is damaged and skipped' err || complain "damaged report: $(cat err)"
test "$(wc -l <cut/results.csv)" -eq 2 || complain "the other report was not collected: $(cat cut/results.csv)"
good status cut
says '^n1 +failed +1 of 2 repeats, runs/n1.1.json is damaged'
good submit cut --again
good status cut
says '^n1 +done +2 of 2'

# If the output ends with a message of Open MPI between lines of dashes, status prints its first line.
sed -i 's/^launch=(.*/launch=(false)/' long/jobs/n1.sh
scaling submit long --again --only=n1
printf '%s\n' ---- 'not enough slots' 'more words' ---- >long/runs/n1.1.log
scaling status long
says '^n1 +failed +0 of 1 repeat, exit code 1: not enough slots$'

# The command `module` is defined in login shells.
sed 's/^\[options\]/[batch]\nmodules = solver\n&/' small.ini >module.ini
plan module.ini
mkdir profile
echo 'unset BASH_ENV; module() { echo "loaded $2"; }' >profile/.bash_profile
HOME=$dir/profile good submit module
says '^loaded solver$'

# --- files of options ----------------------------------------------------------------------------

# Their paths are relative to the study's file, independent of where plan and jobs run.
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
refuse 2 'dump must not be set: every run would write the same file' plan deck/dump.ini
# A deck must not set reserved options either.
for line in 'csv = x.csv' 'dump = x.hdf'; do
  printf '[output]\n%s\n' "$line" >deck/more.ini
  sed 's/^\[options\]/&\ninput = more.ini/' small.ini >deck/writes.ini
  refuse 2 "more.ini sets ${line%% *} = .*, which a study's deck must not set" plan deck/writes.ini --program="$HPGMG_FV" --system=local
done
sed 's/^\[options\]/&\nverify-only = yes/' small.ini >deck/verifies.ini
refuse 2 'verify-only must not be set: a study needs times' plan deck/verifies.ini
# A user's problem has no error and order (NaN); collect must not report these as differences.
if have_feature HDF5; then
  ok 1 4 1 --device=cpu --verify-only --quiet --dump=deck/own.hdf --dump-fields=beta_i,beta_j,beta_k,f
  sed 's/^\[options\]/&\ncoefficients = own.hdf\nrhs = own.hdf/; s/^repeats .*/repeats = 2/' small.ini >deck/own.ini
  plan deck/own.ini --folder=own
  good submit own
  good collect own
  test ! -s err || complain "user's problem: $(cat err)"
  refuse 2 'has no solve of 2h; use --grid=h' plot own --grid=2h
fi
# plot leaves no files in the home or temporary folder.
if "$PYTHON" -c 'import matplotlib' 2>/dev/null && have_mpi; then
  sed 's/^nodes .*/nodes = 1, 2/' small.ini >two.ini
  plan two.ini
  good submit two
  mkdir home tmp
  (served=no && unset MPLCONFIGDIR XDG_CACHE_HOME XDG_CONFIG_HOME && HOME=$dir/home TMPDIR=$dir/tmp scaling plot two) || true
  test -s two/scaling.png || complain 'no picture'
  refuse 2 'x.jpg: the name of a picture must end in .png, .svg, .pdf' plot two --output=x.jpg
  test -z "$(find home tmp -mindepth 1 | tee left)" || complain "plot left files: $(cat left)"
fi
finish
