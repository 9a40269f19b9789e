# shellcheck shell=bash disable=SC2154
# paths: which path runs each level, on the CPU, where the guard stands for a GPU, and in the plan for a GPU. A change of
# dispatch shows here. The letters of a level, finest first: c cache pass, r resident, f fused sweeps, s single steps,
# B bottom solver, b the same in one launch, C, X, V coarse cycle of cubes, of boxes, of fv4; then, not in plans, i if the
# smooth also interpolates its first iterate, and d if it also restricts its residual.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-guard

# RANKS ARG... : paths on the CPU : paths with the guard : paths planned for a GPU; -: not run
cases='
1 4 1 : cid cid cid cid B : fid rid rid rid B : r C C C C
1 4 8 : cid cid cid cid cid B : fid fid rid rid rid B : r r C C C C
1 4 64 : cid cid cid cid cid cid B : fid fid fid rid rid rid B : r r r C C C C
1 4 27 --smoother=chebyshev : cid cid cid cid B : fd fd fd rid B : r r r C C
1 4 8 --smoother=chebyshev --degree=6 : cid cid cid cid cid B : fd fd rid rid rid B : r r C C C C
1 4 8 --smoother=jacobi : cid cid cid cid cid B : fd fd rid rid rid B : r r C C C C
1 4 8 --smoother=symgs : s s s s s B : s s s s s B : s s C C C C
1 4 8 --smoother=l1jacobi : s s s s s B : s s s s s B : s s C C C C
1 4 8 --smoother=gsrb --smooths=2 : cid cid cid cid cid B : fid fid rid rid rid B : r r C C C C
1 4 8 --boundary=periodic : s s s s B : fid fd s s B : r r C C C
1 4 8 --boundary=neumann : cid cid cid cid B : fid fid rid rid B : r r r r X
1 4 8 --equation=helmholtz : cid cid cid cid cid B : fid fid rid rid rid B : r r C C C C
1 4 8 --operator=7pt : cid cid cid cid cid B : fid fid rid rid rid B : r r C C C C
1 4 27 --operator=7pt --smoother=chebyshev : cid cid cid cid B : fd fd fd rid B : r r r C C
1 4 8 --operator=fv4 : cd cd cd cd B : f f f f B : r r V V V
1 4 27 --operator=fv4 --smoother=chebyshev : cd cd cd s B : s s s s B : s r r V V
1 4 8 --operator=fv4 --boundary=periodic : s s s s B : f f f f B : r r V V V
1 4 8 --precision=mixed : cid cid cid cid cid B : fid fid rid rid rid B : r r C C C C
1 4 8 --precision=mixed --smoother=chebyshev : cid cid cid cid cid B : fd fd rid rid rid B : r r C C C C
1 4 8 --steps-per-pass=1 : s s s s s B : s s s s s B : s s C C C C
1 4 8 --steps-per-pass=2 : cid cid cid cid cid B : fi fi rid rid rid B : r r C C C C
1 4 8 --krylov=cg --smoother=symgs --rtol=1e-6 : s s s s s B : s s s s s B : s s C C C C
1 --cells=33x20x17 : c c c c c B : fid fid fid fi s B : s s X X X X
1 --cells=31x31x31 : c cid cid cid B : fid fid rid rid B : s r r r X
1 --cells=48x48x48 : cid cid cid cid c B : fid fid fid rid fi B : r r r X X X
1 --cells=60x22x85 : c c c c cid B : fid fid fid fi rid B : s s s X X X
1 --cells=64x64x4 : cid cid c c c B : fid s s s s B : r s X X X X
1 --cells=128x8x8 --boundary=neumann : cid cid cid c B : fid fid rid s B : s r X X X
1 --cells=40x24x16 --lengths=1,1,10 : c c c c c cid B : fid fid fid fid fi rid B : r r r X X X X
1 --cells=25x1x2 : c c B : s s B : X X X
2 4 4 : s cid cid cid cid B : fd fid rid rid rid B : s r C C C C
2 4 32 : s s cid cid cid cid B : fid fd fid rid rid rid B : s s r C C C C
2 4 32 --smoother=chebyshev : s s cid cid cid cid B : fd fd fd rid rid rid B : s s r C C C C
2 4 32 --operator=fv4 : cd s cd cd cd B : f f f f f B : s s r V V V
2 4 4 --boundary=periodic : s s s s B : fd fd s s B : s r C C C
2 4 4 --precision=mixed : s cid cid cid cid B : fd fid rid rid rid B : s r C C C C
2 --cells=48x40x32 : s cid cid c c B : fd fid fid fid s B : s r r X X X
3 --cells=64x64x64 --operator=7pt : s s cid cid cid B : fid fd fid rid rid B : s s r r r X
1 5 64 : - : - : f r r r C C C C
1 4 512 --operator=fv4 : - : - : f r r r V V V
1 --cells=12x12x12 --boundary=neumann : - : - : r X X X
1 --cells=30x30x30 --smoother=symgs : - : - : s s X X X
1 4 1 --coarsest=16 : - : - : b
1 4 8 --bottom=smoother : - : - : r r C C C C
'
# letters: the letter of each line's path.
letters() {
  awk '{
    path = /^cache pass/ ? "c" : /^resident/ ? "r" : /^fused/ ? "f" : /^single/ ? "s" : /^bottom solver/ ? "B" : ""
    if (path == "") path = /^bottom in/ ? "b" : /of cubes/ ? "C" : /of boxes/ ? "X" : /of fv4/ ? "V" : "?"
    text = text " " path (/with interpolation/ ? "i" : "") (/restricted residual/ ? "d" : "")
  } END { print substr(text, 2) }'
}
# paths RANKS ARG...: print the letters of a run
paths() {
  ok "$@" --verify-only --levels-breakdown --cpu-below=0 --agglomerate-below=4096
  sed -nE '/^  paths on rank 0/,/^$/s/^ +level +[0-9]+ +[^ ]+ +//p' "$dir/out" | letters
}
# planned RANKS ARG...: print the letters of a plan for GPUs with 132 SMs
planned() {
  local ranks=$1
  shift
  ok 1 "$@" --dry-run --ranks="$ranks" --cpu-below=0 --agglomerate-below=4096
  sed -nE '/steps\/pass/,/^$/s/^ +[0-9].*B  //p' "$dir/out" | letters
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
