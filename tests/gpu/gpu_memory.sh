# shellcheck shell=bash disable=SC2154
# gpu_memory: a run that does not fit on the device is refused before anything is allocated, in either
# kind of memory. The message has the needed and the free memory, and sizes that fit. Ranks that share a
# device share its free memory. Levels on the CPU need none. Skips without a device.
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
have_cuda || skip_test 'no CUDA device, or build without CUDA'

# planned RANKS LOG2 BOXES: total bytes of a dry run.
planned() {
  ok 1 --dry-run --device=cuda --cpu-below=0 --ranks="$1" "$2" "$3"
  in_bytes "$(sed -n 's/.*in all ranks: about \([0-9.]* [kMGTPE]*B\).*/\1/p' "$dir/out")"
}

# refused RANKS ARG...: a size that fits on no device must be refused. Sets $need and $room, in bytes.
refused() {
  expect 4 'needs at least [0-9.]+ [kMGTPE]?B, but only [0-9.]+ [kMGTPE]?B are free on the device; largest size that fits: ' "$@"
  need=$(in_bytes "$(sed 's/.*needs at least \([0-9.]* [kMGTPE]*B\).*/\1/' "$dir/err")")
  room=$(in_bytes "$(sed 's/.* but only \([0-9.]* [kMGTPE]*B\) are free.*/\1/' "$dir/err")")
  local log2 boxes sizes
  sizes=$(grep -oE "'[0-9]+ [0-9]+'" "$dir/err" | tr -d "'")
  while read -r log2 boxes; do
    # Both values are printed with at least four digits, hence 1.001.
    awk -v bytes="$(planned "$1" "$log2" "$boxes")" -v room="$room" -v ranks="$1" \
      'BEGIN { exit !(bytes > 0 && bytes <= 1.001 * room * ranks) }' || complain "'$log2 $boxes' does not fit in $room B"
  done <<<"$sizes"
}

for memory in device unified; do
  refused 1 10 64 --device=cuda --memory=$memory --cpu-below=0
  # Six values per cell at least.
  awk -v need="$need" -v room="$room" 'BEGIN { exit !(need > 48 * 4096 ^ 3 && room < need) }' ||
    complain "4096^3: $need B needed, $room B free"
done
alone=$room
if have_mpi; then
  refused 2 10 32 --device=cuda --device-id=0 --cpu-below=0
  # Each rank has half of the first device. Free memory also changes with other users of the device.
  awk -v a="$alone" -v r="$room" 'BEGIN { exit !(r < 0.75 * a && r > a / 4) }' ||
    complain "each of two ranks has $room B, but one rank has $alone B"
fi

# All but the finest level on the CPU.
ok 1 5 8 --device=cuda --cpu-below=32769 --verify-only
finish
