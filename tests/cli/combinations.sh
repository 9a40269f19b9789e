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

# Each operator and boundary runs with each equation and smoother. Of the other options it has one value of two or three,
# which `n` selects; other operators and boundaries have the other values. tests/cycle/cycle_combinations has more
# combinations, on one grid.
n=0
equations=(poisson helmholtz) cycles=(f v)
for operator in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    domain="--operator=$operator --boundary=$boundary"
    for smoother in gsrb chebyshev jacobi l1jacobi symgs ssor; do
      for e in 0 1; do
        one 4 8 $domain --equation=${equations[e]} --smoother=$smoother --cycle=${cycles[(n + e) % 2]}
      done
      several 4 8 $domain --equation=${equations[n % 2]} --smoother=$smoother --cycle=${cycles[n / 2 % 2]}
      n=$((n + 1))
    done
    # Larger coarsest grids. With 8^3, the solve on 4h uses only the bottom solver.
    problem="$domain --equation=${equations[n % 3 % 2]}"
    bottoms=(bicgstab smoother bicgstab)
    several 4 8 $problem --bottom=${bottoms[n % 2]} --smoother=symgs --coarsest=3
    several 4 8 $problem --bottom=${bottoms[n % 2 + 1]} --coarsest=4
    several 4 8 $problem --bottom=${bottoms[n % 2]} --coarsest=8
    smooths=(2 5) degrees=(2 3 9) boxes=(125 216)
    several 4 8 $problem --smooths=${smooths[n / 2 % 2]}
    several 4 8 $problem --smoother=chebyshev --degree=${degrees[n % 3]}
    # 48^3 with a coarsest grid of 3^3, 80^3 with 5^3, and 96^3 with 6 boxes per side.
    several 4 27 $problem
    several 4 ${boxes[n / 2 % 2]} $problem
    n=$((n + 1)) # 7 each time
  done
done
several 5 27 --operator=fv2 --smoother=chebyshev
several 5 27 --operator=fv4 --boundary=periodic --smoother=chebyshev
several 5 27 --operator=7pt --equation=helmholtz --smoother=chebyshev
for smoother in gsrb chebyshev jacobi l1jacobi symgs ssor; do
  one 4 8 --operator=27pt --smoother=$smoother
  several 4 27 --operator=27pt --smoother=$smoother --equation=helmholtz --boundary=periodic
done
several 4 8 --operator=27pt --precision=mixed --bottom=smoother --coarsest=4

finish
