# shellcheck shell=bash disable=SC2154,SC2031
# gpu_cpu_below: with the levels below any size on the CPU, or with none, results are bit-identical to a run on the CPU,
# for every operator and boundary, in double and mixed precision: 64^3 cells, in every kind of memory, with
# --cpu-below=auto and with all levels on the CPU too; and 48^3, 80^3 and 96^3 cells. Skips without a device.
. "$abs_top_srcdir/tests/lib/compare_gpu.sh"

# places ARG...: print the place (cpu or cuda) of each level, finest first.
places() {
  solo "$HPGMG_FV" "$@" --verify-only | awk '$1 ~ /^[0-9]+$/ && $2 ~ /\^3$/ && NF > 8 { printf "%s ", $6 }'
}

# crossings N: print the values of --cpu-below that place 0, 1, ... and all levels of N^3 cells on the CPU.
crossings() {
  local n=$1
  echo 0 $((n * n * n + 1))
  while test $((n % 2)) -eq 0; do
    n=$((n / 2))
    echo $((n * n * n + 1))
  done
}

# every_crossing CELLS MEMORIES LOG2 BOXES ARG...
every_crossing() {
  local cells=$1 memories=$2 memory below more=
  shift 2
  test "$cells" -ne 64 || more=auto
  results "$dir/cpu" --device=cpu "$@"
  for memory in $memories; do
    for below in $(crossings "$cells") $more; do
      results "$dir/cuda" --device=cuda --memory="$memory" --cpu-below="$below" "$@"
      same "$dir/cpu" "$dir/cuda" "--memory=$memory --cpu-below=$below $*"
    done
  done
}

want=0
# begin RUNS ARG...: run every_crossing, which counts RUNS, in the background.
begin() {
  want=$((want + $1))
  shift
  in_background every_crossing "$@"
}
for op in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    begin 18 64 'device unified' 5 8 --operator=$op --boundary=$boundary
    begin 9 64 device 5 8 --operator=$op --boundary=$boundary --precision=mixed
  done
  for precision in double mixed; do
    begin 6 48 device 4 27 --operator=$op --precision=$precision
    begin 6 80 device 4 125 --operator=$op --precision=$precision
    begin 7 96 device 5 27 --operator=$op --precision=$precision
    begin 7 96 device 5 27 --operator=$op --precision=$precision --boundary=periodic
  done
done
all_done
test "$parts" -gt 1 || test "$runs" -eq $want

# The report lists the place of each level.
check_places() {
  got=$(places 5 8 --device=cuda --cpu-below="$1")
  test "$got" = "$2" || {
    echo "--cpu-below=$1: levels are on '$got', not '$2'"
    exit 1
  }
}
check_places 0 'cuda cuda cuda cuda cuda cuda cuda '
check_places 513 'cuda cuda cuda cpu cpu cpu cpu '
check_places 1000000000000000000 'cpu cpu cpu cpu cpu cpu cpu '

# Ranks that share a device must agree on the measured value of auto.
if have_mpi; then
  results "$dir/cpu" --device=cpu 5 8
  mpi_run 3 "$HPGMG_FV" 5 3 --device=cuda --cpu-below=auto --verify-only --quiet --csv="$dir/out.csv"
  results_of "$dir/out.csv" >"$dir/cuda"
  same "$dir/cpu" "$dir/cuda" '3 ranks with --cpu-below=auto'
fi

echo "$runs runs are bit-identical to the CPU"
