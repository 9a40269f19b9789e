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

    every = ["double", "official"]
    workload_variable(
        "log2_box_dim",
        default="7",
        description="log2 of the cells per side of a box",
        workloads=every,
    )
    workload_variable(
        "boxes_per_rank",
        default="8",
        description="boxes per rank; the grid is the largest cube of boxes with at most as many",
        workloads=every,
    )
    workload_variable(
        "device",
        default="auto",
        values=["auto", "cpu", "cuda"],
        description="auto: the GPUs if every rank has one",
        workloads=every,
    )
    workload_variable(
        "options", default="", description="further options of hpgmg-fv", workloads=every
    )
    # HPGMG's list has fv4 only.
    workload_variable(
        "operator", default="fv4", description="discrete operator", workloads=["official"]
    )
    workload_variable(
        "operator",
        default="fv2",
        values=["fv2", "fv4", "7pt"],
        description="discrete operator",
        workloads=["double"],
    )
    workload_variable(
        "smoother", default="gsrb", description="smoother of the cycle", workloads=["double"]
    )
    workload_variable(
        "min_time",
        default="5",
        description="seconds of solves on each of the three grids",
        workloads=["double"],
    )

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
    for key in (
        "class",
        "operator",
        "smoother",
        "precision",
        "grid",
        "ranks",
        "threads",
        "backend",
    ):
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
