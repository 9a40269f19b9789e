# shellcheck shell=bash disable=SC2154
# valgrind: no invalid access, no use of uninitialized values and no leak, on one and two ranks, in a dry run, and in a
# run that ends with an error. fault.sh looks for leaks at other errors, in builds with sanitizers.
. "$abs_top_srcdir/tests/lib/run_mpi.sh"
cpu_only
set -eu
own_folder

# clean WANTED RANKS ARG...: the program must end with exit code WANTED; valgrind's errors end with 9.
clean() {
  local wanted=$1 rc=0
  shift
  valgrind_run "$@" >"$dir/out" 2>&1 || rc=$?
  if test "$rc" -eq 77; then cat "$dir/out" && exit 77; fi
  if test "$rc" -ne "$wanted"; then
    echo "$*: exit code $rc, not $wanted"
    cat "$dir/out"
    exit 1
  fi
}

clean 0 1 4 1 --verify-only --boundary=periodic --csv="$dir/out.csv"
clean 0 1 4 1 --verify-only --operator=7pt --smoother=symgs --cycle=v --krylov=cg --rtol=1e-3 --levels-breakdown
clean 0 1 --dry-run --ranks=1000 4 8
clean 3 1 4 1 --csv="$dir/no/out.csv"
have_mpi || exit 0
clean 0 2 4 4 --verify-only --operator=fv4 --equation=helmholtz --smoother=chebyshev --csv="$dir/out.csv"
