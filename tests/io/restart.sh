# shellcheck shell=bash disable=SC2154
# restart: k cycles, a dump, a restart and m cycles are bit-identical to k + m cycles, for every operator, boundary and
# equation, on any ranks, boxes and devices. Settings come from the file; an option that contradicts its problem is
# refused. Conjugate gradients restart their search directions and reach the tolerance. Skips without HDF5.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
if ! have_feature HDF5; then
  expect 2 '--restart requires a build with HDF5; install libhdf5' 1 --restart="$dir/x.hdf"
  finish
fi

# numbers FILE: the columns of a CSV report without times, ranks, boxes and memory, and without quoted words.
numbers() { sed 's/"[^"]*"//' "$1" | cut -d, -f1-7,10-14,18-20; }

# solves RANKS ARG...: run; the tolerance may be out of reach, so the verification may fail.
solves() {
  checks=$((checks + 1))
  run "$@"
  if test "$rc" -gt 1 || test -s "$dir/err"; then complain "$*: exit code $rc, $(cat "$dir/err")"; fi
}

# check_restart RANKS ARG...: a restart up to cycle 7 is bit-identical to $dir/whole.csv.
check_restart() {
  local ranks=$1
  shift
  solves "$ranks" --restart="$dir/part.hdf" --max-cycles=7 --csv="$dir/rest.csv" "$@"
  cmp -s <(numbers "$dir/whole.csv") <(numbers "$dir/rest.csv") || {
    complain "different results after a restart on $ranks ranks, $*"
    diff <(numbers "$dir/whole.csv") <(numbers "$dir/rest.csv") || true
  }
}

# solve_both RANKS ARG...: all 7 cycles to $dir/whole.csv; the first 3, on RANKS ranks, to $dir/part.hdf.
solve_both() {
  local ranks=$1
  shift
  solves 1 4 8 --verify-only --device=cpu --rtol=1e-13 --max-cycles=7 --csv="$dir/whole.csv" "$@"
  solves "$ranks" 4 8 --verify-only --device=cpu --rtol=1e-13 --max-cycles=3 --dump="$dir/part.hdf" --quiet "$@"
}

for op in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    solve_both 1 --operator=$op --boundary=$boundary --equation=helmholtz
    for ranks in $(rank_counts 3); do
      for device in $(each_device); do
        check_restart "$ranks" --device="$device"
      done
    done
  done
  solve_both 1 --operator=$op --smoother=chebyshev --degree=3 --smooths=2 --bottom=smoother --cycle=v
  check_restart 1 --device=cpu
done

for op in fv2 7pt; do
  solve_both 1 --operator=$op --boundary=dirichlet,neumann,periodic,periodic,neumann,neumann
  check_restart 1 --device=cpu
done
expect 2 '--boundary is periodic,neumann,dirichlet, but .* requires dirichlet,neumann,periodic,periodic,neumann,neumann' \
  1 --restart="$dir/part.hdf" --boundary=periodic,neumann,dirichlet

# The class of precision comes from the file.
for op in fv2 fv4; do
  solve_both 1 --operator=$op --precision=mixed
  for ranks in $(rank_counts 3); do
    check_restart "$ranks" --device=cpu
  done
  grep -q ',mixed,open,invalid$' "$dir/rest.csv" || complain 'a restart of a mixed dump is not mixed'
done
expect 2 '--precision is double, but --restart=.* requires mixed' 1 --restart="$dir/part.hdf" --precision=double

# A dump written by several ranks, compressed, as points; read into other boxes.
if have_mpi; then
  solves 1 5 8 --verify-only --device=cpu --rtol=1e-13 --max-cycles=7 --csv="$dir/whole.csv"
  solves 2 4 32 --verify-only --rtol=1e-13 --max-cycles=3 --dump="$dir/part.hdf" --dump-compress=3 \
    --dump-centering=point --dump-fields=f,u --dump-levels=0,2
  check_restart 1 4 64
  check_restart 2
  check_restart 5 4 13
  check_restart 8 5 1
fi

# Without further cycles, the residual is the file's.
ok 1 4 8 --verify-only --device=cpu --csv="$dir/whole.csv" --dump="$dir/part.hdf"
expect 2 '--precision is mixed, but --restart=.* requires double' 1 --restart="$dir/part.hdf" --precision=mixed
ok 1 --restart="$dir/part.hdf" --device=cpu --csv="$dir/rest.csv"
cmp -s <(numbers "$dir/whole.csv") <(numbers "$dir/rest.csv") || complain 'no further cycle: different results'
# A solve without a tolerance continues with one.
ok 1 4 8 --verify-only --device=cpu --rtol=1e-9 --csv="$dir/whole.csv"
ok 1 --restart="$dir/part.hdf" --rtol=1e-9 --device=cpu --csv="$dir/rest.csv"
cmp -s <(numbers "$dir/whole.csv") <(numbers "$dir/rest.csv") || complain 'restart to a tolerance: different results'

# Conjugate gradients: a dump has no search direction, so results differ, but the tolerance is reached. A dump written
# within a solve has the u of that cycle: its residual must match the norm in the file, or there would be a warning.
ok 1 4 8 --verify-only --operator=7pt --smoother=symgs --krylov=cg --rtol=1e-9 --dump="$dir/whole.hdf" \
  --dump-every=1
# reached ARG...: a restart from cycle 3 of 6 reaches the tolerance.
reached() {
  ok 1 --restart="$dir/whole.0003.hdf" --csv="$dir/rest.csv" "$@"
  awk -F, 'NR == 2 && !($12 > 3 && $12 < 10 && $14 < 1e-9) { exit 1 }' "$dir/rest.csv" ||
    complain "$*: $(cat "$dir/rest.csv")"
}
reached
grep -q ',cg,double,open,invalid$' "$dir/rest.csv" || complain 'krylov = cg is not restored from the file'
grep -q 'CG with a V-cycle as preconditioner' "$dir/out" || complain "no CG in: $(head -n 5 "$dir/out")"
if have_mpi; then
  run 3 --restart="$dir/whole.0003.hdf" --device=cpu --csv="$dir/three.csv"
  cmp -s <(numbers "$dir/rest.csv") <(numbers "$dir/three.csv") || complain 'CG: different results on 3 ranks'
fi
reached --krylov=none
grep -q ',none,double,open,invalid$' "$dir/rest.csv" || complain '--krylov=none does not override the file'
if cmp -s "$dir/whole.0002.hdf" "$dir/whole.0003.hdf"; then complain 'the dumps of two cycles are equal'; fi
ok 1 --restart="$dir/whole.0006.hdf"
test "$(grep -c ' 32^3  cycle' "$dir/out")" -eq 6 || complain 'a restart from a converged dump'

# Options that contradict the file.
expect 2 '--operator is fv4, but --restart=.*part.hdf requires fv2; remove one' 1 --restart="$dir/part.hdf" --operator=fv4
expect 2 '--boundary is periodic, but .* requires dirichlet' 1 --restart="$dir/part.hdf" --boundary=periodic
expect 2 '--equation is helmholtz, but .* requires poisson' 1 --restart="$dir/part.hdf" --equation=helmholtz
expect 2 'give 64\^3 cells, but --restart=.* has 32\^3; drop or change' 1 5 8 --restart="$dir/part.hdf"
expect 2 '--min-solves cannot be combined with --verify-only or --restart' 1 --restart="$dir/part.hdf" --min-solves=3
ok 1 4 8 --restart="$dir/part.hdf" --operator=fv2 --smoother=chebyshev --rtol=1e-6
ok 1 --restart="$dir/part.hdf" --dry-run
expect 2 'give 64\^3 cells, but --restart=.* has 32\^3; drop or change' 1 5 8 --restart="$dir/part.hdf" --dry-run
if have_mpi; then
  expect 2 'has 32\^3 cells, too few for 30 ranks; use fewer' 1 --restart="$dir/part.hdf" --dry-run --ranks=30
fi

# Values stored as float are rounded: the run continues with a warning.
solves 1 4 8 --verify-only --rtol=1e-9 --max-cycles=5 --dump="$dir/part.hdf" --dump-precision=float --quiet
run 1 --restart="$dir/part.hdf" --max-cycles=9
test "$rc" -le 1 || complain "restart from floats: exit code $rc"
grep -q '(stored as float)' "$dir/err" || complain "restart from floats: $(cat "$dir/err")"
finish
