# shellcheck shell=bash disable=SC2034,SC2154
# Runs whose ranks send messages between CUDA devices, compared with one rank on the CPU; to be sourced.
# Without a device, or without MPI, the test that sources this is skipped.
#
#   wanted ARGUMENT...                  what the CPU says of the problem, all boxes on one rank
#   compare TRANSPORT RANKS ARGUMENT... the same digits on so many ranks, and the report names the transport
#   same_messages TRANSPORT             on two ranks it counts the messages that the CPU counts, in replayed
#                                       cycles too: what --levels-breakdown says of them
#   refused TRANSPORT RANKS PATTERN     it ends with exit code 4 and a line that matches
#
# Reads size (log2 of a box's cells a side), all (the boxes of all ranks) and limit (the seconds that a run may
# take); their defaults are set here. Sets dir (a folder that is removed in the end), devices (their count),
# has_nccl and runs (how many compare has made).
. "$abs_top_srcdir/tests/run_mpi.sh"
own_folder
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

digits() {
  awk -F, 'NR > 1 { print $6, $12, $13, $14, $18, $19 }' "$1"
}

size=4 all=64 limit=1800
wanted() {
  solo "$HPGMG_FV" $size $all "$@" --device=cpu --verify-only --quiet --csv="$dir/cpu.csv" >/dev/null
  digits "$dir/cpu.csv" >"$dir/cpu"
}

runs=0
compare() {
  transport=$1 ranks=$2
  shift 2
  boxes=$(((all + ranks - 1) / ranks))
  rc=0
  mpi_run "$ranks" timeout "$limit" "$HPGMG_FV" $size $boxes "$@" --device=cuda --transport="$transport" \
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

counted() {
  mpi_run 2 timeout "$limit" "$HPGMG_FV" 4 32 --agglomerate-below=500 --cpu-below=0 --min-solves=2 --min-time=0 \
    --levels-breakdown "$@" >"$dir/out" 2>"$dir/err" || {
    echo "$*: exit code $?, $(cat "$dir/err")"
    exit 1
  }
  sed -n '/messages of one solve/,/^$/p' "$dir/out"
}

same_messages() {
  counted --device=cpu >"$dir/cpu-messages"
  test "$(wc -l <"$dir/cpu-messages")" -ge 6
  counted --device=cuda --transport="$1" >"$dir/messages"
  diff "$dir/cpu-messages" "$dir/messages" || {
    echo "--transport=$1: other messages than on the CPU"
    exit 1
  }
}
