# shellcheck shell=bash disable=SC2154
# mpi_same_digits: every norm, error and order is the same to the last bit, compared as 17 digits,
# however the grid is dealt: ranks, boxes a rank, width of a box, threads, agglomeration. Here 32^3
# cells and two problems; mpi_same_digits_all.sh has more of both.
. "$abs_top_srcdir/tests/same_digits.sh"

# 3 x 3 and 5 x 2 boxes hold a cube of 8.
compare '
  --operator=fv2 --smoother=gsrb
  --operator=fv4 --smoother=chebyshev --boundary=periodic
' '
  1 1 5 1
  1 1 4 8
  1 3 4 8
  2 1 4 4
  3 1 4 3
  5 2 4 2 --agglomerate-below=0
  8 1 4 1 --agglomerate-below=100
'
echo "$comparisons comparisons"
test "$comparisons" -ge 4 || complain 'too few comparisons'
finish
