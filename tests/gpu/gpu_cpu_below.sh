# shellcheck shell=bash disable=SC2154,SC2031
# gpu_cpu_below: with levels below any size on the CPU (64^3 cells), or with none, results are bit-identical to a run
# on the CPU, for every operator, boundary and kind of memory. Also with all levels on the CPU, and with
# --cpu-below=auto. Skips without a device.
. "$abs_top_srcdir/tests/lib/compare_gpu.sh"

# places ARG...: print the place (cpu or cuda) of each level, finest first.
places() {
  solo "$HPGMG_FV" "$@" --verify-only | awk '$1 ~ /^[0-9]+$/ && $2 ~ /\^3$/ && NF > 8 { printf "%s ", $6 }'
}

every_crossing() {
  results "$dir/cpu" --device=cpu 5 8 "$@"
  for memory in device unified; do
    for below in 0 2 9 65 513 4097 32769 262145 auto; do
      results "$dir/cuda" --device=cuda --memory=$memory --cpu-below=$below 5 8 "$@"
      same "$dir/cpu" "$dir/cuda" "--memory=$memory --cpu-below=$below $*"
    done
  done
}

for op in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    in_background every_crossing --operator=$op --boundary=$boundary
  done
done
all_done

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
  runs=$((runs - 1))
fi

echo "$runs runs are bit-identical to the CPU"
test $runs -eq 108
