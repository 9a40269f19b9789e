"""Runs hpgmg-fv with candidate options and reads its report."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time

from toolkit import USAGE, FileError, ToolError, UsageError, of_one_rank, reason_of
from tuning.log import FINAL, LONG, QUICK, REFERENCE, Log, Run
from tuning.search import Budget, Exhausted
from tuning.space import Options, words_of

# Options of each phase, after those of the candidate. The last of equal options counts.
CONVERGED = ["--precision=double", "--max-cycles=100", "--verify-only"]
REFERENCE_RTOL = ("1e-9", "1e-7")  # the second one if round-off prevents the first
BRIEFLY = ["--warmup=1", "--min-solves=3", "--min-time=0"]
LONGER = ["--warmup=1", "--min-solves=5", "--min-time=0.3"]
# NVML's counter is updated every 0.1 s, RAPL's every 1 ms.
ENERGY = ["--energy"]
ENERGY_OF_GPUS = ["--energy", "--min-time=2"]
PARTS = ("gpu", "cpu", "node")  # the first one with joules counts
# Options that tune sets itself, or that make a run something else than a timed solve.
TAKEN = (
    *("csv", "dry-run", "dump", "energy", "help", "json", "levels-breakdown", "min-solves"),
    *("min-time", "official", "print-config", "quiet", "ranks", "restart", "verbose"),
    *("verify-only", "version", "warmup"),
)
SLOW = 20  # a run is stopped after this times the longest one with the options as given
LEAST_LIMIT = 30.0
GRACE = 10  # seconds from SIGTERM to SIGKILL


def named_options(words: list[str]) -> set[str]:
    """Names of the long options of a command."""
    return {word[2:].partition("=")[0] for word in words if word.startswith("--") and word != "--"}


def check_command(words: list[str]) -> None:
    for name in sorted(named_options(words).intersection(TAKEN)):
        raise UsageError(f"tune does not accept --{name} in the command; remove it")


def deck_values(deck: str) -> dict[str, str]:
    """The lines `key = value` of a deck."""
    pairs = (line.partition(" = ") for line in deck.splitlines() if not line.startswith("#"))
    return {key.strip(): value.strip() for key, equals, value in pairs if equals}


class Stopped(Exception):
    """A run reached its time limit."""


def end_group(process: subprocess.Popen) -> None:
    """End a run with all its ranks."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
            return


class Runner:
    """Runs one command. The first long run shows whether there are energy counters. If so, the last
    runs measure energy, and all long runs do if `always_energy`."""

    def __init__(self, words: list[str], budget: Budget, always_energy: bool):
        self.words, self.budget, self.always_energy = words, budget, always_energy
        self.backend = "cpu"  # of the finest level; see plan()
        self.counter: str | None = None  # of all joules; empty if there is none, None if unknown
        self.no_energy = "the first call measured none"  # why there is no counter
        self.log: Log | None = None
        self.folder = tempfile.TemporaryDirectory(prefix="hpgmg-tune-")
        self.reports: tempfile.TemporaryDirectory | None = None
        self.first_s = 0.0  # longest run with the options as given

    def execute(self, words: list[str], limit: float | None) -> tuple[int, str, str]:
        """Exit code, stdout and stderr. Raises Stopped after `limit` seconds."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                process = subprocess.Popen(
                    words,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env=of_one_rank(self.folder.name),
                    start_new_session=True,
                )
            except OSError as error:
                raise UsageError(f"{words[0]} cannot be run: {error.strerror}") from None
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                raise Stopped from None
            finally:
                if process.returncode is None:
                    end_group(process)
            texts = []
            for stream in (out, err):
                stream.seek(0)
                texts.append(stream.read().decode(errors="replace"))
        return code, texts[0], texts[1]

    def asked(self, more: list[str]) -> str:
        """Output of the command with further options, which must succeed."""
        code, out, err = self.execute([*self.words, *more], None)
        if code != 0:
            text = f"'{' '.join([*self.words, *more])}' failed: {reason_of(err, code)}"
            raise ToolError(text, code if 0 < code <= 5 else USAGE)
        return out

    def deck(self, options: Options) -> str:
        """The deck of a candidate."""
        deck = self.asked([*words_of(options), "--print-config"])
        if "log2-box-dim" not in deck and "cells" not in deck:
            raise UsageError(f"{self.words[0]} printed no deck for --print-config")
        return deck

    def plan(self) -> tuple[int, str]:
        """Number of ranks, and backend of the finest level."""
        try:
            run = json.loads(self.asked(["--dry-run", "--json=-", "--quiet"]))["run"]
            self.backend = str(run["backend"])
            return int(run["ranks"]), self.backend
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{self.words[0]} printed no plan for --dry-run --json=- ({str(error)[:80]})"
            ) from None

    def report(self, path: str) -> dict:
        try:
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
            return data if isinstance(data, dict) else {}
        except (OSError, ValueError):
            return {}

    def run(self, words: list[str], phase: str, options: str, limit: float | None) -> Run:
        """Run the program once. Its report is beside the log, as ranks may be on other hosts, in a
        folder of this user alone."""
        if self.reports is None:
            beside = os.path.dirname(os.path.abspath(self.log.path))
            self.reports = tempfile.TemporaryDirectory(prefix=".hpgmg-tune-", dir=beside)
        path = os.path.join(self.reports.name, "report.json")
        begin = time.monotonic()
        try:
            more = [*words, f"--json={path}", "--quiet"]
            code, _, err = self.execute([*self.words, *more], limit)
            data = self.report(path)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
        wall = time.monotonic() - begin
        run = Run(phase, options, None, None, None, None, wall, "")
        try:
            fill(run, data, code)
            self.add_energy(run, data["energy"])
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            run.reason = reason_of(err, code) if code else f"no report of hpgmg-fv ({error})"
        return run

    def add_energy(self, run: Run, energy: dict | None) -> None:
        """Joules of the counters that all runs use."""
        if energy is None or run.reason:
            return
        for part in (energy[name] for name in PARTS):
            joules = part["joules_per_solve"]
            if joules is not None and self.counter in (None, part["source"]):
                run.joules, run.counter = positive(joules), str(part["source"])
                return
        self.no_energy = "; ".join(str(energy[name]["reason"]) for name in PARTS)

    def measure(self, options: Options, phase: str, kept_runs: int) -> Run:
        """A run of a candidate, from the log if an earlier call made it."""
        text = " ".join(words_of(options))
        run, look = self.log.earlier(phase, text), phase != QUICK and self.counter is None
        # Counters that an earlier call could not read may be readable now.
        if run is None or (look and self.always_energy and not run.reason and not run.joules):
            run = self.new_run(options, phase, text, kept_runs)
            self.log.add(run)
        if look and not run.reason:
            self.counter = run.counter
        if not options:
            self.first_s = max(self.first_s, run.wall_s)
        # Without counters, no other run takes as long as the one that looks for them.
        if phase in (LONG, FINAL) and not (look and not run.joules):
            self.budget.longest = max(self.budget.longest, run.wall_s)
        return run

    def timing(self, phase: str) -> list[str]:
        if phase == QUICK:
            return BRIEFLY
        wanted = self.counter and (self.always_energy or phase == FINAL)
        if not (wanted or self.counter is None):
            return LONGER
        return LONGER + (ENERGY_OF_GPUS if self.backend.startswith("cuda") else ENERGY)

    def new_run(self, options: Options, phase: str, text: str, kept_runs: int) -> Run:
        budget = self.budget
        budget.need(kept_runs)
        limit = budget.left() - kept_runs * budget.longest
        slow = max(LEAST_LIMIT, SLOW * self.first_s) if self.first_s else limit
        words = [*words_of(options), *self.timing(phase)]
        budget.n_runs += 1
        try:
            return self.run(words, phase, text, min(limit, slow))
        except Stopped:
            if limit <= slow:
                raise Exhausted from None
            return Run(phase, text, None, None, None, None, slow, f"stopped after {slow:.0f} s")

    def reference(self) -> Run:
        """A converged solve of the same problem."""
        for rtol in REFERENCE_RTOL:
            run = self.log.earlier(REFERENCE, f"--rtol={rtol}")
            if run is None:
                self.budget.n_runs += 1
                try:
                    words = [f"--rtol={rtol}", *CONVERGED]
                    run = self.run(words, REFERENCE, f"--rtol={rtol}", self.budget.left())
                except Stopped:
                    raise UsageError(
                        f"the budget of {self.budget.seconds:g} s ended in the converged solve; "
                        "use a larger --budget"
                    ) from None
                self.log.add(run)
            if not run.reason:
                return run
        raise ToolError(f"the converged solve failed: {run.reason}", 1)


def fill(run: Run, data: dict, code: int) -> None:
    """Values of a report."""
    if data["verification"] != "passed":
        run.reason = data["reason"] or "verification failed"
        return
    if code != 0:
        raise ValueError(f"exit code {code}")
    error, order, seconds = data["error"], data["order"], data["solves"][0]["seconds_min"]
    # A user's problem has no error; --verify-only times nothing.
    run.error = None if error is None else positive(error)
    run.order = None if order is None else number(order)
    run.seconds = None if seconds is None else positive(seconds)


def number(value) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e300:
        raise ValueError(f"{str(value)[:40]} is not a number")
    return float(value)


def positive(value) -> float:
    if not number(value) > 0.0:
        raise ValueError(f"{value} is not positive")
    return float(value)


def check_output(prefix: str) -> None:
    folder = os.path.dirname(prefix) or "."
    if not os.path.isdir(folder):
        raise FileError(f"--output={prefix}: there is no folder {folder}")
