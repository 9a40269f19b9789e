# shellcheck shell=bash disable=SC2154
# includes: scripts/check-includes.sh accepts a tree of a few files, and reports each include that its rules forbid.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
mkdir -p "$dir/scripts/plots" "$dir/scripts/checks" "$dir/docs" "$dir/health" "$dir/lab"
for file in scripts/check-includes.sh scripts/plots/architecture.py scripts/checks/paths.py docs/architecture.md \
  docs/architecture.svg docs/kernels.md; do
  cp "$abs_top_srcdir/$file" "$dir/$file"
done
# Its core: all files but those that begin with w.
# shellcheck disable=SC2016 # backticks of Markdown
sed -i '/^## The core/,/^Other files/{/^| `/d;/^Other files/s/:.*/: `plan\/wing.h`./;s/^| ---.*/&\n| `plan\/[!w]*`, `level\/*` | all |/}' "$dir/docs/architecture.md"
sed -i '/^| [CG]PU /d' "$dir/docs/kernels.md"
for header in plan/wing cuda/cuda cuda/cells/stencil cuda/fused/launch cuda/fv4/job cuda/runtime/tma level/level plan/plan; do
  mkdir -p "$dir/src/${header%/*}"
  echo "int $RANDOM;" >"$dir/src/$header.h"
done

# included FILE HEADER WHY: a file of src/ that includes the header is accepted, or reported in one line with WHY.
included() {
  local text="#include \"$2\"" found=0
  [[ $2 == */* ]] || text="#include <$2>"
  echo "$text" >"$dir/src/$1"
  [[ -z $3 ]] || found=1
  exits "$found" bash "$dir/scripts/check-includes.sh"
  ((found == 0)) || diff - "$dir/out" <<<"src/$1:1: includes $2$3" >"$dir/why" || complain "$1: $(cat "$dir/why")"
  rm "$dir/src/$1"
}

included level/new.c plan/plan.h ''
included plan/new.c level/level.h ': src/plan/ is below src/level/'
included plan/new.c plan/none.h ', which does not exist; name it relative to src/ or to the top folder'
included plan/new.c mpi.h ', which is allowed only in src/comm/comm_mpi*'

# Rooms of src/cuda/ include cuda.h, runtime/ and cells/, never each other.
for header in cuda runtime/tma cells/stencil fv4/job; do
  included cuda/fv4/new.cu "cuda/$header.h" ''
  included cuda/table.cu "cuda/$header.h" ''
done
included cuda/fv4/new.cu cuda/fused/launch.h ': src/cuda/fv4/ must not depend on src/cuda/fused/'
included cuda/cells/new.h cuda/fv4/job.h ': src/cuda/cells/ is below src/cuda/fv4/'
included cuda/runtime/new.h cuda/cells/stencil.h ': src/cuda/runtime/ is below src/cuda/cells/'

# Only runtime/ calls CUDA and contains PTX.
for text in 'MG_CUDA_TRY(cudaFree(memory));' 'asm volatile("ret;");'; do
  echo "$text" >"$dir/src/cuda/runtime/new.h"
  exits 0 bash "$dir/scripts/check-includes.sh"
  mv "$dir/src/cuda/runtime/new.h" "$dir/src/cuda/fused/new.h"
  exits 1 bash "$dir/scripts/check-includes.sh"
  grep -qxF "src/cuda/fused/new.h:1:$text" "$dir/out" || complain "$text: $(cat "$dir/out")"
  rm "$dir/src/cuda/fused/new.h"
done

# Only kernels ask for the number of points.
mkdir -p "$dir/src/cpu"
echo 'return t->points == 7;' >"$dir/src/cpu/new.c"
exits 0 bash "$dir/scripts/check-includes.sh"
mv "$dir/src/cpu/new.c" "$dir/src/cuda/fused/new_path.c"
exits 1 bash "$dir/scripts/check-includes.sh"
grep -qxF 'src/cuda/fused/new_path.c:1:return t->points == 7;' "$dir/out" || complain "points: $(cat "$dir/out")"
rm "$dir/src/cuda/fused/new_path.c"

# The core.
included level/new.c plan/wing.h ': the core does not include wings; see docs/architecture.md, "The core"'

# The price list: lines of files, the gains of rows, and all rows.
if command -v python3 >/dev/null; then
  # shellcheck disable=SC2016 # backticks of Markdown
  sed -i '/^## Paths/,/^## /s/^| --- .*/&\n| CPU | row | `a` | `src\/`: `plan\/p*`, `level\/` | 2 | all | 2³ |/' "$dir/docs/kernels.md"
  echo '{.name = "row", .why = "2" "^3"},' >"$dir/src/plan/a_path.c"
  exits 0 bash "$dir/scripts/check-includes.sh"
  grep -qx '2 lines: row on CPU: all: 2³' "$dir/out" || complain "no price of the row: $(cat "$dir/out")"
  for change in 's/| 2 | all/| 3 | all/' 's/2³/3³/'; do
    sed -i "/^| CPU | row/$change" "$dir/docs/kernels.md"
    exits 1 bash "$dir/scripts/check-includes.sh"
    grep -q 'writes: | CPU | row .* | 2 | all | 2³ |$' "$dir/out" || complain "$change: $(cat "$dir/out")"
    exits 0 "$dir/scripts/checks/paths.py"
    exits 0 bash "$dir/scripts/check-includes.sh"
  done
  sed -i '/^| CPU | row/d' "$dir/docs/kernels.md"
  exits 1 bash "$dir/scripts/check-includes.sh"
  grep -q "lacks 'row'$" "$dir/out" || complain "no row: $(cat "$dir/out")"
  rm "$dir/src/plan/a_path.c"
fi

# stray FILE LINES WHY: with a file of some lines, the check reports WHY.
stray() {
  yes 'int x;' | head -n "$2" >"$dir/src/$1"
  exits 1 bash "$dir/scripts/check-includes.sh"
  grep -qF "$3" "$dir/out" || complain "$1: no line '$3'"
  rm "$dir/src/$1"
}
stray plan/wild.c 1 'src/plan/wild.c: name it in docs/architecture.md, "The core", or there as a wing'
stray plan/new.c 100000 'the core has 100002 lines and may have'
mv "$dir/src/level" "$dir/level"
stray plan/new.c 1 'docs/architecture.md: no file src/level/*'

finish
