# shellcheck shell=bash disable=SC2154
# cuda_memory: a run that does not fit on the device is refused before anything is allocated, in
# either kind of memory, with what it needs, what is free and sizes that fit; ranks that share the
# device share what is free; levels on the CPU need nothing there. Skips without a device.
. "$abs_top_srcdir/tests/expect.sh"
if ! have_cuda; then
  echo 'skipped: this build or this machine has no CUDA device' >&2
  exit 77
fi

# planned RANKS LOG2 BOXES: GB in all.
planned() {
  ok 1 --dry-run --device=cuda --cpu-below=0 --ranks="$1" "$2" "$3"
  awk '/in all ranks: about/ { print $5 }' "$dir/out"
}

# refused RANKS ARG...: 4096^3 cells and more are beyond any device; leaves $need and $room.
refused() {
  expect 4 'needs at least [0-9.]+ GB where [0-9.]+ GB are free on the device; what fits is' "$@"
  need=$(sed 's/.*needs at least \([0-9.]*\) GB.*/\1/' "$dir/err")
  room=$(sed 's/.* GB where \([0-9.]*\) GB are free.*/\1/' "$dir/err")
  local log2 boxes sizes
  sizes=$(grep -oE "'[0-9]+ [0-9]+'" "$dir/err" | tr -d "'")
  while read -r log2 boxes; do
    awk -v gb="$(planned "$1" "$log2" "$boxes")" -v room="$room" -v ranks="$1" \
      'BEGIN { exit !(gb <= room * ranks + 0.001) }' || complain "'$log2 $boxes' does not fit in $room GB"
  done <<<"$sizes"
}

for memory in device unified; do
  refused 1 10 64 --device=cuda --memory=$memory --cpu-below=0
  awk -v need="$need" -v room="$room" 'BEGIN { exit !(need > 4000 && room < need) }' ||
    complain "4096^3: $need GB needed, $room GB free"
done
alone=$room
if have_mpi; then
  refused 2 10 32 --device=cuda --device-id=0 --cpu-below=0
  # Halves of the first device, whatever others there are; what is free also changes with who else is on it.
  awk -v a="$alone" -v r="$room" 'BEGIN { exit !(r < 0.75 * a && r > a / 4) }' ||
    complain "two ranks have $room GB each where one has $alone GB"
fi

# All but the finest level on the CPU.
ok 1 5 8 --device=cuda --cpu-below=32769 --verify-only
finish
