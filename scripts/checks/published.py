"""Published results: a folder of reports, and the machines that they were measured on.

FOLDER/DATE-MACHINE-OPERATOR-CLASS[-MORE].json are reports as the program wrote them, and
FOLDER/machines/DATE-MACHINE.json says what they do not contain (results/README.md).
"""

from __future__ import annotations

import dataclasses
import os
import re

from checks.known import check_alike, known_results
from checks.report import Damaged, Result, dim_of
from checks.rules import WORDS, class_of
from checks.verdict import check
from toolkit import FileError, plural, read_json

CLASSES = ("official", "double", "mixed")
NAME = re.compile(
    r"(?P<machine>(?P<date>20\d\d-(?:0[1-9]|1[0-2]))-[a-z0-9-]+?)"
    rf"-(?P<operator>{'|'.join(WORDS['operator'])})"
    rf"-(?P<class>{'|'.join(CLASSES)})"
    r"(?:-[a-z0-9-]+)?\.json"
)
BANDWIDTHS = ("nominal", "measured")
# Parts of `energy`, in the order in which they are preferred.
PARTS = {"gpu": "GPU", "cpu": "CPU", "node": "node"}
BUILD = re.compile(r"hpgmg-fv (?P<version>[0-9][^ ,]*), commit (?P<commit>[A-Za-z0-9._-]+)")


def is_line(text, most: int) -> bool:
    return isinstance(text, str) and len(text) <= most and text.isprintable()


@dataclasses.dataclass
class Machine:
    """FOLDER/machines/DATE-MACHINE.json; results/README.md describes the keys."""

    name: str
    host: str
    device: str | None
    devices: int
    bandwidth_gb_per_s: float
    bandwidth: str
    build: list
    contact: str
    notes: str

    def __post_init__(self) -> None:
        texts = {"name": 40, "host": 400, "bandwidth": 400, "contact": 200, "notes": 2000}
        for key, most in texts.items():
            text = getattr(self, key)
            if not is_line(text, most) or "|" in text or not (text or key == "notes"):
                raise ValueError(f"{key} is not a line of at most {most} characters without |")
        if not (self.device is None or (is_line(self.device, 400) and self.device)):
            raise ValueError("device is neither null nor the name of a GPU")
        if type(self.devices) is not int or not 1 <= self.devices <= 10**6:
            raise ValueError("devices is not an integer from 1 to 1000000")
        number = self.bandwidth_gb_per_s
        if type(number) not in (int, float) or not 0.1 <= number <= 1e6:
            raise ValueError("bandwidth_gb_per_s is not a number from 0.1 to 1e6")
        if self.bandwidth.partition(":")[0] not in BANDWIDTHS:
            raise ValueError(f"bandwidth does not begin with {' or '.join(BANDWIDTHS)}")
        lines = self.build
        if not isinstance(lines, list) or not all(is_line(line, 4000) for line in lines):
            raise ValueError("build is not a list of lines")
        if len(lines) < 2 or not BUILD.fullmatch(lines[0]):
            raise ValueError("build is not the output of hpgmg-fv --version with a commit")
        if lines[0].endswith("-dirty"):
            raise ValueError("build is dirty: it has changes that no commit has; repeat the runs")


def read_machine(path: str) -> Machine:
    keys = [field.name for field in dataclasses.fields(Machine)]
    try:
        data = read_json(path)
        if not isinstance(data, dict) or sorted(data) != sorted(keys):
            raise ValueError(f"the keys are not {', '.join(keys)}")
        return Machine(**data)
    except (ValueError, RecursionError) as error:
        raise FileError(f"{path}: {str(error)[:200]}; see results/README.md") from None


def json_files(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError as error:
        raise FileError(f"{folder} cannot be read: {error.strerror}") from None


class Published:
    """One report of a folder, with its machine."""

    def __init__(self, folder: str, name: str):
        self.path = os.path.join(folder, name)
        match = NAME.fullmatch(name)
        if match is None:
            raise FileError(
                f"{self.path}: the name is not DATE-MACHINE-OPERATOR-CLASS.json, such as "
                "2026-11-h100-fv2-double.json"
            )
        self.name = match.groupdict()
        self.entry = os.path.join(folder, "machines", f"{self.name['machine']}.json")
        if not os.path.exists(self.entry):
            raise FileError(f"{self.path}: its machine has no entry; write {self.entry}")
        self.machine = read_machine(self.entry)
        self.result = Result(self.path)

    def check(self) -> None:
        """Name, machine and report must agree. The report has been verified."""
        try:
            self.compare()
        except Damaged as error:
            self.result.fail(str(error))

    def compare(self) -> None:
        r, machine = self.result, self.machine
        for key, value in (("operator", r.data["problem"]["operator"]), ("class", class_of(r))):
            named = self.name[key]
            r.must(value == named, f"the {key} is {value}, but {named} in the name of the file")
        build = BUILD.fullmatch(machine.build[0])["version"]
        version = r.data["version"]
        r.must(build == version, f"version is {version}, but build in {self.entry} is of {build}")
        serial = any(re.fullmatch(r"OpenMP +no.*", line) for line in machine.build)
        r.must(not serial or r.get("run.threads") == 1, "run.threads is above 1 without OpenMP")
        device = r.get("run.device") if self.on_gpus() else None
        wanted, shown = machine.device or "a CPU", device or "a CPU"
        r.must(shown == wanted, f"the device is {shown}, but {wanted} in {self.entry}")
        r.must(
            self.devices() <= machine.devices,
            f"{plural(self.devices(), 'GPU')}, but {self.entry} has {machine.devices}",
        )

    def on_gpus(self) -> bool:
        return self.result.get("run.backend") == "cuda"

    def devices(self) -> int:
        """GPUs, one per rank, or the CPUs of the machine: a run on CPUs counts all of them."""
        return self.result.get("run.ranks") if self.on_gpus() else self.machine.devices

    def rate(self) -> float:
        return self.result.get("fom.dof_per_s")

    def per_bandwidth(self) -> float:
        """DOF/s per GB/s of all devices of the run."""
        return self.rate() / (self.devices() * self.machine.bandwidth_gb_per_s)

    def per_watt(self) -> tuple[float, str] | None:
        """DOF/s per watt and the measured part; None without a measurement."""
        if self.result.get("energy", None) is None:
            return None
        for part, shown in PARTS.items():
            rate = self.result.get(f"energy.{part}.dof_per_joule", None)
            if rate is not None:
                return rate, shown
        return None

    def problem(self) -> str:
        operator, smoother = (self.result.get(f"problem.{k}") for k in ("operator", "smoother"))
        return f"{operator} {smoother} {dim_of(self.result)[0]}³"

    def order(self) -> tuple:
        name = self.name
        return CLASSES.index(name["class"]), name["operator"], -self.rate(), self.path


def published_in(folder: str) -> list[Published]:
    """All reports of a folder. Every machine must have one."""
    found = [Published(folder, name) for name in json_files(folder)]
    if not found:
        raise FileError(f"{folder} has no reports; see results/README.md")
    used = {os.path.basename(p.entry) for p in found}
    for name in json_files(os.path.join(folder, "machines")):
        if name not in used:
            raise FileError(f"{os.path.join(folder, 'machines', name)} belongs to no report")
    return found


def verify(found: list[Published], wanted: str | None = None) -> list[str]:
    """Verify all reports, also against each other, their names and machines. Returns the lines of
    the valid ones, and empty ones."""
    known = known_results()
    lines = [check(p.result, known, wanted) for p in found]
    check_alike([p.result for p in found])
    for p in found:
        if not p.result.reasons:
            p.check()
    return lines


HEAD = ["machine", "date", "class", "problem", "devices", "GDOF/s", "per device", "GB/s"]
HEAD += ["MDOF/s per GB/s", "MDOF/s per W"]


def table(found: list[Published]) -> list[str]:
    """Rows of Markdown, sorted by class, operator and rate."""
    rows = [HEAD, ["---"] * len(HEAD)]
    for p in sorted(found, key=Published.order):
        count, watts, machine = p.devices(), p.per_watt(), p.machine
        rows.append(
            [
                machine.name,
                p.name["date"],
                p.name["class"],
                p.problem(),
                plural(count, "GPU" if p.on_gpus() else "CPU"),
                f"{p.rate() / 1e9:#.3g}",
                f"{p.rate() / 1e9 / count:#.3g}",
                f"{count * machine.bandwidth_gb_per_s:g} {machine.bandwidth.partition(':')[0]}",
                f"{p.per_bandwidth() / 1e6:#.3g}",
                "-" if watts is None else f"{watts[0] / 1e6:#.3g} ({watts[1]})",
            ]
        )
    return [f"| {' | '.join(row)} |" for row in rows]
