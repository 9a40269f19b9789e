# shellcheck shell=bash disable=SC2154
# cuda_nccl: NCCL carries messages between CUDA devices, in recorded cycles and beside inner cells too, and the
# digits are those of one rank on the CPU. Where there is no device for each of two ranks, they share one in a
# program that has each rank on a host of its own: messages go through sockets then. What cannot start is
# refused, or done without. Skips without a device or NCCL.
set -eu
# shellcheck source=tests/transport.sh
. "$abs_top_srcdir/tests/transport.sh"

if test "$has_nccl" = no; then
  echo 'skipped: this build has no NCCL' >&2
  exit 77
fi
refused nccl $((devices + 1)) 'ranks share a device'

program=$HPGMG_FV
hosts=$abs_top_builddir/tests/mocks/hpgmg-fv-host-per-rank
if test "$devices" -lt 2; then
  HPGMG_FV=$hosts
fi
for problem in '--operator=7pt --boundary=periodic' '--operator=fv4 --boundary=dirichlet' --smoother=chebyshev; do
  # shellcheck disable=SC2086 # options are words
  {
    wanted $problem --rtol=1e-6
    compare nccl 2 $problem --rtol=1e-6 --cpu-below=0 --agglomerate-below=500
    compare nccl 2 $problem --rtol=1e-6 --cpu-below=5000
  }
done
# A coarsest level that is solved by more than one launch, on one rank of several: nobody records a cycle then.
wanted --coarsest=16 --bottom=smoother
compare nccl 2 --coarsest=16 --bottom=smoother --cpu-below=0
# More ranks, each with its part of every level.
wanted --boundary=periodic
if test "$devices" -lt 2 || test "$devices" -ge 4; then
  compare nccl 4 --boundary=periodic --cpu-below=0 --agglomerate-below=0
fi
# Boxes so wide that the inner cells are smoothed while messages travel, in passes of several steps: 256^3 cells.
size=6
for smoother in gsrb chebyshev; do
  wanted --smoother=$smoother --boundary=periodic
  compare nccl 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  test "$devices" -le 2 || compare nccl "$devices" --smoother=$smoother --boundary=periodic --cpu-below=0
done
# 320^3 cells: on a card of 132 multiprocessors some are left over beside the inner cells' tiles.
size=5 all=1000
for options in --smoother=gsrb --operator=7pt --operator=fv4 '--operator=fv4 --smoother=chebyshev'; do
  # shellcheck disable=SC2086 # words
  {
    wanted $options
    compare nccl 2 $options --cpu-below=0
  }
done
size=4 all=64
same_messages nccl

# NCCL cannot start without a network: an error for who wants it by name, no more than a warning for who does
# not. Automatic tries it where devices do not reach each other: on two hosts, or hidden from each other.
without_network() {
  HPGMG_FV=$1
  refused nccl 2 'NCCL does not start: '
  wanted --operator=7pt
  compare auto 2 --operator=7pt --cpu-below=0
  grep -q '^  messages  .*not nccl, which does not start' "$dir/out" || {
    echo "NCCL could not start: $(cat "$dir/out" "$dir/err")"
    exit 1
  }
}
export NCCL_SOCKET_IFNAME='=none' # by this name exactly
without_network "$hosts"
if test "$devices" -ge 2 && test -z "${CUDA_VISIBLE_DEVICES:-}"; then
  cat >"$dir/hidden" <<'EOF'
#!/bin/sh
export CUDA_VISIBLE_DEVICES=${OMPI_COMM_WORLD_LOCAL_RANK:-${PMI_RANK:-0}}
exec "$PROGRAM" "$@"
EOF
  chmod +x "$dir/hidden"
  export PROGRAM=$program
  without_network "$dir/hidden"
fi
echo "$runs runs through NCCL with the CPU's digits"
