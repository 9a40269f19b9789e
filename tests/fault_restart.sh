# shellcheck shell=bash disable=SC2154
# fault_restart: --restart from what is no whole dump: one line, exit 3; a file with a flipped bit
# is refused or has the digits of the good one. tests/unit_restart.c has what is wrong within a file.
# Skips without HDF5.
. "$abs_top_srcdir/tests/expect.sh"
if ! have_feature HDF5; then
  echo 'skipped: a build without HDF5' >&2
  exit 77
fi
file=$dir/good.hdf
ok 1 4 1 --verify-only --dump="$file" --dump-fields=u
# On the CPU: the host reads files whatever the device, and CUDA takes a second to start, hundreds of times.
ok 1 --restart="$file" --device=cpu --csv="$dir/good.csv"
some=1
if have_mpi; then some='1 2'; fi

mkfifo "$dir/pipe"
for ranks in $some; do
  expect 3 'none.hdf cannot be opened: No such file or directory' "$ranks" 4 8 --restart="$dir/none.hdf"
  expect 3 'cannot be opened: it is a folder' "$ranks" 4 8 --restart="$dir"
  expect 3 'restart=/dev/null cannot be opened: it is a device' "$ranks" 4 8 --restart=/dev/null
  expect 3 'restart=.*/pipe cannot be opened: it is a pipe' "$ranks" 4 8 --restart="$dir/pipe"
done
echo 'no HDF5 at all' >"$dir/text.hdf"
expect 3 'is no dump of hpgmg-fv' 1 --restart="$dir/text.hdf"
ok 1 4 1 --verify-only --dump="$dir/f.hdf" --dump-fields=f
expect 3 'cannot open /VTKHDF/CellData/u: ' 1 --restart="$dir/f.hdf"

# Where one rank alone does not find the file nobody waits for it; through a serial HDF5 it need not.
if have_mpi && solo "$HPGMG_FV" --version | grep -q '^HDF5 .*parallel'; then
  cd "$dir"
  # shellcheck disable=SC2016 # for the inner shell
  expect 3 'restart=good.hdf cannot be opened: No such file or directory; all ranks need it.*\[rank 2,' \
    2 --restart=good.hdf --device=cpu --quiet : -n 1 sh -c 'cd / && exec "$0" "$@"' "$HPGMG_FV" \
    --restart=good.hdf --device=cpu --quiet
  cd "$OLDPWD"
fi

# Cut off every 4 KiB, and before the last byte.
size=$(stat -c %s "$file")
for ((at = 0; at < size; at += 4096)); do
  head -c "$at" "$file" >"$dir/cut.hdf"
  expect 3 'cut.hdf(: cannot open it as an HDF5 file: truncated file| is no dump)' 1 --restart="$dir/cut.hdf" --device=cpu
done
head -c $((size - 1)) "$file" >"$dir/cut.hdf"
expect 3 'cannot open' 1 --restart="$dir/cut.hdf"

# A bit flipped here and there: densely where the metadata are, thinly among the values.
flip() {
  local byte
  cp "$file" "$dir/flip.hdf"
  byte=$(od -An -tu1 -j "$1" -N1 "$file")
  # shellcheck disable=SC2059 # a byte by its number
  printf "\\x$(printf %x $((byte ^ (1 << $1 % 8))))" | dd of="$dir/flip.hdf" bs=1 seek="$1" conv=notrunc status=none
  checks=$((checks + 1))
  rm -f "$dir/flip.csv"
  run 1 --restart="$dir/flip.hdf" --device=cpu --csv="$dir/flip.csv" --quiet
  if test "$rc" -eq 3 && test "$(grep -c '^hpgmg-fv: error' "$dir/err")" -eq 1; then
    refused=$((refused + 1))
  elif test "$rc" -ne 0 || ! cmp -s "$dir/good.csv" "$dir/flip.csv"; then
    complain "a bit flipped in byte $1: exit code $rc, $(cat "$dir/err")"
  fi
}
refused=0 step=${RESTART_FLIP_STEP:-97}
for ((at = 0; at < size; at += step)); do
  flip "$at"
done
test "$refused" -gt 0 || complain 'no flipped bit was noticed'
echo "$refused of $(((size + step - 1) / step)) files with a flipped bit were refused"

# Several ranks find damaged planes: the first one alone is told of.
if have_mpi; then
  file=$dir/two.hdf
  ok 1 4 8 --verify-only --device=cpu --dump="$file" --dump-fields=u
  size=$(stat -c %s "$file")
  for at in $((size / 4)) $((size * 3 / 4)); do
    head -c 8 /dev/zero | tr '\0' '\1' | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
  done
  expect 3 'plane [0-9]+ of /VTKHDF/CellData/u is damaged' 1 --restart="$file" --device=cpu --quiet
  first=$(grep -oE 'plane [0-9]+ ' "$dir/err")
  for ranks in 2 3; do
    expect 3 "${first:-none}of /VTKHDF/CellData/u is damaged" "$ranks" --restart="$file" --device=cpu --quiet
  done
fi
finish
