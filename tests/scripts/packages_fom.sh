# shellcheck shell=bash disable=SC2154
# packages_fom: the tools of scripts/packages/ that run the benchmark find its figure of merit, and a run that is not
# VALID fails.
#   JUBE       $JUBE (default: from PATH) runs the benchmark on this machine and prints the table
#   Ramble     the application's commands run; its regular expressions find what the JSON report has
#   Benchpark  the experiments have what Benchpark requires, and the program accepts their problems
# tests/scripts/packages.sh has ReFrame. A part whose tool is missing is skipped with a message.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
need_feature jansson
cpu_only
packages=$abs_top_srcdir/scripts/packages
export OMP_NUM_THREADS=1 HOME=$dir
left_out() { echo "not run: $*"; }

# --- Ramble, Benchpark -----------------------------------------------------------------------------

check=$abs_top_srcdir/tests/scripts/packages_ramble.py
application=$packages/ramble/applications/hpgmg-fv/application.py
if "$PYTHON" -c '' 2>/dev/null; then
  exits 0 "$PYTHON" "$check" ramble "$application" "$HPGMG_FV"
  cat "$dir/out"
  exits 0 "$PYTHON" "$check" benchpark "$packages/benchpark/experiments/hpgmg-fv/experiment.py" "$application" \
    "$packages/spack/packages/hpgmg-fv/package.py" "$HPGMG_FV"
  cat "$dir/out"
  # A wrong application is detected: a figure of merit of invalid runs, and a value of another line.
  sed 's/DOF\/s VALID "/DOF\/s (?:VALID|INVALID) "/' "$application" >"$dir/lenient.py"
  exits 1 "$PYTHON" "$check" ramble "$dir/lenient.py" "$HPGMG_FV"
  grep -qE 'an invalid run is a success|figures of merit' "$dir/err" || complain "lenient.py: $(cat "$dir/err")"
  sed 's/("h", "2h", "4h")/("4h", "2h", "h")/; s/{size}\\s/[24]*h\\s/' "$application" >"$dir/swapped.py"
  exits 1 "$PYTHON" "$check" ramble "$dir/swapped.py" "$HPGMG_FV"
  grep -q 'DOF/s at [24]*h is .*, but .* in the report' "$dir/err" || complain "swapped.py: $(cat "$dir/err")"
else
  left_out "Ramble, Benchpark: no $PYTHON"
fi

# --- JUBE ------------------------------------------------------------------------------------------

# jube RC ARG...: run JUBE, which must end with RC. Output in $dir/out.
jube() {
  local want=$1
  shift
  exits "$want" "$JUBE" "$@"
}

# small NAME=VALUE...: the benchmark on a small problem, with parameters of hpgmg-fv.yaml set.
small() {
  local setting
  cp "$packages/jube/hpgmg-fv.yaml" "$dir/small.yaml"
  for setting in log2_box_dim=5 boxes_per_rank=1 min_time=0 "$@"; do
    sed -i "s|\({name: ${setting%%=*},.*_: \)[^}]*}|\1\"${setting#*=}\"}|" "$dir/small.yaml"
    grep -qF "\"${setting#*=}\"}" "$dir/small.yaml" || complain "hpgmg-fv.yaml has no parameter ${setting%%=*}"
  done
}

# cell OPERATOR RANKS COLUMN: a value in the table of JUBE, as CSV in $dir/out.
cell() {
  awk -F, -v operator="$1" -v ranks="$2" -v column="$3" '
    $1 == "operator" { for (i = 1; i <= NF; i++) at[$i] = i; next }
    column in at && $1 == operator && $at["ranks"] == ranks { print $at[column] }' "$dir/out"
}

JUBE=${JUBE-$(type -P jube || true)}
cd "$dir"
if test -z "$JUBE"; then
  left_out 'JUBE: no jube in PATH or JUBE'
else
  ranks=1
  if have_mpi; then ranks=1,2; fi
  mkdir site
  sed "s|_: hpgmg-fv}|_: \"$HPGMG_FV\"}|; s/\(ranks, type: int, _: \)1/\1\"$ranks\"/" "$packages/jube/machine.yaml" \
    >site/machine.yaml
  # A tolerance makes class open, which accepts any grid and time.
  small options=--rtol=1e-8
  jube 0 run --include-path site --hide-animation -e -- small.yaml
  jube 0 result -a -s csv hpgmg-fv_jube
  for operator in fv2 fv4; do
    for count in ${ranks//,/ }; do
      for pair in threads=1 grid=32^3 backend=cpu class=open validity=VALID; do
        test "$(cell $operator "$count" "${pair%%=*}")" = "${pair#*=}" || complain "$operator, ${pair%%=*}: $(cat out)"
      done
      report=$(grep -l "^FOM: .* operator=$operator .* ranks=$count " hpgmg-fv_jube/000000/*_run/work/report.txt)
      fom=$(sed -n 's|^FOM: \(.*\) DOF/s VALID .*|\1|p' "$report")
      error=$(sed -n 's/^error //p' "$report")
      order=$(sed -n 's/^order //p' "$report")
      # JUBE writes the numbers in another format.
      awk -v a="$fom" -v b="$(cell $operator "$count" 'fom[DOF/s]')" -v c="$error" \
        -v d="$(cell $operator "$count" error)" -v e="$order" -v f="$(cell $operator "$count" order)" \
        'BEGIN { exit !(a > 0 && a == b && c == d && e == f) }' ||
        complain "$operator on $count ranks: $(cat out) instead of $fom, $error, $order"
    done
  done
  # An invalid figure of merit and a failed verification end the run, and the table has no figure.
  sed -i 's/"1,2"/1/' site/machine.yaml
  for options in '' '--rtol=1e-30 --max-cycles=1'; do
    small operator=fv2 options="$options"
    jube 1 run --include-path site --hide-animation -e -- small.yaml
    jube 0 result -a -s csv hpgmg-fv_jube
    test "$(cell fv2 1 validity)" = INVALID || complain "$options: validity $(cell fv2 1 validity)"
    test -z "$(cell fv2 1 'fom[DOF/s]')" || complain "$options: figure of merit $(cell fv2 1 'fom[DOF/s]')"
  done
fi
finish
