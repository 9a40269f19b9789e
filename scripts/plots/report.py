"""Reader of --json reports (docs/reports.md)."""

from __future__ import annotations

from plots.common import LARGEST
from plots.dump import is_dump
from toolkit import FileError, at_path, read_json


def read_report(path: str, program: str) -> dict:
    """Read the JSON report of `program`."""
    try:
        data = read_json(path)
    except (ValueError, RecursionError) as error:
        if is_dump(path):
            text = f"{path} is a dump; use a report written by --json"
            raise FileError(text) from None
        raise FileError(
            f"{path} is neither a dump nor JSON ({str(error)[:80]}); use a file written by --json "
            "or --dump"
        ) from None
    if not isinstance(data, dict) or data.get("program") != program:
        raise FileError(f"{path} is not a report of {program}")
    return data


class Report:
    """A report; each value is checked when it is read."""

    def __init__(self, path: str):
        self.path = path
        self.data = read_report(path, "hpgmg-fv")
        if self.data.get("dry_run"):
            raise FileError(f"{path} is a plan; use the report of a run without --dry-run")
        self.about = {
            key: self.get(f"problem.{key}", str)
            for key in ("operator", "equation", "boundary", "smoother", "cycle")
        }
        # Missing in reports of older versions; null if no file was used.
        for key in ("krylov", "precision", "coefficients", "rhs"):
            if self.data["problem"].get(key) is not None:
                self.about[key] = self.get(f"problem.{key}", str)
        self.about["dim"] = self.dim("problem.dim")
        self.about["ranks"] = self.get("run.ranks", int)
        self.about["threads"] = self.get("run.threads", int)
        self.about["backend"] = self.get("run.backend", str)
        self.about["host"] = self.get("run.host", str)

    def get(self, where: str, kind):
        """The value at a path such as solves.0.norms; null becomes NaN if `kind` is float."""
        try:
            value = at_path(self.data, where)
        except LookupError:
            raise FileError(f"{self.path} has no {where}; repeat the run") from None
        if kind is float and value is None:
            return float("nan")
        # Counts are positive 64-bit integers.
        whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
        if kind is float and whole:
            value = float(value)
        if not isinstance(value, kind) or (kind is int and not (whole and value > 0)):
            self.wrong(where, value)
        return value

    def wrong(self, where: str, value):
        text = f"{self.path}: {where} has the invalid value {str(value)[:40]}; repeat the run"
        raise FileError(text)

    def positive(self, where: str) -> float:
        """A positive number that fits on a scale."""
        value = self.get(where, float)
        return value if 1.0 / LARGEST <= value <= LARGEST else self.wrong(where, value)

    def dim(self, where: str) -> list[int]:
        """Cells along x, y and z."""
        dim = [self.get(f"{where}.{axis}", int) for axis in range(3)]
        return dim if max(dim) < 2**31 else self.wrong(where, dim)

    def numbers(self, where: str) -> list[float]:
        return [self.get(f"{where}.{i}", float) for i in range(len(self.get(where, list)))]
