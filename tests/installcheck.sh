# shellcheck shell=bash disable=SC2034,SC2154
# installcheck: what `make install` put in place is whole. The program solves, alone and on two
# ranks, every installed deck is understood, hpgmg-bench's pictures can be drawn, the man page is there, the
# completion completes, and the environment modules name the folders of the installation.
#
#   installcheck.sh PROGRAM DECKS MANUAL COMPLETION MODULES BINDIR
HPGMG_FV=$1
decks=$2 manual=$3 completion=$4 modules=$5 bindir=$6
. "$abs_top_srcdir/tests/expect.sh"

ok 1 --version
cat "$dir/out"
ok 1 4 1 --verify-only
if have_mpi; then ok 2 4 4 --verify-only; fi
"$(dirname "$HPGMG_FV")/hpgmg-bench" --version | grep -q '^hpgmg-bench ' || complain 'no hpgmg-bench'
plot=$(dirname "$decks")/scripts/plot.py
test -x "$plot" || complain "there is no $plot"
if have_feature jansson && "${PYTHON:=python3}" -c 'import matplotlib' 2>/dev/null; then
  solo "$(dirname "$HPGMG_FV")/hpgmg-bench" --device=cpu --quick --mib=1 --json="$dir/a.json" copy wide >/dev/null
  MPLCONFIGDIR=$dir "$PYTHON" "$plot" bench "$dir/a.json" -o "$dir/a.png" >/dev/null || complain "$plot draws nothing"
fi
n=0
for deck in "$decks"/*.ini; do
  n=$((n + 1))
  case $deck in */rough.ini) continue ;; esac # a deck of a file that inputs/rough_field.py makes
  if have_feature inih; then ok 1 --input="$deck" --dry-run; fi
done
test "$n" -ge 6 || complain "$n decks in $decks"
grep -q '^\.TH' "$manual" || complain "$manual is no man page"

# shellcheck disable=SC1090
. "$completion"
complete -p hpgmg-fv >/dev/null || complain 'no completion for hpgmg-fv'
# completes WANTED WORD...: as Readline splits the line, the last word being completed.
completes() {
  local wanted=$1
  shift
  COMP_WORDS=(hpgmg-fv "$@") COMP_CWORD=$#
  _hpgmg_fv || true
  test "${COMPREPLY[*]}" = "$wanted" || complain "'$*' completes to '${COMPREPLY[*]}'"
}
completes '--smoother= --smooths=' --smoot
completes l1jacobi --smoother = l1
completes 'dirichlet periodic' --boundary =


version=$(solo "$HPGMG_FV" --version | sed -n '1s/^hpgmg-fv \([^ ,]*\).*/\1/p')
for module in "$modules/$version.lua" "$modules/$version"; do
  test -s "$module" || complain "there is no $module"
  grep -qE "^prepend.path.*PATH.*[\"{]${bindir}[\"}]" "$module" || complain "$module does not name $bindir"
  if grep -nE '@[A-Za-z_]+@' "$module"; then complain "$module is not filled in"; fi
done
finish
