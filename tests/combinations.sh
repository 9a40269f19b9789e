# shellcheck shell=bash disable=SC2086,SC2154
# combinations: every operator with every smoother, equation, boundary and cycle solves and
# verifies, after one cycle and to a tolerance; so do bottom solvers, coarsest grids, numbers of
# sweeps, degrees, and grids that are no powers of two.
. "$abs_top_srcdir/tests/cli_lib.sh"
cpu_only # cuda_digits has the same digits for the device

# Columns of the CSV.
n_cycles=12 rel=14

# one OPTION...: one cycle. The residual's bound is the program's own, in verify.c.
one() {
  ok 1 "$@" --verify-only --csv="$dir/out.csv"
  awk -F, "NR > 1 && \$$n_cycles != 1 { exit 1 }" "$dir/out.csv" || complain "$*: not one cycle"
}

# several OPTION...: cycles to a tolerance; a multigrid cycle that is one needs a few, on any grid.
several() {
  ok 1 "$@" --verify-only --rtol=1e-6 --max-cycles=25 --csv="$dir/out.csv"
  awk -F, "NR > 1 && !(\$$rel < 1e-6) { exit 1 }" "$dir/out.csv" || complain "$*: rtol not reached"
  test "$(wc -l <"$dir/out.csv")" -eq 4 || complain "$*: not three sizes"
}

for operator in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    for equation in poisson helmholtz; do
      problem="--operator=$operator --boundary=$boundary --equation=$equation"
      for smoother in gsrb chebyshev jacobi l1jacobi symgs; do
        for cycle in f v; do
          one 4 8 $problem --smoother=$smoother --cycle=$cycle
          several 4 8 $problem --smoother=$smoother --cycle=$cycle
        done
      done
    done
    # Larger coarsest grids. 8^3 is the grid of 4h as well: cycles there are the bottom solver alone.
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
    # 48^3 to a coarsest grid of 3^3, 80^3 to 5^3, 96^3 in 6 boxes a side.
    for boxes in 27 125 216; do
      several 4 $boxes $problem
    done
    several 5 27 $problem --smoother=chebyshev
  done
done

finish
