# shellcheck shell=bash disable=SC2154
# Run a C test as one process. The harness passes the command; exec lets signals reach the test.
export OMPI_MCA_btl=self OMPI_MCA_pml=ob1
exec "$@" </dev/null
