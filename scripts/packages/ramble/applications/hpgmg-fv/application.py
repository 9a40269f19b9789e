# Ramble application of hpgmg-fv, also for Benchpark; docs/packages.md explains its use.
# ruff: noqa: F403, F405 (the directives come with ramble.appkit)
from ramble.appkit import *


class HpgmgFv(ExecutableApplication):
    """Geometric multigrid benchmark: times one F-cycle on the variable-coefficient Poisson or
    Helmholtz equation, on CPUs or NVIDIA GPUs, and verifies every run."""

    name = "hpgmg-fv"

    tags("benchmark", "proxy-app", "multigrid", "structured-grid", "mpi", "openmp", "cuda")

    software_spec("hpgmg-fv", pkg_spec="hpgmg-fv@develop", package_manager="spack*")
    required_package("hpgmg-fv", package_manager="spack*")

    # Rules of the classes: docs/rules.md.
    common = (
        "hpgmg-fv {log2_box_dim} {boxes_per_rank} --operator={operator} --device={device}"
        " --json={experiment_run_dir}/report.json"
    )
    executable(
        "double", common + " --smoother={smoother} --min-time={min_time} {options}", use_mpi=True
    )
    executable("official", common + " --official {options}", use_mpi=True)
    workload("double", executables=["double"])
    workload("official", executables=["official"])

    # Names of loops become attributes of the class: none may be one of Ramble's.
    boxes = "boxes per rank; the grid is the largest cube of boxes with at most as many"
    gpus = "auto: the GPUs if every rank has one"
    seconds = "seconds of solves on each of the three grids"
    both, double = ["double", "official"], ["double"]
    for key, preset, some, text, more in (
        ("log2_box_dim", "7", both, "log2 of the cells per side of a box", {}),
        ("boxes_per_rank", "8", both, boxes, {}),
        ("device", "auto", both, gpus, {"values": ["auto", "cpu", "cuda"]}),
        ("options", "", both, "further options of hpgmg-fv", {}),
        ("operator", "fv4", ["official"], "discrete operator", {}),  # HPGMG's list has no other
        ("operator", "fv2", double, "discrete operator", {"values": ["fv2", "fv4", "7pt"]}),
        ("smoother", "gsrb", double, "smoother of the cycle", {}),
        ("min_time", "5", double, seconds, {}),
    ):
        workload_variable(key, default=preset, description=text, workloads=some, **more)

    # The last line of the output: FOM: 7.011e+09 DOF/s VALID class=double operator=fv2 ...
    number = r"[0-9.]+(?:[eE][-+]?[0-9]+)?"
    figure_of_merit(
        "FOM",
        fom_regex=rf"FOM: (?P<rate>{number}) DOF/s VALID ",
        group_name="rate",
        units="DOF/s",
    )
    figure_of_merit(
        "validity",
        fom_regex=r"FOM: \S+ DOF/s (?P<validity>VALID|INVALID) ",
        group_name="validity",
    )
    figure_of_merit("reason", fom_regex=r"FOM: .* reason: (?P<reason>.+)", group_name="reason")
    keys = ("class", "operator", "smoother", "precision", "grid", "ranks", "threads", "backend")
    for key in keys:
        figure_of_merit(key, fom_regex=rf"FOM: .* {key}=(?P<value>\S+)", group_name="value")

    # Table of the grids h, 2h and 4h: name, h, cells, solves, fastest solve, mean, rate.
    for size in ("h", "2h", "4h"):
        figure_of_merit(
            f"DOF/s at {size}",
            fom_regex=rf"\s+{size}\s+\S+\s+[0-9]+\s+[0-9]+\s+\S+\s+\S+\s+(?P<rate>{number})\s*$",
            group_name="rate",
            units="DOF/s",
        )
    figure_of_merit(
        "set-up", fom_regex=r"\s+set-up took (?P<seconds>\S+) s", group_name="seconds", units="s"
    )
    figure_of_merit("error", fom_regex=r"error (?P<error>[0-9]\S*)", group_name="error")
    figure_of_merit("order", fom_regex=r"order (?P<order>[-0-9]\S*)", group_name="order")

    success_criteria("valid", mode="string", match=r"FOM: \S+ DOF/s VALID ", file="{log_file}")
