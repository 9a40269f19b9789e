# shellcheck shell=bash disable=SC2154
# Functions for tests of scripts/scaling, in addition to tests/lib/cli_lib.sh. Source this file.
#
#   need_python MODULE...    skip the test if $PYTHON is older than 3.9 or lacks one of the modules
#                            From there on, quick_python is quick for the tool
#   scaling ARG...           run the tool; exit code in $rc, output in $dir/out and $dir/err
#   good ARG...              run the tool; it must end with 0 and no error
#   refuse RC PATTERN ARG... run the tool; it must end with RC and one error line that matches PATTERN
#   small_study NODES REPEATS RANKS BOXES  print a weak study of 16^3 boxes that takes a second
#   $planner                 the program, reported as built with MPI, OpenMP and CUDA; only for plans.
#                            Without a GPU, an nvidia-smi in PATH reports 64 of them
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
need_feature jansson
export OMP_NUM_THREADS=1
own_matplotlib
tool=$abs_top_srcdir/scripts/scaling
# Replace "no" by "yes" in the output of --version.
planner=$dir/planner
cat >"$planner" <<SH
#!/bin/bash
set -o pipefail
"$HPGMG_FV" "\$@" | sed -E 's/^(MPI|OpenMP|CUDA) +no/\1 yes/'
SH
chmod +x "$planner"
unset CUDA_VISIBLE_DEVICES
mkdir "$dir/smi"
cat >"$dir/smi/nvidia-smi" <<'SH'
#!/bin/sh
for bus in $(seq 64); do printf 'GPU-%02d, 00000000:%02X:00.0\n' "$bus" "$bus"; done
SH
chmod +x "$dir/smi/nvidia-smi"
PATH=$PATH:$dir/smi

need_python() {
  local module
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
    skip_test "$PYTHON is not Python 3.9 or newer"
  for module; do need_modules "$module"; done
  serve_python matplotlib.backends.backend_agg matplotlib.{figure,ticker} scipy.optimize \
    concurrent.futures.thread gpus plots.{model,scaling} studies.{collect,forecast,jobs,model_report,plan,progress}
}

small_study() {
  cat <<INI
[study]
kind    = weak
nodes   = $1
repeats = $2
[node]
ranks = $3
[problem]
log2-box-dim   = 4
boxes-per-rank = $4
[options]
warmup     = 0
min-solves = 1
min-time   = 0
INI
}

scaling() {
  checks=$((checks + 1))
  rc=0
  tool_python "$tool" "$@" >"$dir/out" 2>"$dir/err" </dev/null || rc=$?
}

good() {
  scaling "$@"
  if test "$rc" -ne 0 || grep -q 'error' "$dir/err"; then complain "scaling $*: exit code $rc, $(cat "$dir/err")"; fi
}

refuse() { fails scaling "$1" "$2" tool_python "$tool" "${@:3}"; }
