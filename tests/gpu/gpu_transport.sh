# shellcheck shell=bash disable=SC2154
# gpu_transport: with every transport between CUDA devices, norms, errors and orders are bit-identical
# to one rank on the CPU: for every operator and boundary, with and without levels on the CPU, several
# boxes per rank, on 2 to 8 ranks; with peer stores also in mixed precision; and for domains of any shape. Ranks
# share devices if there are fewer; peer and host support that. NCCL is tested in gpu_nccl.sh. Skips without a device.
# shellcheck source=tests/lib/compare_transports.sh
. "$abs_top_srcdir/tests/lib/compare_transports.sh"

# takes_device: the MPI library reports at run time that it is CUDA-aware.
takes_device=no
if mpi_run 2 "$HPGMG_FV" 4 8 --verify-only --device=cuda --transport=mpi >"$dir/out" 2>"$dir/err"; then
  takes_device=yes
fi

for op in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    problem="--operator=$op --boundary=$boundary --rtol=1e-6"
    # shellcheck disable=SC2086 # options are words
    {
      wanted $problem --precision=mixed
      compare peer 2 $problem --precision=mixed --cpu-below=0
      wanted $problem
      compare peer 2 $problem --cpu-below=0 --agglomerate-below=500
      compare peer 2 $problem --cpu-below=5000
      compare host 2 $problem --cpu-below=600 --agglomerate-below=500
      test $takes_device = no || compare mpi 2 $problem --cpu-below=600 --agglomerate-below=500
    }
  done
done
# The last of these problems on more ranks, with and without agglomeration.
for ranks in 3 4 5 8; do
  compare auto $ranks --operator=7pt --boundary=periodic --rtol=1e-6
done
compare peer 3 --operator=7pt --boundary=periodic --rtol=1e-6 --cpu-below=0 --agglomerate-below=0
compare host 4 --operator=7pt --boundary=periodic --rtol=1e-6 --cpu-below=0 --agglomerate-below=0
test $takes_device = no ||
  compare mpi 4 --operator=7pt --boundary=periodic --rtol=1e-6 --cpu-below=0 --agglomerate-below=0
if test "$devices" -ge 2; then
  compare auto 2 --operator=7pt --boundary=periodic --rtol=1e-6
  grep -q '^  messages  peer\|^  messages  host' "$dir/out"
  # One rank per device.
  test "$devices" -le 2 || compare peer "$devices" --operator=7pt --boundary=periodic --rtol=1e-6
fi
# Two transports in one exchange: peer stores within each half of the ranks, host memory between the halves.
program=$HPGMG_FV
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-two-hosts
for ranks in 4 8; do
  compare peer $ranks --operator=7pt --boundary=periodic --rtol=1e-6 --cpu-below=0 --agglomerate-below=500
done
# Lost peer stores are detected before peer stores are used.
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-lost-stores
refused peer 2 'no peer access between the GPUs of ranks 0 and 1 (stores do not arrive'
compare auto 2 --operator=7pt --boundary=periodic --rtol=1e-6 --cpu-below=0
if ! grep -q '^  messages  [^p]*; .*; some peer stores do not arrive' "$dir/out" ||
  ! grep -q 'warning: no peer stores between some GPUs' "$dir/err"; then
  echo "no report of lost peer stores: $(cat "$dir/out" "$dir/err")"
  exit 1
fi
HPGMG_FV=$program
# Domains of any shape.
for options in \
  '--cells=37x21x18 --stretch=x:tanh:2,z:tanh:1.5 --boundary=neumann:1,dirichlet:2,robin:1:2:3,neumann,periodic,periodic' \
  '--cells=64x1x96 --lengths=1,1,40 --operator=7pt --smoother=chebyshev --boundary=neumann --mean=2'; do
  # shellcheck disable=SC2086 # words
  {
    wanted $options --rtol=1e-9
    compare peer 2 $options --rtol=1e-9 --cpu-below=0
    compare host 3 $options --rtol=1e-9 --cpu-below=600 --agglomerate-below=500
    compare auto 4 $options --rtol=1e-9 --cpu-below=0 --agglomerate-below=0
  }
done
# 256^3 cells: boxes are wide enough to overlap interior cells with messages.
size=6
for smoother in gsrb chebyshev; do
  wanted --smoother=$smoother --boundary=periodic
  compare host 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  compare peer 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  test $takes_device = no || compare mpi 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  # Fused sweeps and their deep halos on all devices.
  test "$devices" -le 2 || compare peer "$devices" --smoother=$smoother --boundary=periodic --cpu-below=0
  HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-two-hosts
  compare peer 4 --smoother=$smoother --boundary=periodic --cpu-below=0
  HPGMG_FV=$program
done
# 320^3 cells: on a GPU with 132 SMs, the tiles of interior cells leave some SMs idle, which then send messages. Sweeps
# of double cells interpolate their input.
size=5 all=1000
for options in --smoother=gsrb --smoother=chebyshev --operator=7pt --operator=fv4 '--operator=fv4 --smoother=chebyshev' \
  --precision=mixed; do
  # shellcheck disable=SC2086 # words
  {
    wanted $options
    compare peer 2 $options --cpu-below=0
    compare host 2 $options --cpu-below=0
  }
done
size=4 all=64
# A coarsest level with several launches on one of several ranks: no rank captures the cycle then.
wanted --coarsest=16 --bottom=smoother
compare peer 2 --coarsest=16 --bottom=smoother --cpu-below=0

transports='peer host'
if test $takes_device = yes; then transports="$transports mpi"; fi
for transport in $transports; do
  same_messages "$transport"
done

# Unavailable transports are refused.
have_feature NCCL || refused nccl 2 'built without NCCL'
test $takes_device = yes || refused mpi 2 'the MPI library is not CUDA-aware'
echo "$runs runs on CUDA are bit-identical to the CPU"
