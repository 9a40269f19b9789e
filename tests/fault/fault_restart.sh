# shellcheck shell=bash disable=SC2154
# fault_restart: --restart from anything but a complete dump ends with one error line and exit code 3, as does a dump
# with a wrong f_norm or residual norm. tests/fault/fault_flips.sh flips bits;
# tests/unit/unit_restart.c has wrong attributes and fields.
# Skips without HDF5.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
need_feature HDF5
file=$dir/good.hdf
ok 1 4 1 --verify-only --dump="$file" --dump-fields=u
some=$(rank_counts 2)

mkfifo "$dir/pipe"
for ranks in $some; do
  expect 3 'none.hdf cannot be opened: No such file or directory' "$ranks" 4 8 --restart="$dir/none.hdf"
  expect 3 'cannot be opened: it is a directory' "$ranks" 4 8 --restart="$dir"
  expect 3 'restart=/dev/null cannot be opened: it is a device' "$ranks" 4 8 --restart=/dev/null
  expect 3 'restart=.*/pipe cannot be opened: it is a pipe' "$ranks" 4 8 --restart="$dir/pipe"
done
echo 'no HDF5 at all' >"$dir/text.hdf"
expect 3 'is not a dump of hpgmg-fv: wrong HDF5 signature' 1 --restart="$dir/text.hdf"
ok 1 4 1 --verify-only --dump="$dir/f.hdf" --dump-fields=f
expect 3 'cannot open /VTKHDF/CellData/u: .*; the file has /VTKHDF/CellData/f' 1 --restart="$dir/f.hdf"

# If one rank does not find the file, no other rank blocks. With serial HDF5 only rank 0 opens it.
if have_mpi && solo "$HPGMG_FV" --version | grep -q '^HDF5 .*parallel'; then
  cd "$dir"
  # shellcheck disable=SC2016 # for the inner shell
  expect 3 'restart=good.hdf cannot be opened: No such file or directory; use a directory that all hosts share \[rank 2\]' \
    2 --restart=good.hdf --device=cpu --quiet : -n 1 sh -c 'cd / && exec "$0" "$@"' "$HPGMG_FV" \
    --restart=good.hdf --device=cpu --quiet
  cd "$OLDPWD"
fi

# Cut off every 4 KiB, and before the last byte.
size=$(stat -c %s "$file")
for ((at = 0; at < size; at += 4096)); do
  head -c "$at" "$file" >"$dir/cut.hdf"
  expect 3 'cut.hdf (cannot be opened as an HDF5 file: truncated file: [0-9]+ of [0-9]+ bytes|is not a dump)' 1 --restart="$dir/cut.hdf" --device=cpu
done
head -c $((size - 1)) "$file" >"$dir/cut.hdf"
expect 3 'cut.hdf cannot be opened as an HDF5 file' 1 --restart="$dir/cut.hdf"

# If several ranks find damaged planes, only the first plane is reported.
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
# Attributes changed with h5py keep a valid HDF5 checksum.
if "$PYTHON" -c 'import h5py' 2>/dev/null; then
  # put NAME VALUE: set an attribute in a copy of the dump. With sum=1 the checksum of all attributes follows.
  put() {
    cp "$dir/whole.hdf" "$dir/changed.hdf"
    "$PYTHON" -c 'import sys, h5py
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[4])
from rough_field import attributes_checksum
with h5py.File(sys.argv[1], "r+") as file:
    attributes = file["HPGMG"].attrs
    assert attributes["attributes_checksum"][0] == attributes_checksum(file)
    old = attributes[sys.argv[2]]
    attributes.modify(sys.argv[2], old * 0 + float(sys.argv[3]))
    if sys.argv[5] == "1":
        attributes["attributes_checksum"] = attributes_checksum(file)' \
      "$dir/changed.hdf" "$1" "$2" "$abs_top_srcdir/inputs" "${sum:-1}"
  }
  ok 1 4 1 --verify-only --device=cpu --dump="$dir/whole.hdf" --dump-fields=u
  sum=0 put rtol 1e-3
  expect 3 'changed.hdf: attributes_checksum does not match: an attribute .* was changed' 1 --restart="$dir/changed.hdf"
  for value in 1e308 0 0.597; do
    put f_norm "$value"
    expect 3 'changed.hdf: f_norm is .*, but max.f. of this problem is 0.5968' 1 --restart="$dir/changed.hdf" --device=cpu --quiet
  done
  # A residual norm that does not belong to u: one that claims convergence, and one that differs by 0.01 percent.
  norm=$("$PYTHON" -c 'import sys, h5py
print(float(h5py.File(sys.argv[1])["HPGMG"].attrs["residual_norms"][-1]) * 1.0001)' "$dir/whole.hdf")
  for value in 1e-30 "$norm"; do
    put residual_norms "$value"
    expect 3 'changed.hdf: the residual norm is .*, but the file has .*: the file is damaged or belongs to' 1 \
      --restart="$dir/changed.hdf" --rtol=1e-6 --device=cpu --quiet
  done

  # A problem's file without checksums that states other widths or boundary values than before.
  problem() {
    "$PYTHON" - "$dir/problem.hdf" "$@" <<'END'
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], "w") as file:
    file["VTKHDF/CellData/f"] = np.ones((4, 5, 6))
    file["VTKHDF/CellData/beta"] = np.ones((4, 5, 6))
    what, factor = sys.argv[2], float(sys.argv[3])
    if what == "grid":
        for axis, n in ("x", 6), ("y", 5), ("z", 4):
            face = np.arange(n + 1.0) ** 2
            face[1] *= factor
            file[f"grid/{axis}"] = face
    else:
        file["VTKHDF"].attrs["Spacing"] = np.array([1.0, 2.0, 3.0]) * (factor if what == "Spacing" else 1.0)
        file["boundary/x_low"] = np.full((4, 5), factor)
END
  }
  for what in grid Spacing boundary; do
    problem $what 1
    ok 1 --coefficients="$dir/problem.hdf" --rhs="$dir/problem.hdf" --dump="$dir/p.hdf" --quiet
    ok 1 --restart="$dir/p.hdf" --quiet
    problem $what 1.0000001
    expect 3 'p.hdf belongs to a different problem than .*problem.hdf.*: the checksums differ' 1 --restart="$dir/p.hdf" --quiet
  done
  # Another process has the file open.
  checks=$((checks + 1))
  "$PYTHON" - "$HPGMG_FV" "$dir/p.hdf" >"$dir/out" 2>&1 <<'END' || complain "a file open elsewhere: $(cat "$dir/out")"
import os, subprocess, sys, h5py
with h5py.File(sys.argv[2], "r+", locking=True):
    environment = {**os.environ, "HDF5_USE_FILE_LOCKING": "TRUE"}
    run = subprocess.run([sys.argv[1], f"--restart={sys.argv[2]}"], capture_output=True, text=True, env=environment)
wanted = f"--restart={sys.argv[2]} cannot be opened as an HDF5 file: another program has it open for writing"
assert run.returncode == 3 and wanted in run.stderr and run.stderr.count("\n") == 1, run
END
fi
finish
