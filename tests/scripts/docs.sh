# shellcheck shell=bash disable=SC2016,SC2154
# docs: README.md, CONTRIBUTING.md, CHANGELOG.md, examples/README.md, results/*.md and docs/*.md refer only to existing
# things.
# Relative links and their anchors resolve. Options exist in a program, configure or a script. Files of the source
# tree and names of the code in backticks exist. Files of docs/results/ are linked,
# dated and rectangular.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
top=$abs_top_srcdir

documents='README.md CONTRIBUTING.md CHANGELOG.md examples/README.md results/README.md results/submission.md'
for path in "$top"/docs/*.md; do
  documents="$documents docs/${path##*/}"
done

# CITATION.cff and the top section of CHANGELOG.md have the version of the program.
version=$(solo "$HPGMG_FV" --version | sed -n '1s/^hpgmg-fv \([0-9.]*\).*/\1/p')
grep -qx "version: $version" "$top/CITATION.cff" || complain "CITATION.cff: version is not $version"
section=$(grep '^## [0-9]' "$top/CHANGELOG.md" | sed 's/ - 20[0-9-]*$//; q')
test "$section" = "## $version" || complain "CHANGELOG.md: the top version is '$section', not '## $version'"

# The key tables of docs/reports.md, and the JSON Schema, are those of src/io/report/.
if command -v "$PYTHON" >/dev/null; then
  "$abs_top_builddir/tests/lib/report_schema" | "$PYTHON" "$top/tests/lib/report_fields.py" "$top" 2>"$dir/why" ||
    complain "$(cat "$dir/why")"
fi

# All options, one per line. Shell scripts list theirs in the comment at the top.
{
  solo "$HPGMG_FV" --help
  "$(dirname "$HPGMG_FV")/hpgmg-bench" --help
  "$(dirname "$HPGMG_FV")/hpgmg-health" --help
  "$top/configure" --help
  sed -s -n '2,/^set /p' "$top"/scripts/*.sh
  # Options of launchers and batch systems appear in the scripts of scaling studies.
  grep -ohE '"--[a-z-]+' "$top"/scripts/*.py "$top"/scripts/plots/*.py "$top"/scripts/compare/*.py "$top"/inputs/*.py "$top"/examples/*.py "$top"/scripts/bind-report "$top"/scripts/check-result "$top"/scripts/scaling "$top"/scripts/studies/*.py "$top"/scripts/tune
  # Options of Benchpark, EasyBuild and JUBE.
  echo '--dest --cuda-compute-capabilities --optarch --robot --include-path'
  # Options of Apptainer, Spack, pkg-config and NVIDIA's profiler.
  echo '--build-arg --build-arg-file --nv --path --test --variable --clock-control --csv --filter-mode --metrics --nvtx --nvtx-include --page'
  sed -n 's/.*\[\[ \${1-} == \(--[a-z-]*\) \]\].*/\1/p' "$top"/scripts/*.sh
} >"$dir/help"
grep -oE -- '--[a-zA-Z][a-zA-Z0-9-]*' "$dir/help" | sort -u >"$dir/options"

# Help, man page and completion of hpgmg-bench list the same options and ladders, and those of hpgmg-health the same options.
options_of() { grep -oE -- '(^|[^a-z-])--[a-z][a-z-]*' "$1" | sed 's/^[^-]//' | sort -u; }
for name in bench health; do
  solo "$(dirname "$HPGMG_FV")/hpgmg-$name" --help >"$dir/$name-help"
  options_of "$dir/$name-help" >"$dir/$name-options"
  test "$(wc -l <"$dir/$name-options")" -ge 5 || complain "options of hpgmg-$name: $(cat "$dir/$name-options")"
  sed 's/\\//g' "$top/docs/hpgmg-$name.1" >"$dir/$name-man"
  for document in "$dir/$name-man" "$top/scripts/hpgmg-$name.bash"; do
    options_of "$document" | diff "$dir/$name-options" - >"$dir/other" || complain "$document: $(grep '^[<>]' "$dir/other")"
  done
done
ladders=$(sed -n '/^Ladders/,/^Options/s/^  \([a-z]*\) .*/\1/p' "$dir/bench-help" | tr '\n' ' ')
test "$(wc -w <<<"$ladders")" -ge 3 || complain "ladders: $ladders"
test "$(sed -n '/^\.SH LADDERS/,/^\.SH OPTIONS/s/^\.B //p' "$dir/bench-man" | tr '\n' ' ')" = "$ladders" ||
  complain "docs/hpgmg-bench.1: ladders are not $ladders"
grep -qF -- "'${ladders% }'" "$top/scripts/hpgmg-bench.bash" || complain "hpgmg-bench.bash: ladders are not $ladders"
for code in 0 2 3 4 5; do
  grep -qx ".B $code" "$dir/bench-man" || complain "docs/hpgmg-bench.1: no exit code $code"
  grep -qE "\b$code [a-z]" "$dir/bench-help" || complain "hpgmg-bench --help: no exit code $code"
done

# Every option of configure that is specific to this project is documented.
"$top/configure" --help | sed -n '/^Optional Features/,/^Some influential/p' |
  grep -oE -- '^  --(enable|disable|with)-[a-z0-9-]+' | tr -d ' ' |
  grep -vE -- '-(option-checking|silent-rules|dependency-tracking|largefile|year2038)$' | sort -u >"$dir/configures"
test "$(wc -l <"$dir/configures")" -ge 10 || complain "options of configure: $(cat "$dir/configures")"
while IFS= read -r option; do
  cat "$top"/README.md "$top"/CONTRIBUTING.md "$top"/docs/*.md | grep -E -- "$option([^a-z0-9-]|\$)" >"$dir/found" ||
    complain "configure's $option is not documented"
done <"$dir/configures"

# anchors FILE: print the anchors that GitHub generates for the headings.
anchors() {
  sed -n '/^```/,/^```/d; s/^##* *//p' "$1" | tr '[:upper:]' '[:lower:]' |
    sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

n_links=0 n_options=0 n_paths=0 n_names=0
for document in $documents; do
  folder=$(dirname "$top/$document")

  # [text](target) outside of code blocks; a title after the target is cut off.
  sed '/^ *```/,/^ *```/d' "$top/$document" | grep -oE '\]\([^)]*\)' |
    sed 's/^](//; s/)$//; s/ .*//' >"$dir/links" || true
  while IFS= read -r link; do
    case $link in http://* | https://* | mailto:*) continue ;; esac
    n_links=$((n_links + 1))
    file=${link%%#*} anchor=
    case $link in *'#'*) anchor=${link#*#} ;; esac
    target=$folder/$file
    test -n "$file" || target=$top/$document
    if test ! -e "$target"; then
      complain "$document: broken link $link"
    elif test -n "$anchor" && ! anchors "$target" | grep -qxF -- "$anchor"; then
      complain "$document: $link: no such heading"
    fi
  done <"$dir/links"

  grep -oE -- '(^|[^a-zA-Z0-9_-])--[a-zA-Z][a-zA-Z0-9-]*' "$top/$document" |
    sed 's/^[^-]//' | sort -u >"$dir/named" || true
  while IFS= read -r option; do
    n_options=$((n_options + 1))
    grep -qxF -- "$option" "$dir/options" || complain "$document: unknown option $option"
  done <"$dir/named"

  # Paths such as `src/...`. {a,b}, * and [ch] are patterns; at least one file must match.
  grep -oE '`(\.ci|docs|health|inputs|lab|m4|scripts|src|tests)/[][A-Za-z0-9_./*{},-]*`' "$top/$document" | tr -d '`' |
    sort -u >"$dir/paths" || true
  while IFS= read -r path; do
    n_paths=$((n_paths + 1))
    found=no
    for match in $(cd "$top" && eval "printf '%s\n' $path"); do
      if test -e "$top/$match"; then found=yes; fi
    done
    test $found = yes || complain "$document: there is no $path"
  done <"$dir/paths"

  # Names `mg_...` and `MG_...`, except the patterns in CONTRIBUTING.md.
  grep -oE '`(mg|MG)_[A-Za-z0-9_]+`' "$top/$document" | tr -d '`' | sort -u >"$dir/names" || true
  while IFS= read -r name; do
    case $name in MG_ | mg_noun_*) continue ;; esac
    n_names=$((n_names + 1))
    grep -rqw -- "$name" "$top/src" "$top/health" "$top/lab" || complain "$document: the code has no $name"
  done <"$dir/names"
done

# Measurements: a document links every file; comments that name the date, a header, and rows of its length.
for path in "$top"/docs/results/*.csv; do
  file=${path##*/}
  grep -qF "(results/$file)" "$top"/docs/*.md || complain "docs/results/$file: no document links it"
  grep -qE '^# .*Recorded 20[0-9]{2}-[0-9]{2}-[0-9]{2}' "$path" || complain "docs/results/$file: no date"
  awk -F, '/^#/ { next } !columns { columns = NF } NF != columns { other = 1 } END { exit other || columns < 2 }' \
    "$path" || complain "docs/results/$file: rows of different lengths"
done

echo "$n_links links, $n_options options, $n_paths paths, $n_names names in $(echo "$documents" | wc -w) documents"
test "$n_links" -ge 5 && test "$n_options" -ge 20 && test "$n_paths" -ge 20 && test "$n_names" -ge 20
finish
