"""The log of scripts/tune: one row of CSV per run. A repeated call reads it instead of running."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import os

from toolkit import FileError, read_text, write_atomically

REFERENCE, QUICK, LONG, FINAL = "reference", "quick", "long", "final"
PHASES = (REFERENCE, QUICK, LONG, FINAL)


@dataclasses.dataclass
class Run:
    """One run of the program. Numbers that it did not report are None."""

    phase: str
    options: str
    seconds: float | None  # of the fastest timed solve at h
    joules: float | None  # per solve at h, by one kind of counter
    error: float | None
    order: float | None
    wall_s: float  # of the whole run
    reason: str  # why it failed; empty if it did not
    counter: str = ""  # source of the joules, such as NVML


COLUMNS = [field.name for field in dataclasses.fields(Run)]
NUMBERS = ("seconds", "joules", "error", "order", "wall_s")


def text_of(rows) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def row_of(run: Run) -> list[str]:
    values = dataclasses.asdict(run)
    return ["" if v is None else repr(v) if isinstance(v, float) else v for v in values.values()]


def parse_row(row: dict) -> Run:
    values = dict(row)
    for key in NUMBERS:
        values[key] = float(row[key]) if row[key] else None
    if values["wall_s"] is None or None in values or None in row.values():
        raise ValueError("a row is incomplete")
    run = Run(**values)
    if run.phase not in PHASES:
        raise ValueError(f"'{run.phase}' is not one of {', '.join(PHASES)}")
    for key in NUMBERS:
        value = values[key]
        if value is not None and not (math.isfinite(value) and (key == "order" or value >= 0.0)):
            raise ValueError(f"{key} is {value}")
    if 0.0 in (run.seconds, run.joules):
        raise ValueError("a run took 0 s or 0 J")
    return run


def read_log(path: str) -> tuple[list[str], list[Run]]:
    """Comments and runs of a log. An incomplete last line of a killed call is dropped."""
    try:
        text = read_text(path)
        lines = text.split("\n")[:-1]
        comments = [line for line in lines if line.startswith("#")]
        table = csv.DictReader(line for line in lines if not line.startswith("#"))
        if table.fieldnames != COLUMNS:
            raise ValueError(f"the columns are not {','.join(COLUMNS)}")
        runs = [parse_row(row) for row in table]
    except UnicodeDecodeError:
        raise FileError(f"{path} is not a log of tune (not UTF-8 text); move it away") from None
    except (csv.Error, TypeError, ValueError) as error:
        raise FileError(f"{path} is not a log of tune ({str(error)[:80]}); move it away") from None
    return comments, runs


class Log:
    """Runs of earlier calls, by phase and options, and a file that gets one line per new run.

    Runs of phase `forget` are removed: they are compared with each other, so all must be new.
    """

    def __init__(self, path: str, command: str, forget: str):
        self.path, self.runs = path, []
        comment = f"# {command}"
        if os.path.exists(path) and os.path.getsize(path) > 0:
            comments, self.runs = read_log(path)
            if comments != [comment]:
                found = comments[0][2:] if comments else "none"
                raise FileError(
                    f"{path} is the log of another command or version ({found}); choose another "
                    "--output, or remove it"
                )
        self.runs = [run for run in self.runs if run.phase != forget]
        rows = [COLUMNS, *map(row_of, self.runs)]
        write_atomically(path, f"{comment}\n{text_of(rows)}".encode(), may_follow=False)
        self.waiting: dict[tuple[str, str], list[Run]] = {}
        for run in self.runs:
            self.waiting.setdefault((run.phase, run.options), []).append(run)

    def earlier(self, phase: str, options: str) -> Run | None:
        """The next run of an earlier call with these options."""
        waiting = self.waiting.get((phase, options))
        return waiting.pop(0) if waiting else None

    def add(self, run: Run) -> None:
        self.runs.append(run)
        try:
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
            with open(file, "a", encoding="utf-8") as out:
                out.write(text_of([row_of(run)]))
        except OSError as error:
            raise FileError(f"{self.path} cannot be written: {error.strerror}") from None
