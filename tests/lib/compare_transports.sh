# shellcheck shell=bash disable=SC2034,SC2154
# Functions that compare runs with messages between CUDA devices with one rank on the CPU; to be sourced. Skips without
# a device or MPI.
#
#   wanted ARGUMENT...                  compute the reference on the CPU, all boxes on one rank
#   compare TRANSPORT RANKS ARGUMENT... results on RANKS ranks must be bit-identical, and the report must name the
#                                       transport
#   same_messages TRANSPORT             on two ranks, --levels-breakdown must count as many messages as on the CPU, also
#                                       with graph replays; single steps, as a CPU fuses those of smaller levels
#   refused TRANSPORT RANKS PATTERN     the run must end with exit code 4 and an error that matches PATTERN
#
# Reads size (log2 of the cells per side of a box), all (total number of boxes; both unused with --cells) and limit
# (seconds per run); defaults are set here. Sets dir (a temporary folder), devices (their number) and runs (number of comparisons).
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
have_mpi || skip_test 'several ranks need MPI and mpirun'
solo "$HPGMG_FV" 4 1 --device-id=1023 >/dev/null 2>"$dir/err" || true
devices=$(sed -n 's/.*: \([0-9][0-9]*\) CUDA devices* visible.*/\1/p' "$dir/err")
test -n "$devices" || skip_test 'no CUDA device, or build without CUDA'

size=4 all=64 limit=1800
# cube BOXES ARGUMENT...: print the size of a cube with BOXES boxes per rank, unless the arguments have --cells.
cube() {
  case " $* " in *' --cells='*) ;; *) echo "$size $1" ;; esac
}

wanted() {
  # shellcheck disable=SC2046 # words
  solo "$HPGMG_FV" $(cube $all "$@") "$@" --device=cpu --verify-only --quiet --csv="$dir/cpu.csv" >/dev/null
  results_of "$dir/cpu.csv" >"$dir/cpu"
}

runs=0
compare() {
  transport=$1 ranks=$2
  shift 2
  boxes=$(((all + ranks - 1) / ranks))
  rc=0
  # Without a value the run would measure, and might leave all cells on one rank.
  case " $* " in
    *' --agglomerate-below='*) ;;
    *) set -- "$@" --agglomerate-below=65536 ;;
  esac
  # shellcheck disable=SC2046 # words
  mpi_run "$ranks" timeout "$limit" "$HPGMG_FV" $(cube $boxes "$@") "$@" --device=cuda --transport="$transport" \
    --verify-only --csv="$dir/out.csv" >"$dir/out" 2>"$dir/err" || rc=$?
  results_of "$dir/out.csv" >"$dir/cuda" || true
  runs=$((runs + 1))
  if test "$rc" -ne 0 || ! cmp -s "$dir/cpu" "$dir/cuda"; then
    echo "--transport=$transport on $ranks ranks, $*: exit code $rc; results on CPU, then CUDA:"
    cat "$dir/cpu" "$dir/cuda" "$dir/err"
    exit 1
  fi
  test "$transport" = auto || grep -q "^  messages  $transport;" "$dir/out" || {
    echo "the report does not name $transport: $(grep messages "$dir/out")"
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
  mpi_run 2 timeout "$limit" "$HPGMG_FV" 4 32 --agglomerate-below=500 --cpu-below=0 --steps-per-pass=1 --min-solves=2 \
    --min-time=0 --levels-breakdown "$@" >"$dir/out" 2>"$dir/err" || {
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
    echo "--transport=$1: messages differ from those on the CPU"
    exit 1
  }
}
