# shellcheck shell=bash disable=SC2154
# bind_report: scripts/bind-report reads a rank's place from hwloc, a table and warnings from captured lines, and
# reports ranks that mpirun starts here.
set -eu
. "$abs_top_srcdir/tests/lib/cli_lib.sh"
for tool in hwloc-bind lstopo-no-graphics "$PYTHON"; do
  command -v "$tool" >/dev/null || skip_test "no $tool (hwloc-nox, python3)"
done
script=$abs_top_srcdir/scripts/bind-report
# The test itself may run in a batch job.
unset OMP_NUM_THREADS OMP_PLACES OMP_PROC_BIND CUDA_VISIBLE_DEVICES PMI_RANK PMIX_RANK SLURM_PROCID

# report RC ARG...: bind-report must end with RC; output in $dir/out and $dir/err.
report() { exits "$1" "$PYTHON" "$script" "${@:2}"; }

# refuse RC TEXT ARG...: it must end with RC, no output and one error line with TEXT.
refuse() {
  local want=$1 text=$2
  shift 2
  report "$want" "$@"
  test ! -s "$dir/out" || complain "$*: output beside the error: $(cat "$dir/out")"
  grep '^bind-report: error: ' "$dir/err" | grep -qF -- "$text" || complain "$*: no '$text' in: $(cat "$dir/err")"
}

# same NAME FILE: FILE must equal stdin.
same() { diff - "$2" >"$dir/differ" || complain "$1: $(cat "$dir/differ")"; }

# A rank's record on two sockets of 4 cores with 2 hardware threads, each with a NUMA node and a GPU.
mkdir "$dir/mocks"
cat >"$dir/mocks/hwloc-bind" <<'END'
#!/bin/sh
case $* in *--membind*) echo '0x00000003 (interleave)' ;; *) echo 0x0000010f ;; esac
END
cat >"$dir/mocks/nvidia-smi" <<'END'
#!/bin/sh
test "$*" = '--query-gpu=uuid,pci.bus_id --format=csv,noheader' || exit 1
printf 'GPU-aa17, 00000000:17:00.0\nGPU-bbca, 00000000:CA:00.0\n'
END
chmod +x "$dir"/mocks/*
# A synthetic topology cannot have PCI devices.
HWLOC_SYNTHETIC='pack:2 [numa] core:4 pu:2' lstopo-no-graphics --of xml |
  awk '/^    <\/object>/ {
    n++
    printf "<object type=\"Bridge\" gp_index=\"10%d\" bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"0000:[00-ff]\">", n
    printf "<object type=\"PCIDev\" gp_index=\"20%d\" pci_busid=\"0000:%s:00.0\" ", n, n == 1 ? "17" : "ca"
    print "pci_type=\"0302 [10de:2335] [10de:18be] a1\" pci_link_speed=\"63.0\"></object></object>"
  } { print }' >"$dir/host.xml"

# sees KEYS VALUES VARIABLE=VALUE...: with these variables, the rank's record has these values.
sees() {
  local keys=$1 values=$2 got
  shift 2
  checks=$((checks + 1))
  env PATH="$dir/mocks:$PATH" HWLOC_XMLFILE="$dir/host.xml" "$@" "$PYTHON" "$script" --rank >"$dir/out" ||
    complain "--rank $*"
  got=$(sed 's/^bind-report-rank //' "$dir/out" |
    "$PYTHON" -c 'import json, sys; r = json.load(sys.stdin); print(*(r.get(k) for k in sys.argv[1].split()))' "$keys")
  test "$got" = "$values" || complain "$keys with $*: $got, not $values"
}
sees 'cpus cores numa mems domains domain_cores' '0-3,8 0,2,8 0-1 0-1 interleave 2 [4, 4]'
sees gpus "{'0000:17:00.0': '0', '0000:ca:00.0': '1'}"
sees gpus "{'0000:ca:00.0': '1', '0000:17:00.0': '0'}" CUDA_VISIBLE_DEVICES=1,0
sees gpus "{'0000:ca:00.0': '1'}" CUDA_VISIBLE_DEVICES=GPU-BB,7,0
sees gpus "{'MIG-5': ''}" CUDA_VISIBLE_DEVICES=MIG-5
sees gpus '{}' CUDA_VISIBLE_DEVICES=
# Launchers, also within a batch job, whose variables belong to its script.
sees 'rank local ranks' '3 1 4' \
  OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_SIZE=4 SLURM_PROCID=0
sees 'rank local ranks' '2 1 8' SLURM_PROCID=2 SLURM_LOCALID=1 SLURM_STEP_NUM_TASKS=8 PMIX_RANK=2
sees 'rank local ranks' '5 2 6' FLUX_TASK_RANK=5 FLUX_TASK_LOCAL_ID=2 FLUX_JOB_SIZE=6
sees 'rank local ranks' '0 -1 -1' PMI_RANK=x

# Table and warnings of captured lines.
# line RANK HOST CPUS NUMA THREADS [JSON]: a rank's line; one CPU per core, two NUMA nodes of 8 cores.
line() {
  local domains=1
  [[ $4 != *[,-]* ]] || domains=2
  printf 'label: bind-report-rank {"rank":%d,"host":"%s","local":-1,"ranks":-1,"cpus":"%s","cores":"%s","numa":"%s"' \
    "$1" "$2" "$3" "$3" "$4"
  printf ',"mems":"0-1","domains":%d,"domain_cores":[8,8],"gpus":{},"OMP_NUM_THREADS":"%s"%s}\n' $domains "$5" "${6-}"
}
# warns NAME ARG...: the lines in $dir/lines give the warnings on stdin.
warns() {
  local name=$1
  shift
  report 0 --from="$dir/lines" "$@"
  sed -n 's/^warning: //p' "$dir/out" >"$dir/warnings"
  same "$name" "$dir/warnings"
}

gpus=',"gpus":{"0000:17:00.0":"0","0000:ca:00.0":"1"}'
{
  line 1 n1 8-11 1 4,2 "$gpus"',"OMP_PLACES":"","mems":"1 bind"'
  echo 'a line of something else'
  line 0 n1 0-3 0 4 "$gpus"',"OMP_PROC_BIND":"close"'
} >"$dir/lines"
report 0 --strict --threads=4 --from="$dir/lines" --json="$dir/a.json"
same 'well bound' "$dir/out" <<'END'
rank  host  local  cpus  cores  numa  mems    OMP_NUM_THREADS  OMP_PLACES  OMP_PROC_BIND  CUDA_VISIBLE_DEVICES  gpu  pci
0     n1    0      0-3   4      0     0-1     4                -           close          -                     0    0000:17:00.0
1     n1    1      8-11  4      1     1 bind  4,2              ''          -              -                     1    0000:ca:00.0
2 ranks on 1 host, 0 warnings
END
is_json "$dir/a.json"

{
  line 0 n1 0-3 0 4 "$gpus"
  line 1 n1 0-3 0 5 ',"gpus":{"0000:17:00.0":"0"}'
  line 2 n1 6-9 0-1 4 ',"gpus":{"0000:ca:00.0":"1"}'
  line 3 n1 8-15 1 4 ',"mems":"0 bind"'
} >"$dir/lines"
warns 'shared and remote resources' <<'END'
n1: local rank 1: 5 threads on 4 cores
n1: local rank 2: 4 cores spread over NUMA nodes 0-1; one would do
n1: local rank 3: memory from NUMA node 0, cores on 1
n1: local rank 3: no GPU, where others have one: --device=auto uses the CPU on all ranks
n1: local ranks 0-1: 9 threads share 4 cores, 0-3
n1: local ranks 0-1: share GPU 0000:17:00.0
END
report 1 --from="$dir/lines" --strict

# Unbound ranks on two of three hosts; overlaps in a chain on the third, whose GPU is far and one rank is missing.
{
  for rank in 0 1 2 3; do line "$rank" "n$((rank / 2))" 0-15 0-1 8; done
  line 4 n2 0-3 0 3 ',"ranks":8,"gpus":{"0000:ca:00.0":"1"}'
  line 5 n2 2-5 0 3 ',"gpus":{"0000:17:00.0":"0"}'
  line 6 n2 4-7 0 3 ',"gpus":{"0000:65:00.0":"0"}'
} | sed '1,4s/"gpus":{}/"gpus":{"u0":"","u1":""}/' >"$dir/lines"
warns 'several hosts' <<'END'
no line or several from ranks 7 of 8
hosts have different numbers of ranks: 2 on n1, 3 on n2
n0 and 1 more: local ranks 0-1: not bound, each may use all of the cores 0-15 (srun --cpu-bind=cores, mpirun --bind-to core)
n2: local rank 0: GPU 0000:ca:00.0 at NUMA node 1, cores on 0
n2: local ranks 0-2: 9 threads share 8 cores, 0-7
END
{
  line 0 n1 0-1 0 2
  line 0 n1 2-3 0 x
} >"$dir/lines"
warns 'other threads than intended' --threads=1 <<'END'
no line or several from ranks 0 of 1
n1: local rank 0: OMP_NUM_THREADS=2, not 1 (mpirun -x OMP_NUM_THREADS passes it on)
n1: local rank 1: OMP_NUM_THREADS is unset: a rank starts a thread per CPU
END

# Real launches.
report 0 hwloc-bind --single machine:0 -- env OMP_NUM_THREADS=2
test "$(awk 'NR == 2 { print $5 }' "$dir/out")" = 1 || complain "one core: $(cat "$dir/out")"
grep -q '^warning: .*: local rank 0: 2 threads on 1 core$' "$dir/out" || complain "two threads: $(cat "$dir/out")"
refuse 7 "'sh -c echo why; exit 7' ended with exit code 7" sh -c 'echo why; exit 7'
grep -qx why "$dir/err" || complain "a failing launcher's own output: $(cat "$dir/err")"
refuse 2 'may not pass on' true
refuse 2 'cannot be started' no-such-launcher -n 2
refuse 2 'unrecognized arguments: -n' -n 2 mpirun
refuse 2 "'0' is not an integer from 1 to 99999" --threads=0 env
refuse 2 'give a launcher' --from="$dir/lines" env
refuse 2 'no line of bind-report --rank' --from="$script"
refuse 3 'cannot be read' --from="$dir/none"
stdout_errors bind-report "$PYTHON" "$script" --from="$dir/lines"
if have_mpi; then
  export OMPI_MCA_orte_tmpdir_base=$dir PRTE_MCA_prte_tmpdir_base=$dir
  read -ra launcher <<<"$(mpi_launcher)"
  OMP_NUM_THREADS=1000 report 1 --strict "${launcher[@]}" -n 2
  grep -q '^warning: .*: local ranks 0-1: 2000 threads share ' "$dir/out" || complain "mpirun: $(cat "$dir/out")"
fi
finish
