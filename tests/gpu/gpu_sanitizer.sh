# shellcheck shell=bash disable=SC2154
# gpu_sanitizer: memcheck, racecheck, initcheck and synccheck of compute-sanitizer report no errors in
# - runs of 32^3 cells: every operator and smoother, periodic boundaries, all bottom solvers, levels on the CPU in
#   either kind of memory, a varying alpha, conjugate gradients, a dump, and domains of other shapes;
# - kernels of large levels: 64^3 cells for fv4, 128^3 for the others;
# - fused sweeps and their residuals on levels of 96^3 cells (op_fused_*; memcheck, synccheck), and guesses that are not
#   stored (op_deferred_guess);
# - a process that sends messages to itself (gpu_p2p_exchange), and two ranks that exchange messages (memcheck,
#   synccheck).
# SANITIZER_JOBS runs are concurrent (default: number of CPUs, at most 16; 0: skip). TEST_PART=K/N runs part K of N.
# Skips without a device or the tool.
set -eu
. "$abs_top_srcdir/tests/lib/run_mpi.sh"
have_cuda || skip_test 'no CUDA device, or build without CUDA'
test "${SANITIZER_JOBS:-1}" -ne 0 || skip_test 'SANITIZER_JOBS is 0'
PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer >/dev/null || skip_test 'no compute-sanitizer'
own_folder
most=$(nproc)
test "$most" -le 16 || most=16
most=${SANITIZER_JOBS:-$most}
part=${TEST_PART:-1/1}
parts=${part#*/} part=${part%/*}
test "$part" -ge 1 && test "$part" -le "$parts"

# Skip if the tool does not support this machine.
if ! solo compute-sanitizer --error-exitcode 9 "$HPGMG_FV" 4 1 --verify-only --quiet --device=cuda \
  >"$dir/first" 2>&1 && grep -qi 'not supported' "$dir/first"; then
  skip_test "compute-sanitizer does not work here: $(grep -i -m 1 'not supported' "$dir/first")"
fi

# Files of coefficients with a varying alpha, for 32^3 and 64^3 cells: fields of a dump, without its list of checksums.
for log2 in 4 5; do
  if command -v h5copy >/dev/null &&
    solo "$HPGMG_FV" $log2 8 --verify-only --quiet --device=cpu --dump="$dir/dump.hdf" \
      --dump-fields=f,beta_i,beta_j,beta_k,dinv 2>/dev/null; then
    for field in f beta_i beta_j beta_k dinv:alpha; do
      h5copy -p -i "$dir/dump.hdf" -o "$dir/alpha$log2.hdf" -s "/VTKHDF/CellData/${field%:*}" \
        -d "/VTKHDF/CellData/${field#*:}"
    done
  fi
done

{
  for op in fv2 fv4 7pt; do
    for smoother in gsrb chebyshev jacobi l1jacobi symgs; do
      echo "4 8 --operator=$op --smoother=$smoother --cpu-below=0"
    done
    echo "4 8 --operator=$op --boundary=periodic --cpu-below=0"
    echo "4 8 --operator=$op --bottom=smoother --cycle=v --cpu-below=600"
    echo "4 8 --operator=$op --bottom=smoother --cpu-below=600 --memory=unified --boundary=periodic"
  done
  for op in fv2 fv4 7pt; do
    echo "4 8 --operator=$op --precision=mixed --cpu-below=0"
    echo "4 8 --operator=$op --precision=mixed --smoother=chebyshev --boundary=periodic --cpu-below=600"
  done
  echo '7 1 --cpu-below=1000000 --precision=mixed --smooths=1'
  echo '5 8 --operator=fv4 --cpu-below=100000'
  echo '5 8 --operator=fv4 --smoother=chebyshev --boundary=periodic --cpu-below=100000'
  for steps in 1 2; do
    echo "7 1 --cpu-below=1000000 --steps-per-pass=$steps --smooths=1"
    echo "7 1 --cpu-below=1000000 --steps-per-pass=$steps --smoother=chebyshev --degree=2"
  done
  echo '5 27 --cpu-below=100000' # three fused half sweeps
  echo '5 27 --cpu-below=100000 --precision=mixed'
  echo '5 27 --cpu-below=100000 --precision=mixed --smoother=chebyshev --boundary=periodic'
  echo '7 1 --cpu-below=1000000 --smoother=l1jacobi'
  echo '5 27 --cpu-below=100000 --smoother=chebyshev --boundary=periodic'
  for op in fv2 7pt; do
    # One cycle; more repeat its launches.
    echo "--cells=37x21x18 --operator=$op --cpu-below=0 --rtol=0.5 --stretch=x:tanh:2,z:tanh:1.5" \
      --boundary=neumann:1,dirichlet:2,robin:1:2:3,neumann,periodic,periodic
    echo "--cells=70x1x33 --operator=$op --cpu-below=0 --rtol=0.5 --precision=mixed --smoother=chebyshev" \
      --boundary=neumann --mean=2
  done
  echo '4 8 --cpu-below=0 --levels-breakdown --min-solves=1 --min-time=0'
  if solo "$HPGMG_FV" --version | grep -q '^HDF5 *[^n ]'; then
    echo '4 8 --cpu-below=600 --krylov=cg --rtol=1e-9 --dump=@.hdf --dump-fields=all --dump-levels=all'
  fi
  if test -e "$dir/alpha4.hdf"; then
    for op in fv2 fv4 7pt; do
      for smoother in gsrb chebyshev l1jacobi; do
        echo "--coefficients=$dir/alpha4.hdf --operator=$op --smoother=$smoother --cpu-below=0"
      done
    done
    for smoother in gsrb chebyshev; do
      echo "--coefficients=$dir/alpha5.hdf --operator=fv4 --smoother=$smoother --cpu-below=100000"
    done
  fi
} >"$dir/cases"

# check NUMBER TOOL RANKS PROGRAM ARG...: write $dir/found.NUMBER.TOOL if the tool reports errors.
check() {
  local number=$1 tool=$2 ranks=$3 rc=0 clean start
  local -a filter=()
  shift 3
  # In the bottom solve, warps without cells join the others' barriers in a loop (cuda/coarse/krylov_cells.h). This is defined
  # in PTX, but synccheck reports it, also for barriers with an explicit number of threads.
  test "$tool" != synccheck || filter=(--kernel-name-exclude 'regex=_Z6bottomI|cycle_kernelILb0')
  start=solo
  test "$ranks" -eq 1 || start="mpi_run $ranks"
  $start compute-sanitizer --tool "$tool" "${filter[@]}" --error-exitcode 9 "$@" \
    >"$dir/$number.$tool" 2>&1 || rc=$?
  clean=$(grep -cE 'ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards' "$dir/$number.$tool" || true)
  test "$clean" -eq "$ranks" || rc=9
  test "$rc" -eq 0 && return
  {
    echo "$tool, $*: exit code $rc"
    grep '=========' "$dir/$number.$tool" | head -n 20
  } >"$dir/found.$number.$tool"
}

number=0 checks=0
# with_tools RANKS TOOLS PROGRAM ARG...: start a check with each tool in the background; @ in ARG becomes a file name.
with_tools() {
  local ranks=$1 tools=$2 tool
  shift 2
  number=$((number + 1))
  test $((number % parts)) -eq $((part % parts)) || return 0
  for tool in $tools; do
    checks=$((checks + 1))
    while test "$(jobs -rp | wc -l)" -ge "$most"; do sleep 0.05; done
    check $number "$tool" "$ranks" "${@//@/$dir/$number.$tool}" &
  done
}

all='memcheck racecheck initcheck synccheck'
# The longest first.
for test in fused_sweeps fused_interpolation deferred_guess; do
  FIXTURE_BACKEND=cuda with_tools 1 'memcheck synccheck' "$abs_top_builddir/tests/op/op_$test"
done
while read -r options; do
  # shellcheck disable=SC2086 # words
  case $options in *levels-breakdown*) set -- $options ;; *) set -- $options --verify-only ;; esac
  with_tools 1 "$all" "$HPGMG_FV" --device=cuda "$@"
done <"$dir/cases"
with_tools 1 "$all" "$abs_top_builddir/tests/gpu/gpu_p2p_exchange"
# No initcheck for two ranks: it does not see writes by the other rank.
if have_mpi; then
  for op in fv2 fv4; do
    with_tools 2 'memcheck synccheck' "$HPGMG_FV" 4 8 --device=cuda --operator=$op --transport=peer --verify-only
  done
fi
wait
if ls "$dir"/found.* >/dev/null 2>&1; then
  cat "$dir"/found.*
  exit 1
fi
echo "$checks checks, part $part of $parts: no errors reported"
