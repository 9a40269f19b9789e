# shellcheck shell=bash disable=SC2154
# compare: scripts/compare/compare.py. hypre, PETSc and libhpgmg reach the tolerance on small grids, their solutions
# and errors agree with the program's, and the table has a row for each. The summary of a mock of HPGMG-FV
# is read, and each error is one line. Skips without libhypre-dev and petsc-dev.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
need_feature jansson
have_mpi || skip_test 'there is no MPI'
test "$HPGMG_SANITIZED" = no || skip_test 'the libraries are not sanitized'
export OMP_NUM_THREADS=1
script=$abs_top_srcdir/scripts/compare/compare.py
cd "$dir"

# refuse RC PATTERN ARG...: compare.py must end with RC and one error line with PATTERN.
refuse() { fails compare.py "$1" "$2" "$PYTHON" "$script" --build="$abs_top_builddir" "${@:3}"; }
refuse 2 "'17' is not a power of two from 16 to 1024" --sizes=16,17
refuse 2 "'0' is not an integer from 1 to 64" --ranks=0
refuse 2 "invalid choice: 'fv5'" --operator=fv5
refuse 2 "'2' is not a number from 1e-13 to 0.1" --rtol=2
refuse 2 "'amgx' is not none or of hypre, petsc" --solvers=hypre,amgx
refuse 2 'nothing to compare with' --operator=fv4
refuse 2 'none/hpgmg-fv is not a program' --hpgmg=none/hpgmg-fv
refuse 2 'requires --csv' --plot=a.png
refuse 2 'beta=constant requires libhpgmg' --beta=constant --solvers=hypre
refuse 2 'boundary=neumann requires libhpgmg' --boundary=neumann --solvers=hypre
refuse 2 'must end in .png' --csv=a.csv --plot=a.jpg
refuse 2 'is not a configured build' --build="$dir"
refuse 2 'unrecognized arguments: 7' 7

# column NAME FILE: print "PROGRAM VALUE" per row.
column() {
  awk -F, -v name="$1" 'NR == 1 { for (c = 1; c <= NF; c++) at[$c] = c; next } { print $at["program"], $at[name] }' "$2"
}

# A mock of HPGMG-FV that prints the summary of a run on $MOCK_RANKS ranks at twice 1e6 DOF/s.
cat >hpgmg <<'END'
#!/bin/sh
test "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}" = 0 || exit 0
n=$((1 << $1))
cat <<SUMMARY


===== Performance Summary ======================================================
  h=$(awk "BEGIN { printf \"%.15e\", 1 / $n }")  DOF=$(awk "BEGIN { printf \"%.15e\", $n^3 }")  time=0.002048  DOF/s=2.000e+06  MPI=$MOCK_RANKS  OMP=$OMP_NUM_THREADS
  h=1.250000000000000e-01  DOF=5.120000000000000e+02  time=0.000001  DOF/s=5.120e+08  MPI=$MOCK_RANKS  OMP=$OMP_NUM_THREADS


===== Richardson error analysis ================================================
  h=6.250000000000000e-02  ||error||=9.649246296773370e-06
SUMMARY
END
chmod +x hpgmg
mock=(--solvers=none --hpgmg=hpgmg --sizes=16 --rounds=3 --min-time=0)
export MOCK_RANKS=2
exits 0 "$PYTHON" "$script" --build="$abs_top_builddir" "${mock[@]}" --ranks=2 --operator=fv4 --csv=f.csv
test "$(column solve_s f.csv | tail -n 1)" = 'HPGMG-FV 0.002048' || complain "F-cycles: $(cat f.csv)"
awk -F, 'NR == 2 { ours = $11 } NR == 3 { exit !($13 <= $12 && $12 <= $14 && ours > 0) }' f.csv ||
  complain "ratios: $(cat f.csv)"
refuse 1 'ran on 2 ranks of [0-9]* threads, not 1 of' "${mock[@]}" --ranks=1
sed -i 's/n=.*/n=32/' hpgmg
refuse 1 'solved 32768 cells, not 16\^3' "${mock[@]}" --ranks=2
echo '#!/bin/sh' >hpgmg
refuse 1 "printed no summary line 'h=... DOF/s=...'" "${mock[@]}" --ranks=2
echo 'echo "error: no memory" >&2; exit 4' >>hpgmg
refuse 1 'error: no memory' "${mock[@]}" --ranks=2

# solved N FILE: N programs reach the tolerance, and max|u| and the error agree.
solved() {
  checks=$((checks + 1))
  column relative "$2" | awk -v n="$1" '!($NF < 1e-10) { exit 1 } END { exit NR != n }' ||
    complain "residuals of $1 programs: $(column relative "$2")"
  # The program's own row is empty without h5py.
  for name in u_max error; do
    column $name "$2" | awk '
      NF < 2 || $NF !~ /^[0-9]/ { next }
      !n { first = $NF }
      { n++; if (($NF - first) ^ 2 > (1e-7 * first) ^ 2) wrong = 1 }
      END { exit wrong }' || complain "$name: $(column $name "$2")"
  done
}
run_solvers() {
  exits 0 "$PYTHON" "$script" --build="$abs_top_builddir" --rounds=1 --min-time=0 "$@"
}
run_solvers --sizes=16 --ranks=1 --operator=7pt --csv=a.csv
libraries=$((2 - $(grep -c '^skip: [hp]' out || true)))
if grep -q '^skip: libhpgmg' out; then ours=1; else ours=2; fi
if ((libraries == 0)); then
  test "$failures" = 0 || finish
  skip_test 'libhypre-dev and petsc-dev are missing'
fi
solved $((ours + 2 * libraries)) a.csv
run_solvers --sizes=16 --ranks=2 --operator=7pt --csv=a.csv
solved $((ours + 2 * libraries)) a.csv
if ((ours == 2)); then
  run_solvers --sizes=32 --ranks=1 --beta=constant --csv=a.csv
  solved $((1 + 2 * libraries)) a.csv
  for problem in --beta=jumps --beta=anisotropic --boundary=neumann; do
    run_solvers --sizes=16 --ranks=2 --operator=7pt --rtol=1e-11 "$problem" --solvers=hypre,libhpgmg --csv=a.csv
    ! grep -q '^skip: hypre' out || continue
    solved 3 a.csv
  done
  run_solvers --sizes=16 --ranks=1 --beta=jumps --solvers=petsc,libhpgmg
  grep -q '^skip: petsc (its coarse levels' out || complain "PETSc solved jumps: $(cat out)"
  for text in '^libhpgmg: [0-9]* lines of code, [0-9]* functions called$' 'ratio: time relative to libhpgmg$'; do
    grep -q "$text" out || complain "no line '$text'"
  done
fi
run_solvers --sizes=16 --ranks=2 --rtol=1e-11 --csv=a.csv
solved $((ours + 2 * libraries)) a.csv
if "$PYTHON" -c 'import matplotlib' 2>/dev/null; then
  own_matplotlib
  exits 0 "$PYTHON" "$abs_top_srcdir/scripts/plot.py" compare a.csv f.csv --data=drawn.csv -o a.svg
  for text in 'HPGMG-FV, fv4 gsrb' 'hypre pfmg, fv2 gsrb' '16³, 2 ranks of 1 thread' 'solves to a tolerance'; do
    ((libraries == 2)) || test "${text#hypre}" = "$text" || continue
    grep -qF "$text" a.svg || complain "the picture lacks '$text'"
  done
  test "$(wc -l <drawn.csv)" -eq $((ours + 1 + 2 * libraries)) || complain "plotted: $(cat drawn.csv)"
  echo 'kind,program' >bad.csv
  echo 'solve,hypre' >>bad.csv
  fails plot.py 3 'bad.csv is not a table of compare.py --csv' "$PYTHON" "$abs_top_srcdir/scripts/plot.py" compare bad.csv
fi
finish
