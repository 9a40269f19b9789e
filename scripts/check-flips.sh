#!/usr/bin/env bash
# Flip single random bits in every kind of file that the program reads. No flip may change a result
# while the exit code is 0. Runs tests/fault/fault_flips.sh with more flips: 5,000 take five minutes on one
# idle core.
#
#   scripts/check-flips.sh [--flips=N] [--seed=N] [--build=FOLDER]
#
# FOLDER is a configured build tree (default: build/). Defaults: 5000 flips; a random seed, which is
# printed.
set -euo pipefail

me='check-flips'
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/common.sh
. "$top/scripts/common.sh"

flips=5000 seed=$RANDOM build=$top/build
for argument; do
  case $argument in
  --flips=*) flips=${argument#*=} ;;
  --seed=*) seed=${argument#*=} ;;
  --build=*) build=${argument#*=} ;;
  -h | --help) show_help ;;
  *) die "unknown argument '$argument'; see --help" ;;
  esac
done
[[ $flips =~ ^[1-9][0-9]{0,8}$ ]] || die "--flips=$flips is not an integer from 1 to 999999999"
[[ $seed =~ ^[0-9]{1,9}$ ]] || die "--seed=$seed is not an integer from 0 to 999999999"
[[ -f $build/Makefile ]] || die "$build has no Makefile; run scripts/quickstart.sh, or configure in $build"
say "$flips flips, seed $seed"
make -C "$build" -s hpgmg-fv
FLIPS=$flips SEED=$seed make -C "$build" -s check TESTS=tests/fault/fault_flips.sh TEST_TIMEOUT=86400 || {
  cat "$build/tests/fault/fault_flips.log"
  exit 1
}
tail -n 2 "$build/tests/fault/fault_flips.log"
