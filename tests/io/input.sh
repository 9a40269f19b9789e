# shellcheck shell=bash disable=SC2016,SC2154
# input: --coefficients and --rhs. A dump of the built-in problem gives bit-identical results on any ranks, boxes and
# device. Rough fields are solved to --rtol and dumped. A restart requires the same problem. Each kind of bad file has its
# own error. Skips without HDF5 and its tools.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
need_feature HDF5
for tool in h5copy h5import h5diff h5dump h5repack; do
  command -v "$tool" >/dev/null || skip_test "no $tool (hdf5-tools)"
done
has_h5py=no
if "$PYTHON" -c 'import h5py, numpy' 2>/dev/null; then
  has_h5py=yes
  serve_python h5py numpy
else
  echo 'skipped: files that h5py writes'
fi

# cells FILE NAME DIMENSIONS AWK [CLASS]: add a dataset of cell values, an awk expression of i, j, k and the cell index c.
# CLASS as for h5import: FP is double, IN a 32-bit integer.
cells() {
  local file=$1 name=$2 dimensions=$3 value=$4 class=${5:-FP} size=64
  test "$class" = FP || size=32
  # shellcheck disable=SC2086 # three words
  set -- $dimensions
  awk -v nx="$3" -v ny="$2" -v nz="$1" "BEGIN { srand(1)
    for (k = 0; k < nz; k++) for (j = 0; j < ny; j++) for (i = 0; i < nx; i++) { c = i + nx * (j + ny * k)
      print $value } }" >"$dir/text"
  printf '%s\n' "PATH VTKHDF/CellData/$name" "INPUT-CLASS TEXT$class" 'RANK 3' \
    "DIMENSION-SIZES $dimensions" "OUTPUT-CLASS $class" "OUTPUT-SIZE $size" >"$dir/shape"
  h5import "$dir/text" -c "$dir/shape" -o "$dir/one.hdf" >/dev/null
  h5copy -p -i "$dir/one.hdf" -o "$file" -s "/VTKHDF/CellData/$name" -d "/VTKHDF/CellData/$name"
  rm -f "$dir/one.hdf"
}

# bad NAME AWK: bad.hdf has only this field, of 16^3 cells.
bad() {
  rm -f "$dir/bad.hdf"
  cells "$dir/bad.hdf" "$1" '16 16 16' "$2"
}

# made SHAPE STATEMENTS: in bad.hdf f = beta = 1 on such cells, then Python with `file` and its group `vtk`.
made() {
  quick_python -c 'import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as file:
    shape = eval(sys.argv[2])
    file["VTKHDF/CellData/f"] = file["VTKHDF/CellData/beta"] = np.ones(shape)
    vtk = file["VTKHDF"]
    exec(sys.argv[3])' "$dir/bad.hdf" "$@"
}

# The CSV columns that do not depend on ranks and devices: cycles, norms.
norms() {
  awk -F, 'NR == 2 { print $6, $12, $13, $14 }' "$1"
}

# --- the built-in problem read from a dump ---

same_as_built_in() {
  local problem=$1 format=%s
  rm -f "$dir"/*.hdf
  # shellcheck disable=SC2086 # words
  set -- $problem --smoother=gsrb --krylov=none --cycle=f --rtol=1e-30 --max-cycles=2 --verify-only --device=cpu
  run 1 4 8 "$@" --csv="$dir/want.csv" --dump="$dir/a.hdf" --dump-fields=all
  # With a = 0 and periodic boundaries the mean of f is subtracted; doing so twice rounds.
  case $problem in *dirichlet* | *helmholtz*) ;; *) format=%.6e ;; esac
  for how in '1 4 8' '3 4 3'; do
    # shellcheck disable=SC2086 # words
    set -- ${how%% *} ${how#* } $problem --smoother=gsrb --krylov=none --cycle=f --bottom=bicgstab --rtol=1e-30 \
      --max-cycles=2 --verify-only --coefficients="$dir/a.hdf" --csv="$dir/got.csv"
    if test "$1" -gt 1 && ! have_mpi; then continue; fi
    for device in $(each_device); do
      run "$@" --device="$device"
      checks=$((checks + 1))
      # shellcheck disable=SC2046,SC2059 # words
      test "$(printf "$format " $(norms "$dir/got.csv"))" = "$(printf "$format " $(norms "$dir/want.csv"))" ||
        complain "$problem from a dump, $how, $device: $(norms "$dir/got.csv"), not $(norms "$dir/want.csv")"
    done
  done
}
for operator in fv2 fv4 7pt; do
  for equation in poisson helmholtz; do
    same_as_built_in "--operator=$operator --boundary=dirichlet --equation=$equation"
  done
  test $operator = 7pt || same_as_built_in "--operator=$operator --boundary=periodic"
  same_as_built_in "--operator=$operator --boundary=periodic --equation=helmholtz"
done

# Grids of any size; the dump states cells and widths. h[0] / h is a power of two: dumps divide betas by its square.
for problem in '--operator=fv2 --spacing=0.5,0.25,1' \
  '--operator=7pt --equation=helmholtz --boundary=dirichlet,periodic,dirichlet'; do
  rm -f "$dir"/*.hdf
  options="--smoother=gsrb --krylov=none --cycle=f --rtol=1e-30 --max-cycles=2 --verify-only"
  # shellcheck disable=SC2086 # words
  {
    run 1 --cells=16x12x20 $problem $options --device=cpu --csv="$dir/want.csv" --dump="$dir/a.hdf" \
      --dump-fields=f,beta_i,beta_j,beta_k
    given="${problem/--spacing=0.5,0.25,1/} $options --coefficients=$dir/a.hdf --rhs=$dir/a.hdf"
    for ranks in 1 3; do
      if test $ranks -gt 1 && ! have_mpi; then continue; fi
      for device in $(each_device); do
        run $ranks $given --csv="$dir/got.csv" --device="$device"
        checks=$((checks + 1))
        test "$(norms "$dir/got.csv")" = "$(norms "$dir/want.csv")" ||
          complain "$problem from a dump on $ranks, $device: $(norms "$dir/got.csv"), not $(norms "$dir/want.csv")"
      done
    done
    ok 1 --coefficients="$dir/a.hdf" --rhs="$dir/a.hdf"
    grep -q '^note  user-defined problem: ' "$dir/out" || complain "note: $(grep '^note' "$dir/out")"
  }
done

# --- rough fields ---

# Blocks of 4^3 cells; beta is 10^4 times larger in a third of them.
jumps='(int(i / 4) * 7 + int(j / 4) * 5 + int(k / 4) * 3) % 3 == 0 ? 10000 : 1'
cells "$dir/rough.hdf" beta '32 32 32' "$jumps"
cells "$dir/rhs.hdf" f '32 32 32' 'c % 17 - 8'
ok 1 --coefficients="$dir/rough.hdf" --rhs="$dir/rhs.hdf" --dump="$dir/u1.hdf" --csv="$dir/1.csv"
grep -q '^VERIFICATION: PASSED' "$dir/out" || complain 'a rough field is not solved'
grep -qxF "  problem   beta from $dir/rough.hdf (no checksums), f from $dir/rhs.hdf (no checksums)" "$dir/out" || complain 'the report does not name the coefficients'
awk -F, 'NR == 2 && !($14 < 1e-8) { exit 1 }' "$dir/1.csv" || complain 'the residual is above 1e-8'
if have_mpi; then
  ok 2 --coefficients="$dir/rough.hdf" --rhs="$dir/rhs.hdf" --dump="$dir/u2.hdf" --csv="$dir/2.csv"
  test "$(norms "$dir/1.csv")" = "$(norms "$dir/2.csv")" || complain 'two ranks have different norms'
  h5diff "$dir/u1.hdf" "$dir/u2.hdf" /VTKHDF >"$dir/diff" 2>&1 || complain 'two ranks dump different fields'
fi
for smoother in symgs gsrb; do
  ok 1 --coefficients="$dir/rough.hdf" --rhs="$dir/rhs.hdf" --smoother=$smoother
done
# With alpha, from integers; --rhs alone; twice the beta gives half the solution.
cells "$dir/alpha.hdf" beta '32 32 32' "$jumps"
cells "$dir/alpha.hdf" alpha '32 32 32' '(c * 7919) % 1000' IN
run 1 --coefficients="$dir/alpha.hdf" --dump="$dir/a.hdf" --dump-fields=all
grep -q 'warning: f and all values on sides are 0, so u is constant; give f' "$dir/err" || complain "no warning of f = 0"
grep -q 'helmholtz' "$dir/out" || complain 'an alpha is not the Helmholtz equation'
grep -qxF "  problem   beta from $dir/alpha.hdf (no checksums), f constant 0, alpha from $dir/alpha.hdf (no checksums)" "$dir/out" ||
  complain "the problem line: $(grep problem "$dir/out")"
h5dump -H "$dir/a.hdf" | grep -q '"alpha"' || complain 'the dump of all fields has no alpha'
ok 1 --rhs="$dir/rhs.hdf"
grep -qxF "  problem   beta constant 1, f from $dir/rhs.hdf (no checksums)" "$dir/out" || complain 'beta of --rhs alone is not 1'
ok 1 4 8 --coefficients="$dir/rough.hdf" --dry-run
grep -qxF "  problem   beta from $dir/rough.hdf (no checksums), f constant 0" "$dir/out" || complain 'the dry run has another problem'
ok 1 4 1 --verify-only --equation=helmholtz
grep -qxF '  problem   beta built-in, f built-in, alpha constant 1' "$dir/out" || complain 'the built-in problem is not named'
ok 1 --coefficients="$dir/rough.hdf" --rhs="$dir/rhs.hdf" --boundary=periodic --quiet
# A constant f with a constant alpha gives a constant u: with alpha, no mean is subtracted.
cells "$dir/three.hdf" alpha '16 16 16' 2
cells "$dir/three.hdf" f '16 16 16' 6
ok 1 --coefficients="$dir/three.hdf" --rhs="$dir/three.hdf" --boundary=periodic --dump="$dir/constant.hdf"
h5dump -d /VTKHDF/CellData/u -s 3,5,7 -c 1,1,1 -y -w 1 -m '%.7g' "$dir/constant.hdf" | grep -qx ' *3' ||
  complain 'without walls, a constant f does not give a constant u'
# Without alpha the mean is subtracted, with a warning; a mean of round-off size causes none.
cells "$dir/means.hdf" f '16 16 16' '6 + c % 2'
cells "$dir/none.hdf.f" f '16 16 16' '(c % 2 - 0.5) / 3'
for case in means.hdf:1 none.hdf.f:0; do
  run 1 --rhs="$dir/${case%:*}" --boundary=periodic
  test "$(grep -c 'warning: --rhs=.*: subtracting the mean 6.5 of f' "$dir/err")" -eq "${case#*:}" ||
    complain "the mean of ${case%:*}: $(cat "$dir/err")"
done
# Subtracting a mean 10^7 times the rest leaves round-off, which is subtracted too: the residual falls.
cells "$dir/huge.hdf.f" f '48 48 48' '16000000 + c % 5 % 3'
run 1 --rhs="$dir/huge.hdf.f" --boundary=periodic --max-cycles=20 --rtol=1e-11
checks=$((checks + 1))
grep -q '^VERIFICATION: PASSED' "$dir/out" || complain "f with a large mean: $(tail -n 3 "$dir/out")"
cells "$dir/one.hdf.1" beta '16 16 16' 1
cells "$dir/one.hdf.2" beta '16 16 16' 2
cells "$dir/one.hdf.f" f '16 16 16' 1
one_f=--rhs=$dir/one.hdf.f
for n in 1 2; do
  ok 1 --coefficients="$dir/one.hdf.$n" "$one_f" --dump="$dir/b$n.hdf" --csv="$dir/$n.csv"
  h5dump -d /VTKHDF/CellData/u -y -w 1 -m '%.17g' "$dir/b$n.hdf" | sed -n 's/^ *\(-\{0,1\}[0-9][0-9.e+-]*\),\{0,1\}$/\1/p' >"$dir/u$n"
done
test "$(wc -l <"$dir/u1")" -eq 4096 || complain 'u is not 16^3 values'
paste "$dir/u1" "$dir/u2" | awk '$1 != 2 * $2 { exit 1 }' || complain 'twice beta is not half of u'

# --- alpha on a GPU ---

# Levels of 128^3 cells have special kernels, as do patches that are cut into boxes.
same_with_alpha() {
  local size=$1 boxes=$2 operator=$3 smoother=$4 device
  for device in cpu cuda cuda-simple; do
    # shellcheck disable=SC2086 # words
    run 1 $size $boxes --coefficients="$dir/large.hdf" --operator=$operator --smoother=$smoother --krylov=none \
      --rtol=1e-30 --max-cycles=2 --verify-only --device=$device --cpu-below=0 --csv="$dir/$device.csv"
    checks=$((checks + 1))
    test "$(norms "$dir/$device.csv")" = "$(norms "$dir/cpu.csv")" ||
      complain "alpha, $operator, $smoother, $size $boxes, $device: $(norms "$dir/$device.csv"), not $(norms "$dir/cpu.csv")"
  done
}
if have_cuda; then
  for size in '7 1' '5 8'; do
    # shellcheck disable=SC2086 # words
    ok 1 $size --verify-only --device=cpu --dump="$dir/large.hdf" --dump-fields=f,beta_i,beta_j,beta_k,dinv
    h5copy -i "$dir/large.hdf" -o "$dir/large.hdf" -s /VTKHDF/CellData/dinv -d /VTKHDF/CellData/alpha
    for operator in fv2 fv4 7pt; do
      for smoother in gsrb chebyshev jacobi l1jacobi; do
        # shellcheck disable=SC2086 # words
        same_with_alpha $size $operator $smoother
      done
    done
  done
  rm -f "$dir/large.hdf"*
fi

# --- restart ---

set -- --coefficients="$dir/rough.hdf" --rhs="$dir/rhs.hdf" --krylov=none --rtol=1e-15
run 1 "$@" --max-cycles=5 --csv="$dir/want.csv"
run 1 "$@" --max-cycles=2 --dump="$dir/r.hdf"
run 1 --restart="$dir/r.hdf" --max-cycles=5 --csv="$dir/got.csv"
checks=$((checks + 1))
test "$(norms "$dir/got.csv")" = "$(norms "$dir/want.csv")" || complain 'a restart of a problem in files'
# The files may move; their contents may not change.
mv "$dir/rough.hdf" "$dir/moved.hdf"
expect 3 "--restart=.*/r.hdf refers to '.*/rough.hdf', which cannot be opened: No such .*; pass .* --coefficients=FILE" 1 \
  --restart="$dir/r.hdf" --max-cycles=5
run 1 --restart="$dir/r.hdf" --max-cycles=5 --coefficients="$dir/moved.hdf" --csv="$dir/got.csv"
test "$(norms "$dir/got.csv")" = "$(norms "$dir/want.csv")" || complain 'a restart of a problem that moved'
cells "$dir/other.hdf" beta '32 32 32' 3
expect 3 'belongs to a different problem than .*other.hdf.*: the checksums differ' 1 --restart="$dir/r.hdf" --coefficients="$dir/other.hdf"
run 1 4 8 --verify-only --dump="$dir/built-in.hdf"
expect 3 'belongs to a different problem than .*other.hdf.*: the checksums differ' 1 --restart="$dir/built-in.hdf" \
  --coefficients="$dir/other.hdf" --operator=fv2 --quiet

# --- bad files ---

mkfifo "$dir/pipe"
some=$(rank_counts 2)
several=$(tail -n 1 <<<"$some")
# Datasets with other names are listed in one line, as many as fit.
for ((d = 10; d < 30; d++)); do
  h5copy -p -i "$dir/moved.hdf" -o "$dir/names.hdf" -s /VTKHDF/CellData/beta -d "/run/temperature_$d"
done
expect 3 'has no f in /VTKHDF/CellData; the file has /run/temperature_10, /run/.* and [0-9]+ more datasets$' 1 \
  --rhs="$dir/names.hdf"
test "$(($(grep -o /run/ "$dir/err" | wc -l) + $(sed 's/.* and \([0-9]*\) more.*/\1/' "$dir/err")))" -eq 20 ||
  complain "not 20 datasets: $(cat "$dir/err")"
echo 'not HDF5' >"$dir/text.hdf"
head -c 60000 "$dir/moved.hdf" >"$dir/cut.hdf"
for option in coefficients rhs; do
  expect 3 "--$option=.* cannot be opened as an HDF5 file" 1 --$option="$dir/text.hdf"
  expect 3 "--$option=$dir cannot be opened: it is a directory" 1 --$option="$dir"
  expect 3 "--$option=$dir/pipe cannot be opened: it is a pipe" 1 --$option="$dir/pipe"
  expect 3 "--$option=/dev/zero cannot be opened: it is a device" 1 --$option=/dev/zero
done
expect 3 'has no alpha, beta, .*; the file has /VTKHDF/CellData/f( |$)' 1 --coefficients="$dir/rhs.hdf"
expect 3 'has no f in /VTKHDF/CellData; the file has /VTKHDF/CellData/beta( |$)' 1 --rhs="$dir/moved.hdf"
expect 2 '--equation is poisson, but --coefficients=.* requires helmholtz' 1 --coefficients="$dir/alpha.hdf" \
  --equation=poisson
# Also on two ranks: a file that does not open, one that is damaged, and options.
for ranks in $some; do
  for option in coefficients rhs; do
    expect 3 "--$option=$dir/none.hdf cannot be opened: No such file" "$ranks" --$option="$dir/none.hdf"
  done
  expect 3 'cut.hdf' "$ranks" --coefficients="$dir/cut.hdf"
  expect 2 'give 64\^3 cells, but --coefficients=.* has 32\^3' "$ranks" 5 8 --coefficients="$dir/moved.hdf"
done
# The second of two ranks alone reads planes 8 to 15.
for c in '-1@has -1 in plane 0' '(c == 3000 ? "nan" : 1)@has nan in plane 11, at \[11\]\[11\]\[8\]' \
  '"-nan"@has nan in plane 0, at \[0\]\[0\]\[0\]' '(c == 4000 ? "inf" : c == 4001 ? "nan" : 1)@has inf in plane 15' \
  '(c == 500 ? "-nan" : c == 501 ? "-inf" : 1)@has nan in plane 1, at \[1\]\[15\]\[4\]'; do
  bad beta "${c%%@*}"
  for ranks in $some; do
    test "$ranks" -eq 1 || [[ $c == *'plane 1'[15]* ]] || continue
    expect 3 "beta ${c#*@}.*; it must be 0 or from 1e-60 to 1e60" "$ranks" --coefficients="$dir/bad.hdf"
  done
done
bad beta 0
expect 3 'beta is 0 in all cells' 1 --coefficients="$dir/bad.hdf"
# Storage: an unknown filter (gzip's number in the file is replaced), compact storage, and a damaged chunk that no rank can
# decompress.
cells "$dir/plain.hdf" beta '16 16 16' 'c + 1'
h5repack -f GZIP=1 -l CHUNK=16x16x16 "$dir/plain.hdf" "$dir/gzip.hdf"
LC_ALL=C sed 's/\x01\x00\(......deflate\)/\x01\x7f\1/' "$dir/gzip.hdf" >"$dir/filter.hdf"
h5repack -l COMPA "$dir/plain.hdf" "$dir/compact.hdf"
offset=$(LC_ALL=C grep -obUaP '\x78\x01' "$dir/gzip.hdf" | head -n 1 | cut -d: -f1)
cp "$dir/gzip.hdf" "$dir/broken.hdf"
printf '\377%.0s' {1..200} | dd of="$dir/broken.hdf" bs=1 seek=$((offset + 50)) conv=notrunc 2>/dev/null
expect 3 '--coefficients=.*: /VTKHDF/CellData/beta needs filter 32513 \(.*\), which this HDF5 library lacks' 1 \
  --coefficients="$dir/filter.hdf"
expect 3 'beta has compact storage; .*h5repack -l CONTI' 1 --coefficients="$dir/compact.hdf"
for ranks in $(rank_counts 4); do
  ok "$ranks" --coefficients="$dir/gzip.hdf" "$one_f"
  expect 3 'cannot read /VTKHDF/CellData/beta: inflate\(\) failed' "$ranks" --coefficients="$dir/broken.hdf"
done
# Finite values whose squares or quotients overflow or underflow. (h5import reads numbers as floats.)
if test $has_h5py = yes; then
  # ones NAME PLACE VALUE: only this field, of ones, with VALUE at PLACE (... is everywhere).
  ones() {
    made '(16, 16, 16)' "del vtk['CellData']
vtk['CellData/$1'] = np.ones(shape)
vtk['CellData/$1'][$2] = float('$3')"
  }
  for value in 1e-310 1e-61 1e61 1.7e308; do
    for name in beta alpha; do
      ones $name 1,2,12 $value
      expect 3 "$name has ${value/e/e\\+?} in plane 1, at \[1\]\[2\]\[12\]; it must be .*from 1e-60 to 1e60" 1 --coefficients="$dir/bad.hdf"
    done
  done
  ones f 0,0,2 -1.7e308
  expect 3 'f has -1.7e\+308 in plane 0, at \[0\]\[0\]\[2\]; it must be finite and at most 1e60 in magnitude' 1 --rhs="$dir/bad.hdf"
  ones f ... 1e-310
  expect 3 'max.f. is 1e-310; it must be 0 or at least 1e-60' 1 --rhs="$dir/bad.hdf"
  for value in 1e-60 1e60; do
    ones beta ... $value
    ok 1 --coefficients="$dir/bad.hdf" "$one_f"
    ones f ... $value
    ok 1 --rhs="$dir/bad.hdf"
  done
  # Solids of small betas: where only their own faces determine u, round-off limits the ratio.
  ones beta "np.s_[4:9, 4:9, 4:9]" 0.9e-20
  ok 1 --coefficients="$dir/bad.hdf" "$one_f"
  expect 3 '--coefficients=.*: beta is from 9e-21 to 1; if no side and no alpha fix u, .* 1e20 times the least' 1 \
    --coefficients="$dir/bad.hdf" "$one_f" --boundary=neumann
  ones beta "np.s_[4:9, 4:9, 4:9]" 1e-20
  ok 1 --coefficients="$dir/bad.hdf" "$one_f" --boundary=neumann --quiet
  ones alpha 1,2,12 1e45
  expect 2 'alpha is 1e\+45; --precision=mixed requires 1.0e-37 to 1.0e\+37' 1 --coefficients="$dir/bad.hdf" "$one_f" \
    --precision=mixed --krylov=none
  # Positions of faces, and values on sides.
  # domain STATEMENTS: 4 x 6 x 8 cells with even /grid and values on x_low; then Python.
  domain() {
    made '(8, 6, 4)' "file['boundary/x_low'] = np.ones((8, 6))
for axis, n in zip('xyz', (4, 6, 8)): file['grid/' + axis] = np.linspace(0.0, 2.0, n + 1)
$1"
  }
  domain 'file["grid/z"][3] = 0.7'
  ok 1 --rhs="$dir/bad.hdf" --print-config
  grep -qx 'lengths = 2,2,2' "$dir/out" || complain "lengths from /grid: $(grep lengths "$dir/out")"
  for ranks in $some; do
    ok "$ranks" --rhs="$dir/bad.hdf"
    expect 2 'spacing cannot be combined with a file that has /grid' "$ranks" --rhs="$dir/bad.hdf" --spacing=1,1,1
  done
  expect 2 'stretch cannot be combined with a file that has /grid' 1 --rhs="$dir/bad.hdf" --stretch=x:tanh:1
  expect 2 'the domain is 1 x 2 x 3 by --lengths, but 2 x 2 x 2 by the widths of cells in' 1 --rhs="$dir/bad.hdf" --lengths=1,2,3
  expect 2 'has /boundary/x_low, but the side is periodic' 1 --rhs="$dir/bad.hdf" --boundary=periodic
  expect 2 'the value 3 for a side whose values --rhs=.* has in /boundary/x_low' 1 --rhs="$dir/bad.hdf" --boundary=dirichlet:3
  for bad in 'file["grid/z"][3] = 0.5@grid/z\[3\] is 0.5 after 0.5; positions of faces must be finite and ascend' \
    'file["grid/y"][6] = np.nan@grid/y\[6\] is -?nan after' 'file["grid/x"][0] = -np.inf@grid/x\[0\] is -inf; .* finite' \
    'del file["grid/y"]@has no /grid/y; /grid/x, /grid/y and /grid/z are required' \
    'del file["grid/x"]; file["grid/x"] = np.arange(4.0)@grid/x must have 1 dimension of 5 positions' \
    'file["boundary/y_high"] = np.ones((8, 6))@boundary/y_high must have 8 x 4 values' \
    'file["boundary/z_low"] = np.full((6, 4), 1e61)@boundary/z_low has 1e\+61 at \[0\]\[0\]; it must be finite'; do
    domain "${bad%%@*}"
    expect 3 "${bad#*@}" 1 --rhs="$dir/bad.hdf"
  done
  # If both files state widths, they must be equal, and options may not contradict them.
  pair=$dir/pair
  mkdir "$pair"
  # widths NAME STATEMENTS: such a file.
  widths() {
    domain "del file['boundary']; $2"
    mv "$dir/bad.hdf" "$pair/$1.hdf"
  }
  spacing() {
    widths "$1" "del file['grid']; file['VTKHDF'].attrs['Spacing'] = [$2]"
  }
  widths even ''
  widths stretched "file['grid/z'][3] = 0.7"
  widths moved "file['grid/z'][3] = 0.7; file['grid/z'][...] += 1"
  widths longer "file['grid/z'][8] = 2.1"
  widths bare "del file['grid']"
  spacing equal '0.5, 1 / 3, 0.25'
  spacing other '0.5, 0.5, 0.25'
  for names in 'even equal' 'equal even' 'stretched bare' 'bare stretched' 'bare equal'; do
    ok 1 --coefficients="$pair/${names% *}.hdf" --rhs="$pair/${names#* }.hdf" --print-config
    grep -qxE 'lengths = 2,2,2|spacing = 0.5,0.3333333333333333,0.25' "$dir/out" || complain "widths of $names: $(cat "$dir/out")"
    ok 1 --coefficients="$pair/${names% *}.hdf" --rhs="$pair/${names#* }.hdf"
  done
  ranks=$several
  for bad in 'equal stretched 2@z 0.25 0.2' 'stretched equal 2@z 0.2 0.25' 'even stretched 2@z 0.25 0.2' \
    'longer stretched 2@z 0.25 0.2' 'other even 0@y 0.5 0.333333333' 'even other 0@y 0.333333333 0.5' \
    'equal other 0@y 0.333333333 0.5'; do
    read -r coefficients rhs at a b <<<"$bad"
    one=--coefficients=$pair/$coefficients.hdf other=--rhs=$pair/$rhs.hdf
    expect 3 "cell ${at/@/ in } has width $a in $one, but $b in $other; make Spacing or /grid of both files equal, or" \
      "$ranks" "$one" "$other"
    ranks=1
  done
  expect 3 'the domain begins at z = 0 in --coefficients=.*, but at 1 in --rhs=' 1 --coefficients="$pair/stretched.hdf" \
    --rhs="$pair/moved.hdf"
  ok 1 --coefficients="$pair/equal.hdf" --lengths=2,2,2.0000001
  for options in lengths=1,1,1 spacing=0.25,0.16666666666666666,0.125; do
    expect 2 "the domain is 1 x 1 x 1 by --${options%=*}, but 2 x 2 x 2 by the widths of cells in .*equal.hdf; drop one" 1 \
      --coefficients="$pair/equal.hdf" --$options
  done
  expect 2 'stretch cannot be combined with .*equal.hdf, which states the widths of cells' 1 --coefficients="$pair/equal.hdf" \
    --stretch=z:tanh:2
  expect 2 'spacing cannot be combined with a file that has /grid' 1 --coefficients="$pair/stretched.hdf" \
    --rhs="$pair/bare.hdf" --spacing=1,1,1
  # Cubes of 16^3 cells are solved in boxes if they are the unit cube, as far as files state it.
  cube() {
    made '(16, 16, 16)' "$2"
    mv "$dir/bad.hdf" "$pair/$1.hdf"
  }
  cube bare ''
  cube unit "file['VTKHDF'].attrs['Spacing'] = [1 / 16] * 3"
  cube ones "file['VTKHDF'].attrs['Spacing'] = [1, 1, 1]" # integers
  cube flat "file['VTKHDF'].attrs['Spacing'] = [1, 1, 0.5]"
  cube sides "file['boundary/x_low'] = np.ones((16, 16))"
  for names in 'unit bare:log2-box-dim = 4' 'bare unit:log2-box-dim = 4' 'bare flat:spacing = 1,1,0.5' 'ones sides:spacing = 1,1,1' \
    'bare sides:cells = 16x16x16'; do
    read -r coefficients rhs <<<"${names%:*}"
    ok 1 --coefficients="$pair/$coefficients.hdf" --rhs="$pair/$rhs.hdf" --print-config
    grep -qxF "${names#*:}" "$dir/out" || complain "not ${names#*:} with $names"
    ok 1 --coefficients="$pair/$coefficients.hdf" --rhs="$pair/$rhs.hdf"
  done
  expect 3 'cell 0 in z has width 1 in --coefficients=.*, but 0.5 in --rhs=' 1 --coefficients="$pair/ones.hdf" --rhs="$pair/flat.hdf"
  expect 3 'cell 0 in x has width 0.0625 in --coefficients=.*, but 1 in --rhs=' 1 --coefficients="$pair/unit.hdf" --rhs="$pair/ones.hdf"
  expect 2 'the domain is 1 x 1 x 1 by LOG2_BOX_DIM and BOXES_PER_RANK .*, but 16 x 16 x 16 by the widths of cells in' 1 4 1 \
    --rhs="$pair/ones.hdf"
  expect 2 'sides.hdf has /boundary, but /boundary is read from --rhs=.*, which has none; move it there' 1 \
    --coefficients="$pair/sides.hdf" --rhs="$pair/ones.hdf"
  cube two "file['VTKHDF'].attrs['Spacing'] = [1, 1]"
  expect 3 'attribute Spacing of /VTKHDF must be 3 numbers' 1 --rhs="$pair/two.hdf"
  # A cube with values on sides is solved as with --cells.
  made '(16, 16, 16)' 'del vtk["CellData/beta"]; file["boundary/x_low"] = np.ones((16, 16))'
  ok 1 --rhs="$dir/bad.hdf"
  expect 2 'LOG2_BOX_DIM cannot be combined with a file that has /boundary' 1 4 1 --rhs="$dir/bad.hdf"
fi
bad beta 1
cells "$dir/bad.hdf" alpha '16 16 16' 'c == 300 ? -2 : 1'
expect 3 'alpha has -2 in plane 1, at \[1\]\[2\]\[12\]; it must be 0 or from 1e-60 to 1e60' 1 --coefficients="$dir/bad.hdf"
bad f 'c == 257 ? "-nan" : c'
expect 3 'f has nan in plane 1, at \[1\]\[0\]\[1\]; it must be finite and at most 1e60 in magnitude' 1 --rhs="$dir/bad.hdf"
bad alpha 0
ok 1 --coefficients="$dir/bad.hdf" "$one_f"
expect 3 'alpha is 0 in all cells; without Dirichlet and Robin walls, remove alpha' 1 --coefficients="$dir/bad.hdf" --boundary=periodic
# In dumps, beta is 0 on faces with Neumann's condition.
closed=neumann,neumann,dirichlet,neumann,neumann,dirichlet
ok 1 --cells=16x12x10 --boundary=$closed --verify-only --dump="$dir/closed.hdf" --dump-fields=f,beta_i,beta_j,beta_k
ok 1 --coefficients="$dir/closed.hdf" --rhs="$dir/closed.hdf" --boundary=$closed --rtol=1e-9
some_open=neumann,neumann,dirichlet,dirichlet,neumann,dirichlet
expect 3 'beta_j is 0 on the whole high side in y, which lets nothing pass; use --boundary=neumann there' 1 \
  --coefficients="$dir/closed.hdf" --boundary=$some_open
expect 3 'beta_j has 0 on the upper boundary, at \[0\]\[0\]; it must be from 1e-60 to 1e60; 0 is allowed on sides with --boundary=neumann' 1 \
  --coefficients="$dir/closed.hdf" --boundary=$some_open --operator=fv2
for open in dirichlet robin:1:1; do
  expect 3 'beta_i is 0 on the whole low side in x' 1 --coefficients="$dir/closed.hdf" --boundary=$open
  expect 3 'beta_i has 0 in plane 0, at \[0\]\[0\]\[0\]' 1 --coefficients="$dir/closed.hdf" --boundary=$open --operator=fv2
done
rm "$dir/closed.hdf"
cells "$dir/bad.hdf" beta_i '16 16 16' 1
expect 3 'has 1 of beta_i, beta_j and beta_k; all three are required' 1 --coefficients="$dir/bad.hdf"
cells "$dir/bad.hdf" beta_j '16 16 16' 1
cells "$dir/bad.hdf" beta_k '16 16 16' 1
ok 1 --coefficients="$dir/bad.hdf" "$one_f"
cells "$dir/bad.hdf" beta '16 16 16' 1
expect 3 'has both cell beta and face beta_i, beta_j, beta_k' 1 --coefficients="$dir/bad.hdf"
cells "$dir/flat.hdf" beta '16 16 8' 1
cells "$dir/flat.hdf.f" f '16 16 8' 1
ok 1 --coefficients="$dir/flat.hdf" --rhs="$dir/flat.hdf.f"
grep -q '8x16x16 = 2048 cells' "$dir/out" || complain "size of flat.hdf: $(cat "$dir/out")"
expect 2 'is 8x8x8, but --coefficients=.* requires 8x16x16' 1 --coefficients="$dir/flat.hdf" --cells=8x8x8
expect 2 'fv4 needs a cube of boxes' 1 --coefficients="$dir/flat.hdf" --operator=fv4
expect 2 'coefficients requires --operator=fv2, fv4 or 7pt' 1 --coefficients="$dir/flat.hdf" --operator=27pt
cells "$dir/sizes.hdf" alpha '16 16 16' 1
cells "$dir/sizes.hdf" beta '32 32 32' 1
expect 3 'beta has 32\^3 cells, but other fields have 16\^3; use one size' 1 --coefficients="$dir/sizes.hdf"
cells "$dir/small.hdf" beta '8 8 8' 1
ok 1 --coefficients="$dir/small.hdf" --quiet
cells "$dir/odd.hdf" f '24 24 24' 1
ok 1 --rhs="$dir/odd.hdf"
cells "$dir/48.hdf" f '48 48 48' c
ok 1 --rhs="$dir/48.hdf"
# With f = 0, also from a file, norms are absolute.
cells "$dir/zero.hdf" f '16 16 16' 0
ok 1 --rhs="$dir/zero.hdf" --dump="$dir/zero.dump.hdf" --quiet
ok 1 --restart="$dir/zero.dump.hdf" --quiet
expect 2 '--restart=.* give 32\^3 cells, but --rhs=.*48.hdf has 48\^3; use files of one grid size' 1 \
  --restart="$dir/built-in.hdf" --rhs="$dir/48.hdf"
expect 2 'f has 48\^3 cells, but other fields have 32\^3; use one size' 1 --rhs="$dir/48.hdf" --coefficients="$dir/moved.hdf"
expect 2 'includes alpha, but alpha is the constant 0' 1 4 1 --dump="$dir/x.hdf" --dump-fields=u,alpha
expect 2 'includes alpha, but alpha is the constant 1' 1 4 1 --dump="$dir/x.hdf" --dump-fields=u,alpha --equation=helmholtz
expect 2 '--dump would overwrite .*moved.hdf., which --coefficients reads' 1 --coefficients="$dir/moved.hdf" --dump="$dir/moved.hdf"
if have_mpi; then
  expect 2 'has 16\^3 cells, too few for 8 ranks; use fewer' 8 --coefficients="$dir/one.hdf.1"
  # Ranks may spell the same command line differently; settings from files are not compared.
  checks=$((checks + 1))
  mpi_run 1 "$HPGMG_FV" --rhs="$dir/48.hdf" --max-cycles=50 : -n 1 "$HPGMG_FV" --max-cycles 50 --rhs="$dir/48.hdf" \
    >"$dir/out" 2>&1 || complain "ranks with different command lines: $(tail -n 3 "$dir/out")"
fi
# Dumps have checksums: a changed field is detected.
ok 1 4 8 --verify-only --dump="$dir/d.hdf" --dump-fields=f
cp "$dir/d.hdf" "$dir/flipped.hdf"
offset=$(h5dump -p -H -d /VTKHDF/CellData/f "$dir/d.hdf" | sed -n 's/.*OFFSET \([0-9]*\).*/\1/p')
printf '\001' | dd of="$dir/flipped.hdf" bs=1 seek=$((offset + 70000)) conv=notrunc 2>/dev/null
expect 3 'rhs=.*: plane 8 of /VTKHDF/CellData/f is damaged: its checksum does not match' 1 --rhs="$dir/flipped.hdf"

# --- what a file says counts ---

if test $has_h5py = yes; then
  # largest WANT OPTION...: max u of a solve of bad.hdf.
  largest() {
    local want=$1
    shift
    ok 1 "$@" --rtol=1e-11 --dump="$dir/u.hdf"
    quick_python -c 'import sys, h5py
u = abs(h5py.File(sys.argv[1])["VTKHDF/CellData/u"][...]).max()
sys.exit(f"max u is {u}" if abs(u / float(sys.argv[2]) - 1) > 1e-6 else 0)' "$dir/u.hdf" "$want" 2>"$dir/why" ||
      complain "$*: $(cat "$dir/why"), not $want"
  }
  # Widths, in boxes or not.
  tenfold='vtk.attrs["Spacing"] = [10.0, 10.0, 10.0]'
  made '(32, 32, 32)' "$tenfold"
  largest 5747.645036 --rhs="$dir/bad.hdf"
  made '(32, 32, 32)' 'for axis in "xyz": file["grid/" + axis] = np.arange(33) * 10.0'
  largest 5747.645036 --coefficients="$dir/bad.hdf"
  made '(32, 32, 32)' ''
  largest 0.05612934606 --rhs="$dir/bad.hdf"
  # Faces of VTK's RectilinearGrid.
  faces='vtk.attrs["Type"] = np.bytes_("RectilinearGrid")
vtk["XCoordinates"] = [0.0, 1, 3, 6, 10, 15]; vtk["YCoordinates"] = [0, 2, 4, 6]; vtk["ZCoordinates"] = [0, 1, 2, 4, 8]'
  made '(4, 3, 5)' "$faces"
  largest 3.338156383 --rhs="$dir/bad.hdf"
  # With --rhs alone beta is 1, or that of the file.
  made '(16, 16, 16)' 'x = np.sin(2 * np.pi * (np.arange(16) + 0.5) / 16)
file["VTKHDF/CellData/f"][...] = x[:, None, None] * x[:, None] * x; del file["VTKHDF/CellData/beta"]'
  largest 0.008058895225 --rhs="$dir/bad.hdf"
  largest 0.008069175394 --rhs="$dir/bad.hdf" --operator=7pt
  # What nothing would read, and what contradicts the fields or each other.
  while IFS='@' read -r statements pattern; do
    made '(4, 3, 5)' "$statements"
    expect 3 "$pattern" 1 --rhs="$dir/bad.hdf"
  done <<'END'
file["boundary/zlow"] = 1@unknown name 'zlow' in /boundary; did you mean z_low\?
file["grid/X"] = np.arange(6.0)@unknown name 'X' in /grid; did you mean x\?
vtk["CellData/Alpha"] = np.ones((4, 3, 5))@unknown name 'Alpha' in /VTKHDF/CellData; did you mean alpha\?
vtk["PointData/betta"] = np.ones((4, 3, 5))@unknown name 'betta' in /VTKHDF/PointData; did you mean beta\?
file["Boundary/z_low"] = np.ones((3, 5))@unknown name 'Boundary' in /; did you mean boundary\?
vtk.attrs["spacing"] = [1.0, 1, 1]@unknown attribute 'spacing' in /VTKHDF; did you mean Spacing\?
vtk["PointData/f"] = np.ones((4, 3, 5))@has both /VTKHDF/CellData/f and /VTKHDF/PointData/f; remove one
vtk["PointData/alpha"] = np.ones((4, 3, 5))@has /VTKHDF/PointData/alpha, but /VTKHDF/CellData/beta; store both
vtk.attrs["WholeExtent"] = [0, 5, 0, 3, 0, 5]@WholeExtent of /VTKHDF states 6 points in z, but the fields have 5
vtk.attrs["Dimensions"] = [6, 3, 5]@Dimensions of /VTKHDF states 3 points in y, but the fields have 4
vtk.attrs["Direction"] = [0.0, 1, 0, 1, 0, 0, 0, 0, 1]@Direction of /VTKHDF turns or mirrors the axes
vtk.attrs["Spacing"] = [1.0, 0.0, 1.0]@Spacing of /VTKHDF is 0 in y; it must be finite and above 0
vtk.attrs["Spacing"] = [1.0, 1.0, -1.0]@Spacing of /VTKHDF is -1 in z; it must be finite
vtk.attrs["Spacing"] = [np.nan, 1.0, 1.0]@Spacing of /VTKHDF is -?nan in x; it must be finite
vtk.attrs["Origin"] = [0.0, np.inf, 0.0]@Origin of /VTKHDF is inf in y; it must be finite
vtk.attrs["Type"] = "UnstructuredGrid"@has the Type UnstructuredGrid; only ImageData and RectilinearGrid can be read
vtk.attrs["Type"] = np.bytes_("RectilinearGrid")@has the Type RectilinearGrid, but no XCoordinates
vtk["XCoordinates"] = np.arange(6.0)@has no /VTKHDF/YCoordinates; /VTKHDF/XCoordinates, /VTKHDF/YCoordinates and
vtk["CellData/f"][1, 2, 3] = 9.969209968386869e36@f has 9.96921e\+36 in plane 1, at \[1\]\[2\]\[3\]; it must be a number; this one marks a missing
vtk["CellData/f"][3, 0, 0] = np.float32(1e20)@f has 1e\+20 in plane 3, at \[3\]\[0\]\[0\]; it must be a number; this one marks
vtk["CellData/f"][0, 1, 0] = -99; vtk["CellData/f"].attrs["_FillValue"] = np.float32(-99)@f has -99 in plane 0, at \[0\]\[1\]\[0\]
vtk["CellData/beta"].attrs["missing_value"] = 1@beta has 1 in plane 0, at \[0\]\[0\]\[0\]; it must be a number
vtk["CellData/f"].attrs["valid_range"] = [2.0, 3.0]@f has 1 in plane 0, at \[0\]\[0\]\[0\]; it must be a number
vtk["CellData/f"].attrs["scale_factor"] = 0.1@/VTKHDF/CellData/f is packed \(attribute scale_factor\); write its values without packing
vtk["CellData/beta"].attrs["add_offset"] = 3@/VTKHDF/CellData/beta is packed \(attribute add_offset\)
END
  made '(4, 3, 5)' "$faces
for axis, name in zip('xyz', 'XYZ'): file['grid/' + axis] = vtk[name + 'Coordinates'][...]
file['grid/x'][2] = 3.5"
  expect 3 'cell 1 in x has width 2.5 by /grid or XCoordinates, but 2 by XCoordinates, YCoordinates, ZCoordinates; remove one' 1 \
    --rhs="$dir/bad.hdf"
  # Attributes that change nothing, and groups of others, are accepted.
  made '(4, 3, 5)' 'f = vtk["CellData/f"]; f.attrs["scale_factor"] = 1.0; f.attrs["add_offset"] = 0.0; f.attrs["units"] = "K"
f.attrs["_FillValue"] = -1e30; file["mine/Alpha"] = 1; vtk.attrs["Type"] = "ImageData"; vtk["CellData/u"] = f[...]
vtk.attrs["WholeExtent"] = [0, 5, 0, 3, 0, 4]; vtk.attrs["Direction"] = np.eye(3).ravel()'
  ok 1 --rhs="$dir/bad.hdf"
  # A dump has the position of the domain, also in a restart.
  made '(16, 16, 16)' 'vtk.attrs["Origin"] = [1.0, 2, -3]; vtk.attrs["Spacing"] = [0.5, 0.5, 0.5]'
  for options in "--rhs=$dir/bad.hdf" "--restart=$dir/u.hdf --max-cycles=300"; do
    # shellcheck disable=SC2086 # words
    ok 1 $options --dump="$dir/u.hdf" --dump-fields=all
    h5dump -a /VTKHDF/Origin "$dir/u.hdf" | grep -q '(0): 1, 2, -3' || complain "$options: no Origin in the dump"
    grep -q '>-3 2 1<' "$dir/u.hdf.xdmf" || complain "$options: no origin for XDMF"
  done
  made '(4, 3, 5)' "${faces/0.0, 1, 3, 6, 10, 15/5.0, 6, 8, 11, 15, 20}"
  ok 1 --rhs="$dir/bad.hdf" --dump="$dir/u.hdf"
  h5dump -d /grid/x -y -w 80 "$dir/u.hdf" | grep -q '5, 6, 8, 11, 15, 20' || complain 'no position in /grid of the dump'
  # A dump is a file of the same problem, with any condition: f, alpha and beta in it are the given ones.
  while read -r boundary statements; do
    made '(6, 8, 10)' "rng = np.random.default_rng(1)
for name in ('f', 'beta'): vtk['CellData/' + name][...] = rng.uniform(1, 3, shape)
file['grid/x'] = 3 + np.arange(11) ** 1.1; file['grid/y'] = np.arange(9.0); file['grid/z'] = np.arange(7) ** 1.2
$statements"
    set -- --boundary="$boundary" --rtol=1e-11 --max-cycles=100 --dump-fields=all --quiet
    run 1 --rhs="$dir/bad.hdf" "$@" --dump="$dir/d1.hdf"
    run "$several" --rhs="$dir/d1.hdf" "$@" --dump="$dir/d2.hdf"
    checks=$((checks + 1))
    for field in u f beta_i beta_j beta_k; do
      h5diff -d 1e-7 "$dir/d1.hdf" "$dir/d2.hdf" "/VTKHDF/CellData/$field" >"$dir/diff" 2>&1 ||
        complain "$field from a dump with $boundary: $(tail -n 3 "$dir/err" "$dir/diff")"
    done
    # The mean of f is subtracted if no side determines u.
    test "$boundary" = neumann || h5diff -d 1e-9 "$dir/bad.hdf" "$dir/d1.hdf" /VTKHDF/CellData/f >"$dir/diff" 2>&1 ||
      complain "f in a dump with $boundary is not the given one: $(tail -n 3 "$dir/diff")"
  done <<'END'
neumann
robin:1:2:5 vtk["CellData/alpha"] = rng.uniform(0, 2, shape)
dirichlet:3,neumann:0.5,periodic,periodic,robin:2:1,robin:1:1:-2
dirichlet,neumann,robin:1:2,dirichlet,robin:3:1,neumann file["boundary/x_high"] = rng.uniform(1, 2, (6, 8)); file["boundary/z_low"] = rng.uniform(1, 2, (8, 10))
END
  # A part of the problem that only the other file has is an error; one that both have is named.
  made '(16, 16, 16)' ''
  cp "$dir/bad.hdf" "$dir/both.hdf"
  made '(16, 16, 16)' 'vtk["CellData/alpha"] = np.ones(shape)'
  expect 2 'bad.hdf has alpha, but alpha is read from --coefficients=.*both.hdf, which has none; move it there' 1 \
    --coefficients="$dir/both.hdf" --rhs="$dir/bad.hdf"
  ok 1 --coefficients="$dir/bad.hdf" --rhs="$dir/both.hdf"
  for line in "f of $dir/bad.hdf" "beta of $dir/both.hdf"; do
    grep -qxF "            (not used: $line)" "$dir/out" || complain "no line about $line: $(cat "$dir/out")"
  done

  # --- the worked examples ---

  cd "$dir"
  # example NAME CYCLES OPTION...: solved in at most CYCLES cycles.
  example() {
    local name=$1 most=$2
    shift 2
    quick_python "$abs_top_srcdir/inputs/domains.py" "$name" domain.hdf >said || complain "no $name"
    ok 1 --coefficients=domain.hdf --rhs=domain.hdf "$@"
    cycles=$(sed -n 's/.* cycle *\([0-9]*\) .*/\1/p' out | tail -n 1)
    test "${cycles:-1000}" -le "$most" || complain "$name takes $cycles cycles"
  }
  example reservoir 90 --boundary=neumann
  example channel 6 --boundary=periodic,periodic,neumann
  example plate 9 --boundary=neumann,neumann,neumann,neumann,neumann,robin:2:1

  quick_python "$abs_top_srcdir/inputs/rough_field.py" rough.hdf >said || complain 'no rough field'
  grep -q '64^3 cells, beta 1' said || complain "rough_field.py: $(cat said)"
  ok 1 --input="$abs_top_srcdir/inputs/rough.ini" --dump=heat.hdf --csv=rough.csv
  awk -F, 'NR == 2 && !($12 < 60 && $14 < 1e-8) { exit 1 }' rough.csv || complain 'the example is not solved'
  # The deck sets the defaults that --coefficients implies.
  ok 1 --coefficients=rough.hdf --rhs=rough.hdf --csv=implied.csv
  test "$(norms rough.csv)" = "$(norms implied.csv)" || complain 'the deck is not the default'
  # An independent implementation of the operator.
  residual() {
    quick_python "$abs_top_srcdir/tests/io/own_problem.py" "$@" >why 2>&1 || complain "own_problem.py $*: $(tail -n 1 why)"
  }
  residual rough.hdf heat.hdf dirichlet 1e-8
  quick_python - <<'EOF'
import h5py, numpy as np
random, n = np.random.default_rng(3), 16
with h5py.File("random.hdf", "w") as file:
    for name, low, high in ("beta", 0, 4), ("alpha", 0, 3), ("f", -2, 2):
        file["VTKHDF/CellData/" + name] = 10.0 ** random.uniform(low, high, (n, n, n))
EOF
  for boundary in dirichlet periodic; do
    ok 1 --coefficients=random.hdf --rhs=random.hdf --boundary=$boundary --rtol=1e-10 --dump=random-u.hdf
    residual random.hdf random-u.hdf $boundary 1e-10
  done
  quick_python - <<'EOF'
import h5py, numpy as np
ones, beta = np.ones((16, 16, 16)), "VTKHDF/CellData/beta"
with h5py.File("lzf.hdf", "w") as file:
    file.create_dataset(beta, data=ones, compression="lzf", chunks=(1, 16, 16))
with h5py.File("wide.hdf", "w") as file:
    file.create_dataset(beta, data=ones, chunks=(16, 16, 32), maxshape=(16, 16, None))
with h5py.File("virtual.hdf", "w") as file:
    layout = h5py.VirtualLayout(shape=ones.shape, dtype="f8")
    layout[:] = h5py.VirtualSource("wide.hdf", beta, shape=ones.shape)
    file.create_virtual_dataset(beta, layout)
ones.tofile("ones.raw")
with h5py.File("outside.hdf", "w") as file:
    file.create_dataset(beta, shape=ones.shape, dtype="f8", external=[("ones.raw", 0, h5py.h5f.UNLIMITED)])
EOF
  # Give a second rank time to report the same error.
  mpi_grace 2
  expect 3 'beta needs filter 32000 \(lzf\), which this HDF5 library lacks; use gzip' "$several" --coefficients=lzf.hdf
  expect 3 'beta has chunks of 16 x 16 x 32 values; ' 1 --coefficients=wide.hdf
  expect 3 'beta is a virtual dataset; ' 1 --coefficients=virtual.hdf
  expect 3 'beta has external storage; ' 1 --coefficients=outside.hdf
  # On any failure the existing file is unchanged and no other file is left.
  rough=$abs_top_srcdir/inputs/rough_field.py
  mkdir beside
  cp rough.hdf beside/old.hdf
  # wrong RC PATTERN COMMAND...: exit code RC and one line that matches PATTERN; no line if PATTERN is empty.
  wrong() {
    exits "$1" "${@:3}"
    if test -n "$2"; then one_error rough_field.py "$@"; fi
    if test -s out || { test -z "$2" && test -s err; }; then complain "$*: more output: $(cat out err)"; fi
    if ! cmp -s rough.hdf beside/old.hdf || test "$(ls beside)" != old.hdf; then
      complain "$*: left over: $(ls -l beside)"
      return
    fi
  }
  while IFS=: read -r option pattern; do
    wrong 2 "$pattern" quick_python "$rough" beside/old.hdf "$option"
  done <<'END'
--cells=8:argument --cells: '8' is not an integer from 16 to 1024; see rough_field.py --help
--cells=2048:'2048' is not an integer from 16 to 1024
--cells=16.0:'16.0' is not an integer
--cells=50:cannot solve on 50\^3 cells: .* a multiple of 16 .* the nearest sizes are 48 and 64
--cells=208:odd part of at most 11; the nearest sizes are 192 and 224
--jump=0:'0' is not a number from 1 to 1e\+12
--jump=nan:'nan' is not a number from 1
--seed=-1:'-1' is not an integer from 0 to 9223372036854775807
--sells=16:unrecognized arguments: --sells=16
END
  wrong 2 'arguments are required: FILE' quick_python "$rough"
  wrong 3 'nowhere/new.hdf cannot be written: No such file' quick_python "$rough" nowhere/new.hdf --cells=16
  wrong 3 'beside cannot be written: Is a directory' quick_python "$rough" beside --cells=16
  wrong 3 'old.hdf cannot be written: File too large' \
    bash -c 'ulimit -f 40 && exec "$@"' bash "$PYTHON" "$rough" beside/old.hdf --cells=32
  if test -c /dev/full; then
    wrong 3 '/dev/full cannot be written: No space left' quick_python "$rough" /dev/full --cells=16
  fi
  # Ctrl-C when half the file is written.
  cat >cut.py <<'EOF'
import os, runpy, signal, sys
import h5py
whole = h5py.Group.create_dataset
def half(*args, **kwargs):
    made = whole(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGINT)
    return made
h5py.Group.create_dataset = half
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
EOF
  # The shell ignores SIGINT in background jobs.
  wrong 130 '' env --default-signal=INT "$PYTHON" cut.py "$rough" beside/old.hdf --cells=32
  mkdir none
  echo 'raise ImportError' >none/h5py.py
  wrong 2 "module h5py is missing: 'apt-get install python3-h5py'" \
    env PYTHONPATH="$dir/none" "$PYTHON" "$rough" beside/old.hdf
  ln -s ../rough.hdf beside/link.hdf
  quick_python "$rough" beside/link.hdf --cells=16 | grep -q '16^3 cells' || complain 'nothing through a link'
  test -L beside/link.hdf || complain 'a link is replaced'
  ok 1 --coefficients=rough.hdf --rhs=rough.hdf
  stdout_errors rough_field.py "$PYTHON" "$rough" rough.hdf --cells=16
  stdout_errors rough_field.py "$PYTHON" "$rough" --help
fi
finish
