"""Repeat the verification of a run that passed, for the problem of HPGMG-FV."""

from __future__ import annotations

import functools
import math

from checks.report import SIZES, Result, dim_of, last, n_solves
from checks.rules import class_of

# Limits on what float rounding may change with --precision=mixed (src/run/verify.h).
MAX_ROUNDING = 0.01


def symbol(operator: str, m: int, n: float) -> float:
    """Of -d2/dx2 for mode m on n cells."""
    half = math.pi * m / n
    s = math.sin(half)
    if operator == "fv2":
        return 4.0 * s * s * n * n
    return (30.0 * s - 2.0 * math.sin(3.0 * half)) / 12.0 * 2.0 * s * n * n


@functools.cache
def expected_error(operator: str, n: int) -> float:
    """max|u_2h - R u_h| of the Poisson problem with Dirichlet walls (src/run/verify.c)."""
    if operator in ("7pt", "27pt"):
        return (8.7e-3 if operator == "7pt" else 1.26e-2) / n / n
    modes = ((1, 35 / 64), (3, -21 / 64), (5, 7 / 64), (7, -1 / 64))
    triples = [(a, b, c) for a in modes for b in modes for c in modes]
    amplitudes = []
    for triple in triples:
        factor = math.prod(c * math.cos(math.pi * m / n) for m, c in triple)
        laplace = sum(4.0 * math.pi**2 * m * m for m, _ in triple)
        fine = sum(symbol(operator, m, n) for m, _ in triple)
        coarse = sum(symbol(operator, m, n / 2) for m, _ in triple)
        amplitudes.append(factor * (1.0 - laplace / (24.0 * n * n)) * (1.0 / coarse - 1.0 / fine))
    # The largest value is on the diagonal, and symmetric about the middle of each half.
    peak = 0.0
    for i in range(n // 8 + 1):
        sines = {m: math.sin(2 * math.pi * m * (i + 0.5) / (n // 2)) for m, _ in modes}
        value = sum(
            amplitude * sines[a[0]] * sines[b[0]] * sines[c[0]]
            for amplitude, (a, b, c) in zip(amplitudes, triples)
        )
        peak = max(peak, abs(value))
    return peak


def check_verification(r: Result) -> None:
    """Repeat the checks of a run that passed, for the problem of HPGMG-FV."""
    reason = r.get("reason")
    r.must(not reason, f"passed, but with the reason {reason[:60]}")
    mixed = r.get("problem.precision") == "mixed"
    for key in ("error_rounding", "order_rounding"):
        value = r.get(key, None)
        if value is not None and mixed:
            r.must(0 <= value <= MAX_ROUNDING, f"{key} is {value:g}, the limit is {MAX_ROUNDING:g}")
        r.must(mixed or value is None, f"{key} is {value} in double precision")
    has_error = r.get("error", None) is not None
    r.must(has_error == (n_solves(r) == len(SIZES)), "error is not that of h, 2h and 4h")
    r.must(r.get("checksums", None) is not None, "there are no checksums")
    if class_of(r) == "open":
        return
    for s in range(n_solves(r)):
        n = dim_of(r)[0] >> s
        rel = last(r, f"solves.{s}.rel")
        r.must(rel <= 4.0 / max(n, 4), f"solves.{s}: relative residual {rel:g} of an F-cycle")
    if dim_of(r)[0] >= 64:
        check_error(r)
        r.must(not mixed or r.get("error_rounding") >= 0, "no error_rounding")


def check_error(r: Result) -> None:
    """Error and order after one F-cycle: the bounds of src/run/verify.c."""
    n, operator = dim_of(r)[0], r.get("problem.operator")
    error, order = r.get("error"), r.get("order")
    fine, coarse = expected_error(operator, n), expected_error(operator, n // 2)
    low, high = 0.1 * fine, 8.0 if operator == "7pt" else 4.0
    rounding = 2.0**-52 * n * n * 0.002
    r.must(error <= high * fine + rounding, f"error {error:g}, expected {fine:.3g}")
    error_2h = error * 2.0**order
    fits = error_2h <= high * coarse + rounding
    r.must(fits, f"error {error_2h:g} between 2h and 4h, expected {coarse:.3g}")
    round_off = rounding > fine
    note = r.get("note")
    r.must(bool(note) == round_off, f"the note is '{note[:60]}'")
    if round_off:
        return
    r.must(error >= low, f"error {error:g}, expected {fine:.3g}")
    least = math.log2(coarse / fine) - 0.75 * (4.0 if operator == "fv4" else 2.0)
    r.must(operator == "7pt" or order >= least, f"order {order:.3f}, expected at least {least:.3f}")
