# shellcheck shell=bash disable=SC2154,SC2031
# cuda_digits: norms, errors and orders on a CUDA device are those of the CPU to the last digit: for every operator and
# boundary Poisson's equation with every smoother, and with GSRB the Helmholtz equation and V-cycles to a tolerance.
# Each on the device down to 1^3 cells, with fewer than 600 or 5000 cells on the CPU (the latter in managed memory
# too), and with fewer than 40000, which at 32^3 leaves the device nothing and at 48^3 the finest level. Then large
# levels, in single steps and in passes, and the simple kernels. Skips without a device.
. "$abs_top_srcdir/tests/cuda_same.sh"

compare() {
  digits "$dir/cpu" --device=cpu "$@"
  for where in 0 600 5000 '5000 --memory=unified' 40000; do
    # shellcheck disable=SC2086 # words
    digits "$dir/cuda" --device=cuda --cpu-below=$where "$@"
    same "$dir/cpu" "$dir/cuda" "--cpu-below=$where $*"
  done
}

for op in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    for smoother in gsrb chebyshev jacobi l1jacobi symgs; do
      beside compare 4 8 --operator="$op" --boundary="$boundary" --smoother="$smoother"
    done
    beside compare 4 27 --operator="$op" --boundary="$boundary" --equation=helmholtz
    beside compare 4 8 --operator="$op" --boundary="$boundary" --cycle=v --rtol=1e-7 --bottom=cg
  done
done
beside compare 4 125 --operator=fv4
beside compare 5 8 --operator=fv4
beside compare 5 8 --operator=fv4 --boundary=periodic --smoother=chebyshev

# Large levels have kernels of their own: several steps in a pass, and threads with cells in several
# planes, in blocks that end with the level (128^3) and that do not (160^3).
large() {
  digits "$dir/cpu" --device=cpu "$@"
  digits "$dir/cuda" --device=cuda --cpu-below=0 "$@"
  same "$dir/cpu" "$dir/cuda" "$*"
}
for op in fv2 7pt; do
  for smoother in gsrb chebyshev l1jacobi; do
    for steps in 1 3; do
      beside large 7 1 --operator="$op" --smoother="$smoother" --boundary=periodic --steps-per-pass=$steps
      beside large 5 125 --operator="$op" --smoother="$smoother" --steps-per-pass=$steps
    done
  done
done

# The simple kernels are an oracle only as long as they have these digits too.
for op in fv2 fv4 7pt; do
  for smoother in gsrb chebyshev; do
    digits "$dir/cpu" 4 8 --operator="$op" --smoother="$smoother" --device=cpu
    digits "$dir/simple" 4 8 --operator="$op" --smoother="$smoother" --device=cuda-simple
    runs=$((runs + 1))
    cmp "$dir/cpu" "$dir/simple"
  done
done
beside compare 5 3 --bottom=smoother
# Across the end of a periodic level of 3^3 cells neighbours have one colour.
beside compare 4 27 --bottom=smoother --boundary=periodic
beside compare 4 27 --bottom=smoother --boundary=periodic --smoother=symgs --operator=7pt
all_done
echo "$runs runs on CUDA with the CPU's digits"
