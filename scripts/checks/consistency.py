"""The numbers of a report must agree with each other."""

from __future__ import annotations

import re

from checks.report import EPS, Result, dim_of, last, n_solves, volume
from checks.rules import WORDS
from toolkit import plural

VERSIONS = ("0.1.0",)  # with the results of known-results.csv


def check_levels(r: Result) -> None:
    """Each level of a cube of boxes halves the level before."""
    before, ranks = [2 * n for n in dim_of(r)], r.get("run.ranks", int)
    n_levels = len(r.get("levels", list))
    r.equal("problem.levels", n_levels, "the number of levels is")
    r.equal("levels.0.dim", dim_of(r), "problem.dim is")
    for level in range(n_levels):
        at = f"levels.{level}"
        dim = [r.get(f"{at}.dim.{d}", int) for d in range(3)]
        r.must(1 <= r.get(f"{at}.ranks", int) <= ranks, f"{at}.ranks is not from 1 to {ranks}")
        place = r.get(f"{at}.backend", str)
        r.must(place in ("cpu", r.get("run.backend", str)), f"{at}.backend is {place[:20]}")
        if "lengths" in r.data["problem"]:
            continue
        r.must([2 * n for n in dim] == before, f"{at} does not halve the level before")
        cells = r.get(f"{at}.boxes", int) * r.get(f"{at}.box_dim", int) ** 3
        r.must(cells == volume(dim), f"the boxes of {at} have {cells} cells, not {volume(dim)}")
        before = dim


def check_grids(r: Result) -> None:
    for s in range(n_solves(r)):
        dim = [n >> s for n in dim_of(r)]
        r.equal(f"solves.{s}.dof", volume(dim), "the number of cells is")
        r.equal(f"solves.{s}.h", 1.0 / dim[0], "1/n is")


def check_memory(r: Result) -> None:
    """The fullest rank has at least the mean and at most all bytes."""
    total = sum(r.get(f"levels.{level}.bytes", int) for level in range(len(r.data["levels"])))
    most, ranks = r.get("memory.bytes_per_rank_max", int), r.get("run.ranks", int)
    fine = total / ranks * (1.0 - EPS) <= most <= total
    r.must(fine, f"memory.bytes_per_rank_max is {most}, the levels have {total} on {ranks} ranks")
    r.equal("levels.0.backend", r.get("run.backend", str), "run.backend is")
    r.must(r.get("run.threads", int) >= 1 <= ranks, "run.threads or run.ranks is below 1")
    r.must(r.get("run.idle_ranks", int) < ranks, f"run.idle_ranks is not below {ranks} ranks")


def check_history(r: Result, s: int) -> None:
    """Norms and cycles of one grid."""
    at, rtol = f"solves.{s}", r.get("problem.rtol", float)
    n, f_norm = len(r.get(f"{at}.norms", list)), r.get(f"{at}.f_norm", float)
    r.equal(f"{at}.cycles", n, "the number of norms is")
    r.must(n == len(r.get(f"{at}.rel", list)) > 0, f"{at} has {n} norms, {at}.rel other ones")
    r.must(f_norm > 0, f"{at}.f_norm is {f_norm:g}")
    for c in range(n):
        norm = r.get(f"{at}.norms.{c}", float)
        if f_norm > 0:
            r.equal(f"{at}.rel.{c}", norm / f_norm, "norm / f_norm is")
    if rtol > 0:
        rel = last(r, f"{at}.rel")
        r.must(rel < rtol, f"{at}: relative residual {rel:g} is not below rtol {rtol:g}")
        r.must(n <= r.get("problem.max_cycles", int), f"{at} has {n} cycles, more than max_cycles")
    elif r.get("run.restart", str, None) is None:
        r.must(n == 1, f"{at} has {n} cycles without rtol")
        r.equal("problem.max_cycles", 1, "without rtol it is")


def check_times(r: Result, s: int) -> None:
    """Times, rate and duration of one grid."""
    at, count = f"solves.{s}", r.get(f"solves.{s}.solves", int)
    least, mean = r.get(f"{at}.seconds_min", float, None), r.get(f"{at}.seconds_mean", float, None)
    if r.get("timing.verify_only", bool):
        r.must(least is mean is None, f"{at} has times with timing.verify_only")
    if least is None or mean is None:
        r.must(least is mean is r.get(f"{at}.dof_per_s", float, None), f"{at} has not all times")
        return
    r.must(0 < least <= mean * (1 + EPS), f"{at}: seconds_min {least:g}, seconds_mean {mean:g}")
    if mean > 0:
        r.equal(f"{at}.dof_per_s", r.get(f"{at}.dof", int) / mean, "dof / seconds_mean is")
    solves, seconds = r.get("timing.min_solves", int), r.get("timing.min_time", float)
    r.must(count >= solves, f"{at} has {plural(count, 'solve')}, timing.min_solves is {solves}")
    total = count * mean
    fine = total >= seconds * (1 - 1e-9)
    r.must(fine, f"{at} took {total:g} s, timing.min_time is {seconds:g}")


def check_energy(r: Result) -> None:
    """Energy of the timed solves at h."""
    if r.get("energy", dict, None) is None:
        return
    n, window = r.get("energy.solves", int), r.get("energy.window_seconds", float, None)
    mean = r.get("solves.0.seconds_mean", float, None)
    if mean is not None:
        r.equal("energy.solves", r.get("solves.0.solves", int), "solves.0.solves is")
        fine = window is not None and window >= n * mean * (1 - 1e-9)
        r.must(fine, f"energy.window_seconds is below {n * mean:g} s, the time of all solves")
    for part in ("gpu", "cpu", "node"):
        at = f"energy.{part}"
        joules, reason = r.get(f"{at}.joules", float, None), r.get(f"{at}.reason", str, None)
        each = r.get(f"{at}.joules_per_solve", float, None)
        rate = r.get(f"{at}.dof_per_joule", float, None)
        if joules is None:
            r.must(each is rate is None and bool(reason), f"{at} has no joules and no reason")
            continue
        fine = joules > 0 < n and reason is None
        r.must(fine, f"{at}.joules is {joules:g} with {plural(n, 'solve')} and reason {reason}")
        if fine:
            r.equal(f"{at}.joules_per_solve", joules / n, "joules / solves is")
            each = joules / n
            r.equal(f"{at}.dof_per_joule", r.get("solves.0.dof", int) / each, "dof / joules is")


def check_options(r: Result) -> None:
    """Options on the command line override a deck, so the report must agree with them."""
    words = r.get("run.command_line", str).split()
    given = dict(re.findall(r"^--([a-z-]+)=(.*)$", "\n".join(words), re.M))
    for name, allowed in WORDS.items():
        word = r.get(f"problem.{name}", str)
        r.must(word in allowed, f"problem.{name} is {word[:20]}, not {' or '.join(allowed)}")
        if name in given:
            r.equal(f"problem.{name}", given[name], f"the command line has --{name} =")
    for where in ("problem.smooths", "problem.coarsest", "timing.min_solves", "timing.warmup"):
        name = where.partition(".")[2].replace("_", "-")
        if given.get(name, "").isdecimal():
            r.equal(where, int(given[name]), f"the command line has --{name} =")
    if "--official" in words:
        r.equal("timing.official", True, "with --official on the command line it is")
    elif not any(word.startswith("--input") for word in words):
        r.equal("timing.official", False, "without --official on the command line it is")
    if r.get("timing.official", bool):
        for key, value in (("warmup", 10), ("min_solves", 10), ("min_time", 60.0)):
            r.equal(f"timing.{key}", value, "--official sets")


def check_numbers(r: Result) -> None:
    check_levels(r)
    check_grids(r)
    check_memory(r)
    for s in range(n_solves(r)):
        check_history(r, s)
        check_times(r, s)
    check_energy(r)
    check_options(r)
    version = r.get("version", str)
    r.must(version in VERSIONS, f"version is {version[:20]}, this program knows {VERSIONS[-1]}")
    r.must(r.get("run.setup_seconds", float) > 0, "run.setup_seconds is not above 0")
