#!/usr/bin/env bash
# Check that #include lines point from a layer to the same or a lower one, form no circle, and obey the rules
# below; that only the table of traits depends on the name of an operator; that only src/cuda/runtime/ calls CUDA; and
# that the core is complete, includes no wing and does not grow. The layers are the tables in docs/architecture.md.
# With python3, also check that docs/architecture.svg is drawn from the first, and check and print what each fast path
# costs and gains (docs/kernels.md).
# Exit code 0: no violation, 1: some.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# "LAYER FOLDER" lines of the tables: layers 7 and 7.1 are 70 and 71. A file belongs to its innermost folder that is
# listed: the names are in reverse order.
# shellcheck disable=SC2016 # backticks of Markdown
layers=$(sed -nE 's/^\| ([0-9]+) \| `([^`]+)` \|.*/\10 \2/p; s/^\| ([0-9]+)\.([0-9]) \| `([^`]+)` \|.*/\1\2 \3/p' \
  docs/architecture.md | LC_ALL=C sort -rk2)
[[ -n $layers ]] || { echo "docs/architecture.md: no table of layers" && exit 1; }

# Headers that configure and make write; every file may include them.
generated='config.h wings.h git_version.h scripts_folder.h search_candidate_text.h'

# "FILES : HEADERS": these files must not include these headers, even if the layers allow it.
forbidden='
  src/cpu/* src/cuda/* : src/comm/* src/params/* mpi.h hdf5.h
  src/cpu/*            : src/cuda/*
  src/cuda/*           : src/cpu/*
'

# "HEADERS : FILES": only these files may include these headers.
reserved='
  mpi.h                                              : src/comm/comm_mpi*
  hdf5*.h                                            : src/io/*
  jansson.h                                          : src/io/* lab/* health/*
  cuda.h cuda_*.h cub/* nccl.h nvtx* cooperative_groups* : src/cuda/* lab/*.cu
  nvrtc.h                                            : lab/*search_compile.c
'

# The core ("The core" in docs/architecture.md) includes these other files, and has at most this many lines.
core_may='
  src/run/benchmark.h                : src/run/energy.h
  src/io/report/report.h             : src/io/input.h src/run/placement.h
  src/run/benchmark.c                : src/run/rounding.h src/solver/cycle_wings.h src/solver/solids.h
  src/main.c                         : src/solver/method.h
  src/io/report/report_text.c src/io/report/report_run.c : src/io/report/report_wings.h
  src/params/params_check.c src/params/params_command_line.c src/io/report/report_text.c : src/params/params_files.h
  src/level/schedule.c src/level/smooth.c : src/level/sweep_wings.h
  src/device/device_select.c         : src/device/fused_steps.h
  src/solver/problem.c src/solver/cycle.c src/solver/bottom.c src/solver/solve.c : src/solver/cycle_wings.h
  src/solver/problem.c src/solver/solve.c : src/solver/solids.h
  src/transport/transport_buffered.c : src/backend/peer.h
  src/cpu/restrict.c src/cpu/interpolate.c : src/cpu/children.h
  src/transport/transport_channel.c  : src/transport/transport_wings.h
  src/base/log.c src/run/benchmark.c src/io/report/report_run.c : src/base/log_wings.h
  src/comm/comm_serial.c             : src/comm/comm_wings.h
  src/plan/plan.c                    : src/plan/domain_plan.h
  src/level/ops.c src/level/transfer.c src/level/smooth.h src/solver/bottom.c : src/backend/sweeps.h
  src/level/level.h                  : src/base/operation_timers.h
  src/level/ops.h src/run/benchmark.c : src/level/profile.h
  src/io/report/report.h             : src/level/smoothing.h
  src/level/transfer.c               : src/level/metric.h
  src/params/params_check.c src/params/params_command_line.c src/params/params_limits.c src/params/params_value.c : src/params/params_wings.h
  src/solver/problem.c               : src/solver/domain.h src/solver/reference.h
'
core_lines=12998
page=$(sed -n '/^## The core/,/^## Wings/p' docs/architecture.md)
# shellcheck disable=SC2016 # backticks of Markdown
core=$(sed -nE '/^\| `/{s/^\| ([^|]*) \|.*/\1/;s/`([^`]*)`,?/src\/\1/gp}' <<<"$page" | xargs -n 1)
# shellcheck disable=SC2016
wings=$(sed -n '/^Other files in these folders/,/^## /p' <<<"$page" | grep -oE '`[^`]+`' | tr -d '`' | sed 's|^|src/|')

# matches NAME GLOB...: true if a glob matches NAME.
matches() {
  local name=$1 glob
  shift
  for glob; do
    # shellcheck disable=SC2053 # the right side is a pattern
    if [[ $name == $glob ]]; then return 0; fi
  done
  return 1
}

# layer_of FILE: set layer_index and layer_name; false if FILE is in no layer.
layer_of() {
  while read -r layer_index layer_name; do
    if [[ $1 == "$layer_name" || ($layer_name == */ && $1 == "$layer_name"*) ]]; then return 0; fi
  done <<<"$layers"
  return 1
}

errors=0
edges= # "MODULE MODULE" per #include within src/; a module is NAME.h with NAME.c or NAME.cu
complain() {
  echo "$*"
  errors=$((errors + 1))
}

set -f # globs are patterns for names and must not expand
n_files=0 n_core=0 n_core_lines=0
core_folders=" $(xargs -n 1 dirname <<<"$core" | sort -u | xargs) "
for row in $core; do
  if [[ -z $(compgen -G "$row") ]]; then complain "docs/architecture.md: no file $row"; fi
done
while IFS= read -r path; do
  n_files=$((n_files + 1))
  if ! layer_of "$path"; then
    complain "$path: belongs to no layer; add its folder to docs/architecture.md"
    continue
  fi
  own_index=$layer_index own_name=$layer_name
  in_core=
  # shellcheck disable=SC2086
  if matches "$path" $core; then
    in_core=yes
    n_core=$((n_core + 1))
    n_core_lines=$((n_core_lines + $(wc -l <"$path")))
  elif [[ $core_folders == *" ${path%/*} "* ]] && ! matches "$path" $wings; then
    complain "$path: name it in docs/architecture.md, \"The core\", or there as a wing"
  fi
  while IFS=: read -r line text; do
    header=${text#*[\"<]} header=${header%%[\">]*}
    where="$path:$line: includes $header"

    # Project headers are named relative to src/ or to the top folder.
    target=
    for candidate in "src/$header" "$header"; do
      if [[ -f $candidate ]]; then
        target=$candidate
        break
      fi
    done
    name=${target:-$header}

    while IFS=: read -r who what; do
      [[ -n $what ]] || continue
      # shellcheck disable=SC2086
      if matches "$path" $who && matches "$name" $what; then
        complain "$where, which is forbidden in this file"
      fi
    done <<<"$forbidden"

    if [[ -z $target ]]; then
      while IFS=: read -r what who; do
        [[ -n $who ]] || continue
        # shellcheck disable=SC2086
        if matches "$header" $what && ! matches "$path" $who; then
          complain "$where, which is allowed only in${who}"
        fi
      done <<<"$reserved"
      # shellcheck disable=SC2086
      if [[ $text == *\"* ]] && ! matches "$header" $generated; then
        complain "$where, which does not exist; name it relative to src/ or to the top folder"
      fi
      continue
    fi
    # shellcheck disable=SC2086
    if [[ $in_core && $target == src/* ]] && ! matches "$target" $core; then
      used=
      while IFS=: read -r who what; do
        # shellcheck disable=SC2086
        if [[ $what ]] && matches "$path" $who && matches "$target" $what; then used=yes; fi
      done <<<"$core_may"
      [[ $used ]] || complain "$where: the core does not include wings; see docs/architecture.md, \"The core\""
    fi
    if [[ $path == src/* && $target == src/* ]]; then edges+="${path%.*} ${target%.*}"$'\n'; fi
    if ! layer_of "$target"; then
      complain "$where, which belongs to no layer"
    elif ((layer_index > own_index)); then
      complain "$where: $own_name is below $layer_name"
    elif [[ $layer_index == "$own_index" && $layer_name != "$own_name" ]]; then
      complain "$where: $own_name must not depend on $layer_name"
    fi
  done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' "$path" || true)

  # Without config.h, every HAVE_ macro is undefined and the code still compiles.
  uses=$(grep -nE '^[[:space:]]*#[[:space:]]*(el)?if.*\<HAVE_[A-Z]' "$path" |
    grep -vm1 HAVE_CONFIG_H || true)
  if [[ -n $uses ]] && ! grep -qE '^[[:space:]]*#[[:space:]]*include "config\.h"' "$path"; then
    complain "$path:${uses%%:*}: tests a HAVE_ macro without including config.h"
  fi
done < <(find src health lab -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort)

# Code asks for traits (src/base/operators.c). Only the table and the option's words name operators in src/; lab/ names
# the ones that it measures.
names=$(grep -rn 'MG_OPERATOR_' src | grep -vE '^src/(base/operators\.[ch]|params/params_table\.c):' || true
  grep -rnE '([=!]=|case) *MG_OPERATOR_' lab || true)
if [[ -n $names ]]; then
  complain "ask for a trait of the operator (src/base/operators.h) instead:
$names"
fi

# The number of points selects the formula in kernels, and its symbol in verify.c. A property of an operator is another
# trait, which a new operator lacks until its row lists it.
uses=$(grep -rnE '\->points\>' src | grep -vE '^src/(cpu/|cuda/.*\.cu:|run/verify\.c:)|points == 0' || true)
if [[ -n $uses ]]; then
  complain "ask for the trait that you mean (src/base/operators.h) instead of the number of points:
$uses"
fi

# Another language for GPUs would replace runtime/, so only that folder calls CUDA and contains PTX.
calls=$(find src/cuda -type f ! -path 'src/cuda/runtime/*' -exec grep -nE '\<cuda[A-Z][A-Za-z]*\(|\<asm\>' {} + || true)
if [[ -n $calls ]]; then
  complain "call a function of src/cuda/runtime/ instead:
$calls"
fi

# The rest of src/ sees the CUDA backend's tables only.
uses=$(find src -type f ! -path 'src/cuda/*' -exec grep -nE '\<mg_cuda_|\<MG_CUDA_|"cuda/' {} + || true)
if [[ -n $uses ]]; then
  complain "call an entry of the backend's table (src/backend/) instead:
$uses"
fi

circles=$(tsort <<<"$edges" 2>&1 >/dev/null) || complain "modules that include each other:
$circles"

if ((n_core_lines > core_lines)); then
  complain "the core has $n_core_lines lines and may have $core_lines: make it smaller, or move lines to a wing"
fi

if command -v python3 >/dev/null; then
  scripts/plots/architecture.py --check || errors=$((errors + 1))
  scripts/checks/paths.py --check || errors=$((errors + 1))
fi
((errors == 0)) || exit 1
echo "the core has $n_core_lines lines (at most $core_lines) in $n_core files"
echo "$n_files files include only the same or lower layers, without circles"
