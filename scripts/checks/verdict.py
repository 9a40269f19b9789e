"""The verdict on a report: its line, or the reasons against it."""

from __future__ import annotations

from checks.consistency import check_numbers
from checks.fields import check_fields
from checks.known import check_known, results_of
from checks.report import Damaged, Result, dim_of, grid
from checks.rules import check_fom, class_of
from checks.verification import check_verification
from toolkit import printable


def line_of(r: Result, name: str, is_known: bool) -> str:
    """Only values whose alphabet has been checked."""
    problem, run = r.data["problem"], r.data["run"]
    results = "known" if is_known else "unchecked" if name == "open" else "plausible"
    return (
        f"{printable(r.path)}: FOM: {r.get('fom.dof_per_s'):.3e} DOF/s VALID class={name} "
        f"operator={problem['operator']} smoother={problem['smoother']} "
        f"grid={grid(dim_of(r))} ranks={run['ranks']} threads={run['threads']} "
        f"backend={run['backend']} version={r.data['version']} results={results}"
    )


def judge(r: Result, known: dict[tuple, dict], wanted: str | None) -> str:
    """Collect the reasons against a result, and return its line if there are none."""
    check_fields(r)
    verdict = r.get("verification")
    if verdict != "passed":
        r.fail(f"verification {verdict}: {r.get('reason')[:200]}")
        return ""
    check_numbers(r)
    r.results = results_of(r)
    check_verification(r)
    check_fom(r)
    is_known = check_known(r, known)
    name = class_of(r)
    r.must(wanted in (None, name), f"the class is {name}, not {wanted}")
    return "" if r.reasons else line_of(r, name, is_known)


def check(r: Result, known: dict[tuple, dict], wanted: str | None) -> str:
    """judge() for any file: damage is a reason."""
    try:
        return judge(r, known, wanted)
    except Damaged as error:
        r.fail(str(error))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        r.fail(f"the report is damaged ({type(error).__name__})")
    return ""
