# shellcheck shell=bash disable=SC2154
# cuda_memory: a run that does not fit on the device is refused before anything is allocated, in
# either kind of memory, with what it needs, what is free and sizes that fit; ranks that share the
# device share what is free; levels on the CPU need nothing there. Skips without a device.
. "$abs_top_srcdir/tests/cli_lib.sh"
if ! have_cuda; then
  echo 'skipped: this build or this machine has no CUDA device' >&2
  exit 77
fi

# planned RANKS LOG2 BOXES: bytes in all.
planned() {
  ok 1 --dry-run --device=cuda --cpu-below=0 --ranks="$1" "$2" "$3"
  in_bytes "$(sed -n 's/.*in all ranks: about \([0-9.]* [kMGTPE]*B\).*/\1/p' "$dir/out")"
}

# refused RANKS ARG...: 4096^3 cells and more are beyond any device; leaves $need and $room, in bytes.
refused() {
  expect 4 'needs at least [0-9.]+ [kMGTPE]?B where [0-9.]+ [kMGTPE]?B are free on the device; what fits is' "$@"
  need=$(in_bytes "$(sed 's/.*needs at least \([0-9.]* [kMGTPE]*B\).*/\1/' "$dir/err")")
  room=$(in_bytes "$(sed 's/.*B where \([0-9.]* [kMGTPE]*B\) are free.*/\1/' "$dir/err")")
  local log2 boxes sizes
  sizes=$(grep -oE "'[0-9]+ [0-9]+'" "$dir/err" | tr -d "'")
  while read -r log2 boxes; do
    # Both are rounded to four digits and more.
    awk -v bytes="$(planned "$1" "$log2" "$boxes")" -v room="$room" -v ranks="$1" \
      'BEGIN { exit !(bytes > 0 && bytes <= 1.001 * room * ranks) }' || complain "'$log2 $boxes' does not fit in $room B"
  done <<<"$sizes"
}

for memory in device unified; do
  refused 1 10 64 --device=cuda --memory=$memory --cpu-below=0
  awk -v need="$need" -v room="$room" 'BEGIN { exit !(need > 4e12 && room < need) }' ||
    complain "4096^3: $need B needed, $room B free"
done
alone=$room
if have_mpi; then
  refused 2 10 32 --device=cuda --device-id=0 --cpu-below=0
  # Halves of the first device, whatever others there are; what is free also changes with who else is on it.
  awk -v a="$alone" -v r="$room" 'BEGIN { exit !(r < 0.75 * a && r > a / 4) }' ||
    complain "two ranks have $room B each where one has $alone B"
fi

# All but the finest level on the CPU.
ok 1 5 8 --device=cuda --cpu-below=32769 --verify-only
finish
