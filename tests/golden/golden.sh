# shellcheck shell=bash disable=SC2154
# golden: results equal those of the original HPGMG-FV (golden.csv): norms within a relative 1e-9, the error within 1e-8,
# the order to 3 decimals, and the number of levels exactly. The tolerances are the spread of the original over compilers
# and decompositions. Runs on the CPU, and on a CUDA device if present. In mixed precision, error and order are those in
# double within the limits of the verdict. GOLDEN_MAX_GRID skips larger grids (default 128).
set -eu
. "$abs_top_srcdir/tests/lib/run_mpi.sh"
own_folder
rows=0
wings=$(solo "$HPGMG_FV" --version | grep '^wings')
devices=$(each_device)

# solve ARG...: run the case of the current row, and write a line for each grid: levels, norm, relative norm, error, order.
solve() {
  mpi_run "$ranks" "$HPGMG_FV" "$log2" "$boxes" --operator="$op" --smoother="$smoother" \
    --equation="$equation" --boundary="$boundary" --verify-only "$@" >"$dir/out" 2>"$dir/err"
  awk 'BEGIN { n = 0 }
    $2 ~ /\^3$/ && $6 ~ /^c/ { levels++ }
    $4 == "max|f-Au|" { norm[n] = $5; relative[n++] = $7 }
    $1 == "error" { error = $2 }
    $1 == "order" { order = $2 }
    END { for (s = 0; s < n; s++) print levels - s, norm[s], relative[s], error, order }' "$dir/out" >"$dir/results"
}

# check DEVICE: compare the results with the current row.
check() {
  solve --device="$1"
  awk -v want="$levels,$rest" -v name="$op $smoother $equation $boundary $grid $1" '
    function near(got, wanted, relative, absolute, what,   d) {
      if (wanted == "") return
      d = got - wanted; d = d < 0 ? -d : d
      if (d > relative * wanted + absolute) {
        printf "%s: %s is %s, golden %s\n", name, what, got, wanted; bad = 1
      }
    }
    BEGIN { split(want, g, ",") }
    {
      s = NR - 1
      near($1, g[1] - s, 0, 0, "levels")
      near($2, g[2 + 2 * s], 1e-9, 1e-12, "norm of size " s)
      near($3, g[3 + 2 * s], 1e-9, 1e-12, "relative norm of size " s)
      near($4, g[8], 1e-8, 0, "error")
      near($5, g[9], 0, 0.0005001, "order")
    }
    END { if (NR != 3) { print name ": " NR " sizes instead of 3"; bad = 1 }; exit bad }' "$dir/results"
}

# check_mixed: with --precision=mixed on the CPU, the error is within 1 % of the golden one and the order within 0.01, and
# the residual norms are within 0.1 %: float rounds corrections, whose residual is larger than that of u.
check_mixed() {
  solve --device=cpu --precision=mixed
  awk -v want="$rest" -v name="$op $smoother $equation $boundary $grid mixed" '
    function near(got, wanted, tolerance, what,   d) {
      if (wanted == "") return
      d = got - wanted; d = d < 0 ? -d : d
      if (!(d <= tolerance)) { printf "%s: %s is %s, golden %s\n", name, what, got, wanted; bad = 1 }
    }
    BEGIN { split(want, g, ",") }
    {
      near($2, g[2 * NR - 1], 1e-3 * g[2 * NR - 1], "norm of size " NR - 1)
      near($4, g[7], 0.01 * g[7], "error")
      near($5, g[8], 0.01, "order")
    }
    END { if (NR != 3) { print name ": " NR " sizes instead of 3"; bad = 1 }; exit bad }' "$dir/results"
}

while IFS=, read -r op smoother equation boundary ranks log2 boxes grid levels rest; do
  test "$op" != operator || continue
  test "$grid" -le "${GOLDEN_MAX_GRID:-128}" || continue
  for device in $devices; do
    check "$device"
  done
  case $wings in *mixed*) ;; *) check_mixed ;; esac
  rows=$((rows + 1))
done <"$abs_top_srcdir/tests/golden/golden.csv"
# shellcheck disable=SC2086 # words
echo "$rows rows of golden.csv reproduced on" $devices
test "$rows" -ge 10
