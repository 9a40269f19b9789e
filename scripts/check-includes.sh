#!/usr/bin/env bash
# Dependencies run one way: this reads the #include lines under src/ and says which of them break
# the rules below. Exit codes: 0 none, 1 some.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The layers, lowest first: a name and the files of the layer, as globs below src/. A file may
# include headers of its own layer and of lower ones. Every file belongs to one layer; where
# several globs match, the first counts.
layers='
  types       types.h status.[ch] vectors.h inline.h
  log         log.[ch] machine*.[ch] paths.[ch]
  sum         sum.[ch]
  comm        comm.h comm_*.c timers.[ch]
  params      params.[ch] params_*.[ch]
  view        view.h stencil.h cell.h coefficients.h diagonal.h
  plan        decomp.[ch] decomp_*.[ch] plan.[ch] plan_*.[ch] copyplan.[ch]
  backend     backend.h
  backends    cpu/* cuda/*
  devices     device.[ch]
  capacity    capacity.[ch]
  transport   transport.[ch] transport_*.[ch]
  exchange    exchange.[ch]
  level       level.[ch] profile.[ch]
  ops         ops.[ch]
  transfer    transfer.[ch]
  solver      bottom.[ch] outer_cg.[ch] tail.[ch] mg.[ch]
  problem     problem.[ch]
  crossover   crossover.[ch]
  benchmark   benchmark.[ch] verify.[ch]
  io          io/*
  program     main.c
  bench       bench/*
'

# Files that configure and make write; anyone may include them.
generated='config.h git_version.h scripts_folder.h'

# "FILES : HEADERS": these files include none of these headers, whatever the layers allow.
forbidden='
  cpu/* cuda/* : comm.h params.h params_*.h mg.h mpi.h hdf5.h
  cpu/*        : cuda/*
  cuda/*       : cpu/*
'

# "HEADERS : FILES": these headers are for these files alone.
reserved='
  mpi.h                                              : comm_mpi.c
  hdf5*.h                                            : io/*
  jansson.h                                          : io/* bench/*
  ini.h                                              : params*.c
  cuda.h cuda_*.h cuda/* cub/* nccl.h nvtx* cooperative_groups* : cuda/* bench/*.cu
  nvrtc.h                                            : bench/search_compile.c
'

# matches NAME GLOB...: does one of the globs match? A glob without a slash is for one folder level.
matches() {
  local name=$1 glob
  shift
  for glob; do
    # shellcheck disable=SC2053 # the right side is a pattern
    if [[ $name == $glob && ($glob == */* || $name != */*) ]]; then return 0; fi
  done
  return 1
}

# layer_of FILE: set layer_index and layer_name; false where no layer has it.
layer_of() {
  local name globs
  layer_index=0
  while read -r name globs; do
    [[ -n $name ]] || continue
    layer_index=$((layer_index + 1))
    # shellcheck disable=SC2086 # globs are words
    if matches "$1" $globs; then
      layer_name=$name
      return 0
    fi
  done <<<"$layers"
  return 1
}

errors=0
complain() {
  echo "$*"
  errors=$((errors + 1))
}

set -f # globs are matched against names, never expanded
n_files=0
while IFS= read -r path; do
  file=${path#src/}
  n_files=$((n_files + 1))
  if ! layer_of "$file"; then
    complain "$path: belongs to no layer; add it to scripts/check-includes.sh"
    continue
  fi
  own_index=$layer_index own_name=$layer_name
  while IFS=: read -r line text; do
    header=${text#*[\"<]} header=${header%%[\">]*}
    where="$path:$line: includes $header"

    # The file meant, below src/, if it is ours: beside the includer first, then from src/.
    target=
    for candidate in "$(dirname "$path")/$header" "src/$header"; do
      if [[ -f $candidate ]]; then
        target=$(realpath --relative-to=src "$candidate")
        break
      fi
    done
    name=${target:-$header}

    while IFS=: read -r who what; do
      [[ -n $what ]] || continue
      # shellcheck disable=SC2086
      if matches "$file" $who && matches "$name" $what; then
        complain "$where, which is forbidden here"
      fi
    done <<<"$forbidden"

    if [[ -z $target ]]; then
      while IFS=: read -r what who; do
        [[ -n $who ]] || continue
        # shellcheck disable=SC2086
        if matches "$header" $what && ! matches "$file" $who; then
          complain "$where, which is for${who} only"
        fi
      done <<<"$reserved"
      # shellcheck disable=SC2086
      if [[ $text == *\"* ]] && ! matches "$header" $generated; then
        complain "$where, which does not exist"
      fi
    elif ! layer_of "$target"; then
      complain "$where, which belongs to no layer"
    elif ((layer_index > own_index)); then
      complain "$where: '$own_name' is below '$layer_name'"
    fi
  done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' "$path" || true)

  # Without config.h what configure found is missing, and nobody says so.
  asks=$(grep -nE '^[[:space:]]*#[[:space:]]*(el)?if.*\<HAVE_[A-Z]' "$path" |
    grep -vm1 HAVE_CONFIG_H || true)
  if [[ -n $asks ]] && ! grep -qE '^[[:space:]]*#[[:space:]]*include "config\.h"' "$path"; then
    complain "$path:${asks%%:*}: asks for what configure found, without config.h"
  fi
done < <(find src -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort)

((errors == 0)) || exit 1
echo "$n_files files include downwards only"
