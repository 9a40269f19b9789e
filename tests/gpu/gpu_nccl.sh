# shellcheck shell=bash disable=SC2154
# gpu_nccl: with NCCL messages between CUDA devices, also in captured graphs and overlapped with interior cells,
# results are bit-identical to one rank on the CPU. With a single device, two ranks share it in a mock that reports one
# host per rank, so that NCCL uses sockets. If NCCL cannot start, --transport=nccl fails and auto uses another
# transport. Skips without a device or NCCL.
# shellcheck source=tests/lib/compare_transports.sh
. "$abs_top_srcdir/tests/lib/compare_transports.sh"

need_feature NCCL
refused nccl $((devices + 1)) 'NCCL requires one GPU per rank'

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
# A coarsest level with several launches on one of several ranks: no rank captures the cycle then.
wanted --coarsest=16 --bottom=smoother
compare nccl 2 --coarsest=16 --bottom=smoother --cpu-below=0
# More ranks, without agglomeration: each has a part of every level.
wanted --boundary=periodic
if test "$devices" -lt 2 || test "$devices" -ge 4; then
  compare nccl 4 --boundary=periodic --cpu-below=0 --agglomerate-below=0
fi
# 256^3 cells: boxes are wide enough to overlap interior cells with messages, in fused sweeps.
size=6
for smoother in gsrb chebyshev; do
  wanted --smoother=$smoother --boundary=periodic
  compare nccl 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  test "$devices" -le 2 || compare nccl "$devices" --smoother=$smoother --boundary=periodic --cpu-below=0
done
# 320^3 cells: on a GPU with 132 SMs, the tiles of interior cells leave some SMs idle.
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

# Without a network interface NCCL cannot start: an error with --transport=nccl, a note in the report with auto. auto
# tries NCCL if devices have no peer access: on two hosts, or hidden from each other.
without_network() {
  HPGMG_FV=$1
  refused nccl 2 'NCCL failed to start: '
  wanted --operator=7pt
  compare auto 2 --operator=7pt --cpu-below=0
  grep -q '^  messages  .*; nccl failed to start: ' "$dir/out" || {
    echo "no report that NCCL failed to start: $(cat "$dir/out" "$dir/err")"
    exit 1
  }
}
export NCCL_SOCKET_IFNAME='=none' # "=" requires an exact match; no interface has this name
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
echo "$runs runs with NCCL are bit-identical to the CPU"
