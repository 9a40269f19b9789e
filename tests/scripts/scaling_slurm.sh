# shellcheck shell=bash disable=SC2154
# scaling_slurm: a weak study on 1, 2 and 4 nodes of a local Slurm, with srun and with mpirun, is submitted, followed,
# collected and plotted. A failing point is named, and repeated with --again. Skips without Slurm (slurm-wlm, munge),
# MPI, jansson or Python.
. "$abs_top_srcdir/tests/lib/scaling_lib.sh"
need_python
have_mpi || skip_test 'needs MPI'
. "$abs_top_srcdir/tests/lib/slurm.sh"
at_end=slurm_stop
slurm_start
# All nodes are one machine, so use TCP. Where Open MPI has UCX, use that: with several Slurm daemons on one machine, a
# rank can still be in the first fence of MPI_Init when another rank's first message arrives, and btl/tcp of Open MPI
# 4.1.4 then calls a handler that is not yet registered (1 crash in about 300 starts).
messages='OMPI_MCA_pml = ob1
OMPI_MCA_btl = tcp,self
OMPI_MCA_btl_tcp_if_include = lo'
if ompi_info --parsable 2>/dev/null | grep -q '^mca:pml:ucx:'; then
  messages='OMPI_MCA_pml = ucx
OMPI_MCA_opal_common_ucx_tls = any
OMPI_MCA_opal_common_ucx_devices = any
UCX_TLS = tcp,self
UCX_NET_DEVICES = lo'
fi
small_study '1, 2, 4' 2 2 4 >"$dir/weak.ini"
cat >>"$dir/weak.ini" <<INI
[batch]
time = 12:00:00
[environment]
$messages
OMPI_MCA_mpi_yield_when_idle = 1
OMPI_ALLOW_RUN_AS_ROOT = 1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = 1
INI

# ends WANT ARG...: the tool must end with exit code WANT.
ends() {
  local want=$1
  shift
  scaling "$@"
  test "$rc" -eq "$want" || complain "scaling $*: exit code $rc, not $want: $(tail -n 3 "$dir/out" "$dir/err")"
}
wait_for_jobs() {
  slurm_wait || complain "Slurm has ended: $(tail -n 20 "$slurm/slurmctld.log")"
}

study=$dir/weak
ends 0 plan "$dir/weak.ini" --program="$HPGMG_FV" --folder="$study"
says 'weak scaling, 2 repeats, slurm, srun'
# The point with 2 nodes fails: its program is /bin/false.
sed -i 's|^program=(.*|program=(/bin/false)|' "$study/jobs/n2.sh"
# Jobs wait until the partition is up.
scontrol update PartitionName=test State=DOWN
ends 0 submit "$study"
test "$(grep -c 'submitted as job' "$dir/out")" -eq 3 || complain "not three jobs: $(cat "$dir/out")"
# Pending points are not submitted again.
ends 0 submit "$study"
if grep -q 'submitted' "$dir/out"; then complain "submitted twice: $(cat "$dir/out")"; fi
scontrol update PartitionName=test State=UP
wait_for_jobs
ends 0 status "$study"
says '^n1 +done +2 of 2'
says '^n2 +failed +0 of 2 repeats, exit code 1'
says '^n4 +done +2 of 2'
# The other points are collected, and the failed one is named.
ends 1 collect "$study"
grep -q 'incomplete: n2' "$dir/err" || complain "n2 is not named: $(cat "$dir/err")"
# Planning again repairs the job; only --again submits it.
ends 0 plan "$dir/weak.ini" --program="$HPGMG_FV" --folder="$study"
ends 1 submit "$study"
says '^n2: failed'
ends 0 submit "$study" --again
says '^n2: submitted as job 4'
test "$(grep -c ': done' "$dir/out")" -eq 2 || complain "done points: $(cat "$dir/out")"
wait_for_jobs
ends 0 collect "$study"
test "$(wc -l <"$study/results.csv")" -eq 7 || complain "results.csv: $(cat "$study/results.csv")"
# Each point ran with the planned number of ranks.
for point in 'n1 2' 'n2 4' 'n4 8'; do
  read -r name ranks <<<"$point"
  grep -q "\"ranks\": $ranks," "$study/runs/$name.1.json" || complain "$name did not run on $ranks ranks"
done
if "$PYTHON" -c 'import matplotlib' 2>/dev/null; then
  ends 0 plot "$study"
  test -s "$study/scaling.png" || complain 'no picture'
fi

# mpirun as launcher. The point of a cancelled job has failed.
sed 's/^\[batch\]/&\nlauncher = mpirun/; s/^nodes .*/nodes = 2/' "$dir/weak.ini" >"$dir/mpirun.ini"
ends 0 run "$dir/mpirun.ini" --program="$HPGMG_FV" --folder="$dir/mpirun" --every=1
says '^n2 .* 2 +[0-9]'
sed 's/^nodes .*/nodes = 1/; s/^min-time .*/min-time = 1000000/' "$dir/weak.ini" >"$dir/long.ini"
ends 0 plan "$dir/long.ini" --program="$HPGMG_FV" --folder="$dir/long"
ends 0 submit "$dir/long"
job=$(sed -n 's/.*submitted as job //p' "$dir/out")
while slurm_lives; do
  case $(scontrol -o show job "$job" 2>/dev/null | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p') in
  '' | PENDING | CONFIGURING) sleep 0.1 ;;
  *) break ;;
  esac
done
ends 0 status "$dir/long"
says "^n1 +running +0 of 2, job $job"
scancel "$job"
wait_for_jobs
ends 0 status "$dir/long"
says '^n1 +failed +0 of 2 repeats'
finish
