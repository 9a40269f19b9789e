# shellcheck shell=sh disable=SC2154
# Functions to run programs on several ranks, for tests and scripts; to be sourced.
#
#   own_folder             create the folder $dir. When the test ends, also by a signal, run the command in $at_end, end
#                          all processes that the test started, and remove the folder
#   skip_test REASON       end the test as skipped
#   processes_of FOLDER    print the ids of running processes that the test with this $dir started
#   mpi_run N COMMAND...   run COMMAND on N ranks; if that is impossible and N > 1, skip the test
#   solo COMMAND...        run COMMAND as one process without the launcher
#   valgrind_run N ARG...  run the program with ARGs under valgrind on N ranks; exit code 9 if valgrind
#                          reports an error; skip the test if that is impossible
#   mpi_grace SECONDS      set how long the launcher lets ranks run after another rank has failed, or
#                          after it was interrupted
#   have_mpi               true if several ranks can run
#   cpu_only               hide all devices from here on, for tests of the CPU only
#   have_cuda              true if the program can use a CUDA device
#   each_device            print the values of --device that work: cpu, and cuda if present
#
# Reads HPGMG_FV (the program), HPGMG_WITH_MPI (no: built without MPI), MPIEXEC (the launcher) and
# HPGMG_FV_VALGRIND (the program, without AVX-512; empty without valgrind).

# Settings of Open MPI 4, and of 5 (PRTE): allow root and more ranks than cores, do not use ptrace for
# shared-memory copies, and let waiting ranks yield.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_hwloc_base_binding_policy=none PRTE_MCA_hwloc_default_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism="${OMPI_MCA_btl_vader_single_copy_mechanism:-none}"
export OMPI_MCA_mpi_yield_when_idle="${OMPI_MCA_mpi_yield_when_idle:-1}"
# All ranks are on one host. Without this, Open MPI searches for networks, which takes 0.2 s per start.
export OMPI_MCA_pml="${OMPI_MCA_pml:-ob1}"
# hwloc has plugins for GPUs and PCI. Without a GPU, do not load them, with X11 and OpenCL: a sixth of the CPU time of a
# start.
test -e /dev/nvidiactl || export HWLOC_PLUGINS_PATH="${HWLOC_PLUGINS_PATH:-/none}"
# If a rank fails, the launcher by default waits a second before it kills the others. Skip the wait, as
# tests cause hundreds of errors; only leak checkers need the time.
mpi_grace() {
  export OMPI_MCA_odls_base_sigkill_timeout="$1" PRTE_MCA_odls_base_sigkill_timeout="$1"
}
if test "${HPGMG_SANITIZED:-no}" != yes && test -z "${OMPI_MCA_odls_base_sigkill_timeout:-}"; then mpi_grace 0; fi

# Processes are identified by HPGMG_TESTS in their environment: some are in another process group or session.
own_folder() {
  dir=$(mktemp -d)
  test_folder=$dir at_end=
  export HPGMG_TESTS="${HPGMG_TESTS:-}:$dir:"
  export HPGMG_PROGRESS=no # its lines depend on the time that a run takes
  # Ignore further signals in the trap: timeout(1) forwards a signal that the whole group has received already.
  trap "trap '' HUP INT TERM; end_test" EXIT
}

skip_test() {
  echo "skipped: $*" >&2
  exit 77
}

# env -i hides grep from itself.
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

# The launcher, with options if MPIEXEC has some; empty without one.
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

# Cached, because starting CUDA is slow.
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
    # Use a private session folder: concurrent runs would remove each other's files in a common one.
    mpi_folder=$(mktemp -d "${test_folder:-${TMPDIR:-/tmp}}/mpi.XXXXXX") mpi_rc=0
    # With more ranks than cores, mpirun may notice the exit of a rank before its MPI_Finalize (open-mpi/ompi issue
    # 7833). Tolerate that only there.
    mpi_silent_ends=0
    test "$mpi_ranks" -le "$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)" || mpi_silent_ends=1
    # Waiting ranks leave their cores to others (tests/mocks/patient_mpi.c).
    mpi_patient=${abs_top_builddir:-}/tests/mocks/patient_mpi.so
    case $mpi_patient in *[\ :]*) mpi_patient= ;; esac # separators of LD_PRELOAD
    test -e "$mpi_patient" || mpi_patient=
    # MPI's messages leak memory; valgrind has suppressions for that. AddressSanitizer wants to be preloaded first.
    # shellcheck disable=SC2046 # split the launcher's options into words
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:verify_asan_link_order=0 \
      LD_PRELOAD=$mpi_patient \
      OMPI_MCA_orte_tmpdir_base=$mpi_folder PRTE_MCA_prte_tmpdir_base=$mpi_folder \
      OMPI_MCA_orte_allowed_exit_without_sync=$mpi_silent_ends \
      $(mpi_launcher) -n "$mpi_ranks" "$@" </dev/null || mpi_rc=$?
    rm -rf "$mpi_folder"
    return "$mpi_rc"
  elif test "$mpi_ranks" -eq 1; then
    "$@" </dev/null
  else
    skip_test "$mpi_ranks ranks need MPI and mpirun"
  fi
}

# A single process needs no network; Open MPI starts faster without.
solo() {
  OMPI_MCA_btl=self OMPI_MCA_pml=ob1 "$@" </dev/null
}

valgrind_run() {
  valgrind_ranks=$1
  shift
  test -n "${HPGMG_FV_VALGRIND:-}" || skip_test 'valgrind is missing or does not work with this build'
  valgrind_open_mpi=/usr/share/openmpi/openmpi-valgrind.supp
  test -f "$valgrind_open_mpi" || valgrind_open_mpi=$abs_top_srcdir/tests/lib/valgrind.supp
  mpi_grace 2
  mpi_run "$valgrind_ranks" valgrind --quiet --error-exitcode=9 --leak-check=full \
    --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect \
    --suppressions="$abs_top_srcdir/tests/lib/valgrind.supp" --suppressions="$valgrind_open_mpi" \
    "$HPGMG_FV_VALGRIND" "$@"
}
