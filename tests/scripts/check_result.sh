# shellcheck shell=bash disable=SC2154
# check_result: scripts/check-result accepts reports of runs and refuses tampered ones, names the reason, and has the exit
# codes that it documents. The known results are those of the program.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
command -v "$PYTHON" >/dev/null || skip_test "no $PYTHON"
need_feature jansson
script=$abs_top_srcdir/scripts/check-result

# check RC ARG...: check-result must end with RC; output in $dir/out and $dir/err.
check() { exits "$1" "$PYTHON" "$script" "${@:2}"; }

# refuse RC TEXT ARG...: it must end with RC, no output and one error line with TEXT.
refuse() {
  fails check-result "$1" "$2" "$PYTHON" "$script" "${@:3}"
  test ! -s "$dir/out" || complain "${*:3}: output besides the error: $(cat "$dir/out")"
}

# Reports of short runs. The test changes their numbers of solves.
short=(--min-time=0 --warmup=0)
ok 1 5 8 "${short[@]}" --json="$dir/double.json"
ok 1 5 8 "${short[@]}" --operator=fv4 --json="$dir/fv4.json"
ok 1 5 8 "${short[@]}" --precision=mixed --json="$dir/mixed.json"
ok 1 4 8 "${short[@]}" --min-solves=1 --cycle=v --rtol=1e-6 --boundary=periodic --json="$dir/open.json"
cp "$dir/double.json" "$dir/short.json"
checks=$((checks + 1))
"$PYTHON" "$abs_top_srcdir/tests/scripts/check_result.py" "$script" "$dir" >"$dir/why" 2>&1 ||
  complain "check_result.py: $(tail -n 1 "$dir/why")"
cat "$dir/why"

# All reports of runs as they are: too short (or on a busy machine, with a spread that is named first), valid.
check 1 "$dir/short.json" "$dir/open.json"
says "^$dir/short.json: INVALID: the run reports invalid: (.* s of timed solves at 64\^3, class double requires 1 s|at 64\^3 the mean is .*)$"
says "^$dir/open.json: FOM: [0-9.e+]* DOF/s VALID class=open operator=fv2 .* results=unchecked$"
check 0 "$dir/double.json" "$dir/official.json" "$dir/mixed.json" "$dir/open.json"
for class in double official mixed; do says " DOF/s VALID class=$class .* grid=64\^3 .* results=known$"; done
check 0 --class=official "$dir/official.json"
check 1 --class=official "$dir/double.json"
says 'INVALID: the class is double, not official$'
"$PYTHON" "$script" - <"$dir/double.json" | grep -q '^-: FOM: ' || complain 'no report from stdin'

# Nothing in a report or a file name makes a second line.
valid='x\\nok.json: FOM: 9e+99 DOF/s VALID class=official'
sed "s|\"backend\": \"cpu\",|\"backend\": \"$valid\",|" "$dir/double.json" >"$dir/forged.json"
check 1 "$dir/forged.json"
says "^$dir/forged.json: INVALID: run.backend has characters that cannot be printed, "
sed "s|\"u\": \"[^\"]*\",|\"u\": \"$valid\",|" "$dir/double.json" >"$dir/forged.json"
refuse 3 'forged.json: checksums.u has characters that cannot be printed' --row "$dir/forged.json"
sed "s|\"reason\": \"\"|\"reason\": \"$valid\"|; s|\"passed\"|\"failed\"|" "$dir/double.json" >"$dir/forged.json"
check 1 "$dir/forged.json"
test "$(wc -l <"$dir/out")" -eq 1 || complain "a forged line: $(cat "$dir/out")"
name=$dir/$'x\nok.json: FOM: 9e+99 VALID\e[2J'
cp "$dir/double.json" "$name"
check 0 "$name"
test "$(wc -l <"$dir/out")" -eq 1 || complain "a forged line: $(cat "$dir/out")"
says '/x.nok.json: FOM: 9e.99 VALID.x1b.2J: FOM: '
sed 's|"ranks": 1,|"ranks": 1, "ranks": 1,|' "$dir/double.json" >"$dir/forged.json"
refuse 3 "forged.json is not JSON .the key 'ranks' twice.; use a file of --json" "$dir/forged.json"

# Runs of the same problem agree on any number of boxes; a report with another solution does not.
ok 1 5 1 "${short[@]}" --min-solves=1 --cycle=v --json="$dir/a.json"
ok 1 4 8 "${short[@]}" --min-solves=1 --cycle=v --json="$dir/b.json"
check 0 "$dir/a.json" "$dir/b.json"
sed -i 's/"u": "..../"u": "abcd/' "$dir/b.json"
check 1 "$dir/a.json" "$dir/b.json"
says "b.json: INVALID: checksum_u is abcd[0-9a-f]*, but [0-9a-f]* in $dir/a.json, the same problem$"

# Classes of unusual spellings and problems agree with the program's.
n=0
for options in --boundary=dirichlet,dirichlet,dirichlet --operator=7pt --smoother=ssor --smoother=jacobi --bottom=direct \
  '--smoother=chebyshev --degree=6' '--operator=7pt --smoother=symgs' --equation=helmholtz --smooths=2; do
  # shellcheck disable=SC2086 # words
  ok 1 4 8 --verify-only $options --json="$dir/$((++n)).json"
done
ok 1 --cells=10x7x3 --json="$dir/$((++n)).json"
run 1 4 8 --verify-only --rtol=1e-13 --max-cycles=1 --json="$dir/$((++n)).json"
check 1 "$dir"/[0-9]*.json
test "$(grep -c 'INVALID: the run reports invalid: --verify-only measures no times$' "$dir/out")" -eq $((n - 2)) ||
  complain "reports without times: $(cat "$dir/out")"
says ': FOM: .* VALID class=open .* grid=10x7x3 '
says ': INVALID: verification failed: relative residual '
test "$(wc -l <"$dir/out")" -eq "$n" || complain "not one line per report: $(cat "$dir/out")"

# The known results are this version's.
check 0 --row "$dir/double.json" "$dir/mixed.json" "$dir/official.json"
grep -qxF -f "$dir/out" "$abs_top_srcdir/scripts/checks/known-results.csv" || complain 'no row'
test "$(grep -cxF -f "$dir/out" "$abs_top_srcdir/scripts/checks/known-results.csv")" -eq 3 || complain "rows: $(cat "$dir/out")"
refuse 3 'is not a report of HPGMG-FV.s problem' --row "$dir/open.json"

# Usage and files.
refuse 2 'the following arguments are required: FILE'
refuse 2 "argument --class: invalid choice: 'best'" --class=best "$dir/open.json"
refuse 3 'none.json cannot be read: No such file' "$dir/open.json" "$dir/none.json"
echo '{"program": "hpgmg-fv"' >"$dir/cut.json"
refuse 3 'cut.json is not JSON \(.*\); use a file of --json' "$dir/cut.json"
echo '[1, 2]' >"$dir/other.json"
refuse 3 'other.json is not a report of hpgmg-fv; use a file of --json' "$dir/other.json"
printf '{"program": "hpgmg-fv\377"}' >"$dir/bytes.json"
refuse 3 'bytes.json is not JSON \(.utf-8. codec can.t decode byte 0xff ' "$dir/bytes.json"
printf '[%.0s' {1..100000} >"$dir/deep.json"
refuse 3 'deep.json is not JSON \(.*\); use a file of --json' "$dir/deep.json"
ok 1 4 1 --dry-run --json="$dir/plan.json"
refuse 3 'plan.json is a plan; use the report of a run without --dry-run' "$dir/plan.json"

# All kinds of reports follow the schema.
ok 1 "${short[@]}" --min-solves=1 --levels-breakdown --cells=16x16x16 --boundary=dirichlet:1 --json="$dir/levels.json"
exits 0 solo "$(dirname "$HPGMG_FV")/hpgmg-health" --device=cpu "${short[@]}" --min-solves=1 --json="$dir/health.json"
head -n 1 "$dir/health.json" >"$dir/device.json"
tail -n 1 "$dir/health.json" >"$dir/summary.json"
in_python 'a report against the schema' "$dir" <<'EOF'
import sys
from checks.fields import RULES, check_value
from toolkit import read_json
for name in "double", "levels", "plan", "device", "summary":
    report = read_json(f"{sys.argv[1]}/{name}.json")
    rule = RULES.get(name, RULES["run"])
    check_value(report, rule)
    assert set(report) <= set(rule["properties"]), name
EOF
sed 's/"schema": 1/"schema": 2/' "$dir/open.json" >"$dir/new.json"
refuse 3 'new.json has schema 2, this program reads 1; use the check-result of the version' "$dir/new.json"
check 0 --help
says '^usage: check-result '
stdout_errors check-result "$PYTHON" "$script" "$dir/open.json"

finish
