# shellcheck shell=bash disable=SC2016,SC2154
# plot: scripts/plot.py plots the values of dumps and reports. Plotted values equal those of the files,
# pictures have the right size and are not empty, and each error is one line. Runs $PYTHON; skips
# without matplotlib, h5py, HDF5 or jansson.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
for feature in HDF5 jansson; do
  need_feature $feature
done
"$PYTHON" -c 'import matplotlib, h5py, PIL' 2>/dev/null ||
  skip_test "$PYTHON lacks matplotlib, h5py or pillow (python3-matplotlib python3-h5py)"
# One thread unless a run sets another number.
export OMP_NUM_THREADS=1
own_matplotlib
serve_python matplotlib.backends.backend_{agg,svg} matplotlib.{figure,ticker} h5py PIL.GifImagePlugin \
  plots.{animation,convergence,fields,ladders,levels,scaling}
plot=$abs_top_srcdir/scripts/plot.py

# draw ARG...: plot.py must end with 0, at least one line on stdout, and nothing on stderr.
draw() {
  checks=$((checks + 1))
  rc=0
  tool_python "$plot" "$@" >"$dir/said" 2>"$dir/err" || rc=$?
  if test "$rc" -ne 0 || test -s "$dir/err"; then complain "plot.py $*: exit code $rc, $(cat "$dir/err")"; fi
  test -s "$dir/said" || complain "plot.py $* prints nothing"
}

# right ARG...: a check of tests/scripts/plots.py must pass.
right() {
  quick_python "$abs_top_srcdir/tests/scripts/plots.py" "$@" >"$dir/why" 2>&1 || complain "$*: $(tail -n 1 "$dir/why")"
}

# shows FILE TEXT...: the SVG must contain each TEXT.
shows() {
  local file=$1 text
  shift
  for text; do grep -qF -- "$text" "$file" || complain "$file lacks the text '$text'"; done
}

# refuse RC PATTERN ARG...: plot.py must end with RC and one error line with PATTERN, and leave no file.
refuse() {
  local want=$1 pattern=$2
  shift 2
  checks=$((checks + 1))
  rc=0
  (cd "$dir/empty" && quick_python "$plot" "$@") >"$dir/said" 2>"$dir/err" || rc=$?
  one_error plot.py "$want" "$pattern" "$@"
  if test -n "$(ls -A "$dir/empty")"; then complain "plot.py $* left $(ls "$dir/empty")"; fi
}
mkdir "$dir/empty"

# --- dumps -----------------------------------------------------------------------------------------

ok 1 4 8 --verify-only --rtol=1e-8 --dump="$dir/cell.hdf" --dump-fields=all --dump-levels=0,1,3
cp "$dir/out" "$dir/cell.out"
ok 1 4 8 --verify-only --dump="$dir/point.hdf" --dump-centering=point --dump-precision=float --dump-compress=3 \
  --operator=fv4 --boundary=periodic --equation=helmholtz
cd "$dir"
draw slice cell.hdf
right png cell-slice.png 840 792
draw slice cell.hdf --data=t.csv -o a.png
right slice cell.hdf t.csv u 0 z 0.25
# A grid that is no cube, with a stretched axis, and a coarse level of it.
ok 1 --cells=12x10x30 --lengths=1,0.5,3 --stretch=z:tanh:2 --verify-only --dump=domain.hdf --dump-levels=0,2 \
  --dump-fields=u,beta_k
draw slice domain.hdf --axis=y --at=0.7 --data=t.csv -o t.svg
right slice domain.hdf t.csv u 0 y 0.7
shows t.svg '12 × 10 × 30 cells'
draw slice domain.hdf --axis=x --at=0.3 --level=2 --field=beta_k --data=t.csv -o t.png
right slice domain.hdf t.csv beta_k 2 x 0.3
cmp -s a.png cell-slice.png || complain 'two pictures of one dump differ'
while read -r file field level axis at more; do
  # shellcheck disable=SC2086 # split options into words
  draw slice "$file" --field="$field" --level="$level" --axis="$axis" --at="$at" $more --data=t.csv -o t.png --dpi=60
  right slice "$file" t.csv "$field" "$level" "$axis" "$at"
  right png t.png 420 396
done <<'END'
cell.hdf  u        0 x 0.5
cell.hdf  residual 0 y 1    --log
cell.hdf  f        1 z 0.3  --limits=-1e-3,2e-3
cell.hdf  beta_i   0 z 0.1
cell.hdf  beta_j   1 x 0
cell.hdf  beta_k   0 y 0.7
cell.hdf  dinv     3 z 0.5
point.hdf u        0 z 0.25
point.hdf residual 0 x 0.99
END

# Titles, axes and units, as text of an SVG.
ok 1 --verify-only --quiet --dump="$dir/own.hdf" --coefficients="$dir/cell.hdf" --rhs="$dir/point.hdf" 4 8
draw slice own.hdf --axis=x -o t.svg
shows t.svg 'Solution u at x = 0.265625 (plane 8 of 0 to 31), after ' \
  ', dirichlet, coefficients of cell.hdf, right-hand side of point.hdf, ' \
  '32³ cells, relative residual ' 'y (edge of the cube = 1)' 'z (edge of the cube = 1)' \
  'solution u (dimensionless)'

# --title and --no-title.
draw slice own.hdf -o t.svg --title='Mine & yours'
shows t.svg 'Mine &amp; yours'
draw slice own.hdf -o none.svg --no-title
for file in t.svg none.svg; do
  if grep -q 'Solution u at\|32³ cells' $file; then complain "$file has the default title"; fi
done
refuse 2 'argument --no-title: not allowed with argument --title' slice "$dir/own.hdf" --title=a --no-title

# Any title has at most two lines, and they fit the figure.
in_python titles <<'PY'
from plots.common import figure, set_title
few, many = "fv2, poisson, dirichlet", ", ".join(f"phrase number {i}" for i in range(40))
for width in (7.0, 7.5, 12.0):
    for shown, ran, title in (
        ("Solution u", [few], None),
        ("Solution u at z = 0.2578125 (plane 16 of 0 to 63), after 37 cycles", [few, many], None),
        ("word " * 60, [many], None),
        ("x" * 5000, ["y" * 5000], None),
        ("$a$ \\frac \x01 " * 20, ["$b$, " * 90], None),
        ("Solution u", [few], "word " * 60),
        ("Solution u", [few], "word " * 25),
        ("Solution u", [few], "z" * 5000),
        ("Solution u", [few], ""),
    ):
        fig = figure(width, 6.6, 60)
        set_title(fig, shown, ran, title)
        fig.draw_without_rendering()
        said, box = fig._suptitle.get_text(), fig._suptitle.get_window_extent()
        assert said.count("\n") <= 1, said
        assert box.width <= fig.bbox.width, (width, said)
        assert title != "" or said == "", said
        assert title is not None or said.startswith(("Solution u", "word word", "x", r"\$a")), said
PY

# For a positive field, a logarithmic scale covers nearly all values, and the title has no "magnitude". For a field that
# changes sign, it covers at least three quarters of the magnitudes.
cp cell.hdf scale.hdf
for kind in positive signed; do
  in_python "$kind field" scale.hdf $kind <<'PY'
import sys
import h5py, numpy as np
path, kind = sys.argv[1:3]
draw = np.random.default_rng(1)
n = 32
field = np.exp(draw.normal(0.0, 0.3, (n, n, n)))
if kind == "positive":
    field[draw.random((n, n, n)) < 0.2] *= 3e4
else:
    field *= draw.choice((-1.0, 1.0), (n, n, n))
    field[draw.random((n, n, n)) < 0.5] *= 1e-8
with h5py.File(path, "r+") as file:
    file["VTKHDF/CellData/beta_i"][...] = field
from plots.dump import Dump
from plots.fields import limits_of
with Dump(path) as dump:
    plane = dump.plane("beta_i", 0, "z", 0.25)
low, high = limits_of([plane], True)
sizes = abs(plane.values)
below = (sizes < low).mean()
assert high == sizes.max() and below < (0.02 if kind == "positive" else 0.26), (low, high, below)
PY
  draw slice scale.hdf --field=beta_i --log -o $kind.svg
done
if grep -q 'Magnitude of\||β|' positive.svg; then complain 'positive.svg labels a positive field as magnitude'; fi
shows signed.svg 'Magnitude of the coefficient β of the lower faces in x at z = ' '|β| (dimensionless)'

# Orientation of the picture. Only the plotted plane is read: damage in another one goes unnoticed.
cp cell.hdf marked.hdf
right mark marked.hdf
draw slice marked.hdf -o t.png
right marked t.png
ok 1 4 8 --verify-only --quiet --dump="$dir/spoilt.hdf" --dump-compress=3
right damage spoilt.hdf 31
draw slice spoilt.hdf --at=0.5 -o t.png
refuse 3 'spoilt.hdf cannot be read as a dump' slice "$dir/spoilt.hdf" --at=1

# Output to a pipe works. Output through a circular link, to the file of stdout or to a read-only file is refused.
quick_python "$plot" slice cell.hdf --at=0.5 -o t.png --data=/dev/stdout | sed '/^t.png:/d' >piped.csv
draw slice cell.hdf --at=0.5 -o t.png --data=t.csv
cmp -s t.csv piped.csv || complain 'a table written to a pipe differs'
ln -s circle circle.csv
ln -s circle.csv circle
refuse 3 'circle.csv cannot be written: Too many levels' slice "$dir/cell.hdf" -o "$dir/t.png" --data="$dir/circle.csv"
test -L circle.csv || complain 'a symbolic link was replaced'
refuse 2 '--output and --data are both .*t.png' slice "$dir/cell.hdf" -o "$dir/t.png" --data="$dir/t.png"
refuse 2 'said is the file that standard output or error goes to' slice "$dir/cell.hdf" -o "$dir/t.png" --data="$dir/said"
refuse 3 'a file without a name cannot be written' slice "$dir/cell.hdf" -o "$dir/t.png" --data=
chmod a-w t.csv
if test ! -w t.csv; then
  refuse 3 't.csv cannot be written: Permission denied' slice "$dir/cell.hdf" -o "$dir/t.png" --data="$dir/t.csv"
fi
chmod u+w t.csv
# Writes are atomic: on an error, the old file stays and the temporary one is removed.
for how in KeyboardInterrupt 'OSError(28, "full")'; do
  in_python "$how: the old file was not kept" "$how" <<'EOF'
import builtins, os, sys
import toolkit

def half(path, mode):
    file = real(path, mode)
    file.write(b"half")
    class Cut:
        name = path
        __enter__ = lambda self: self
        __exit__ = lambda self, *_: file.close()
        def write(self, content):
            raise eval(sys.argv[1])
    return Cut()

toolkit.write_atomically("kept.txt", b"whole")
before, real = os.listdir(), builtins.open
builtins.open = half
try:
    toolkit.write_atomically("kept.txt", b"other")
    sys.exit(1)
except (KeyboardInterrupt, toolkit.ToolError):
    builtins.open = real
sys.exit(os.listdir() != before or open("kept.txt").read() != "whole")
EOF
done

stdout_errors plot.py "$PYTHON" "$plot" slice cell.hdf -o t.png
stdout_errors plot.py "$PYTHON" "$plot" slice --help

# --- cycles ----------------------------------------------------------------------------------------

ok 1 4 8 --verify-only --rtol=1e-8 --dump="$dir/film.hdf" --dump-every=1
draw animate film.hdf film.000*.hdf --data=t.csv -o t.gif --dpi=60
grep -q '^film.*skipped' said || complain 'a second dump of one state was not skipped'
n=$(sed -n 's/^t.gif: \([0-9]*\) frames.*/\1/p' said)
test "${n:-0}" -ge 3 || complain "$n frames"
right gif t.gif 420 396 "$n"
right film t.csv residual film.000[1-$((n - 1))].hdf film.hdf # ordered by cycle
draw animate film.000[12].hdf --field=u --data=t.csv -o t.gif --dpi=60
right film t.csv u film.000[12].hdf
draw animate film.000[12].hdf --no-log -o t.gif --dpi=60
right gif t.gif 420 396 2
ok 1 4 8 --verify-only --rtol=1e-8 --quiet --dump="$dir/bare.hdf" --dump-every=1 --dump-fields=u,f
refuse 2 'bare.0001.hdf has no field residual, .*: dump it with hpgmg-fv --dump-fields=residual, or set --field to one of f, u' \
  animate "$dir/bare.0001.hdf" "$dir/bare.0002.hdf"
draw animate bare.000[12].hdf --field=u -o t.gif --dpi=60
if command -v ffmpeg >/dev/null; then
  draw animate film.000[12].hdf -o t.mp4
  test "$(head -c 8 t.mp4 | tail -c 4)" = ftyp || complain 't.mp4 is not an MP4'
else
  refuse 2 'needs ffmpeg' animate "$dir/film.0001.hdf" -o t.mp4
fi

ok 1 4 8 --verify-only --rtol=1e-8 --json="$dir/cell.json"
draw convergence cell.json --data=t.csv
right png cell-convergence.png 900 648
right convergence t.csv cell.json
right printed t.csv cell.out
draw convergence cell.hdf point.hdf --data=t.csv -o t.png
right png t.png 900 648
right convergence t.csv cell.hdf point.hdf

# --- times -----------------------------------------------------------------------------------------

timed=(--min-time=0 --min-solves=1 --warmup=0 --quiet)
ok 1 5 1 "${timed[@]}" --levels-breakdown --json="$dir/small.json"
ok 1 5 8 "${timed[@]}" --levels-breakdown --json="$dir/large.json"
# The bottom solve takes most of the time.
ok 1 4 8 "${timed[@]}" --levels-breakdown --json="$dir/bottom.json" --coarsest=16
draw levels bottom.json --data=t.csv -o t.svg
right levels t.csv bottom.json
draw levels large.json --data=t.csv
right png large-levels.png 1260 600
right levels t.csv large.json
draw levels small.json large.json --data=t.csv -o t.png
right png t.png 1260 1008
right levels t.csv small.json large.json
# A grid that is no cube has its own shape in every picture.
for n in 1 2; do OMP_NUM_THREADS=$n ok 1 --cells=12x31x17 "${timed[@]}" --levels-breakdown --json="$dir/domain.$n.json"; done
draw levels domain.1.json --data=t.csv -o t.svg
right levels t.csv domain.1.json
shows t.svg '12 × 31 × 17 cells' '>12<' '>× 31<' '>× 17<'
draw convergence domain.1.json --data=t.csv -o t.svg
right convergence t.csv domain.1.json
shows t.svg '12 × 31 × 17 cells'
if grep -q '"threads": 2' domain.2.json; then
  draw scaling domain.[12].json --data=t.csv -o t.svg
  right scaling t.csv domain.[12].json
  shows t.svg '12 × 31 × 17 cells'
fi
# Grids with equal numbers of cells are different grids.
sed 's/"dim": \[/&31, 12, 17], "cube": [/' domain.2.json >turned.json
refuse 2 'scaling needs runs on at least two|neither strong nor weak scaling \(12 × 31 × 17 on 1, 31 × 12 × 17 on ' \
  scaling "$dir/domain.1.json" "$dir/turned.json"

# Every level has a visible bar, labeled with its time, even if the finest takes much longer.
in_python 'bars of levels' <<'PY'
import plots.levels
from plots.common import figure
seconds = [51.5, 9.46, 2.73, 0.321, 0.121, 0.0642, 0.0583, 0.0562, 0.0]
fig = figure(10.5, 5.0, 120)
ax, _ = fig.subplots(1, 2)
plots.levels.draw_totals(ax, seconds)
fig.draw_without_rendering()
frame = ax.get_window_extent()
heights = [min(bar.get_window_extent().y1, frame.y1) - frame.y0 for bar in ax.patches]
assert len(heights) == len(seconds) and min(heights[:-1]) > 0.05 * frame.height, heights
assert heights[:-1] == sorted(heights[:-1], reverse=True), heights
boxes = [text.get_window_extent() for text in ax.texts]
assert [text.get_text().split("\n")[0] for text in ax.texts] == [f"{s:.3g}" for s in seconds]
assert all(b.y1 <= frame.y1 for b in boxes), "a label is above the frame"
assert all(a.x1 <= b.x0 or a.y0 >= b.y1 for a, b in zip(boxes, boxes[1:])), "labels overlap"
PY

# Repeats, strong and weak scaling; threads if more than one rank is not available.
for repeat in 1 2 3; do
  for n in 1 2; do
    OMP_NUM_THREADS=$n ok 1 5 8 "${timed[@]}" --json="$dir/threads.$n.$repeat.json"
  done
done
if grep -q '"threads": 2' threads.2.1.json; then
  draw scaling threads.*.json --data=t.csv
  right png threads.1.1-scaling.png 1440 552
  right scaling t.csv threads.*.json
  grep -q '^threads.*strong scaling, 6 runs' said || complain "threads: $(cat said)"
fi
if have_mpi; then
  ok 8 4 1 "${timed[@]}" --json="$dir/eight.json"
  ok 1 4 1 "${timed[@]}" --json="$dir/one.json"
  draw scaling eight.json one.json --data=t.csv -o t.png
  right png t.png 1440 552
  right scaling t.csv eight.json one.json
  grep -q 'weak scaling, 2 runs' said || complain "ranks: $(cat said)"
  refuse 2 'neither strong nor weak scaling \(16³ on 1, 32³ on 8, 64³ on 1\)' \
    scaling "$dir/eight.json" "$dir/one.json" "$dir/threads.1.1.json"
fi

# --- hpgmg-bench -----------------------------------------------------------------------------------

# The roofline, whose run takes long, is made up here and drawn from a run in tests/cli/bench.sh.
solo "$(dirname "$HPGMG_FV")/hpgmg-bench" --device=cpu --quick --mib=1 --json="$dir/bench.json" \
  copy stride wide smooth reduce >/dev/null
right roofs bench.json
draw ladder bench.json --data=t.csv
grep -qE '^bench-ladder.png: copy, [0-9]+ rows of [0-9]+ table' said || complain "ladder: $(cat said)"
right bench t.csv bench.json copy
draw ladder bench.json --ladder=reduce --data=t.csv -o t.svg
right bench t.csv bench.json reduce
draw ladder bench.json --ladder=smooth,reduce --tables=1 --data=t.csv -o t.svg
grep -qE '^t.svg: smooth, reduce, [0-9]+ rows of 2 tables' said || complain "two ladders: $(cat said)"
right bench t.csv bench.json smooth,reduce 1
# A fused row that is 1.62 times as fast has the longer bar, although its percentage of the copy is lower.
right fused fused.json
draw ladder fused.json -o t.png
right faster t.png
draw bench fused.json -o t.svg
shows t.svg '1.62x' '% of the table' '% of a copy'
draw roofline bench.json --data=t.csv -o t.png
right png t.png 1080 720
right roofline t.csv bench.json
# Its texts are inside the picture, and no number of a point covers another one.
in_python 'labels of the roofline' <<'PY'
from plots.common import figure
from plots.ladders import Bench, draw_roof
fig = figure(9.0, 6.0, 120)
ax = fig.subplots()
draw_roof(ax, Bench("bench.json"))
fig.draw_without_rendering()
numbers = [text.get_window_extent() for text in ax.texts]
assert len(numbers) == 2, numbers
assert not any(a.overlaps(b) for i, a in enumerate(numbers) for b in numbers[:i]), "numbers overlap"
legends = [a.get_window_extent() for a in ax.get_children() if type(a).__name__ == "Legend"]
assert len(legends) == 2 and not legends[0].overlaps(legends[1]), "legends overlap"
box = fig.bbox
for one in [*numbers, *legends]:
    assert box.x0 <= one.x0 and one.x1 <= box.x1 and box.y0 <= one.y0 and one.y1 <= box.y1, one
PY
# Rows whose arrays fit in the cache are marked.
sed 's/"in_cache": [a-z]*/"in_cache": true/' bench.json >cached.json
draw bench cached.json --data=t.csv -o t.svg
shows t.svg 'in cache' 'in the cache'
grep -q ',1$' t.csv || complain 'the table does not mark rows in the cache'
draw bench bench.json --data=t.csv
n=$(grep -c '"variant"' bench.json)
grep -q "^bench-bench.png: [0-9]* ladders, $n rows$" said || complain "bench: $(cat said)"
right panels t.csv bench.json
draw bench bench.json -o t.svg
shows t.svg '>copy<' '>stride<' '>wide<' '>reduce<' '>roofline<' '% of a copy' 'GFLOP/s' 'copy bandwidth'
refuse 2 "bench.json has no ladder stairs; it has copy, stride" ladder "$dir/bench.json" --ladder=stairs
refuse 2 "argument --tables: .*0" ladder "$dir/bench.json" --tables=0
refuse 3 'cell.json is not a report of hpgmg-bench' roofline "$dir/cell.json"
sed 's/"of_copy": [0-9.e+-]*/"of_copy": "much"/' bench.json >wrong.json
refuse 3 'wrong.json has no tables of hpgmg-bench' ladder "$dir/wrong.json"
echo '{"program": "hpgmg-bench", "machine": {"name": "none"}, "copy_gb_per_s": 1, "tables": []}' >empty.json
refuse 3 'empty.json has no tables of hpgmg-bench' bench "$dir/empty.json"

# --- errors ----------------------------------------------------------------------------------------

refuse 2 "argument COMMAND: invalid choice: 'paint'" paint
refuse 2 'required: COMMAND'
refuse 2 'required: FILE.hdf' slice
refuse 2 "'1.5' is not a number from 0 to 1" slice "$dir/cell.hdf" --at=1.5
refuse 2 "'nan' is not a number from 0 to 1" slice "$dir/cell.hdf" --at=nan
refuse 2 "'2,1' is not LOW,HIGH" slice "$dir/cell.hdf" --limits=2,1
refuse 2 'a logarithmic scale needs a lower limit' slice "$dir/cell.hdf" --log --limits=-1,1
refuse 2 "'0' is not an integer from 50 to 600" slice "$dir/cell.hdf" --dpi=0
refuse 2 '--field=v: level 0 of .*cell.hdf has' slice "$dir/cell.hdf" --field=v
refuse 2 '--field=../u: level 1 of .*cell.hdf has' slice "$dir/cell.hdf" --level=1 --field=../u
refuse 2 'level 0 of .*point.hdf has .*u; dump more with --dump-fields' slice "$dir/point.hdf" --field=dinv
refuse 2 '--level=2: .*has only level 0, 1, 3; dump more with --dump-levels' slice "$dir/cell.hdf" --level=2
refuse 2 'must end in .png, .svg, .pdf' slice "$dir/cell.hdf" -o t.jpeg
refuse 2 'would be overwritten' slice "$dir/cell.hdf" --data="$dir/cell.hdf"
refuse 2 'an animation shows one problem' animate "$dir/cell.hdf" "$dir/point.hdf"
refuse 2 'scaling needs runs on at least two numbers of ranks' scaling "$dir/threads.1.1.json"
refuse 2 'at most 4 fit' levels "$dir"/threads.*.json
refuse 3 'missing.hdf cannot be read: No such file' slice missing.hdf
refuse 3 'cell.out is not an HDF5 file' slice "$dir/cell.out"
refuse 3 'cell.out is neither a dump nor JSON' convergence "$dir/cell.out"
refuse 3 'cannot be written: No such file' slice "$dir/cell.hdf" -o nowhere/t.png
refuse 3 'cell.hdf is a dump; use a report' levels "$dir/cell.hdf"
refuse 3 'no seconds per level; run with --levels-breakdown' levels "$dir/threads.1.1.json"
refuse 3 'was not timed' scaling "$dir/cell.json" "$dir/large.json"
echo '{"program": "hpgmg-fv"}' >part.json
refuse 3 'part.json has no problem.operator' levels "$dir/part.json"
echo '[1]' >other.json
refuse 3 'is not a report of hpgmg-fv' scaling "$dir/other.json"
ok 1 --dry-run 4 1 --quiet --json="$dir/plan.json"
refuse 3 'plan.json is a plan; use the report of a run' levels "$dir/plan.json"
head -c 100000 cell.hdf >half.hdf
refuse 3 'half.hdf cannot be read as a dump' slice "$dir/half.hdf"
quick_python -c 'import h5py; h5py.File("empty.hdf", "w").close()'
refuse 3 'is not a dump of hpgmg-fv' slice "$dir/empty.hdf"
quick_python -c 'import h5py; h5py.File("marked.hdf", "r+")["HPGMG"].attrs["complete"] = [0]'
refuse 3 'marked.hdf is incomplete' convergence "$dir/marked.hdf"
quick_python -c 'import h5py; h5py.File("marked.hdf", "r+")["HPGMG"].attrs["format_version"] = [9]'
refuse 3 'has format_version 9' slice "$dir/marked.hdf"

# Strings with Matplotlib markup or invalid UTF-8, and numbers that overflow scales.
strange=$'a$b$\\frac$ \377.json'
sed 's|"host": "[^"]*"|"host": "$\\\\frac$ \\u0001"|; s|"smoother": "[^"]*"|"smoother": "$_$"|' large.json >"$strange"
draw levels "$strange" -o t.svg
shows t.svg '$_$'
draw convergence "$strange" large.json --data=t.csv -o t.svg
grep -qF 'a$b$\frac$ \udcff.json' t.csv || complain "t.csv does not name $strange"
sed 's|"host": "[^"]*"|"host": "\\ud800"|' large.json >half.json
refuse 3 'half.json is neither a dump nor JSON' levels "$dir/half.json"
sed 's/"table": "[^"]*"/"table": "$\\\\frac$"/; s/"variant": "[^"]*"/"variant": "$x_$"/' bench.json >strange.json
draw bench strange.json -o t.svg
sed 's/"of_copy": [0-9.e+-]*/"of_copy": 1'"$(printf '%0400d' 0)"'/' bench.json >wrong.json
refuse 3 'wrong.json has no tables of hpgmg-bench' ladder "$dir/wrong.json"
sed 's/"of_copy": [0-9.e+-]*/"of_copy": 1e300/' bench.json >wrong.json
refuse 3 'wrong.json has no tables of hpgmg-bench' ladder "$dir/wrong.json"
sed '/"smooth": \[/,/\]/s/^\( *\)[0-9][0-9.e+-]*/\11e308/' large.json >wrong.json
refuse 3 'wrong.json: levels.0.seconds.smooth has the invalid value .* repeat the run' levels "$dir/wrong.json"
sed 's/"seconds_mean": [0-9.e+-]*/"seconds_mean": 1e300/' threads.1.1.json >wrong.json
refuse 3 'wrong.json: solves.0.seconds_mean has the invalid value 1e\+300; repeat the run' scaling "$dir/wrong.json" "$dir/threads.2.1.json"
sed '/"dim": \[/,/\]/s/^\( *\)[0-9][0-9]*/\1-3/' large.json >wrong.json
refuse 3 'wrong.json: problem.dim.0 has the invalid value -3; repeat the run' convergence "$dir/wrong.json"
sed '/"rel": \[/,/\]/s/^\( *\)[0-9][0-9.e+-]*/\11e308/' large.json >strange.json
draw convergence strange.json -o t.png
# Glyphs that no font has, and a label that is far too long: no warning from Matplotlib.
sed "s|\"smoother\": \"[^\"]*\"|\"smoother\": \"日本$(printf '%05000d' 0)\"|" large.json >strange.json
draw levels strange.json -o t.png
cp cell.hdf values.hdf
for values in 1e308 -1e308 5e-324 'float("nan")' 'np.resize([1e308, -1e308, np.inf, 0], (32, 32, 32))'; do
  quick_python -c "import h5py, numpy as np; h5py.File('values.hdf', 'r+')['VTKHDF/CellData/u'][...] = $values"
  draw slice values.hdf -o t.png --dpi=50
  draw slice values.hdf --log -o t.png --dpi=50
done
refuse 2 'the largest possible limit is 1e\+150' slice "$dir/cell.hdf" --limits=-1e200,1
refuse 2 'a logarithmic scale needs a lower limit of at least 1e-150' slice "$dir/cell.hdf" --log --limits=1e-200,1
for wrong in 'cells = [float("inf")]' 'smooths = np.array([])' 'residual_norms = b"few"' 'f_norm = h5py.Empty("f8")'; do
  cp cell.hdf wrong.hdf
  quick_python -c "import h5py, numpy as np; h5py.File('wrong.hdf', 'r+')['HPGMG'].attrs['${wrong%% =*}'] = ${wrong#*= }"
  refuse 3 'wrong.hdf cannot be read as a dump' convergence "$dir/wrong.hdf"
done
cp cell.hdf wrong.hdf
quick_python -c 'import h5py; h5py.File("wrong.hdf", "r+").create_group("VTKHDF/CellData/group")'
refuse 3 'wrong.hdf cannot be read as a dump' slice "$dir/wrong.hdf" --field=group

for command in '' slice animate convergence levels scaling compare ladder bench roofline; do
  draw $command --help
done

# plot.py names missing modules. From here on, every start is a real one.
served=no
mkdir none
for module in matplotlib h5py; do
  echo 'raise ImportError' >none/$module.py
  PYTHONPATH=$dir/none refuse 2 "$module is missing: 'apt-get install python3-$module' or 'pip install" \
    slice "$dir/cell.hdf"
  rm none/$module.py
done
echo 'raise ValueError("numpy.dtype size changed")' >none/h5py.py
PYTHONPATH=$dir/none refuse 2 'module h5py cannot be loaded \(numpy.dtype size changed\)' slice "$dir/cell.hdf"
rm none/h5py.py
finish
