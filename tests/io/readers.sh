# shellcheck shell=bash disable=SC2016,SC2154
# readers: VTK and ParaView read the same values and positions as h5py from dumps and their .xdmf files:
# cells and points, double and compressed float, coarse levels. Runs $PYTHON with h5py; skips without
# vtk and pvpython.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
need_feature HDF5
"$PYTHON" -c 'import h5py' 2>/dev/null || skip_test "$PYTHON has no h5py (python3-h5py)"
unset DISPLAY
with=()
if "$PYTHON" -c 'import vtkmodules.vtkIOHDF' 2>/dev/null; then with+=(vtk); else echo "not run: $PYTHON has no vtk"; fi
if command -v pvpython >/dev/null; then with+=(paraview); else echo 'not run: no pvpython'; fi
test "${#with[@]}" -gt 0 || skip_test "$PYTHON has no vtk, and pvpython is missing"

# reads WITH DUMP: compare DUMP as read by WITH (vtk or paraview).
reads() {
  local python=$PYTHON
  if test "$1" = paraview; then python=pvpython; fi
  checks=$((checks + 1))
  if "$python" "$abs_top_srcdir/tests/io/readers.py" "$1" "$2" expected.npz >"$dir/out" 2>&1; then
    cat "$dir/out"
  else
    complain "$1, $2: $(tail -n 5 "$dir/out")"
  fi
}

cd "$dir"
while read -r name options; do
  # All fields: the betas differ in x, y and z, whereas u and f are symmetric.
  # shellcheck disable=SC2086 # split options into words
  ok 1 4 8 --verify-only --quiet --dump="$dir/$name.hdf" --dump-fields=all $options
  "$PYTHON" "$abs_top_srcdir/tests/io/readers.py" expect "$name.hdf" expected.npz || complain "no fields in $name.hdf"
  for one in "${with[@]}"; do reads "$one" "$name.hdf"; done
done <<'END'
cells
cells-float --dump-precision=float --dump-compress=4 --dump-levels=0,1,2
points --dump-centering=point --operator=7pt
points-float --dump-centering=point --dump-precision=float --dump-compress=1 --dump-levels=0,1
END

# The script in docs/visualize.md draws its picture.
if command -v pvpython >/dev/null && command -v xvfb-run >/dev/null && "$PYTHON" -c 'import PIL' 2>/dev/null; then
  sed -n '/^```python/,/^```/{/^```/d; p;}' "$abs_top_srcdir/docs/visualize.md" >example.py
  test -s example.py || complain 'no script in docs/visualize.md'
  ok 1 4 8 --verify-only --quiet --dump="$dir/points.hdf" --dump-centering=point
  checks=$((checks + 1))
  rc=0
  # -noreset: an X server that resets after its last client sometimes refuses ParaView.
  xvfb-run -a -s '-screen 0 1280x1024x24 -noreset' pvpython example.py >out 2>&1 || rc=$?
  if test "$rc" -ne 0; then complain "the script of docs/visualize.md: exit code $rc, $(tail -n 3 out)"; fi
  "$PYTHON" "$abs_top_srcdir/tests/scripts/plots.py" png paraview.png 900 720 || complain 'the script of docs/visualize.md draws no picture'
else
  echo 'not run: the script of docs/visualize.md needs pvpython, xvfb-run and Pillow'
fi
finish
