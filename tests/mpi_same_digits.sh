# shellcheck shell=bash disable=SC2154
# mpi_same_digits: every norm, error and order is the same to the last bit, compared as 17 digits,
# however the grid is dealt: ranks, boxes a rank, width of a box, threads, agglomeration. Here 32^3
# cells and three problems; mpi_same_digits_all.sh has more of both. Where there is a CUDA device it is
# one more way, for one rank and for several that share it.
. "$abs_top_srcdir/tests/same_digits.sh"
on_cuda=
if have_cuda; then
  on_cuda='
  1 1 4 8 --device=cuda
  1 1 4 8 --device=cuda --cpu-below=4096
  3 1 4 3 --device=cuda --cpu-below=0'
fi

# 3 x 3 and 5 x 2 boxes hold a cube of 8.
compare '
  --operator=fv2 --smoother=gsrb
  --operator=fv4 --smoother=chebyshev --boundary=periodic
  --operator=7pt --smoother=symgs --krylov=cg
' '
  1 1 5 1 --device=cpu
  1 1 4 8 --device=cpu
  1 3 4 8 --device=cpu
  2 1 4 4 --device=cpu
  3 1 4 3 --device=cpu
  5 2 4 2 --device=cpu --agglomerate-below=0
  8 1 4 1 --device=cpu --agglomerate-below=100
'"$on_cuda"
echo "$comparisons comparisons"
test "$comparisons" -ge 6 || complain 'too few comparisons'
finish
