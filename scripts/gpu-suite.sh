#!/usr/bin/env bash
# Test and measure on a machine with CUDA devices: build, run all tests on both backends, check the
# kernels with compute-sanitizer, and solve 1024^3 cells in one box and in eight boxes if a device has
# 72 GB free. Then measure
#   - F-cycles from 64^3 to 512^3 cells,
#   - an F-cycle at 256^3 in device and in managed memory,
#   - the bandwidth of a smoother sweep and of a device-to-device copy,
#   - the rate of a dump and of a program that only writes as many bytes,
#   - weak scaling over the devices with each transport.
#
#   scripts/gpu-suite.sh                   everything; takes about 10 minutes
#   scripts/gpu-suite.sh --quick           skip the slow tests, shorten the measurements
#   scripts/gpu-suite.sh --no-sanitizer    skip compute-sanitizer
#   scripts/gpu-suite.sh --no-tests        only measure
#
# The build folder is build/gpu/ and is reused. GPU_SUITE_CONFIGURE adds arguments to configure. The
# output ends with a table of measurements and "N passed, N failed, N skipped". Each test and each solve
# of 1024^3 counts as one; so do the build, and all measurements together.
set -euo pipefail

me=gpu-suite
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/common.sh
. "$top/scripts/common.sh"

quick=no sanitizer=yes tests=yes
for argument; do
  case $argument in
  --quick) quick=yes ;;
  --no-sanitizer) sanitizer=no ;;
  --no-tests) tests=no ;;
  -h | --help) show_help ;;
  *) die "unknown argument '$argument'; see --help" ;;
  esac
done
# shellcheck source=tests/lib/run_mpi.sh
. "$top/tests/lib/run_mpi.sh"

dir=$(mktemp -d)
count_at_end rm -rf "$dir"

# --- build ---------------------------------------------------------------------------------------

build=$top/build/gpu
mkdir -p "$build"
missing=$(missing_packages | tr '\n' ' ')
[[ -z $missing ]] || say "not installed: $missing"
nvcc_path >/dev/null || die 'no nvcc in PATH or /usr/local/cuda/bin'
# shellcheck disable=SC2086 # arguments are words
configure_tree "$build" --enable-werror --with-cuda ${GPU_SUITE_CONFIGURE-}
say 'make'
make -s -j "$(cores)" -C "$build" hpgmg-fv device-copy write-rate >"$build/make.out" 2>&1 || {
  tail -n 20 "$build/make.out"
  exit 1
}
pass build
export HPGMG_FV=$build/hpgmg-fv HPGMG_WITH_MPI=no
if grep -q '^#define HAVE_MPI 1' "$build/config.h"; then HPGMG_WITH_MPI=yes; fi
have_cuda || die 'no CUDA device here; without one, use scripts/check.sh'
devices=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
((devices > 0)) || devices=1

# --- tests ---------------------------------------------------------------------------------------

# count LOG: count the results of `make check` and print the logs of failed tests.
count() {
  local test
  passed=$((passed + $(grep -c '^PASS: ' "$1" || true)))
  skipped=$((skipped + $(grep -c '^SKIP: ' "$1" || true)))
  grep '^SKIP: ' "$1" | sed "s/^/$me: /" || true
  while read -r test; do
    fail "$test"
    tail -n 15 "$build/${test%.sh}.log" 2>/dev/null || true
  done < <(sed -n 's/^FAIL: //p; s/^ERROR: //p' "$1")
}

# large LOG2 BOXES: solve 1024^3 cells, whose arrays exceed 2^32 bytes. Skip if the program reports
# that they do not fit.
large() {
  local what="1024^3 cells as '$1 $2'" rc=0
  solo timeout 300 "$HPGMG_FV" "$1" "$2" --device=cuda --memory=device --verify-only --quiet 2>"$dir/why" || rc=$?
  if ((rc == 4)) && grep -q 'needs at least .* are free' "$dir/why"; then
    skip "$what: $(sed -n 's/.*this size \(needs.*free[^;]*\);.*/\1/p' "$dir/why")"
  elif ((rc == 0)); then
    pass "$what"
  else
    fail "$what: exit code $rc, $(grep '^hpgmg-fv: error' "$dir/why" | sed 1q)"
  fi
}

if [[ $tests == yes ]]; then
  if [[ $quick == yes ]]; then target='check-fast'; else target='check'; fi
  # The sanitizer runs below, when no other test uses the machine.
  say "make $target"
  SANITIZER_JOBS=0 make -k -j "$(cores)" -C "$build" $target >"$build/check.out" 2>&1 || true
  grep -q '^# TOTAL' "$build/check.out" || fail "make $target: $(tail -n 3 "$build/check.out")"
  count "$build/check.out"
  if [[ $sanitizer == yes ]]; then
    say 'compute-sanitizer'
    make -C "$build" check TESTS=tests/gpu/gpu_sanitizer.sh TEST_TIMEOUT=3600 \
      >"$build/sanitizer.out" 2>&1 || true
    count "$build/sanitizer.out"
  fi
  large 10 1
  large 9 8
fi

# --- measurements --------------------------------------------------------------------------------

seconds=1
[[ $quick == no ]] || seconds=0.2

# solve RANKS LOG2 BOXES OPTION...: print the GDOF/s of line h. If the run fails, print nothing, return
# its exit code and leave its errors in $dir/why. A run that hangs fails after 300 s.
solve() {
  local ranks=$1 threads=$(($(cores) / $1)) rc=0
  shift
  OMP_NUM_THREADS=$((threads > 0 ? threads : 1)) mpi_run "$ranks" timeout 300 "$HPGMG_FV" "$@" --device=cuda --quiet --warmup=2 \
    --min-solves=5 --min-time="$seconds" --csv="$dir/out.csv" >/dev/null 2>"$dir/why" || rc=$?
  if ((rc != 0)); then return $rc; fi
  awk -F, 'NR == 1 { for (c = 1; c <= NF; c++) column[$c] = c }
    NR == 2 && $column["verification"] == "passed" { printf "%.3f", 1e-9 * $column["dof_per_s"] }' \
    "$dir/out.csv"
  rm -f "$dir/out.csv"
}

unmeasured=0
# cell FORMAT VALUE: print one value of the table, or "-" if VALUE is empty because the run failed.
cell() {
  # shellcheck disable=SC2059 # the formats are constants of this script
  if [[ -n $2 ]]; then printf "$1" "$2"; else
    # shellcheck disable=SC2059
    printf "$1" -
    unmeasured=$((unmeasured + 1))
  fi
}

fcycle_table() {
  printf '%-18s %8s %8s %8s %8s\n' 'F-cycle, GDOF/s' '64^3' '128^3' '256^3' '512^3'
  while read -r operator smoother; do
    printf '%-18s' "$operator $smoother"
    for size in '5 8' '6 8' '7 8' '8 8'; do
      # shellcheck disable=SC2086 # words
      cell ' %8s' "$(solve 1 $size --operator="$operator" --smoother="$smoother")"
    done
    echo
  done <<<'fv2 gsrb
fv2 chebyshev
fv4 gsrb'
}

# memory_line WHERE OPTION...: speed at 256^3 (1.2 GB) in device and in managed memory. With levels on
# the CPU, the two kinds of memory transfer data differently.
memory_line() {
  local where=$1 plain managed
  shift
  plain=$(solve 1 7 8 --memory=device "$@") || true
  managed=$(solve 1 7 8 --memory=unified "$@") || true
  cell "fv2 gsrb at 256^3$where, GDOF/s: --memory=device %s" "$plain"
  cell ', unified %s' "$managed"
  [[ -z $plain || -z $managed ]] || awk -v p="$plain" -v m="$managed" 'BEGIN { printf " (ratio %.3f)", m / p }'
  echo
}

# Bandwidth of separate sweeps (--fused-sweeps=1). Minimum bytes per cell of all sweeps on the finest
# level of an F-cycle, before and after the correction (docs/performance.md): GSRB 12 half sweeps of
# 48 bytes; Chebyshev 10 steps of 56 and 2 first steps of 48.
sweep_table() {
  local copy bytes swept
  copy=$("$build/device-copy" 8e9 "$seconds")
  echo "device copy        $copy GB/s"
  while read -r smoother bytes; do
    solo "$HPGMG_FV" 8 8 --device=cuda --cpu-below=0 --smoother="$smoother" --fused-sweeps=1 --min-solves=2 --min-time=0 \
      --levels-breakdown >"$dir/out" 2>&1 </dev/null || true
    swept=$(awk -v bytes="$bytes" '$1 == 0 && $2 == "512^3" && $3 == "smooth" {
      printf "%.1f", 1e-9 * bytes * 512 ^ 3 / $5 }' "$dir/out")
    cell 'fv2 %s' "$smoother"
    cell ' sweep at 512^3, GB/s: %s' "$swept"
    [[ -z $swept ]] || awk -v s="$swept" -v c="$copy" 'BEGIN { printf " (%.1f %% of the copy)", 100 * s / c }'
    echo
  done <<<'gsrb 576
chebyshev 656'
}

# Weak scaling with at most 512 boxes of 64^3 per device, the boxes of a device forming one cuboid:
# 512^3 cells on one device, 640^3 on two, 768^3 on four, 1024^3 on eight. --help lists the transports.
scaling_table() {
  local transports one many rc
  transports=$(solo "$HPGMG_FV" --help | sed -n 's/^ *--transport=//p' | tr '|' ' ')
  one=$(solve 1 6 512) || true
  cell 'fv2 gsrb, 512 boxes of 64^3 per device: one device %s GDOF/s\n' "$one"
  [[ -n $one ]] || return 0
  for ((n = 2; n <= devices; n *= 2)); do
    for transport in $transports; do
      rc=0
      many=$(solve "$n" 6 512 --transport="$transport") || rc=$?
      printf '%2d devices, transport %-5s' "$n" "$transport"
      # Exit code 4 with this message: the transport is not available.
      if ((rc == 4)) && grep -q -- "--transport=$transport" "$dir/why"; then
        echo ' not available'
        continue
      fi
      if [[ -z $many ]]; then
        echo " failed with exit code $rc: $(grep '^hpgmg-fv: error' "$dir/why" | sed 1q)"
        unmeasured=$((unmeasured + 1))
        continue
      fi
      awk -v m="$many" -v o="$one" -v n="$n" \
        'BEGIN { printf " %8.3f GDOF/s, efficiency %.3f\n", m, m / (n * o) }'
    done
  done
}

# Rate of a dump of two fields of 512^3 cells from the device to a file in memory, and of a program that
# writes as many bytes from host memory.
dump_table() {
  local memory=/dev/shm plain rate
  [[ -d $memory && -w $memory ]] || memory=$dir
  plain=$("$build/write-rate" "$memory/hpgmg-plain.$$" 2.1 | sed 's/ .*//')
  solo "$HPGMG_FV" 8 8 --device=cuda --cpu-below=0 --verify-only --dump="$memory/hpgmg-dump.$$.hdf" \
    --dump-fields=u,f >"$dir/out" 2>&1 || true
  rm -f "$memory/hpgmg-dump.$$.hdf"*
  rate=$(sed -n 's/^dump .*(\(.*\) GB\/s).*/\1/p' "$dir/out")
  cell 'dump of 512^3 cells, 2.1 GB: %s GB/s' "$rate"
  cell ', write(2) from host memory %s\n' "$plain"
}

say 'measuring'
{
  echo
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | sed 's/^/device             /'
  solo "$HPGMG_FV" --version | sed -n 's/^CUDA */CUDA               /p'
  fcycle_table
  memory_line ''
  memory_line ', levels up to 16^3 on the CPU' --cpu-below=4097
  sweep_table
  if solo "$HPGMG_FV" --version | grep -q '^HDF5 *[^n ]'; then dump_table; fi
  if ((devices > 1)) && have_mpi; then scaling_table; fi
  echo
} >"$build/table"
if ((devices == 1)); then
  skip 'weak scaling: one device'
elif ! have_mpi; then
  skip 'weak scaling: no MPI'
fi
if ((unmeasured > 0)); then fail "measurements: $unmeasured runs failed"; else pass measurements; fi
cat "$build/table"
finished=yes
