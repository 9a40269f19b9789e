"""A study's folder: its file, plan, jobs and results. Nothing is written anywhere else.

study.ini              the study as it was planned
plan.json              program, batch system, and a point for each number of nodes
jobs/POINT.sh          what is submitted
runs/POINT.K.json      report of repeat K, there once it has been verified
runs/POINT.K.rc, .log  its exit code and what it printed
state.json             what was submitted, and as which job
"""

from __future__ import annotations

import dataclasses
import json
import os

from studies.study import Study, read_study
from toolkit import FILE, USAGE, ToolError, write_whole

PLAN_FORMAT = 1


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


def read_json(path: str):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as error:
        raise ToolError(f"{path} cannot be read: {error.strerror}", FILE) from None
    except (ValueError, RecursionError) as error:
        raise ToolError(
            f"{path} is damaged ({str(error)[:80]}); plan the study again", FILE
        ) from None


class Folder:
    """The study of a folder that 'scaling plan' has made."""

    def __init__(self, path: str):
        self.path = os.path.abspath(path)
        if not os.path.exists(self.at("plan.json")):
            raise ToolError(
                f"{path} has no plan of a study; make one with 'scaling plan STUDY.ini'", USAGE
            )
        self.study: Study = read_study(self.at("study.ini"))
        data = read_json(self.at("plan.json"))
        try:
            if data.pop("format") != PLAN_FORMAT:
                raise ToolError(f"{path}/plan.json is of another version; plan it again", FILE)
            data["points"] = [Point(**point) for point in data["points"]]
            self.plan = Plan(**data)
        except (AttributeError, KeyError, TypeError) as error:
            raise ToolError(f"{path}/plan.json is damaged ({error}); plan it again", FILE) from None

    def at(self, *parts: str) -> str:
        return os.path.join(self.path, *parts)

    def result(self, point: Point, repeat: int) -> str:
        return self.at("runs", f"{point.name}.{repeat}.json")

    def results(self, point: Point) -> list[str]:
        """Reports that are there."""
        paths = [self.result(point, k) for k in range(1, self.study.repeats + 1)]
        return [path for path in paths if os.path.exists(path)]

    def exit_codes(self, point: Point) -> list[int]:
        """Of repeats that have ended without a report."""
        codes = []
        for k in range(1, self.study.repeats + 1):
            path = self.at("runs", f"{point.name}.{k}.rc")
            if os.path.exists(self.result(point, k)) or not os.path.exists(path):
                continue
            with open(path, encoding="ascii", errors="replace") as file:
                text = file.read().strip()
            codes.append(int(text) if text.isdigit() else -1)
        return codes

    def last_words(self, point: Point) -> str:
        """The line that says why a repeat failed, as far as one does."""
        for k in range(1, self.study.repeats + 1):
            path = self.at("runs", f"{point.name}.{k}.log")
            if os.path.exists(self.result(point, k)) or not os.path.exists(path):
                continue
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = [line.strip() for line in file if line.strip()]
            told = [line for line in lines if "error" in line or "FAILED" in line]
            if lines:
                return (told or lines)[-1][:200]
        return ""

    def binding_warnings(self, point: Point) -> list[str]:
        """What bind-report found in the point's job."""
        path = self.at("runs", f"{point.name}.bind")
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8", errors="replace") as file:
            return [line[9:].strip() for line in file if line.startswith("warning: ")]

    def jobs(self) -> dict[str, str]:
        """The job of each point that was submitted last."""
        path = self.at("state.json")
        return read_json(path) if os.path.exists(path) else {}

    def save_job(self, point: Point, job: str) -> None:
        jobs = {**self.jobs(), point.name: job}
        write_whole(self.at("state.json"), (json.dumps(jobs, indent=1) + "\n").encode())


def make_folder(path: str, study_text: str, plan: Plan, scripts: dict[str, str]) -> None:
    """Write a plan. The same study may be planned again; another's results must not be mixed in."""
    old = os.path.join(path, "study.ini")
    try:
        if os.path.exists(old):
            with open(old, encoding="utf-8") as file:
                if file.read() != study_text:
                    raise ToolError(
                        f"{path} holds another study ({old}); name another folder with --folder",
                        USAGE,
                    )
        elif os.path.isdir(path) and os.listdir(path):
            raise ToolError(f"{path} is not empty and no study; name another with --folder", USAGE)
        for part in ("jobs", "runs"):
            os.makedirs(os.path.join(path, part), exist_ok=True)
    except OSError as error:
        raise ToolError(f"{path} cannot be a study's folder: {error.strerror}", FILE) from None
    write_whole(old, study_text.encode())
    for name, text in scripts.items():
        script = os.path.join(path, "jobs", f"{name}.sh")
        write_whole(script, text.encode())
        os.chmod(script, 0o755)
    data = {"format": PLAN_FORMAT, **dataclasses.asdict(plan)}
    write_whole(os.path.join(path, "plan.json"), (json.dumps(data, indent=1) + "\n").encode())
