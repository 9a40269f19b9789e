"""Tampered reports for tests/scripts/check_result.sh: scripts/check-result must refuse them.

Usage: check_result.py CHECK_RESULT FOLDER; the folder has double.json, fv4.json, mixed.json and
open.json, of runs with at least 10 solves of each grid (open: 1), which may have been short.
"""

from __future__ import annotations

import copy
import importlib.machinery
import importlib.util
import json
import math
import os
import random
import sys

# Other values of these contradict nothing else in the report.
FREE = {
    "problem": "bottom",
    "run": "ranks threads idle_ranks useful_ranks device host cpu_below agglomerate_below "
    "setup_seconds command_line",
    "timing": "warmup",
    "solves": "seconds_min solves",
    "levels": "ranks",
    "energy": "window_seconds idle_seconds gpu.reason node.reason",
}
# Values of any type that a forger may try. Text with the first ones must never be accepted.
CONTROLS = ["\n", "\x1b[2J", "\x00", "\x7f", "\x9b", "\u2028", "\u202e"]
OTHERS = [None, "", "1", "x" * 9999, -1, -0.5, 0, 0.0, 1e308, math.nan, math.inf, 2**70, 1e-320]
OTHERS += [[], [[]], {}, True, False]
FORGED = "ok.json: FOM: 9.999e+99 DOF/s VALID class=official"
MEASURED = ("counters", "idle_watts")


# Text that nothing else determines.
TEXTS = ("run.host", "energy.gpu.reason", "energy.node.reason")
# A run of class double cannot have these words in its command line; | separates them.
CONTRADICTIONS = (
    "--verify-only --rtol=1|--verify-only|--official|--rtol=0.5|--rtol 1e-3|--cycle=v|--krylov=cg|"
    "--smooths=2|--smooths 0x3|--omega=0.9|--degree=6|--coarsest=4|--operator=7pt|"
    "--equation=helmholtz|--smoother=jacobi|--precision=mixed|--bottom=direct|--boundary=periodic|"
    "--boundary=dirichlet,dirichlet,neumann|--restart=a.hdf|--rhs=a.hdf|--coefficients=a.hdf|"
    "--cells=64x64x64|--cells=60x60x60|--warmup=3|--min-solves=11|--min-time=2|--min-time=1_0|"
    "--energy|--max-cycles=2|--device=cuda|--device=guard|--dry-run|--ranks=2|--help|-h|--version|"
    "-V|--print-config"
)
AGREEMENTS = ("--json=a b.json -q", "--cpu-below=0", "--device=cpu -v", "--smooths=+3")
AGREEMENTS += ("--official=no", "--cycle=v --cycle=f", "--boundary=dirichlet,dirichlet,dirichlet")


def load(path: str):
    loader = importlib.machinery.SourceFileLoader("check_result", path)
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("check_result", loader)
    )
    sys.path.insert(0, os.path.dirname(path))
    loader.exec_module(module)
    return module


def long_enough(report: dict, seconds: float) -> dict:
    """The report as it would be after more solves with the same mean."""
    for solve in report["solves"]:
        solve["solves"] = max(solve["solves"], math.ceil(1.1 * seconds / solve["seconds_mean"]))
        solve["seconds_min"] = max(solve["seconds_min"], solve["seconds_mean"] / 1.1)
    report["timing"]["min_time"] = seconds
    line = report["run"]["command_line"]
    report["run"]["command_line"] = line.replace("--min-time=0", f"--min-time={seconds}")
    report["fom"].update(validity="valid", reason="")
    return report


def official(report: dict) -> dict:
    long_enough(report, 60.0)
    report["timing"].update(official=True, warmup=10, min_solves=10)
    report["fom"]["class"] = "official"
    report["run"]["command_line"] = "./hpgmg-fv 5 8 --operator=fv4 --official"
    return report


def with_energy(report: dict) -> dict:
    """The report as it would be with --energy on a machine that has only a counter of the CPU."""
    report = copy.deepcopy(report)
    n, mean = report["solves"][0]["solves"], report["solves"][0]["seconds_mean"]
    none = dict.fromkeys(("joules", "joules_per_solve", "dof_per_joule", "idle_watts"))
    none |= {"counters": 0, "reason": "no counter"}
    joules = 80.0 * n * mean
    cpu = {
        "source": "RAPL package",
        "counters": 1,
        "joules": joules,
        "joules_per_solve": joules / n,
        "dof_per_joule": report["solves"][0]["dof"] / (joules / n),
        "idle_watts": 47.0,
        "reason": None,
    }
    report["energy"] = {
        "solves": n,
        "window_seconds": 1.001 * n * mean,
        "idle_seconds": 1.0,
        "gpu": {"source": "NVML", **none},
        "cpu": cpu,
        "node": {"source": "RAPL psys", **none},
    }
    report["run"]["command_line"] += " --energy"
    return report


def leaves(value, at: tuple = ()):
    """Paths of all values that are no objects or arrays."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if isinstance(item, (dict, list)):
            yield from leaves(item, (*at, key))
        else:
            yield (*at, key)


def nodes(value, at: tuple = ()):
    """Paths of all values."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*at, key)
        if isinstance(item, (dict, list)):
            yield from nodes(item, (*at, key))


def optional(rule: dict, at: str = "", inside: bool = False):
    """Paths of all keys that a report may have or not, by the schema."""
    for key, inner in rule.get("properties", {}).items():
        may_lack = inside or key not in rule["required"]
        if may_lack:
            yield f"{at}{key}"
        yield from optional(inner.get("items", inner), f"{at}{key}.", may_lack)


def get(report, at):
    for key in at:
        report = report[key]
    return report


def replaced(report: dict, at: tuple, value) -> dict:
    other = copy.deepcopy(report)
    get(other, at[:-1])[at[-1]] = value
    return other


def without(report: dict, at: tuple) -> dict:
    other = copy.deepcopy(report)
    del get(other, at[:-1])[at[-1]]
    return other


def changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 1.01 if value else 0.01
    return 0.5 if value is None else f"{value}x"


class Tester:
    def __init__(self, module, folder: str):
        self.module, self.folder = module, folder
        self.expected_error = sys.modules["checks.verification"].expected_error
        self.known = module.known_results()
        self.optional = set(optional(sys.modules["checks.fields"].RUN))
        self.path = os.path.join(folder, "tampered.json")
        self.n = 0

    def reasons(self, report: dict) -> list[str]:
        """Reasons against a report; unreadable ones count as a reason."""
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(report, file)
        self.n += 1
        try:
            result = self.module.Result(self.path)
        except sys.modules["toolkit"].FileError as error:
            return [str(error)]
        # Not check(), which turns an exception into a reason.
        try:
            line = sys.modules["checks.verdict"].judge(result, self.known, None)
        except sys.modules["checks.report"].Damaged as error:
            result.fail(str(error))
            line = ""
        self.module.check_alike([result])
        assert line.isprintable() and bool(line) != bool(result.reasons), (line, result.reasons)
        return result.reasons

    def refuse(self, report: dict, reason: str) -> None:
        reasons = self.reasons(report)
        assert any(reason in text for text in reasons), f"no '{reason}' in {reasons}"


def name_of(at: tuple) -> str:
    """A path without the indices of arrays."""
    return ".".join(key for key in at if isinstance(key, str))


def test_leaves(tester: Tester, report: dict, free: set) -> None:
    """Every change of a value that others determine is found, and every missing value."""
    for at in leaves(report):
        name, value = name_of(at), get(report, at)
        if name in tester.optional or name.startswith("run.agglomeration"):
            continue
        assert tester.reasons(without(report, at)) or "#" in name, f"{at} may be missing"
        if name not in free:
            assert tester.reasons(replaced(report, at, changed(value))), f"{at} may change"


def test_types(tester: Tester, report: dict, free: set, only: tuple = ("",)) -> None:
    """No value of another type, range or alphabet is accepted."""
    seen = set()
    for at in nodes(report):
        name, value = name_of(at), get(report, at)
        if name in seen or not name.startswith(only) or (isinstance(at[-1], int) and at[-1] > 0):
            continue
        seen.add(name)
        for other in OTHERS:
            numbers = type(value) in (int, float) and type(other) in (int, float)
            alike = numbers or type(other) is type(value) or None in (other, value)
            reasons = tester.reasons(replaced(report, at, other))
            fine = alike and (other == value or name in free or name in (*TEXTS, *tester.optional))
            fine = fine or (other is None and name in tester.optional)
            assert reasons or fine, f"{at} may be {other!r} instead of {value!r}"
        for control in CONTROLS if isinstance(value, str) else []:
            for text in (f"{value}{control}{FORGED}", f"{control}{value}"):
                assert tester.reasons(replaced(report, at, text)), f"{at} may have {control!r}"


def test_damage(tester: Tester, report: dict, n: int) -> None:
    """Any damage is a reason or nothing, but never a failure of the program."""
    rng = random.Random(39)
    places = list(nodes(report))
    for _ in range(n):
        value = rng.choice([None, "", "x" * 99, -1, 0, 1e308, math.nan, 2**70, [], [[]], {}, True])
        tester.reasons(replaced(report, rng.choice(places), value))


def test_forgeries(tester: Tester, reports: dict) -> None:
    """Consistent changes that break a rule."""
    double, listed, open_ = reports["double"], reports["official"], reports["open"]

    faster = copy.deepcopy(double)
    faster["solves"][0]["dof_per_s"] = faster["fom"]["dof_per_s"] = 1e12
    tester.refuse(faster, "dof / seconds_mean is")

    short = copy.deepcopy(double)
    for solve in short["solves"]:
        solve["solves"] = 9
    short["timing"].update(min_solves=9, min_time=0.0)
    tester.refuse(short, "9 timed solves at h, class double requires 10")
    tester.refuse(short, " s at 4h, class double requires 1 s")

    brief = copy.deepcopy(listed)
    brief["solves"][2]["solves"] = 10
    tester.refuse(brief, "timing.min_time is 60")
    brief["timing"]["min_time"] = 0.0
    tester.refuse(brief, "--official sets 60")
    tester.refuse(brief, " s at 4h, class official requires 60 s")

    tester.refuse(
        replaced(double, ("fom", "class"), "official"), "the class of these parameters is"
    )
    tester.refuse(replaced(listed, ("problem", "smooths"), 2), "parameters is open")
    tester.refuse(replaced(listed, ("problem", "bottom"), "direct"), "parameters is double")
    tester.refuse(replaced(listed, ("problem", "coarsest"), 4), "parameters is open")
    line = double["run"]["command_line"]
    for words in CONTRADICTIONS.split("|"):
        tester.refuse(replaced(double, ("run", "command_line"), f"{line} {words}"), "command line")
    tester.refuse(
        replaced(double, ("run", "command_line"), line.replace(" 5 8", " 4 8")), "box_dim"
    )
    tester.refuse(replaced(double, ("run", "command_line"), line.replace(" 5 8", " 5 7")), "boxes")
    tester.refuse(replaced(double, ("run", "command_line"), line.replace(" 5 8", "")), "LOG2_BOX")
    for words in AGREEMENTS:
        reasons = tester.reasons(replaced(double, ("run", "command_line"), f"{line} {words}"))
        assert not reasons, (words, reasons)

    # What belongs together: power, device, speed, and the mean and the fastest solve.
    energy = reports["energy"]
    none = copy.deepcopy(energy)
    none["energy"].update(solves=0, window_seconds=None, idle_seconds=None)
    none["energy"]["cpu"] = {**none["energy"]["node"], "source": "RAPL package"}
    assert not tester.reasons(none), "--energy without counters"
    strong = copy.deepcopy(energy)
    for key, factor in (("joules", 1e3), ("joules_per_solve", 1e3), ("dof_per_joule", 1e-3)):
        strong["energy"]["cpu"][key] *= factor
    tester.refuse(strong, " W, 47 W when idle")
    tester.refuse(replaced(energy, ("energy", "cpu", "idle_watts"), 300.0), " W, 300 W when idle")
    gpu = copy.deepcopy(energy)
    gpu["energy"]["gpu"] = {**gpu["energy"]["cpu"], "source": "NVML"}
    tester.refuse(gpu, "energy.gpu has joules without a GPU")
    tester.refuse(replaced(double, ("run", "device"), "NVIDIA X, sm_90, 132 SMs"), "run.backend is")
    tester.refuse(replaced(double, ("memory", "kind"), "device"), "memory.kind is device")
    fast = copy.deepcopy(double)
    for part in (fast["solves"][0], fast["fom"]):
        part["dof_per_s"] *= 1e6
    for key in ("seconds_min", "seconds_mean"):
        fast["solves"][0][key] /= 1e6
    fast["solves"][0]["solves"] *= 10**6
    tester.refuse(fast, "too much for this run of cpu")
    busy = replaced(double, ("solves", 2, "seconds_min"), double["solves"][2]["seconds_mean"] / 4)
    tester.refuse(busy, "the mean at 4h is 4 times the fastest solve")

    # Results of another operator, and those of the problem with other bits.
    for key in ("error", "order", "checksums"):
        tester.refuse(replaced(double, (key,), listed[key]), "the known result is")
    bits = replaced(double, ("error",), math.nextafter(double["error"], 1.0))
    tester.refuse(bits, "the known result is")
    # Without a known result, error and order must still be plausible.
    tester.known = {}
    assert not tester.reasons(double) and not tester.reasons(listed)
    assert not tester.reasons(bits)
    tester.refuse(replaced(double, ("error",), 50 * double["error"]), "error 0.0019")
    tester.refuse(replaced(double, ("error",), double["error"] / 50), "error 7.6")
    tester.refuse(replaced(listed, ("order",), -0.5), "order -0.500, expected at least")
    tester.refuse(replaced(listed, ("order",), 9.0), "between 2h and 4h")
    bad = replaced(double, ("solves", 0, "norms", 0), 0.5)
    bad["solves"][0]["rel"][0] = 0.5 / bad["solves"][0]["f_norm"]
    tester.refuse(bad, "relative residual 0.517")
    tester.known = tester.module.known_results()

    failed = copy.deepcopy(double)
    failed.update(verification="failed", reason="error 1, expected at most 0.1")
    tester.refuse(failed, "verification failed: error 1")
    for part in ("levels", "solves"):
        tester.refuse(replaced(double, (part,), double[part][:-1]), "")
        tester.refuse(replaced(double, (part,), []), "")
    tester.refuse(replaced(open_, ("solves", 0, "rel", 0), 1.0), "norm / f_norm is")
    tester.refuse(replaced(open_, ("problem", "rtol"), 1e-30), "is not below rtol")
    mixed = reports["mixed"]
    tester.refuse(replaced(mixed, ("error_rounding",), 0.011), "the limit is 0.01")
    tester.refuse(replaced(mixed, ("error_rounding",), None), "error_rounding is null")


def test_origins(tester: Tester, report: dict) -> None:
    """Files, origins of fields, equation and command line belong together."""
    line = report["run"]["command_line"]

    def variant(words: str, **problem) -> dict:
        other = replaced(report, ("run", "command_line"), f"{line} {words}".strip())
        fields = {name: problem.pop(name, origin) for name, origin in built_in.items()}
        other["problem"].update(problem, fields=fields)
        return other

    built_in = dict(report["problem"]["fields"])
    assert built_in == {"beta": "built-in", "f": "built-in", "alpha": None}
    for name, origin in (("beta", "constant 1"), ("f", "constant 0"), ("alpha", "constant 1")):
        for other in ("file",) if name == "beta" else (origin, "file"):
            tester.refuse(variant("", **{name: other}), f"problem.fields.{name} is {other}, not ")
    a, b = {"coefficients": "a.hdf"}, {"rhs": "b.hdf"}
    beta, f = {"beta": "file"}, {"f": "file"}
    alpha = {"equation": "helmholtz", "alpha": "file"}
    cells = {"lengths": [1.0, 1.0, 1.0]}
    for words, problem in (
        ("--coefficients=a.hdf", {**a, **beta, "f": "constant 0"}),
        ("--coefficients=a.hdf", {**a, **alpha, "beta": "constant 1", "f": "constant 0"}),
        ("--coefficients a.hdf", {**a, **beta, **f, "rhs": "a.hdf"}),
        ("--coefficients=a.hdf --rhs=b.hdf", {**a, **b, **beta, **f}),
        ("--rhs=b.hdf", {**b, **f, "beta": "constant 1"}),
        ("--rhs=b.hdf", {**b, **cells, "beta": "constant 1", "f": "constant 0"}),
        ("--input=a.ini", {**a, **b, **beta, **f}),
        ("--restart=c.hdf", {**a, **b, **beta, **f}),
        ("--rhs=b c.hdf", {"rhs": "b c.hdf", **f, "beta": "constant 1"}),
    ):
        fine = variant(words, **problem)
        fine["run"]["restart"] = "c.hdf" if "restart" in words else None
        reasons = tester.reasons(fine)
        assert not reasons, (words, problem, reasons)
    for words, problem, reason in (
        ("--coefficients=a.hdf", {**a, **beta}, "fields.f is built-in, not constant 0"),
        ("--coefficients=a.hdf", {**a, **beta, **f}, "fields.f is file, not constant 0"),
        ("--coefficients=a.hdf", {**a, "beta": "constant 1"}, "gives neither beta nor alpha"),
        ("--coefficients=a.hdf", {**a, **beta, "alpha": "file"}, "fields.alpha is file, not None"),
        ("--rhs=b.hdf", {**b, **f, **beta}, "fields.beta is file, not constant 1"),
        ("--rhs=b.hdf", {**b, "f": "constant 0"}, "gives neither f nor values of sides"),
        ("--rhs=c.hdf", {**b, **f}, "the command line has --rhs=c.hdf, but not problem.rhs"),
        ("--rhs=b.hdf", {**a, **b, **beta, **f}, "the command line has no --coefficients, but"),
        ("", {**b, **f}, "the command line has no --rhs, but problem.rhs is b.hdf"),
    ):
        tester.refuse(variant(words, **problem), reason)


def test_known(tester: Tester) -> None:
    """All known results are plausible, so the bounds are those of the program."""
    for key, row in tester.known.items():
        operator, n, error = key[0], int(key[3]), float(row["error"])
        ratio = error / tester.expected_error(operator, n)
        assert 0.1 <= ratio <= (8.0 if operator == "7pt" else 4.0), (key, ratio)
    assert len(tester.known) >= 100


def main() -> None:
    module, folder = load(sys.argv[1]), sys.argv[2]
    reports = {}
    for name in ("double", "fv4", "mixed", "open"):
        with open(os.path.join(folder, f"{name}.json"), encoding="utf-8") as file:
            reports[name] = json.load(file)
    reports["official"] = official(reports.pop("fv4"))
    for name in ("double", "mixed"):
        long_enough(reports[name], 1.0)
    tester = Tester(module, folder)
    reports["energy"] = with_energy(reports["double"])
    for name, report in reports.items():
        reasons = tester.reasons(report)
        assert not reasons, f"{name}: {reasons}"
        with open(os.path.join(folder, f"{name}.json"), "w", encoding="utf-8") as file:
            json.dump(report, file)
    free = {f"{part}.{key}" for part, keys in FREE.items() for key in keys.split()}
    test_leaves(tester, reports["double"], free)
    # Options that --official sets, and the operator of the command line.
    listed = {"timing.warmup", "timing.min_solves", "timing.min_time", "problem.bottom"}
    test_leaves(tester, reports["official"], free - listed)
    measured = {f"energy.{part}.{key}" for part in ("gpu", "cpu", "node") for key in MEASURED}
    energy_only = {
        name_of(at) for at in leaves(reports["energy"]) if name_of(at).partition(".")[0] != "energy"
    }
    test_leaves(tester, reports["energy"], free | energy_only | measured)
    test_types(tester, reports["double"], free)
    open_free = {"error", "order", "note", "checksums.u", "checksums.f"}
    test_types(tester, reports["open"], free | open_free, ("problem", "solves", "error", "order"))
    test_types(tester, reports["energy"], free | measured, ("energy",))
    test_damage(tester, reports["double"], 300)
    test_damage(tester, reports["mixed"], 100)
    test_damage(tester, reports["open"], 100)
    test_forgeries(tester, reports)
    test_origins(tester, reports["open"])
    test_known(tester)
    print(f"{tester.n} reports")


main()
