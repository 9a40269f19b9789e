# shellcheck shell=bash disable=SC2154
# energy: --energy reads counters before and after the timed solves at h, and reports what they say. A counter that is
# missing, unreadable, backwards or not usable in this window gives one warning and no number. The program
# (tests/mocks/energy.c) has a mock clock, a mock powercap tree and a mock NVML, all of which advance by calls.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
real=$HPGMG_FV
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-energy
export HPGMG_POWERCAP=$dir/powercap HPGMG_NVML=$abs_top_builddir/tests/mocks/nvml.so
export NVML_FOLDER=$dir/nvml NVML_STEP=60000 MOCK_GPUS=0,1
quick=(4 1 --device=cpu --min-solves=2 --min-time=0)

# domain FOLDER NAME: start a RAPL counter at $start; each read adds $step.
start=1000000 step=20000000 range=10000000000000
domain() {
  mkdir -p "$HPGMG_POWERCAP/$1"
  echo "$2" >"$HPGMG_POWERCAP/$1/name"
  echo "$start" >"$HPGMG_POWERCAP/$1/energy_uj"
  echo "$step" >"$HPGMG_POWERCAP/$1/step"
  echo "$range" >"$HPGMG_POWERCAP/$1/max_energy_range_uj"
}

# machine: two packages of 20 J and 22 J per read, a node of 100 J, two GPUs of 60 J.
gpu=$NVML_FOLDER/GPU-00000000-0000-0000-0000-000000000001
machine() {
  rm -rf "$HPGMG_POWERCAP" "$NVML_FOLDER"
  mkdir "$NVML_FOLDER"
  domain intel-rapl:0 package-0
  step=22000000 domain intel-rapl:1 package-1
  step=100000000 domain intel-rapl:2 psys
  echo 5000 >"$gpu"
  echo 7000 >"${gpu%1}2"
}

# column FILE NAME: the value at h in a CSV report.
column() {
  awk -F, -v name="$2" 'NR == 1 { for (c = 1; c <= NF; c++) if ($c == name) at = c } NR == 2 { print at ? $at : "none" }' "$1"
}

# joules GPU CPU NODE: joules of the two solves in the CSV report; - is a part without a number.
joules() {
  local part value want
  for part in gpu cpu node; do
    want=$1
    shift
    value=$(column "$dir/a.csv" "${part}_joules_per_solve")
    if test "$want" = -; then want=; else want=$((want / 2)); fi
    test "$value" = "$want" || complain "$part: '$value' J per solve, not '$want'"
  done
}

# warned PATTERN ARG...: the program must succeed and print one line on stderr, a warning with PATTERN.
warned() {
  local pattern=$1
  shift
  checks=$((checks + 1))
  run 1 "${quick[@]}" --energy --csv="$dir/a.csv" "$@"
  if test "$rc" -ne 0 || test "$(wc -l <"$dir/err")" -ne 1 ||
    ! grep -qE "^hpgmg-fv: warning: the energy of $pattern" "$dir/err"; then
    complain "not one warning '$pattern' but exit code $rc and: $(cat "$dir/err")"
  fi
}

# --- numbers ---

machine
ok 1 "${quick[@]}" --energy --csv="$dir/a.csv"
joules 60 42 100
test "$(column "$dir/a.csv" cpu_energy_source)" = 'RAPL package' || complain 'CSV: no source'
test "$(column "$dir/a.csv" cpu_dof_per_joule | cut -c -9)" = 195.04761 || complain 'CSV: DOF per joule' # 2 * 16^3 / 42
for line in 'energy of 2 solves at h in [0-9.]* s; idle power over 1\.[0-9]* s before set-up' \
  'GPU  *1  *30 .* NVML' 'CPU  *2  *21 .* RAPL package' 'node  *1  *50 .* RAPL psys'; do
  grep -qx "  $line" "$dir/out" || complain "no line '$line'"
done
# Idle power and window: four reads in all.
test "$(cat "$HPGMG_POWERCAP/intel-rapl:0/energy_uj")" -eq $((start + 4 * step)) || complain 'RAPL: not four reads'
test "$(cat "$gpu")" -eq $((5000 + 4 * NVML_STEP)) || complain 'NVML: not four reads'
if have_feature jansson; then
  ok 1 "${quick[@]}" --energy --json="$dir/a.json"
  is_json "$dir/a.json"
  sed -n '/^  "energy"/,/^  }/p' "$dir/a.json" >"$dir/energy"
  test "$(grep '"joules"' "$dir/energy" | tr -dc '0-9.,')" = 60.0,42.0,100.0, || complain "JSON: $(cat "$dir/energy")"
  ok 1 "${quick[@]}" --json="$dir/a.json"
  grep -qx '  "energy": null,' "$dir/a.json" || complain 'JSON: energy without --energy'
fi

# Ranks that share a host or a GPU count its counters once.
if have_mpi; then
  for case in 0,0:60 0,1:120; do
    machine
    export MOCK_GPUS=${case%:*}
    ok 2 4 4 --device=cpu --min-solves=2 --min-time=0 --energy --csv="$dir/a.csv"
    joules "${case#*:}" 42 100
    test "$(cat "$gpu")" -eq $((5000 + 4 * NVML_STEP)) || complain "GPUs $MOCK_GPUS: not four reads"
  done
  export MOCK_GPUS=0,1
fi

# --- one warning and no number ---

machine
HPGMG_POWERCAP=$dir/none warned "CPUs is not measured: $dir/none has no RAPL counter of a package "
joules 60 - -
grep -qx "  node not measured: $dir/none has no RAPL counter psys" "$dir/out" || complain 'no reason for nodes'

rm "$HPGMG_POWERCAP/intel-rapl:1/energy_uj"
mkdir "$HPGMG_POWERCAP/intel-rapl:1/energy_uj"
warned "CPUs is not measured: .*/intel-rapl:1/energy_uj cannot be read: "
joules 60 - 100
if test "$(id -u)" -ne 0; then
  machine
  chmod a-r "$HPGMG_POWERCAP/intel-rapl:1/energy_uj"
  warned "CPUs .* Permission denied; as root, run chmod a\+r $HPGMG_POWERCAP/intel-rapl:\*/energy_uj"
fi

# The last read wraps.
machine
start=$((range - 2 * step - step / 2)) domain intel-rapl:0 package-0
warned 'CPUs is not measured: .*/intel-rapl:0/energy_uj wrapped or was reset, from [0-9]* to '
joules 60 - 100

# A window in which the counter may have wrapped: the clock jumps forward in each call.
machine
range=10000000000 domain intel-rapl:0 package-0
MOCK_TICK=0.1 warned 'CPUs is not measured: .* may have wrapped unnoticed: [1-9][0-9] s were timed, and at 1000 W it wraps after 10 s'
joules 60 - 100
# A clock that goes back.
MOCK_TICK=-0.01 expect 4 'the clock went back by [0-9.]* s during a solve; repeat the run' 1 "${quick[@]}" --quiet

machine
HPGMG_NVML=$dir/none.so warned 'GPUs is not measured: NVML cannot be loaded: .*none.so'
joules - 42 100
HPGMG_NVML=libm.so.6 warned 'GPUs is not measured: libm.so.6 has no function nvmlDeviceGetTotalEnergyConsumption'
for function in nvmlInit_v2 nvmlDeviceGetTotalEnergyConsumption; do
  NVML_FAIL=$function warned "GPUs is not measured: NVML: $function returned 999 \(Unknown Error\)"
  joules - 42 100
done
MOCK_GPUS=6 warned 'GPUs is not measured: NVML: nvmlDeviceGetHandleByUUID returned 6 \(Not Found\)'
NVML_STEP=-1 warned 'GPUs is not measured: GPU-0{8}-.*1 wrapped or was reset, from 5000 to 4999'
NVML_STEP=0 warned 'GPUs is not measured: GPU-.* did not change'
# NVML's counter needs a longer window than RAPL's.
MOCK_TICK=0.0001 warned 'GPUs is not measured: only 0.0[0-9]* s were timed, and GPU-.* needs 1 s; use a larger --min-time'
joules - 42 100

# --- official runs: only where counters exist ---

machine
ok 1 4 1 --device=cpu --official
grep -q '^  CPU  *2 .* RAPL package$' "$dir/out" || complain '--official measures no energy'
cp -r "$HPGMG_POWERCAP" "$dir/before"
ok 1 4 1 --device=cpu --official --energy=no
ok 1 "${quick[@]}"
diff -r "$dir/before" "$HPGMG_POWERCAP" || complain 'counters are read without --energy'
unset MOCK_GPUS
export HPGMG_POWERCAP=$dir/none
ok 1 4 1 --device=cpu --official --csv="$dir/a.csv"
if grep -q 'energy' "$dir/out" "$dir/a.csv"; then complain '--official reports energy without counters'; fi
run 1 4 1 --device=cpu --official --verbose
grep -q "^hpgmg-fv: the energy of CPUs is not measured: $dir/none " "$dir/err" || complain '--verbose: no reason'

# --- the option ---

HPGMG_FV=$real
expect 2 '--energy cannot be combined with --verify-only or --restart' 1 4 1 --energy --verify-only
expect 2 '--energy=yed: unknown value \(did you mean yes\?\)' 1 4 1 --energy=yed
ok 1 4 1 --verify-only --energy=no
for case in '--energy yes' '--energy=no no' '--official auto'; do
  ok 1 4 1 --print-config "${case% *}"
  grep -qx "energy = ${case#* }" "$dir/out" || complain "--print-config: energy is not ${case#* }"
done
finish
