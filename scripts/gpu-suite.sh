#!/usr/bin/env bash
# Test and measure on a machine with CUDA devices: build, run all tests on both backends, check the
# kernels with compute-sanitizer, and solve 1024^3 cells in one box, in double and mixed precision, and
# in eight boxes, where a device has the memory. Then measure, in double and mixed precision,
#   - F-cycles from 64^3 to 512^3 cells, and of 1024^3,
#   - solves to 1e-10,
#   - solves to 1e-8 of grids that are no cube of boxes, relative to cubes,
#   - where the time of an F-cycle at 512^3 goes,
# each beside the bandwidth of a device-to-device copy, and
#   - an F-cycle at 256^3 in device and in managed memory,
#   - the bandwidth of separate smoother sweeps,
#   - the rate of a dump and of a program that only writes as many bytes,
#   - weak scaling over the devices with each transport.
# A size that does not fit into memory is left out.
#
#   scripts/gpu-suite.sh                   everything; takes more than 10 minutes
#   scripts/gpu-suite.sh --quick           skip the slow tests, shorten the measurements
#   scripts/gpu-suite.sh --no-sanitizer    skip compute-sanitizer
#   scripts/gpu-suite.sh --no-tests        only build and measure; a few minutes
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
missing=$(missing_packages "$requirements" | tr '\n' ' ')
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

# does_not_fit RC: whether the program ended with exit code RC because the device lacks memory.
does_not_fit() { (($1 == 4)) && grep -q 'needs at least .* are free' "$dir/why"; }

# large LOG2 BOXES OPTION...: solve 1024^3 cells, whose arrays exceed 2^32 bytes. Skip if they do not fit.
large() {
  local what="1024^3 cells as '$*'" rc=0
  solo timeout 300 "$HPGMG_FV" "$@" --device=cuda --memory=device --verify-only --quiet 2>"$dir/why" || rc=$?
  if does_not_fit "$rc"; then
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
  SANITIZER_JOBS=0 TEST_LARGE=yes make -k -j "$(cores)" -C "$build" $target >"$build/check.out" 2>&1 || true
  grep -q '^# TOTAL' "$build/check.out" || fail "make $target: $(tail -n 3 "$build/check.out")"
  count "$build/check.out"
  if [[ $sanitizer == yes ]]; then
    say 'compute-sanitizer'
    make -C "$build" check TESTS=tests/gpu/gpu_sanitizer.sh TEST_TIMEOUT=3600 \
      >"$build/sanitizer.out" 2>&1 || true
    count "$build/sanitizer.out"
  fi
  large 10 1
  large 10 1 --precision=mixed
  large 9 8
fi

# --- measurements --------------------------------------------------------------------------------

seconds=1
[[ $quick == no ]] || seconds=0.2

# solve RANKS ARG...: print the GDOF/s of line h, or "memory" if the run does not fit. The number of cycles is in
# $dir/cycles. If it fails, print nothing, return its exit code and leave its errors in $dir/why. It fails after 300 s.
solve() {
  local ranks=$1 threads=$(($(cores) / $1)) rc=0
  shift
  OMP_NUM_THREADS=$((threads > 0 ? threads : 1)) mpi_run "$ranks" timeout 300 "$HPGMG_FV" "$@" --device=cuda --quiet --warmup=2 \
    --min-solves=10 --min-time="$seconds" --csv="$dir/out.csv" >/dev/null 2>"$dir/why" || rc=$?
  if does_not_fit $rc; then
    echo memory
    return 0
  fi
  if ((rc != 0)); then return $rc; fi
  awk -F, -v cycles="$dir/cycles" 'NR == 1 { for (c = 1; c <= NF; c++) column[$c] = c }
    NR == 2 && $column["verification"] == "passed" {
      printf "%.5g", 1e-9 * $column["dof_per_s"]
      print $column["cycles"] > cycles
    }' "$dir/out.csv"
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

# beside_copy FORMAT VALUE: print a value and, formatted, its ratio to the copy in TB/s.
beside_copy() {
  case $2 in
  '' | memory) cell ' %15s' "$2" ;;
  *) awk -v format=" %8s $1" -v value="$2" -v copy="$copy" 'BEGIN { printf format, value, 1000 * value / copy }' ;;
  esac
}

both='double mixed'
# rows TEXT PRECISIONS SIZES OPTION...: one line per precision with the GDOF/s of each size.
rows() {
  local text=$1 precisions=$2 sizes=$3 precision size
  shift 3
  for precision in $precisions; do
    printf '%-26s' "$text, $precision"
    for size in $sizes; do
      # shellcheck disable=SC2086 # words
      beside_copy '(%4.2f)' "$(solve 1 ${size/x/ } --precision="$precision" "$@" || true)"
    done
    echo
  done
}

fcycle_table() {
  local sizes='5x8 6x8 7x8 8x8'
  printf '%-26s %15s %15s %15s %15s %15s\n' 'F-cycle, GDOF/s' '64^3' '128^3' '256^3' '512^3' '1024^3'
  rows 'fv2 gsrb' "$both" "$sizes 10x1"
  rows 'fv2 gsrb periodic' double "$sizes" --boundary=periodic
  rows 'fv2 chebyshev' "$both" "$sizes" --smoother=chebyshev
  rows '7pt gsrb' "$both" "$sizes" --operator=7pt
  rows 'fv4 gsrb' "$both" "$sizes" --operator=fv4
  rows 'fv4 gsrb periodic' double "$sizes" --operator=fv4 --boundary=periodic
  echo '(in brackets: per TB/s of the copy)'
}

# Milliseconds, and the bytes per cell that a copy moves in this time.
tolerance_table() {
  local rate size log2 precision
  printf '%-26s %15s %15s\n' 'fv2 gsrb to 1e-10, ms' '256^3' '512^3'
  for precision in $both; do
    printf '%-26s' "$precision"
    for log2 in 8 9; do
      rate=$(solve 1 $log2 1 --rtol=1e-10 --precision="$precision") || true
      size=$((1 << log2))
      case $rate in
      '' | memory) cell ' %15s' "$rate" ;;
      *) awk -v rate="$rate" -v n=$size -v copy="$copy" 'BEGIN { printf " %8.2f (%4d)", 1e-6 * n ^ 3 / rate, copy / rate }' ;;
      esac
    done
    echo
  done
  echo '(in brackets: bytes per cell that a copy moves in this time)'
}

# Milliseconds, cycles, and the time per cell and cycle by that of the last cube.
general_table() {
  local grid options rate cycles cube='' is_cube
  local -i dof
  printf '%-76s %10s %8s %26s\n' 'to 1e-8' ms cycles 'time per cell and cycle'
  while read -r grid options; do
    is_cube=no
    if [[ $options == cube ]]; then is_cube=yes options=''; fi
    # shellcheck disable=SC2086 # words
    rate=$(solve 1 --cells="$grid" $options) || true
    dof=${grid//x/*}
    cycles=$(cat "$dir/cycles" 2>/dev/null || true)
    printf '%-76s' "$grid $options"
    case $rate in
    '' | memory) cell ' %10s' "$rate" ;;
    *)
      if [[ $is_cube == yes ]]; then cube="$rate $cycles"; fi
      awk -v rate="$rate" -v cycles="$cycles" -v dof="$dof" -v cube="$cube" 'BEGIN {
        split(cube, c, " ")
        printf " %10.3f %8d ", 1e-6 * dof / rate, cycles
        if (cube == "") printf "%26s", "-"
        else printf "%26.2f", c[1] * c[2] / (rate * cycles)
      }'
      ;;
    esac
    echo
  done <<<'384x384x384 cube
384x384x384 --boundary=neumann
384x384x384 --boundary=periodic
384x384x384 --boundary=neumann,neumann,neumann,neumann,periodic,periodic
384x384x384 --boundary=robin:1:1:0
384x384x384 --equation=helmholtz
384x384x384 --operator=7pt
384x384x384 --operator=7pt --smoother=symgs --krylov=cg
384x384x384 --lengths=1,1,10
384x384x384 --stretch=z:tanh:2
384x384x384 --stretch=x:tanh:2
512x512x512 cube
511x511x511
4096x4096x8
2048x2048x32
16384x128x64
256x256x256 cube
255x255x255
257x257x257
96x96x96 cube
100x100x100
60x220x85
64x64x64
32x32x32
16x16x16'
  echo '(relative to the cube above: equal sides, walls with u = 0)'
}

# breakdown OPTION...: run F-cycles at 512^3 and write the time of each operation to $dir/out. If the run
# fails, print the reason (no memory) or "-" and return 1.
breakdown() {
  local rc=0
  solo "$HPGMG_FV" 9 1 --device=cuda --cpu-below=0 --min-solves=3 --min-time=0 --levels-breakdown "$@" \
    >"$dir/out" 2>"$dir/why" </dev/null || rc=$?
  if ((rc == 0)); then return 0; fi
  if does_not_fit $rc; then echo 'does not fit into memory'; else cell '%s\n' ''; fi
  return 1
}

# Where the time of an F-cycle goes: operations of the finest level, with the bytes per cell that fused
# sweeps and the other kernels move at least (docs/performance.md), and coarser levels.
profile_table() {
  local precision bytes
  while read -r precision bytes; do
    printf '%-26s %15s %15s %15s\n' "F-cycle at 512^3, $precision" ms 'bytes per cell' '% of the copy'
    breakdown --precision="$precision" || continue
    awk -v list="$bytes" -v copy="$copy" '
      BEGIN {
        n = split(list, pair, " ")
        for (i = 1; i <= n; i++) { split(pair[i], words, "="); bytes[words[1]] = words[2] }
      }
      $1 !~ /^[0-9]+$/ || $2 !~ /\^3$/ || NF > 7 { next }
      $1 > 0 {
        l = $1 > 3 ? 3 : $1
        if ($1 == l) grid[l] = l == 3 ? $2 " and coarser" : $2
        coarse[l] += 1000 * $(NF - 1)
        next
      }
      {
        ms = 1000 * $(NF - 1)
        if (ms < 0.02) next
        printf "%-26s %15.2f", $2 " " $3 (NF == 7 ? " " $4 : ""), ms
        if ($3 in bytes) printf " %15.1f %15.1f", bytes[$3], 100 * bytes[$3] * 512 ^ 3 / (1e6 * copy * ms)
        printf "\n"
      }
      END { for (l = 1; l in grid; l++) printf "%-26s %15.2f\n", grid[l], coarse[l] }' "$dir/out"
  done <<<'double smooth=187 restriction=9
mixed smooth=96.5 residual=82 restriction=9 interpolation=8.5'
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
  [[ $plain != [0-9]* || $managed != [0-9]* ]] || awk -v p="$plain" -v m="$managed" 'BEGIN { printf " (ratio %.3f)", m / p }'
  echo
}

# Bandwidth of separate sweeps (--steps-per-pass=1). Minimum bytes per cell of all sweeps on the finest
# level of an F-cycle, before and after the correction (docs/performance.md): GSRB 12 half sweeps of
# 48 bytes; Chebyshev 10 steps of 56 and 2 first steps of 48.
sweep_table() {
  local smoother bytes swept
  while read -r smoother bytes; do
    printf 'fv2 %s' "$smoother sweep at 512^3, GB/s: "
    breakdown --smoother="$smoother" --steps-per-pass=1 || continue
    swept=$(awk -v bytes="$bytes" '$1 == 0 && $2 == "512^3" && $3 == "smooth" {
      printf "%.1f", 1e-9 * bytes * 512 ^ 3 / $5 }' "$dir/out")
    cell '%s' "$swept"
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
  [[ $one == [0-9]* ]] || return 0
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
      if [[ $many == memory ]]; then
        echo ' does not fit into memory'
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
copy=$("$build/device-copy" 8e9 "$seconds" 2>/dev/null || "$build/device-copy" 1e9 "$seconds")
{
  echo
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | sed 's/^/device             /' || true
  solo "$HPGMG_FV" --version | sed -n 's/^CUDA */CUDA               /p'
  echo "device copy        $copy GB/s"
  fcycle_table
  tolerance_table
  general_table
  profile_table
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
