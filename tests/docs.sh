# shellcheck shell=bash disable=SC2016,SC2154
# docs_true: what README.md, CONTRIBUTING.md and docs/*.md name is there. Relative links resolve,
# with their anchors; options are known to hpgmg-fv, to configure or to a script of scripts/; files
# in backticks that lie in a folder of the source tree exist, and so do names of the code.
set -eu
. "$abs_top_srcdir/tests/run_mpi.sh"
top=$abs_top_srcdir
own_folder
bad=0
complain() {
  echo "$*"
  bad=$((bad + 1))
}

documents='README.md CONTRIBUTING.md CHANGELOG.md'
for path in "$top"/docs/*.md; do
  documents="$documents docs/${path##*/}"
done

# What can be asked for: one --option a line. Scripts name theirs in the comment at their head.
{
  solo "$HPGMG_FV" --help
  "$(dirname "$HPGMG_FV")/hpgmg-bench" --help
  "$top/configure" --help
  sed -s -n '2,/^set /p' "$top"/scripts/*.sh "$top/scripts/bind-report"
  # Those of launchers and batch systems are in the studies' scripts.
  grep -ohE '"--[a-z-]+' "$top"/scripts/*.py "$top"/scripts/plots/*.py "$top"/inputs/*.py "$top"/scripts/scaling "$top"/scripts/studies/*.py
  # Those of Apptainer and Spack, and of NVIDIA's profiler.
  echo '--build-arg --build-arg-file --nv --path --test --clock-control --csv --filter-mode --metrics --page'
  sed -n 's/.*\[\[ \${1-} == \(--[a-z-]*\) \]\].*/\1/p' "$top"/scripts/*.sh
} >"$dir/help"
grep -oE -- '--[a-zA-Z][a-zA-Z0-9-]*' "$dir/help" | sort -u >"$dir/options"

# hpgmg-bench's options, words and ladders stand in its help, its man page and its completion, and no others.
solo "$(dirname "$HPGMG_FV")/hpgmg-bench" --help >"$dir/bench-help"
options_of() { grep -oE -- '(^|[^a-z-])--[a-z][a-z-]*' "$1" | sed 's/^[^-]//' | sort -u; }
options_of "$dir/bench-help" >"$dir/bench-options"
test "$(wc -l <"$dir/bench-options")" -ge 5 || complain "options of hpgmg-bench: $(cat "$dir/bench-options")"
sed 's/\\//g' "$top/docs/hpgmg-bench.1" >"$dir/bench-man"
for document in "$dir/bench-man" "$top/scripts/hpgmg-bench.bash"; do
  options_of "$document" | diff "$dir/bench-options" - >"$dir/other" || complain "$document: $(grep '^[<>]' "$dir/other")"
done
ladders=$(sed -n '/^Ladders/,/^Options/s/^  \([a-z]*\) .*/\1/p' "$dir/bench-help" | tr '\n' ' ')
test "$(wc -w <<<"$ladders")" -ge 3 || complain "ladders: $ladders"
test "$(sed -n '/^\.SH LADDERS/,/^\.SH OPTIONS/s/^\.B //p' "$dir/bench-man" | tr '\n' ' ')" = "$ladders" ||
  complain "docs/hpgmg-bench.1: other ladders than $ladders"
grep -qF -- "'${ladders% }'" "$top/scripts/hpgmg-bench.bash" || complain "hpgmg-bench.bash: other ladders than $ladders"
for code in 0 2 3 4 5; do
  grep -qx ".B $code" "$dir/bench-man" || complain "docs/hpgmg-bench.1: no exit code $code"
  grep -qE "\b$code [a-z]" "$dir/bench-help" || complain "hpgmg-bench --help: no exit code $code"
done

# The other way round: options of configure that are this project's stand in a document.
"$top/configure" --help | sed -n '/^Optional Features/,/^Some influential/p' |
  grep -oE -- '^  --(enable|disable|with)-[a-z0-9-]+' | tr -d ' ' |
  grep -vE -- '-(option-checking|silent-rules|dependency-tracking|largefile|year2038)$' | sort -u >"$dir/configures"
test "$(wc -l <"$dir/configures")" -ge 10 || complain "options of configure: $(cat "$dir/configures")"
while IFS= read -r option; do
  cat "$top"/README.md "$top"/CONTRIBUTING.md "$top"/docs/*.md | grep -E -- "$option([^a-z0-9-]|\$)" >"$dir/found" ||
    complain "no document has configure's $option"
done <"$dir/configures"

# Headings of a document as the anchors that GitHub makes of them.
anchors() {
  sed -n '/^```/,/^```/d; s/^##* *//p' "$1" | tr '[:upper:]' '[:lower:]' |
    sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

n_links=0 n_options=0 n_paths=0 n_names=0
for document in $documents; do
  folder=$(dirname "$top/$document")

  # [text](target) outside of code; a title behind the target is cut off.
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
      complain "$document: the link $link leads nowhere"
    elif test -n "$anchor" && ! anchors "$target" | grep -qxF -- "$anchor"; then
      complain "$document: $link: there is no such heading"
    fi
  done <"$dir/links"

  grep -oE -- '(^|[^a-zA-Z0-9_-])--[a-zA-Z][a-zA-Z0-9-]*' "$top/$document" |
    sed 's/^[^-]//' | sort -u >"$dir/named" || true
  while IFS= read -r option; do
    n_options=$((n_options + 1))
    grep -qxF -- "$option" "$dir/options" || complain "$document: nothing knows the option $option"
  done <"$dir/named"

  # `src/...` and so on; {a,b}, * and [ch] are patterns of which one file must match.
  grep -oE '`(\.ci|docs|inputs|lab|m4|scripts|src|tests)/[][A-Za-z0-9_./*{},-]*`' "$top/$document" | tr -d '`' |
    sort -u >"$dir/paths" || true
  while IFS= read -r path; do
    n_paths=$((n_paths + 1))
    found=no
    for match in $(cd "$top" && eval "printf '%s\n' $path"); do
      if test -e "$top/$match"; then found=yes; fi
    done
    test $found = yes || complain "$document: there is no $path"
  done <"$dir/paths"

  # `mg_...` and `MG_...`; CONTRIBUTING.md has patterns of names.
  grep -oE '`(mg|MG)_[A-Za-z0-9_]+`' "$top/$document" | tr -d '`' | sort -u >"$dir/names" || true
  while IFS= read -r name; do
    case $name in MG_ | mg_noun_*) continue ;; esac
    n_names=$((n_names + 1))
    grep -rqw -- "$name" "$top/src" "$top/lab" || complain "$document: nothing is called $name"
  done <"$dir/names"
done

echo "$n_links links, $n_options options, $n_paths paths, $n_names names in $(echo "$documents" | wc -w) documents"
test "$n_links" -ge 5 && test "$n_options" -ge 20 && test "$n_paths" -ge 20 && test "$n_names" -ge 20
test "$bad" -eq 0
