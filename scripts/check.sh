#!/usr/bin/env bash
# Check a change on Debian 12 or Ubuntu 24.04: install missing packages, build with warnings as
# errors, and run all tests.
#
#   scripts/check.sh             all stages
#   scripts/check.sh --quick     skip the sanitizer, race, fuzz and distcheck stages and the longest tests
#   scripts/check.sh --release   also the tests in RELEASE_SHELL (tests/local.am), ParaView and PETSc (large downloads),
#                                builds without each wing, and aarch64 under emulation
#
# Names missing packages, with their size, before it installs them.
# Build folders are under build/check/ and are reused; ccache is used if it is installed. FUZZ_SECONDS
# sets the length of the fuzz stage (default: 10). The last line of output is "N passed, N failed, N
# skipped". It counts every test, and every stage that runs no tests as one.
set -euo pipefail

me=check
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/common.sh
. "$top/scripts/common.sh"

quick=no release=no stage_rc=0 group='' python_group='' later_group=''
exec </dev/null

case ${1-} in
'') ;;
--quick) quick=yes ;;
--release) release=yes ;;
-h | --help) show_help ;;
*) die "unknown argument '$1'; see --help" ;;
esac
count_at_end end_groups

work=$top/build/check
jobs=$(cores)

# --- processes -----------------------------------------------------------------------------------

# start_group LOG COMMAND...: run COMMAND in a new process group, in the background, so that end_group can end it.
start_group() {
  local log=$1
  shift
  set -m
  (
    set +m -e
    "$@"
  ) >"$log" 2>&1 &
  group=$!
  set +m
}

# Wait for the group to end by itself, and set group_rc to its exit code.
wait_group() {
  group_rc=0
  wait "$group" || group_rc=$?
  group=
}

# Ask the group to end and wait until it has: tests need time to end the processes they started.
end_group() {
  [[ -n $group ]] || return 0
  kill -TERM -- "-$group" 2>/dev/null || true
  while kill -0 -- "-$group" 2>/dev/null; do sleep 0.1; done
}

end_groups() {
  end_group
  for group in $python_group $later_group; do end_group; done
}

# --- counting ------------------------------------------------------------------------------------

# stage NAME COMMAND...: run COMMAND and count its exit code as one result; 77 is a skip. Sets stage_rc.
# Prints the end of the output on failure. Do not call it where `set -e` is off (if, ||, &&).
stage() {
  local name=$1 log=$work/$1.log start=$SECONDS
  shift
  say "stage $name"
  start_group "$log" "$@"
  wait_group
  count_stage "$name" "$group_rc" $((SECONDS - start))
}
count_stage() {
  local log=$work/$1.log
  stage_rc=$2
  case $stage_rc in
  0) pass "$1 ($3 s)" ;;
  77) skip "$1: $(tail -n 1 "$log")" ;;
  *)
    tail -n 60 "$log"
    fail "$1 (exit code $stage_rc; full output in ${log#"$top"/})"
    ;;
  esac
}

# later NAME...: start the stages, functions of these names, in the background, one after another. Most of their time is
# compiling: they get the time in which tests leave cores idle, while ranks start and end or a test waits.
later() {
  rm -f "$work"/*.result
  start_group "$work/later.log" run_later "$@"
  later_group=$group group=
}
run_later() {
  local name start rc
  renice -n 19 -p "$BASHPID"
  for name; do
    start=$SECONDS rc=0
    ("${name//-/_}") >"$work/$name.log" 2>&1 &
    wait $! || rc=$?
    echo "$rc $((SECONDS - start))" >"$work/$name.result"
  done
}
# Wait for a stage that `later` started, and count it.
stage_of_later() {
  local rc seconds
  say "stage $1"
  while kill -0 -- "-$later_group" 2>/dev/null && [[ ! -s $work/$1.result ]]; do sleep 0.2; done
  if ! read -r rc seconds <"$work/$1.result"; then
    rc=1 seconds=0
    cp "$work/later.log" "$work/$1.log"
  fi
  count_stage "$1" "$rc" "$seconds"
}

# results_of FOLDER: names of the harness's results there, except those in the archive that distcheck unpacks and tests.
results_of() { find "$1" -name 'hpgmg-fv-[0-9]*' -prune -o -name '*.trs' -print; }

# harness NAME JOBS FOLDER LIST ARG...: run the tests of LIST, an expression of make, with ARGs of make, and count each.
harness() {
  local name=$1 folder=$3 trs test result n=0 failed_before=$failed start=$SECONDS
  say "make check ($name)"
  results_of "$folder" | xargs -r -d '\n' rm -f
  start_group "$work/$name.log" "${no_aslr[@]}" make -C "$folder" -j"$2" -k check TESTS="$4" "${@:5}"
  wait_group
  while IFS= read -r trs; do
    n=$((n + 1))
    test="$name: $(basename "$trs" .trs)"
    result=$(sed -n 's/^:test-result: *\([A-Z]*\).*/\1/p' "$trs" | sed 1q)
    case $result in
    PASS | XFAIL) passed=$((passed + 1)) ;;
    # The harness appends one line after the reason.
    SKIP) skip "$test ($(tail -n 2 "${trs%.trs}.log" | sed 1q))" ;;
    *)
      cat "${trs%.trs}.log"
      fail "$test"
      ;;
    esac
  done < <(results_of "$folder" | sort)
  # Also count a harness that stopped before its tests.
  if ((group_rc != 0 && failed == failed_before)); then
    tail -n 40 "$work/$name.log"
    fail "$name: make check (exit code $group_rc)"
  fi
  say "$name: $n tests ($((SECONDS - start)) s)"
}

# --- stages --------------------------------------------------------------------------------------

# main_build CONFIGURE-ARGUMENT...: with --with-cuda-arch=90, compile the CUDA code for float cells for sm_80. All other
# is for sm_90 and comes from the same sources, so the code of both default architectures is compiled in half the time.
# Tests and the program for valgrind take half the time to compile with -O1.
main_build() {
  local flags reports
  if [[ $* == *--with-cuda-arch=90* ]]; then
    configure_tree "$work/main" --enable-werror "$@"
    flags=$(sed -n 's/^MG_NVCCFLAGS = //p' "$work/main/Makefile")
    make -C "$work/main" -j"$jobs" cuda-float MG_NVCCFLAGS="${flags//_90/_80}" "${nvcc[@]}"
  fi
  configure_tree "$work/main" --enable-werror "$@"
  # Keep the compiler's reports for tests/scripts/vectorized.sh, which else compiles the kernels again. Remove old ones:
  # ccache writes none.
  # shellcheck disable=SC2016 # make variables
  if grep -q '^VEC_REPORT_CFLAGS = *-fopt-info' "$work/main/Makefile"; then
    reports='$(if $(filter src/cpu/%,$@),$(shell rm -f $(@:.o=.vec))-fopt-info-vec-optimized=$(@:.o=.vec))'
  fi
  make -C "$work/main" -j"$jobs" CFLAGS="$CFLAGS ${reports-}" "${nvcc[@]}"
  make -C "$work/main" -j"$jobs" CFLAGS=-O1 check TESTS= "${nvcc[@]}"
}

# The tests that run with AddressSanitizer and UndefinedBehaviorSanitizer. Others cover the code of those left out, or
# they take minutes here: cycle_shape, op_cpu_passes, op_shape, op_transfer and tests/api run all kernels on the CPU.
# shellcheck disable=SC2016 # make variable
sanitizer_tests='$(filter-out
  tests/cli/bench.sh tests/cli/cli.sh tests/cli/dry_run.sh tests/cli/paths.sh tests/cycle/cycle_krylov
  tests/fault/fault_divergence.sh tests/golden/golden% tests/mpi/mpi_agglomeration.sh tests/mpi/mpi_bit_identical.sh
  tests/op/op_al% tests/op/op_deferred_guess tests/op/op_diagonal tests/op/op_fused_% tests/op/op_neumann
  tests/op/op_one_exchange tests/op/op_smoother tests/op/op_truncation tests/op/op_vectors tests/op/op_walls
  tests/parity/parity_% tests/scripts/examples.sh tests/unit/unit_decomp tests/unit/unit_patches
  tests/unit/unit_plan_stats tests/unit/unit_roofline,$(FAST_TESTS))'
# Only their programs are built.
sanitizer_programs=(
  bin_PROGRAMS=hpgmg-fv
  check_PROGRAMS="\$(filter-out %.sh,${sanitizer_tests//$'\n'/}) \$(FAST_MOCKS)"
)

# make_kernels FOLDER CFLAGS ARG...: compile the CPU kernels, with ARGs of make. -O1 takes three times as long to compile as
# -O0, which all the rest has, and UndefinedBehaviorSanitizer twice as long as AddressSanitizer alone.
make_kernels() {
  local kernels=("$top"/src/cpu/*.c)
  kernels=("${kernels[@]#"$top/"}")
  make -C "$1" -j"$jobs" CFLAGS="$2" "${@:3}" libfloat.a "${kernels[@]/%.c/.o}"
}

# HDF5 is serial: only rank 0 writes.
sanitizer_build() {
  local serial=()
  if have_serial_hdf5; then serial=(--with-hdf5=serial); fi
  CFLAGS=-g1 configure_tree "$work/sanitizers" --enable-werror --enable-sanitizers --with-cuda=no "${serial[@]}"
  make_kernels "$work/sanitizers" '-O1 -g1' SAN_CFLAGS=-fsanitize=address
  make -C "$work/sanitizers" -j"$jobs" CFLAGS='-O1 -g1' tests/lib/libfixture.a
  make -C "$work/sanitizers" -j"$jobs" check TESTS= "${sanitizer_programs[@]}"
}

fuzz() {
  local seconds=${FUZZ_SECONDS:-10} hdf5=no
  if ! have_fuzzer; then
    echo 'clang with libFuzzer is missing'
    exit 77
  fi
  if have_serial_hdf5; then hdf5=serial; fi
  CC=clang CFLAGS=-g1 configure_tree "$work/fuzz" --enable-werror --enable-fuzzer --with-cuda=no --with-mpi=no \
    --disable-openmp --with-hdf5=$hdf5
  local targets=(tests/fuzz/fuzz_{params,api}) params
  [[ $hdf5 == no ]] || targets+=(tests/fuzz/fuzz_restart)
  make_kernels "$work/fuzz" -g1 SAN_CFLAGS=-fsanitize=address
  make -C "$work/fuzz" -j"$jobs" "${targets[@]}"
  mkdir -p "$work"/corpus{,-api,-restart}
  # libFuzzer's default exit code for an error is 77, which is a skip here. Keep its default limit of
  # 20 minutes per input: on a busy machine any input can take long.
  local common=(-error_exitcode=1 -artifact_prefix="$work/" -print_final_stats=1)
  "${no_aslr[@]}" "$work/fuzz/tests/fuzz/fuzz_params" "${common[@]}" -max_total_time="$seconds" \
    "$work/corpus" "$top/inputs" >"$work/fuzz-params.log" 2>&1 &
  params=$!
  # Also wait for it if another target fails.
  trap wait EXIT
  "${no_aslr[@]}" "$work/fuzz/tests/fuzz/fuzz_api" "${common[@]}" -max_total_time=$(((seconds + 1) / 2)) -max_len=400 \
    "$work/corpus-api"
  if [[ $hdf5 == serial ]]; then
    # Start from valid files. -close_fd_mask=2 drops the program's error messages.
    local good=$work/corpus-restart/good.hdf
    "$work/main/hpgmg-fv" 4 1 --verify-only --quiet --dump="$good" --dump-precision=float --dump-compress=9 \
      --dump-fields=u,f,beta_i,beta_j,beta_k
    "$work/main/hpgmg-fv" 4 1 --verify-only --quiet --dump="$work/corpus-restart/u.hdf" --dump-fields=u
    LSAN_OPTIONS=suppressions=$top/tests/lib/lsan.supp:print_suppressions=0 FUZZ_GOOD=$good \
      "${no_aslr[@]}" "$work/fuzz/tests/fuzz/fuzz_restart" "${common[@]}" -max_total_time=$(((seconds + 1) / 2)) \
      -max_len=200000 -close_fd_mask=2 "$work/corpus-restart"
  fi
  wait "$params" || { tail -n 60 "$work/fuzz-params.log" && exit 1; }
}

# Data races between threads, by ThreadSanitizer. A race planted in the strips of passes must be reported.
races() {
  if ! have_thread_sanitizer; then
    echo 'clang with ThreadSanitizer and OpenMP is missing'
    exit 77
  fi
  local folder=$work/races rc=0
  # Modules without instrumentation: the OpenMP runtime.
  local options='exitcode=66 halt_on_error=1 ignore_noninstrumented_modules=1'
  local -a run=("${no_aslr[@]}" env OMP_NUM_THREADS=3 OMP_WAIT_POLICY=passive TSAN_OPTIONS="$options")
  # Strips of two rows have the most borders.
  local -a test=("${run[@]}" "$folder/tests/op/op_cpu_passes" 2)
  CC=clang CFLAGS='-g1 -fsanitize=thread' configure_tree "$folder" --with-cuda=no --with-mpi=no --with-hdf5=no \
    --with-jansson=no
  mkdir -p "$folder/src/cpu"
  # Without -O1, ThreadSanitizer also reports that colored steps store cells of the other color, unchanged.
  make_kernels "$folder" '-O1 -g1 -fsanitize=thread'
  rm "$folder"/src/cpu/*pass.o
  # make prefers a source in the build folder.
  sed 's/memory_order_acquire/memory_order_relaxed/' "$top/src/cpu/pass.c" >"$folder/src/cpu/pass.c"
  make -C "$folder" -j"$jobs" tests/op/op_cpu_passes
  "${test[@]}" >"$folder/planted.log" 2>&1 || rc=$?
  rm "$folder/src/cpu/pass.c" "$folder"/src/cpu/*pass.o
  if ((rc != 66)) || ! grep -q 'data race' "$folder/planted.log"; then
    echo "the planted race was not found (exit code $rc; $folder/planted.log)"
    exit 1
  fi
  make -C "$folder" -j"$jobs" tests/op/op_cpu_passes tests/api/api_threads
  "${test[@]}"
  "${run[@]}" "$folder/tests/api/api_threads"
}

# Install packages from PyPI into a virtual environment: VTK and the modules of plot.py, mpi4py for tests/api/python.sh,
# and, for tests/scripts/packages.sh, ReFrame and EasyBuild. Fails without the modules of plot.py.
pypi_packages() {
  if ! has_modules vtk h5py matplotlib scipy; then
    rm -rf "$work/python"
    python3 -m venv "$work/python"
    pip_install vtk h5py matplotlib scipy
    has_modules vtk h5py matplotlib scipy || { echo 'VTK or a module of plot.py cannot be imported' && exit 1; }
  fi
  has_modules mpi4py || pip_install mpi4py || echo 'without mpi4py'
  # Its output differs between versions, so the version is fixed.
  [[ -x $work/python/bin/ruff ]] || pip_install ruff==0.17.6 || echo 'without ruff'
  [[ $release == yes ]] || return 0
  [[ -x $work/python/bin/reframe ]] || pip_install reframe-hpc || echo 'without ReFrame'
  [[ -x $work/python/bin/eb ]] || pip_install easybuild-framework easybuild-easyblocks || echo 'without EasyBuild'
}
# --foreground keeps pip in the group that end_group ends.
pip_install() {
  timeout --foreground 300 "$work/python/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
}

# Debian's packages of Lmod and Environment Modules conflict: unpack the latter and use its script.
environment_modules() {
  local folder=$work/environment-modules
  if compgen -G '/usr/lib/*-linux-gnu/modulecmd.tcl' >/dev/null; then return 0; fi
  if ! compgen -G "$folder/usr/lib/*-linux-gnu/modulecmd.tcl" >/dev/null; then
    mkdir -p "$folder"
    (cd "$folder" && apt-get -q download environment-modules && dpkg-deb -x environment-modules_*.deb .) \
      >"$work/environment-modules.log" 2>&1 || true
  fi
  if MODULES_CMD=$(compgen -G "$folder/usr/lib/*-linux-gnu/modulecmd.tcl"); then
    export MODULES_CMD
  else
    say "without environment-modules: $(tail -n 1 "$work/environment-modules.log")"
  fi
}
has_modules() {
  local list="$*"
  "$PYTHON" -c "import ${list// /, }" 2>/dev/null
}

python_style() {
  local ruff=$work/python/bin/ruff
  if [[ ! -x $ruff ]]; then
    echo 'ruff could not be installed from PyPI'
    exit 77
  fi
  (cd "$top" && "$ruff" check --no-cache examples inputs python scripts tests &&
    "$ruff" format --no-cache --check examples inputs python scripts tests)
}

# List all bash and sh scripts, by first line or name, except tests/scripts/scaling/*.jobs, which hold parts of
# scripts.
shell_scripts() {
  local file
  find "$top/autogen.sh" "$top/.ci" "$top/inputs" "$top/scripts" "$top/tests" -type f ! -name '*.jobs' 2>/dev/null |
    while IFS= read -r file; do
      if [[ $file == *.sh || $file == *.bash ]] || sed -n '1{/^#!.*[/ ]\(ba\)\{0,1\}sh\b/p;}' "$file" | grep -q .; then
        printf '%s\0' "$file"
      fi
    done
}
# Scripts with findings are checked again with the files that they source, which takes four times as long: variables may
# be used there. So are scripts with a cd and without `set -e`, which cli_lib.sh has. xargs fails if shellcheck ends with
# another code than 0 (no finding) or 1.
shell_style() {
  if ! have_command shellcheck; then
    echo 'shellcheck could not be installed'
    exit 77
  fi
  local suspects
  # From the top folder, which the paths of sourced files are relative to.
  cd "$top"
  # shellcheck disable=SC2016 # variables of sh
  suspects=$(shell_scripts |
    xargs -0 -n 4 -P "$jobs" sh -c 'shellcheck --exclude=SC1091,SC2164 --format=gcc "$@" || test $? = 1' sh |
    cut -d: -f1)
  suspects+=$'\n'$(shell_scripts | xargs -0 grep -LE '^ *set -[a-z]*e' |
    xargs -d '\n' grep -lE '(^|[;({]|&&) *cd ' |
    xargs -d '\n' grep -LE '^\. .*/tests/lib/(cli|scaling)_lib\.sh"?$' || true)
  sort -u <<<"$suspects" | sed '/^$/d' | xargs -r -d '\n' -n 4 -P "$jobs" shellcheck --external-sources
}

# Build the archive without any optional part: one process, one thread, no libraries. The nested `make check` runs tests
# that read the archive's files, or use what such a build replaces. Then check that the archive contains every tracked
# file.
distcheck() {
  local units
  units=$(printf 'tests/unit/unit_%s ' agglomeration dump energy gpu_cutoff machine memory_check messages params \
    params_decks params_docs plan_bytes profile restart)
  local tests="$units tests/cli/cli.sh tests/golden/golden.sh tests/scripts/docs.sh"
  local programs="$units tests/mocks/hpgmg-fv-paused tests/lib/report_schema"
  touch "$work/distcheck.start"
  GOLDEN_MAX_GRID=64 make -C "$work/main" -j"$jobs" distcheck TESTS="$tests" check_PROGRAMS="$programs" \
    DISTCHECK_CONFIGURE_FLAGS="CFLAGS=-O1 --with-cuda=no --with-mpi=no --disable-openmp --with-jansson=no --with-hdf5=no"
  [[ -e $top/.git ]] && have_command git || return 0
  local archive missing
  archive=$(find "$work/main" -maxdepth 1 -name 'hpgmg-fv-*.tar.gz' -newer "$work/distcheck.start")
  missing=$(comm -23 \
    <(git -C "$top" ls-files | grep -vx .gitattributes | sort) \
    <(tar -tzf "$archive" | sed 's|^[^/]*/||' | sort))
  if [[ -n $missing ]]; then
    echo "tracked files missing from $(basename "$archive"); add them to a list in Makefile.am:"
    echo "$missing"
    return 1
  fi
}

# without WINGS TEST...: build the program without these wings, and run TESTs.
without() {
  local folder=$work/wings wings=$1 programs
  shift
  programs=$(printf '%s\n' "$@" | grep -v '\.sh$' | xargs)
  CFLAGS=-O1 configure_tree "$folder" --enable-werror "${without_cuda[@]}" --disable-wings="$wings"
  make -C "$folder" -j"$jobs" hpgmg-fv
  GOLDEN_MAX_GRID=64 make -C "$folder" -j"$jobs" check TESTS="$*" check_PROGRAMS="$programs" check_DATA=
}

# The core alone, with some of its tests.
without_cuda=(--with-cuda=no)
core() {
  without all tests/golden/golden.sh tests/cli/wings.sh tests/op/op_transfer tests/unit/unit_{copy_plan,messages,sum}
}

# The absence of each wing on a CPU, and that of all with the CUDA code of the core.
wings() {
  local wing names
  names=$(sed -n 's/^m4_define(\[mg_all_wings\], \[\(.*\)\])/\1/p' "$top/m4/mg_wings.m4")
  for wing in $names; do
    without "$wing" tests/cli/wings.sh tests/op/op_transfer
  done
  ((${#cuda[@]} == 0)) || without_cuda=("${cuda[@]}") without all tests/cli/wings.sh
}

# aarch64, emulated: the residuals are those of this machine in all digits, with NEON and with SVE.
aarch64() {
  local folder=$work/aarch64 march options
  local -a emulated=(qemu-aarch64-static -cpu max -L /usr/aarch64-linux-gnu "$folder/hpgmg-fv")
  if ! have_aarch64 || ! "${emulated[0]}" --version >/dev/null 2>&1; then
    echo 'no aarch64-linux-gnu-gcc or qemu-aarch64-static'
    return 77
  fi
  for march in armv8-a armv8.2-a+sve; do
    configure_tree "$folder" --enable-werror --host=aarch64-linux-gnu --with-march="$march" --with-cuda=no --with-mpi=no \
      --with-hdf5=no --with-jansson=no
    make -C "$folder" -j"$jobs" hpgmg-fv
    while read -r -a options; do
      echo "$march: ${options[*]}"
      residuals "${emulated[@]}" "${options[@]}" >"$folder/emulated"
      residuals "$work/main/hpgmg-fv" "${options[@]}" | diff - "$folder/emulated"
    done <<<'4 8
4 8 --operator=fv4
4 8 --operator=27pt --boundary=periodic
5 1 --smoother=chebyshev --precision=mixed
5 1 --operator=7pt --smoother=symgs --krylov=cg --rtol=1e-10
--cells=33x20x17 --stretch=z:tanh:2
--cells=24x32x16 --boundary=neumann --rtol=1e-9'
  done
}
residuals() { "$@" --verify-only --device=cpu | grep ' cycle  *[0-9]'; }

# Older sanitizers crash at random under the address randomization of newer kernels.
no_aslr=(env)
if setarch -R true 2>/dev/null; then no_aslr=(setarch -R); fi

# --- the run -------------------------------------------------------------------------------------

mkdir -p "$work"

# What only some stages and tests need; they skip without it. Same form as requirements in common.sh.
have_venv() { python3 -c 'import venv, ensurepip' 2>/dev/null; }
have_lmod() { compgen -G '/usr/share/lmod/*/libexec/lmod' >/dev/null; }
have_hwloc() { have_command hwloc-bind && have_command lstopo-no-graphics; }
have_aarch64() { have_command aarch64-linux-gnu-gcc && have_command qemu-aarch64-static; }
have_petsc() { pkg-config --exists PETSc 2>/dev/null; }
have_serial_hdf5() { pkg-config --exists hdf5-serial 2>/dev/null; }
# The package paraview conflicts with python3-vtk9.
have_paraview() { have_command pvpython && have_command xvfb-run; }
have_slurm() { have_command sbatch && PATH=$PATH:/usr/sbin have_command munged; }
optional='
  have_venv                    | python3 python3-venv
  have_command h5diff          | hdf5-tools
  have_command clang-format-14 | clang-format-14
  have_command shellcheck      | shellcheck
  have_command patch           | patch
  have_command cmake           | cmake
  have_command gfortran        | gfortran
  have_hwloc                   | hwloc-nox
'
[[ $quick == yes ]] || optional+='
  have_command valgrind        | valgrind
  have_command clang           | clang
  have_serial_hdf5             | libhdf5-dev
'
[[ $release == no ]] || optional+='
  have_lmod                    | lmod
  have_command tclsh           | tcl
  have_slurm                   | slurm-wlm munge
  have_command jube            | jube
  test -d /usr/include/hypre   | libhypre-dev
  have_petsc                   | petsc-dev
  have_aarch64                 | gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
  have_paraview                | paraview python3-paraview xvfb xauth libgl1-mesa-dri
'
# install_optional TABLE: install the packages of all checks that fail: together, or one by one if that fails.
install_optional() {
  local line packages
  packages=$(missing_packages "$1" | tr '\n' ' ')
  [[ -n $packages ]] || return 0
  # shellcheck disable=SC2086 # split into words
  apt_install $packages || while read -r line; do
    # shellcheck disable=SC2086
    apt_install $line || say "without $line: $why"
  done < <(missing_packages "$1")
}

# Do not compile again what ccache, if it is installed, has compiled before.
nvcc=()
if have_command ccache && [[ -d /usr/lib/ccache ]]; then
  export PATH=/usr/lib/ccache:$PATH CCACHE_BASEDIR=$top
  if nvcc_path >/dev/null; then nvcc=(NVCC="ccache $(nvcc_path)"); fi
fi

PYTHON=$work/python/bin/python
export PYTHON
pypi='vtk (110 MB), h5py, matplotlib, scipy, mpi4py, ruff'
[[ $release == no ]] || pypi+=', reframe-hpc, easybuild'
[[ -x $work/python/bin/ruff ]] ||
  say "will install from PyPI below build/check/, in the background: $pypi; 300 MB to download, 1200 MB on disk"
install_optional "$requirements$optional"
install_requirements
start_group "$work/python.log" pypi_packages
python_group=$group group=
[[ $release == no || -n ${MODULES_CMD-} ]] || environment_modules
if [[ $quick == no ]]; then
  # The names of these packages include the version of clang.
  version=$(clang --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
  [[ -z $version ]] || install_optional "
    have_fuzzer           | libclang-rt-$version-dev
    have_thread_sanitizer | libomp-$version-dev"
fi

# Wait until PYTHON is a Python with the modules of plot.py: that of PyPI, or else Debian's.
wait_for_python() {
  group=$python_group python_group=
  wait_group
  while IFS= read -r line; do say "$line (${work#"$top"/}/python.log)"; done < <(grep '^without ' "$work/python.log")
  if ((group_rc != 0)); then
    say "without PyPI: $(tail -n 1 "$work/python.log")"
    have_plots() { has_modules h5py matplotlib scipy; }
    PYTHON=python3
    have_plots || PYTHON=/usr/bin/python3
    install_optional 'have_plots | python3-h5py python3-matplotlib python3-scipy'
  fi
  if [[ -z ${REFRAME-} && -x $work/python/bin/reframe ]]; then export REFRAME=$work/python/bin/reframe; fi
}
# Without this, ReFrame would build the program again.
export PACKAGES_BUILD=no

stage format "$top/scripts/check-format.sh"
stage includes "$top/scripts/check-includes.sh"
stage shell-style shell_style
cuda=()
if ! nvcc_path >/dev/null; then
  skip 'CUDA code: there is no nvcc to compile it'
elif [[ -e /dev/nvidiactl ]]; then
  cuda=(--with-cuda) # for this machine's GPU
else
  # No CUDA code runs, so skip slow optimizers. Compress it most: that takes 20 s of CPU time, but more than 100 programs
  # are linked with all of it, 1 MB instead of 40.
  flags=
  for flag in --Ofast-compile=max --compress-mode=size; do
    if [[ $("$(nvcc_path)" --help) == *"${flag%%=*}"* ]]; then flags+=" $flag"; fi
  done
  cuda=(--with-cuda --with-cuda-arch=90 NVCCFLAGS="$flags")
fi
# Without -g: tests are linked faster.
CFLAGS=-O3 stage build main_build "${cuda[@]}"
built=$stage_rc
stage core core
if [[ $release == yes ]]; then
  stage wings wings
  stage aarch64 aarch64
fi
wait_for_python
stage python-style python_style
# Tests run in one job more than there are cores, because cores idle while ranks start and end.
tests=COMMIT_TESTS
[[ $quick == no ]] || tests=QUICK_TESTS
[[ $release == no ]] || tests=ALL_TESTS
[[ $quick == yes ]] || later sanitizer-build races fuzz distcheck
[[ $built != 0 ]] || harness tests $((jobs + 1)) "$work/main" "\$($tests)"
if [[ $quick == no ]]; then
  stage_of_later sanitizer-build
  # Run C tests on the CPU backend only: guard memory has no red zones for ASan and doubles the time.
  [[ $stage_rc != 0 ]] ||
    FIXTURE_BACKEND=cpu harness sanitizer-tests $((jobs + 1)) "$work/sanitizers" "${sanitizer_tests//$'\n'/}" \
      "${sanitizer_programs[@]}"
  for name in races fuzz distcheck; do stage_of_later "$name"; done
fi
finished=yes
