"""Jobs on this machine: each is a process group, identified by process id and start time."""

from __future__ import annotations

import os
import signal
import subprocess

from toolkit import FileError, ToolError, refuse_link

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_S = 0.2  # interval for polling the output of a job


def start_of(pid: int) -> str | None:
    """Start time of a live process in ticks, which distinguishes it if the id is reused."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            # Skip the name in parentheses, which may contain any character.
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if len(fields) < 20 or fields[0] in "ZX" else fields[19]


def name_of(pid: int) -> str:
    return f"process {pid} ({start_of(pid)})"


def lives(job: str) -> bool:
    """True if the job with this name is still running."""
    words = job.split()
    if len(words) != 3 or words[0] != "process" or not words[1].isdecimal() or len(words[1]) > 10:
        return False
    return start_of(int(words[1])) is not None and job == name_of(int(words[1]))


class Signals:
    """Forwards terminating signals to the process group of the job; this process ends after it."""

    def __init__(self):
        self.job: subprocess.Popen | None = None
        self.caught: list[int] = []

    def __enter__(self):
        # Signals that are ignored, as under nohup, stay ignored.
        heard = [n for n in PASSED_ON if signal.getsignal(n) != signal.SIG_IGN]
        self.before = {number: signal.signal(number, self.catch) for number in heard}
        return self

    def __exit__(self, *_):
        for number, handler in self.before.items():
            signal.signal(number, handler)

    def catch(self, number, _frame) -> None:
        self.caught.append(number)
        self.pass_on()

    def pass_on(self) -> None:
        if self.job is not None and self.caught and self.job.poll() is None:
            os.killpg(self.job.pid, self.caught[-1])


def start(words: list[str], folder: str, output: str) -> subprocess.Popen:
    """Start a job in a new process group."""
    refuse_link(output)
    try:
        out = open(output, "wb")  # noqa: SIM115
    except OSError as error:
        raise FileError(f"{output} cannot be written: {error.strerror}") from None
    with out:
        try:
            return subprocess.Popen(
                words,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise FileError(f"{words[0]} cannot be run: {error.strerror}") from None


def run_job(words: list[str], folder: str, output: str, record, say) -> None:
    """Run a job to its end. `record` receives its name at the start, `say` each line of output."""
    with Signals() as signals:
        job = start(words, folder, output)
        try:
            record(name_of(job.pid))
        except ToolError:
            # An unrecorded job would be started a second time, so end it.
            os.killpg(job.pid, signal.SIGTERM)
            job.wait()
            raise
        signals.job = job
        signals.pass_on()
        follow(job, output, say)
    if signals.caught:
        number = signals.caught[0]
        name = signal.Signals(number).name
        raise ToolError(f"{name} ended this program and {' '.join(words[-1:])}", 128 + number)


def follow(job: subprocess.Popen, output: str, say) -> None:
    with open(output, encoding="utf-8", errors="replace") as printed:
        running, rest = True, ""
        while running:
            try:
                job.wait(LOOK_S)
                running = False
            except subprocess.TimeoutExpired:
                pass
            rest += printed.read()
            *lines, rest = rest.split("\n")
            for line in lines:
                say(line)
        if rest:
            say(rest)
