# shellcheck shell=sh disable=SC2154
# Running on several ranks, for tests and scripts; to be sourced.
#
#   own_folder             make the folder $dir. When the test ends, also by a signal, the command in $at_end runs, all
#                          processes that the test started are ended, and the folder is removed
#   processes_of FOLDER    process ids: the processes that the test with this $dir started and that still run
#   mpi_run N COMMAND...   run COMMAND on N ranks; where that is impossible and N > 1, exit 77 (skip)
#   solo COMMAND...        run COMMAND as one process without the launcher
#   valgrind_run N ARG...  run the program with ARGs under valgrind on N ranks: exit 9 when it
#                          complains; exit 77 (skip) where that is impossible
#   mpi_grace SECONDS      how long the launcher lets ranks live when another has ended with an error, or
#                          when it is interrupted itself
#   have_mpi               true when more than one rank can be had
#   cpu_only               from here on there is no device: for tests of what is the CPU's own
#   have_cuda              true when the program can use a CUDA device here
#   each_device            the values of --device that work here: cpu, and cuda where there is one
#
# Reads HPGMG_FV (the program), HPGMG_WITH_MPI (no: it was built without MPI), MPIEXEC (the launcher) and
# HPGMG_FV_VALGRIND (the program without AVX-512, empty without valgrind).

# Open MPI 4 and its launcher in 5 (PRTE): root in a container, more ranks than cores, no ptrace
# for shared-memory copies, and ranks that give way to each other while they wait.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism="${OMPI_MCA_btl_vader_single_copy_mechanism:-none}"
export OMPI_MCA_mpi_yield_when_idle="${OMPI_MCA_mpi_yield_when_idle:-1}"
# All ranks are on one host: to look for networks takes 0.2 s of each start.
export OMPI_MCA_pml="${OMPI_MCA_pml:-ob1}"
# Where one rank ends with an error the launcher gives the others a second, at each of hundreds of
# errors. What looks for leaks at the end of a rank needs it.
mpi_grace() {
  export OMPI_MCA_odls_base_sigkill_timeout="$1" PRTE_MCA_odls_base_sigkill_timeout="$1"
}
if test "${HPGMG_SANITIZED:-no}" != yes && test -z "${OMPI_MCA_odls_base_sigkill_timeout:-}"; then mpi_grace 0; fi

# Processes are recognized by their environment, in which the folder is: some are in another process group or session.
own_folder() {
  dir=$(mktemp -d)
  test_folder=$dir at_end=
  export HPGMG_TESTS="${HPGMG_TESTS:-}:$dir:"
  # A second signal would end the trap: timeout(1) passes on what the whole group gets.
  trap "trap '' HUP INT TERM; end_test" EXIT
}

# env -i: grep must not find itself.
processes_of() {
  env -i grep -lsaF -- ":$1:" /proc/[0-9]*/environ | while IFS= read -r test_process; do
    test_process=${test_process#/proc/}
    echo "${test_process%/environ}"
  done
}

end_test() {
  if test -n "$at_end"; then eval "$at_end" || true; fi
  test_signal=TERM test_tries=0
  while test_processes=$(processes_of "$test_folder") && test -n "$test_processes"; do
    # shellcheck disable=SC2086 # words
    kill -s "$test_signal" $test_processes 2>/dev/null || true
    test_tries=$((test_tries + 1))
    test "$test_tries" -lt 30 || test_signal=KILL
    sleep 0.1
  done
  rm -rf "$test_folder"
}

# The launcher (MPIEXEC may carry options), empty when there is none.
mpi_launcher() {
  for mpi_candidate in "${MPIEXEC:-mpirun}" mpirun mpiexec; do
    if command -v "${mpi_candidate%% *}" >/dev/null; then
      echo "$mpi_candidate"
      return 0
    fi
  done
  return 0
}

have_mpi() {
  test "${HPGMG_WITH_MPI:-yes}" = yes && test -n "$(mpi_launcher)"
}

cpu_only() {
  export CUDA_VISIBLE_DEVICES=
}

# Asked once: CUDA takes its time to start.
have_cuda() {
  if test -z "${mpi_cuda:-}"; then
    mpi_cuda=no
    if solo "$HPGMG_FV" 4 1 --verify-only --quiet --device=cuda --cpu-below=0 >/dev/null 2>&1; then
      mpi_cuda=yes
    fi
  fi
  test "$mpi_cuda" = yes
}

each_device() {
  echo cpu
  if have_cuda; then echo cuda; fi
}

mpi_run() {
  mpi_ranks=$1
  shift
  if have_mpi; then
    # A session folder of its own: runs side by side would clean up the common one below each other.
    mpi_folder=$(mktemp -d "${test_folder:-${TMPDIR:-/tmp}}/mpi.XXXXXX") mpi_rc=0
    # Of many ranks that share few cores mpirun takes one now and then for gone before it has read that the rank
    # called MPI_Finalize (open-mpi/ompi, issue 7833). With few ranks such an end stays an error.
    mpi_silent_ends=0
    test "$mpi_ranks" -le 8 || mpi_silent_ends=1
    # A sanitizer's search for leaks takes a second a rank; of several ranks valgrind tells them.
    # shellcheck disable=SC2046 # options of the launcher are words of their own
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 OMPI_MCA_orte_tmpdir_base=$mpi_folder PRTE_MCA_prte_tmpdir_base=$mpi_folder \
      OMPI_MCA_orte_allowed_exit_without_sync=$mpi_silent_ends \
      $(mpi_launcher) -n "$mpi_ranks" "$@" </dev/null || mpi_rc=$?
    rm -rf "$mpi_folder"
    return "$mpi_rc"
  elif test "$mpi_ranks" -eq 1; then
    "$@" </dev/null
  else
    echo "skipped: $mpi_ranks ranks need MPI and mpirun" >&2
    exit 77
  fi
}

# A single process needs no network: Open MPI starts faster without.
solo() {
  OMPI_MCA_btl=self OMPI_MCA_pml=ob1 "$@" </dev/null
}

valgrind_run() {
  valgrind_ranks=$1
  shift
  if test -z "${HPGMG_FV_VALGRIND:-}"; then
    echo "skipped: valgrind is missing or of no use in this build" >&2
    exit 77
  fi
  valgrind_open_mpi=/usr/share/openmpi/openmpi-valgrind.supp
  test -f "$valgrind_open_mpi" || valgrind_open_mpi=$abs_top_srcdir/tests/valgrind.supp
  mpi_grace 2
  mpi_run "$valgrind_ranks" valgrind --quiet --error-exitcode=9 --leak-check=full \
    --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect \
    --suppressions="$abs_top_srcdir/tests/valgrind.supp" --suppressions="$valgrind_open_mpi" \
    "$HPGMG_FV_VALGRIND" "$@"
}
