"""What all tools in Python share: exit codes, errors and options in one line, files as a whole."""

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
import sys
import tempfile

# Exit codes, those of hpgmg-fv.
USAGE = 2
FILE = 3
MEMORY = 4


class ToolError(Exception):
    """One line for the user, and the exit code that goes with it."""

    def __init__(self, text: str, code: int):
        super().__init__(" ".join(text.split()))
        self.code = code


# --- what is said --------------------------------------------------------------------------------

# Why what is said no longer arrives; work goes on, since jobs do not end with who reads of them.
unheard: list[str] = []


def put_line(stream, text: str) -> OSError | None:
    """A line on a stream; from the first that fails on, they go nowhere."""
    try:
        print(text, file=stream, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return error
    return None


def say(text: str) -> None:
    error = put_line(sys.stdout, text)
    # A reader that has had enough, such as head, is no error.
    if error is not None and not isinstance(error, BrokenPipeError):
        unheard.append(error.strerror)


def complain(tool: str, text: str) -> None:
    put_line(sys.stderr, f"{tool}: {text}")


def stand_in_for_closed() -> None:
    """In the order of their numbers, which files that are opened later must not get."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def run_main(tool: str, work) -> int:
    """The exit code of a tool, after one line for what went wrong."""
    stand_in_for_closed()
    # Names of files need not be text.
    sys.stdout.reconfigure(errors="backslashreplace")
    try:
        try:
            done = work()
        except SystemExit as end:  # by the command line
            done = end.code or 0
        if unheard:
            raise ToolError(f"standard output cannot be written: {unheard[0]}", done or FILE)
        return done
    except ToolError as error:
        complain(tool, f"error: {error}")
        return error.code
    except MemoryError:
        complain(tool, "error: too little memory")
        return MEMORY
    except KeyboardInterrupt:
        return 130


# --- modules of others ---------------------------------------------------------------------------


def need(module: str, package: str):
    """Import MODULE of PyPI's and Debian's PACKAGE, or say how to get it."""
    if package == "matplotlib":
        leave_home_alone()
    try:
        return importlib.import_module(module)
    except ImportError:
        raise ToolError(
            f"the Python module {package} is missing: 'apt-get install python3-{package.lower()}' "
            f"or 'pip install {package}'",
            USAGE,
        ) from None
    except Exception as error:  # such as one that was built for another numpy
        raise ToolError(
            f"the Python module {package} cannot be loaded ({str(error)[:120]}); install it anew",
            USAGE,
        ) from None


def leave_home_alone() -> None:
    """Matplotlib keeps its list of fonts in a folder that ends with us, or that the user named."""
    if "matplotlib" in sys.modules or os.environ.get("MPLCONFIGDIR"):
        return
    folder = tempfile.mkdtemp(prefix="hpgmg-plots-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["MPLCONFIGDIR"] = folder
    # It would say that it makes the list.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)


@contextlib.contextmanager
def late_interrupts():
    """Ctrl-C counts at the end: an exception that comes up while h5py frees objects is lost."""
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


def read_json(path: str):
    """What a file has; OSError, ValueError or RecursionError where that is no JSON."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    json.dumps(data, ensure_ascii=False).encode()  # no halves of letters
    return data


def is_standard(path: str) -> bool:
    """Do standard output or error go to this file?"""
    return any(os.path.samestat(os.stat(path), os.fstat(number)) for number in (1, 2))


def write_whole(path: str, content: bytes | memoryview) -> None:
    """Write a file as a whole, or leave the earlier one.

    Links stay. Devices and pipes, which a rename would replace, are written to.
    """
    final, temporary = os.path.realpath(path), None
    try:
        # By the name that was given: what /dev/stdout leads to may have no other.
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
                raise ToolError(
                    f"{path} is the file that standard output or error goes to; name another", USAGE
                )
        # A name that no file of the user's has.
        with open(f"{final}.{os.getpid()}.tmp", "xb") as out:
            temporary = out.name
            out.write(content)
        if os.path.exists(final):
            shutil.copymode(final, temporary)
        os.replace(temporary, final)
    except BaseException as error:  # Ctrl-C too leaves nothing behind
        with contextlib.suppress(OSError, TypeError):
            os.unlink(temporary)
        if not isinstance(error, OSError):
            raise
        said = path or "a file without a name"
        raise ToolError(f"{said} cannot be written: {error.strerror}", FILE) from None


def plural(n: int, word: str) -> str:
    return f"{n} {word}" if n == 1 else f"{n} {word}s"


# --- options -------------------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """Errors in one line."""

    def print_help(self, file=None) -> None:
        say(self.format_help().rstrip())

    def error(self, message: str):
        raise ToolError(f"{message}; see {self.prog} --help", USAGE)


def number_in(low: float, high: float):
    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"'{text}' is no number from {low:g} to {high:g}")
        return value

    return parse


def whole_number(text: str) -> int:
    """Digits as a number, or -1. Python refuses to read thousands of them."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 30 else -1


def integer_in(low: int, high: int):
    def parse(text: str) -> int:
        if not low <= whole_number(text) <= high:
            raise argparse.ArgumentTypeError(f"'{text[:40]}' is no integer from {low} to {high}")
        return whole_number(text)

    return parse
