# shellcheck shell=bash disable=SC2154
# bench: every ladder of hpgmg-bench on small arrays, on the CPU and on a CUDA device if present. Variants give correct
# results, JSON and CSV have the printed rows, --plot draws a picture if $PYTHON has matplotlib, and each wrong option
# gives one error line. Measured times are not checked.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
program=$(dirname "$HPGMG_FV")/hpgmg-bench
export OMP_NUM_THREADS=2

# bench WANT ARG...: run the program; it must exit with WANT.
bench() { exits "$1" solo "$program" "${@:2}"; }

# fail RC PATTERN ARG...: the program must exit with RC and print one error line that matches PATTERN, and nothing else.
fail() {
  fails hpgmg-bench "$1" "$2" solo "$program" "${@:3}"
  test ! -s "$dir/out" || complain "hpgmg-bench ${*:3}: the error comes after output"
}
# refuse PATTERN ARG...: the same for exit code 2.
refuse() { fail 2 "$@"; }

bench 0 --help
ladders=$(sed -n '/^Ladders/,/^$/s/^  \([a-z]*\) .*/\1/p' "$dir/out")
test "$(wc -w <<<"$ladders")" -ge 3 || complain "ladders: $ladders"
bench 0 --version
grep -qE '^hpgmg-bench [0-9]+\.[0-9]+' "$dir/out" || complain "version: $(cat "$dir/out")"

json=()
if have_feature jansson; then json=(--json="$dir/all.json"); fi
for device in $(each_device); do
  test "$device" = cpu && mib=1 || mib=2 # the roofline of 1 MiB has 32^3 cells
  bench 0 --device="$device" --quick --mib="$mib" --csv="$dir/a.csv" "${json[@]}"
  test ! -s "$dir/err" || complain "on $device: $(cat "$dir/err")"
  for ladder in $ladders; do
    # The printed rows of its tables, each of which has a line in the CSV without an error.
    awk -v ladder="$ladder" '/^[a-z]+: / { its = $1 == ladder ":" } its' "$dir/out" >"$dir/tables"
    rows=$(grep -cE '^.+ +[0-9.]+ +[0-9.]+% +[0-9.]+(  in cache)?$' "$dir/tables" || true)
    test "$rows" -ge 2 || complain "$ladder on $device: $rows rows"
    grep "^$ladder," "$dir/a.csv" >"$dir/rows.csv" || complain "$ladder on $device: not in the CSV"
    test "$(wc -l <"$dir/rows.csv")" -eq "$rows" || complain "$ladder on $device: $rows rows, $(wc -l <"$dir/rows.csv") lines"
    awk -v place="$device" '{
        gsub(/"[^"]*"/, "text"); n = split($0, f, ",")
        if (n != 20 || f[4] != place || f[15] <= 0 || f[16] < 0 || f[19] != 0 || f[20] !~ /^[01]$/) { print; bad = 1 }
      } END { exit bad || NR == 0 }' "$dir/rows.csv" || complain "$ladder on $device: wrong CSV"
    test "$(grep -c '  in cache$' "$dir/tables")" -eq "$(grep -c ',1$' "$dir/rows.csv")" || complain "$ladder: marks differ"
    test "$(awk -F'"' '$2 != before { before = $2; n++ } END { print n }' "$dir/rows.csv")" -eq \
      "$(grep -c "^$ladder: " "$dir/out")" || complain "$ladder on $device: wrong number of tables"
  done
done
bench 0 --device=cpu --quick --mib=1 --quiet --csv="$dir/a.csv" copy wide
test ! -s "$dir/out" || complain '--quiet prints'
test "$(cut -d, -f1 "$dir/a.csv" | uniq | tr '\n' ' ')" = 'ladder copy wide ' || complain "copy and wide: $(cat "$dir/a.csv")"

# The default size depends on the threads; the head names ladders, size and estimated time.
if test "${HPGMG_SANITIZED:-no}" = no && have_feature OpenMP; then
  bench 0 --device=cpu --quick copy wide
  grep -qE '^2 ladders, arrays of 32 MiB: about [0-9a]' "$dir/out" || complain "no estimate: $(head -n 3 "$dir/out")"
  grep -q '^copy: one thread, 32 MiB to 32 MiB$' "$dir/out" || complain "not 16 MiB per thread: $(sed -n 4p "$dir/out")"
fi
bench 0 --device=cpu --quick --mib=1 copy
grep -q '^1 ladder, arrays of 1 MiB: about a second$' "$dir/out" || complain "no estimate: $(head -n 3 "$dir/out")"
# Rows of arrays smaller than the last-level cache say so.
cache=$(sed -n '1s/.*; last-level cache \([0-9.]*\) MiB$/\1/p' "$dir/out")
if test -n "$cache" && awk "BEGIN { exit !($cache > 2) }"; then
  test "$(grep -c '%.* in cache$' "$dir/out")" -ge 5 || complain "1 MiB is not in the cache of $cache MiB: $(cat "$dir/out")"
fi
# Progress is shown on a terminal only, never on stdout.
if script --version 2>/dev/null | grep -q util-linux; then
  on_terminal() { solo script -qec "'$program' --device=cpu --quick --mib=1 $1 >'$dir/out'" "$dir/terminal" >/dev/null; }
  for option in '' --csv=-; do
    on_terminal "$option copy wide"
    for ladder in 'copy, ladder 1' 'wide, ladder 2'; do
      tr '\r' '\n' <"$dir/terminal" | grep -qE "$ladder of 2: row [0-9]+, [0-9]+ s of about [0-9]+ s" ||
        complain "$option: no progress of $ladder: $(cat "$dir/terminal")"
    done
    if grep -q ' of about ' "$dir/out"; then complain "$option: progress on stdout: $(cat "$dir/out")"; fi
  done
  head -n 1 "$dir/out" | grep -q '^ladder,table,variant,' || complain '--csv=- on a terminal: not the CSV alone'
  on_terminal '--quiet copy'
  if grep -q ' of about ' "$dir/terminal"; then complain '--quiet shows progress'; fi
fi
bench 0 --device=cpu --quick --mib=1 --csv=- copy
head -n 1 "$dir/out" | grep -q '^ladder,table,variant,' || complain '--csv=-: stdout is not the CSV alone'
if have_feature jansson; then
  bench 0 --device=cpu --quick --mib=1 --json="$dir/a.json" --csv="$dir/a.csv" copy wide
  is_json "$dir/a.json"
  test "$(grep -c '"variant"' "$dir/a.json")" -eq "$(($(wc -l <"$dir/a.csv") - 1))" || complain 'JSON and CSV have different rows'
  has_keys "$dir/a.json" array_bytes cache_bytes copy_gb_per_s elements error flops gb_per_s in_cache ladder machine moved_bytes name \
    of_copy place program requested_bytes rows seconds speed_up table tables threads useful_bytes variant version
  fail 3 'cannot be written' --device=cpu --quick --mib=1 --json="$dir/none/a.json" copy
  refuse '--json and --csv both write to' --device=cpu --quick --mib=1 --csv="$dir/a" --json="$dir/../$(basename "$dir")/a" copy
  ln -s t.csv "$dir/l.csv" # a dangling link
  ln -s "$dir/l.csv" "$dir/k.csv"
  for link in l k; do
    refuse '--json and --csv both write to' --device=cpu --quick --mib=1 --csv="$dir/$link.csv" --json="$dir/t.csv" copy
  done
  test ! -e "$dir/t.csv" || complain 'a file was written despite an error'
  refuse '--json and --plot both write to' --device=cpu --quick --mib=1 --plot="$dir/a.png" --json="$dir/a.png" copy
else
  refuse '--json needs a build with jansson' --device=cpu --quick --mib=1 --json=- copy
fi
bench 3 --device=cpu --quick --mib=1 --csv="$dir" copy
# Arrays that exceed the free memory are refused before any measurement.
if test "$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)" -lt 850; then
  fail 4 '--mib=65536 needs about [0-9.]+ [GT]B .* [0-9.]+ [GT]B are free. Use --mib=[0-9]+ or less' \
    --device=cpu --quick --mib=65536 smooth
else
  echo 'not run: --mib=65536 fits into the memory of this machine'
fi
# A failed write to stdout is an error.
for arguments in --help --version '--device=cpu --quick --mib=1 copy'; do
  # shellcheck disable=SC2016,SC2086
  fails hpgmg-bench 3 'stdout cannot be written' solo bash -c 'exec "$0" "$@" >/dev/full' "$program" $arguments
done

# python CODE: the python3 in PATH is a bash script with CODE.
mkdir "$dir/bin" "$dir/none" "$dir/tmp"
python() {
  printf '#!%s\n%s\n' "$BASH" "$1" >"$dir/bin/python3"
  chmod +x "$dir/bin/python3"
}
export PATH=$dir/bin:$PATH TMPDIR=$dir/tmp
PYTHON=$(command -v "$PYTHON" || echo none)
# picture ARG...: --plot draws a picture and leaves no temporary file.
picture() {
  rm -f "$dir/a.png"
  bench 0 --device=cpu --quick --mib=1 --plot="$dir/a.png" "$@"
  test "$(head -c 8 "$dir/a.png" | tr -d '\r\n\032')" = $'\x89PNG' || complain "--plot $*: no PNG"
  test ! -s "$dir/err" || complain "--plot $*: $(cat "$dir/err")"
  if ls "$dir/tmp"/hpgmg-bench-* >/dev/null 2>&1; then complain "--plot $*: temporary files are left"; fi
}
if have_feature jansson; then
  python 'exit 1'
  refuse 'python3 in PATH' --device=cpu --plot="$dir/b.png" copy
  # shellcheck disable=SC2016 # words of the script
  python 'case $2 in *matplotlib*) exit 1 ;; esac'
  refuse "matplotlib for python3: .*pip install matplotlib" --device=cpu --plot="$dir/b.png" copy
  refuse 'b.jpeg: the file name must end in .png' --device=cpu --plot="$dir/b.jpeg" copy
  fail 3 'cannot be written' --device=cpu --quick --mib=1 --plot="$dir/none/none/b.png" copy
  # shellcheck disable=SC2016
  python 'case $1 in -c) exit 0 ;; esac; exit 7'
  bench 3 --device=cpu --quick --mib=1 --plot="$dir/b.png" copy
  grep -q 'b.png was not drawn: plot.py failed with exit code 7' "$dir/err" || complain "no picture: $(cat "$dir/err")"
  python "exec '$PYTHON' \"\$@\""
  if "$PYTHON" -c 'import matplotlib' 2>/dev/null; then
    own_matplotlib
    picture copy
    picture wide stride --json="$dir/a.json"
    is_json "$dir/a.json"
    picture --json=- reduce
    is_json "$dir/out" # stdout is the JSON alone
    # Every kernel above is a point of the roofline.
    if test "$HPGMG_SANITIZED" = no; then
      exits 0 "$PYTHON" "$abs_top_srcdir/scripts/plot.py" roofline "$dir/all.json" -o "$dir/a.png"
      points=$(sed '1,/"ladder": "roofline"/d' "$dir/all.json" | grep -c '"flops": [0-9.e+]*[1-9]')
      test "$(tail -n 1 "$dir/out")" = "$dir/a.png: $((points - 1)) kernels" || complain "roofline: $(cat "$dir/out")"
    fi
  else
    echo "not run: $PYTHON has no matplotlib (python3-matplotlib)"
    refuse 'matplotlib|python3 in PATH' --device=cpu --plot="$dir/b.png" copy
  fi
  test ! -e "$dir/b.png" || complain 'a picture was drawn despite an error'
else
  refuse '--plot needs a build with jansson' --device=cpu --plot="$dir/b.png" copy
fi

# The search needs a GPU and runs only if named. It prints three tables, each with the tree, and writes the source of
# the fastest program.
if test "$(each_device | wc -l)" -gt 1; then
  solo "$program" --quick --mib=2 --tries=1 search >"$dir/out" 2>"$dir/err" || true
  if grep -q 'search needs a build with NVRTC' "$dir/err"; then
    refuse 'search needs a build with NVRTC' --quick --mib=2 search
  else
    for reduction in norm sum; do
      option=--reduction=$reduction
      test $reduction = sum || option=--quick # the norm is the default
      bench 0 --quick --mib=2 --tries=8 --seed=2 "$option" --source="$dir/a.cu" --csv="$dir/a.csv" search
      test "$(grep -c '^search: ' "$dir/out")" -eq 4 || complain "search: $(cat "$dir/out")"
      grep -q "^search: $reduction, seed 2, 9 known shapes and 8 tries: " "$dir/out" || complain "search: $(cat "$dir/out")"
      grep -q 'wrong on the device: 0$' "$dir/out" || complain "search: $(cat "$dir/out")"
      test "$(grep -c '"tree in shared memory"' "$dir/a.csv")" -eq 3 || complain 'search: no tree in each table'
      winner=$(sed -n 's/^winner, .* average: //p' "$dir/out")
      grep -qF "a $reduction, as $winner" "$dir/a.cu" || complain "search: '$winner' is not in $(head -n 1 "$dir/a.cu")"
    done
  fi
fi
refuse 'search requires a CUDA device' --device=cpu --mib=1 search
if test "$(each_device | wc -l)" -eq 1; then
  fail 4 'search requires a CUDA device' --quick --mib=1 search
fi
for option in --source="$dir/a.cu" --seed=1 --tries=1 --reduction=sum; do
  refuse "${option%%=*} requires .hpgmg-bench search." "$option" copy
done
for wrong in 0 10001 some; do
  refuse "--tries=$wrong is not an integer from 1 to 10000" --tries="$wrong" search
done
refuse '--reduction=max is not one of norm, sum' --reduction=max search
if have_mpi; then
  exits 2 mpi_run 3 "$program" --device=cpu --quick --mib=2 copy
  test "$(grep -c '^hpgmg-bench: error: .* runs as one process' "$dir/err")" -eq 1 || complain "on three ranks: $(cat "$dir/err")"
fi
refuse '--seed=-1 is not an integer from 0 to' --seed=-1 search

# Exercises as delivered are right, but not solved. tests/unit/unit_exercises has the verdicts on answers and mistakes.
for device in $(each_device); do
  for n in 1 2 3 4 5; do
    bench 1 --device="$device" --quick --mib=1 --csv="$dir/a.csv" exercise $n
    grep -qE "^exercise $n: not solved yet: [0-9]+ .*, the goal is [0-9]+$" "$dir/out" || complain "exercise $n: $(cat "$dir/out")"
    test "$(grep -cE "^exercise,\"$n, [^\"]*\",\"(yours|answer)\",$device," "$dir/a.csv")" -eq 2 ||
      complain "exercise $n on $device: $(cat "$dir/a.csv")"
  done
done
if have_feature jansson; then
  bench 1 --device=cpu --quick --mib=1 --json=- exercise 1
  is_json "$dir/out"
  test "$(grep -cE '"variant": "(yours|answer)"' "$dir/out")" -eq 2 || complain "exercise in JSON: $(cat "$dir/out")"
fi
for wrong in '' 0 6 1x; do
  # shellcheck disable=SC2086 # no argument if empty
  refuse ".exercise. needs a number from 1 to 5, not '$wrong'" --device=cpu exercise $wrong
done
refuse "an exercise runs alone; remove 'copy'" copy exercise 1
refuse "an exercise runs alone; remove 'copy'" exercise 1 copy

refuse "unknown ladder 'cpy'; the ladders are copy, stride" cpy
refuse '--device=gpu is not one of auto, cuda, cpu' --device=gpu
for wrong in 0 -1 65537 1.5 '' many; do
  refuse "--mib=$wrong is not an integer from 1 to 65536" --mib="$wrong"
done
refuse "unknown option '--fast'" --fast
refuse "unknown option '-x'" copy -xy
for option in --json --csv --plot; do
  refuse "$option= needs a file name" --device=cpu "$option=" copy
done
refuse '--mib needs a value' --mib
if test "$(each_device | wc -l)" -eq 1; then bench 4 --device=cuda; fi
finish
