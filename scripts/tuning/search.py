"""Search for the options that reach the discretization error in the least time or energy.

A coordinate search: all values of one group of options are tried, the others kept, and rounds are
repeated until one changes nothing. Then random changes of several groups follow. A candidate first
gets one short run. If that is not slower than the best candidate, both are run alternately, and the
better one is the new best. At the end the best candidates are run alternately again.
"""

from __future__ import annotations

import dataclasses
import math
import random
import statistics
from typing import Callable

from toolkit import plural
from tuning.log import FINAL, LONG, QUICK, Run
from tuning.space import Options, Space, shown, solver_of

DUEL_RUNS = 2  # long runs of each of two candidates
TIME, ENERGY = "time", "energy"  # what is minimized
# A candidate whose short run takes this times the best one's is given up. Short runs measure no
# energy, and a slower candidate may need less.
SLOWER = {TIME: 1.05, ENERGY: 1.5}
LESS = 0.97  # a new best needs at most this times the old one's time or energy
FINALISTS = 3
FINAL_RUNS = 3
ALIKE = 1.02  # finalists up to this times the least time or energy are as good
MOST_MISSES = 40  # random candidates in a row that are no new best


class Exhausted(Exception):
    """The budget is spent."""


class Budget:
    """Seconds and runs that may be spent."""

    def __init__(self, seconds: float, runs: int, clock: Callable[[], float]):
        self.clock, self.seconds, self.runs = clock, seconds, runs
        self.begin, self.n_runs, self.longest = clock(), 0, 0.0

    def spent(self) -> float:
        return self.clock() - self.begin

    def left(self) -> float:
        return self.seconds - self.spent()

    def need(self, kept_runs: int) -> None:
        """Raise Exhausted unless one run fits, besides `kept_runs` that are kept for later."""
        if self.n_runs + kept_runs >= self.runs or self.left() <= kept_runs * self.longest:
            raise Exhausted


@dataclasses.dataclass
class Target:
    """The errors of a converged solve, and how far a candidate's may be from them.

    Without an error (None), the program's verdict decides, which includes --rtol.
    """

    error: float | None
    error_2h: float | None
    tolerance: float

    def ratios(self, run: Run) -> tuple[float, float] | None:
        if self.error is None or run.error is None or run.order is None:
            return None
        return run.error / self.error, run.error * 2.0**run.order / self.error_2h

    def miss(self, run: Run) -> str:
        """Why a run does not reach the target; empty if it does."""
        if run.reason:
            return run.reason
        if run.seconds is None:
            return "no time"
        if self.error is None:
            return ""
        ratios = self.ratios(run)
        if ratios is None:
            return "no error"
        for ratio, grid in zip(ratios, ("h", "2h")):
            if not abs(ratio - 1.0) <= self.tolerance:
                return f"error at {grid} {ratio:.3g} times that of a converged solve"
        return ""


@dataclasses.dataclass
class Candidate:
    options: Options
    choice: dict[str, dict[str, str]]
    quick: float = math.inf
    long: list[Run] = dataclasses.field(default_factory=list)
    last: list[Run] = dataclasses.field(default_factory=list)  # at the end
    run: Run | None = None  # the newest
    miss: str = "not run"

    def time(self) -> float:
        return seconds_of(self.last or self.long) if self.last or self.long else self.quick

    def energy(self) -> float:
        return joules_of(self.last or self.long)


def seconds_of(runs: list[Run]) -> float:
    """Of the fastest solve: other processes only make runs slower."""
    return min(run.seconds for run in runs)


def joules_of(runs: list[Run]) -> float:
    """Median of the joules per solve; NaN if no run has any."""
    joules = [run.joules for run in runs if run.joules is not None]
    return statistics.median(joules) if joules else math.nan


def ranked(candidates: list[Candidate], minimize: str) -> list[Candidate]:
    """The least time or energy first.

    Of candidates that are about equal, the other measure or else the number of options decides.
    """
    of, other = Candidate.time, Candidate.energy
    if minimize == ENERGY:
        of, other = other, of
        candidates = [c for c in candidates if not math.isnan(c.energy())]
    able = sorted(candidates, key=of)
    near = [c for c in able if of(c) <= ALIKE * of(able[0])]
    if any(math.isnan(other(c)) for c in near):
        other = lambda c: len(c.options)  # noqa: E731
    return sorted(near, key=other) + able[len(near) :]


class Search:
    """`measure(options, phase, kept_runs)` returns a Run or raises Exhausted."""

    def __init__(self, space: Space, target: Target, minimize: str, measure, seed: int, say):
        self.space, self.target, self.measure, self.say = space, target, measure, say
        self.minimize = minimize
        self.cost, self.unit = (joules_of, "J") if minimize == ENERGY else (seconds_of, "s")
        self.random = random.Random(seed)
        self.tried: dict[Options, Candidate] = {}
        self.best: Candidate | None = None
        self.start: Candidate | None = None

    def measured(self, candidate: Candidate, phase: str, kept_runs: int) -> None:
        run = self.measure(candidate.options, phase, kept_runs)
        candidate.run, candidate.miss = run, self.target.miss(run)
        if candidate.miss:
            return
        if phase == QUICK:
            candidate.quick = run.seconds
        elif self.minimize == ENERGY and run.joules is None:
            candidate.miss = "energy was not measured"
        else:
            (candidate.long if phase == LONG else candidate.last).append(run)

    def alternate(self, candidates: list[Candidate], n_runs: int, kept_runs: int) -> list[float]:
        """Run candidates alternately; the time or energy of each in these runs."""
        before = [len(c.long) for c in candidates]
        for _ in range(n_runs):
            for candidate in candidates:
                self.measured(candidate, LONG, kept_runs)
                if candidate.miss:
                    return [math.inf if c is candidate else 0.0 for c in candidates]
        return [self.cost(c.long[n:]) for c, n in zip(candidates, before)]

    def shown_cost(self, candidate: Candidate) -> str:
        """Time, and energy if it was measured."""
        energy = candidate.energy()
        return f"{candidate.time():.4g} s" + ("" if math.isnan(energy) else f", {energy:.4g} J")

    def same_cycles(self, candidate: Candidate) -> bool:
        """True if the candidate's cycles are the best one's, and only their tolerance differs."""
        groups = candidate.choice.keys() | self.best.choice.keys()
        of = lambda c, group: c.choice.get(group, {})  # noqa: E731
        differ = {g for g in groups if of(candidate, g) != of(self.best, g)}
        a, b = candidate.run, self.best.run
        return (
            differ == {"cycle"} and a.error is not None and (a.error, a.order) == (b.error, b.order)
        )

    def is_slower(self, candidate: Candidate) -> bool:
        """True if its short run was clearly slower than the best one's, accurate or not."""
        seconds = candidate.run.seconds if candidate.run else None
        return bool(self.best and seconds and seconds > SLOWER[self.minimize] * self.best.quick)

    def try_choice(self, choice: dict[str, dict[str, str]], what: str) -> bool:
        """Try a candidate; True if it is the new best."""
        options = self.space.options(choice)
        if options in self.tried:
            return False
        kept = FINALISTS * FINAL_RUNS
        candidate = self.tried[options] = Candidate(options, choice)
        self.measured(candidate, QUICK, kept)
        if candidate.miss:
            self.say(f"{what}: {candidate.miss}")
            return False
        if self.best is not None:
            if self.same_cycles(candidate):
                self.say(f"{what}: the cycles of the best")
                return False
            if self.is_slower(candidate):
                self.say(f"{what}: {candidate.quick:.4g} s, slower")
                return False
            new, old = self.alternate([candidate, self.best], DUEL_RUNS, kept)
            if candidate.miss or new > LESS * old:
                verdict = candidate.miss or f"{new:.4g} {self.unit}, best {old:.4g} {self.unit}"
                self.say(f"{what}: {verdict}")
                return False
        self.best = candidate
        self.say(f"{what}: {self.shown_cost(candidate)}, new best")
        return True

    def rounds(self) -> None:
        """Coordinate search from the best candidate, until a round changes nothing."""
        changed, n = True, 0
        while changed:
            changed, n = False, n + 1
            for group, values in self.space.groups.items():
                too_slow = set()
                for value in values:
                    if solver_of(value) in too_slow:
                        continue
                    base = self.best.choice if self.best else {}
                    choice = {**base, group: value}
                    what = f"round {n}, {shown(tuple(value.items()))}"
                    changed = self.try_choice(choice, what) or changed
                    if solver_of(value) and self.is_slower(self.tried[self.space.options(choice)]):
                        too_slow.add(solver_of(value))

    def wander(self) -> None:
        """Random changes of two or three groups."""
        names, misses = list(self.space.groups), 0
        while misses < MOST_MISSES:
            count = min(len(names), self.random.choice((2, 3)))
            changes = {
                name: self.random.choice(self.space.groups[name])
                for name in self.random.sample(names, count)
            }
            choice = {**(self.best.choice if self.best else {}), **changes}
            what = f"random, {shown(self.space.options(choice))}"
            misses = 0 if self.try_choice(choice, what) else misses + 1

    def finals(self) -> list[Candidate]:
        """Run the best candidates alternately; return them, the best one first.

        Earlier runs do not count, because the speed of a machine changes over minutes.
        """
        able = [self.best] + [c for c in (self.start,) if not c.miss and c is not self.best]
        others = [c for c in self.tried.values() if not c.miss and c.long and c not in able]
        able += sorted(others, key=lambda c: self.cost(c.long))[: FINALISTS - len(able)]
        try:
            for _ in range(FINAL_RUNS):
                for candidate in able:
                    self.measured(candidate, FINAL, 0)
                    verdict = candidate.miss or f"{self.cost(candidate.last[-1:]):.4g} {self.unit}"
                    self.say(f"final, {shown(candidate.options)}: {verdict}")
                able = [c for c in able if not c.miss]
        except Exhausted:
            self.say("the budget ended before the last runs")
        # The same number of runs for all.
        least = min((len(c.last) for c in able), default=0)
        for candidate in able:
            del candidate.last[least:]
        return ranked(able, self.minimize)

    def run(self) -> list[Candidate]:
        """The whole search. Returns the finalists, the best one first; none if none is accurate."""
        self.start = self.tried[()] = Candidate((), {})
        self.measured(self.start, QUICK, 0)
        if self.start.miss:
            self.say(f"as given: {self.start.miss}")
        else:
            self.alternate([self.start], DUEL_RUNS, 0)
            self.best = None if self.start.miss else self.start
            self.say(f"as given: {self.start.miss or self.shown_cost(self.start)}")
        try:
            self.rounds()
            self.wander()
            self.say("nothing better was found")
        except Exhausted:
            self.say(f"the budget ended after {plural(len(self.tried), 'candidate')}")
        return self.finals() if self.best else []
