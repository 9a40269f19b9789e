"""The folder of a study: study file, plan, jobs and results. All persistent files are in it.

study.ini              the study as planned
plan.json              study, program, batch system, and one point per number of nodes
jobs/POINT.sh          job scripts
runs/POINT.K.json      report of repeat K, once the run is verified
runs/POINT.K.rc, .log  its exit code and output
state.json             the last submitted job of each point
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os

import toolkit
from checks.report import grid
from plots.report import Report
from studies.study import LAUNCHERS, SYSTEMS, Study, read_study, read_text
from toolkit import FileError, ToolError, UsageError, whole_number, write_atomically

PLAN_FORMAT = 2


@dataclasses.dataclass
class Point:
    """One point of a study: a number of nodes and the run on them."""

    name: str
    nodes: int
    ranks: int
    threads: int
    gpus: int
    boxes_per_rank: int
    dim: list[int]
    imbalance: float  # cells of the fullest rank divided by the mean
    bytes_per_rank_max: int
    patches: int = 1  # cuboids formed by a rank's boxes, maximum over ranks

    @property
    def cells(self) -> int:
        return self.dim[0] * self.dim[1] * self.dim[2]

    @property
    def shape(self) -> str:
        return grid(self.dim)


@dataclasses.dataclass
class Plan:
    """The points of a study, and the program and systems that run them."""

    program: str
    version: str
    system: str
    launcher: str
    bind_report: str
    points: list[Point]
    folder: str = ""  # folder of the study, in which jobs run
    base: str = ""  # folder that paths in [options] are relative to
    study: str = ""  # text of study.ini

    def system_words(self) -> str:
        return f"{self.system} ({self.launcher})"


# Allowed types of a field, by its annotation.
TYPES = {"int": int, "float": (int, float), "str": str, "list[int]": list, "list[Point]": list}


def checked(kind, data: dict):
    """Make a dataclass from JSON, checking types: the file may have been edited."""
    made = kind(**data)
    for field in dataclasses.fields(kind):
        value = getattr(made, field.name)
        if not isinstance(value, TYPES[field.type]) or isinstance(value, bool):
            raise TypeError(f"{field.name} is {str(value)[:40]!r}")
    return made


def plan_of(data) -> Plan:
    data = {**data, "points": [checked(Point, point) for point in data["points"]]}
    if data.pop("format") != PLAN_FORMAT:
        raise ValueError("wrong format version")
    plan = checked(Plan, data)
    for point in plan.points:
        if [type(n) for n in point.dim] != [int] * 3 or min(*point.dim, point.ranks) < 1:
            raise ValueError(f"{point.name} has no grid")
    if plan.system not in SYSTEMS or plan.launcher not in LAUNCHERS or not plan.points:
        raise ValueError(f"invalid system {plan.system} or launcher {plan.launcher}, or no points")
    return plan


def read_json(path: str, remedy: str = "plan the study again"):
    try:
        return toolkit.read_json(path)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path} is damaged ({str(error)[:80]}); {remedy}") from None


def text_of(path: str) -> str:
    """Read a file that a job has written. Invalid UTF-8 is replaced."""
    return toolkit.read_text(path, "replace")


def is_report(path: str) -> bool:
    """True if the file is a report with all values that 'scaling collect' needs."""
    try:
        report = Report(path)
        for key in ("seconds_min", "seconds_mean", "dof_per_s"):
            report.positive(f"solves.0.{key}")
        return bool(report.numbers("solves.0.norms"))
    except ToolError:
        return False


def reason_of(lines: list[str]) -> str:
    """The last line, or the first line of a message that Open MPI prints between dashes."""
    if lines[-1].strip("-"):
        return lines[-1]
    texts = [line for line in lines if line.strip("-")]
    start = len(lines) - 1
    while start > 0 and lines[start - 1].strip("-"):
        start -= 1
    return lines[start] if lines[start].strip("-") else (texts or ["no output"])[-1]


def same_place(a: str, b: str) -> bool:
    return os.path.realpath(a) == os.path.realpath(b)


class Folder:
    """A folder made by 'scaling plan'."""

    def __init__(self, path: str):
        self.path = os.path.abspath(path)
        if not os.path.exists(self.at("plan.json")):
            raise UsageError(f"{path} has no plan; make one with 'scaling plan STUDY.ini'")
        try:
            self.plan = plan_of(read_json(self.at("plan.json")))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FileError(f"{path}/plan.json is damaged ({error}); plan it again") from None
        text = read_text(self.at("study.ini"))
        if text != self.plan.study:
            raise UsageError(
                f"{path}/study.ini was changed after planning; "
                f"plan it again with 'scaling plan {path}/study.ini --folder={path}'"
            )
        self.study: Study = read_study(self.at("study.ini"), self.plan.base, text)

    @property
    def is_elsewhere(self) -> bool:
        """True if the folder was copied or moved: its jobs run in the original folder."""
        return not same_place(self.plan.folder, self.path)

    def must_be_here(self) -> None:
        if self.is_elsewhere:
            raise UsageError(
                f"{self.path} was copied or moved from {self.plan.folder}, and its jobs would run "
                f"there; plan again with 'scaling plan {self.path}/study.ini --folder={self.path}'"
            )

    def at(self, *parts: str) -> str:
        return os.path.join(self.path, *parts)

    def result(self, point: Point, repeat: int) -> str:
        return self.at("runs", f"{point.name}.{repeat}.json")

    def reports(self, point: Point) -> list[str]:
        """Existing report files, valid or not."""
        paths = [self.result(point, k) for k in range(1, self.study.repeats + 1)]
        return [path for path in paths if os.path.exists(path)]

    def results(self, point: Point) -> list[str]:
        """Valid reports."""
        return [path for path in self.reports(point) if is_report(path)]

    def damaged(self, point: Point) -> list[str]:
        """Invalid reports, for example from a full disk or an interrupted copy."""
        return [path for path in self.reports(point) if not is_report(path)]

    def put_damaged_aside(self, point: Point) -> None:
        """Rename damaged reports to those of unfinished runs, which the job repeats."""
        for path in self.damaged(point):
            try:
                os.replace(path, f"{path.removesuffix('.json')}.part")
            except OSError as error:
                raise FileError(f"{path} cannot be renamed: {error.strerror}") from None

    def exit_codes(self, point: Point) -> list[int]:
        """Exit codes of repeats that ended without a report."""
        codes = []
        for k in range(1, self.study.repeats + 1):
            path = self.at("runs", f"{point.name}.{k}.rc")
            if os.path.exists(self.result(point, k)) or not os.path.exists(path):
                continue
            codes.append(whole_number(text_of(path).strip()))
        return codes

    def last_words(self, point: Point) -> str:
        """The output line that best explains why a repeat failed; empty without output."""
        for k in range(1, self.study.repeats + 1):
            path = self.at("runs", f"{point.name}.{k}.log")
            if os.path.exists(self.result(point, k)) or not os.path.exists(path):
                continue
            lines = [line.strip() for line in text_of(path).splitlines() if line.strip()]
            errors = [line for line in lines if "error:" in line or "FAILED" in line]
            if lines:
                return (errors or [reason_of(lines)])[-1][:200]
        return ""

    def binding_warnings(self, point: Point) -> list[str]:
        """Warnings of bind-report from the point's job."""
        path = self.at("runs", f"{point.name}.bind")
        if not os.path.exists(path):
            return []
        lines = text_of(path).splitlines()
        return [line[9:].strip() for line in lines if line.startswith("warning: ")]

    def jobs(self) -> dict[str, str]:
        """The last submitted job of each point."""
        path = self.at("state.json")
        if self.is_elsewhere or not os.path.exists(path):
            return {}
        remedy = "remove it once all jobs of this study have ended"
        jobs = read_json(path, remedy)
        if not isinstance(jobs, dict) or not all(isinstance(j, str) for j in jobs.values()):
            raise FileError(f"{path} is damaged; {remedy}")
        return jobs

    def save_job(self, point: Point, job: str) -> None:
        self.save_jobs({**self.jobs(), point.name: job})

    def save_jobs(self, jobs: dict[str, str]) -> None:
        write_atomically(self.at("state.json"), (json.dumps(jobs, indent=1) + "\n").encode(), False)


class Lock:
    """An exclusive lock of a folder, if the file system supports locks."""

    def __init__(self, folder: Folder):
        self.file: int | None = os.open(folder.path, os.O_RDONLY)
        with contextlib.suppress(OSError):
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def close(self) -> None:
        if self.file is not None:
            os.close(self.file)
            self.file = None


def has_jobs(path: str) -> bool:
    """True if jobs were submitted from here, or if state.json is unreadable."""
    state = os.path.join(path, "state.json")
    try:
        return os.path.exists(state) and read_json(state) != {}
    except ToolError:
        return True


def earlier_plan(path: str) -> Plan | None:
    """The previous plan of a folder, if readable."""
    try:
        return plan_of(read_json(os.path.join(path, "plan.json")))
    except (ToolError, AttributeError, KeyError, TypeError, ValueError):
        return None


def earlier_system(path: str) -> str | None:
    """The batch system to which jobs of a folder were submitted."""
    old = earlier_plan(path) if has_jobs(path) else None
    return old.system if old and same_place(old.folder, path) else None


def base_of(study_file: str) -> str:
    """The folder of a study's file. For the copy study.ini, that of the original file."""
    folder = os.path.dirname(os.path.abspath(study_file))
    old = earlier_plan(folder) if os.path.basename(study_file) == "study.ini" else None
    return old.base if old else folder


def must_be_the_same(path: str, study: Study, plan: Plan, old: Plan | None) -> None:
    """Refuse to mix two studies or two programs. Only the number of repeats may change."""
    file = os.path.join(path, "study.ini")
    if (old.study if old else read_text(file)) != plan.study:
        known = read_study(file, old.base, old.study) if old else None
        if known is None or dataclasses.replace(known, repeats=study.repeats) != study:
            raise UsageError(f"{path} holds another study ({file}); use another folder (--folder)")
    runs = os.path.join(path, "runs")
    ran = os.path.isdir(runs) and any(name.endswith(".json") for name in os.listdir(runs))
    if old and ran and (old.program, old.version) != (plan.program, plan.version):
        raise UsageError(
            f"{path} has runs of {old.version}, {old.program}, which cannot be mixed with "
            f"those of {plan.version}, {plan.program}; use another folder (--folder)"
        )
    here = old and same_place(old.folder, plan.folder)
    if old and (ran or (here and has_jobs(path))) and old.system_words() != plan.system_words():
        raise UsageError(
            f"{path} has jobs or runs of {old.system_words()}, which cannot be mixed with "
            f"those of {plan.system_words()}; use another folder (--folder)"
        )


def make_folder(path: str, study: Study, plan: Plan, scripts: dict[str, str]) -> None:
    """Write the plan and its jobs into the folder."""
    old = earlier_plan(path)
    try:
        if os.path.exists(os.path.join(path, "study.ini")):
            must_be_the_same(path, study, plan, old)
        elif os.path.isdir(path) and os.listdir(path):
            raise UsageError(f"{path} holds files but no study; use another folder (--folder)")
        for part in ("jobs", "runs"):
            os.makedirs(os.path.join(path, part), exist_ok=True)
        state = os.path.join(path, "state.json")
        # These are jobs of the folder that this one was copied from.
        if old and not same_place(old.folder, plan.folder) and os.path.exists(state):
            os.unlink(state)
    except OSError as error:
        raise FileError(f"{path} cannot be used as folder: {error.strerror}") from None
    write_atomically(os.path.join(path, "study.ini"), plan.study.encode(), False)
    for name, text in scripts.items():
        script = os.path.join(path, "jobs", f"{name}.sh")
        write_atomically(script, text.encode(), False)
        os.chmod(script, 0o755)
    data = {"format": PLAN_FORMAT, **dataclasses.asdict(plan)}
    write_atomically(
        os.path.join(path, "plan.json"), (json.dumps(data, indent=1) + "\n").encode(), False
    )
