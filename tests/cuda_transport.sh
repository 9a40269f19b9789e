# shellcheck shell=bash disable=SC2154
# cuda_transport: whatever carries messages between CUDA devices, norms, errors and orders are those of
# one rank on the CPU, for every operator and boundary, with levels on the CPU and without, several
# boxes a rank, on 2 to 8 ranks. More ranks than devices share them: peer and host work there as well.
# NCCL has a test of its own. Skips without a device.
set -eu
# shellcheck source=tests/transport.sh
. "$abs_top_srcdir/tests/transport.sh"

# Does the MPI library take device memory? It says so at run time; then it must be able to.
takes_device=no
if mpi_run 2 "$HPGMG_FV" 4 8 --verify-only --device=cuda --transport=mpi >"$dir/out" 2>"$dir/err"; then
  takes_device=yes
fi

for op in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    problem="--operator=$op --boundary=$boundary --rtol=1e-6"
    # shellcheck disable=SC2086 # options are words
    {
      wanted $problem
      compare peer 2 $problem --cpu-below=0 --agglomerate-below=500
      compare peer 2 $problem --cpu-below=5000
      compare host 2 $problem --cpu-below=600 --agglomerate-below=500
      test $takes_device = no || compare mpi 2 $problem --cpu-below=600 --agglomerate-below=500
    }
  done
done
# The last of these problems on more ranks, and with coarse levels on all of them.
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
  # One way for each device there is.
  test "$devices" -le 2 || compare peer "$devices" --operator=7pt --boundary=periodic --rtol=1e-6
fi
# Two ways in one exchange: peer stores within each half of the ranks, the host's memory between them.
program=$HPGMG_FV
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-two-hosts
for ranks in 4 8; do
  compare peer $ranks --operator=7pt --boundary=periodic --rtol=1e-6 --cpu-below=0 --agglomerate-below=500
done
# Peer stores that do not arrive are found out before anything goes through them.
HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-lost-stores
refused peer 2 "the devices of ranks 0 and 1 do not reach each other's memory (stores do not arrive"
compare auto 2 --operator=7pt --boundary=periodic --rtol=1e-6 --cpu-below=0
if ! grep -q '^  messages  [^p]*; .*; not all by peer stores' "$dir/out" ||
  ! grep -q 'warning: between some devices messages go without peer stores' "$dir/err"; then
  echo "peer stores did not arrive: $(cat "$dir/out" "$dir/err")"
  exit 1
fi
HPGMG_FV=$program
# Boxes so wide that the inner cells are smoothed while messages travel: 256^3 cells.
size=6
for smoother in gsrb chebyshev; do
  wanted --smoother=$smoother --boundary=periodic
  compare host 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  compare peer 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  test $takes_device = no || compare mpi 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  # Passes of several steps, and their deep halos, on all devices.
  test "$devices" -le 2 || compare peer "$devices" --smoother=$smoother --boundary=periodic --cpu-below=0
  HPGMG_FV=$abs_top_builddir/tests/mocks/hpgmg-fv-two-hosts
  compare peer 4 --smoother=$smoother --boundary=periodic --cpu-below=0
  HPGMG_FV=$program
done
# 320^3 cells: on a card of 132 multiprocessors some are left over beside the inner cells' tiles, and carry
# messages meanwhile.
size=5 all=1000
for options in --smoother=gsrb --smoother=chebyshev --operator=7pt --operator=fv4 '--operator=fv4 --smoother=chebyshev'; do
  # shellcheck disable=SC2086 # words
  {
    wanted $options
    compare peer 2 $options --cpu-below=0
    compare host 2 $options --cpu-below=0
  }
done
size=4 all=64
# A coarsest level that is solved by more than one launch, on one rank of several: nobody records a cycle then.
wanted --coarsest=16 --bottom=smoother
compare peer 2 --coarsest=16 --bottom=smoother --cpu-below=0

transports='peer host'
if test $takes_device = yes; then transports="$transports mpi"; fi
for transport in $transports; do
  same_messages "$transport"
done

# What cannot work is refused.
test "$has_nccl" = yes || refused nccl 2 'this build has no NCCL'
test $takes_device = yes || refused mpi 2 "the MPI library does not say that it takes device memory"
echo "$runs runs on CUDA with the CPU's digits"
