"""A report of --json (docs/reports.md)."""

from __future__ import annotations

from plots.common import LARGEST
from plots.dump import is_dump
from toolkit import FILE, ToolError, read_json


def read_report(path: str, program: str) -> dict:
    """The JSON that a program wrote."""
    try:
        data = read_json(path)
    except OSError as error:
        raise ToolError(f"{path} cannot be read: {error.strerror}", FILE) from None
    except (ValueError, RecursionError) as error:
        if is_dump(path):
            text = f"{path} is a dump; a report is wanted, as --json writes"
            raise ToolError(text, FILE) from None
        raise ToolError(
            f"{path} is neither a dump nor JSON ({str(error)[:80]}); name a file that --json "
            "or --dump wrote",
            FILE,
        ) from None
    if not isinstance(data, dict) or data.get("program") != program:
        raise ToolError(f"{path} is no report of {program}: its program is another", FILE)
    return data


class Report:
    """What a report says, each part checked as it is asked for."""

    def __init__(self, path: str):
        self.path = path
        self.data = read_report(path, "hpgmg-fv")
        if self.data.get("dry_run"):
            raise ToolError(f"{path} is a plan; give the report of a run without --dry-run", FILE)
        self.about = {
            key: self.get(f"problem.{key}", str)
            for key in ("operator", "equation", "boundary", "smoother", "cycle")
        }
        # Not in reports from before these options; null without a file.
        for key in ("krylov", "coefficients", "rhs"):
            if self.data["problem"].get(key) is not None:
                self.about[key] = self.get(f"problem.{key}", str)
        self.about["n"] = self.get("problem.dim.0", int)
        self.about["ranks"] = self.get("run.ranks", int)
        self.about["threads"] = self.get("run.threads", int)
        self.about["backend"] = self.get("run.backend", str)
        self.about["host"] = self.get("run.host", str)

    def get(self, where: str, kind):
        """The value at a path such as solves.0.norms. null is NaN where a number is wanted."""
        value = self.data
        for key in where.split("."):
            try:
                value = value[int(key)] if isinstance(value, list) else value[key]
            except (KeyError, IndexError, TypeError, ValueError):
                raise ToolError(f"{self.path} has no {where}; make it again", FILE) from None
        if kind is float and value is None:
            return float("nan")
        # What is counted is at least one, and no count is beyond 64 bits.
        whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
        if kind is float and whole:
            value = float(value)
        if not isinstance(value, kind) or (kind is int and not (whole and value > 0)):
            self.wrong(where, value)
        return value

    def wrong(self, where: str, value):
        raise ToolError(f"{self.path}: {where} is {str(value)[:40]}; make it again", FILE)

    def positive(self, where: str) -> float:
        """A number above zero, and one that a scale can have."""
        value = self.get(where, float)
        return value if 1.0 / LARGEST <= value <= LARGEST else self.wrong(where, value)

    def numbers(self, where: str) -> list[float]:
        return [self.get(f"{where}.{i}", float) for i in range(len(self.get(where, list)))]
