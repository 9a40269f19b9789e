"""The numbers of a report must agree with each other."""

from __future__ import annotations

import re

from checks.command import check_command
from checks.report import EPS, Result, dim_of, last, n_solves, volume
from toolkit import plural

VERSIONS = ("0.1.0",)  # with the results of known-results.csv


def check_levels(r: Result) -> None:
    """Each level of a cube of boxes halves the level before."""
    before, ranks = [2 * n for n in dim_of(r)], r.get("run.ranks")
    cubes = "lengths" not in r.data["problem"]
    r.must(not cubes or len(set(before)) == 1, f"problem.dim is {dim_of(r)}, not a cube")
    n_levels = len(r.get("levels"))
    r.equal("problem.levels", n_levels, "the number of levels is")
    r.equal("levels.0.dim", dim_of(r), "problem.dim is")
    for level in range(n_levels):
        at = f"levels.{level}"
        dim = [r.get(f"{at}.dim.{d}") for d in range(3)]
        r.must(1 <= r.get(f"{at}.ranks") <= ranks, f"{at}.ranks is not from 1 to {ranks}")
        place = r.get(f"{at}.backend")
        r.must(place in ("cpu", r.get("run.backend")), f"{at}.backend is {place[:20]}")
        if not cubes:
            continue
        r.must([2 * n for n in dim] == before, f"{at} does not halve the level before")
        cells = r.get(f"{at}.boxes") * r.get(f"{at}.box_dim") ** 3
        r.must(cells == volume(dim), f"the boxes of {at} have {cells} cells, not {volume(dim)}")
        before = dim


def check_origins(r: Result) -> None:
    """Origins of beta, f and alpha follow from the files and the equation."""
    problem = r.get("problem")
    fields, coefficients, rhs = (problem.get(k) for k in ("fields", "coefficients", "rhs"))
    if fields is None:
        return
    files = coefficients is not None, rhs is not None
    wanted = {
        "beta": ("file", "constant 1") if files[0] else ("constant 1",),
        "f": ("file", "constant 0") if files[1] else ("constant 0",),
        "alpha": ("file", "constant 1") if files[0] else ("constant 1",),
    }
    if not any(files):
        wanted["beta"], wanted["f"] = ("built-in", "constant 1"), ("built-in",)
    if problem["equation"] == "poisson":
        wanted["alpha"] = (None,)
    for name, origins in wanted.items():
        own, words = fields[name], " or ".join(map(str, origins))
        r.must(own in origins, f"problem.fields.{name} is {own}, not {words}")
    used = "file" in (fields["beta"], fields["alpha"])
    r.must(used or not files[0], "problem.coefficients is a file, but gives neither beta nor alpha")
    # A file without f has values of sides, which are solved with --cells.
    used = fields["f"] == "file" or "lengths" in problem
    r.must(used or not files[1], "problem.rhs is a file, but gives neither f nor values of sides")


def check_grids(r: Result) -> None:
    for s in range(n_solves(r)):
        dim = [n >> s for n in dim_of(r)]
        if 0 in dim:
            r.fail(f"problem.dim is {dim_of(r)}, too small for {plural(n_solves(r), 'solve')}")
            return
        r.equal(f"solves.{s}.dof", volume(dim), "the number of cells is")
        lengths = r.data["problem"].get("lengths", [1.0] * 3)
        widths = [length / n for length, n in zip(lengths, dim)]
        # Null if the cells are no cubes of one size.
        if "lengths" not in r.data["problem"] or r.get(f"solves.{s}.h", None) is not None:
            r.equal(f"solves.{s}.h", widths[0], "the width of a cell is")
            same = max(widths) - min(widths) <= 1e-11 * widths[0]
            r.must(same, f"solves.{s}.h is a number, but the cells are no cubes")


def check_memory(r: Result) -> None:
    """The fullest rank has at least the mean and at most all bytes."""
    total = sum(r.get(f"levels.{level}.bytes") for level in range(len(r.data["levels"])))
    most, ranks = r.get("memory.bytes_per_rank_max"), r.get("run.ranks")
    fine = total / ranks * (1.0 - EPS) <= most <= total
    r.must(fine, f"memory.bytes_per_rank_max is {most}, the levels have {total} on {ranks} ranks")
    r.equal("levels.0.backend", r.get("run.backend"), "run.backend is")
    r.must(r.get("run.idle_ranks") < ranks, f"run.idle_ranks is not below {ranks} ranks")


def check_history(r: Result, s: int) -> None:
    """Norms and cycles of one grid."""
    at, rtol = f"solves.{s}", r.get("problem.rtol")
    n, f_norm = len(r.get(f"{at}.norms")), r.get(f"{at}.f_norm")
    r.equal(f"{at}.cycles", n, "the number of norms is")
    r.must(n == len(r.get(f"{at}.rel")) > 0, f"{at} has {n} norms, {at}.rel other ones")
    r.must(f_norm > 0, f"{at}.f_norm is {f_norm:g}")
    has = "reference_norm" in r.get(at)
    reference = r.get(f"{at}.reference_norm") if has else f_norm
    values = ":" in r.get("problem.boundary") or r.get("problem.rhs", None) is not None
    r.must(values or not has, f"{at} has a reference_norm, but no side has a value")
    for c in range(n):
        norm = r.get(f"{at}.norms.{c}")
        if reference > 0:
            why = "norm / reference_norm is" if has else "norm / f_norm is"
            r.equal(f"{at}.rel.{c}", norm / reference, why)
    ended = r.data["solves"][s].get("ended")
    if ended is not None:
        ends = ("tolerance",) if rtol > 0 else ("cycle", "max cycles")
        r.must(ended in ends, f"{at}.ended is {ended}, but the run passed with rtol {rtol:g}")
    if rtol > 0:
        rel = last(r, f"{at}.rel")
        r.must(rel < rtol, f"{at}: relative residual {rel:g} is not below rtol {rtol:g}")
        r.must(n <= r.get("problem.max_cycles"), f"{at} has {n} cycles, more than max_cycles")
    elif r.get("run.restart", None) is None:
        r.must(n == 1, f"{at} has {n} cycles without rtol")
        r.equal("problem.max_cycles", 1, "without rtol it is")


def check_times(r: Result, s: int) -> None:
    """Times, rate and duration of one grid."""
    at, count = f"solves.{s}", r.get(f"solves.{s}.solves")
    least, mean = r.get(f"{at}.seconds_min", None), r.get(f"{at}.seconds_mean", None)
    if r.get("timing.verify_only"):
        r.must(least is mean is None, f"{at} has times with timing.verify_only")
    if least is None or mean is None:
        r.must(least is mean is r.get(f"{at}.dof_per_s", None), f"{at} has not all times")
        return
    r.must(0 < least <= mean * (1 + EPS), f"{at}: seconds_min {least:g}, seconds_mean {mean:g}")
    if mean > 0:
        r.equal(f"{at}.dof_per_s", r.get(f"{at}.dof") / mean, "dof / seconds_mean is")
    solves, seconds = r.get("timing.min_solves"), r.get("timing.min_time")
    r.must(count >= solves, f"{at} has {plural(count, 'solve')}, timing.min_solves is {solves}")
    total = count * mean
    fine = total >= seconds * (1 - 1e-9)
    r.must(fine, f"{at} took {total:g} s, timing.min_time is {seconds:g}")


# Most watts of a counter.
MOST_WATTS = {"gpu": 3e3, "cpu": 3e3, "node": 1e5}


def check_part(r: Result, part: str, n: int, window: float | None) -> None:
    """Energy of the GPUs, CPUs or nodes. Without a number there is a reason."""
    at, most = f"energy.{part}", MOST_WATTS[part] * r.get(f"energy.{part}.counters")
    joules, idle = r.get(f"{at}.joules", None), r.get(f"{at}.idle_watts", None)
    if joules is None:
        keys = ("joules_per_solve", "dof_per_joule")
        fine = all(r.get(f"{at}.{key}", None) is None for key in keys)
        r.must(fine and r.get(f"{at}.reason", None), f"{at} has no joules and no reason")
        return
    if r.get(f"{at}.reason", None) is not None or n == 0 or window is None or idle is None:
        r.fail(f"{at} has joules, but a reason, no solves, no window_seconds or no idle_watts")
        return
    r.equal(f"{at}.joules_per_solve", joules / n, "joules / solves is")
    rate = r.get("solves.0.dof") / (joules / n)
    r.equal(f"{at}.dof_per_joule", rate, "dof / joules is")
    watts = joules / window
    r.must(0.5 * idle <= watts <= most, f"{at} has {watts:.4g} W, {idle:.4g} W when idle")
    r.must(part != "gpu" or r.get("run.backend") in GPUS, f"{at} has joules without a GPU")
    r.get("energy.idle_seconds")


def check_energy(r: Result) -> None:
    """Energy of the timed solves at h."""
    if r.get("energy", None) is None:
        return
    n, window = r.get("energy.solves"), r.get("energy.window_seconds", None)
    mean = r.get("solves.0.seconds_mean", None)
    for part in MOST_WATTS:
        check_part(r, part, n, window)
    if n == 0 and window is None:  # no counters
        return
    least = n * (mean or 0.0)
    r.equal("energy.solves", r.get("solves.0.solves"), "solves.0.solves is")
    fine = mean is not None and window is not None and window >= least * (1 - 1e-9)
    r.must(fine, f"energy.window_seconds is below {least:g} s, the time of all solves")


GPUS = ("cuda", "cuda-simple")
# Most cells per second of a thread and of a GPU, about ten times the fastest ones known.
MOST_RATE = {"cpu": 1e9, "cuda": 2e11, "cuda-simple": 2e11}


def check_machine(r: Result) -> None:
    """Backend, device, memory, transport and speed belong together."""
    place, device = r.get("run.backend"), r.get("run.device")
    has_gpu, ranks = place in GPUS, r.get("run.ranks")
    named = re.fullmatch(r".+, sm_[0-9]+, [0-9]+ SMs(, code for sm_[0-9]+)?", device) is not None
    fits = named if has_gpu else device.partition(":")[0] == "none"
    r.must(fits, f"run.device is {device[:60]}, but run.backend is {place}")
    kind = r.get("memory.kind")
    r.must((kind != "host") == has_gpu, f"memory.kind is {kind}, but run.backend is {place}")
    transport = r.get("run.transport")
    r.must(has_gpu or transport in ("host", "none"), f"run.transport is {transport} without GPUs")
    fits = transport != "none" or ranks == 1
    r.must(fits, f"run.transport is {transport} with {plural(ranks, 'rank')}")
    most = MOST_RATE[place] * ranks * (1 if has_gpu else r.get("run.threads"))
    rate = r.get("solves.0.dof_per_s", None) or 0.0
    r.must(rate <= most, f"solves.0.dof_per_s is {rate:.3g}, too much for this run of {place}")


def check_numbers(r: Result) -> None:
    check_levels(r)
    check_origins(r)
    check_grids(r)
    check_memory(r)
    for s in range(n_solves(r)):
        check_history(r, s)
        check_times(r, s)
    check_energy(r)
    check_machine(r)
    check_command(r)
    version = r.get("version")
    r.must(version in VERSIONS, f"version is {version[:20]}, this program knows {VERSIONS[-1]}")
    r.must(r.get("run.setup_seconds") > 0, "run.setup_seconds is not above 0")
