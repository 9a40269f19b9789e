# shellcheck shell=bash disable=SC2154,SC2031
# gpu_bit_identical: norms, errors and orders on a CUDA device are bit-identical to the CPU, for every operator and
# boundary: Poisson with every smoother; Helmholtz, and V-cycles to a tolerance, with GSRB. Each case runs with all
# levels on the device, with levels below 600 or 5000 cells on the CPU (the latter in managed memory too), and below
# 40000 cells: all levels of 32^3, all but the finest of 48^3. Then large levels with separate and fused sweeps, and the
# simple kernels; the same in mixed precision; and domains of any shape. Other sizes at every crossover:
# gpu_cpu_below.sh. Skips without a device.
# TEST_LARGE=yes adds levels of 231^3 to 320^3 cells, whose fused sweeps compute residuals and interpolate: up to 13 GB
# of host memory in all.
. "$abs_top_srcdir/tests/lib/compare_gpu.sh"

compare() {
  results "$dir/cpu" --device=cpu "$@"
  for where in 0 600 5000 '5000 --memory=unified' 40000; do
    # shellcheck disable=SC2086 # words
    results "$dir/cuda" --device=cuda --cpu-below=$where "$@"
    same "$dir/cpu" "$dir/cuda" "--cpu-below=$where $*"
  done
}

for op in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    for smoother in gsrb chebyshev jacobi l1jacobi symgs ssor; do
      in_background compare 4 8 --operator="$op" --boundary="$boundary" --smoother="$smoother"
    done
    in_background compare 4 27 --operator="$op" --boundary="$boundary" --equation=helmholtz
    in_background compare 4 8 --operator="$op" --boundary="$boundary" --cycle=v --rtol=1e-7 --bottom=smoother
  done
done
in_background compare 4 125 --operator=fv4
in_background compare 5 8 --operator=fv4
in_background compare 5 8 --operator=fv4 --boundary=periodic --smoother=chebyshev

# Large levels use special kernels: fused sweeps, and threads with cells in several planes. Thread blocks tile 128^3
# evenly, but not 160^3.
large() {
  results "$dir/cpu" --device=cpu "$@"
  results "$dir/cuda" --device=cuda --cpu-below=0 "$@"
  same "$dir/cpu" "$dir/cuda" "$*"
}
for op in fv2 7pt; do
  for smoother in gsrb chebyshev l1jacobi; do
    for steps in 1 auto; do
      in_background large 7 1 --operator="$op" --smoother="$smoother" --boundary=periodic --steps-per-pass=$steps
      in_background large 5 125 --operator="$op" --smoother="$smoother" --steps-per-pass=$steps
    done
  done
done

# Constant coefficients.
for op in fv2 7pt; do
  for precision in double mixed; do
    in_background large 7 1 --operator="$op" --beta=1 --precision=$precision
    in_background large 7 1 --operator="$op" --beta=1 --precision=$precision --boundary=periodic --equation=helmholtz
    in_background large 7 1 --operator="$op" --beta=1 --precision=$precision --smoother=chebyshev
  done
done

# Mixed precision: float kernels, and the operations between double and float cells.
for op in fv2 fv4 7pt; do
  for smoother in gsrb chebyshev jacobi l1jacobi symgs ssor; do
    in_background compare 4 8 --operator="$op" --smoother="$smoother" --precision=mixed
  done
  in_background compare 4 27 --operator="$op" --boundary=periodic --equation=helmholtz --precision=mixed
  in_background compare 4 8 --operator="$op" --cycle=v --rtol=1e-10 --bottom=smoother --precision=mixed
  in_background compare 4 8 --operator="$op" --krylov=cg --rtol=1e-10 --precision=mixed
  in_background large 5 125 --operator="$op" --precision=mixed
  for smoother in gsrb chebyshev; do
    for steps in 1 auto; do
      in_background large 7 1 --operator="$op" --smoother="$smoother" --boundary=periodic --steps-per-pass=$steps \
        --precision=mixed
    done
  done
done

# The simple kernels must give the same results to serve as an oracle.
simple() {
  results "$dir/cpu" --device=cpu "$@"
  results "$dir/simple" --device=cuda-simple "$@"
  same "$dir/cpu" "$dir/simple" "cuda-simple $*"
}
for op in fv2 fv4 7pt; do
  for smoother in gsrb chebyshev; do
    for precision in double mixed; do
      in_background simple 4 8 --operator="$op" --smoother="$smoother" --precision=$precision
    done
  done
done
in_background compare 5 3 --bottom=smoother
# On a periodic level of 3^3 cells, neighbors across the boundary have the same color.
in_background compare 4 27 --bottom=smoother --boundary=periodic
in_background compare 4 27 --bottom=smoother --boundary=periodic --smoother=symgs --operator=7pt

# Domains: single last cells, single planes, more than one block of threads along each axis, stretched axes, and every
# condition on a side.
domain() {
  results "$dir/cpu" --device=cpu --rtol=1e-9 "$@"
  for device in 'cuda --cpu-below=0' 'cuda --cpu-below=600' cuda-simple; do
    # shellcheck disable=SC2086 # words
    results "$dir/cuda" --device=$device --rtol=1e-9 "$@"
    same "$dir/cpu" "$dir/cuda" "$device, $*"
  done
}
# Odd numbers of cells; large enough for fused sweeps.
for smoother in gsrb chebyshev jacobi; do
  for precision in double mixed; do
    in_background domain --cells=65x131x67 --smoother=$smoother --precision=$precision
    in_background domain --cells=129x66x65 --smoother=$smoother --precision=$precision \
      --boundary=neumann,periodic,robin:1:2
  done
done
# Large enough for fused residuals: a last cell alone, cells that are wide in k, or in i.
in_background domain --cells=117x119x115
in_background domain --cells=117x119x115 --lengths=1,1,4 --operator=7pt
in_background domain --cells=117x119x116 --lengths=4,1,1 --boundary=neumann,dirichlet,periodic
for op in fv2 7pt; do
  for smoother in gsrb chebyshev jacobi l1jacobi symgs ssor; do
    in_background domain --cells=37x21x18 --operator="$op" --smoother="$smoother" --stretch=x:tanh:2,z:tanh:1.5 \
      --boundary=neumann:1,dirichlet:2,robin:1:2:3,neumann,periodic,periodic
  done
  for precision in double mixed; do
    in_background domain --cells=129x65x66 --operator="$op" --precision=$precision
    in_background domain --cells=64x1x96 --operator="$op" --precision=$precision --lengths=1,1,40 --krylov=cg
    in_background domain --cells=1x1x300 --operator="$op" --precision=$precision --boundary=robin:2:1
    in_background domain --cells=96x64x34 --operator="$op" --precision=$precision --stretch=y:tanh:2.5 --mean=0.2 \
      --boundary=neumann
    in_background domain --cells=50x40x48 --operator="$op" --precision=$precision --equation=helmholtz \
      --boundary=periodic --spacing=1,0.1,0.02
  done
done

if test "${TEST_LARGE:-no}" = yes; then
  wait
  at_once=4
  export OMP_NUM_THREADS=$(($(nproc) / at_once + 1))
  for precision in double mixed; do
    for op in fv2 fv4 7pt; do
      in_background large 6 125 --operator="$op" --precision=$precision
    done
    in_background large 6 125 --smoother=chebyshev --precision=$precision
    in_background large 6 125 --boundary=periodic --precision=$precision
  done
  # Fused sweeps also interpolate.
  for lengths in 1,1,1 1,1,4; do
    in_background large --cells=233x235x231 --lengths=$lengths --rtol=1e-8
    in_background large --cells=295x293x295 --lengths=$lengths --rtol=1e-8 --precision=mixed
  done
fi
all_done
echo "$runs runs on CUDA are bit-identical to the CPU"
