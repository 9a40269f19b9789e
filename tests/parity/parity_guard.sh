# shellcheck shell=bash disable=SC2154
# parity_guard: with levels in memory that only backend operations can access, results are bit-identical to the CPU. So
# no layer above the backend reads or writes a cell; unit_guard shows that such an access would crash. Covers every
# operator, boundary and smoother, with all or only fine levels guarded, on one and two ranks.
. "$abs_top_srcdir/tests/lib/compare_decompositions.sh"
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-guard

compare '
  --operator=fv2 --smoother=gsrb
  --operator=fv2 --smoother=symgs --boundary=periodic --cycle=v
  --operator=fv4 --smoother=chebyshev --equation=helmholtz
  --operator=fv4 --smoother=jacobi --boundary=periodic
  --operator=7pt --smoother=l1jacobi --bottom=smoother --coarsest=3
' '
  1 1 4 8 --device=cpu
  1 1 4 8 --device=guard
  1 1 4 8 --device=guard --steps-per-pass=1
  1 1 4 8 --device=guard --cpu-below=4096
  1 1 4 8 --device=guard --cpu-below=4096 --memory=unified
  2 1 4 4 --device=guard --agglomerate-below=4096
  2 1 4 4 --device=guard --steps-per-pass=2 --agglomerate-below=4096
  2 1 4 4 --device=guard --cpu-below=4096 --memory=unified --agglomerate-below=4096
  2 1 4 4 --device=guard --cpu-below=32768 --agglomerate-below=4096
'
ok 1 4 8 --verify-only --device=guard --cpu-below=4096 --json="$dir/places.json"
places=$(sed -n '/^  "levels": \[/,/^  \]/s/.*"backend": "\([a-z]*\)".*/\1/p' "$dir/places.json")
test "${places//$'\n'/ }" = 'guard guard cpu cpu cpu cpu' || complain "levels are on: $places"

echo "$comparisons comparisons"
test "$comparisons" -ge 10 || complain 'too few comparisons'
finish
