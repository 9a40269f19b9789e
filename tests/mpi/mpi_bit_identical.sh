# shellcheck shell=bash disable=SC2154
# mpi_bit_identical: every norm, error and order is bit-identical (compared as 17 digits) for any ranks,
# boxes per rank, box width, threads and agglomeration. Here six problems with 32^3 cells;
# mpi_bit_identical_all.sh has more. Also on a CUDA device if present, with one rank and with several
# that share it.
. "$abs_top_srcdir/tests/lib/compare_decompositions.sh"
on_cuda=
if have_cuda; then
  on_cuda='
  1 1 4 8 --device=cuda
  1 1 4 8 --device=cuda --cpu-below=4096
  3 1 4 3 --device=cuda --cpu-below=0'
fi

# The grid is the largest cube of boxes that fits: 8 boxes also with 3 x 3 and 5 x 2.
setups='
  1 1 5 1 --device=cpu
  1 1 4 8 --device=cpu
  1 3 4 8 --device=cpu
  2 1 4 4 --device=cpu
  3 1 4 3 --device=cpu
  5 2 4 2 --device=cpu --agglomerate-below=0
  8 1 4 1 --device=cpu --agglomerate-below=100
'
compare '
  --operator=fv2 --smoother=gsrb
  --operator=7pt --smoother=ssor --krylov=cg
' "$setups$on_cuda"
# mpi_bit_identical_all.sh has more decompositions.
fewer=$(grep -E '^  (1 1 5|1 3|3|8) ' <<<"$setups")
compare '
  --operator=fv4 --smoother=chebyshev --boundary=periodic
  --operator=7pt --boundary=neumann,dirichlet,periodic
  --operator=27pt --smoother=gsrb
' "$fewer$on_cuda"
compare '
  --operator=fv4 --precision=mixed
' "$fewer"
echo "$comparisons comparisons"
test "$comparisons" -ge 7 || complain 'too few comparisons'
finish
