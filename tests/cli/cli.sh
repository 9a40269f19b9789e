# shellcheck shell=bash disable=SC2154
# cli: effects of the options; fault.sh has their errors. Covers help and version, output streams,
# JSON and CSV, decks overridden by the command line, and printed decks that reproduce the run.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
device=cpu
if have_cuda; then device=cuda; fi

# --- help, version, report ---

ok 1 --help
grep -q '^Usage: mpirun -n RANKS hpgmg-fv' "$dir/out" || complain '--help does not begin with usage'
ok 1 -V
for line in 'hpgmg-fv [0-9]' 'compiler ' 'flags ' 'MPI ' 'jansson '; do
  grep -q "^$line" "$dir/out" || complain "--version has no line '$line'"
done

# Unchecked: the order below 64^3, and error and order after a single V-cycle.
ok 1 4 8 --verify-only
grep -qx 'note  grid below 64^3: .*, the order not at all' "$dir/out" || complain 'the order on 32^3 is checked'
ok 1 5 8 --verify-only --cycle=v
grep -qx 'note  error and order are not checked after 1 V-cycle; .*' "$dir/out" || complain 'the error of a V-cycle is checked'
ok 1 5 8 --verify-only
if grep -q '^note' "$dir/out"; then complain '64^3 is not checked'; fi

ok 1 4 8 --verify-only --levels-breakdown
report=$(sed 's/ -*[0-9][0-9.e+-]*/ N/g' "$dir/out")
for line in '        h = ' '  h  1/32 ' ' 2h  1/16 ' ' 4h  1/8 ' 'error N' 'order N'; do
  grep -qF -- "$line" "$dir/out" || grep -qF -- "$line" <<<"$report" || complain "no line '$line'"
done
# The figure of merit is the last line; without times there is no rate. Before it comes the verdict.
tail -n 1 "$dir/out" | grep -qE '^FOM: none DOF/s INVALID class=double operator=fv2 .* reason: --verify-only ' ||
  complain 'the last line is not the figure of merit'
test "$(tail -n 2 "$dir/out" | head -n 1)" = 'VERIFICATION: PASSED' || complain 'the line before it is not the verdict'
if grep -qE 'HPGMG-FV Benchmark|DOF/s=' "$dir/out"; then complain 'a summary without rates'; fi

# Seconds per level and operation: all levels are listed, with min <= mean <= max. The coarsest
# levels may share one entry.
breakdown() {
  awk -v levels=6 '
    /min, mean, max over ranks/ { inside = 1 }
    /messages of one solve|percent of one solve/ { inside = 0 }
    inside && /\^3/ { seen[$1] = 1; if (!($(NF - 2) <= $(NF - 1) && $(NF - 1) <= $NF)) bad = 1 }
    inside && /coarse levels/ { for (l = $1; l < levels; l++) seen[l] = 1 }
    inside && /h = / { inside = 0 }
    END { for (l = 0; l < levels; l++) if (!(l in seen)) bad = 1; exit bad }' "$dir/out" ||
    complain "--levels-breakdown: $(cat "$dir/out")"
  # Percentages of a solve: one line per level whose operations add up, then the totals and the solve.
  awk -v levels=6 '
    function near(a, b, slack) { return a - b <= slack && b - a <= slack }
    /percent of one solve/ { inside = 1; next }
    inside && /^$/ { inside = 0 }
    !inside || /level +grid/ { next }
    { for (c = 3; c < NF - 1; c++) { row += $c; if ($1 != "all") column[c] += $c } n = NF - 4 }
    /\^3/ && (!near(row, $(NF - 1), 0.05 * (n + 1)) || $1 != seen++) { bad = 1 }
    /\^3/ { percent += $(NF - 1); seconds += $NF }
    /all levels/ {
      for (c = 3; c < NF - 1; c++) if (!near(column[c], $c, 0.05 * (levels + 1))) bad = 1
      if (!near(percent, $(NF - 1), 0.05 * (levels + 1)) || !near(seconds, $NF, 0.5e-6 * (levels + 1))) bad = 1
      all = $NF
    }
    /elsewhere/ { elsewhere = $NF }
    /one solve/ { if ($(NF - 1) != "100.0" || !near(all + elsewhere, $NF, 2e-6)) bad = 1; last = 1 }
    { row = 0 }
    END { exit bad || !last || seen != levels }' "$dir/out" || complain "--levels-breakdown, sums: $(cat "$dir/out")"
}
breakdown
ok 1 4 8 --verify-only --device=cpu --levels-breakdown
grep -q '^ *0  .* cache pass, 6 steps in 1 sweep, strips of [1-9][0-9]* rows' "$dir/out" || complain 'smooths in passes'

# --- summary and figure of merit ---

# The summary has HPGMG-FV's lines. Their rates, that of the figure of merit and those of the CSV agree.
ok 1 4 8 --cycle=v --min-solves=2 --min-time=0 --csv="$dir/fom.csv"
checks=$((checks + 1))
awk -F, 'NR > 1 { printf "h=%.15e  DOF=%.15e  time=%.6f  DOF/s=%.3e\n", $10, $11, $16, $17 }' "$dir/fom.csv" >"$dir/want"
grep -A 4 '^[*]* *HPGMG-FV Benchmark *[*]*$' "$dir/out" | tail -n 3 | sed 's/^  //; s/  MPI=1  OMP=[0-9]*$//' |
  diff "$dir/want" - || complain "summary: $(tail -n 6 "$dir/out")"
rate=$(sed -n '1s/.*DOF.s=//p' "$dir/want")
tail -n 1 "$dir/out" | grep -qE "^FOM: ${rate/+/[+]} DOF/s VALID class=open operator=fv2 smoother=gsrb equation=poisson \
boundary=dirichlet cycle=v precision=double grid=32\^3 ranks=1 threads=[0-9]+ backend=$device version=[0-9.]+\$" ||
  complain "figure of merit: $(tail -n 1 "$dir/out")"
test "$(tail -n 3 "$dir/fom.csv" | cut -d, -f24,25 | sort -u)" = open,valid || complain 'CSV: class and validity'
# A run that is too short for its class has a rate, but is invalid.
ok 1 5 1 --min-solves=2 --min-time=0 --rtol=0.9 --max-cycles=1
tail -n 1 "$dir/out" | grep -q '^FOM: [0-9.e+]* DOF/s VALID class=open .* cycle=f precision=double rtol=0.9 ' ||
  complain "figure of merit with --rtol: $(tail -n 1 "$dir/out")"
ok 1 5 8 --min-solves=2 --min-time=0
tail -n 1 "$dir/out" | grep -q '^FOM: [0-9.e+]* DOF/s INVALID class=double .* reason: 2 timed solves at 64^3, ' ||
  complain "figure of merit of two solves: $(tail -n 1 "$dir/out")"
# A run that fails has none.
run 1 4 8 --min-solves=2 --min-time=0 --rtol=1e-13 --max-cycles=1
tail -n 1 "$dir/out" | grep -q '^FOM: none DOF/s INVALID class=open .* reason: relative residual ' ||
  complain "figure of merit of a failure: $(tail -n 1 "$dir/out")"
if grep -qE 'HPGMG-FV Benchmark|DOF/s=' "$dir/out"; then complain 'a failed run has a summary'; fi

# --- quiet, verbose, progress ---

ok 1 4 8 --verify-only --quiet
test ! -s "$dir/out" || complain '--quiet prints on stdout'
run 1 4 8 --verify-only --verbose
grep -q '^hpgmg-fv: memory: .* needed, .* free$' "$dir/err" || complain '--verbose names no memory'
test "$(grep -c '^hpgmg-fv: verification at [0-9]*^3:' "$dir/err")" -eq 3 || complain '--verbose: 3 solves'

# More threads than cores draw a warning, unless --quiet.
if have_feature OpenMP; then
  crowd=$(($(nproc --all) + 1))
  for case in no:1 yes:0; do
    OMP_NUM_THREADS=$crowd OMP_THREAD_LIMIT=$crowd solo "$HPGMG_FV" 4 1 --verify-only \
      --quiet="${case%:*}" >"$dir/out" 2>"$dir/err" || complain "$crowd threads: exit code $?"
    warnings=$(grep -c "^hpgmg-fv: warning: $crowd threads on .*OMP_NUM_THREADS" "$dir/err" || true)
    test "$warnings" -eq "${case#*:}" || complain "--quiet=${case%:*}: $warnings warnings of threads"
  done
fi

# A control group with the time of one CPU: two threads draw a warning, and one is the default.
mkdir -p "$dir/groups/sys/fs/cgroup"
echo '100000 100000' >"$dir/groups/sys/fs/cgroup/cpu.max"
if have_feature OpenMP; then
  HPGMG_CONTROL_GROUPS=$dir/groups OMP_NUM_THREADS=2 OMP_THREAD_LIMIT=2 solo "$HPGMG_FV" 4 1 --verify-only >"$dir/out" 2>"$dir/err" ||
    complain "two threads in a control group of one CPU: exit code $?"
  grep -q '^hpgmg-fv: warning: 2 threads on .* has the time of 1 CPUs; .*OMP_NUM_THREADS$' "$dir/err" ||
    complain "no warning of the quota: $(cat "$dir/err")"
  (
    unset OMP_NUM_THREADS
    HPGMG_CONTROL_GROUPS=$dir/groups solo "$HPGMG_FV" 4 1 --verify-only >"$dir/out" 2>"$dir/err"
  ) || complain 'a control group of one CPU fails'
  test ! -s "$dir/err" || complain "the default exceeds the quota: $(cat "$dir/err")"
fi

# Two ranks in one such group share its quota; in groups of their own they do not.
if have_mpi; then
  for rank in 0 1; do cp -r "$dir/groups" "$dir/groups.$rank"; done
  # shellcheck disable=SC2016 # for the ranks' shells
  for case in groups:1 'groups.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}:0'; do
    OMP_NUM_THREADS=1 mpi_run 2 sh -c "HPGMG_CONTROL_GROUPS=\$0/${case%:*} exec \"\$@\"" "$dir" \
      "$HPGMG_FV" 4 1 --verify-only >"$dir/out" 2>"$dir/err" || complain "two ranks in ${case%:*}: $(cat "$dir/err")"
    warnings=$(grep -c '^hpgmg-fv: warning: 2 threads on .* has the time of 1 CPUs; ' "$dir/err" || true)
    test "$warnings" -eq "${case##*:}" || complain "two ranks in ${case%:*}: $(cat "$dir/err")"
  done
fi

# The scripts read the same files on a machine of 8 CPUs: a group and those around it, v2 and v1, a container's root.
count_cores() {
  HPGMG_CONTROL_GROUPS=$dir/machine bash -euc 'nproc() { echo 8; }; top=$0 me=cores; . "$0/scripts/common.sh"; cores' \
    "$abs_top_srcdir"
}
while read -r want self files; do
  rm -rf "$dir/machine"
  mkdir -p "$dir/machine/proc/self"
  printf '%b' "$self" >"$dir/machine/proc/self/cgroup"
  for file in $files; do
    path=$dir/machine/sys/fs/cgroup/${file%=*}
    mkdir -p "${path%/*}"
    tr , ' ' <<<"${file#*=}" >"$path"
  done
  got=$(count_cores 2>&1)
  test "$got" = "$want" || complain "$got CPUs, not $want, with $self $files"
done <<'EOF'
8 4:memory:/\n
8 0::/\n cpu.max=max,100000
2 0::/\n cpu.max=250000,100000
1 0::/job\n cpu.max=50000,100000
4 0::/slurm/job/step\n slurm/job/step/cpu.max=max,100000 slurm/job/cpu.max=400000,100000 slurm/cpu.max=1600000,200000
6 4:memory:/x\n3:cpu,cpuacct:/a/b\n cpu/a/cpu.cfs_quota_us=600000 cpu/a/cpu.cfs_period_us=100000
8 3:cpu:/\n cpu/cpu.cfs_quota_us=-1 cpu/cpu.cfs_period_us=100000
3 4:cpuset:/x\n3:cpu:/docker/a\n cpu/cpu.cfs_quota_us=300000 cpu/cpu.cfs_period_us=100000
EOF

# In a file, progress is lines on stderr, here before every solve: three of each size, and a line for the set-up.
solves=(4 8 --warmup=1 --min-solves=2 --min-time=0)
HPGMG_PROGRESS=0 run 2 "${solves[@]}"
for size in h 2h 4h; do
  for phase in 'warm-up at S: solve 1 of 1' 'timing at S: solve 1 of 2' 'timing at S: solve 2 of 2'; do
    grep -qE "^hpgmg-fv: ${phase/S/$size}, [0-9]+ s left$" "$dir/err" || complain "no progress $size: $(cat "$dir/err")"
  done
done
test "$(grep -cE '^hpgmg-fv: (set-up|.* s left)$' "$dir/err")" -eq 10 || complain "progress: $(cat "$dir/err")"
if grep -q ' s left' "$dir/out"; then complain 'progress on stdout'; fi
HPGMG_PROGRESS=0 ok 1 "${solves[@]}" --quiet
HPGMG_PROGRESS=1000000 run 1 "${solves[@]}"
if grep -q ' s left' "$dir/err"; then complain 'progress before it is due'; fi
for wrong in -1 1e3 '' 1000001; do
  HPGMG_PROGRESS=$wrong expect 2 "HPGMG_PROGRESS=$wrong is neither a number of seconds" 2 4 8
done

# On a terminal, progress is shown at most ten times per second and erased at the end.
# script(1) from util-linux provides a terminal; $1: more options; output in $dir/terminal.
on_terminal() {
  rm -f "$dir/terminal"
  solo script -qec "'$HPGMG_FV' 4 1 --min-solves=1 --min-time=0.3 $1" "$dir/terminal" >/dev/null
}
if script --version 2>/dev/null | grep -q util-linux && on_terminal --quiet; then
  if grep -q ' left' "$dir/terminal"; then complain '--quiet shows progress'; fi
  on_terminal ''
  shown=$(tr '\r' '\n' <"$dir/terminal" | grep -c 'timing at .*: solve .* of .* left' || true)
  # About 3 x 0.3 s: one line at the start of each grid, then at most ten per second.
  if test "$shown" -lt 3; then complain "$shown progress lines on a terminal"; fi
  if test "${HPGMG_SANITIZED:-no}" = no && test "$shown" -gt 60; then
    complain "$shown progress lines in a second"
  fi
  grep -q 'VERIFICATION: PASSED' "$dir/terminal" || complain 'no verdict on a terminal'
  # Progress passes through Open MPI's launcher on this host, but not into a pipe behind it.
  if have_mpi && $(mpi_launcher) --version 2>&1 | grep -q 'Open MPI\|OpenRTE'; then
    command="$(mpi_launcher) -n 2 '$HPGMG_FV' 4 1 --min-solves=1 --min-time=0.3"
    script -qec "$command" "$dir/terminal" >/dev/null </dev/null
    grep -q ' left' "$dir/terminal" || complain 'no progress through the launcher'
    script -qec "($command) 2>&1 | cat" "$dir/terminal" >/dev/null </dev/null
    if grep -q ' left' "$dir/terminal"; then complain 'progress in a pipe behind the launcher'; fi
  fi
fi

# The report names the device, or the reason why none is used.
ok 1 4 1 --verify-only --device=cpu
grep -q '^  device    none: --device=cpu$' "$dir/out" || complain '--device=cpu: the report does not name the device'
ok 1 4 1 --verify-only
if have_cuda; then
  grep -q '^  device    .*, sm_[0-9]*, [0-9]* SMs\(, code for sm_[0-9]*\)\{0,1\}$' "$dir/out" || complain 'the device has no name'
else
  grep -qE '^  device    none: (no CUDA device|built without CUDA)' "$dir/out" || complain 'the report does not say why there is no device'
fi

# An --rtol below round-off draws a warning with a reachable value before the run; a run with that
# value converges.
for problem in '4 8' '5 8' '4 8 --operator=fv4' '4 8 --operator=7pt' '5 1 --operator=7pt --boundary=periodic' \
  '4 1 --operator=fv4 --equation=helmholtz' '4 8 --krylov=cg'; do
  for how in --verify-only --dry-run; do
    checks=$((checks + 1))
    # shellcheck disable=SC2086 # words
    run 1 $problem --rtol=1e-17 $how
    want=0
    test $how = --dry-run || want=1
    if test "$rc" -ne $want || test "$(grep -c '^hpgmg-fv: warning: --rtol=1e-17 is below round-off: ' "$dir/err")" -ne 1; then
      complain "$problem $how: exit code $rc, $(cat "$dir/err")"
    fi
  done
  # shellcheck disable=SC2086
  ok 1 $problem --verify-only --rtol="$(sed -n 's/.* use --rtol=\([0-9.e-]*\) or more.*/\1/p' "$dir/err")"
done

# --- files ---

# --cpu-below=0 fixes the levels' places, since auto measures and a rank's bytes depend on it.
ok 1 4 8 --verify-only --cpu-below=0 --csv="$dir/a.csv"
test "$(wc -l <"$dir/a.csv")" -eq 4 || complain 'CSV: not a line for each of three sizes'
awk -F, 'NF != 25 { exit 1 }' "$dir/a.csv" || complain 'CSV: not 25 columns everywhere'
awk -F, 'NR > 1 && ($6 != 64 / 2 ^ (NR - 1) || $11 != $6 ^ 3 || $10 != 1 / $6) { exit 1 }' \
  "$dir/a.csv" || complain 'CSV: n, dof or h is wrong'
awk -F, 'NR > 1 && $15 $16 $17 != "" { exit 1 }' "$dir/a.csv" || complain 'CSV: NaN is not empty'
ok 1 4 1 --min-solves=2 --min-time=0 --csv="$dir/b.csv"
awk -F, 'NR > 1 && !($15 > 0 && $15 <= $16 && $17 * $16 / $11 > 0.999 && $17 * $16 / $11 < 1.001) \
  { exit 1 }' "$dir/b.csv" || complain 'CSV: seconds and DOF/s disagree'
ok 1 4 8 --verify-only --levels-breakdown --csv="$dir/b.csv"
awk -F, 'NR == 1 { for (c = 1; c <= NF; c++) column[$c] = c; n = NF; if (n < 31) exit 1; next }
  NF != n || (NR == 2) != ($column["seconds_smooth"] != "") { exit 1 }' \
  "$dir/b.csv" || complain "CSV with --levels-breakdown: $(cat "$dir/b.csv")"
run 1 4 8 --verify-only --cpu-below=0 --csv=-
cmp -s "$dir/out" "$dir/a.csv" || complain '--csv=-: stdout is not the CSV alone'
grep -q '^VERIFICATION: PASSED' "$dir/err" || complain '--csv=-: the report is not on stderr'
tail -n 1 "$dir/err" | grep -q '^FOM: ' || complain '--csv=-: the report does not end with FOM'

# A link is kept, its target is replaced atomically, and no other file is left behind.
mkdir "$dir/results"
ln -s results/real.csv "$dir/link.csv"
seq 1000 >"$dir/results/real.csv"
ok 1 4 8 --verify-only --cpu-below=0 --csv="$dir/link.csv"
test -L "$dir/link.csv" || complain 'a link was removed'
cmp -s "$dir/results/real.csv" "$dir/a.csv" || complain 'the target of a link is not replaced'
test "$(ls "$dir/results")" = real.csv || complain "left over: $(ls "$dir/results")"

if have_feature jansson; then
  # --cpu-below=auto measures, so it may choose differently in each run.
  ok 1 4 8 --verify-only --cpu-below=0 --json="$dir/a.json"
  run 1 4 8 --verify-only --cpu-below=0 --json=-
  diff <(grep -vE 'command_line|setup_seconds' "$dir/a.json") \
    <(grep -vE 'command_line|setup_seconds' "$dir/out") ||
    complain '--json=-: stdout is not the JSON alone'
  is_json "$dir/out"
  for line in '"program": "hpgmg-fv"' '"operator": "fv2"' '"verification": "passed"' \
    '"seconds_mean": null' '"dof": 32768' '"cycles": 1' "\"backend\": \"$device\"" '"schema": 1' \
    '"verify_only": true' '"omega": 1.0' '"degree": null' '"class": "double"' '"validity": "invalid"'; do
    grep -qF -- "$line" "$dir/a.json" || complain "JSON: no $line"
  done
  ok 1 4 8 --verify-only --device=cpu --strip-bytes=100000 --json="$dir/strips.json"
  grep -qx '  strips    100.000 kB per thread, given' "$dir/out" || complain 'no line of --strip-bytes'
  grep -A1 '"strip_bytes": 100000,' "$dir/strips.json" | grep -q '"strip_source": "given"' ||
    complain 'JSON: --strip-bytes'
  # Both files hold the same doubles: 17 digits restore all bits.
  for column in 18:error 19:order; do
    value=$(awk -F, -v c="${column%:*}" 'NR == 2 { print $c }' "$dir/a.csv")
    grep -q "^  \"${column#*:}\": $value,$" "$dir/a.json" || complain "${column#*:} is not $value"
  done
  test "$(sed -n 's/^  "error": *//p' "$dir/a.json" | tr -dc 0-9 | wc -c)" -ge 17 ||
    complain 'JSON: the error has fewer than 17 digits'
  # The checksums are those of the fields: equal for other boxes, different for another solution.
  checksums() { tr -d ' \n' <"$1" | grep -oE '"checksums":[^}]*}'; }
  ok 1 5 1 --verify-only --json="$dir/box.json"
  test "$(checksums "$dir/box.json")" = "$(checksums "$dir/a.json")" || complain 'JSON: checksums depend on boxes'
  ok 1 5 1 --verify-only --smooths=2 --json="$dir/other.json"
  diff <(checksums "$dir/box.json" | tr ',' '\n') <(checksums "$dir/other.json" | tr ',' '\n') >"$dir/diff" &&
    complain 'JSON: u has the same checksum with other smooths'
  test "$(grep -c '^[<>]' "$dir/diff")" -eq 2 || complain "JSON: checksum of f: $(cat "$dir/diff")"
  # Paths may hold any bytes; JSON is UTF-8.
  ok 1 4 1 --verify-only --csv="$dir/"$'\303\244\377.csv' --json="$dir/bytes.json"
  if iconv -f utf-8 -t utf-8 </dev/null 2>/dev/null; then
    iconv -f utf-8 -t utf-8 <"$dir/bytes.json" >/dev/null || complain 'JSON: not UTF-8'
  fi
fi

# --- decks ---

# reproduces ARG...: the deck printed by --print-config gives bit-identical results and prints itself.
reproduces() {
  ok 1 "$@" --csv="$dir/first.csv"
  ok 1 "$@" --print-config
  cp "$dir/out" "$dir/printed.ini"
  ok 1 --input="$dir/printed.ini" --csv="$dir/second.csv"
  # All columns except seconds and memory, which depend on the places measured at start-up.
  diff <(cut -d, -f1-14,18-20 "$dir/first.csv") <(cut -d, -f1-14,18-20 "$dir/second.csv") ||
    complain "the printed deck gives different results: $*"
  ok 1 --input="$dir/printed.ini" --print-config
  cmp -s "$dir/out" "$dir/printed.ini" || complain "the deck printed by the printed deck differs: $*"
}
reproduces 4 8 --verify-only --operator=fv4 --equation=helmholtz --boundary=periodic \
  --smoother=chebyshev --degree=5 --smooths=2 --bottom=smoother --cycle=v --rtol=0.012345678901234567 \
  --max-cycles=7 --krylov=cg --coarsest=3
reproduces 4 1 --operator=7pt --smoother=symgs --warmup=0 --min-solves=2 --min-time=0

reproduces 4 8 --verify-only --precision=mixed
reproduces 4 8 --verify-only --boundary=neumann --rtol=1e-6

# --- grids of any size ---

reproduces --verify-only --cells=10x7x3 --spacing=0.1,0.2,0.3 --boundary=neumann,periodic,dirichlet
ok 1 --cells=10x7x3 --lengths=1,2,3
grep -q '^  grid      10x7x3 = 210 cells in 1^3 boxes of 10x7x3$' "$dir/out" || complain '--cells: grid'
grep -qx '  domain    1 x 2 x 3' "$dir/out" || complain '--lengths: domain'
grep -qx 'note  --cells: only the residual is checked' "$dir/out" || complain '--cells: no note'
# Cells that are no cubes have no single width.
for line in '           cells            DOF   solves ' '          10x7x3          210        1 '; do
  grep -q "^$line" "$dir/out" || complain "--cells: no grid in the table: $(grep -A 1 DOF "$dir/out")"
done
if grep -qE '1/10| h=' "$dir/out"; then complain '--cells: a width of cells that are no cubes'; fi
ok 1 --cells=10x7x3 --dry-run --ranks=2
grep -q '^  grid 10x7x3 = 210 cells in ' "$dir/out" || complain '--cells --dry-run: grid'
expect 2 '--cells cannot be combined with LOG2_BOX_DIM' 1 --cells=10x7x3 4 1
expect 2 '--cells=10x7: fewer than three numbers' 1 --cells=10x7

# --- boundaries ---

# CSV quotes the words of several sides. The expected error is unknown.
sides=periodic,periodic,neumann,dirichlet,neumann,neumann
ok 1 4 8 --verify-only --boundary=$sides --csv="$dir/sides.csv"
grep -q "^fv2,poisson,\"$sides\",gsrb,f,32," "$dir/sides.csv" || complain 'CSV: boundary of each side'
grep -qx "note  --boundary=$sides: only the residual is checked" "$dir/out" || complain 'no note on the boundary'
expect 2 '--bottom=direct requires --operator=fv2 or 7pt' 1 4 1 --operator=fv4 --bottom=direct
expect 2 'the coarsest grid of 8x8x8 has 512 cells; at most 343 are allowed; use --bottom=bicgstab' 1 4 1 --bottom=direct --coarsest=8
expect 2 '--operator=fv4 requires --boundary=dirichlet or periodic' 1 4 1 --operator=fv4 --boundary=neumann
expect 2 '--operator=fv4 requires --boundary=dirichlet or periodic' 1 4 1 --operator=fv4 --boundary=dirichlet,dirichlet,periodic
expect 2 'y-low is periodic, but y-high is not' 1 4 1 --boundary=neumann,neumann,periodic,neumann,neumann,neumann

# --- precision ---

expect 2 '--precision is mixed, but --official requires double; remove one of them' 1 4 1 --precision=mixed --official
expect 2 '--precision=.*float' 1 4 1 --precision=float
ok 1 4 8 --verify-only --precision=mixed --csv="$dir/mixed.csv"
grep -q '^  precision mixed: u, f and residuals in double, cycles in float$' "$dir/out" || complain 'no line precision'
grep -q '^float rounding changes the error by at most ' "$dir/out" || complain 'no line on float rounding'
test "$(cut -d, -f23 "$dir/mixed.csv" | sort -u)" = $'mixed\nprecision' || complain 'CSV: no class'
ok 1 4 8 --precision=mixed --dry-run
grep -q '^dry run: fv2, poisson, dirichlet, mixed precision, on 1 rank' "$dir/out" || complain 'dry run: no class'
ok 1 4 1 --precision=mixed --print-config
grep -qx 'precision = mixed' "$dir/out" || complain 'print-config: no class'

printf 'log2-box-dim = 4\nboxes-per-rank = 8\nsmoother = jacobi ; weak\n[run]\nverify-only = yes\n' \
  >"$dir/deck.ini"
ok 1 --input="$dir/deck.ini" --csv="$dir/deck.csv"
grep -q '^fv2,poisson,dirichlet,jacobi,f,32,' "$dir/deck.csv" || complain 'the deck has no effect'
ok 1 4 1 --smoother=gsrb --csv="$dir/deck.csv" --input="$dir/deck.ini"
grep -q '^fv2,poisson,dirichlet,gsrb,f,16,' "$dir/deck.csv" ||
  complain 'the command line does not override the deck'
ok 1 4 1 --print-config
grep -qx '# max-cycles = 20' "$dir/out" || complain 'max-cycles of a printed deck would end a tolerance'
ok 1 --input="$dir/deck.ini" --verify-only=no --official --print-config
for line in 'warmup = 10' 'min-solves = 10' 'min-time = 60' 'official = yes'; do
  grep -qx "$line" "$dir/out" || complain "--official: no line '$line'"
done
for deck in "$abs_top_srcdir"/inputs/*.ini; do
  case $deck in */rough.ini) continue ;; esac # tests/io/input.sh has its field
  ok 1 --input="$deck" --dry-run
  ok 1 --input="$deck" --print-config
  test "$(grep -cx 'official = yes' "$dir/out")" -eq "$(grep -c official <<<"${deck##*/}")" || complain "$deck: --official"
done

# --- several ranks: only one prints ---

if have_mpi; then
  ok 2 --help
  test "$(grep -c '^Usage:' "$dir/out")" -eq 1 || complain '--help comes from several ranks'
  ok 2 4 4 --verify-only --levels-breakdown --csv="$dir/two.csv"
  test "$(grep -c '^VERIFICATION: PASSED' "$dir/out")" -eq 1 || complain 'not one verdict'
  breakdown
  diff <(cut -d, -f6,12-14,18-20 "$dir/a.csv") <(cut -d, -f6,12-14,18-20 "$dir/two.csv") ||
    complain 'different results on two ranks'

  # Two ranks of three have no cells.
  ok 3 5 1 --verify-only --device=cpu
  grep -qx '  warning   2 of 3 ranks hold no cells; use 1 rank for this grid, or 8 ranks for 64^3' "$dir/out" ||
    complain "no warning of idle ranks: $(cat "$dir/out")"
  if have_feature jansson; then
    ok 3 5 1 --verify-only --device=cpu --quiet --json=-
    tr -d ' \n' <"$dir/out" | grep -qF '"ranks":3,"idle_ranks":2,"useful_ranks":[1,8],' || complain 'JSON: idle ranks'
  fi

  # Messages of one solve, regardless of the number of timed solves. 32^3 cells, half on each rank, and
  # 16^3 on rank 0 only. Level 0: six half sweeps before and six after the correction and two residuals,
  # each with a one-face halo of 32^2 doubles; rank 1 also sends its 16 x 16 x 8 coarse cells twice, for f
  # and for the residual. Level 1: twice, rank 1's cells and a plane of ghosts for its interpolation. The
  # residual norm is the only reduction.
  for when in --verify-only '--warmup=1 --min-solves=3 --min-time=0'; do
    # shellcheck disable=SC2086 # options are words
    ok 2 4 4 $when --levels-breakdown --device=cpu --agglomerate-below=4096
    diff -b - <(sed -n '/messages of one solve/,/^$/s/^ *\([0-9].*\)/\1/p' "$dir/out") <<'EOF' ||
0 32^3 14 15.0 16 114688 131072 147456 1
1 16^3 2 2.0 2 36864 36864 36864 0
EOF
      complain "messages with $when"
  done
  if have_feature jansson; then
    ok 2 4 4 --verify-only --levels-breakdown --device=cpu --agglomerate-below=4096 --quiet --json=-
    for line in '"messages":[14,15.0,16],"message_bytes":[114688,131072.0,147456],"reductions":[1,1.0,1]' \
      '"messages":[2,2.0,2],"message_bytes":[36864,36864.0,36864],"reductions":[0,0.0,0]'; do
      tr -d ' \n' <"$dir/out" | grep -qF -- "$line" || complain "JSON: no $line"
    done
    ok 2 4 4 --verify-only --quiet --json=-
    if grep -q '"messages"' "$dir/out"; then complain 'JSON: messages without --levels-breakdown'; fi
  fi
fi

# Copies that do not know each other would write the same files: without MPI, or under another library's launcher.
if test "${HPGMG_WITH_MPI:-yes}" = no; then copies='without MPI, but launched as'; else copies='launched as'; fi
for launcher in 'OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK' 'PMI_SIZE=2 PMI_RANK' 'FLUX_JOB_SIZE=2 FLUX_TASK_RANK' \
  'SLURM_NTASKS=8 SLURM_STEP_NUM_TASKS=2 SLURM_PROCID'; do
  # shellcheck disable=SC2086 # words
  exits 2 solo env $launcher=0 "$HPGMG_FV" 4 1
  grep -q "^hpgmg-fv: error: $copies 2 processes" "$dir/err" || complain "copies with $launcher: $(cat "$dir/err")"
  # shellcheck disable=SC2086 # words
  exits 2 solo env $launcher=1 "$HPGMG_FV" 4 1
  test -z "$(cat "$dir/out" "$dir/err")" || complain "a second copy with $launcher: $(cat "$dir/out" "$dir/err")"
done
# One process in a job of several, and a launcher of one within another.
exits 0 solo env SLURM_NTASKS=8 SLURM_PROCID=0 "$HPGMG_FV" 4 1 --verify-only
exits 0 solo env PMI_SIZE=1 SLURM_STEP_NUM_TASKS=8 "$HPGMG_FV" 4 1 --verify-only

finish
