"""Measured solves with their amounts of work, to which a model is fitted."""

from __future__ import annotations

import dataclasses
import os

from plots.report import Report
from studies.collect import report_of
from studies.costs import (
    CPU,
    GPU,
    PASSES,
    Exchanges,
    Level,
    Setting,
    exchanges_of,
    levels_of,
    visits_of,
)
from studies.folder import Folder, Point, text_of
from studies.plan import settings_of
from studies.systems import usable_cores
from toolkit import FileError, UsageError, whole_number

# Values of reports that all runs of a model must share.
ALIKE = ("operator", "equation", "boundary", "smoother", "cycle")
# Settings that they must share too, which reports do not contain.
ALIKE_SETTINGS = ("smooths", "degree", "bottom", "krylov", "precision")
N_GRIDS = 3  # every run solves on h, 2h and 4h


@dataclasses.dataclass
class Sample:
    """A timed solve."""

    name: str  # of its point
    problem: str  # operator, smoother and so on, as text
    grid: int
    ranks: int
    dof: int
    seconds: float
    levels: list[Level]
    visits: list[int]
    setting: Setting
    level_seconds: list[float]  # of each level, on h; empty on coarser grids


@dataclasses.dataclass
class Machine:
    """Properties of the machine and the runs, other than times."""

    cores: int | None = None
    exchanges: dict[str, Exchanges] = dataclasses.field(default_factory=dict)
    tail_cells: int = 0
    most_hosts: int = 1
    cpu_below: int = 0  # of the first run
    cycle: str = ""
    cycles: int = 1  # maximum over solves


def host_of(folder: Folder, point: Point) -> tuple[int, int | None, int]:
    """Ranks on the fullest host, cores of a host, and number of hosts, from bind-report in the job.

    Without its output: this machine's cores for a local study, else one core per thread (None).
    """
    path = folder.at("runs", f"{point.name}.bind")
    hosts: dict[str, list[tuple[str, int]]] = {}
    if os.path.exists(path):
        for words in map(str.split, text_of(path).split("\n")):
            if len(words) > 5 and whole_number(words[0]) >= 0 and whole_number(words[4]) >= 0:
                hosts.setdefault(words[1], []).append((words[3], whole_number(words[4])))
    if sum(map(len, hosts.values())) == point.ranks:
        # Ranks with the same set of CPUs share their cores.
        cores = [sum(dict(ranks).values()) for ranks in hosts.values()]
        return max(map(len, hosts.values())), min(cores), len(hosts)
    if folder.plan.system == "local":
        return point.ranks, usable_cores(), 1
    return min(point.ranks, folder.study.ranks_per_node), None, point.nodes


def option(report: Report, key: str) -> int:
    """A non-negative integer of the report's section `run`."""
    value = report.get("run", dict).get(key)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        report.wrong(f"run.{key}", value)
    return value


def measured_options(report: Report) -> dict[str, int]:
    """Options whose value a run may have measured, with the values in use. Reports of earlier
    versions lack agglomerate_below; null stands for the fixed figures that a dry run uses too."""
    options = {"cpu_below": option(report, "cpu_below")}
    if report.get("run", dict).get("agglomerate_below") is not None:
        options["agglomerate_below"] = option(report, "agglomerate_below")
    return options


def problem_of(report: Report) -> str:
    """The problem as text."""
    *others, cycle = (report.about[key] for key in ALIKE)
    return ", ".join([*others, f"{cycle.upper()}-cycle"])


def seconds_of_levels(report: Report, levels: list[Level]) -> list[float]:
    """Seconds of each level in a solve on h: the mean over the ranks that hold the level.

    The report (--levels-breakdown) has means over all ranks; ranks without cells count as 0.
    """
    return [
        sum(
            report.get(f"levels.{i}.seconds.{name}.1", float)
            for name in report.get(f"levels.{i}.seconds", dict)
        )
        * report.about["ranks"]
        / level.ranks
        for i, level in enumerate(levels)
    ]


def levels_agree(report: Report, levels: list[Level]) -> bool:
    """True if the report has the planned levels."""
    return len(report.get("levels", list)) == len(levels) and all(
        report.get(f"levels.{i}.dim.0", int) == level.dim
        and report.get(f"levels.{i}.ranks", int) == level.ranks
        for i, level in enumerate(levels)
    )


class Collector:
    """Reads the runs of studies into samples, and records what they reveal of the machine."""

    def __init__(self):
        self.samples: list[Sample] = []
        self.counted: dict[str, list[tuple[Level, float, float]]] = {CPU: [], GPU: [], PASSES: []}
        self.found = Machine()
        self.first: Report | None = None
        self.first_values: dict[tuple[str, ...], tuple[str, dict]] = {}

    def add_study(self, folder: Folder, program: str, name: str) -> None:
        self.must_share(folder.path, ALIKE_SETTINGS, settings_of(folder.study, program))
        for point in folder.plan.points:
            planned: dict[tuple[int, ...], list[Level]] = {}
            on_host, cores, n_hosts = host_of(folder, point)
            self.found.most_hosts = max(self.found.most_hosts, n_hosts)
            self.found.cores = max(cores or 0, self.found.cores or 0) or None
            for path in folder.results(point):
                report = report_of(point, path)
                options = measured_options(report)
                key = tuple(options.values())
                if key not in planned:
                    planned[key] = levels_of(
                        folder.study, program, point.ranks, point.boxes_per_rank, **options
                    )
                if not levels_agree(report, planned[key]):
                    raise UsageError(
                        f"the levels of {path} differ from the plan of {program}; set --program to "
                        "the program that ran it, and [options] agglomerate-below if the run left "
                        "GPUs idle"
                    )
                setting = Setting(point.threads, on_host, cores, {}, 0)
                if not self.samples:
                    self.found.cpu_below = options["cpu_below"]
                self.add_run(report, f"{name}{point.name}", planned[key], setting)

    def must_share(self, path: str, keys: tuple[str, ...], values: dict) -> None:
        """All runs of a model must solve one problem in one way."""
        first, others = self.first_values.setdefault(keys, (path, values))
        for key in keys:
            if values.get(key) != others.get(key):
                raise UsageError(
                    f"all runs of a model must have one value of {key}: {path} has "
                    f"{values.get(key)}, {first} has {others.get(key)}"
                )

    def add_run(self, report: Report, name: str, levels: list[Level], setting: Setting) -> None:
        self.must_share(report.path, ALIKE, report.about)
        self.first = self.first or report
        self.found.cycles = max(self.found.cycles, report.get("solves.0.cycles", int))
        self.look_at_levels(report, levels)
        for grid in range(min(N_GRIDS, len(report.get("solves", list)))):
            visits = visits_of(
                len(levels) - grid, report.about["cycle"], report.get(f"solves.{grid}.cycles", int)
            )
            self.samples.append(
                Sample(
                    name=name,
                    problem=problem_of(report),
                    grid=grid,
                    ranks=report.about["ranks"],
                    dof=report.get(f"solves.{grid}.dof", int),
                    seconds=report.positive(f"solves.{grid}.seconds_mean"),
                    levels=levels[grid:],
                    visits=visits,
                    setting=setting,
                    level_seconds=[] if grid > 0 else seconds_of_levels(report, levels),
                )
            )

    def look_at_levels(self, report: Report, levels: list[Level]) -> None:
        """Record the exchanges per visit, and the levels that one GPU kernel processes together."""
        visits = visits_of(len(levels), report.about["cycle"], report.get("solves.0.cycles", int))
        for i, level in enumerate(levels):
            if "messages" not in report.get(f"levels.{i}", dict):
                raise UsageError(
                    f"{report.path} does not count messages; a model needs --levels-breakdown "
                    "([options] levels-breakdown = yes)"
                )
            if level.messages > 0:
                messages, size = (
                    report.get(f"levels.{i}.{key}.2", float) / visits[i]
                    for key in ("messages", "message_bytes")
                )
                if messages > 0.0 and size > 0.0:
                    self.counted[level.kind].append((level, messages, size / 8))
            if report.get(f"levels.{i}.seconds", dict).get("coarse_levels"):
                self.found.tail_cells = max(self.found.tail_cells, level.cells)

    def machine(self) -> Machine:
        """Call once all studies are added. Also completes the settings of all samples."""
        if self.first is None:
            raise FileError("no study has results yet; 'scaling status' lists what is missing")
        # fv4 and fused sweeps read ghost cells at edges and corners.
        edges = self.first.about["operator"] == "fv4"
        self.found.exchanges = {
            kind: exchanges_of(counted, edges or kind == PASSES)
            for kind, counted in self.counted.items()
            if counted
        }
        self.found.cycle = self.first.about["cycle"]
        for sample in self.samples:
            sample.setting.exchanges = self.found.exchanges
            sample.setting.tail_cells = self.found.tail_cells
        return self.found
