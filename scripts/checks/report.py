"""A JSON report to be verified: typed access to its values, and the reasons against it."""

from __future__ import annotations

import math

from toolkit import FileError, at_path, read_json

SCHEMA = 1
SIZES = ("h", "2h", "4h")
# Relative tolerance of equations between numbers of a report: a few roundings.
EPS = 1e-14


class Damaged(Exception):
    """A value is missing or has another type."""


class Result:
    """A report, with the reasons why it is not valid."""

    def __init__(self, path: str):
        self.path = path
        self.reasons: list[str] = []
        self.results: dict[str, str] = {}
        try:
            self.data = read_json(path)
        except (ValueError, RecursionError) as error:
            raise FileError(
                f"{path} is not JSON ({str(error)[:80]}); use a file of --json"
            ) from None
        if not isinstance(self.data, dict) or self.data.get("program") != "hpgmg-fv":
            raise FileError(f"{path} is not a report of hpgmg-fv; use a file of --json")
        if self.data.get("dry_run"):
            raise FileError(f"{path} is a plan; use the report of a run without --dry-run")
        schema = self.data.get("schema")
        if type(schema) is not int or schema != SCHEMA:
            raise FileError(
                f"{path} has schema {str(schema)[:20]}, this program reads {SCHEMA}; use the "
                "check-result of the version that wrote the report"
            )

    def fail(self, reason: str) -> None:
        self.reasons.append(reason)

    def must(self, fine: bool, reason: str) -> None:
        if not fine:
            self.fail(reason)

    def get(self, where: str, *null):
        """The value at a path such as solves.0.norms, with the type of check_fields. It may be null
        if None is a further argument."""
        try:
            value = at_path(self.data, where)
        except LookupError:
            raise Damaged(f"there is no {where}") from None
        if value is None and not null:
            raise Damaged(f"{where} is null")
        return value

    def equal(self, where: str, want, why: str) -> None:
        """The value must equal another one; floating-point numbers up to rounding."""
        value = self.get(where)
        fine = math.isclose(value, want, rel_tol=EPS) if type(want) is float else value == want
        self.must(fine, f"{where} is {shown(value)}, but {why} {shown(want)}")


def shown(value) -> str:
    return f"{value:.17g}" if isinstance(value, float) else str(value)[:60]


def volume(dim: list[int]) -> int:
    return dim[0] * dim[1] * dim[2]


def grid(dim: list[int]) -> str:
    return f"{dim[0]}^3" if dim == [dim[0]] * 3 else "x".join(map(str, dim))


def dim_of(r: Result) -> list[int]:
    return r.get("problem.dim")


def last(r: Result, where: str) -> float:
    """The last number of an array."""
    return r.get(where)[-1]


def n_solves(r: Result) -> int:
    return len(r.get("solves"))
