# shellcheck shell=bash disable=SC2154,SC2317
# health: hpgmg-health compares devices bit by bit with known checksums, and by speed with each other and with a baseline.
# A flipped bit is wrong, a slow rank is slow, a rank that hangs or a lost GPU is missing; each is named. The program
# (tests/mocks/health.c) has a clock that advances by calls, so that speeds are the same on any machine.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
jansson=no
! have_feature jansson || jansson=yes
real=$(dirname "$HPGMG_FV")/hpgmg-health
mock=$abs_top_builddir/tests/mocks/hpgmg-health
HPGMG_FV=$real program_name=hpgmg-health
quick=(--min-time=0 --min-solves=1 --warmup=0)
two=1
if have_mpi; then two=2; fi

# verdict ROW PATTERN: the report's line of a rank, or - of a lost GPU, must end with the verdict.
verdict() {
  grep -qE "^ *$1 .*  $2\$" "$dir/out" || complain "no line '$1 ... $2' in: $(cat "$dir/out")"
}

# named PATTERN...: these error lines, and no other.
named() {
  local pattern
  test "$(grep -c '^hpgmg-health: error: ' "$dir/err")" -eq $# || complain "not $# error lines: $(cat "$dir/err")"
  for pattern; do
    grep -qE "^hpgmg-health: error: health: $pattern\$" "$dir/err" || complain "no error '$pattern': $(cat "$dir/err")"
  done
}

# fails_on RANKS ARG...: a check that must exit with 1.
fails_on() {
  checks=$((checks + 1))
  run "$@"
  test "$rc" -eq 1 || complain "$*: exit code $rc, not 1: $(cat "$dir/err")"
}

# hang RANK POINT ARG...: a check in which a rank hangs. The others wait until it does so, not for a time.
hang() {
  rm -f "$dir/hung"
  MOCK_HANG_FILE=$dir/hung MOCK_HANG=$1 MOCK_HANG_AT=$2 fails_on 2 "${quick[@]}" "${@:3}"
  test -e "$dir/hung" || complain "rank $1 did not hang at $2"
}

# --- known results ---

# check-result knows the same checksums. The real clock decides nothing here: one device has no median.
ok 1 "${quick[@]}"
verdict 0 ok
test "$(tail -n 1 "$dir/out")" = 'HEALTH: PASSED: 1 ok, 0 slow, 0 wrong, 0 missing' || complain 'last line'
for n in 64 128 256; do
  sum=$(grep "^fv2,gsrb,double,$n," "$abs_top_srcdir/scripts/checks/known-results.csv" | cut -d, -f13)
  grep -q "{$n, 0x$sum}" "$abs_top_srcdir/health/solve.c" || complain "known checksum of $n^3 is not $sum"
done

# --- several devices ---

HPGMG_FV=$mock
export HPGMG_NVML=$dir/none
ok "$two" "${quick[@]}"
grep -q ' 32^3 and 64^3 cells' "$dir/out" || complain "problems: $(cat "$dir/out")"
verdict 0 ok
MOCK_BYTES=300000000 ok 1 "${quick[@]}"
grep -q ' 64^3 and 128^3 cells' "$dir/out" || complain 'not the largest problems that fit'
MOCK_BYTES=100000000 expect 4 'too little memory for 64\^3 cells' 1
ok 1
ok 1 --quiet "${quick[@]}"
test ! -s "$dir/out" || complain '--quiet prints a report'

MOCK_FLIP=0 fails_on 1 "${quick[@]}"
named 'rank 0 on .* is wrong: [0-9]*\^3: checksum [0-9a-f]{16} instead of [0-9a-f]{16}, in 3 of 3 solutions; .* 1 of 1'
# A signal ends the check with a report, and a check whose clock stands still with nothing else.
# MPI libraries may catch SIGTERM before the program does, but not SIGPIPE, which it catches last.
catches() { # PROCESS: is it the program, and does it catch signals?
  test "/proc/$1/exe" -ef "$mock" || return
  test $((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status") >> 12 & 1)) -eq 1
}
json=()
test $jansson = no || json=(--json="$dir/ended.json")
MOCK_TICK=0 "$mock" --device=cpu "${json[@]}" >"$dir/out" 2>"$dir/err" &
job=$!
await "$job" catches "$job"
kill -TERM "$job"
ended 1 'hpgmg-health, SIGTERM'
verdict 0 'missing: no result: signal 15 \(Terminated\) ended the check'
named 'rank 0 on .* is missing: no result: signal 15 \(Terminated\) ended the check'
test ${#json[@]} -eq 0 || test "$(tail -n 1 "$dir/ended.json" | grep -c '"passed":false')" -eq 1 || complain 'no JSON'
MOCK_FAIL=0 fails_on 1 "${quick[@]}"
named 'rank 0 on .* is missing: no result: the device is lost'
if have_mpi; then
  MOCK_FLIP=1 fails_on 2 "${quick[@]}"
  verdict 0 ok
  verdict 1 'wrong: 32\^3: checksum .*: 1 of 2'
  named 'rank 1 on .* is wrong: .*'
  MOCK_SLOW=1 fails_on 2 "${quick[@]}"
  verdict 0 ok
  verdict 1 'slow: .* 50.0 % below the median'
  named 'rank 1 on .* is slow: .*'
  MOCK_SLOW=1 ok 2 --slow=60 "${quick[@]}"
  for at in open memory solve link; do
    hang 1 "$at" --timeout=20
    verdict "1 +[^ ]+ +- +-" 'missing: no answer within 20 s'
    named "rank 1 on $(uname -n) is missing: no answer within 20 s"
  done
  # After a signal, rank 0 does not wait for a rank that hangs.
  cat >"$dir/rank" <<CODE
#!/usr/bin/env bash
rank=\${OMPI_COMM_WORLD_RANK-\${PMI_RANK-}}
echo \$\$ >"$dir/rank.tmp.\$rank" && mv "$dir/rank.tmp.\$rank" "$dir/rank.\$rank"
exec "$mock" "\$@"
CODE
  chmod +x "$dir/rank"
  rm -f "$dir/hung"
  export MOCK_HANG_FILE=$dir/hung MOCK_HANG=1
  mpi_run 2 "$dir/rank" --timeout=1e5 "${quick[@]}" >"$dir/out" 2>"$dir/err" &
  job=$!
  await "$job" test -e "$dir/hung"
  if test -e "$dir/rank.0"; then # the MPI library numbers ranks in the environment
    kill -TERM "$(<"$dir/rank.0")"
    ended 1 'a rank hangs, SIGTERM'
    verdict "1 +[^ ]+ +- +-" 'missing: no answer before a signal ended the check'
  fi
  unset MOCK_HANG_FILE MOCK_HANG
  hang 0 solve --quiet
  named 'rank 0 is missing: no answer within 180 s \[rank 1\]'
fi

# --- JSON and baselines ---

if test $jansson = no; then
  expect 2 '--baseline=a.json requires a build with jansson' 1 --baseline=a.json
  finish
fi
base=$dir/base.json
ok "$two" "${quick[@]}" --json="$base"
test "$(wc -l <"$base")" -eq $((two + 1)) || complain "not one line per device and a summary: $(cat "$base")"
while IFS= read -r line; do
  echo "$line" >"$dir/line.json"
  is_json "$dir/line.json"
done <"$base"
grep -q '^{"program":"hpgmg-fv",.*"passed":true,"devices":'"$two"',.*"baseline":null}$' "$base" || complain 'no summary'
ok "$two" --baseline="$base" "${quick[@]}"
verdict 0 ok
# All devices are half as fast as before.
MOCK_TICK=0.02 fails_on "$two" --baseline="$base" "${quick[@]}" --json=-
grep -q '"verdict":"slow","reason":".* 50.0 % below the baseline"' "$dir/out" || complain 'not slow against the baseline'
# Values of an unknown model are not compared.
sed 's/"model":"[^"]*"/"model":"other"/' "$base" >"$dir/other.json"
checks=$((checks + 1))
MOCK_TICK=0.02 run "$two" --baseline="$dir/other.json" "${quick[@]}"
test "$rc" -eq 0 || complain "other model: exit code $rc"
grep -q "^hpgmg-health: warning: health: the baseline has no device '" "$dir/err" || complain 'no warning of another model'

expect 3 'cannot be read' 1 --baseline="$dir/nothing"
for case in 'not JSON:{"program":' 'not a line of a health check:[]' 'not a line of a health check:{"program":"other"}' \
  'not a line of a health check:{"program":"hpgmg-fv","schema":1}' \
  'another version of the format:{"program":"hpgmg-fv","health":99}' 'no verdict:{"program":"hpgmg-fv","health":2}' \
  'another version of the format:{"program":"hpgmg-fv","health":1}' \
  'a key is missing or has another type:{"program":"hpgmg-fv","health":2,"verdict":"ok"}'; do
  { head -n 1 "$base" && printf '%s\n' "${case#*:}"; } >"$dir/bad.json"
  expect 3 "bad.json, line 2: ${case%%:*}; use a file" 1 --baseline="$dir/bad.json"
done
sed 's/"verdict":"ok"/"verdict":"slow"/' "$base" >"$dir/slow.json"
expect 3 'slow.json has no device with the verdict ok' 1 --baseline="$dir/slow.json"
sed 's/"value":[0-9.e+]*/"value":-1/' "$base" >"$dir/negative.json"
expect 3 'negative.json, line 1: a key is missing' 1 --baseline="$dir/negative.json"
sed 's/,"peer":.*/}/' "$base" >"$dir/peer.json"
expect 3 'peer.json, line 1: a key is missing' 1 --baseline="$dir/peer.json"
: >"$dir/empty.json"
expect 3 'empty.json has no device' 1 --baseline="$dir/empty.json"

# --- GPUs ---

export HPGMG_NVML=$abs_top_builddir/tests/mocks/nvml.so NVML_FOLDER=$dir/nvml NVML_STEP=600000
mkdir "$NVML_FOLDER"
gpu=GPU-00000000-0000-0000-0000-00000000000
for n in 1 2; do echo 1000 >"$NVML_FOLDER/$gpu$n"; done
MOCK_GPUS=0 ok 1 "${quick[@]}" --json="$dir/gpu.json"
verdict 0 ok
grep -qE "^ *0 .* ${gpu}1 +00000000:01:00\.0 .* 1500 " "$dir/out" || complain "GPU: $(cat "$dir/out")"
grep -q '"joules_per_solve":{"value":600' "$dir/gpu.json" || complain "joules: $(cat "$dir/gpu.json")"
sed "s/${gpu}1/${gpu}2/" "$dir/gpu.json" >>"$dir/gpu.json.2"
cat "$dir/gpu.json.2" >>"$dir/gpu.json"
MOCK_GPUS=0 fails_on 1 --baseline="$dir/gpu.json" "${quick[@]}"
verdict 0 ok
verdict - 'missing: it is in the baseline, but no rank has it'
named "a GPU of .* \\(${gpu}2, 00000000:01:00.0\\) is missing: it is in the baseline, but no rank has it"
if have_mpi; then
  MOCK_GPUS=0,0 fails_on 2 "${quick[@]}"
  verdict 1 'missing: has the GPU of rank 0 too: .*'
fi
NVML_FAIL=nvmlDeviceGetClockInfo MOCK_GPUS=0 ok 1 "${quick[@]}"

# --- links between GPUs ---

# Stores and messages have the tick of the clock as their time.
gpu_pair() { MOCK_PEERS=$dir/peers MOCK_GPUS=0,1 "$@" "${quick[@]}"; }
if have_mpi; then
  mkdir "$dir/peers"
  pairs=$dir/pairs.json
  gpu_pair ok 2 --json="$pairs"
  verdict '0 .* 53.69 +1.678' ok
  verdict '1 .* 53.69 +1.678' ok
  grep -q "^{.*\"rank\":1.*\"peer\":{\"rank\":0,.*\"uuid\":\"${gpu}1\",.*\"wrong_stored_words\":0," "$pairs" ||
    complain "peer: $(cat "$pairs")"
  MOCK_FLIP_STORE=1 gpu_pair fails_on 2
  verdict 0 ok
  named "rank 1 on .* is wrong: stores from rank 0 \(${gpu}1\) to rank 1 \(${gpu}2\): 6 of [0-9]* words differ, .*"
  MOCK_FLIP_MESSAGE=0 gpu_pair fails_on 2
  named "rank 0 on .* is wrong: messages from rank 1 \(${gpu}2\) to rank 0 \(${gpu}1\): 6 of [0-9]* words differ, .*"
  MOCK_FAIL_STORE=0 gpu_pair fails_on 2
  named 'rank 0 on .* is missing: no result: the link is lost \(storing into the GPU of rank 1\)'
  MOCK_PEERS_CLOSED='not joined' gpu_pair ok 2
  verdict '1 .* - +1.678' ok
  grep -qx '  peer      2 links not measured (rank 1 to 0): not joined' "$dir/out" || complain 'no reason for no link'
  # The link of one pair was twice as fast before; no other figure was.
  sed '2s/"peer_link_bytes_per_s":{"value":[^,]*/"peer_link_bytes_per_s":{"value":2e11/' "$pairs" >"$dir/faster.json"
  export MOCK_PEERS=$dir/peers
  MOCK_GPUS=0,1 fails_on 2 --baseline="$dir/faster.json" "${quick[@]}"
  verdict 0 ok
  named "rank 1 on .* is slow: the GPU link from rank 0 \(.*1\) to rank 1 \(.*2\) 73.2 % below the baseline;.*"
  MOCK_GPUS=0,1 hang 1 store --timeout=20
  named "rank 1 on .* \(${gpu}2, .*\) is missing: no answer within 20 s"
  unset MOCK_PEERS
fi

# --- the script for a prolog ---

script=$abs_top_srcdir/scripts/health-check.sh
host() { exits "$1" bash "$script" -n "$two" -p "$mock" "${@:2}" --device=cpu "${quick[@]}"; }
unset MOCK_GPUS
host 0
test ! -s "$dir/out" || complain "output of a good check: $(cat "$dir/out")"
test ! -s "$dir/err" || complain "errors of a good check: $(cat "$dir/err")"
host 0 -b "$base"
MOCK_FLIP=0 host 1
grep -qx 'hpgmg-health: error: health: rank 0 on .* is wrong: .*' "$dir/err" || complain "script: $(cat "$dir/err")"
test "$(wc -l <"$dir/err")" -eq 1 || complain "script: $(cat "$dir/err")"
# A signal to the script ends the check, and so does the death of the script.
cat >"$dir/check" <<CODE
#!/usr/bin/env bash
echo \$\$ >"$dir/check.tmp" && mv "$dir/check.tmp" "$dir/check.pid"
exec "$mock" "\$@"
CODE
chmod +x "$dir/check"
script_ends() { # SIGNAL: send it to a script whose check would take for ever
  rm -f "$dir/check.pid"
  MOCK_TICK=0 bash "$script" -n 1 -p "$dir/check" --device=cpu >"$dir/out" 2>"$dir/err" &
  job=$!
  await "$job" test -e "$dir/check.pid"
  program=$(<"$dir/check.pid")
  await "$job" catches "$program"
  kill "-$1" "$job"
  while grep -q '^State:.[^Z]' "/proc/$program/status" 2>/dev/null; do sleep 0.1; done
}
script_ends TERM
ended 1 'health-check.sh, SIGTERM'
grep -qx 'health-check: error: a signal ended the check' "$dir/err" || complain "script, SIGTERM: $(cat "$dir/err")"
if setpriv --help 2>/dev/null | grep -q -- --pdeathsig; then
  script_ends KILL
  ended 137 'health-check.sh, SIGKILL'
fi
exits 2 bash "$script" -n x -p "$mock"
exits 2 bash "$script" -n
exits 2 bash "$script" -n 1 -p "$dir/nothing"
exits 0 bash "$script" -h

# --- options ---

HPGMG_FV=$real
exits 0 solo "$real" --help
says 'number above 0 and below 100; default: 4'
for option in --operator=fv4 6 --health -x --min-tim=1; do
  expect 2 "unknown option $option; hpgmg-health --help lists all" 1 "$option"
done
expect 2 '--slow=100: out of range; expected number above 0 and below 100' "$two" --slow=100
expect 2 '--timeout=: no value' 1 --timeout --quiet
if have_mpi; then
  # Only --device-id may differ between ranks.
  cat >"$dir/differ" <<CODE
#!/usr/bin/env bash
exec "$real" --device=auto "\$1=\${OMPI_COMM_WORLD_RANK-\${PMI_RANK-}}" --help
CODE
  chmod +x "$dir/differ"
  HPGMG_FV=$dir/differ
  expect 2 'the options of rank 1 differ from those of rank 0; .*' 2 --warmup
  ok 2 --device-id
  HPGMG_FV=$real
fi
expect 2 '--device-id requires --device=auto, cuda or cuda-simple' 1 --device-id=0 --device=cpu
expect 2 '--json would overwrite .a.json., which --baseline reads' 1 --baseline=a.json --json=./a.json
finish
