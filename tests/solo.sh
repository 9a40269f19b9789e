# shellcheck shell=bash disable=SC2154
# Run a C test as one process; the harness calls this with its command.
. "$abs_top_srcdir/tests/run_mpi.sh"
solo "$@"
