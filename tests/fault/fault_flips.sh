# shellcheck shell=bash disable=SC2154
# fault_flips: a flipped bit in an input file is either refused with one error line or leaves the result bit-identical.
# FLIPS random bits (default 240) are spread over dumps (double, float, compressed, of user-defined problems),
# coefficients and right-hand sides with checksums, and decks. SEED selects the bits. A deck has no checksum: a flip may
# make another valid deck, whose settings --print-config shows. Skips without HDF5.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
need_feature HDF5
flips=${FLIPS:-240} seed=${SEED:-1}
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
END
  ok 1 --coefficients=alpha.hdf --quiet --dump=with_alpha.hdf --dump-fields=alpha,beta_i,beta_j,beta_k
  kind 'coefficients with alpha' with_alpha.hdf --coefficients=with_alpha.hdf
fi
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
      if test "$rc" -ne 3 && test "$file" != deck.ini; then
        complain "$name, bit $bit: exit code $rc, not 3: $(cat err)"
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
