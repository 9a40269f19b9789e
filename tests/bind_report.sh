# shellcheck shell=bash disable=SC2154,SC2016
# bind_report: scripts/bind-report finds what a rank got in a tree of files in place of /proc, /sys and /dev,
# tells lines of ranks from those of launchers, and with mpirun shows what is so on this machine.
set -eu
. "$abs_top_srcdir/tests/bind.sh"

# --- what a rank sees ------------------------------------------------------------------------------

# put FILE TEXT: a file of the tree.
put() {
  mkdir -p "$dir/tree/${1%/*}"
  printf '%b' "$2" >"$dir/tree/$1"
}

# sees NAME FIELDS VARIABLE=VALUE...: with these variables alone, a rank's line has the FIELDS. It must find
# what it needs without any program.
sees() {
  local name=$1 fields=$2
  shift 2
  checks=$((checks + 1))
  env -i PATH="$dir/no" "$@" "$BASH" "$script" --rank --root="$dir/tree" >"$dir/out" 2>&1 ||
    complain "$name: exit code $?"
  test "$(cat "$dir/out")" = "bind-report-rank 1 $fields end" ||
    complain "$name: $(cat "$dir/out"), not $fields"
}

# Two sockets of two NUMA nodes of two cores of two threads, and a node of memory alone; processors that are
# not there, too, of which this process has 0 to 2 and 8.
for cpu in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  core=$((cpu % 8)) socket=$((cpu % 8 / 4))
  put sys/devices/system/cpu/cpu$cpu/topology/thread_siblings_list "$core,$((core + 8))\n"
  put sys/devices/system/cpu/cpu$cpu/topology/physical_package_id "$socket\n"
  put sys/devices/system/cpu/cpu$cpu/topology/core_siblings_list \
    "$((socket * 4))-$((socket * 4 + 3)),$((socket * 4 + 8))-$((socket * 4 + 11))\n"
done
for node in 0 1 2 3; do
  first=$((node * 2))
  put sys/devices/system/node/node$node/cpulist "$first-$((first + 1)),$((first + 8))-$((first + 9))\n"
done
put sys/devices/system/node/node4/cpulist '\n'
put sys/devices/system/cpu/online '0-15\n'
put proc/sys/kernel/hostname 'n7\n'
put proc/self/status \
  'Name:\tbash\nCpus_allowed:\tff\nCpus_allowed_list:\t0-2,8,16-63\nMems_allowed_list:\t0-4\n'
got='host=n7 mems=0-4 cpus=0-2,8 cores=0-2 nodes=0-1 node_sizes=2,2,2,2 sockets=0 socket_sizes=4,4'
sees 'a tree' "rank=0 $got" HOSTNAME=another
put proc/self/numa_maps '55d4c0a00000 bind:0-1 file=/usr/bin/bash mapped=44 N0=44 kernelpagesize_kB=4\n'
sees 'a memory policy' "rank=0 ${got/ cpus/ policy=bind:0-1 cpus}"
put proc/self/numa_maps '55d4c0a00000 default file=/usr/bin/bash mapped=44 N0=44 kernelpagesize_kB=4\n'
sees 'settings' "rank=0 $got threads=4,2 places={0:2},%20100%25??? bind= visible=" OMP_NUM_THREADS=4,2 \
  OMP_PLACES='{0:2}, 100%'$'\303\244\001' OMP_PROC_BIND= CUDA_VISIBLE_DEVICES= LC_ALL=C.UTF-8
long=$(printf '{%03d},' {1..100})
sees 'a long setting' "rank=0 $got places=${long:0:147}..." OMP_PLACES="$long"

# Launchers, also within a batch job, whose variables belong to its script.
sees 'Open MPI' "rank=3 local=1 ranks=4 $got" OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_LOCAL_RANK=1 \
  OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=3 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_STEP_NUM_TASKS=1
sees 'Slurm' "rank=2 local=1 ranks=8 $got" SLURM_PROCID=2 SLURM_LOCALID=1 SLURM_STEP_NUM_TASKS=8
sees 'Slurm with PMIx' "rank=2 local=1 ranks=8 $got" SLURM_PROCID=2 SLURM_LOCALID=1 SLURM_STEP_NUM_TASKS=8 \
  PMIX_RANK=2
sees 'PMIx within Slurm' "rank=2 $got" SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_STEP_NUM_TASKS=1 PMIX_RANK=2
sees 'Hydra within Slurm' "rank=5 local=2 ranks=6 $got" PMI_RANK=5 PMI_SIZE=6 MPI_LOCALRANKID=2 \
  SLURM_PROCID=1 SLURM_LOCALID=0
sees 'jsrun' "rank=5 local=2 ranks=6 $got" JSM_NAMESPACE_RANK=5 JSM_NAMESPACE_LOCAL_RANK=2 \
  JSM_NAMESPACE_SIZE=6
sees 'Flux' "rank=5 local=2 ranks=6 $got" FLUX_TASK_RANK=5 FLUX_TASK_LOCAL_ID=2 FLUX_JOB_SIZE=6 SLURM_PROCID=0
sees 'PALS' "rank=5 local=2 ranks=6 $got" PALS_RANKID=5 PALS_LOCAL_RANKID=2 PMI_RANK=5 PMI_SIZE=6
sees 'no number' "rank=0 $got" OMPI_COMM_WORLD_RANK=x

# GPUs: the driver's files first. Minor numbers need not be in the order of bus ids; the third GPU is another
# job's.
for gpu in 17:2 65:1 ca:0 e3:3; do
  bus=0000:${gpu%:*}:00.0
  put "proc/driver/nvidia/gpus/$bus/information" "Model: \t\t NVIDIA H200\nIRQ: \t\t 63\n\
GPU UUID: \t GPU-AA${gpu%:*}-01\nBus Location: \t $bus\nDevice Minor: \t ${gpu#*:}\n"
  put "dev/nvidia${gpu#*:}" ''
  put "sys/bus/pci/devices/$bus/numa_node" '0\n'
done
put sys/bus/pci/devices/0000:e3:00.0/numa_node '-1\n'
rm "$dir/tree/dev/nvidia0"
first=0000:17:00.0@0 second=0000:65:00.0@0 third=0000:e3:00.0@
sees 'all GPUs' "rank=0 $got gpus=$first,$second,$third"
cd "$dir" && touch 0 # which * must not become
while read -r visible seen; do
  sees "CUDA_VISIBLE_DEVICES=$visible" "rank=0 $got visible=$visible${seen:+ gpus=$seen}" \
    CUDA_VISIBLE_DEVICES="$visible"
done <<END
2,0 $third,$first
0,1,-1,2 $first,$second
1,3,0 $second
NoDevFiles
*
GPU-aa65 $second
GPU-AAe3,GPU-aa17-01 $third,$first
GPU-aaca,GPU-aa17
MIG-0b5c,MIG-77 MIG-0b5c@
MIG-0b5c,0 MIG-0b5c@
END
put proc/driver/nvidia/gpus/0000:e3:00.0/information \
  'Model: \t NVIDIA T4\nGPU UUID: \t GPU-????????\nDevice Minor: \t 3\n'
sees 'several models' "rank=0 $got gpus=$first,$second,$third models=mixed"
sees 'several models in order' "rank=0 $got gpus=$first,$second,$third" CUDA_DEVICE_ORDER=PCI_BUS_ID
sees 'an unknown UUID' "rank=0 $got visible=GPU-b gpus=GPU-b@" CUDA_VISIBLE_DEVICES=GPU-b
# Then nvidia-smi, for what they do not say; then the files of devices.
mkdir "$dir/no"
cat >"$dir/no/nvidia-smi" <<'END'
#!/bin/sh
test "$*" = '--query-gpu=uuid,pci.bus_id --format=csv,noheader' || exit 1
echo 'GPU-AA17-01, 00000000:17:00.0'
echo 'GPU-bb, 00000000:E3:00.0'
END
chmod +x "$dir/no/nvidia-smi"
ln -s "$(command -v timeout)" "$dir/no/timeout"
sees 'nvidia-smi for a UUID' "rank=0 $got visible=GPU-b gpus=$third" CUDA_VISIBLE_DEVICES=GPU-b
rm -r "$dir/tree/proc/driver"
sees 'nvidia-smi alone' "rank=0 $got gpus=$first,$third"
printf '#!/bin/sh\necho "NVIDIA-SMI has failed because"\nexit 9\n' >"$dir/no/nvidia-smi"
sees 'nvidia-smi without driver' "rank=0 $got gpus=/dev/nvidia1@,/dev/nvidia2@,/dev/nvidia3@"
rm -r "$dir/tree/dev" "$dir/tree/sys"
sees 'next to nothing' 'rank=0 host=n7 mems=0-4 cpus=0-2,8,16-63'

# --- launchers -------------------------------------------------------------------------------------

# launcher N FILTER COMMAND...: N ranks at the same time; sed's FILTER may change their lines.
cat >"$dir/launcher" <<'END'
#!/usr/bin/env bash
n=$1 filter=$2
shift 2
echo 'a banner'
for ((r = n - 1; r >= 0; r--)); do
  PMI_RANK=$r PMI_SIZE=$n CUDA_VISIBLE_DEVICES= OMP_NUM_THREADS=1 "$@" | sed "$filter" &
done
wait
END
chmod +x "$dir/launcher"
report 0 "$dir/launcher" 20 ''
test "$(cat "$dir/err")" = 'a banner' || complain "a launcher's own lines: $(cat "$dir/err")"
test "$(awk '$2 != "ranks" && $1 == n + 0 && $3 == n + 0 { n++ } END { print n }' "$dir/out")" -eq 20 ||
  complain "20 ranks in disorder: $(cat "$dir/out")"
report 0 "$dir/launcher" 3 's/^/[1,1]<stdout>:/; s/.*rank=1.*/that rank has gone/; s/$/ trailing/'
grep -qx 'warning: rank 1: no line, of 3 ranks' "$dir/out" ||
  complain "a rank without a line: $(cat "$dir/out")"
diff <(sort "$dir/err") \
  <(printf '%s\n' ' trailing' ' trailing' 'a banner' 'that rank has gone trailing' | sort) ||
  complain 'lines that are not ours'
report 0 "$dir/launcher" 2 's/^/1: /; s/rank=1 /rank=1; /'
test "$(grep -c '^warning: rank 1: no line' "$dir/out")" -eq 1 || complain "a torn line: $(cat "$dir/out")"
grep -q '^bind-report-rank 1 rank=1; ' "$dir/err" || complain "a torn line is not shown: $(cat "$dir/err")"

# Arguments are passed on as they are.
printf '#!/bin/sh\nprintf "%%s|" "$@" >"%s/arguments"\n' "$dir" >"$dir/plain"
chmod +x "$dir/plain"
refuse 2 "no line from any rank; is '$dir/plain' a launcher" "$dir/plain" -n '2 3' '$(touch x)' '*' --strict
test "$(cat "$dir/arguments")" = "-n|2 3|\$(touch x)|*|--strict|$script|--rank|" ||
  complain "arguments: $(cat "$dir/arguments")"
refuse 7 "'sh -c echo why; exit 7' ended with exit code 7" sh -c 'echo why; exit 7'
grep -qx why "$dir/err" || complain "what a failing launcher says: $(cat "$dir/err")"
refuse 143 'ended with exit code 143' sh -c 'kill $$'
report 0 env HOSTNAME=another OMP_NUM_THREADS=1 CUDA_VISIBLE_DEVICES=
test "$(tail -n 1 "$dir/out")" = '1 rank on 1 host, 0 warnings' || complain "one process: $(cat "$dir/out")"
test "$(awk 'NR == 2 { print $2 }' "$dir/out")" = "$(cat /proc/sys/kernel/hostname)" ||
  complain "host: $(cat "$dir/out")"

refuse 2 'no launcher'
refuse 2 "'no-such-launcher' is no command" no-such-launcher -n 2
refuse 2 "unknown option '-n'" -n 2 mpirun
refuse 2 '--threads=0 is not in 1 to 99999' --threads=0 env
refuse 2 "unknown option '--json='" --json= env
refuse 2 '--json=- is no file' --json=- env
refuse 2 '--root=/ has a meaning only with --rank' --root=/ env
refuse 2 "'x' after --rank" --rank x
refuse 2 "leave 'env' out" --from="$dir/lines" env
refuse 2 'has no line of bind-report --rank' --from="$script"
refuse 3 "--from=$dir/none cannot be read" --from="$dir/none"
refuse 3 "--from=$dir cannot be read" --from="$dir"
refuse 3 "--json=$dir/none/a.json cannot be written" --json="$dir/none/a.json" env
report 0 --help
grep -q -- '--threads=N' "$dir/out" || complain "--help: $(cat "$dir/out")"

# --- for real --------------------------------------------------------------------------------------

# Open MPI's sessions stay apart from those of tests beside this one.
export OMPI_MCA_orte_tmpdir_base=$dir PRTE_MCA_prte_tmpdir_base=$dir OMP_NUM_THREADS=1 CUDA_VISIBLE_DEVICES=
report 0 env
cpus=$(awk 'NR == 2 { print $4 }' "$dir/out") cores=$(awk 'NR == 2 { print $5 }' "$dir/out")
first=${cpus%%[-,]*}
if command -v taskset >/dev/null; then
  report 0 taskset -c "$first"
  test "$(awk 'NR == 2 { print $4, $5 }' "$dir/out")" = "$first 1" ||
    complain "one processor: $(cat "$dir/out")"
fi
read -ra launcher <<<"$(mpi_launcher)"
if test "${#launcher[@]}" -eq 0; then
  echo 'without mpirun'
  finish
fi

report 0 "${launcher[@]}" -n 2
grep -q '^2 ranks on 1 host, ' "$dir/out" || complain "mpirun -n 2: $(cat "$dir/out" "$dir/err")"
if test "$cores" -ge 2; then
  grep -q '^warning: .*: ranks 0-1: not bound, ' "$dir/out" || complain "not bound: $(cat "$dir/out")"
  OMP_NUM_THREADS=$((cores + 1)) report 1 --strict "${launcher[@]}" -n 2
  grep -q "^warning: .*: ranks 0-1: $((2 * cores + 2)) threads on $cores cores that they share" "$dir/out" ||
    complain "too many threads: $(cat "$dir/out")"
fi
if command -v taskset >/dev/null; then
  report 0 taskset -c "$first" "${launcher[@]}" -n 2
  grep -qx "warning: .*: ranks 0-1: 2 threads on 1 core that they share, .*" "$dir/out" ||
    complain "two ranks on a processor: $(cat "$dir/out")"
fi
# Binding is not for every machine and launcher.
if test "$cores" -ge 2 && "${launcher[@]}" -n 2 --bind-to core true >/dev/null 2>&1; then
  report 0 --strict --threads=1 "${launcher[@]}" -n 2 --bind-to core
  test "$(awk '$1 ~ /^[01]$/ && $2 != "ranks" { print $5 }' "$dir/out")" = $'1\n1' ||
    complain "bound: $(cat "$dir/out")"
else
  echo 'without binding'
fi
want=0
"${launcher[@]}" -n 2 --no-such-option true >/dev/null 2>&1 || want=$?
refuse "$want" "ended with exit code $want" "${launcher[@]}" -n 2 --no-such-option

# --- a stdout that takes nothing -------------------------------------------------------------------

"$script" --rank >"$dir/one"
for argument in "--from=$dir/one" --help --rank env; do
  checks=$((checks + 2))
  "$script" "$argument" >&- 2>"$dir/err" || complain "$argument, stdout closed: exit code $?"
  test ! -s "$dir/err" || complain "$argument, stdout closed: $(cat "$dir/err")"
  test -c /dev/full || continue
  rc=0
  "$script" "$argument" >/dev/full 2>"$dir/err" || rc=$?
  if test "$rc" -ne 3 || test "$(cat "$dir/err")" != 'bind-report: error: standard output cannot be written; is there room?'; then
    complain "$argument, stdout full: exit code $rc, $(cat "$dir/err")"
  fi
done
finish
