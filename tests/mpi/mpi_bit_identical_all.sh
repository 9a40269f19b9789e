# shellcheck shell=bash disable=SC2154
# mpi_bit_identical_all: like mpi_bit_identical, with 48^3 and 64^3 cells, more problems and up to 8 ranks.
# mpi_bit_identical_cycles.sh has each operator with each boundary and smoother; parity_solve compares one box of 64^3 with
# eight.
. "$abs_top_srcdir/tests/lib/compare_decompositions.sh"
cpu_only

# 48^3 cells, not a power of two: 27 boxes, also with 5 x 6 and 8 x 4. The middle one has no wall. The coarsest grid
# is 3^3. Half of the problems keep coarse levels on all ranks, and half agglomerate them all.
compare '
  --operator=fv2 --smoother=l1jacobi --boundary=periodic --cycle=v
  --operator=fv2 --smoother=chebyshev --coarsest=8 --bottom=smoother
  --operator=7pt --smoother=chebyshev --boundary=periodic --krylov=cg --cycle=v
  --operator=fv2 --boundary=periodic --precision=mixed
  --operator=fv2 --boundary=dirichlet,neumann,periodic,periodic,neumann,dirichlet --smoother=chebyshev
  --operator=7pt --boundary=periodic,periodic,dirichlet --precision=mixed
' '
  1 3 4 27
  5 1 4 6 --agglomerate-below=0
'
compare '
  --operator=fv2 --smoother=jacobi --equation=helmholtz
  --operator=fv2 --smoother=symgs --coarsest=4 --bottom=direct
  --operator=fv4 --smoother=chebyshev --equation=helmholtz --boundary=periodic
  --operator=7pt --smoother=jacobi --cycle=v --coarsest=8
  --operator=fv4 --smoother=gsrb --equation=helmholtz --krylov=cg
  --operator=fv2 --boundary=neumann
  --operator=7pt --boundary=periodic,neumann,periodic --smoother=jacobi
  --operator=7pt --smoother=symgs --krylov=cg --precision=mixed
' '
  1 3 4 27
  8 1 4 4 --agglomerate-below=100000
'

# More divisions of 48^3 and 64^3 cells (fv2, and 8 and 64 ranks: mpi_many.sh).
compare '
  --operator=fv4 --boundary=periodic
' '
   1 1 4 27
   7 1 4 4
'
compare '
  --operator=fv4 --boundary=periodic
' '
   1 2 5 8
   3 1 4 22 --agglomerate-below=100
   8 1 5 1 --agglomerate-below=100000
'
echo "$comparisons comparisons"
test "$comparisons" -ge 17 || complain 'too few comparisons'
finish
