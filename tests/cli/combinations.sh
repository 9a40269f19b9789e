# shellcheck shell=bash disable=SC2086,SC2154
# combinations: every operator with every smoother, equation, boundary and cycle converges and verifies,
# after one cycle and to a tolerance. So do all bottom solvers, coarsest grids, numbers of sweeps and
# degrees, and grids that are not powers of two.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only # gpu_bit_identical checks that a GPU gives the same results

# Columns of the CSV.
n_cycles=12 rel=14

# one OPTION...: one cycle. The program verifies the residual (verify.c).
one() {
  ok 1 "$@" --verify-only --csv="$dir/out.csv"
  awk -F, "NR > 1 && \$$n_cycles != 1 { exit 1 }" "$dir/out.csv" || complain "$*: not one cycle"
}

# several OPTION...: cycles to a tolerance. Working multigrid needs few cycles, on any grid.
several() {
  ok 1 "$@" --verify-only --rtol=1e-6 --max-cycles=25 --csv="$dir/out.csv"
  awk -F, "NR > 1 && !(\$$rel < 1e-6) { exit 1 }" "$dir/out.csv" || complain "$*: rtol not reached"
  test "$(wc -l <"$dir/out.csv")" -eq 4 || complain "$*: not three sizes"
}

for operator in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    for equation in poisson helmholtz; do
      problem="--operator=$operator --boundary=$boundary --equation=$equation"
      for smoother in gsrb chebyshev jacobi l1jacobi symgs ssor; do
        for cycle in f v; do
          one 4 8 $problem --smoother=$smoother --cycle=$cycle
          several 4 8 $problem --smoother=$smoother --cycle=$cycle
        done
      done
    done
    # Larger coarsest grids. With 8^3, the solve on 4h uses only the bottom solver.
    for bottom in bicgstab cg smoother; do
      several 4 8 $problem --bottom=$bottom --smoother=symgs --coarsest=3
      several 4 8 $problem --bottom=$bottom --coarsest=4
      several 4 8 $problem --bottom=$bottom --coarsest=8
    done
    for smooths in 2 5; do
      several 4 8 $problem --smooths=$smooths
    done
    for degree in 2 3 9; do
      several 4 8 $problem --smoother=chebyshev --degree=$degree
    done
    # 48^3 with a coarsest grid of 3^3, 80^3 with 5^3, and 96^3 with 6 boxes per side.
    for boxes in 27 125 216; do
      several 4 $boxes $problem
    done
    several 5 27 $problem --smoother=chebyshev
  done
done

finish
