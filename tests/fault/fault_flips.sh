# shellcheck shell=bash disable=SC2154
# fault_flips: a flipped bit in an input file is either refused with one error line or leaves the result bit-identical.
# FLIPS random bits (default 120) are spread over dumps (double, float, compressed, of grids with lengths and stretched
# axes, of user-defined problems), coefficients and right-hand sides with checksums, positions of faces, boundary values
# and walls, in HDF5's new and old formats, and decks. SEED selects the bits. A deck has no checksum: a flip may make
# another valid deck, whose settings --print-config shows. Skips without HDF5.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
need_feature HDF5
flips=${FLIPS:-120} seed=${SEED:-1}
cpu_only
cd "$dir"

# --- files -----------------------------------------------------------------------------------------

names=() files=() commands=()
# kind NAME FILE ARG...: a FILE to damage, and the arguments of a run that reads it.
kind() {
  names+=("$1") files+=("$2")
  shift 2
  commands+=("$*")
}

once=(4 1 --verify-only --quiet --device=cpu)
ok 1 "${once[@]}" --dump=u.hdf --dump-fields=u
ok 1 "${once[@]}" --dump=float.hdf --dump-precision=float --dump-compress=6 --dump-centering=point
ok 1 "${once[@]}" --operator=7pt --dump=faces.hdf --dump-fields=beta_i,beta_j,beta_k,f
ok 1 "${once[@]}" --dump=packed.hdf --dump-fields=beta_i,beta_j,beta_k,f --dump-precision=float --dump-compress=1
ok 1 "${once[@]}" --boundary=periodic --equation=helmholtz --dump=around.hdf --dump-fields=all --dump-levels=all
kind 'dump' u.hdf --restart=u.hdf --rtol=1e-9
kind 'compressed dump of floats' float.hdf --restart=float.hdf --rtol=1e-9
kind 'coefficients' faces.hdf --coefficients=faces.hdf --rhs=faces.hdf
kind 'compressed coefficients' packed.hdf --coefficients=packed.hdf
kind 'right-hand side' packed.hdf --rhs=packed.hdf
kind 'periodic coefficients' around.hdf --coefficients=around.hdf --boundary=periodic --equation=helmholtz
ok 1 --coefficients=faces.hdf --rhs=packed.hdf --quiet --max-cycles=3 --rtol=0.1 --dump=own.hdf --dump-fields=u
kind 'dump of a user-defined problem' own.hdf --restart=own.hdf --rtol=1e-9 --max-cycles=50
if "$PYTHON" -c 'import h5py' 2>/dev/null; then
  "$PYTHON" "$abs_top_srcdir/inputs/rough_field.py" rough.hdf --cells=16 >/dev/null
  kind 'rough_field.py' rough.hdf --coefficients=rough.hdf --rhs=rough.hdf
  # A dump of a run with an alpha field.
  "$PYTHON" - <<'END'
import h5py
with h5py.File("rough.hdf") as rough, h5py.File("alpha.hdf", "w") as file:
    file["VTKHDF/CellData/alpha"] = rough["VTKHDF/CellData/beta"][...]
    file["VTKHDF/CellData/f"] = rough["VTKHDF/CellData/f"][...]
END
  ok 1 --coefficients=alpha.hdf --quiet --dump=with_alpha.hdf --dump-fields=f,alpha,beta_i,beta_j,beta_k
  kind 'coefficients with alpha' with_alpha.hdf --coefficients=with_alpha.hdf
  # Problems on 6x5x4 cells with boundary values: with positions of faces, or with Spacing and upper walls. The format
  # of HDF5 before 1.8 has no checksums of metadata.
  PYTHONPATH=$abs_top_srcdir/inputs "$PYTHON" - <<'EOF'
import h5py, numpy as np
from rough_field import add_checksums
random = np.random.default_rng(1)
def write(path, low, grid):
    with h5py.File(path, "w", libver=(low, "v110")) as file:
        cells = file.create_group("VTKHDF/CellData")
        cells["f"] = random.random((4, 5, 6))
        for name in ("beta",) if grid else ("beta_i", "beta_j", "beta_k"):
            cells[name] = 1.0 + random.random((4, 5, 6))
        for axis, n in zip("xyz", (6, 5, 4)) if grid else ():
            file[f"grid/{axis}"] = np.cumsum(random.random(n + 1) + 0.5)
        if not grid:
            file["VTKHDF"].attrs["Spacing"] = [0.5, 0.7, 1.3]
            for name, n in ("beta_i", (4, 5)), ("beta_j", (4, 6)), ("beta_k", (5, 6)):
                file[f"HPGMG/walls/{name}"] = 1.0 + random.random(n)
        file["boundary/x_low"] = random.random((4, 5))
        file["boundary/z_high"] = random.random((5, 6))
        add_checksums(file)
write("grid.hdf", "v108", True)
write("old.hdf", "earliest", True)
write("spacing.hdf", "earliest", False)
EOF
  for file in grid old spacing; do
    kind "problem with boundary values, $file" $file.hdf --coefficients=$file.hdf --rhs=$file.hdf
    ok 1 --coefficients=$file.hdf --rhs=$file.hdf --quiet --max-cycles=2 --rtol=0.1 --dump=$file.u.hdf --dump-fields=u
    kind "problem of a dump, $file" $file.hdf --restart=$file.u.hdf --rtol=1e-9 --max-cycles=50
    kind "dump of a problem with boundary values, $file" $file.u.hdf --restart=$file.u.hdf --rtol=1e-9 --max-cycles=50
  done
fi
cells=(--cells=9x5x6 '--lengths=1,2,1.5' --rtol=0.1 --quiet --device=cpu)
faces=beta_i,beta_j,beta_k,f
ok 1 "${cells[@]}" --dump=lengths.hdf
ok 1 "${cells[@]}" --dump=lengths.faces.hdf --dump-fields=$faces --dump-compress=1
ok 1 "${cells[@]}" --stretch=x:tanh:1,z:tanh:2 --dump=stretched.hdf --dump-precision=float
ok 1 "${cells[@]}" --stretch=x:tanh:1,z:tanh:2 --dump=stretched.faces.hdf --dump-fields=$faces
for file in lengths stretched; do
  kind "dump, $file" $file.hdf --restart=$file.hdf --rtol=1e-9 --max-cycles=50
  kind "coefficients, $file" $file.faces.hdf --coefficients=$file.faces.hdf --rhs=$file.faces.hdf
  kind "right-hand side, $file" $file.faces.hdf --rhs=$file.faces.hdf
done
ok 1 "${once[@]}" --smooths=2 --print-config
grep '^[^#]' out >deck.ini
kind 'deck' deck.ini --input=deck.ini

# --- flips -----------------------------------------------------------------------------------------

# All CSV columns except times, what depends on them, and memory.
result() {
  awk -F, -v OFS=, '{ $15 = $16 = $17 = $21 = $25 = ""; print }' "$1"
}

# flip FILE BIT
flip() {
  local at=$(($2 / 8)) byte
  byte=$(od -An -tu1 -j "$at" -N1 "$1")
  # shellcheck disable=SC2059 # a byte by its number
  printf "\\x$(printf %x $((byte ^ (1 << $2 % 8))))" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}

# other_deck NAME: the flip made another valid deck.
other_deck() {
  test "$1" = deck || return 1
  run 1 --input=deck.ini --print-config
  ! cmp -s out deck.good.out
}

RANDOM=$seed
refused=0 same=0 other=0
n_kinds=${#names[@]}
for ((n = 0; n < n_kinds; n++)); do
  name=${names[n]} file=${files[n]}
  read -ra command <<<"${commands[n]}"
  run 1 "${command[@]}" --quiet --csv=good.csv --device=cpu
  test "$rc" -eq 0 || complain "$name: exit code $rc without damage: $(cat err)"
  if test "$name" = deck; then run 1 --input=deck.ini --print-config && cp out deck.good.out; fi
  result good.csv >good
  bits=$((8 * $(stat -c %s "$file")))
  for ((i = n; i < flips; i += n_kinds)); do
    bit=$(((RANDOM << 30 | RANDOM << 15 | RANDOM) % bits))
    flip "$file" "$bit"
    rm -f now.csv
    run 1 "${command[@]}" --quiet --csv=now.csv --device=cpu
    checks=$((checks + 1))
    if test "$rc" -ne 0; then
      refused=$((refused + 1))
      # 2: another size of a field, in the old format of HDF5.
      if test "$rc" -ne 3 && test "$rc" -ne 2; then
        complain "$name, bit $bit: exit code $rc, not 2 or 3: $(cat err)"
      elif test "$(grep -c '^hpgmg-fv: error' err)" -ne 1; then
        complain "$name, bit $bit: not exactly one error line: $(cat err)"
      fi
    elif test -s now.csv && cmp -s good <(result now.csv); then
      same=$((same + 1))
    elif other_deck "$name"; then
      other=$((other + 1))
    else
      complain "$name, bit $bit of $file: a different result with exit code 0"
      cp "$file" "$abs_top_builddir/flipped-$bit-$file" 2>/dev/null || true
    fi
    flip "$file" "$bit"
  done
done
test "$refused" -gt 0 || complain 'no flipped bit was detected'
echo "$flips flipped bits (seed $seed): $refused refused, $same bit-identical, $other made another valid deck"
finish
