"""Job scripts: one self-contained script per point. All strings of users are quoted."""

from __future__ import annotations

import shlex

from studies.folder import Plan, Point
from studies.study import Study
from studies.systems import SYSTEMS, Raw
from toolkit import plural

BODY = """
# Skip repeats that have a report. A report gets its final name once the run is verified.
failed=0
for ((repeat = 1; repeat <= repeats; repeat++)); do
  run=runs/$point.$repeat
  [[ ! -e $run.json ]] || continue
  rm -f "$run.rc"
  rc=0
  "${launch[@]}" "${program[@]}" --json="$run.part" "${size[@]}" \\
    >"$run.log" 2>&1 </dev/null || rc=$?
  if ((rc == 0)) && [[ -s $run.part ]]; then
    mv "$run.part" "$run.json"
    echo "$point: repeat $repeat of $repeats done"
  else
    failed=1
    echo "$point: repeat $repeat of $repeats failed with exit code $rc, see $run.log" >&2
  fi
  echo "$rc" >"$run.rc"
done
exit $failed
"""


def quoted(words: list[str]) -> str:
    return " ".join(word if isinstance(word, Raw) else shlex.quote(word) for word in words)


def job_script(study: Study, plan: Plan, point: Point) -> str:
    """The text of a point's job."""
    system = SYSTEMS[plan.system]
    launch = system.launch(study, point, plan.launcher)
    shares_cores = plan.system == "local" and system.shares_cores(study, point)
    size = [str(study.log2_box_dim), str(point.boxes_per_rank)]
    shape = f"{plural(point.nodes, 'node')}, {plural(point.ranks, 'rank')} of "
    shape += plural(point.threads, "thread")
    if point.gpus:
        shape += f", {plural(point.gpus, 'GPU')}"
    # The command `module` is defined in login shells.
    shell = "#!/bin/bash -l" if study.modules else "#!/bin/bash"
    lines = [shell, *system.header(study, point)]
    lines += [f"# {study.kind} scaling of hpgmg-fv, {shape}: {point.shape} cells"]
    lines += [f"cd {quoted([plan.folder])} || exit 3"]
    if study.modules:
        lines += [f"module load {quoted([name])} || exit 3" for name in study.modules]
    lines += ["set -u"]  # not earlier: modules of some sites read unset variables
    lines += [f"export {key}={quoted([value])}" for key, value in study.environment.items()]
    lines += [f"export OMP_NUM_THREADS={study.threads}"]
    for key, value in (("OMP_PLACES", "cores"), ("OMP_PROC_BIND", "close")):
        if key not in study.environment and not shares_cores:
            lines.append(f"export {key}={value}")
    if plan.system == "local":
        # Bash runs a trap only after mpirun has ended, and with it all ranks.
        lines += ["trap 'exit 130' INT", "trap 'exit 143' TERM", "trap 'exit 129' HUP"]
        lines += ["if ((EUID == 0)); then # Open MPI refuses root without these"]
        lines += ["  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "fi"]
        if shares_cores:
            lines += ["export OMPI_MCA_mpi_yield_when_idle=1 # waiting ranks yield their core"]
    lines += [
        f"point={point.name} repeats={study.repeats}",
        f"launch=({quoted(launch)})",
        f"program=({quoted([plan.program, *study.option_words()])})",
        f"size=({quoted(size)})",
        "",
        "# Report the cores, threads and GPU of each rank, and warn of shared ones.",
        f"{quoted([plan.bind_report, f'--threads={study.threads}'])} "
        '"${launch[@]}" >"runs/$point.bind" 2>&1 </dev/null || true',
    ]
    return "\n".join(lines) + BODY
