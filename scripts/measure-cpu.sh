#!/usr/bin/env bash
# Measure the speed of an F-cycle at 128^3 on this machine's cores, with OpenMP threads and with MPI
# ranks: DOF/s, its ratio to the memory bandwidth of a STREAM triad, and the percentage of the limit that
# this bandwidth sets to passes through the caches (docs/performance.md, "Bytes per cell"); and the sizes
# of strips that the runs chose. Each round measures every case once; the medians over all rounds are
# printed. Results of one call compare with each other even if the machine's speed drifts.
#
#   scripts/measure-cpu.sh [--rounds=N] [--build=FOLDER] [--cores=N]
#
# FOLDER is a configured build tree (default: build/). A round (default: 5) takes about 30 seconds,
# 15 without MPI.
set -euo pipefail

me=measure-cpu
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/common.sh
. "$top/scripts/common.sh"

rounds=5 build=$top/build cores=$(cores)
for argument; do
  case $argument in
  --rounds=*) rounds=${argument#*=} ;;
  --build=*) build=${argument#*=} ;;
  --cores=*) cores=${argument#*=} ;;
  -h | --help) show_help ;;
  *) die "unknown argument '$argument'; see --help" ;;
  esac
done
[[ $rounds =~ ^[1-9][0-9]*$ ]] || die "--rounds=$rounds is not a positive integer"
[[ $cores =~ ^[1-9][0-9]*$ && $cores -le 64 ]] || die "--cores=$cores is not an integer from 1 to 64"
[[ -f $build/Makefile ]] || die "$build has no Makefile; run scripts/quickstart.sh, or configure in $build"
make -s -C "$build" hpgmg-fv triad
# shellcheck source=tests/lib/run_mpi.sh
. "$top/tests/lib/run_mpi.sh"
export OMPI_MCA_mpi_yield_when_idle=0
HPGMG_WITH_MPI=no
if grep -q '^#define HAVE_MPI 1' "$build/config.h"; then HPGMG_WITH_MPI=yes; fi

# 64 boxes of 32^3 form a grid of 128^3 on any number of ranks up to 64.
boxes=$(((64 + cores - 1) / cores))
# Operator, smoother, and bytes per DOF of an F-cycle with passes.
cases='fv2 gsrb 161
fv2 chebyshev 203
fv4 gsrb 338
fv4 chebyshev 233'
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# solve NAME RANKS THREADS BOXES OPERATOR SMOOTHER: append "NAME DOF/s" to the results.
solve() {
  local name=$1
  OMP_NUM_THREADS=$3 mpi_run "$2" "$build/hpgmg-fv" 5 "$4" --operator="$5" --smoother="$6" \
    --warmup=2 --min-solves=5 --min-time=1 --csv="$dir/out.csv" >"$dir/out.txt"
  sed -n "s/^  strips  *\([0-9.]* [kMG]*B\).*/$name \1/p" "$dir/out.txt" >>"$dir/strips"
  awk -F, -v name="$name" '
    NR == 1 { for (c = 1; c <= NF; c++) column[$c] = c }
    NR == 2 {
      if ($column["n"] != 128 || $column["verification"] != "passed") exit 1
      printf "%s %.6g\n", name, $column["dof_per_s"]
      bytes = $column["bytes_per_rank_max"] * $column["ranks"]
      printf "bytes %.0f\n", bytes
    }' "$dir/out.csv" >>"$dir/results"
}

bandwidth() {
  printf '%s %s\n' "$1" "$(OMP_NUM_THREADS=$cores "$build/triad" "$2" 1)" >>"$dir/results"
}

# Bytes of the triad: the footprint of a run at 128^3, and more than any cache holds.
small=150e6 large=2.4e9
for ((round = 1; round <= rounds; round++)); do
  say "round $round of $rounds"
  bandwidth triad_small $small
  bandwidth triad_large $large
  while read -r operator smoother _; do
    solve "openmp-$operator-$smoother" 1 "$cores" 64 "$operator" "$smoother"
    if have_mpi && ((cores > 1)); then
      solve "mpi-$operator-$smoother" "$cores" 1 "$boxes" "$operator" "$smoother"
    fi
  done <<<"$cases"
done

median() {
  awk -v name="$1" '$1 == name { print $2 }' "$dir/results" | sort -g |
    awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

echo
lscpu 2>/dev/null | sed -n 's/^Model name: */machine    /p; s/^L2 cache: */L2         /p; s/^L3 cache: */L3         /p'
"$build/hpgmg-fv" --version | sed -n 's/^compiler */compiler   /p; s/^flags */flags      /p'
of="medians of $rounds rounds"
((rounds > 1)) || of='one round'
echo "cores      $cores, $of"
triad=$(median triad_small)
echo "triad      $triad GB/s over 150 MB, $(median triad_large) GB/s over 2.4 GB"
awk -v bytes="$(median bytes)" 'BEGIN { printf "memory     %.0f MB in the median run\n", 1e-6 * bytes }'
sort "$dir/strips" | uniq -c | awk -v n="$rounds" '{ printf "strips     %s: %s %s in %d of %d\n", $2, $3, $4, $1, n }'
echo
echo 'limit: DOF/s if an F-cycle took only the time of its bytes, at the rate of the triad over 150 MB'
echo 'one F-cycle at 128^3     OpenMP MDOF/s   per GB/s  % of limit    MPI MDOF/s   per GB/s  % of limit  MPI/OpenMP'
while read -r operator smoother bytes; do
  awk -v name="$operator $smoother" -v triad="$triad" -v bytes="$bytes" \
    -v openmp="$(median "openmp-$operator-$smoother")" -v mpi="$(median "mpi-$operator-$smoother")" '
  function rate(x, width) {
    printf " %*.2f %10.3f %11.1f", width, x * 1e-6, x * 1e-6 / triad, 1e-7 * x * bytes / triad
  }
  BEGIN {
    printf "%-22s", name
    rate(openmp, 15)
    if (mpi) { rate(mpi, 13); printf " %12.3f", mpi / openmp }
    printf "\n" }'
done <<<"$cases"
