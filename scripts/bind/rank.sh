# shellcheck shell=bash disable=SC2154
# The line of one rank for bind-report, which sources this: rank_line prints it. `root` is where proc, sys and
# dev are.
#
# Launches have thousands of ranks and hosts hundreds, so no process is started here, but for nvidia-smi where
# the driver's files say too little.

# first_line FILE: in `line`; false where there is none.
first_line() {
  line=
  { IFS= read -r line <"$root/$1"; } 2>/dev/null
  [[ -n $line ]]
}

# expand LIST: the numbers of a list such as 0-3,8 in `numbers`.
expand() {
  local part number IFS=,
  numbers=()
  [[ $1 =~ ^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$ ]] || return 0
  for part in $1; do
    for ((number = ${part%-*}; number <= ${part#*-}; number++)); do numbers+=("$number"); done
  done
}

# shorten NUMBER...: such a list of ascending numbers in `list`.
shorten() {
  local number first=-2 last=-2
  list=
  for number; do
    if ((number != last + 1)); then
      if ((last > first)); then list+=-$last; fi
      list+=,$number first=$number
    fi
    last=$number
  done
  if ((last > first)); then list+=-$last; fi
  list=${list#,}
}

# field KEY VALUE: one more in `record`, whose values are printable and without spaces.
field() {
  local value=${2//'%'/%25}
  value=${value//[[:space:]]/%20}
  record+=" $1=${value//[^!-~]/?}"
}

# setting KEY VARIABLE: the same for one of the environment, if it is there. Launchers pass on in one piece
# what is short (Slurm: 1024 bytes), so long ones are cut.
setting() {
  [[ -n ${!2+set} ]] || return 0
  local value=${!2}
  if ((${#value} > 150)); then value=${value:0:147}...; fi
  field "$1" "$value"
}

# Rank, local rank and number of ranks as launchers name them. Those of the batch system come last: what
# another launcher starts within a job inherits them.
identify() {
  local names rank='' local_rank='' ranks=''
  for names in 'OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_SIZE' \
    'JSM_NAMESPACE_RANK JSM_NAMESPACE_LOCAL_RANK JSM_NAMESPACE_SIZE' \
    'FLUX_TASK_RANK FLUX_TASK_LOCAL_ID FLUX_JOB_SIZE' 'PALS_RANKID PALS_LOCAL_RANKID PMI_SIZE' \
    'PMI_RANK MPI_LOCALRANKID PMI_SIZE' 'PMIX_RANK MPI_LOCALRANKID PMI_SIZE' \
    'SLURM_PROCID SLURM_LOCALID SLURM_STEP_NUM_TASKS'; do
    # shellcheck disable=SC2086 # words
    set -- $names
    [[ ${!1-} =~ ^[0-9]+$ ]] || continue
    rank=${!1} local_rank=${!2-} ranks=${!3-}
    break
  done
  # srun has its own beside those of its PMI or PMIx.
  if [[ -n $rank && ${SLURM_PROCID-} == "$rank" ]]; then
    local_rank=${local_rank:-${SLURM_LOCALID-}} ranks=${ranks:-${SLURM_STEP_NUM_TASKS-}}
  fi
  field rank "${rank:-0}"
  if [[ $local_rank =~ ^[0-9]+$ ]]; then field local "$local_rank"; fi
  if [[ $ranks =~ ^[0-9]+$ ]]; then field ranks "$ranks"; fi
}

# A core is named by the first of its hardware threads; nodes and sockets have their sizes in cores.
find_cores() {
  local key value cpus='' mems='' policy='' cpu sibling path id width=1 node_sizes='' socket_sizes=''
  local online=() is_online=() mine=() node_of=() socket_of=() cores=() nodes=() sockets=()
  local system=sys/devices/system
  while read -r key value; do
    case $key in
    Cpus_allowed_list:) cpus=$value ;;
    Mems_allowed_list:) mems=$value ;;
    esac
  done <"$root/proc/self/status"
  { read -r _ policy _ <"$root/proc/self/numa_maps"; } 2>/dev/null || true
  if [[ -n $mems ]]; then field mems "$mems"; fi
  if [[ -n $policy && $policy != default ]]; then field policy "$policy"; fi
  # The list may have processors that are not there.
  if ! first_line "$system/cpu/online"; then line=$cpus; fi
  expand "$line"
  online=("${numbers[@]}")
  for cpu in "${online[@]}"; do is_online[cpu]=1; done
  expand "$cpus"
  for cpu in "${numbers[@]}"; do
    if [[ -n ${is_online[cpu]-} ]]; then mine+=("$cpu"); fi
  done
  if ((${#mine[@]} == 0)); then return 0; fi

  if first_line "$system/cpu/cpu${mine[0]}/topology/thread_siblings_list"; then
    expand "$line"
    if ((${#numbers[@]} > 1)); then width=${#numbers[@]}; fi
  fi
  for path in "$root/$system"/node/node[0-9]*; do
    if first_line "${path#"$root/"}/cpulist"; then
      expand "$line"
      for cpu in "${numbers[@]}"; do node_of[cpu]=${path##*/node}; done
      node_sizes+=,$(((${#numbers[@]} + width - 1) / width))
    fi
  done
  for cpu in "${online[@]}"; do
    if [[ -n ${socket_of[cpu]-} ]]; then continue; fi
    first_line "$system/cpu/cpu$cpu/topology/physical_package_id" || break
    id=$line
    if [[ $id == -* ]] || ! first_line "$system/cpu/cpu$cpu/topology/core_siblings_list"; then break; fi
    expand "$line"
    for sibling in "${numbers[@]}"; do socket_of[sibling]=$id; done
    socket_sizes+=,$(((${#numbers[@]} + width - 1) / width))
  done

  for cpu in "${mine[@]}"; do
    id=$cpu
    if first_line "$system/cpu/cpu$cpu/topology/thread_siblings_list"; then id=${line%%[,-]*}; fi
    cores[id]=1
    if [[ -n ${node_of[cpu]-} ]]; then nodes[node_of[cpu]]=1; fi
    if [[ -n ${socket_of[cpu]-} ]]; then sockets[socket_of[cpu]]=1; fi
  done
  shorten "${mine[@]}"
  cpus=$list
  field cpus "$cpus"
  shorten "${!cores[@]}"
  if [[ $list != "$cpus" ]]; then field cores "$list"; fi
  shorten "${!nodes[@]}"
  if [[ -n $list ]]; then field nodes "$list" && field node_sizes "${node_sizes#,}"; fi
  shorten "${!sockets[@]}"
  if [[ -n $list ]]; then field sockets "$list" && field socket_sizes "${socket_sizes#,}"; fi
}

# The GPUs that this process may open in the order of their bus ids, which is CUDA's for GPUs of one model.
# A batch system may keep some of those that the driver knows from it.
find_gpus() {
  local path a b c uuid minor model first_model=
  for path in "$root"/proc/driver/nvidia/gpus/*/information; do
    [[ -r $path ]] || continue
    uuid='' minor='' model=''
    while read -r a b c; do
      case "$a $b" in
      'GPU UUID:') uuid=${c,,} ;;
      'Device Minor:') minor=$c ;;
      Model:*) model="$b $c" ;;
      esac
    done <"$path"
    [[ -n $minor && -r $root/dev/nvidia$minor && -w $root/dev/nvidia$minor ]] || continue
    first_model=${first_model:-$model}
    if [[ $model != "$first_model" ]]; then models=mixed; fi
    path=${path%/*}
    gpus+=("${path##*/}") uuids+=("$uuid")
  done
  # A GPU that nobody has opened yet has question marks for its UUID.
  if ((${#gpus[@]} == 0)) || [[ ${CUDA_VISIBLE_DEVICES-} == GPU-* && ${uuids[*]} == *\?* ]]; then
    ask_nvidia_smi
  fi
  if ((${#gpus[@]} == 0)); then
    for path in "$root"/dev/nvidia[0-9]*; do
      if [[ -r $path && -w $path ]]; then gpus+=("/dev/${path##*/}") uuids+=('?'); fi
    done
  fi
}

ask_nvidia_smi() {
  local uuid id some=()
  type -P nvidia-smi >/dev/null || return 0
  while IFS=', ' read -r uuid id; do
    [[ $uuid == GPU-* ]] || continue
    some+=("${uuid,,}")
    id=${id,,}
    gpus[${#some[@]} - 1]=${id#0000} # of the domain's eight digits the system has four
  done < <(timeout 60 nvidia-smi --query-gpu=uuid,pci.bus_id --format=csv,noheader 2>/dev/null || true)
  if ((${#some[@]} > 0)); then uuids=("${some[@]}"); fi
}

# Those that CUDA_VISIBLE_DEVICES leaves, in its order; it ends where it names none.
choose_gpus() {
  local entry i chosen=() IFS=,
  local -
  set -f
  for entry in $CUDA_VISIBLE_DEVICES; do
    entry=${entry//[[:space:]]/}
    if [[ $entry == MIG-* ]]; then
      # CUDA takes one instance only.
      if ((${#chosen[@]} == 0)); then chosen=("$entry"); fi
      break
    elif [[ $entry == GPU-* ]]; then
      for i in "${!uuids[@]}"; do
        if [[ ${uuids[i]} == "${entry,,}"* ]]; then
          chosen+=("${gpus[i]}")
          continue 2
        fi
      done
      [[ ${uuids[*]} == *\?* ]] || break
      chosen+=("$entry")
    elif [[ $entry =~ ^[0-9]{1,3}$ ]] && ((10#$entry < ${#gpus[@]})); then
      chosen+=("${gpus[10#$entry]}")
    else
      break
    fi
  done
  gpus=("${chosen[@]}")
}

rank_line() {
  local LC_ALL=C record='' gpus=() uuids=() models=one id shown=''
  identify
  # Not $HOSTNAME, which may come from the host of the launcher.
  if ! first_line proc/sys/kernel/hostname; then line=$HOSTNAME; fi
  field host "$line"
  find_cores
  setting threads OMP_NUM_THREADS
  setting places OMP_PLACES
  setting bind OMP_PROC_BIND
  setting visible CUDA_VISIBLE_DEVICES
  if [[ -n ${CUDA_VISIBLE_DEVICES-all} ]]; then find_gpus; fi
  if [[ -n ${CUDA_VISIBLE_DEVICES-} ]]; then choose_gpus; fi
  for id in "${gpus[@]}"; do
    if ! first_line "sys/bus/pci/devices/$id/numa_node" || [[ $line == -* ]]; then line=; fi
    shown+=,$id@$line
  done
  if [[ -n $shown ]]; then field gpus "${shown#,}"; fi
  # CUDA numbers the fastest first, unless the numbers are asked to be the system's.
  if [[ $models == mixed && ${CUDA_DEVICE_ORDER-} != PCI_BUS_ID && ${CUDA_VISIBLE_DEVICES-} != [GM]* ]]; then
    field models mixed
  fi
  # In one write.
  put "bind-report-rank 1$record end"
}
