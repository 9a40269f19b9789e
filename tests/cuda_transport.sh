# shellcheck shell=bash disable=SC2154
# cuda_transport: whatever carries messages between CUDA devices, norms, errors and orders are those of
# one rank on the CPU, for every operator and boundary, with levels on the CPU and without, several
# boxes a rank, on 2 to 8 ranks. More ranks than devices share them: peer and host work there as well.
# Skips without a device.
set -eu
. "$abs_top_srcdir/tests/run_mpi.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! have_mpi; then
  echo 'skipped: several ranks need MPI and mpirun' >&2
  exit 77
fi
solo "$HPGMG_FV" 4 1 --device-id=1023 >/dev/null 2>"$dir/err" || true
devices=$(sed -n 's/.*sees \([0-9]*\) CUDA device.*/\1/p' "$dir/err")
if test -z "$devices"; then
  echo 'skipped: this build or this machine has no CUDA device' >&2
  exit 77
fi
has_nccl=no
if solo "$HPGMG_FV" --version | grep '^NCCL' | grep -q yes; then has_nccl=yes; fi

# Does the MPI library take device memory? It says so at run time; then it must be able to.
takes_device=no
if mpi_run 2 "$HPGMG_FV" 4 8 --verify-only --device=cuda --transport=mpi >"$dir/out" 2>"$dir/err"; then
  takes_device=yes
fi

digits() {
  awk -F, 'NR > 1 { print $6, $12, $13, $14, $18, $19 }' "$1"
}

# wanted ARGUMENT...: all boxes on one rank of the CPU.
size=4 all=64
wanted() {
  solo "$HPGMG_FV" $size $all "$@" --device=cpu --verify-only --quiet --csv="$dir/cpu.csv" >/dev/null
  digits "$dir/cpu.csv" >"$dir/cpu"
}

runs=0
# compare TRANSPORT RANKS ARGUMENT...: the same on so many ranks; the report names the transport.
compare() {
  transport=$1 ranks=$2
  shift 2
  boxes=$(((all + ranks - 1) / ranks))
  rc=0
  mpi_run "$ranks" timeout 60 "$HPGMG_FV" $size $boxes "$@" --device=cuda --transport="$transport" \
    --verify-only --csv="$dir/out.csv" >"$dir/out" 2>"$dir/err" || rc=$?
  digits "$dir/out.csv" >"$dir/cuda" || true
  runs=$((runs + 1))
  if test "$rc" -ne 0 || ! cmp -s "$dir/cpu" "$dir/cuda"; then
    echo "--transport=$transport on $ranks ranks, $*: exit code $rc; the CPU's digits, then CUDA's"
    cat "$dir/cpu" "$dir/cuda" "$dir/err"
    exit 1
  fi
  test "$transport" = auto || grep -q "^  messages  $transport;" "$dir/out" || {
    echo "$transport was asked for: $(grep messages "$dir/out")"
    exit 1
  }
  rm -f "$dir/out.csv"
}

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
  if test $has_nccl = yes; then
    compare nccl 2 --operator=7pt --boundary=periodic --rtol=1e-6 --cpu-below=0
    compare nccl 2 --operator=7pt --boundary=periodic --rtol=1e-6 --cpu-below=5000
  fi
  # One way for each device there is.
  test "$devices" -le 2 || compare peer "$devices" --operator=7pt --boundary=periodic --rtol=1e-6
fi
# Two ways in one exchange: peer stores within each half of the ranks, the host's memory between them.
program=$HPGMG_FV
HPGMG_FV=$abs_top_builddir/tests/hpgmg-fv-halves
for ranks in 4 8; do
  compare peer $ranks --operator=7pt --boundary=periodic --rtol=1e-6 --cpu-below=0 --agglomerate-below=500
done
HPGMG_FV=$program
# Boxes so wide that the inner cells are smoothed while messages travel: 256^3 cells.
size=6
for smoother in gsrb chebyshev; do
  wanted --smoother=$smoother --boundary=periodic
  compare host 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  compare peer 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  test $has_nccl = no || test "$devices" -lt 2 ||
    compare nccl 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  test $takes_device = no || compare mpi 2 --smoother=$smoother --boundary=periodic --cpu-below=0
  # Passes of several steps, and their deep halos, on all devices.
  if test "$devices" -gt 2; then
    compare peer "$devices" --smoother=$smoother --boundary=periodic --cpu-below=0
    test $has_nccl = no || compare nccl "$devices" --smoother=$smoother --boundary=periodic --cpu-below=0
  fi
  HPGMG_FV=$abs_top_builddir/tests/hpgmg-fv-halves
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
  # shellcheck disable=SC2086
  test $has_nccl = no || test "$devices" -lt 2 || compare nccl 2 $options --cpu-below=0
done
size=4 all=64
# A coarsest level that is solved by more than one launch, on one rank of several: nobody records a cycle then.
wanted --coarsest=16 --bottom=smoother
compare peer 2 --coarsest=16 --bottom=smoother --cpu-below=0
test $has_nccl = no || test "$devices" -lt 2 ||
  compare nccl "$devices" --coarsest=16 --bottom=smoother --cpu-below=0

# Messages are counted alike whatever carries them, in replayed cycles too: what --levels-breakdown says
# of them is what it says on the CPU.
counted() {
  mpi_run 2 timeout 60 "$HPGMG_FV" 4 32 --agglomerate-below=500 --cpu-below=0 --min-solves=2 --min-time=0 \
    --levels-breakdown "$@" >"$dir/out" 2>"$dir/err" || {
    echo "$*: exit code $?, $(cat "$dir/err")"
    exit 1
  }
  sed -n '/messages of one solve/,/^$/p' "$dir/out"
}
counted --device=cpu >"$dir/cpu"
test "$(wc -l <"$dir/cpu")" -ge 6
transports='peer host'
if test $has_nccl = yes && test "$devices" -ge 2; then transports="$transports nccl"; fi
if test $takes_device = yes; then transports="$transports mpi"; fi
for transport in $transports; do
  counted --device=cuda --transport="$transport" >"$dir/cuda"
  diff "$dir/cpu" "$dir/cuda" || {
    echo "--transport=$transport: other messages than on the CPU"
    exit 1
  }
done

# What cannot work is refused.
refused() {
  transport=$1 ranks=$2 pattern=$3
  rc=0
  mpi_run "$ranks" "$HPGMG_FV" 4 8 --verify-only --device=cuda --transport="$transport" \
    >"$dir/out" 2>"$dir/err" || rc=$?
  if test "$rc" -ne 4 || ! grep -q "error: --transport=$transport: $pattern" "$dir/err"; then
    echo "--transport=$transport on $ranks ranks: exit code $rc, $(cat "$dir/err")"
    exit 1
  fi
}
if test $has_nccl = yes; then
  refused nccl $((devices + 1)) 'ranks share a device'
else
  refused nccl 2 'this build has no NCCL'
fi
# NCCL cannot start without a network: an error for who wants it by name, no more than a warning for who does
# not. Automatic is NCCL where devices do not see each other.
if test $has_nccl = yes && test "$devices" -ge 2 && test -z "${CUDA_VISIBLE_DEVICES:-}"; then
  export NCCL_SOCKET_IFNAME='=none' # by this name exactly
  refused nccl 2 'NCCL does not start: '
  cat >"$dir/hidden" <<'EOF'
#!/bin/sh
export CUDA_VISIBLE_DEVICES=${OMPI_COMM_WORLD_LOCAL_RANK:-${PMI_RANK:-0}}
exec "$PROGRAM" "$@"
EOF
  chmod +x "$dir/hidden"
  export PROGRAM=$HPGMG_FV
  HPGMG_FV=$dir/hidden
  size=4
  wanted --operator=7pt
  compare auto 2 --operator=7pt --cpu-below=0
  grep -q '^  messages  .*not nccl, which does not start' "$dir/out" || {
    echo "NCCL could not start: $(cat "$dir/out" "$dir/err")"
    exit 1
  }
  HPGMG_FV=$PROGRAM
  unset NCCL_SOCKET_IFNAME
fi
test $takes_device = yes || refused mpi 2 "the MPI library does not say that it takes device memory"
echo "$runs runs on CUDA with the CPU's digits"
