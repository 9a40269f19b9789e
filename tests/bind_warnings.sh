# shellcheck shell=bash disable=SC2154
# bind_warnings: of known lines of ranks scripts/bind-report makes known tables, warnings and JSON, under every
# awk that is here.
set -eu
. "$abs_top_srcdir/tests/bind.sh"

# lines: what is on stdin as lines of ranks, in $dir/lines.
lines() { sed 's/.*/bind-report-rank 1 & end/' >"$dir/lines"; }

# gives NAME ARG...: with ARGs, $dir/lines must give the table and warnings on stdin, under every awk.
gives() {
  local name=$1 awk
  shift
  cat >"$dir/want"
  for awk in "$dir"/awk/*; do
    PATH=$awk:$PATH report 0 --from="$dir/lines" "$@"
    diff "$dir/want" "$dir/out" >"$dir/differ" || complain "$name, ${awk##*/}: $(cat "$dir/differ")"
    test ! -s "$dir/err" || complain "$name, ${awk##*/}: $(cat "$dir/err")"
  done
}

# warns NAME ARG...: the same for the warnings alone.
warns() {
  local name=$1 awk
  shift
  cat >"$dir/want"
  for awk in "$dir"/awk/*; do
    PATH=$awk:$PATH report 0 --from="$dir/lines" "$@"
    sed -n 's/^warning: //p' "$dir/out" | diff "$dir/want" - >"$dir/differ" ||
      complain "$name, ${awk##*/}: $(cat "$dir/differ")"
  done
}

for name in awk mawk gawk original-awk 'busybox awk'; do
  command -v "${name%% *}" >/dev/null || continue
  mkdir -p "$dir/awk/${name%% *}"
  path=$(command -v "${name%% *}")${name#"${name%% *}"}
  printf '#!/bin/sh\nexec %s "$@"\n' "$path" >"$dir/awk/${name%% *}/awk"
  chmod +x "$dir/awk/${name%% *}/awk"
done

# Two sockets of eight cores, two GPUs at each.
gpus=gpus=0000:17:00.0@0,0000:65:00.0@0,0000:ca:00.0@1,0000:e3:00.0@1
on0='nodes=0 node_sizes=8,8 sockets=0 socket_sizes=8,8 mems=0-1'
on1='nodes=1 node_sizes=8,8 sockets=1 socket_sizes=8,8 mems=0-1'

lines <<END
rank=2 ranks=4 local=2 host=n1 cpus=8-11 $on1 threads=4 places=cores bind=close $gpus
rank=0 ranks=4 local=0 host=n1 cpus=0-3 $on0 threads=4 places=cores bind=close $gpus
rank=3 ranks=4 local=3 host=n1 cpus=12-15 $on1 threads=4,2 places=cores bind=close policy=bind:1 $gpus
rank=1 ranks=4 local=1 host=n1 cpus=4-7 $on0 threads=4 places={4:4},%20100%25 bind= visible=0,1 ${gpus%,*,*}
END
gives 'well bound' <<'END'
rank  host  local  cpus   cores  numa  mems        OMP_NUM_THREADS  OMP_PLACES   OMP_PROC_BIND  gpu  pci           CUDA_VISIBLE_DEVICES
0     n1    0      0-3    4      0     0-1         4                cores        close          0    0000:17:00.0  -
1     n1    1      4-7    4      0     0-1         4                {4:4}, 100%  ''             1    0000:65:00.0  0,1
2     n1    2      8-11   4      1     0-1         4                cores        close          2    0000:ca:00.0  -
3     n1    3      12-15  4      1     0-1 bind:1  4,2              cores        close          3    0000:e3:00.0  -
4 ranks on 1 host, 0 warnings
END
cp "$dir/want" "$dir/well"
gives 'as many threads as were meant' --threads=4 --strict <"$dir/well"

lines <<END
rank=0 ranks=3 host=n1 cpus=0-3 $on0 threads=4
rank=1 ranks=3 host=n1 cpus=0-3 $on0 threads=4
rank=2 ranks=3 host=n1 cpus=8-11 $on1 threads=4
END
gives 'overlap' <<'END'
rank  host  local  cpus  cores  numa  mems  OMP_NUM_THREADS  OMP_PLACES  OMP_PROC_BIND  gpu  pci  CUDA_VISIBLE_DEVICES
0     n1    0      0-3   4      0     0-1   4                -           -              -    -    -
1     n1    1      0-3   4      0     0-1   4                -           -              -    -    -
2     n1    2      8-11  4      1     0-1   4                -           -              -    -    -
warning: n1: ranks 0-1: 8 threads on 4 cores that they share, 0-3
3 ranks on 1 host, 1 warning
END
# As many threads as cores may share them.
sed -i 's/threads=4/threads=2/' "$dir/lines"
warns 'shared cores that suffice' </dev/null

lines <<END
rank=0 ranks=3 host=n1 cpus=0-1 $on0 threads=1 ${gpus%,*,*}
rank=1 ranks=3 host=n1 cpus=2-3 $on0 threads=1 ${gpus%,*,*}
rank=2 ranks=3 host=n1 cpus=4-5 $on0 threads=1 ${gpus%,*,*}
END
gives 'two on a GPU' <<'END'
rank  host  local  cpus  cores  numa  mems  OMP_NUM_THREADS  OMP_PLACES  OMP_PROC_BIND  gpu  pci           CUDA_VISIBLE_DEVICES
0     n1    0      0-1   2      0     0-1   1                -           -              0    0000:17:00.0  -
1     n1    1      2-3   2      0     0-1   1                -           -              1    0000:65:00.0  -
2     n1    2      4-5   2      0     0-1   1                -           -              0    0000:17:00.0  -
warning: n1: ranks 0,2: the same GPU, 0000:17:00.0, on which they take turns
3 ranks on 1 host, 1 warning
END

lines <<END
rank=0 ranks=2 host=n1 cpus=0-3 $on0 threads=4 visible=2 gpus=0000:ca:00.0@1
rank=1 ranks=2 host=n1 cpus=8-11 $on1 threads=4 visible=3 gpus=0000:e3:00.0@1
END
gives 'GPU far away' <<'END'
rank  host  local  cpus  cores  numa  mems  OMP_NUM_THREADS  OMP_PLACES  OMP_PROC_BIND  gpu  pci           CUDA_VISIBLE_DEVICES
0     n1    0      0-3   4      0     0-1   4                -           -              0    0000:ca:00.0  2
1     n1    1      8-11  4      1     0-1   4                -           -              0    0000:e3:00.0  3
warning: n1: rank 0: GPU 0000:ca:00.0 at NUMA node 1, cores on 0
2 ranks on 1 host, 1 warning
END

lines <<END
rank=0 ranks=2 host=n1 cpus=0-15 nodes=0-1 node_sizes=8,8 sockets=0-1 socket_sizes=8,8 mems=0-1 threads=8
rank=1 ranks=2 host=n1 cpus=0-15 nodes=0-1 node_sizes=8,8 sockets=0-1 socket_sizes=8,8 mems=0-1 threads=8
END
gives 'unbound' <<'END'
rank  host  local  cpus  cores  numa  mems  OMP_NUM_THREADS  OMP_PLACES  OMP_PROC_BIND  gpu  pci  CUDA_VISIBLE_DEVICES
0     n1    0      0-15  16     0-1   0-1   8                -           -              -    -    -
1     n1    1      0-15  16     0-1   0-1   8                -           -              -    -    -
warning: n1: ranks 0-1: not bound, each may use all of the cores 0-15; give each its own (srun -c N --cpu-bind=cores, mpirun --map-by slot:PE=N --bind-to core)
2 ranks on 1 host, 1 warning
END
report 1 --from="$dir/lines" --strict
warns 'unbound, and more than was meant' --threads=12 <<'END'
ranks 0-1: OMP_NUM_THREADS=8, not 12; does the launcher pass it on (mpirun -x OMP_NUM_THREADS)?
n1: ranks 0-1: 24 threads on 16 cores that they share, 0-15
n1: ranks 0-1: not bound, each may use all of the cores 0-15; give each its own (srun -c N --cpu-bind=cores, mpirun --map-by slot:PE=N --bind-to core)
END

# In a part of the host, where spread is not what is wrong; and with nothing to be bound to.
sed -i 's/cpus=0-15/cpus=4-11/; s/threads=8/threads=1/' "$dir/lines"
warns 'unbound in a part' <<'END'
n1: ranks 0-1: not bound, each may use all of the cores 4-11; give each its own (srun -c N --cpu-bind=cores, mpirun --map-by slot:PE=N --bind-to core)
END
lines <<END
rank=0 host=n1 cpus=3 threads=1
rank=1 host=n1 cpus=3 threads=1
END
warns 'one core' <<'END'
n1: ranks 0-1: 2 threads on 1 core that they share, 3
END

lines <<END
rank=0 ranks=3 host=n1 cpus=0-3 $on0 threads=4
rank=1 ranks=3 host=n1 cpus=4-7 $on0 threads=4
rank=2 ranks=3 host=n2 cpus=0-3 $on0 threads=4
END
gives 'two hosts, uneven' <<'END'
rank  host  local  cpus  cores  numa  mems  OMP_NUM_THREADS  OMP_PLACES  OMP_PROC_BIND  gpu  pci  CUDA_VISIBLE_DEVICES
0     n1    0      0-3   4      0     0-1   4                -           -              -    -    -
1     n1    1      4-7   4      0     0-1   4                -           -              -    -    -
2     n2    0      0-3   4      0     0-1   4                -           -              -    -    -
warning: hosts have different numbers of ranks: 2 on n1, 1 on n2
3 ranks on 2 hosts, 1 warning
END

# Of hosts that are alike the first speaks, ranks by its own numbers.
for r in 0 1 2 3 4 5 6; do
  echo "rank=$r ranks=7 host=n$((r % 4)) cpus=0-$((r % 4)) $on0 threads=$((r % 4 + 1))"
done | sed 's/cpus=0-[0-2]/cpus=0-2/; s/threads=[1-3]/threads=2/' | lines
warns 'hosts that are alike' <<'END'
hosts have different numbers of ranks: 2 on n0 and 2 more hosts, 1 on n3
n0: ranks 0,4: 4 threads on 3 cores that they share, 0-2; the same on 2 more hosts
n0: ranks 0,4: not bound, each may use all of the cores 0-2; give each its own (srun -c N --cpu-bind=cores, mpirun --map-by slot:PE=N --bind-to core); the same on 2 more hosts
END

# Hardware threads are not cores: 0 and 16 are one.
lines <<END
rank=0 ranks=3 host=n1 cpus=0-1,16-17 cores=0-1 $on0 threads=4
rank=1 ranks=3 host=n1 cpus=2 $on0 threads=1
rank=2 ranks=3 host=n1 cpus=18 cores=2 $on0 threads=1
END
gives 'hardware threads' <<'END'
rank  host  local  cpus       cores  numa  mems  OMP_NUM_THREADS  OMP_PLACES  OMP_PROC_BIND  gpu  pci  CUDA_VISIBLE_DEVICES
0     n1    0      0-1,16-17  2      0     0-1   4                -           -              -    -    -
1     n1    1      2          1      0     0-1   1                -           -              -    -    -
2     n1    2      18         1      0     0-1   1                -           -              -    -    -
warning: n1: rank 0: 4 threads on 2 cores of 4 hardware threads
warning: n1: ranks 1-2: 2 threads on 1 core that they share, 2
3 ranks on 1 host, 2 warnings
END

# A list within another, and lists that overlap in a chain.
lines <<END
rank=0 host=n1 cpus=0 threads=1
rank=1 host=n1 cpus=0 threads=1
rank=2 host=n1 cpus=0-7 threads=1
rank=3 host=n1 cpus=8-11 threads=3
rank=4 host=n1 cpus=10-13 threads=4
rank=5 host=n1 cpus=12-15,17 threads=3
END
warns 'overlaps of several kinds' <<'END'
n1: ranks 0-1: 2 threads on 1 core that they share, 0
n1: ranks 3-5: 10 threads on 9 cores that they share, 8-15,17
END

# Spread over sockets or nodes where nobody needs to be.
lines <<END
rank=0 host=n1 cpus=0-3 $on0 threads=4
rank=1 host=n1 cpus=6-9 nodes=0-1 node_sizes=8,8 sockets=0-1 socket_sizes=8,8 threads=4
END
warns 'spread' <<'END'
n1: rank 1: 4 cores spread over sockets 0-1, where one would do
END
sed -i 's/node_sizes=8,8/node_sizes=4,4,4,4/; s/sockets=0-1/sockets=0/' "$dir/lines"
warns 'spread over the nodes of a socket' <<'END'
n1: rank 1: 4 cores spread over NUMA nodes 0-1, where one would do
END
# Three ranks of 4 do not fit into two sockets of 6 but so.
lines <<END
rank=0 host=n1 cpus=0-3 nodes=0 node_sizes=6,6 sockets=0 socket_sizes=6,6 threads=4
rank=1 host=n1 cpus=4-7 nodes=0-1 node_sizes=6,6 sockets=0-1 socket_sizes=6,6 threads=4
rank=2 host=n1 cpus=8-11 nodes=1 node_sizes=6,6 sockets=1 socket_sizes=6,6 threads=4
END
warns 'spread of need' </dev/null

# Ranks that are missing, that came twice, that lack a GPU or OMP_NUM_THREADS.
lines <<END
rank=5 ranks=8 host=n1 cpus=0-3 threads=x
rank=1 ranks=8 host=n1 cpus=4-7 ${gpus%,*,*} models=mixed
rank=1 ranks=8 host=n1 cpus=8-11 threads=4
END
warns 'missing ranks' <<'END'
ranks 0,2-4,6-7: no line, of 8 ranks
rank 1: came 2 times; is the launcher that of the MPI library that hpgmg-fv has?
rank 1: OMP_NUM_THREADS is unset, so each CPU of a rank gets a thread
rank 5: OMP_NUM_THREADS is no number, so each CPU of a rank gets a thread
ranks 1,5: no GPU, where others have one; --device=auto leaves all on the CPU
n1: GPUs of several models, which CUDA may number otherwise; set CUDA_DEVICE_ORDER=PCI_BUS_ID
END
warns 'what was meant' --threads=2 <<'END'
ranks 0,2-4,6-7: no line, of 8 ranks
rank 1: came 2 times; is the launcher that of the MPI library that hpgmg-fv has?
rank 1: OMP_NUM_THREADS is unset, so each CPU of a rank gets a thread, where 2 are meant
rank 1: OMP_NUM_THREADS=4, not 2; does the launcher pass it on (mpirun -x OMP_NUM_THREADS)?
rank 5: OMP_NUM_THREADS is no number, so each CPU of a rank gets a thread, where 2 are meant
ranks 1,5: no GPU, where others have one; --device=auto leaves all on the CPU
n1: GPUs of several models, which CUDA may number otherwise; set CUDA_DEVICE_ORDER=PCI_BUS_ID
END
# One rank may leave it to OpenMP. Nothing is known of its cores.
lines <<<'rank=0 host=n1'
gives 'one rank' <<'END'
rank  host  local  cpus  cores  numa  mems  OMP_NUM_THREADS  OMP_PLACES  OMP_PROC_BIND  gpu  pci  CUDA_VISIBLE_DEVICES
0     n1    0      -     -      -     -     -                -           -              -    -    -
1 rank on 1 host, 0 warnings
END

# --- JSON ------------------------------------------------------------------------------------------

lines <<END
rank=1 local=1 host=n1 cpus=4 nodes=0 threads=1 places={4:"\\%20} bind= policy=interleave:0-1 visible=3 gpus=MIG-5@
rank=0 host=n1 cpus=0-1,16-17 cores=0-1 nodes=0 mems=0 gpus=0000:17:00.0@0,0000:65:00.0@1
END
gives 'JSON' --json="$dir/a.json" <<'END'
rank  host  local  cpus       cores  numa  mems              OMP_NUM_THREADS  OMP_PLACES  OMP_PROC_BIND  gpu  pci           CUDA_VISIBLE_DEVICES
0     n1    0      0-1,16-17  2      0     0                 -                -           -              0    0000:17:00.0  -
1     n1    1      4          1      0     - interleave:0-1  1                {4:"\ }     ''             0    MIG-5         3
warning: rank 0: OMP_NUM_THREADS is unset, so each CPU of a rank gets a thread
warning: n1: rank 0: 4 threads on 2 cores of 4 hardware threads
2 ranks on 1 host, 2 warnings
END
diff - "$dir/a.json" <<'END' || complain 'JSON'
{
  "ranks": [
    {"rank": 0, "host": "n1", "local_rank": 0, "cpus": "0-1,16-17", "cores": 2, "numa_nodes": "0", "memory_nodes": "0", "memory_policy": "default", "omp_num_threads": null, "omp_places": null, "omp_proc_bind": null, "gpu": 0, "gpu_id": "0000:17:00.0", "gpu_numa_node": 0, "cuda_visible_devices": null},
    {"rank": 1, "host": "n1", "local_rank": 1, "cpus": "4", "cores": 1, "numa_nodes": "0", "memory_nodes": null, "memory_policy": "interleave:0-1", "omp_num_threads": "1", "omp_places": "{4:\"\\ }", "omp_proc_bind": "", "gpu": 0, "gpu_id": "MIG-5", "gpu_numa_node": null, "cuda_visible_devices": "3"}
  ],
  "warnings": [
    "rank 0: OMP_NUM_THREADS is unset, so each CPU of a rank gets a thread",
    "n1: rank 0: 4 threads on 2 cores of 4 hardware threads"
  ]
}
END
for parser in 'jq -e .' 'python3 -m json.tool'; do
  if $parser <<<'{}' >/dev/null 2>&1; then
    $parser <"$dir/a.json" >/dev/null || complain "$parser does not read the JSON"
  fi
done
finish
