"""Types, ranges and alphabets of the values of a report, checked before anything reads them."""

from __future__ import annotations

import json
import math
import re

from checks.report import Damaged, Result
from checks.rules import RULES, WORDS

MOST = 1e300
MOST_TEXT = 8192
MOST_DEPTH = 10
COUNT = 2**63 - 1


class Rule:
    """What a value may be: a test, and words for the error line."""

    def __init__(self, text: str, fits):
        self.text, self.fits = text, fits

    def or_null(self) -> Rule:
        return Rule(f"{self.text} or null", lambda value: value is None or self.fits(value))


def integer(low: int, high: int) -> Rule:
    return Rule(f"an integer from {low} to {high}", lambda v: type(v) is int and low <= v <= high)


def real(low: float, high: float = MOST) -> Rule:
    return Rule(
        f"a number from {low:g} to {high:g}", lambda v: type(v) in (int, float) and low <= v <= high
    )


def one_of(*words: str) -> Rule:
    return Rule(f"one of {', '.join(words)}", lambda v: isinstance(v, str) and v in words)


def pattern(text: str, regex: str) -> Rule:
    return Rule(text, lambda v: isinstance(v, str) and re.fullmatch(regex, v) is not None)


def array(low: int, high: int) -> Rule:
    size = f"{low}" if low == high else f"{low} to {high}"
    return Rule(f"an array of {size}", lambda v: isinstance(v, list) and low <= len(v) <= high)


# Its alphabet is that of check_all.
TEXT = Rule("text", lambda v: isinstance(v, str))
FLAG = Rule("true or false", lambda v: isinstance(v, bool))
OBJECT = Rule("an object", lambda v: isinstance(v, dict))
SUM = pattern("16 hexadecimal digits", r"[0-9a-f]{16}")
NUMBER = r"[-+]?[0-9.]+(e[-+]?[0-9]+)?"
SIDE = rf"(dirichlet|neumann|periodic|robin)(:{NUMBER}){{0,3}}"
PLACES = ("cpu", "cuda", "cuda-simple")
ENDS = ("cycle", "tolerance", "max cycles", "stagnation", "divergence", "signal")
SOURCES = {"gpu": "NVML", "cpu": "RAPL package", "node": "RAPL psys"}

# By path: # is every index of an array. What follows a ? is checked only where the key before it is
# there and not null. A report may have further keys.
FIELDS = {
    "version": pattern("a version", r"[0-9]+(\.[0-9]+)*[A-Za-z0-9.+-]{0,20}"),
    **{f"problem.{name}": one_of(*words) for name, words in WORDS.items()},
    "problem.boundary": pattern("words of --boundary", rf"{SIDE}(,{SIDE}){{0,5}}"),
    "problem.smooths": integer(1, 100),
    "problem.degree": integer(1, 100).or_null(),
    "problem.omega": real(0, 2).or_null(),
    "problem.rtol": real(0, 1),
    "problem.max_cycles": integer(1, 1000),
    "problem.coarsest": integer(1, 2**20),
    "problem.dim": array(3, 3),
    "problem.dim.#": integer(1, 2**20),
    "problem.levels": integer(1, 24),
    "problem.coefficients": TEXT.or_null(),
    "problem.rhs": TEXT.or_null(),
    "problem.fields?.beta": TEXT,
    "problem.fields?.f": TEXT,
    "problem.fields?.alpha": TEXT.or_null(),
    "problem.lengths?": array(3, 3),
    "problem.lengths?.#": real(1e-300),
    "run.ranks": integer(1, 10**9),
    "run.idle_ranks": integer(0, 10**9),
    "run.useful_ranks": array(1, 2),
    "run.useful_ranks.#": integer(1, COUNT),
    "run.threads": integer(1, 10**6),
    "run.backend": one_of(*PLACES),
    "run.device": TEXT,
    "run.transport": pattern(
        "names of transports", r"none|(peer|nccl|mpi|host)(\+(nccl|mpi|host))*"
    ),
    "run.cpu_below": integer(0, 10**18),
    "run.agglomerate_below": integer(0, 10**18).or_null(),
    "run.agglomeration": array(0, 100),
    "run.agglomeration.#.agglomerate_below": integer(0, COUNT),
    "run.agglomeration.#.finest_level_ranks": integer(1, 10**9),
    "run.agglomeration.#.seconds": real(0),
    "run.agglomeration.#.chosen": FLAG,
    "run.strip_bytes?": integer(1, 10**12),
    "run.strip_source?": one_of("none", "given", "measured", "cache"),
    "run.host": TEXT,
    "run.cpu?": TEXT,
    "run.setup_seconds": real(0),
    "run.restart": TEXT.or_null(),
    "run.command_line": TEXT,
    "timing.official": FLAG,
    "timing.verify_only": FLAG,
    "timing.warmup": integer(0, 10**6),
    "timing.min_solves": integer(1, 10**6),
    "timing.min_time": real(0, 1e6),
    "levels": array(1, 24),
    "levels.#.dim": array(3, 3),
    "levels.#.dim.#": integer(1, 2**20),
    "levels.#.boxes": integer(1, COUNT),
    "levels.#.box_dim": integer(0, 2**20),
    "levels.#.ranks": integer(1, 10**9),
    "levels.#.backend": one_of(*PLACES),
    "levels.#.bytes": integer(1, COUNT),
    "solves": array(1, 3),
    "solves.#.h": real(1e-300).or_null(),
    "solves.#.dof": integer(1, 2**60),
    "solves.#.f_norm": real(0).or_null(),
    "solves.#.reference_norm?": real(0),
    "solves.#.reference_u?": real(-MOST),
    "solves.#.norms": array(1, 1000),
    "solves.#.norms.#": real(0).or_null(),
    "solves.#.rel": array(1, 1000),
    "solves.#.rel.#": real(0).or_null(),
    "solves.#.cycles": integer(1, 1000),
    "solves.#.ended?": one_of(*ENDS),
    "solves.#.solves": integer(0, 2**31 - 1),
    "solves.#.seconds_min": real(1e-9, 1e9).or_null(),
    "solves.#.seconds_mean": real(1e-9, 1e9).or_null(),
    "solves.#.dof_per_s": real(1e-9, 1e18).or_null(),
    "checksums": OBJECT.or_null(),
    "checksums?.u": SUM,
    "checksums?.f": SUM,
    "error": real(0).or_null(),
    "order": real(-100, 100).or_null(),
    "error_rounding": real(0).or_null(),
    "order_rounding": real(0).or_null(),
    "energy": OBJECT.or_null(),
    "energy?.solves": integer(0, 2**31 - 1),
    "energy?.window_seconds": real(1e-9, 1e9).or_null(),
    "energy?.idle_seconds": real(1e-9, 1e9).or_null(),
    "verification": one_of("passed", "failed"),
    "reason": TEXT,
    "note": TEXT,
    "fom.class": one_of(*RULES),
    "fom.validity": one_of("valid", "invalid"),
    "fom.reason": TEXT,
    "fom.dof_per_s": real(1e-9, 1e18).or_null(),
    "memory.kind": one_of("host", "device", "unified"),
    "memory.bytes_per_rank_max": integer(1, COUNT),
}
for part, source in SOURCES.items():
    FIELDS |= {
        f"energy?.{part}.source": one_of(source),
        f"energy?.{part}.counters": integer(0, 10**9),
        f"energy?.{part}.joules": real(1e-9).or_null(),
        f"energy?.{part}.joules_per_solve": real(1e-9).or_null(),
        f"energy?.{part}.dof_per_joule": real(1e-9).or_null(),
        f"energy?.{part}.idle_watts": real(0).or_null(),
        f"energy?.{part}.reason": TEXT.or_null(),
    }


def check_all(value, at: str, depth: int = 0) -> None:
    """Any key and any text is printable and not too long; any number is finite."""
    if depth > MOST_DEPTH:
        raise Damaged(f"{at[:80]} is too deep")
    if isinstance(value, str):
        if not value.isprintable() or len(value) > MOST_TEXT:
            raise Damaged(f"{at} has characters that cannot be printed, or more than {MOST_TEXT}")
    elif isinstance(value, (int, float)):
        if not (math.isfinite(value) if type(value) is float else abs(value) < 2**64):
            raise Damaged(f"{at} is not a finite number")
    elif value is not None:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            check_all(key, f"a key of {at}")
            check_all(item, f"{at}.{key}".removeprefix("the report."), depth + 1)


def values(data, keys: list[str], at: str = ""):
    """Paths and values that a path of FIELDS stands for."""
    if not keys:
        yield at, data
        return
    if keys[0] == "#":
        for i, item in enumerate(data):
            yield from values(item, keys[1:], f"{at}.{i}")
        return
    key, inner = keys[0].removesuffix("?"), f"{at}.{keys[0]}".strip(".?")
    if not isinstance(data, dict) or (key not in data and key == keys[0]):
        raise Damaged(f"there is no {inner}")
    if key == keys[0] or data.get(key) is not None:
        yield from values(data[key], keys[1:], inner)


def check_fields(r: Result) -> None:
    """Raises Damaged at the first value that a report cannot have."""
    check_all(r.data, "the report")
    for path, rule in FIELDS.items():
        for at, value in values(r.data, path.split(".")):
            if not rule.fits(value):
                raise Damaged(f"{at} is {json.dumps(value)[:60]}, not {rule.text}")
