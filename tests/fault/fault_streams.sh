# shellcheck shell=bash disable=SC2016,SC2154,SC2317
# fault_streams: standard streams, FIFOs, signals and the environment. Closed descriptors are opened on /dev/null. A
# signal to any rank ends the wait for the reader of a FIFO. A pipe without a reader, SIGHUP and SIGPIPE end the run after
# the current cycle, with reports and dump. File names that are invalid in XML are refused. Threads that cannot start are
# exit code 4.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
some=$(rank_counts 2)
program=$HPGMG_FV
bench=$(dirname "$HPGMG_FV")/hpgmg-bench
once=(4 1 --verify-only)
forever=(4 8 --warmup=0 --min-time=100000)

# wrapper NAME LINE...: create a script of these lines; in it, "$@" is the program with its arguments.
wrapper() {
  local name=$1
  shift
  printf '%s\n' '#!/usr/bin/env bash' "set -- '$program' \"\$@\"" "$@" >"$dir/$name"
  chmod +x "$dir/$name"
}

# check_files WHAT: the run's --csv and --dump files are complete. Removes them.
check_files() {
  local cells
  test "$(wc -l <"$dir/x.csv")" -ge 1 || complain "$1: no CSV"
  if have_feature HDF5; then
    run 1 --restart="$dir/x.hdf" --verify-only --quiet --csv="$dir/restarted.csv"
    cells=$(awk -F, 'NR == 2 { print $6 }' "$dir/restarted.csv" 2>/dev/null || true)
    test -n "$cells" || complain "$1: the dump cannot be read: $(cat "$dir/err")"
  fi
  rm -f "$dir"/x.* "$dir/restarted.csv"
}
outputs=("--csv=$dir/x.csv")
if have_feature HDF5; then outputs+=("--dump=$dir/x.hdf"); fi

# --- closed descriptors ---

wrapper no_stdin 'exec "$@" <&-'
wrapper no_stdout 'exec "$@" >&-'
wrapper no_stderr 'exec "$@" 2>&-'
wrapper no_streams 'exec "$@" <&- >&- 2>&-'
for closed in no_stdin no_stdout no_stderr no_streams; do
  for ranks in $some; do
    if test "$ranks" -gt 1 && test $closed != no_streams; then continue; fi
    HPGMG_FV=$dir/$closed ok "$ranks" "${once[@]}" "${outputs[@]}"
    check_files "$closed on $ranks"
  done
done
for ranks in $some; do
  HPGMG_FV=$dir/no_stdin expect 2 'LOG2_BOX_DIM and BOXES_PER_RANK are missing' "$ranks" --input=/dev/stdin
done
checks=$((checks + 1))
solo bash -c 'exec "$0" "$@" <&- >&- 2>&-' "$bench" copy --mib=1 --quick --csv="$dir/b.csv" ||
  complain 'hpgmg-bench with closed descriptors'
grep -q '^copy,' "$dir/b.csv" || complain 'hpgmg-bench with closed descriptors: no CSV'

# --- stdout or stderr is a pipe without a reader ---

# The reader exits before the program starts.
unread='f=$(mktemp -u "${0%/*}/unread.XXXXXX") && mkfifo "$f" && { : <"$f" & } && exec 9>"$f" && wait'
wrapper unread_stdout "$unread" 'exec "$@" >&9 9>&-'
wrapper unread_stderr "$unread" 'exec "$@" 2>&9 9>&-'
for ranks in $some; do
  HPGMG_FV=$dir/unread_stdout expect 3 'stdout cannot be written: Broken pipe' "$ranks" "${forever[@]}" "${outputs[@]}"
  check_files "nobody reads stdout of $ranks"
done
HPGMG_FV=$dir/unread_stderr run 1 "${forever[@]}" "${outputs[@]}" --verbose
checks=$((checks + 1))
test "$rc" -eq 1 || complain "stderr without a reader: exit code $rc"
grep -q '^VERIFICATION: FAILED (interrupted' "$dir/out" || complain "stderr without a reader: $(tail -n 1 "$dir/out")"
check_files 'stderr without a reader'
# Only runs catch SIGPIPE: --help | head ends silently.
checks=$((checks + 1)) rc=0
solo "$dir/unread_stdout" --help 2>"$dir/err" || rc=$?
if test "$rc" -ne 141 || test -s "$dir/err"; then complain "--help without a reader: exit code $rc, $(cat "$dir/err")"; fi
wrapper unread_bench "$unread" "shift; exec '$bench'"' "$@" >&9 9>&-'
fails hpgmg-bench 3 'stdout cannot be written: Broken pipe' solo "$dir/unread_bench" copy stride --mib=1 --quick \
  --csv="$dir/b.csv"
grep -q '^copy,' "$dir/b.csv" || complain 'hpgmg-bench without a reader: no CSV'
# The pipe of a finished command has no name; the program does not wait for a reader.
exec 9> >(:)
wait "$!"
checks=$((checks + 1))
run 1 "${once[@]}" --csv=/dev/fd/9
exec 9>&-
test "$rc" -eq 3 || complain "a pipe that nobody can read: exit code $rc"
grep -q 'csv=/dev/fd/9 cannot be written: Broken pipe' "$dir/err" || complain "a pipe that nobody can read: $(cat "$dir/err")"

# A file that cannot be written does not prevent the others.
if test -c /dev/full && have_feature HDF5; then
  checks=$((checks + 1))
  run 1 "${once[@]}" --csv=/dev/full --dump="$dir/x.hdf"
  test "$rc" -eq 3 || complain "--csv=/dev/full: exit code $rc"
  cp /dev/null "$dir/x.csv"
  echo >"$dir/x.csv"
  check_files '--csv=/dev/full beside a dump'
fi

# --- FIFOs ---

# begin RANKS ARG...: start the program in the background, with stderr in $dir/job.err. Signals that this shell ignores
# have their default action. $dir/ranks has one line per rank, with its process id.
begin() {
  local ranks=$1 start=solo
  shift
  test "$ranks" -eq 1 || start="mpi_run $ranks"
  rm -f "$dir/ranks" "$dir/job.out" "$dir/job.err"
  $start bash -c 'echo $$ >>"$0/ranks"; exec env '"$signals"' "$@"' "$dir" "$program" "$@" \
    >"$dir/job.out" 2>"$dir/job.err" &
  job=$!
}
signals='--default-signal=HUP,INT,PIPE'

# await_line FILE TEXT: wait until the job has written TEXT.
await_line() { await "$job" grep -qsF -- "$2" "$1" || cat "$dir/job.err"; }

mkfifo "$dir/fifo"
option=--csv=$dir/fifo
waiting='is a FIFO without a reader'
# A reader that opens the FIFO before the program does, and one that opens it later.
for ranks in $some; do
  cat "$dir/fifo" >"$dir/got" &
  begin "$ranks" "${once[@]}" "$option"
  ended 0 "a FIFO on $ranks" "$dir/job.err"
  wait
  test "$(wc -l <"$dir/got")" -eq 4 || complain "incomplete output through a FIFO: $(cat "$dir/got")"
  begin "$ranks" "${once[@]}" "$option"
  await_line "$dir/job.err" "$waiting"
  cat "$dir/fifo" >"$dir/got"
  ended 0 "a FIFO on $ranks that is read late" "$dir/job.err"
  test "$(wc -l <"$dir/got")" -eq 4 || complain "incomplete output to a late reader: $(cat "$dir/got")"
done
# A signal to any rank ends the wait, and the dump is written.
each='HUP:1:1 INT:1:1 TERM:1:1'
if have_mpi; then each="$each TERM:1:2 HUP:2:2"; fi
for case in $each; do
  IFS=: read -r signal rank ranks <<<"$case"
  begin "$ranks" "${once[@]}" "${outputs[@]}" "$option"
  await_line "$dir/job.err" "$waiting"
  kill -"$signal" "$(sed -n "${rank}p" "$dir/ranks")"
  ended 1 "SIG$signal to rank $rank of $ranks while it waits for a reader" "$dir/job.err"
  grep -q "^hpgmg-fv: error: --csv=.*fifo is not written: the FIFO had no reader when a signal arrived" "$dir/job.err" ||
    complain "SIG$signal while it waits: $(cat "$dir/job.err")"
  grep -q '^VERIFICATION: PASSED' "$dir/job.out" || complain "SIG$signal while it waits: no report"
  echo >"$dir/x.csv"
  check_files "SIG$signal while it waits for a reader"
done
# A signal ignored by nohup(1) does not end it.
signals='--ignore-signal=HUP'
begin 1 "${once[@]}" "$option"
await_line "$dir/job.err" "$waiting"
kill -HUP "$(cat "$dir/ranks")"
cat "$dir/fifo" >"$dir/got"
ended 0 'SIGHUP that is ignored' "$dir/job.err"
signals='--default-signal=HUP,INT,PIPE'
# A reader that stops after the first byte; the pipe buffer, made as small as it can be, holds some more.
if have_feature jansson && command -v "$PYTHON" >/dev/null; then
  exec 9<>"$dir/fifo"
  "$PYTHON" -c 'import fcntl; fcntl.fcntl(9, 1031, 4096)' # F_SETPIPE_SZ
  begin 1 4 1 --verify-only --quiet --rtol=1e-300 --cycle=v --smoother=jacobi --omega=0.1 --json="$dir/fifo"
  read -r -N 1 -u 9 _
  kill -TERM "$(cat "$dir/ranks")"
  ended 1 'a reader that stops reading' "$dir/job.err"
  grep -q 'fifo is not written: its reader had stopped reading when a signal arrived' "$dir/job.err" ||
    complain "a reader that stops reading: $(cat "$dir/job.err")"
  exec 9>&-
  begin 1 "${once[@]}" --dry-run --json="$dir/fifo"
  await_line "$dir/job.err" "$waiting"
  kill -TERM "$(cat "$dir/ranks")"
  ended 143 'SIGTERM while a dry run waits for a reader' "$dir/job.err"
fi
# A deck from a FIFO that stays incomplete.
exec 9<>"$dir/fifo"
begin 1 --input="$dir/fifo"
echo '# nothing yet' >&9
until test -s "$dir/ranks"; do sleep 0.05; done
kill -TERM "$(cat "$dir/ranks")"
ended 143 'SIGTERM while the program waits for a deck' "$dir/job.err"
exec 9>&-

# --- signals ---

for case in HUP:1 PIPE:1 $(if have_mpi; then echo HUP:2 PIPE:2; fi); do
  IFS=: read -r signal ranks <<<"$case"
  begin "$ranks" "${forever[@]}" "${outputs[@]}"
  await_line "$dir/job.out" 'set-up took'
  pid=$(sed -n "${ranks}p" "$dir/ranks")
  kill -"$signal" "$pid"
  # Each write to a broken pipe sends another SIGPIPE.
  if test "$signal" = PIPE; then kill -PIPE "$pid" 2>/dev/null || true; fi
  ended 1 "SIG$signal to rank $ranks of $ranks" "$dir/job.err"
  grep -q '^VERIFICATION: FAILED (interrupted' "$dir/job.out" || complain "SIG$signal: $(tail -n 1 "$dir/job.out")"
  check_files "SIG$signal"
done

# --- names ---

# Invalid UTF-8: a lone 0xff, an overlong slash, a surrogate, an incomplete character. And U+FFFF.
if have_feature HDF5; then
  for name in $'a\xff' $'\xc0\xaf' $'\xed\xa0\x80' $'half\xe2\x82' $'\xef\xbf\xbf'; do
    expect 2 'of the file name is not printable UTF-8, as the XML of FILE.xdmf requires' 1 "${once[@]}" --dump="$dir/$name.hdf"
  done
  ln -s $'two\nlines.hdf' "$dir/link.hdf"
  expect 2 'byte 0x0a of the file name' 1 "${once[@]}" --dump="$dir/link.hdf"
  # The directory is not part of the XML, and special characters are escaped.
  mkdir "$dir/"$'f\xff'
  name=$'a&<>"\'\xc3\xa9\xf0\x9f\x98\x80.hdf'
  ok 1 "${once[@]}" --dump="$dir/"$'f\xff'"/$name" --dump-fields=u
  if command -v python3 >/dev/null; then
    python3 - "$dir/"$'f\xff'"/$name.xdmf" "$name" <<'PYTHON' || complain 'the XDMF file is not XML'
import os, sys, xml.dom.minidom
items = xml.dom.minidom.parse(os.fsencode(sys.argv[1]).decode("utf-8", "surrogateescape")).getElementsByTagName("DataItem")
found = [item.firstChild.data for item in items if item.getAttribute("Format") == "HDF"]
assert found == [os.fsencode(sys.argv[2]).decode("utf-8") + ":/VTKHDF/CellData/u"], found
PYTHON
  fi
fi
if have_feature jansson; then
  ok 1 "${once[@]}" --quiet --json="$dir/j.json" --csv="$dir/"$'c\xff\xc3\xa9'
  is_json "$dir/j.json"
  ok 1 "${once[@]}" --quiet --dry-run --json="$dir/"$'j\xff.json'
  is_json "$dir/"$'j\xff.json'
fi

# --- threads that cannot be started ---

if have_feature OpenMP; then
  # 10^15 bytes exceed the address space.
  for setting in OMP_STACKSIZE=1000000G 'GOMP_STACKSIZE= 1000000 g ' OMP_STACKSIZE=1000000000000 OMP_STACKSIZE=1000000000000000B; do
    export "${setting?}"
    OMP_NUM_THREADS=2 expect 4 "$setting: cannot start 2 threads with this stack size" 1 "${once[@]}"
    OMP_NUM_THREADS=1 ok 1 4 1 --verify-only
    unset "${setting%%=*}"
  done
  if have_mpi; then
    OMP_NUM_THREADS=2 expect 4 'OMP_STACKSIZE=1000000G: .*rank 2' 2 "${once[@]}" : \
      -n 1 env OMP_STACKSIZE=1000000G "$program" "${once[@]}"
  fi
  OMP_NUM_THREADS=2 OMP_STACKSIZE=1000000G fails hpgmg-bench 4 'OMP_STACKSIZE=1000000G: cannot start 2 threads' \
    solo "$bench" copy --mib=1 --quick --quiet
fi

finish
