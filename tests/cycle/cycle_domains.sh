# shellcheck shell=bash disable=SC2154
# cycle_domains: on domains of any shape, SciPy's sparse direct solver finds the same solutions. CASES random cases
# (default 45), a fifth of them in files and a fifth with permuted axes, have random sizes, spacings, stretched axes,
# operators, equations and boundaries; SEED selects them. A u is conserved, no direction is special, the preconditioner
# of CG is symmetric, the error falls with order 2, and widths and betas that differ between directions cost few cycles. Runs $PYTHON; skips without HDF5, numpy, scipy or h5py.
. "$abs_top_srcdir/tests/lib/domains_lib.sh"

check cycle_domains random "$((${CASES:-45} * 3 / 5))" "${SEED:-37}"
check cycle_domains files "$((${CASES:-45} / 5))" "${SEED:-37}"
# The last case.
options='--max-cycles=200 --verify-only' ways=('1 --device=guard' '2 --device=cpu' '3 --device=guard' '4 --device=cpu')
same_digits "$options" "${ways[@]}"
check cycle_domains directions
same_digits "$options" "${ways[@]}"
# Its cube of boxes becomes a grid of any size, also after a restart.
# shellcheck disable=SC2046 # words
ok 1 $(cat case.txt) --rtol=1e-2 --verify-only --dump=u.hdf
ok 1 --restart=u.hdf --coefficients=coefficients.hdf --rhs=rhs.hdf --rtol=1e-10 --verify-only
check cycle_domains permuted "$((${CASES:-45} / 5))" "${SEED:-37}"
OMP_NUM_THREADS=1 check cycle_domains symmetric
check cycle_domains changed
check cycle_domains_order
# converges CYCLES ARG...: ARGs need at most that many cycles.
converges() {
  local most=$1
  shift
  ok 1 "$@" --rtol=1e-8 --max-cycles="$most" --verify-only
}
# The defaults solve random problems, whose betas jump by up to 1e6; how much beta varies decides smoother and cycles.
checks=$((checks + 1))
solo "$PYTHON" "$abs_top_srcdir/scripts/random_problems.py" --program="$HPGMG_FV" --count="${CASES:-45}" \
  --seed="${SEED:-37}" >table.txt || complain "random problems: $(cat table.txt)"
awk -F'|' 'END { exit !($5 + 0 <= 6) }' table.txt || complain "random problems take many cycles: $(cat table.txt)"
# The walls of fv2 make A asymmetric. CG does not solve these problems.
for seed in 52004398 118004596 185004797; do
  checks=$((checks + 1))
  solo "$PYTHON" "$abs_top_srcdir/scripts/random_problems.py" --program="$HPGMG_FV" --count=1 --seed=$seed \
    fv2=--operator=fv2 >table.txt || complain "random problem $seed of fv2: $(cat table.txt)"
done
# method SMOOTHER CYCLES REASON ARG...: what --method chooses, and why.
method() {
  ok 1 "${@:4}" --rtol=1e-8 --verify-only
  for line in "smoother  $1" "cycle     $2" "method    $3"; do
    if ! grep -q "^  $line" "$dir/out"; then complain "${*:4}: no '$line': $(cat "$dir/out")"; fi
  done
}
solo "$PYTHON" "$abs_top_srcdir/inputs/rough_field.py" --cells=16 --jump=100 rough.hdf
solo "$PYTHON" "$abs_top_srcdir/inputs/rough_field.py" --cells=16 rougher.hdf
# From the fifth cycle on, a slow solve has polynomials of more steps than levels on several ranks have ghost layers for.
solo "$PYTHON" "$abs_top_srcdir/inputs/rough_field.py" --cells=48 --jump=330 slow.hdf
echo --coefficients=slow.hdf --agglomerate-below=0 >case.txt
same_digits "$options" '2 --device=guard'
method 'chebyshev, degree 4' 'F, then V' 'auto: beta varies by a factor of 1.67, at most 10$' --cells=8x10x12
method 'gsrb' 'F, then V' 'auto: .*; a regular grid$' --cells=32x16x16
method 'chebyshev, degree 4' 'F, then V' 'auto: ' --cells=16x16x16 --lengths=1,2,1
method 'chebyshev, degree 6' 'F, then V' 'auto: .*, at most 10$' --cells=8x9x10 --operator=7pt
converges 6 --cells=65x65x65
ok 1 --cells=65x33x17 --smoother=gsrb --rtol=1e-10 --max-cycles=7 --verify-only
method 'chebyshev4, degree 6' 'F, then K-cycles' 'auto: .*, above 10' --coefficients=rough.hdf
method 'chebyshev4, degree 8' 'K-cycles' 'auto: .*, above 1000' --coefficients=rougher.hdf
method 'symgs, 2 smooths' 'K-cycles' 'auto: ' --coefficients=rough.hdf --smoother=symgs --cycle=v
method 'jacobi, ' 'F, then CG' 'auto: ' --coefficients=rough.hdf --smoother=jacobi --krylov=cg
ok 1 --coefficients=rough.hdf --method=options --krylov=cg --verify-only
grep -q '^  smoother  gsrb' "$dir/out" || complain "--method=options: $(cat "$dir/out")"
if grep -q '^  method' "$dir/out"; then complain '--method=options has a reason'; fi
for boundary in periodic dirichlet; do
  for width in 1.4 1.7 1.9 3.9; do
    converges 12 --cells=32x32x32 --operator=7pt --boundary="$boundary" --lengths="1,1,$width"
  done
done
finish
