"""Known results, which reports must have in all bits."""

from __future__ import annotations

import csv
import json
import os

from checks.fields import check_fields
from checks.report import SIZES, Damaged, Result, dim_of, last, n_solves, shown
from checks.rules import class_of
from toolkit import FileError, read_text

KNOWN = os.path.join(os.path.dirname(os.path.realpath(__file__)), "known-results.csv")


def known_results() -> dict[tuple, dict]:
    """Rows of known-results.csv by operator, smoother, precision and cells per side."""
    lines = [line for line in read_text(KNOWN).splitlines() if not line.startswith("#")]
    rows = csv.DictReader(lines)
    return {(row["operator"], row["smoother"], row["precision"], row["n"]): row for row in rows}


def results_of(r: Result) -> dict[str, str]:
    """All results of the mathematics, as text. They depend on the problem only."""
    values = {}
    for s in range(n_solves(r)):
        values[f"f_norm_{SIZES[s]}"] = shown(r.get(f"solves.{s}.f_norm"))
        values[f"norm_{SIZES[s]}"] = shown(last(r, f"solves.{s}.norms"))
    for key in ("error", "order", "checksums.u", "checksums.f"):
        value = r.get(key, None)
        values[key.replace(".", "_").replace("checksums", "checksum")] = shown(value)
    return values


def check_known(r: Result, known: dict[tuple, dict]) -> bool:
    """Results of known problems must be equal in all bits. False if the problem is not known."""
    problem = r.data["problem"]
    if class_of(r) == "open" or problem["bottom"] != "bicgstab":
        return False
    key = (problem["operator"], problem["smoother"], problem["precision"], str(dim_of(r)[0]))
    if key not in known:
        return False
    for name, value in r.results.items():
        want = known[key][name]
        r.must(value == want, f"{name} is {value}, the known result is {want}")
    return True


def row_of(r: Result) -> str:
    """The row of a verified report."""
    try:
        check_fields(r)
        name, problem = class_of(r), r.get("problem")
        if name == "open" or problem["bottom"] != "bicgstab" or n_solves(r) < len(SIZES):
            raise FileError(
                f"{r.path} is not a report of HPGMG-FV's problem with --bottom=bicgstab"
            )
        if r.get("verification") != "passed" or not r.get("checksums"):
            raise FileError(f"{r.path} was not verified")
        key = [problem["operator"], problem["smoother"], problem["precision"], dim_of(r)[0]]
        return ",".join(map(str, [*key, *results_of(r).values()]))
    except Damaged as error:
        raise FileError(f"{r.path}: {error}; repeat the run") from None


def check_alike(results: list[Result]) -> None:
    """Reports of the same problem must have the same results. With --cells or files, a report does
    not contain the whole problem."""
    first: dict[str, Result] = {}
    for r in results:
        if r.reasons:
            continue
        problem = r.data["problem"]
        partial = "lengths" in problem or problem["coefficients"] or problem["rhs"]
        if partial or r.data["run"]["restart"]:
            continue
        other = first.setdefault(json.dumps(problem, sort_keys=True), r)
        for name, value in r.results.items():
            want = other.results.get(name)
            same = value == want
            r.must(same, f"{name} is {value}, but {want} in {other.path}, the same problem")
