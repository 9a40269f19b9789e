#!/usr/bin/env bash
# vectorized: every `omp simd` loop of the CPU kernels is vectorized, according to GCC's report. A helper
# that is not inlined prevents vectorization, and no result would show it.
set -euo pipefail
: "${abs_top_srcdir:?}" "${abs_top_builddir:?}"

. "$abs_top_srcdir/tests/lib/run_mpi.sh"
[[ ${HPGMG_SANITIZED:-no} == no ]] || skip_test 'sanitizers affect vectorization'
grep -q '^MG_CFLAGS = .*-fopenmp' "$abs_top_builddir/Makefile" || skip_test 'build without OpenMP'
report=$(make -s -C "$abs_top_builddir" vec-report)
[[ -n $report ]] || skip_test 'the compiler prints no report'
grep -q '^CFLAGS = .*-O3' "$abs_top_builddir/Makefile" || skip_test 'build without -O3'

# marked_loops FILE: print "FILE:FIRST:LAST" for each marked loop. The report names a line of the loop,
# or the line that uses a macro with the loop.
marked_loops() {
  awk -v file="$1" '
    /^#define/ { name = $2; sub(/\(.*/, "", name) }
    /_Pragma\("omp simd"\)/ { macros[name] = 1 }
    /^ +[A-Z_]+\(/ { # a macro that uses a macro with a loop
      used = $1
      sub(/\(.*/, "", used)
      if (used in macros) macros[name] = 1
    }
    /^ *#pragma omp simd/ { print file ":" FNR + 1 ":" FNR + 8 }
    /^[A-Z_]+\(/ {
      name = $0
      sub(/\(.*/, "", name)
      if (name in macros) print file ":" FNR ":" FNR + 1
    }' "$abs_top_srcdir/$1"
}

loops=0 missed=0
for file in "$abs_top_srcdir"/src/cpu/*.c; do
  file=src/cpu/${file##*/}
  while IFS=: read -r _ first last; do
    loops=$((loops + 1))
    awk -F: -v file="$file" -v first="$first" -v last="$last" '
      $1 == file && $2 >= first && $2 <= last && /loop vectorized/ { found = 1 }
      END { exit !found }' <<<"$report" && continue
    echo "$file:$first: not vectorized"
    missed=$((missed + 1))
  done < <(marked_loops "$file")
done
echo "$loops loops, $missed not vectorized"
((loops > 20 && missed == 0))
