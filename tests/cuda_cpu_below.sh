# shellcheck shell=bash disable=SC2154,SC2031
# cuda_cpu_below: the crossing from the device to the CPU at every level of a run of 64^3 cells, and
# nowhere, in either kind of memory: the CPU's digits for every operator and boundary. A value above
# all levels runs on the CPU alone, and auto takes one of these. Skips without a device.
. "$abs_top_srcdir/tests/cuda_same.sh"

# places ARG...: where the levels of a run live, finest first, as words.
places() {
  solo "$HPGMG_FV" "$@" --verify-only | awk '$1 ~ /^[0-9]+$/ && $2 ~ /\^3$/ && NF > 8 { printf "%s ", $6 }'
}

every_crossing() {
  digits "$dir/cpu" --device=cpu 5 8 "$@"
  for memory in device unified; do
    for below in 0 2 9 65 513 4097 32769 262145 auto; do
      digits "$dir/cuda" --device=cuda --memory=$memory --cpu-below=$below 5 8 "$@"
      same "$dir/cpu" "$dir/cuda" "--memory=$memory --cpu-below=$below $*"
    done
  done
}

for op in fv2 fv4 7pt; do
  for boundary in dirichlet periodic; do
    beside every_crossing --operator=$op --boundary=$boundary
  done
done
all_done

# The report names each level's place.
check_places() {
  got=$(places 5 8 --device=cuda --cpu-below="$1")
  test "$got" = "$2" || {
    echo "--cpu-below=$1: levels live on '$got', not '$2'"
    exit 1
  }
}
check_places 0 'cuda cuda cuda cuda cuda cuda cuda '
check_places 513 'cuda cuda cuda cpu cpu cpu cpu '
check_places 1000000000000000000 'cpu cpu cpu cpu cpu cpu cpu '

# Ranks that share the device agree on what was measured.
if have_mpi; then
  digits "$dir/cpu" --device=cpu 5 8
  mpi_run 3 "$HPGMG_FV" 5 3 --device=cuda --cpu-below=auto --verify-only --quiet --csv="$dir/out.csv"
  awk -F, 'NR > 1 { print $6, $12, $13, $14, $18, $19 }' "$dir/out.csv" >"$dir/cuda"
  same "$dir/cpu" "$dir/cuda" '3 ranks with --cpu-below=auto'
  runs=$((runs - 1))
fi

echo "$runs runs with the crossing everywhere have the CPU's digits"
test $runs -eq 108
