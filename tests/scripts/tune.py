"""The search of scripts/tune with planted times, energies and errors, for tests/scripts/tune.sh.

Usage: tune.py FOLDER; with the modules of scripts/ in PYTHONPATH.
"""

from __future__ import annotations

import math
import os
import sys

from toolkit import FileError, UsageError
from tuning.log import FINAL, Log, Run, read_log
from tuning.runner import Runner
from tuning.search import (
    ENERGY,
    FINAL_RUNS,
    FINALISTS,
    TIME,
    Budget,
    Exhausted,
    Search,
    Target,
)
from tuning.space import GROUPS, Space, shown

GIVEN = {
    "smoother": "gsrb",
    "smooths": "3",
    "omega": "1",
    "cycle": "f",
    "precision": "double",
    "steps-per-pass": "auto",
    "coarsest": "1",
    "bottom": "bicgstab",
}
# Factors of the time, and of the errors at h and 2h. All other values are 10 to 40 % slower.
PLANTED = {
    "--smoother=chebyshev --smooths=1 --degree=4": (0.6, 1.1, 0.9),
    "--precision=mixed": (0.8, 1.0, 1.0),
    "--steps-per-pass=2": (0.9, 1.0, 1.0),
    "--coarsest=4": (0.93, 1.0, 1.0),
}
# Faster, but with errors at h or 2h that are too large or too small.
DECOYS = {
    "--smoother=gsrb --smooths=1 --omega=1": (0.3, 1.5, 1.0),
    "--smoother=gsrb --smooths=2 --omega=1": (0.5, 0.6, 1.0),
    "--cycle=v --krylov=none --rtol=1e-2": (0.2, 1.0, 0.5),
}
# The cycles of the best, and measured as faster.
SAME = "--cycle=f --krylov=none --rtol=1e-2"
BEST = (
    "--smoother=chebyshev --smooths=1 --degree=4 --precision=mixed --steps-per-pass=2 --coarsest=4"
)
# Factors of the power: the fastest smoother needs more energy than a slow one.
POWER = {
    "--smoother=gsrb --smooths=3 --omega=1.15": 0.3,
    "--precision=mixed": 0.8,
    "--steps-per-pass=2": 1.3,
}
LEAST_ENERGY = "--smoother=gsrb --smooths=3 --omega=1.15 --precision=mixed --coarsest=4"
FAILS = "--bottom=direct"
WALL_S = {"quick": 1.0, "long": 2.0, "final": 2.0}


class Machine(Runner):
    """A runner with planted results and a clock that only runs advance."""

    def __init__(self, folder: str, seconds: float, runs: int, energy: bool, counters):
        self.now, self.calls, self.n_measured, self.counters = 100.0, [], 0, counters
        super().__init__(["hpgmg-fv"], Budget(seconds, runs, lambda: self.now), energy)
        self.log = Log(os.path.join(folder, "fake.csv"), "hpgmg-fv 0.1.0: fake", FINAL)

    def run(self, words, phase, options, limit):
        self.calls.append((phase, options))
        self.now += WALL_S[phase]
        if FAILS in options:
            return Run(phase, options, None, None, None, None, WALL_S[phase], "planted failure")
        groups = [
            " ".join(w for w in options.split() if w[2:].partition("=")[0] in keys)
            for keys in ({key for v in values for key in v} for values in GROUPS.values())
        ]
        time, error, error_2h, power = 0.1, 1e-5, 4e-5, 100.0
        for value in groups:
            slow = 1.1 + 0.3 * (sum(map(ord, value)) % 7) / 6 if value else 1.0
            factors = PLANTED.get(value) or DECOYS.get(value) or (slow, 1.0, 1.0)
            time, error, error_2h = time * factors[0], error * factors[1], error_2h * factors[2]
            power *= POWER.get(value, 1.0)
        if options == SAME:
            time = 0.09
        # Up to 2 % of noise.
        noise = 1.0 + 0.02 * (len(self.calls) * 7 % 11) / 10
        order = math.log2(error_2h / error)
        run = Run(phase, options, time * noise, None, error, order, WALL_S[phase], "")
        if "--energy" in words:
            self.n_measured += 1
            parts = {
                name: {"joules_per_solve": None, "reason": "planted"} for name in ("gpu", "node")
            }
            parts["cpu"] = {"joules_per_solve": time * power, "source": "RAPL package"}
            # A GPU's counter that appears later is not mixed with the others.
            if self.n_measured > 1:
                parts["gpu"] = {"joules_per_solve": 1e-3, "source": "NVML"}
            self.add_energy(run, parts if self.counters else None)
        return run


def search(
    folder: str,
    seconds: float = 1e6,
    runs: int = 10**6,
    target=None,
    minimize=TIME,
    counters=True,
):
    machine, lines = Machine(folder, seconds, runs, minimize == ENERGY, counters), []
    target, space = target or Target(1e-5, 4e-5, 0.2), Space(list(GROUPS), GIVEN, set())
    found = Search(space, target, minimize, machine.measure, 1, lines.append)
    try:
        return machine, found.run(), lines
    finally:
        machine.folder.cleanup()


def fresh(folder: str, name: str) -> str:
    path = os.path.join(folder, name)
    os.mkdir(path)
    return path


def test_optimum(folder: str) -> None:
    machine, finalists, lines = search(fresh(folder, "optimum"))
    assert shown(finalists[0].options) == BEST, [shown(c.options) for c in finalists]
    assert len(finalists) == FINALISTS and any(not c.options for c in finalists)
    assert all(len(c.last) == FINAL_RUNS for c in finalists)
    assert any("planted failure" in line for line in lines)
    assert f"round 1, {SAME}: the cycles of the best" in lines
    assert any("error at 2h 0.5 times that of a converged solve" in line for line in lines)
    n_final = FINALISTS * FINAL_RUNS
    assert lines[-n_final - 1] == "nothing better was found", lines[-n_final - 1]
    # The first long run and the last runs measure energy.
    assert machine.n_measured == n_final + 1 and machine.counter == "RAPL package"
    assert 7.0 < finalists[-1].energy() < 10.1, finalists[-1].energy()
    # Every candidate is run briefly once.
    quick = [options for phase, options in machine.calls if phase == "quick"]
    assert len(quick) == len(set(quick))
    # All runs are in the log.
    _, runs = read_log(machine.log.path)
    assert [(run.phase, run.options) for run in runs] == machine.calls


def test_tolerance(folder: str) -> None:
    # With a larger tolerance a decoy is the optimum, with a smaller one nothing is accurate.
    _, finalists, _ = search(fresh(folder, "wide"), target=Target(1e-5, 4e-5, 0.55))
    assert "--cycle=v --krylov=none --rtol=1e-2" in shown(finalists[0].options)
    _, finalists, _ = search(fresh(folder, "none"), target=Target(2e-6, 8e-6, 0.1))
    assert finalists == []


def test_budget(folder: str) -> None:
    for seconds in (30.0, 60.0, 100.0):
        machine, finalists, lines = search(fresh(folder, f"s{seconds:g}"), seconds=seconds)
        spent = machine.now - 100.0
        assert spent <= seconds, (spent, seconds)
        # The last runs of fewer finalists take less than is kept for them.
        assert spent >= seconds - FINALISTS * FINAL_RUNS * WALL_S[FINAL], (spent, seconds)
        assert all(len(c.last) == FINAL_RUNS for c in finalists), seconds
        assert any("the budget ended after" in line for line in lines)
    for runs in (20, 50):
        machine, finalists, _ = search(fresh(folder, f"r{runs}"), runs=runs)
        assert runs - FINALISTS * FINAL_RUNS <= len(machine.calls) <= runs
    for runs in (1, 2):
        try:
            search(fresh(folder, f"few{runs}"), runs=runs)
            raise AssertionError(f"{runs} runs are enough")
        except Exhausted:
            pass


def test_resume(folder: str) -> None:
    """Calls with small budgets find the same as one call, and repeat no runs."""
    whole, finalists, _ = search(fresh(folder, "whole"))
    parts, calls = fresh(folder, "parts"), []
    for _ in range(60):
        machine, again, _ = search(parts, runs=30)
        new = [call for call in machine.calls if call[0] != FINAL]
        calls += new
        if not new:
            break
    assert shown(again[0].options) == shown(finalists[0].options) == BEST
    quick = [call for call in calls if call[0] == "quick"]
    assert len(quick) == len(set(quick))
    assert not new, "the search does not end"
    # A killed call leaves part of a line.
    check_log(machine.log.path)


def check_log(path: str) -> None:
    """A log with an incomplete last line is read; a damaged or foreign one is refused."""
    before = read_log(path)[1]
    with open(path, "a", encoding="utf-8") as out:
        out.write("quick,--smoo")
    assert read_log(path)[1] == before
    comment, columns = b"# hpgmg-fv 0.1.0: fake\n", ",".join(Run.__annotations__).encode() + b"\n"
    head = comment + columns
    for text, reason in (
        (b"# hpgmg-fv 0.1.0: other\n" + columns, "is the log of another command or version"),
        (columns, "is the log of another command or version (none)"),
        (comment, "the columns are not phase"),
        (comment + b"phase,options\n", "the columns are not phase"),
        (b"no end of line", "the columns are not phase"),
        (b'{"program": "hpgmg-fv"}\n', "the columns are not phase"),
        (b"\x89PNG\r\n\x1a\n", "not UTF-8"),
        (head + b"quick,x\n", "a row is incomplete"),
        (head + b"quick,,1,,,,1,,,more\n", "a row is incomplete"),
        (head + b"first,,1,,,,1,,\n", "'first' is not one of reference, quick, long, final"),
        (head + b"quick,,x,,,,1,,\n", "could not convert string to float: 'x'"),
        (head + b"quick,,nan,,,,1,,\n", "seconds is nan"),
        (head + b"long,,1,-2,,,1,,NVML\n", "joules is -2.0"),
        (head + b"quick,,0,,,,1,,\n", "a run took 0 s or 0 J"),
        (head + b"quick," + b"x" * 200000 + b",1,,,,1,,\n", "field larger than field limit"),
    ):
        with open(path, "wb") as out:
            out.write(text)
        try:
            Log(path, "hpgmg-fv 0.1.0: fake", FINAL)
            raise AssertionError(f"accepted: {text[:200]}")
        except FileError as error:
            assert reason in str(error) and path in str(error), (reason, str(error))
        with open(path, "rb") as kept:
            assert kept.read() == text, "a refused log was changed"


def test_energy(folder: str) -> None:
    """The least energy is not that of the fastest candidate."""
    machine, finalists, lines = search(fresh(folder, "energy"), minimize=ENERGY)
    assert shown(finalists[0].options) == LEAST_ENERGY, [shown(c.options) for c in finalists]
    assert finalists[0].time() > 0.08, "as fast as the fastest, which takes 0.04 s"
    assert f"final, {LEAST_ENERGY}: {finalists[0].energy():.4g} J" in lines, lines[-9:]
    # All long runs measure energy, but those whose failure is planted.
    long = [options for phase, options in machine.calls if phase != "quick"]
    assert machine.n_measured == sum(FAILS not in options for options in long)
    # Without counters there is one look, and no candidate has any energy.
    machine, finalists, _ = search(fresh(folder, "no-counters"), counters=False)
    assert machine.n_measured == 1 and machine.counter == ""
    assert shown(finalists[0].options) == BEST and math.isnan(finalists[0].energy())


def test_ranked() -> None:
    """Of candidates that are about equally good, the other measure decides."""
    from tuning.search import Candidate, ranked

    def candidate(name: str, seconds: float, joules: float) -> Candidate:
        run = Run(FINAL, name, seconds, joules, None, None, 1.0, "")
        return Candidate(((name, "1"),), {}, seconds, [], [run], run, "")

    a, b, c = candidate("a", 1.0, 5.0), candidate("b", 1.01, 4.0), candidate("c", 1.1, 3.95)
    assert ranked([c, b, a], TIME) == [b, a, c]
    assert ranked([c, b, a], ENERGY) == [b, c, a]
    # Without energy, the one with the fewest options.
    b.last[0].joules, b.options = None, ()
    assert ranked([c, b, a], TIME) == [b, a, c]
    assert ranked([c, b, a], ENERGY) == [c, a]


def test_space() -> None:
    # Options of the command are fixed; values in use are no candidates.
    space = Space(["smoother", "cycle"], GIVEN, {"smoother", "smooths"})
    assert all("smoother" not in value for value in space.groups["smoother"])
    assert {"cycle": "f"} not in space.groups["cycle"]
    assert space.groups["cycle"][0] == {}
    try:
        Space(["precision"], GIVEN, {"precision"})
        raise AssertionError("nothing to tune")
    except UsageError:
        pass


def main() -> None:
    folder = sys.argv[1]
    test_optimum(folder)
    test_tolerance(folder)
    test_budget(folder)
    test_resume(folder)
    test_energy(folder)
    test_ranked()
    test_space()
    print("the planted optimum was found")


main()
