# shellcheck shell=bash disable=SC2154
# dump: the fields of --dump files are bit-identical for any ranks, boxes, threads and device, with every dump option;
# attributes and report lines are correct. Skips without HDF5 or h5diff.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
need_feature HDF5
command -v h5diff >/dev/null || skip_test 'no h5diff (hdf5-tools)'

# same_fields A B: every field, coarse level and checksum is equal; attributes of the run are not compared.
same_fields() {
  local group
  for group in /VTKHDF /HPGMG/levels /HPGMG/checksums; do
    h5diff "$1" "$2" "$group" >"$dir/diff" 2>&1 ||
      complain "$1 and $2 differ in $group: $(head -n 3 "$dir/diff")"
  done
}

# 32^3 cells. A GPU gets 64^3, because smaller grids run on the CPU.
log2=4
if have_cuda; then log2=5; fi
# compare_writers ARG...: one rank against several, other boxes, and a GPU.
compare_writers() {
  local ranks
  rm -f "$dir"/*.hdf
  ok 1 $log2 8 --verify-only --device=cpu --dump="$dir/one.hdf" "$@"
  if have_mpi; then
    for ranks in 2 3 8; do
      ok "$ranks" $log2 $((ranks == 3 ? 3 : 8 / ranks)) --verify-only --device=cpu --dump="$dir/$ranks.hdf" "$@"
      same_fields "$dir/one.hdf" "$dir/$ranks.hdf"
    done
    ok 2 $((log2 + 1)) 1 --verify-only --device=cpu --dump="$dir/boxes.hdf" "$@"
    same_fields "$dir/one.hdf" "$dir/boxes.hdf"
  fi
  if have_cuda; then
    ok 1 $log2 8 --verify-only --device=cuda --dump="$dir/cuda.hdf" "$@"
    same_fields "$dir/one.hdf" "$dir/cuda.hdf"
  fi
  rm -f "$dir"/*.hdf
}
compare_writers --dump-fields=all --dump-levels=0,1,2 --boundary=periodic
compare_writers --dump-levels=1 --dump-precision=float --dump-compress=4 --dump-centering=point
OMP_NUM_THREADS=3 ok 1 $log2 8 --verify-only --device=cpu --dump="$dir/threads.hdf"
ok 1 $log2 8 --verify-only --device=cpu --dump="$dir/thread.hdf"
same_fields "$dir/thread.hdf" "$dir/threads.hdf"

# Many rounds of slabs, and a row of patches in each: more ranks than planes of a slab. 128^3 cells take long with
# sanitizers.
if have_mpi && test "${HPGMG_SANITIZED:-no}" = no; then
  ok 1 6 8 --verify-only --dump="$dir/large.hdf" --dump-fields=u
  ok 5 4 103 --verify-only --dump="$dir/odd.hdf" --dump-fields=u
  ok 1 4 512 --verify-only --dump="$dir/even.hdf" --dump-fields=u
  same_fields "$dir/large.hdf" "$dir/even.hdf"
  same_fields "$dir/odd.hdf" "$dir/even.hdf"
fi

# Attributes and the report.
ok 1 4 8 --verify-only --rtol=1e-9 --dump="$dir/said.hdf" --dump-every=2
grep -q "^dump  $dir/said.hdf and 3 more: " "$dir/out" || complain 'the report does not count 4 files'
for cycle in 0002 0004 0006; do
  test -s "$dir/said.$cycle.hdf" || complain "no file after cycle $cycle"
  test -s "$dir/said.$cycle.hdf.xdmf" || complain "no .xdmf after cycle $cycle"
done
same_fields "$dir/said.hdf" "$dir/said.0006.hdf"
if h5diff "$dir/said.hdf" "$dir/said.0002.hdf" /VTKHDF >/dev/null; then
  complain 'the states after 2 and 6 cycles are the same'
fi

# attribute FILE NAME: the value as h5dump prints it.
attribute() { h5dump -a "/HPGMG/$2" "$1" | sed -n 's/^ *(0): //p'; }
test "$(attribute "$dir/said.hdf" cycles)" = 6 || complain "cycles: $(attribute "$dir/said.hdf" cycles)"
test "$(attribute "$dir/said.hdf" complete)" = 1 || complain 'not complete'
test "$(attribute "$dir/said.hdf" verification)" = '"passed"' || complain 'verification'
attribute "$dir/said.hdf" command_line | grep -q -- '--dump-every=2' || complain 'command line'
test "$(attribute "$dir/said.0002.hdf" verification)" = '"not yet"' || complain 'verification at cycle 2'
grep -q 'said.hdf:/VTKHDF/CellData/u<' "$dir/said.hdf.xdmf" || complain 'no u in the .xdmf'
# All ranks write the same attributes even if their environments differ: rank 0's number of threads.
if have_mpi && have_feature OpenMP; then
  line="$HPGMG_FV 4 4 --verify-only --quiet --device=cpu --dump=$dir/threads.hdf"
  for threads in 2 3; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086 # words
    OMP_NUM_THREADS=$threads mpi_run 1 $line : -n 3 env OMP_NUM_THREADS=$((5 - threads)) $line
    test "$(attribute "$dir/threads.hdf" threads)" = "$threads" || complain "not rank 0's $threads threads"
  done
fi
if ls "$dir"/*.tmp >/dev/null 2>&1; then complain "left over: $(echo "$dir"/*.tmp)"; fi
# An extension that ParaView does not open causes a warning before the solve.
for name in grid grid.h5 .hdf; do
  checks=$((checks + 1))
  run 1 4 1 --verify-only --dump="$dir/$name"
  grep -qxF "hpgmg-fv: warning: --dump=$dir/$name lacks the extension .hdf that ParaView needs (5.11 opens no \
other); use --dump=$dir/$name.hdf, or open $name.xdmf" "$dir/err" || complain "--dump=$name: $(cat "$dir/err")"
  ok 1 4 1 --verify-only --dump="$dir/$name" --quiet
done
ok 1 4 1 --verify-only --dump="$dir/grid.vtkhdf"

# beyond FIELD ARG...: floats cannot hold FIELD, so the dump has doubles.
beyond() {
  local field=$1
  shift
  checks=$((checks + 1))
  run 1 --cells=6x5x4 --dump="$dir/beyond.hdf" --dump-precision=float "$@"
  grep -qE "^hpgmg-fv: warning: --dump-precision=float: a value of $field on level 0, .* is out of .* has doubles\$" "$dir/err" || complain "$field out of the range of floats: exit code $rc, $(cat "$dir/err")"
  test "$(attribute "$dir/beyond.hdf" precision)" = '"double"' || complain "$field out of the range of floats: stored"
}
beyond u --boundary=dirichlet:1e50
ok 1 --restart="$dir/beyond.hdf" --quiet
beyond u --lengths=1e-25,1e-25,1e-25
beyond dinv --lengths=1e-25,1e-25,1e-25 --dump-fields=dinv --boundary=dirichlet:1
ok 1 --cells=6x5x4 --dump="$dir/beyond.hdf" --dump-precision=float
test "$(attribute "$dir/beyond.hdf" precision)" = '"float"' || complain 'values in the range of floats as doubles'
for cells in 8x6x1 1x6x8 8x1x1; do
  expect 2 "--dump-centering=point requires at least 2 cells in each direction, but the grid has $cells: VTK reads" 1 \
    --cells=$cells --dump="$dir/x.hdf" --dump-centering=point
done

finish
