# shellcheck shell=bash disable=SC2154
# fault: bad input and failures give one line on stderr from one rank and the documented exit code,
# without a hang, on one and on two ranks. unit_params and unit_params_decks have the messages.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
# The memory limits below are those of the host.
cpu_only
# With sanitizers most errors run on one rank, to save time; --csv below also runs on two.
if test "${HPGMG_SANITIZED:-no}" = yes; then some=1; else some=$(rank_counts 2); fi

# --- usage: exit code 2 ---

expect 2 'LOG2_BOX_DIM and BOXES_PER_RANK are missing.*for example: 7 8' 1
expect 2 'LOG2_BOX_DIM=3: out of range; expected .* from 4 to 10' 1 3 8
expect 2 'unknown value \(did you mean fv4\?\); expected one of' 1 7 8 --operator=fv44
expect 2 'unknown option --smother=gsrb; did you mean --smoother\?' 1 7 8 --smother=gsrb
expect 2 '--min-time is 1, but --official requires 60' 1 4 1 --official --min-time=1
for ranks in $some; do
  expect 2 'trailing .x. after the number' "$ranks" 7 8x
done

# Grids that are too large; the message names the largest allowed size.
for line in '10 1000000000000 1' '5 1000000000000 60' '10 2000000000 7'; do
  read -r log2 boxes ranks <<<"$line"
  expect 2 'BOXES_PER_RANK.* [0-9]+$' 1 --dry-run --ranks="$ranks" "$log2" "$boxes"
  ok 1 --dry-run --ranks="$ranks" "$log2" "$(grep -oE '[0-9]+$' "$dir/err")"
done

# --- ranks with different command lines ---

if have_mpi; then
  # differs PATTERN ARG...: two ranks run with `4 1 --device=cpu` and two with ARGs.
  differs() {
    local pattern=$1
    shift
    expect 2 "$pattern" 2 4 1 --device=cpu : -n 2 "$HPGMG_FV" "$@"
  }
  differs 'the options of rank 2 differ from those of rank 0: LOG2_BOX_DIM is 5, not 4; ' 5 1 --device=cpu
  differs 'rank 2 differ .*: --verify-only is yes, not no; ' 4 1 --device=cpu --verify-only
  differs 'rank 2 differ .*: --csv is .*/x.csv, not unset; ' 4 1 --device=cpu --csv="$dir/x.csv"
  differs 'rank 2 differ .*: it requests --help, not a run; ' --help
  differs 'unknown option --wet' 4 1 --wet
  test ! -e "$dir/x.csv" || complain 'ranks with different command lines write results'
  # Command lines longer than a report line that differ only at the end.
  mapfile -t long < <(printf -- '--device=cpu\n%.0s' {1..400})
  expect 2 'the options of rank .* differ .*: --smooths is 2, not 3; ' 2 "${long[@]}" 4 1 --smooths=3 : -n 1 "$HPGMG_FV" "${long[@]}" 4 1 --smooths=2
  # The same options spelled differently; --device-id may differ.
  ok 2 4 1 --device=cpu --quiet : -n 1 "$HPGMG_FV" --device cpu -q --device-id=5 4 1
fi

# --- decks: file, line and the nearest name ---

# wrong_deck PATTERN TEXT: a deck of this text, with \n as line ends, is refused.
wrong_deck() {
  printf '%b\n' "$2" >"$dir/deck.ini"
  expect 2 "$1" 1 --input="$dir/deck.ini"
}
wrong_deck ':2: unknown key .smother.; did you mean smoother\?' 'log2-box-dim = 4\nsmother = gsrb'
wrong_deck ':1: expected .key = value.' smoother
wrong_deck 'degree \(.*deck.ini:3\) requires --smoother=chebyshev or chebyshev4$' 'log2-box-dim = 4\nboxes-per-rank = 1\ndegree = 2'
for ranks in $some; do
  expect 2 'degree .*deck.ini:3.* requires' "$ranks" --input="$dir/deck.ini"
  expect 3 "cannot open deck .*no.ini.*No such file" "$ranks" --input="$dir/no.ini"
done
expect 3 "cannot read deck .*directory" 1 --input="$dir"
expect 2 '/dev/fd/[0-9]+:2: smooths = 0: out of range' 1 --input=<(printf 'smoother = jacobi\nsmooths = 0\n')
ok 1 --input=<(printf 'operator = 7pt\nlog2-box-dim = 4\nboxes-per-rank = 1\n') --verify-only --device=cpu
if test "$(id -u)" -ne 0; then
  chmod a-r "$dir/deck.ini"
  expect 3 "cannot open deck .*Permission denied" 1 --input="$dir/deck.ini"
fi

# --- unwritable files: exit code 3, before the solves, which would take forever ---

forever=(4 1 --min-time=100000)
touch "$dir/file"
for ranks in $(rank_counts 2); do
  expect 3 "--csv=$dir/no/a.csv cannot be written: No such file" "$ranks" "${forever[@]}" \
    --csv="$dir/no/a.csv"
done
expect 3 "--csv=$dir cannot be written: Is a directory" 1 "${forever[@]}" --csv="$dir"
expect 3 'cannot be written: Not a directory' 1 "${forever[@]}" --csv="$dir/file/a.csv"
expect 3 'cannot be written: File name too long' 1 "${forever[@]}" --csv="$dir/$(printf '%0255d' 0)"
if test "$(id -u)" -ne 0; then
  chmod a-w "$dir/file"
  expect 3 'cannot be written: Permission denied' 1 "${forever[@]}" --csv="$dir/file"
fi
test ! -e "$dir/a.csv" || complain 'an unexpected file was created'

# A disk that is full at the start or at the end, and stdout on it. All other files are written, and an
# older result is kept. The file that stdout goes to must not be replaced. A link is kept even if its
# target does not exist yet.
checks=$((checks + 1)) rc=0
echo kept >"$dir/log"
solo "$HPGMG_FV" 4 1 --verify-only --csv=/dev/stdout >>"$dir/log" 2>"$dir/err" || rc=$?
if test "$rc" -ne 2 || ! grep -q 'csv=/dev/stdout is already the target of stdout or stderr' "$dir/err" || test "$(cat "$dir/log")" != kept; then
  complain "--csv=/dev/stdout: exit code $rc, $(cat "$dir/err" "$dir/log")"
fi
mkdir "$dir/far"
ln -s far/z.csv "$dir/link.csv"
ok 1 4 1 --verify-only --csv="$dir/link.csv"
if ! test -L "$dir/link.csv" || ! test -s "$dir/far/z.csv"; then complain 'a link to a missing file is not kept'; fi
ln -s round.csv "$dir/round.csv"
expect 3 'Too many levels of symbolic links' 1 4 1 --verify-only --csv="$dir/round.csv"
# Thread counts that would crash OpenMP.
if have_feature OpenMP; then
  for threads in 1000000 2147483648; do
    OMP_NUM_THREADS=$threads expect 2 'OpenMP requests .* set OMP_NUM_THREADS' 1 4 1 --verify-only
  done
  if have_mpi; then
    short=(4 1 --verify-only --quiet)
    expect 2 'OpenMP requests 1000000 threads' 2 "${short[@]}" : -n 2 env OMP_NUM_THREADS=1000000 "$HPGMG_FV" "${short[@]}"
  fi
fi
if test -c /dev/full; then
  for ranks in $some; do
    run "$ranks" 4 8 --verify-only --csv=/dev/full
    test "$rc" -eq 3 || complain "--csv=/dev/full on $ranks ranks: exit code $rc"
    grep -q 'csv=/dev/full cannot be written: No space left' "$dir/err" ||
      complain "--csv=/dev/full on $ranks ranks: $(cat "$dir/err")"
    grep -q '^VERIFICATION: PASSED' "$dir/out" || complain 'no report on a full disk'
  done
  if have_feature jansson; then
    run 1 4 8 --verify-only --json=/dev/full --csv="$dir/beside.csv"
    test "$rc" -eq 3 || complain "--json=/dev/full: exit code $rc"
    test "$(wc -l <"$dir/beside.csv")" -eq 4 || complain 'a full disk for JSON loses the CSV'
  fi
  # shellcheck disable=SC2086
  for arguments in "${forever[*]}" '4 1 --verify-only --quiet --csv=-' --help --version --print-config \
    '--dry-run 4 1'; do
    test "$arguments" != --print-config || arguments='--print-config 4 1'
    rc=0
    solo "$HPGMG_FV" $arguments >/dev/full 2>"$dir/err" || rc=$?
    test "$rc" -eq 3 || complain "'$arguments' with stdout on a full disk: exit code $rc"
    grep -q '^hpgmg-fv: error: .*cannot be written' "$dir/err" || complain "$arguments: no message"
  done
fi
if test "$(id -u)" -eq 0 && mkdir "$dir/disk" && mount -t tmpfs -o size=1m none "$dir/disk" \
  2>/dev/null; then
  at_end="umount -l '$dir/disk'"
  seq 100 >"$dir/disk/old.csv"
  cp "$dir/disk/old.csv" "$dir/old.csv"
  cat /dev/zero >"$dir/disk/filler" 2>/dev/null || true
  expect 3 'old.csv cannot be written: No space left' 1 "${forever[@]}" --csv="$dir/disk/old.csv"
  cmp -s "$dir/old.csv" "$dir/disk/old.csv" || complain 'an older result is lost on a full disk'
  test "$(ls "$dir/disk")" = "$(printf 'filler\nold.csv')" || complain 'files are left over'
fi

# --- a missing device: exit code 4 ---

for ranks in $some; do
  expect 4 '--device=cuda: (no CUDA device: .*|built without CUDA); .*use --device=cpu' "$ranks" 4 8 --device=cuda
  ok "$ranks" 4 8 --device=auto --cpu-below=auto --verify-only
done

# An unusable device gives one error line, too, and the ranks exit without an abort.
if test -x "$abs_top_builddir/tests/mocks/hpgmg-fv-busy-device"; then
  program=$HPGMG_FV HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-busy-device
  for ranks in $some; do
    expect 4 '--device=cuda: cannot use CUDA device 0: busy' "$ranks" 4 8 --device=cuda
    if grep -q MPI_ABORT "$dir"/all 2>/dev/null; then complain 'ranks were ended'; fi
    ok "$ranks" 4 8 --verify-only
    grep -q '^  device    none: cannot use CUDA device 0: busy' "$dir/out" || complain 'the report does not say why there is no device'
    FAULT=managed expect 4 '--memory=unified: this device lacks concurrent managed access' "$ranks" 4 8 --memory=unified
  done
  HPGMG_FV=$program
fi

# --- a rank that fails while others may wait for it: it waits for them, or aborts all with exit code 4 ---

if have_mpi; then
  late_rank=$abs_top_builddir/tests/mocks/late_rank
  HPGMG_FV=$late_rank ok 2 1e9 comes
  HPGMG_FV=$late_rank expect 4 'others wait for this one \[rank 1\]' 2 0.1 stays
fi

# --- an MPI library without thread support: exit code 5 ---

single=$abs_top_builddir/tests/mocks/hpgmg-fv-mpi-single
for ranks in $some; do
  test -x "$single" || continue
  HPGMG_FV=$single expect 5 'this MPI library lacks MPI_THREAD_FUNNELED' "$ranks" 4 8
done

# --- a size beyond memory: exit code 4, with the needed and free memory and the sizes that fit ---

# fits RANKS 'LOG2 BOXES' BYTES: does a dry run of this size need at most BYTES on one host? 0: yes; 1: no; 2: equal
# within the rounding to 3 decimals.
fits() {
  # shellcheck disable=SC2086
  ok 1 --dry-run --ranks="$1" $2
  awk -v need="$(in_bytes "$(sed -n 's/^  in all ranks: about \([0-9.]* [kMGTPE]*B\),.*/\1/p' "$dir/out")")" -v most="$3" '
    BEGIN { exit need <= most * 0.999 ? 0 : need <= most * 1.001 ? 2 : 1 }'
}
# next_boxes LOG2 N: boxes per rank of the next grid with more than N cells per side.
next_boxes() {
  awk -v w="$1" -v cells="$2" -v r="$ranks" 'BEGIN {
    n = int(cells / 2 ^ w) + 1
    for (odd = n; ; odd = ++n) { while (odd % 2 == 0) odd /= 2; if (odd <= 11) break }
    printf "%d\n", int((n ^ 3 + r - 1) / r) }'
}
too_large='needs at least [0-9.]+ [GTPE]B, but only [0-9.]+ [GT]B are free; largest size that fits: '
for ranks in $some; do
  for size in '10 1000' '4 100000000' '7 1000000'; do
    # shellcheck disable=SC2086
    expect 4 "$too_large" "$ranks" $size
    line=$(cat "$dir/err")
    room=$(in_bytes "$(sed 's/.* but only \([0-9.]* [GT]B\) are free.*/\1/' "$dir/err")")
    sizes=$(grep -oE "'[0-9]+ [0-9]+'" <<<"$line" | tr -d "'")
    n=$(sed 's/.*largest size that fits: [^(]*(\([0-9]*\)^3 cells).*/\1/' "$dir/err")
    while read -r log2 boxes; do
      fits "$ranks" "$log2 $boxes" "$room" || test $? -eq 2 || complain "$line: $log2 $boxes does not fit"
      # The next larger cube of these boxes must not fit.
      next=$(next_boxes "$log2" "$(awk -v b="$boxes" -v r="$ranks" -v w="$log2" 'BEGIN {
        for (n = 1; (n + 1) ^ 3 <= b * r; n++); print n * 2 ^ w }')")
      if fits "$ranks" "$log2 $next" "$room"; then complain "$line: $log2 $next fits as well"; fi
    done <<<"$sizes"
    # Nor must the next larger grid of any other boxes. (One box width is enough for slow sanitized builds.)
    for log2 in 4 5 6 7 8 9 10; do
      if test "${HPGMG_SANITIZED:-no}" = yes && test "$log2" -ne 5; then continue; fi
      next=$(next_boxes "$log2" "$n")
      if fits "$ranks" "$log2 $next" "$room"; then complain "$line: $log2 $next fits as well"; fi
    done
  done
done
# --verbose adds the source location.
run 1 10 1000 --verbose
grep -qE 'error: .* \[memory_check\.c:[0-9]+\]$' "$dir/err" || complain "--verbose: no source location: $(cat "$dir/err")"
# A memory limit of the process counts like one of the host; the launcher is not limited. It leaves room
# for address space that libraries reserve, but not for sanitizers and the CUDA runtime.
if test "${HPGMG_SANITIZED:-no}" = no; then
  printf '#!/bin/sh\nulimit -v 4000000\nexec "%s" "$@"\n' "$HPGMG_FV" >"$dir/limited"
  chmod +x "$dir/limited"
  HPGMG_FV=$dir/limited
  for ranks in $some; do
    # 6 GB per rank
    expect 4 "$too_large" "$ranks" 7 64 --device=cpu
  done
fi

finish
