#!/usr/bin/env bash
# Get a first result on a bare Debian 12 or Ubuntu 24.04: install missing packages, build in build/,
# and solve a problem that fits this machine.
#
#   scripts/quickstart.sh                        choose a size for this machine
#   scripts/quickstart.sh -- 6 8 --operator=fv4  run hpgmg-fv with these arguments instead
set -euo pipefail

me=quickstart
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/common.sh
. "$top/scripts/common.sh"

case ${1-} in
'') ;;
--) shift ;;
-h | --help) show_help ;;
*) die "unknown argument '$1'; put arguments of hpgmg-fv after --" ;;
esac

# Bytes of available memory: MemAvailable, limited by the cgroups of this process.
memory_available() {
  local available path limit used
  available=$(($(awk '/^MemAvailable:/ {print $2}' /proc/meminfo) * 1024))
  path=$(sed -n 's/^0:://p' /proc/self/cgroup 2>/dev/null || true)
  while :; do
    for limit in "/sys/fs/cgroup$path"/memory.max \
      "/sys/fs/cgroup/memory$path"/memory.limit_in_bytes; do
      [[ -r $limit ]] || continue
      used=${limit%/*}/memory.current
      [[ -r $used ]] || used=${limit%/*}/memory.usage_in_bytes
      # Page cache counts as used, but the kernel reclaims it on demand.
      used=$(($(cat "$used") - $(awk '$1 == "inactive_file" {print $2}' "${limit%/*}/memory.stat")))
      limit=$(cat "$limit")
      # cgroup v1 reports "no limit" as a number near 2^63.
      if [[ $limit != max ]] && ((${#limit} < 18 && limit - used < available)); then
        available=$((limit - used))
      fi
    done
    [[ -n $path && $path != / ]] || break
    path=${path%/*}
  done
  echo $((available > 0 ? available : 0))
}

# choose_size RANKS MEMORY: the largest size that uses at most a quarter of the memory, at 80 bytes per
# cell, and takes at most a minute: about 15 solves (warm-up, timing, verification; 2h and 4h add a
# seventh) at a pessimistic 10 million cells per second and core.
choose_size() {
  local ranks=$1 memory=$2 size log2 boxes cells
  for size in '7 8' '7 1' '6 1' '5 1' '4 1'; do
    read -r log2 boxes <<<"$size"
    cells=$((boxes << (3 * log2)))
    if ((cells * ranks * 80 * 4 <= memory && cells * 15 <= 60 * 10000000)); then break; fi
  done
  echo "$size"
}

install_requirements
ranks=$(cores)
((ranks <= 64)) || ranks=64

build=$top/build
configure_tree "$build" || die "configure failed; see ${build#"$top"/}/config.log"
say 'make'
make -s -C "$build" -j"$(cores)" hpgmg-fv >"$build/make.out" 2>&1 || {
  tail -n 30 "$build/make.out" >&2
  die 'the build failed'
}

read -ra arguments <<<"$(choose_size "$ranks" "$(memory_available)")"
(($# == 0)) || arguments=("$@")

export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
# Each rank has a core, so waiting ranks need not yield.
export OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-0}
# shellcheck source=tests/lib/run_mpi.sh
. "$top/tests/lib/run_mpi.sh"
HPGMG_WITH_MPI=no
if grep -q '^#define HAVE_MPI 1' "$build/config.h"; then HPGMG_WITH_MPI=yes; fi
launch="mpirun -n $ranks "
have_mpi || { ranks=1 launch=; }

cd "$build"
say "cd build && $launch./hpgmg-fv ${arguments[*]}"
status=0
mpi_run "$ranks" ./hpgmg-fv "${arguments[@]}" || status=$?
((status == 0)) || die "hpgmg-fv ended with exit code $status"

cat <<END

Where to go next
  README.md                   overview, and how to read DOF/s
  docs/usage.md               options by task
  build/hpgmg-fv --help       all options
  inputs/                     commented input decks for --input=FILE
  scripts/check.sh            all tests
As root, Open MPI's mpirun needs OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 in the environment.
END
