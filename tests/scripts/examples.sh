# shellcheck shell=bash disable=SC2154
# examples: examples/reference.c compiles as its first comment says, without warnings, has at most 600 lines, and prints
# the numbers of hpgmg-fv. cycle_reference.c compares the bits of u. The shared library exports the functions of hpgmg.h
# and no others, and hpgmg.h is C++ too; installcheck.sh runs examples/poisson.c.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
source=$abs_top_srcdir/examples/reference.c

lines=$(wc -l <"$source")
test "$lines" -le 600 || complain "examples/reference.c has $lines lines, more than 600"
grep -q '^ \*     cc -std=c11 -ffp-contract=off -O2 -o reference examples/reference.c -lm$' "$source" ||
  complain "examples/reference.c: another compiler line than this test's"
"${CC:-cc}" -std=c11 -ffp-contract=off -O2 -Wall -Wextra -pedantic -Werror -o "$dir/reference" "$source" -lm ||
  complain "examples/reference.c does not compile"

numbers() { sed -n 's/.*max|f-Au| \([^ ]*\).*/\1/p; /^error /p; /^order /p'; }
for n in 4 6; do
  "$dir/reference" $n | numbers >"$dir/reference.txt"
  solo "$HPGMG_FV" $n 1 --verify-only --device=cpu | numbers >"$dir/program.txt"
  test "$(wc -l <"$dir/reference.txt")" -eq 5 || complain "reference $n printed $(wc -l <"$dir/reference.txt") numbers"
  diff "$dir/reference.txt" "$dir/program.txt" || complain "reference $n differs from hpgmg-fv $n 1"
done

for bad in 3 10 6x ''; do
  # shellcheck disable=SC2086 # no argument if empty
  "$dir/reference" $bad 2>"$dir/err" && complain "reference '$bad' succeeded"
  grep -q '^usage: reference N, with N from 4 to 9' "$dir/err" || complain "reference '$bad': $(cat "$dir/err")"
done

header=$abs_top_srcdir/include/hpgmg.h library=$abs_top_builddir/libhpgmg.so
if test -e "$library"; then
  sed -n 's/^HPGMG_API .*\(hpgmg_[a-z_]*\)(.*/\1/p' "$header" | sort >"$dir/declared"
  nm -D --defined-only "$library" | awk '{ print $NF }' | sort >"$dir/exported"
  test "$(wc -l <"$dir/declared")" -ge 7 || complain "hpgmg.h declares $(wc -l <"$dir/declared") functions"
  diff "$dir/declared" "$dir/exported" || complain 'hpgmg.h and the exported functions differ'
else
  echo 'skipped: this build has no shared library'
fi
for language in c c++; do
  echo '#include "hpgmg.h"' | "${CC:-cc}" -x $language -I"$abs_top_srcdir/include" -Wall -Wextra -pedantic -Werror \
    -fsyntax-only - || complain "hpgmg.h does not compile as $language"
done
finish
