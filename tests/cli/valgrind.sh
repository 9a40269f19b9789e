# shellcheck shell=bash disable=SC2154
# valgrind: no invalid access, no use of uninitialized values and no leak, on one and two ranks and in a dry run. fault.sh
# looks for leaks at errors, in builds with sanitizers.
. "$abs_top_srcdir/tests/lib/run_mpi.sh"
cpu_only
set -eu
own_folder

# clean RANKS ARG...: the program must end with exit code 0; valgrind's errors end with 9.
clean() {
  local rc=0
  valgrind_run "$@" >"$dir/out" 2>&1 || rc=$?
  if test "$rc" -eq 77; then cat "$dir/out" && exit 77; fi
  if test "$rc" -ne 0; then
    echo "$*: exit code $rc"
    cat "$dir/out"
    exit 1
  fi
}

clean 1 4 1 --verify-only --boundary=periodic --csv="$dir/out.csv"
clean 1 4 1 --verify-only --operator=7pt --smoother=symgs --cycle=v --krylov=cg --rtol=1e-3 --levels-breakdown
clean 1 --dry-run --ranks=1000 4 8
have_mpi || exit 0
clean 2 4 4 --verify-only --operator=fv4 --equation=helmholtz --smoother=chebyshev --csv="$dir/out.csv"
