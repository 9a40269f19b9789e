"""A study's folder: its file, plan, jobs and results. Nothing that stays is written anywhere else.

study.ini              the study as it was planned
plan.json              the same, program, batch system, and a point for each number of nodes
jobs/POINT.sh          what is submitted
runs/POINT.K.json      report of repeat K, there once it has been verified
runs/POINT.K.rc, .log  its exit code and what it printed
state.json             what was submitted, and as which job
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os

import toolkit
from plots.report import Report
from studies.study import LAUNCHERS, SYSTEMS, Study, read_study, read_text
from toolkit import FILE, USAGE, ToolError, whole_number, write_whole

PLAN_FORMAT = 2


@dataclasses.dataclass
class Point:
    """A number of nodes, and what runs on them."""

    name: str
    nodes: int
    ranks: int
    threads: int
    gpus: int
    boxes_per_rank: int
    dim: list[int]
    imbalance: float  # cells of the fullest rank over the mean
    bytes_per_rank_max: int
    patches: int = 1  # cuboids that a rank's boxes make up, the most

    @property
    def cells(self) -> int:
        return self.dim[0] * self.dim[1] * self.dim[2]


@dataclasses.dataclass
class Plan:
    """All points of a study, and with what they are run."""

    program: str
    version: str
    system: str
    launcher: str
    bind_report: str
    points: list[Point]
    folder: str = ""  # where its jobs work
    base: str = ""  # what files of [options] are relative to
    study: str = ""  # text of study.ini

    def system_words(self) -> str:
        return f"{self.system} ({self.launcher})"


# Of a field, by its annotation.
TYPES = {"int": int, "float": (int, float), "str": str, "list[int]": list, "list[Point]": list}


def checked(kind, data: dict):
    """A dataclass from JSON that anybody may have edited."""
    made = kind(**data)
    for field in dataclasses.fields(kind):
        value = getattr(made, field.name)
        if not isinstance(value, TYPES[field.type]) or isinstance(value, bool):
            raise TypeError(f"{field.name} is {str(value)[:40]!r}")
    return made


def plan_of(data) -> Plan:
    data = {**data, "points": [checked(Point, point) for point in data["points"]]}
    if data.pop("format") != PLAN_FORMAT:
        raise ValueError("it is of another version")
    plan = checked(Plan, data)
    for point in plan.points:
        if [type(n) for n in point.dim] != [int] * 3 or min(*point.dim, point.ranks) < 1:
            raise ValueError(f"{point.name} has no grid")
    if plan.system not in SYSTEMS or plan.launcher not in LAUNCHERS or not plan.points:
        raise ValueError(f"no points of {plan.system}, {plan.launcher}")
    return plan


def read_json(path: str, remedy: str = "plan the study again"):
    try:
        return toolkit.read_json(path)
    except OSError as error:
        raise ToolError(f"{path} cannot be read: {error.strerror}", FILE) from None
    except (ValueError, RecursionError) as error:
        raise ToolError(f"{path} is damaged ({str(error)[:80]}); {remedy}", FILE) from None


def text_of(path: str) -> str:
    """What a job has written, whatever that is."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        raise ToolError(f"{path} cannot be read: {error.strerror}", FILE) from None


def is_report(path: str) -> bool:
    """Has it what 'scaling collect' takes?"""
    try:
        report = Report(path)
        for key in ("seconds_min", "seconds_mean", "dof_per_s"):
            report.positive(f"solves.0.{key}")
        return bool(report.numbers("solves.0.norms"))
    except ToolError:
        return False


def reason_of(lines: list[str]) -> str:
    """The last line; of what Open MPI has put between two lines of dashes, the first."""
    if lines[-1].strip("-"):
        return lines[-1]
    said = [line for line in lines if line.strip("-")]
    start = len(lines) - 1
    while start > 0 and lines[start - 1].strip("-"):
        start -= 1
    return lines[start] if lines[start].strip("-") else (said or ["no word"])[-1]


def same_place(a: str, b: str) -> bool:
    return os.path.realpath(a) == os.path.realpath(b)


class Folder:
    """The study of a folder that 'scaling plan' has made."""

    def __init__(self, path: str):
        self.path = os.path.abspath(path)
        if not os.path.exists(self.at("plan.json")):
            raise ToolError(
                f"{path} has no plan of a study; make one with 'scaling plan STUDY.ini'", USAGE
            )
        try:
            self.plan = plan_of(read_json(self.at("plan.json")))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ToolError(f"{path}/plan.json is damaged ({error}); plan it again", FILE) from None
        text = read_text(self.at("study.ini"))
        if text != self.plan.study:
            raise ToolError(
                f"{path}/study.ini was changed after it was planned; "
                f"'scaling plan {path}/study.ini --folder={path}' makes jobs of what it says now",
                USAGE,
            )
        self.study: Study = read_study(self.at("study.ini"), self.plan.base, text)

    @property
    def is_elsewhere(self) -> bool:
        """Copied or moved, so that its jobs are those of another folder."""
        return not same_place(self.plan.folder, self.path)

    def must_be_here(self) -> None:
        if self.is_elsewhere:
            raise ToolError(
                f"{self.path} is a copy of {self.plan.folder}, or was moved: its jobs would work "
                f"there; 'scaling plan {self.path}/study.ini --folder={self.path}' makes them anew",
                USAGE,
            )

    def at(self, *parts: str) -> str:
        return os.path.join(self.path, *parts)

    def result(self, point: Point, repeat: int) -> str:
        return self.at("runs", f"{point.name}.{repeat}.json")

    def reports(self, point: Point) -> list[str]:
        """Files that are there."""
        paths = [self.result(point, k) for k in range(1, self.study.repeats + 1)]
        return [path for path in paths if os.path.exists(path)]

    def results(self, point: Point) -> list[str]:
        """Reports that can be read."""
        return [path for path in self.reports(point) if is_report(path)]

    def damaged(self, point: Point) -> list[str]:
        """What a full disk or a copy that broke off has left."""
        return [path for path in self.reports(point) if not is_report(path)]

    def put_damaged_aside(self, point: Point) -> None:
        """As what a run that has not ended leaves: the job repeats that."""
        for path in self.damaged(point):
            try:
                os.replace(path, f"{path.removesuffix('.json')}.part")
            except OSError as error:
                raise ToolError(f"{path} cannot be renamed: {error.strerror}", FILE) from None

    def exit_codes(self, point: Point) -> list[int]:
        """Of repeats that have ended without a report."""
        codes = []
        for k in range(1, self.study.repeats + 1):
            path = self.at("runs", f"{point.name}.{k}.rc")
            if os.path.exists(self.result(point, k)) or not os.path.exists(path):
                continue
            codes.append(whole_number(text_of(path).strip()))
        return codes

    def last_words(self, point: Point) -> str:
        """The line that says why a repeat failed, as far as one does."""
        for k in range(1, self.study.repeats + 1):
            path = self.at("runs", f"{point.name}.{k}.log")
            if os.path.exists(self.result(point, k)) or not os.path.exists(path):
                continue
            lines = [line.strip() for line in text_of(path).splitlines() if line.strip()]
            told = [line for line in lines if "error:" in line or "FAILED" in line]
            if lines:
                return (told or [reason_of(lines)])[-1][:200]
        return ""

    def binding_warnings(self, point: Point) -> list[str]:
        """What bind-report found in the point's job."""
        path = self.at("runs", f"{point.name}.bind")
        if not os.path.exists(path):
            return []
        lines = text_of(path).splitlines()
        return [line[9:].strip() for line in lines if line.startswith("warning: ")]

    def jobs(self) -> dict[str, str]:
        """The job of each point that was submitted last."""
        path = self.at("state.json")
        if self.is_elsewhere or not os.path.exists(path):
            return {}
        jobs = read_json(path, "remove it once no job of this study is left")
        if not isinstance(jobs, dict) or not all(isinstance(j, str) for j in jobs.values()):
            raise ToolError(f"{path} is damaged; remove it once no job of this study is left", FILE)
        return jobs

    def save_job(self, point: Point, job: str) -> None:
        self.save_jobs({**self.jobs(), point.name: job})

    def save_jobs(self, jobs: dict[str, str]) -> None:
        write_whole(self.at("state.json"), (json.dumps(jobs, indent=1) + "\n").encode())


class Lock:
    """A folder that others wait for until this is closed, where the file system has locks."""

    def __init__(self, folder: Folder):
        self.file: int | None = os.open(folder.path, os.O_RDONLY)
        with contextlib.suppress(OSError):
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def close(self) -> None:
        if self.file is not None:
            os.close(self.file)
            self.file = None


def has_jobs(path: str) -> bool:
    """Were any submitted from here? What cannot be read may say so."""
    state = os.path.join(path, "state.json")
    try:
        return os.path.exists(state) and read_json(state) != {}
    except ToolError:
        return True


def earlier_plan(path: str) -> Plan | None:
    """What was planned in a folder before, if that can be read."""
    try:
        return plan_of(read_json(os.path.join(path, "plan.json")))
    except (ToolError, AttributeError, KeyError, TypeError, ValueError):
        return None


def earlier_system(path: str) -> str | None:
    """The batch system that has, or had, jobs of a folder."""
    old = earlier_plan(path) if has_jobs(path) else None
    return old.system if old and same_place(old.folder, path) else None


def base_of(study_file: str) -> str:
    """The folder of a study's file. A planned study.ini is a copy, and means the original's."""
    folder = os.path.dirname(os.path.abspath(study_file))
    old = earlier_plan(folder) if os.path.basename(study_file) == "study.ini" else None
    return old.base if old else folder


def must_be_the_same(path: str, study: Study, plan: Plan, old: Plan | None) -> None:
    """A study may be planned again, with other repeats too; results of two are not to be mixed."""
    file = os.path.join(path, "study.ini")
    if (old.study if old else read_text(file)) != plan.study:
        known = read_study(file, old.base, old.study) if old else None
        if known is None or dataclasses.replace(known, repeats=study.repeats) != study:
            raise ToolError(
                f"{path} holds another study ({file}); name another folder with --folder", USAGE
            )
    runs = os.path.join(path, "runs")
    ran = os.path.isdir(runs) and any(name.endswith(".json") for name in os.listdir(runs))
    if old and ran and (old.program, old.version) != (plan.program, plan.version):
        raise ToolError(
            f"{path} has runs of {old.version}, {old.program}, which are not to be mixed with "
            f"those of {plan.version}, {plan.program}; name another folder with --folder",
            USAGE,
        )
    here = old and same_place(old.folder, plan.folder)
    if old and (ran or (here and has_jobs(path))) and old.system_words() != plan.system_words():
        raise ToolError(
            f"{path} has jobs or runs of {old.system_words()}, which are not to be mixed with "
            f"those of {plan.system_words()}; name another folder with --folder",
            USAGE,
        )


def make_folder(path: str, study: Study, plan: Plan, scripts: dict[str, str]) -> None:
    """Write a plan."""
    old = earlier_plan(path)
    try:
        if os.path.exists(os.path.join(path, "study.ini")):
            must_be_the_same(path, study, plan, old)
        elif os.path.isdir(path) and os.listdir(path):
            raise ToolError(f"{path} is not empty and no study; name another with --folder", USAGE)
        for part in ("jobs", "runs"):
            os.makedirs(os.path.join(path, part), exist_ok=True)
        state = os.path.join(path, "state.json")
        # Jobs of the folder that this one is a copy of.
        if old and not same_place(old.folder, plan.folder) and os.path.exists(state):
            os.unlink(state)
    except OSError as error:
        raise ToolError(f"{path} cannot be a study's folder: {error.strerror}", FILE) from None
    write_whole(os.path.join(path, "study.ini"), plan.study.encode())
    for name, text in scripts.items():
        script = os.path.join(path, "jobs", f"{name}.sh")
        write_whole(script, text.encode())
        os.chmod(script, 0o755)
    data = {"format": PLAN_FORMAT, **dataclasses.asdict(plan)}
    write_whole(os.path.join(path, "plan.json"), (json.dumps(data, indent=1) + "\n").encode())
