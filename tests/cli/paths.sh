# shellcheck shell=bash disable=SC2154
# paths: which path runs each level, on the CPU and where the guard stands for a GPU. A change of dispatch shows here.
# The letters of a level, finest first: c cache pass, r resident, f fused sweeps, s single steps, B bottom solver, C coarse
# cycle; then i if the smooth also interpolates its first iterate, and d if it also restricts its residual.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
cpu_only
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-guard

# RANKS ARG... : paths on the CPU : paths with the guard
cases='
1 4 1 : cid cid cid cid B : fid rid rid rid B
1 4 8 : cid cid cid cid cid B : fid fid rid rid rid B
1 4 64 : cid cid cid cid cid cid B : fid fid fid rid rid rid B
1 4 27 --smoother=chebyshev : cid cid cid cid B : fd fd fd rid B
1 4 8 --smoother=chebyshev --degree=6 : cid cid cid cid cid B : fd fd rid rid rid B
1 4 8 --smoother=jacobi : cid cid cid cid cid B : fd fd rid rid rid B
1 4 8 --smoother=symgs : s s s s s B : s s s s s B
1 4 8 --smoother=l1jacobi : s s s s s B : s s s s s B
1 4 8 --smoother=gsrb --smooths=2 : cid cid cid cid cid B : fid fid rid rid rid B
1 4 8 --boundary=periodic : s s s s B : fid fd s s B
1 4 8 --boundary=neumann : cid cid cid cid B : fid fid rid rid B
1 4 8 --equation=helmholtz : cid cid cid cid cid B : fid fid rid rid rid B
1 4 8 --operator=7pt : cid cid cid cid cid B : fid fid rid rid rid B
1 4 27 --operator=7pt --smoother=chebyshev : cid cid cid cid B : fd fd fd rid B
1 4 8 --operator=fv4 : cd cd cd cd B : f f f f B
1 4 27 --operator=fv4 --smoother=chebyshev : cd cd cd s B : s s s s B
1 4 8 --operator=fv4 --boundary=periodic : s s s s B : f f f f B
1 4 8 --precision=mixed : cid cid cid cid cid B : fid fid rid rid rid B
1 4 8 --precision=mixed --smoother=chebyshev : cid cid cid cid cid B : fd fd rid rid rid B
1 4 8 --steps-per-pass=1 : s s s s s B : s s s s s B
1 4 8 --steps-per-pass=2 : cid cid cid cid cid B : fi fi rid rid rid B
1 4 8 --krylov=cg --smoother=symgs --rtol=1e-6 : s s s s s B : s s s s s B
1 --cells=33x20x17 : c c c c c B : fid fid fid fi s B
1 --cells=31x31x31 : c cid cid cid B : fid fid rid rid B
1 --cells=48x48x48 : cid cid cid cid c B : fid fid fid rid fi B
1 --cells=60x22x85 : c c c c cid B : fid fid fid fi rid B
1 --cells=64x64x4 : cid cid c c c B : fid s s s s B
1 --cells=128x8x8 --boundary=neumann : cid cid cid c B : fid fid rid s B
1 --cells=40x24x16 --lengths=1,1,10 : c c c c c c B : fid fid fid fi s s B
1 --cells=25x1x2 : c c B : s s B
2 4 4 : s cid cid cid cid B : fd fid rid rid rid B
2 4 32 : s s cid cid cid cid B : fid fd fid rid rid rid B
2 4 32 --smoother=chebyshev : s s cid cid cid cid B : fd fd fd rid rid rid B
2 4 32 --operator=fv4 : cd s cd cd cd B : f f f f f B
2 4 4 --boundary=periodic : s s s s B : fd fd s s B
2 4 4 --precision=mixed : s cid cid cid cid B : fd fid rid rid rid B
2 --cells=48x40x32 : s cid cid c c B : fd fid fid fid s B
3 --cells=64x64x64 --operator=7pt : s s cid cid cid B : fid fd fid rid rid B
'
# paths RANKS ARG...: print the letters
paths() {
  ok "$@" --verify-only --levels-breakdown --cpu-below=0 --agglomerate-below=4096
  awk '/^  paths on rank 0/ { inside = 1 }
    inside && /^  level/ {
      sub(/^ +level +[0-9]+ +[^ ]+ +/, "")
      path = /^cache pass/ ? "c" : /^resident/ ? "r" : /^fused/ ? "f" : /^single/ ? "s" : /^bottom/ ? "B" : "C"
      text = text " " path (/with interpolation/ ? "i" : "") (/restricted residual/ ? "d" : "")
    }
    /^$/ && text != "" { inside = 0 }
    END { print substr(text, 2) }' "$dir/out"
}

while IFS=: read -r words on_cpu on_guard; do
  test -n "$words" || continue
  read -r -a argument <<<"$words"
  test "${argument[0]}" = 1 || have_mpi || continue
  for device in cpu guard; do
    wanted=$on_cpu
    test "$device" = cpu || wanted=$on_guard
    test "$wanted" != ' -' || continue
    read -r wanted <<<"$wanted"
    got=$(paths "${argument[@]}" --device=$device)
    test "$got" = "$wanted" || complain "${argument[*]} on $device: $got instead of $wanted"
    checks=$((checks + 1))
  done
done <<<"$cases"
echo "$checks tables of paths"
test "$checks" -ge 30 || complain 'too few tables'
finish
