# shellcheck shell=bash disable=SC2154
# restart: k cycles, a dump, and m cycles after a restart have the digits of k + m cycles, for every
# operator, boundary and equation, on other ranks, boxes and devices than wrote the file; settings come
# from the file, and the problem is not contradicted. Conjugate gradients begin anew and reach the
# tolerance. Skips without HDF5.
. "$abs_top_srcdir/tests/cli_lib.sh"
if ! have_feature HDF5; then
  expect 2 '--restart needs HDF5.*libhdf5' 1 --restart="$dir/x.hdf"
  finish
fi

# numbers FILE: of a CSV report, without times, ranks, boxes and memory.
numbers() { cut -d, -f1-7,10-14,18-20 "$1"; }

# solves RANKS ARG...: to a tolerance that is out of reach, so that the verification may fail.
solves() {
  checks=$((checks + 1))
  run "$@"
  if test "$rc" -gt 1 || test -s "$dir/err"; then complain "$*: exit code $rc, $(cat "$dir/err")"; fi
}

# goes_on RANKS WHAT ARG...: a restart with 7 cycles in all has the digits of $dir/whole.csv.
goes_on() {
  local ranks=$1
  shift
  solves "$ranks" --restart="$dir/part.hdf" --max-cycles=7 --csv="$dir/rest.csv" "$@"
  cmp -s <(numbers "$dir/whole.csv") <(numbers "$dir/rest.csv") || {
    complain "other digits after a restart on $ranks ranks, $*"
    diff <(numbers "$dir/whole.csv") <(numbers "$dir/rest.csv") || true
  }
}

# both RANKS ARG...: the whole solve, and the first 3 cycles of it as a file.
both() {
  local ranks=$1
  shift
  solves 1 4 8 --verify-only --device=cpu --rtol=1e-13 --max-cycles=7 --csv="$dir/whole.csv" "$@"
  solves "$ranks" 4 8 --verify-only --device=cpu --rtol=1e-13 --max-cycles=3 --dump="$dir/part.hdf" --quiet "$@"
}

some=1
if have_mpi; then some='1 3'; fi
for op in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    both 1 --operator=$op --boundary=$boundary --equation=helmholtz
    for ranks in $some; do
      for device in $(each_device); do
        goes_on "$ranks" --device="$device"
      done
    done
  done
  both 1 --operator=$op --smoother=chebyshev --degree=3 --smooths=2 --bottom=cg --cycle=v
  goes_on 1 --device=cpu
done

# Ways to write: by several ranks, compressed, as points; and other boxes to read into.
if have_mpi; then
  solves 1 5 8 --verify-only --device=cpu --rtol=1e-13 --max-cycles=7 --csv="$dir/whole.csv"
  solves 2 4 32 --verify-only --rtol=1e-13 --max-cycles=3 --dump="$dir/part.hdf" --dump-compress=3 \
    --dump-centering=point --dump-fields=f,u --dump-levels=0,2
  goes_on 1 4 64
  goes_on 2
  goes_on 5 4 13
  goes_on 8 5 1
fi

# Without any further cycle: the file's own residual.
ok 1 4 8 --verify-only --device=cpu --csv="$dir/whole.csv" --dump="$dir/part.hdf"
ok 1 --restart="$dir/part.hdf" --device=cpu --csv="$dir/rest.csv"
cmp -s <(numbers "$dir/whole.csv") <(numbers "$dir/rest.csv") || complain 'no further cycle, other digits'
# One cycle becomes many.
ok 1 4 8 --verify-only --device=cpu --rtol=1e-9 --csv="$dir/whole.csv"
ok 1 --restart="$dir/part.hdf" --rtol=1e-9 --device=cpu --csv="$dir/rest.csv"
cmp -s <(numbers "$dir/whole.csv") <(numbers "$dir/rest.csv") || complain 'on to a tolerance: other digits'

# Conjugate gradients: a file holds no direction, so other digits, but the tolerance is reached. A file
# in the midst of a solve has that cycle's u: its residual is the norm that the file says, or there were
# a warning.
ok 1 4 8 --verify-only --operator=7pt --smoother=symgs --krylov=cg --rtol=1e-9 --dump="$dir/whole.hdf" \
  --dump-every=1
# reached ARG...: after a restart from the 3rd of 6 cycles.
reached() {
  ok 1 --restart="$dir/whole.0003.hdf" --csv="$dir/rest.csv" "$@"
  awk -F, 'NR == 2 && !($12 > 3 && $12 < 10 && $14 < 1e-9) { exit 1 }' "$dir/rest.csv" ||
    complain "$*: $(cat "$dir/rest.csv")"
}
reached
grep -q ',cg$' "$dir/rest.csv" || complain 'the file does not say krylov = cg'
grep -q 'CG with a V-cycle as preconditioner' "$dir/out" || complain "no CG in: $(head -n 5 "$dir/out")"
if have_mpi; then
  run 3 --restart="$dir/whole.0003.hdf" --device=cpu --csv="$dir/three.csv"
  cmp -s <(numbers "$dir/rest.csv") <(numbers "$dir/three.csv") || complain 'CG: other digits on 3 ranks'
fi
reached --krylov=none
grep -q ',none$' "$dir/rest.csv" || complain '--krylov=none does not win over the file'
if cmp -s "$dir/whole.0002.hdf" "$dir/whole.0003.hdf"; then complain 'two cycles, one file'; fi
ok 1 --restart="$dir/whole.0006.hdf"
test "$(grep -c ' 32^3  cycle' "$dir/out")" -eq 6 || complain 'on from what has reached the tolerance'

# The file does not hold everything that may be asked for.
expect 2 '--operator is fv4, but --restart=.*part.hdf holds fv2; drop one' 1 --restart="$dir/part.hdf" --operator=fv4
expect 2 '--boundary is periodic, but .* holds dirichlet' 1 --restart="$dir/part.hdf" --boundary=periodic
expect 2 '--equation is helmholtz, but .* holds poisson' 1 --restart="$dir/part.hdf" --equation=helmholtz
expect 2 'make 64\^3 cells, but --restart=.* holds 32\^3; drop the two' 1 5 8 --restart="$dir/part.hdf"
expect 2 'only without --verify-only and --restart' 1 --restart="$dir/part.hdf" --min-solves=3
ok 1 4 8 --restart="$dir/part.hdf" --operator=fv2 --smoother=chebyshev --rtol=1e-6
ok 1 --restart="$dir/part.hdf" --dry-run
expect 2 'make 64\^3 cells, but --restart=.* holds 32\^3; drop the two' 1 5 8 --restart="$dir/part.hdf" --dry-run
if have_mpi; then
  expect 2 'holds 32\^3 cells, which are too few for 30 ranks' 1 --restart="$dir/part.hdf" --dry-run --ranks=30
fi

# Floats are no longer the digits of the solve: it goes on, with a warning.
solves 1 4 8 --verify-only --rtol=1e-9 --max-cycles=5 --dump="$dir/part.hdf" --dump-precision=float --quiet
run 1 --restart="$dir/part.hdf" --max-cycles=9
test "$rc" -le 1 || complain "restart from floats: exit code $rc"
grep -q '(its values are floats)' "$dir/err" || complain "restart from floats: $(cat "$dir/err")"
finish
