# cuda_digits: norms, errors and orders on a CUDA device are those of the CPU to the last digit,
# for every operator, smoother, boundary and equation, with the crossing to the CPU at every level
# and nowhere. Skips without a device.
set -eu
. "$abs_top_srcdir/tests/run_mpi.sh"
if ! "$HPGMG_FV" 4 1 --verify-only --quiet --device=cuda >/dev/null 2>&1; then
  echo 'skipped: this build or this machine has no CUDA device' >&2
  exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# digits FILE ARGUMENT...: the norms, error and order of a run.
digits() {
  digits_of=$1
  shift
  "$HPGMG_FV" "$@" --verify-only --quiet --csv="$dir/out.csv" >/dev/null
  awk -F, 'NR > 1 { print $6, $12, $13, $14, $18, $19 }' "$dir/out.csv" >"$digits_of"
}

runs=0
compare() {
  digits "$dir/cpu" --device=cpu "$@"
  for below in 0 600 5000 40000; do
    digits "$dir/cuda" --device=cuda --cpu-below="$below" "$@"
    runs=$((runs + 1))
    cmp -s "$dir/cpu" "$dir/cuda" && continue
    echo "--cpu-below=$below $*: the CPU's digits, then CUDA's"
    cat "$dir/cpu" "$dir/cuda"
    exit 1
  done
}

for op in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    for smoother in gsrb chebyshev jacobi l1jacobi symgs; do
      compare 4 8 --operator="$op" --boundary="$boundary" --smoother="$smoother"
    done
    compare 4 27 --operator="$op" --boundary="$boundary" --equation=helmholtz
    compare 4 8 --operator="$op" --boundary="$boundary" --cycle=v --rtol=1e-7 --bottom=cg
  done
done
compare 4 125 --operator=fv4
compare 5 3 --bottom=smoother
echo "$runs runs on CUDA with the CPU's digits"
