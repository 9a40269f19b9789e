# shellcheck shell=bash disable=SC2154
# What the tests of scripts/bind-report share; to be sourced.
#
#   report RC ARG...       bind-report must end with RC; its output is in $dir/out and $dir/err
#   refuse RC TEXT ARG...  it must end with RC, nothing on stdout and one line of its own, which has TEXT
. "$abs_top_srcdir/tests/cli_lib.sh"
script=$(cd "$abs_top_srcdir/scripts" && pwd)/bind-report
unset OMP_NUM_THREADS OMP_PLACES OMP_PROC_BIND CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER
# The tests themselves may run in a batch job.
unset PMI_RANK PMI_SIZE PMIX_RANK SLURM_PROCID SLURM_LOCALID SLURM_STEP_NUM_TASKS

report() {
  local want=$1
  shift
  checks=$((checks + 1))
  rc=0
  "$BASH" "$script" "$@" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
  test "$rc" -eq "$want" || complain "bind-report $*: exit code $rc, not $want: $(cat "$dir/err")"
}

refuse() {
  local want=$1 text=$2
  shift 2
  report "$want" "$@"
  test ! -s "$dir/out" || complain "$*: output beside the error: $(cat "$dir/out")"
  grep '^bind-report: ' "$dir/err" >"$dir/own" || true
  if test "$(wc -l <"$dir/own")" -ne 1 ||
    ! grep '^bind-report: error: ' "$dir/own" | grep -qF -- "$text"; then
    complain "$*: no '$text' in: $(cat "$dir/err")"
  fi
}
