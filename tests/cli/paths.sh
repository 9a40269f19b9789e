# shellcheck shell=bash disable=SC2154
# paths: which path runs each level, on the CPU, where the guard stands for a GPU, and in the plan for a GPU. A change of
# dispatch shows here. The letters of a level, finest first: c cache pass, r resident, f fused sweeps, s single steps,
# B bottom solver, b the same in one launch, D an inverse in one launch, C, V coarse cycle of cubes, of fv4. Then, not in
# plans: i if the smooth also interpolates its first iterate, d if it also restricts its residual, n if it also computes
# its norm; 2 and t if restriction and norm store the residual.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-guard

# RANKS ARG... : paths on the CPU : paths with the guard : paths planned for a GPU; -: not run
cases='
1 4 1 : cidn cidn cidn cidn B : fidn ridn ridn ridn B : r C C C C
1 4 8 : cidn cidn cidn cidn cidn B : fidn fidn ridn ridn ridn B : r r C C C C
1 4 64 : cidn cidn cidn cidn cidn cidn B : fidn fidn fidn ridn ridn ridn B : r r r C C C C
1 4 27 --smoother=chebyshev : cidn cidn cidn cidn B : fdn fdn fdn ridn B : r r r C C
1 4 8 --smoother=chebyshev --degree=6 : cidn cidn cidn cidn cidn B : fdn fdn ridn ridn ridn B : r r C C C C
1 4 8 --smoother=jacobi : cidn cidn cidn cidn cidn B : fdn fdn ridn ridn ridn B : r r C C C C
1 4 8 --smoother=symgs : cidn cidn cidn cidn cidn B : fidn fidn ridn ridn ridn B : s s s s s b
1 4 8 --smoother=l1jacobi : s s s s s B : s2t s2t s2t s2t s2t B : s s C C C C
1 4 8 --smoother=gsrb --smooths=2 : cidn cidn cidn cidn cidn B : fidn fidn ridn ridn ridn B : r r C C C C
1 4 8 --boundary=periodic : s s s s B : fidn fdn s2t s2t B : r r C C C
1 4 8 --boundary=neumann : cidn cidn cidn cidn B : fidn fidn ridn ridn B : r r r r b
1 4 8 --equation=helmholtz : cidn cidn cidn cidn cidn B : fidn fidn ridn ridn ridn B : r r C C C C
1 4 8 --operator=7pt : cidn cidn cidn cidn cidn B : fidn fidn ridn ridn ridn B : r r C C C C
1 4 27 --operator=7pt --smoother=chebyshev : cidn cidn cidn cidn B : fdn fdn fdn ridn B : r r r C C
1 4 8 --operator=fv4 : cdn cdn cdn cdn B : f2t f2t f2t f2t B : r r V V V
1 4 27 --operator=fv4 --smoother=chebyshev : cdn cdn cdn s B : s2t s2t s2t s2t B : s r r V V
1 4 8 --operator=fv4 --boundary=periodic : s s s s B : f2t f2t f2t f2t B : r r V V V
1 4 8 --precision=mixed : cid cid cid cid cid B : fid fid rid rid rid B : r r C C C C
1 4 8 --precision=mixed --smoother=chebyshev : cid cid cid cid cid B : fd fd rid rid rid B : r r C C C C
1 4 8 --steps-per-pass=1 : s s s s s B : s2t s2t s2t s2t s2t B : s s C C C C
1 4 8 --steps-per-pass=2 : - : fi2t fi2t ridn ridn ridn B : r r C C C C
1 4 8 --krylov=cg --smoother=symgs --rtol=1e-6 : cidn cidn cidn cidn cidn B : fidn fidn ridn ridn ridn B : s s s s s b
1 --cells=33x20x17 --method=options : c2 c2 c2 c2 c2 B : fidn fidn fidn fi2t s2t B : s s s s s b
1 --cells=31x31x31 --method=options : c2 cidn cidn cidn B : fidn fidn ridn ridn B : s r r r b
1 --cells=48x48x48 --method=options : cidn cidn cidn cidn c2 B : fidn fidn fidn ridn fi2t B : r r r s s b
1 --cells=60x22x85 --method=options : c2 c2 c2 c2 cidn B : fidn fidn fidn fi2t ridn B : s s s s s b
1 --cells=64x64x4 --method=options : cidn cidn c2 c2 c2 B : fidn s2t s2t s2t s2t B : r s s s s b
1 --cells=128x8x8 --method=options --boundary=neumann : cidn cidn cidn c2 B : fidn fidn ridn s2t B : s r s s b
1 --cells=40x24x16 --method=options --lengths=1,1,10 : c2 c2 c2 c2 c2 cidn B : fidn fidn fidn fidn fi2t ridn B : r r r s s s b
1 --cells=25x1x2 --method=options : c2 c2 B : s2t s2t B : s s b
2 4 4 : s cidn cidn cidn cidn B : fdn fidn ridn ridn ridn B : s r C C C C
2 4 32 : cidn s cidn cidn cidn cidn B : fidn fdn fidn ridn ridn ridn B : s s r C C C C
2 4 32 --smoother=chebyshev : cidn s cidn cidn cidn cidn B : fdn fdn fdn ridn ridn ridn B : s s r C C C C
2 4 32 --operator=fv4 : cdn s cdn cdn cdn B : f2t f2t f2t f2t f2t B : s s r V V V
2 4 4 --boundary=periodic : s s s s B : fdn fdn s2t s2t B : s r C C C
2 4 4 --precision=mixed : s cid cid cid cid B : fd fid rid rid rid B : s r C C C C
2 --cells=48x40x32 --method=options : s cidn cidn c2 c2 B : fdn fidn fidn fidn s2t B : s r r s s b
3 --cells=64x64x64 --method=options --operator=7pt : s s cidn cidn cidn B : fidn fdn fidn ridn ridn B : s s r r r b
1 5 64 : - : - : f r r r C C C C
1 4 512 --operator=fv4 : - : - : f r r r V V V
1 --cells=33x20x17 : - : - : s s D
1 --cells=64x64x64 : - : - : r r r r D
1 --cells=12x12x12 --method=options --boundary=neumann : - : - : r s s b
1 --cells=30x30x30 --method=options --smoother=symgs : - : - : s s s s b
1 4 1 --coarsest=16 : - : - : b
1 4 8 --bottom=smoother : - : - : r r C C C C
'
# letters: the letters of lines "INTERPOLATION|RESTRICTION|NORM|PATH".
letters() {
  awk -F'|' '{
    path = $4 ~ /^cache/ ? "c" : $4 ~ /^resident/ ? "r" : $4 ~ /^fused/ ? "f" : $4 ~ /^single/ ? "s" : ""
    if (path == "") path = $4 ~ /solver/ ? "B" : $4 ~ /^bottom in/ ? "b" : $4 ~ /of cubes/ ? "C" : $4 ~ /^inverse/ ? "D" : ""
    if (path == "") path = $4 ~ /of fv4/ ? "V" : "?"
    text = text " " path ($1 ~ /smooth/ ? "i" : "") ($2 ~ /smooth/ ? "d" : $2 ~ /two/ ? "2" : "")
    text = text ($3 ~ /smooth/ ? "n" : $3 ~ /two/ ? "t" : "")
  } END { print substr(text, 2) }'
}
# paths RANKS ARG...: print the letters of a run
paths() {
  ok "$@" --verify-only --levels-breakdown --cpu-below=0 --agglomerate-below=4096
  sed -nE '/^  paths on rank 0/,/^$/s/^ +[0-9]+ +[^ ]+  (.{11})  (.{10})  (.{10})  /\1|\2|\3|/p' "$dir/out" | letters
}
# planned RANKS ARG...: print the letters of a plan for GPUs with 132 SMs
planned() {
  local ranks=$1
  shift
  ok 1 "$@" --dry-run --ranks="$ranks" --cpu-below=0 --agglomerate-below=4096
  sed -nE '/steps\/pass/,/^$/s/^ +[0-9].*B  /|||/p' "$dir/out" | letters
}

while IFS=: read -r words on_cpu on_guard on_gpu; do
  test -n "$words" || continue
  read -r -a argument <<<"$words"
  test "${argument[0]}" = 1 || have_mpi || continue
  for device in cpu guard cuda; do
    case $device in
      cpu) wanted=$on_cpu ;;
      guard) wanted=$on_guard ;;
      cuda) wanted=$on_gpu ;;
    esac
    read -r wanted <<<"$wanted"
    test "$wanted" != - || continue
    if test $device = cuda; then
      got=$(planned "${argument[@]}" --device=cuda)
    else
      got=$(paths "${argument[@]}" --device=$device)
    fi
    test "$got" = "$wanted" || complain "${argument[*]} on $device: $got instead of $wanted"
    checks=$((checks + 1))
  done
done <<<"$cases"
echo "$checks tables of paths"
test "$checks" -ge 30 || complain 'too few tables'
finish
