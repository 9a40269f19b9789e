"""Shared by all Python tools: exit codes, one-line errors, option parsing, atomic file writes."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import errno
import importlib
import json
import logging
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile

# Exit codes, as in hpgmg-fv.
USAGE = 2
FILE = 3
MEMORY = 4


class ToolError(Exception):
    """An error: one line for the user, and an exit code."""

    code: int

    def __init__(self, text: str, code: int | None = None):
        super().__init__(printable(" ".join(text.split())))
        self.code = self.code if code is None else code


class UsageError(ToolError):
    code = USAGE


class FileError(ToolError):
    code = FILE


def printable(text: str) -> str:
    """Escape line breaks, terminal controls and other characters that cannot be printed."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


# --- output --------------------------------------------------------------------------------------

# Errors of standard output. They do not stop the work, because jobs continue without a reader.
stdout_errors: list[str] = []


def put_line(stream, text: str) -> OSError | None:
    """Print lines, without terminal controls that a file may contain. After an error, redirect the
    stream to /dev/null and return the error."""
    try:
        print("\n".join(map(printable, text.split("\n"))), file=stream, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return error
    return None


def say(text: str) -> None:
    error = put_line(sys.stdout, text)
    # A reader that stops early, such as head, is not an error.
    if error is not None and not isinstance(error, BrokenPipeError):
        stdout_errors.append(error.strerror)


def complain(tool: str, text: str) -> None:
    put_line(sys.stderr, f"{tool}: {text}")


def replace_closed_streams() -> None:
    """Open /dev/null for closed standard streams, so that no other file gets their descriptors."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def run_main(tool: str, work) -> int:
    """Run `work` and return the tool's exit code. Report an error in one line."""
    replace_closed_streams()
    # File names need not be valid UTF-8.
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            done = work()
        except SystemExit as end:  # by argparse
            done = end.code or 0
        if stdout_errors:
            why = stdout_errors[0]
            raise ToolError(f"standard output cannot be written: {why}", done or FILE)
        return done
    except ToolError as error:
        complain(tool, f"error: {error}")
        return error.code
    except MemoryError:
        complain(tool, "error: out of memory")
        return MEMORY
    except KeyboardInterrupt:
        return 130


# --- third-party modules -------------------------------------------------------------------------


def need(module: str, package: str):
    """Import MODULE. If it is missing, raise an error that names its Debian and PyPI PACKAGE."""
    if package == "matplotlib":
        use_temporary_matplotlib_folder()
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UsageError(
            f"the Python module {package} is missing: 'apt-get install python3-{package.lower()}' "
            f"or 'pip install {package}'"
        ) from None
    except Exception as error:  # for example a module built for another numpy
        raise UsageError(
            f"the Python module {package} cannot be loaded ({str(error)[:120]}); reinstall it"
        ) from None


def use_temporary_matplotlib_folder() -> None:
    """Keep Matplotlib's font list out of the home folder, unless MPLCONFIGDIR is set."""
    if "matplotlib" in sys.modules or os.environ.get("MPLCONFIGDIR"):
        return
    folder = tempfile.mkdtemp(prefix="hpgmg-plots-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["MPLCONFIGDIR"] = folder
    # Suppress the message that Matplotlib builds its font list.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)


@contextlib.contextmanager
def late_interrupts():
    """Delay Ctrl-C to the end of the block: h5py loses exceptions raised while it frees objects."""
    before, caught = signal.getsignal(signal.SIGINT), []
    if before is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: caught.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if caught:
            raise KeyboardInterrupt


# --- files ---------------------------------------------------------------------------------------


def read_text(path: str, errors: str = "strict") -> str:
    """Read a file of UTF-8 text; - is standard input. `errors`: as for open()."""
    try:
        with open(0 if path == "-" else path, encoding="utf-8", errors=errors) as file:
            return file.read()
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from None


def at_path(data, where: str):
    """The value of a JSON object at a path such as solves.0.norms. Raises LookupError."""
    for key in where.split("."):
        try:
            data = data[int(key)] if isinstance(data, list) else data[key]
        except (TypeError, ValueError):
            raise KeyError(where) from None
    return data


def read_json(path: str):
    """Parse a JSON file, which has no key twice and no NaN. Raises FileError, ValueError or
    RecursionError."""

    def unique(pairs: list) -> dict:
        data = dict(pairs)
        if len(data) < len(pairs):
            keys = [key for key, _ in pairs]
            raise ValueError(f"the key '{max(keys, key=keys.count)[:40]}' twice")
        return data

    def refuse(word: str):
        raise ValueError(f"{word} is no number of JSON")

    text = read_text(path)
    data = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    json.dumps(data, ensure_ascii=False).encode()  # reject unpaired surrogates
    return data


def is_standard(path: str) -> bool:
    """True if standard output or standard error is this file."""
    return any(os.path.samestat(os.stat(path), os.fstat(number)) for number in (1, 2))


def refuse_link(path: str) -> None:
    """Names that a tool chooses are known, so a link there may be another user's."""
    if os.path.islink(path):
        raise FileError(f"{path} is a symbolic link; remove it")


def write_atomically(path: str, content: bytes | memoryview, may_follow: bool = True) -> None:
    """Write a file atomically: on an error, an existing file stays unchanged.

    Symbolic links are followed, but not for names that a tool chooses (may_follow). Devices and
    pipes are written directly, not replaced.
    """
    final, temporary = os.path.realpath(path), None
    if not may_follow:
        refuse_link(path)
    try:
        # Use the given name: the target of /dev/stdout may have no name.
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "wb") as out:
                out.write(content)
            return
        if os.path.islink(final):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if os.path.exists(final):
            if not os.access(final, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            if is_standard(final):
                raise UsageError(
                    f"{path} is the file that standard output or error goes to; name another"
                )
        # Mode "x" fails if the name exists, so no file of the user is overwritten.
        with open(f"{final}.{os.getpid()}.tmp", "xb") as out:
            temporary = out.name
            out.write(content)
        if os.path.exists(final):
            shutil.copymode(final, temporary)
        os.replace(temporary, final)
    except BaseException as error:  # also on Ctrl-C, remove the temporary file
        with contextlib.suppress(OSError, TypeError):
            os.unlink(temporary)
        if not isinstance(error, OSError):
            raise
        shown = path or "a file without a name"
        raise FileError(f"{shown} cannot be written: {error.strerror}") from None


def plural(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


# --- programs ------------------------------------------------------------------------------------


def run(words: list[str], wrong=UsageError, **how) -> subprocess.CompletedProcess:
    """Run a command to its end, without input, and capture its output."""
    how = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, **how}
    try:
        return subprocess.run(words, errors="replace", **how)
    except OSError as error:
        raise wrong(f"{words[0]} cannot be run: {error.strerror}") from None


def of_one_rank(folder: str) -> dict[str, str]:
    """The environment of one process. Open MPI starts it faster without its daemon, but then all
    concurrent processes use one session folder, which the first to end removes: each gets its own
    in `folder`."""
    mpi = {"ess_singleton_isolated": "1", "orte_tmpdir_base": tempfile.mkdtemp(dir=folder)}
    return {**os.environ, **{f"OMPI_MCA_{key}": value for key, value in mpi.items()}}


def reason_of(errors: str, code: int) -> str:
    """The error line of hpgmg-fv, or the first line of MPI or the loader."""
    lines = [line for line in errors.splitlines() if line.strip(" -")] or ["no output"]
    own = [line.partition("error: ")[2] for line in lines if line.startswith("hpgmg-fv: error: ")]
    return printable((own or [f"exit code {code}: {lines[0]}"])[0].strip()[:200])


# --- options -------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """Reports errors in one line."""

    def print_help(self, file=None) -> None:
        say(self.format_help().rstrip())

    def error(self, message: str):
        raise UsageError(f"{message}; see {self.prog} --help")

    def add_options(self, *rows: tuple) -> None:
        """Add options, a row each: names and metavar as in "-o --output=FILE"; type, which is a
        function, bool for a flag, or choices; default; help."""
        for names, kind, default, text in rows:
            names, _, metavar = names.partition("=")
            how = {"choices": kind}
            if kind is bool:
                how = {"action": "store_true"}
            elif callable(kind):
                how = {"type": kind, "metavar": metavar}
            self.add_argument(*names.split(), default=default, help=text, **how)


def number_in(low: float, high: float):
    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"'{text}' is not a number from {low:g} to {high:g}")
        return value

    return parse


def whole_number(text: str) -> int:
    """Parse decimal digits; -1 if invalid or too long (int() rejects thousands of digits)."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 30 else -1


def integer_in(low: int, high: int):
    def parse(text: str) -> int:
        if not low <= whole_number(text) <= high:
            raise argparse.ArgumentTypeError(
                f"'{text[:40]}' is not an integer from {low} to {high}"
            )
        return whole_number(text)

    return parse
