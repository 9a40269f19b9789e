"""Class and figure of merit: the rules of docs/rules.md and src/io/report/report_fom.c."""

from __future__ import annotations

from checks.fields import RUN
from checks.report import SIZES, Result, dim_of, grid, n_solves
from toolkit import plural

# Minimum number of timed solves and seconds of each grid, by class.
RULES = {"official": (10, 60.0), "double": (10, 1.0), "mixed": (10, 1.0), "open": (1, 0.0)}
# Most mean seconds of the timed solves, relative to the fastest one (src/io/report/report.h).
MAX_SPREAD = 1.5
# Default number of smooths: with fv2 or fv4, with 7pt, and with 27pt.
SMOOTHS = {
    "gsrb": (3, 2, 2),
    "chebyshev": (1, 1, 1),
    "jacobi": (6, 4, 6),
    "l1jacobi": (6, 4, 6),
    "symgs": (2, 2, 2),
    "ssor": (2, 2, 2),
    "chebyshev4": (1, 1, 1),
}
OMEGA = {"jacobi": 2.0 / 3.0, "ssor": 1.15}  # else 1
# Values of options.
WORDS = {
    name: tuple(rule["enum"])
    for name, rule in RUN["properties"]["problem"]["properties"].items()
    if "enum" in rule
}


def default_smooths(operator: str, smoother: str) -> int:
    """0: there is no such smoother."""
    return SMOOTHS.get(smoother, (0, 0, 0))[{"7pt": 1, "27pt": 2}.get(operator, 0)]


def default_degree(operator: str) -> int:
    return 4 if operator in ("7pt", "27pt") else 6


def has_default_smooths(problem: dict) -> bool:
    smoother, operator = problem["smoother"], problem["operator"]
    if problem["smooths"] != default_smooths(operator, smoother):
        return False
    if smoother.startswith("chebyshev"):
        return problem["degree"] == default_degree(operator)
    return problem["omega"] == OMEGA.get(smoother, 1.0)


def class_of(r: Result) -> str:
    """The class follows from the parameters."""
    problem = r.get("problem")
    standard = (
        problem["equation"] == "poisson"
        and problem["boundary"] == "dirichlet"
        and problem["cycle"] == "f"
        and problem["krylov"] == "none"
        and r.get("problem.rtol") == 0
        and r.get("problem.coarsest") == 1
        and has_default_smooths(problem)
        and not any(r.get(f"problem.{key}", None) for key in ("coefficients", "rhs"))
        and problem.get("fields", {}).get("beta", "built-in") == "built-in"
        and "lengths" not in problem
        and r.get("run.restart", None) is None
    )
    if not standard:
        return "open"
    if r.get("problem.precision") == "mixed":
        return "mixed"
    listed = (
        problem["operator"] == "fv4"
        and problem["smoother"] == "gsrb"
        and problem["bottom"] in ("bicgstab", "smoother")
    )
    return "official" if listed and r.get("timing.official") else "double"


def check_rules(r: Result, name: str) -> None:
    """Number and duration of solves, and the grids, that the class requires."""
    solves, seconds = RULES[name]
    if name != "open":
        r.must(n_solves(r) == len(SIZES), f"class {name} requires solves at h, 2h and 4h")
        r.must(dim_of(r)[0] >= 64, f"class {name} requires a grid of at least 64^3")
    for s in range(n_solves(r)):
        count = r.get(f"solves.{s}.solves")
        mean = r.get(f"solves.{s}.seconds_mean", None)
        if mean is None:
            r.fail(f"no times at {SIZES[s]}")
            continue
        least = r.get(f"solves.{s}.seconds_min", None) or mean
        fine = name == "open" or mean <= MAX_SPREAD * least
        r.must(fine, f"the mean at {SIZES[s]} is {mean / least:.3g} times the fastest solve")
        where = f"at {SIZES[s]}, class {name} requires"
        r.must(count >= solves, f"{plural(count, 'timed solve')} {where} {solves}")
        r.must(count * mean >= seconds * (1 - 1e-9), f"{count * mean:g} s {where} {seconds:g} s")
    if name == "official":
        odd = dim_of(r)[0]
        while odd % 2 == 0:
            odd //= 2
        fine = odd <= 11 and dim_of(r)[0] // odd >= 16
        r.must(fine, f"{grid(dim_of(r))} is not of the form C 2^k with an odd C up to 11")
        coarsest = r.get("levels")[-1]["dim"][0]
        # fv4 needs two cells.
        r.must(coarsest == max(odd, 2), f"the coarsest level is {coarsest}^3")


def check_fom(r: Result) -> None:
    name = class_of(r)
    r.equal("fom.class", name, "the class of these parameters is")
    rate = r.get("solves.0.dof_per_s", None)
    if rate is not None:
        r.equal("fom.dof_per_s", rate, "solves.0.dof_per_s is")
    validity, reason = r.get("fom.validity"), r.get("fom.reason")
    if validity != "valid":
        r.fail(f"the run reports {validity[:20]}: {reason[:200]}")
        return
    r.must(not reason, f"valid, but with the reason {reason[:60]}")
    check_rules(r, name)
