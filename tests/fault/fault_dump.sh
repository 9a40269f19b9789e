# shellcheck shell=bash disable=SC2154,SC2317
# fault_dump: if --dump cannot write its file, the run ends with one error line and exit code 3 (2 for a bad option). An
# existing file is unchanged and no other file is left behind. Skips without HDF5.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
if ! have_feature HDF5; then
  expect 2 '--dump requires a build with HDF5; install libhdf5' 1 4 1 --dump="$dir/x.hdf"
  finish
fi
some=$(rank_counts 2)

# expect_late RC PATTERN RANKS ARG...: like expect, for errors after the report.
expect_late() {
  local want=$1 pattern=$2
  shift 2
  checks=$((checks + 1))
  run "$@"
  test "$rc" -eq "$want" || complain "$*: exit code $rc, not $want: $(cat "$dir/err")"
  grep -qE -- "^hpgmg-fv: error: .*$pattern" "$dir/err" ||
    complain "$*: no '$pattern' in: $(cat "$dir/err")"
  grep -q '^VERIFICATION: PASSED' "$dir/out" || complain "$*: the report is lost"
}

# A file with a similar name is kept.
echo mine >"$dir/a.hdf.tmp"
ok 1 4 1 --verify-only --dump="$dir/a.hdf"
test "$(cat "$dir/a.hdf.tmp")" = mine || complain 'a.hdf.tmp has changed'
rm "$dir"/a.hdf*

# Bad options and unwritable files are detected before the solve.
mkdir "$dir/folder" "$dir/y.hdf.xdmf"
long=$(printf '%0240d' 0)
for ranks in $some; do
  expect 3 'No such file or directory' "$ranks" 4 8 --dump="$dir/none/x.hdf"
  expect 3 'Is a directory' "$ranks" 4 8 --dump="$dir/folder"
  expect 3 'cannot be written' "$ranks" 4 8 --dump=/proc/x.hdf
  expect 3 'y.hdf.xdmf cannot be written: Is a directory' "$ranks" 4 8 --dump="$dir/y.hdf"
  expect 3 'File name too long' "$ranks" 4 8 --dump="$dir/$long"
  expect 3 'File name too long' "$ranks" 4 8 --dump="$dir/${long%0000}" --dump-every=1
  expect 3 'not a regular file' "$ranks" 4 8 --dump=/dev/null
  expect 2 'level 9 does not exist; use levels 0 to 5' "$ranks" 4 8 --dump="$dir/x.hdf" --dump-levels=0,9
done
expect 2 'unknown value \(did you mean residual\?\)' 1 4 8 --dump="$dir/x.hdf" --dump-fields=u,residua
expect 2 'not a list of key=value' 1 4 8 --dump="$dir/x.hdf" --dump-hints=cb_nodes
expect 2 'key of more than 35 characters' 1 4 8 --dump="$dir/x.hdf" --dump-hints="$(printf 'k%.0s' {1..36})=b"
expect 2 '--dump-fields requires --dump' 1 4 8 --dump-fields=u
# A link is followed even if its target does not exist yet.
mkdir "$dir/far"
ln -s far/z.hdf "$dir/link.hdf"
ok 1 4 1 --verify-only --device=cpu --dump="$dir/link.hdf"
if ! test -L "$dir/link.hdf" || ! test -s "$dir/far/z.hdf"; then complain 'a link to a missing file is not followed'; fi
ln -s round.hdf "$dir/round.hdf"
expect 3 'Too many levels of symbolic links' 1 4 1 --dump="$dir/round.hdf"
if test "$(id -u)" -ne 0; then
  chmod a-w "$dir/folder"
  expect 3 'Permission denied' 1 4 8 --dump="$dir/folder/x.hdf"
  chmod u+w "$dir/folder"
fi

# If a directory is missing on one rank, as on another host, no other rank blocks.
if have_mpi && solo "$HPGMG_FV" --version | grep -q '^HDF5 .*parallel'; then
  program=$HPGMG_FV HPGMG_FV=$abs_top_builddir/tests/mocks/private_paths
  ok 3 create "$dir/apart.hdf"
  ok 3 open "$dir/apart.hdf"
  for how in create open; do
    expect 3 'none/apart.hdf cannot be .*: No such file or directory; use a directory that all hosts share \[rank 1\]' 3 \
      $how "$dir/apart.hdf" "$dir/none/apart.hdf"
    expect 3 'none/apart.hdf cannot be .*: No such file or directory \[rank 0\]' 2 $how "$dir/none/apart.hdf"
  done
  HPGMG_FV=$program
  # It is reported before the solve. Only root can mount a disk for a single rank.
  if test "$(id -u)" -eq 0 && unshare -m true 2>/dev/null; then
    mkdir -p "$dir/own/there"
    line="4 4 --device=cpu --dump=$dir/own/there/it.hdf"
    # shellcheck disable=SC2086,SC2016 # words, and for the inner shell
    expect 3 'dump=.*it.hdf cannot be written: .*/there/: No such file or directory; choose a directory that all hosts share \[rank 2\]' 2 $line : \
      -n 1 unshare -m sh -c 'mount -t tmpfs none "$0" && exec "$@"' "$dir/own" "$HPGMG_FV" $line
  fi
fi

# A disk of 1 MB, which only root can mount. An uncompressed dump that does not fit is refused before the solve. A
# compressed one, of unknown size, fills the disk while it is written.
full=$dir/full
mkdir "$full"
if test "$(id -u)" -eq 0 && mount -t tmpfs -o size=1m none "$full" 2>/dev/null; then
  at_end="umount -l '$full'"
  ok 1 4 1 --verify-only --dump="$full/x.hdf" --dump-fields=u
  cp "$full/x.hdf" "$dir/before"
  unharmed() {
    cmp -s "$full/x.hdf" "$dir/before" || complain "$*: the earlier file has changed"
    test "$(ls "$full")" = "$(printf 'x.hdf\nx.hdf.xdmf')" || complain "$*: left over: $(ls "$full")"
  }
  for ranks in $some; do
    expect 3 'needs 6\.[0-9]+ MB, but only 1\.[0-9]+ MB are free' "$ranks" 5 8 --dump="$full/x.hdf"
    unharmed "$ranks ranks, too large"
    for io in ompio romio321; do
      OMPI_MCA_io=$io expect_late 3 'x.hdf' "$ranks" 5 8 --verify-only --dump="$full/x.hdf" --dump-compress=1
      unharmed "$ranks ranks, $io, a full disk"
    done
  done
  # Less than a block is free.
  cat /dev/zero >"$full/zeros" 2>/dev/null || true
  expect 3 'needs [0-9.]+ kB, but only 0 bytes are free' 1 4 1 --dump="$full/x.hdf" --dump-fields=u
  rm "$full/zeros"
  mount -o remount,ro "$full" && expect 3 'Read-only file system' 1 4 8 --dump="$full/x.hdf"
else
  echo 'skipped: a full disk, which needs mount'
fi

# killed RANKS: a run killed while it writes leaves the existing file unchanged.
killed() {
  local ranks=$1
  ok 1 4 1 --verify-only --dump="$dir/k.hdf"
  cp "$dir/k.hdf" "$dir/before"
  checks=$((checks + 1))
  hold "$ranks" 'write 3' 4 8 --verify-only --device=cpu --dump="$dir/k.hdf" --dump-fields=all
  test -s "$(echo "$dir"/k.hdf.*.tmp)" || complain "$ranks ranks: no temporary file"
  # The last rank; the launcher ends the others.
  kill -9 "$(held_process $((ranks - 1)))"
  wait "$job" 2>/dev/null || true
  cmp -s "$dir/k.hdf" "$dir/before" || complain "$ranks ranks, killed: the earlier file has changed"
  rm -f "$dir"/k.hdf*
}
for ranks in $some; do
  killed "$ranks"
done
finish
