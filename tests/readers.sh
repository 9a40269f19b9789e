# shellcheck shell=bash disable=SC2016,SC2154
# readers: VTK and ParaView read from dumps, and from the .xdmf beside them, the values that h5py reads,
# at the places where they belong: cells and points, double and compressed float, coarse levels. Python
# is $PYTHON, with h5py and perhaps vtk; skips where there is neither vtk nor pvpython.
. "$abs_top_srcdir/tests/cli_lib.sh"
cpu_only
: "${PYTHON:=python3}"
if ! have_feature HDF5; then
  echo 'skipped: a build without HDF5' >&2
  exit 77
fi
if ! "$PYTHON" -c 'import h5py' 2>/dev/null; then
  echo "skipped: $PYTHON has no h5py (python3-h5py)" >&2
  exit 77
fi
unset DISPLAY
export PYTHONDONTWRITEBYTECODE=1
with=()
if "$PYTHON" -c 'import vtk' 2>/dev/null; then with+=(vtk); else echo "not run: $PYTHON has no vtk"; fi
if command -v pvpython >/dev/null; then with+=(paraview); else echo 'not run: no pvpython'; fi
if test "${#with[@]}" -eq 0; then
  echo "skipped: $PYTHON has no vtk, and there is no pvpython" >&2
  exit 77
fi

# reads WITH DUMP: compare by one of the two.
reads() {
  local python=$PYTHON
  if test "$1" = paraview; then python=pvpython; fi
  checks=$((checks + 1))
  if "$python" "$abs_top_srcdir/tests/readers.py" "$1" "$2" expected.npz >"$dir/out" 2>&1; then
    cat "$dir/out"
  else
    complain "$1, $2: $(tail -n 5 "$dir/out")"
  fi
}

cd "$dir"
while read -r name options; do
  # The betas of the three directions tell x, y and z apart; u and f do not.
  # shellcheck disable=SC2086 # options are words of their own
  ok 1 4 8 --verify-only --quiet --dump="$dir/$name.hdf" --dump-fields=all $options
  "$PYTHON" "$abs_top_srcdir/tests/readers.py" expect "$name.hdf" expected.npz || complain "no fields in $name.hdf"
  for one in "${with[@]}"; do reads "$one" "$name.hdf"; done
done <<'END'
cells
cells-float --dump-precision=float --dump-compress=4 --dump-levels=0,1,2
points --dump-centering=point --operator=7pt
points-float --dump-centering=point --dump-precision=float --dump-compress=1 --dump-levels=0,1
END

# The script of docs/visualize.md makes its picture.
if command -v pvpython >/dev/null && command -v xvfb-run >/dev/null && "$PYTHON" -c 'import PIL' 2>/dev/null; then
  sed -n '/^```python/,/^```/{/^```/d; p;}' "$abs_top_srcdir/docs/visualize.md" >example.py
  test -s example.py || complain 'no script in docs/visualize.md'
  ok 1 4 8 --verify-only --quiet --dump="$dir/points.hdf" --dump-centering=point
  checks=$((checks + 1))
  rc=0
  # A server that begins anew whenever its last client goes refuses ParaView once in a few runs.
  xvfb-run -a -s '-screen 0 1280x1024x24 -noreset' pvpython example.py >out 2>&1 || rc=$?
  if test "$rc" -ne 0; then complain "the script of docs/visualize.md: exit code $rc, $(tail -n 3 out)"; fi
  "$PYTHON" "$abs_top_srcdir/tests/plots.py" png paraview.png 900 720 || complain 'its picture is not there'
else
  echo 'not run: the script of docs/visualize.md wants pvpython, xvfb-run and Pillow'
fi
finish
