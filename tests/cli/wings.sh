# shellcheck shell=bash disable=SC2154
# cli: --version names the wings that the program was built without, options that need one of them are refused by name,
# and what turns them off needs none. Runs in every build: scripts/check.sh builds the core alone.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only

exits 0 solo "$HPGMG_FV" --version
absent=$(sed -n 's/^wings *without //p' "$dir/out")
grep -qE '^wings +(all|without [a-z, ]+)$' "$dir/out" || complain "--version: $(grep '^wings' "$dir/out")"

# needs WING OPTION...: OPTION is refused by name if the program lacks WING, and only then.
needs() {
  local wing=$1
  shift
  checks=$((checks + 1))
  case ", $absent," in
  *", $wing,"*)
    expect 2 "${1%%=*} needs the wing '$wing', which this program was built without" 1 4 1 "$@"
    ;;
  *)
    solo "$HPGMG_FV" --print-config 4 1 "$@" >"$dir/out" 2>"$dir/err" || true
    if grep -q "needs the wing '$wing'" "$dir/err"; then complain "$*: $(cat "$dir/err")"; fi
    ;;
  esac
}
for option in restart input json csv dump; do
  needs files "--$option=$dir/x"
done
of_fields=files
case ", $absent," in *', files,'*) ;; *) of_fields=domains ;; esac
for option in --coefficients="$dir/x" --rhs="$dir/x"; do
  needs $of_fields "$option"
done
for option in stretch=x:tanh:2 lengths=1,1,1 spacing=1,1,1 mean=2 boundary=dirichlet,neumann,dirichlet \
  boundary=dirichlet:1 boundary=robin:1:1; do
  needs domains "--$option"
done
case ", $absent," in
*', domains,'*) expect 2 "--cells needs the wing 'domains'" 1 --cells=8x8x8 ;;
esac
needs files --print-config
needs preflight --dry-run
needs profile --levels-breakdown
needs energy --energy
needs mixed --precision=mixed
for method in cg kcycle bicgstab; do
  needs krylov --krylov=$method --rtol=1e-6
done
needs choices --method=auto
needs fused --steps-per-pass=2
needs exchange --transport=peer
case ", $absent," in
*', fused,'*) needs fused --strip-bytes=65536 ;;
*) needs choices --strip-bytes=65536 ;;
esac
case ", $absent," in
*', files,'*) expect 2 "--input needs the wing 'files'" 1 --input="$dir/x" ;;
esac
expect 2 'unknown option --health=x; run hpgmg-health instead' 1 --health=x

# What turns a wing off needs none.
ok 1 4 8 --verify-only --energy=no --precision=double --rtol=0.1 --krylov=none --steps-per-pass=1 --strip-bytes=auto --cpu-below=0
finish
