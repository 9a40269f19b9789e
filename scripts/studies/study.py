"""Reader of study files, with a check of each value."""

from __future__ import annotations

import configparser
import dataclasses
import difflib
import os
import re
import shlex
from collections.abc import Callable

import toolkit
from toolkit import UsageError, whole_number

KINDS = ("weak", "strong")
SYSTEMS = ("slurm", "pbs", "lsf", "flux", "local")
LAUNCHERS = ("srun", "mpirun", "jsrun", "flux")
MOST_NODES = 10_000_000
MOST_RANKS = 1_000_000_000

# Words allowed in directives of batch systems, which cannot be quoted.
WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,:+@/=-]*")
# Options of the program that [options] may not set, with the reason.
TAKEN = {
    "log2-box-dim": "[problem] log2-box-dim",
    "boxes-per-rank": "[problem] boxes-per-rank",
    "ranks": "[node] ranks",
    "json": "each run's report goes into the study's folder",
    "csv": "'scaling collect' writes it",
    "dump": "every run would write the same file",
    "dry-run": "'scaling plan' does it",
    "verify-only": "a study needs times",
    "restart": "restarted runs are not timed",
    "help": "it runs nothing",
    "version": "it runs nothing",
    "print-config": "it runs nothing",
}


# The reserved options that a study sets on the command line.
GIVEN = ("log2-box-dim", "boxes-per-rank", "ranks", "json")
# Options that name input files.
FILES = ("input", "coefficients", "rhs")
# Variables that a shell interprets: their values could run as code or change the job. Those in the
# second line are integers in bash, which evaluates their values as arithmetic: PATH[$(COMMAND)]
# runs the command even if quoted.
SHELLS_OWN = re.compile(
    "ENV|SHELLOPTS|PROMPT_COMMAND|PS[0-4]|IFS|CDPATH|GLOBIGNORE|POSIXLY_CORRECT|BASH(OPTS|_.*)?"
    "|BASHPID|E?UID|PPID|S?RANDOM|HISTCMD|LINENO|OPTIND|SECONDS"
)


class Reader:
    """Reads sections and keys of the file. finish() reports the ones that were never read."""

    def __init__(self, path: str, base: str, text: str):
        self.path, self.base = path, base
        self.ini = configparser.ConfigParser(
            strict=True,
            interpolation=None,
            delimiters=("=",),
            empty_lines_in_values=False,
            default_section="\0",  # no section with defaults for the others
        )
        self.ini.optionxform = str
        try:
            self.ini.read_string(without_comments(text), source=path)
        except configparser.Error as error:
            raise UsageError(f"{path} is not a study: {error}") from None
        self.known: dict[str, list[str]] = {}

    def fail(self, section: str, key: str, text: str):
        raise UsageError(f"{self.path}: [{section}] {key} {text}")

    def text(self, section: str, key: str, default: str | None = None) -> str | None:
        self.known.setdefault(section, []).append(key)
        value = self.ini.get(section, key, fallback=None)
        if value is None:
            return default
        value = value.strip()
        if not value:
            self.fail(section, key, "has no value; set one or remove the line")
        if not value.isprintable():
            self.fail(section, key, f"is {value!r}: it must be one line without control characters")
        return value

    def must(self, section: str, key: str, example: str) -> str:
        value = self.text(section, key)
        if value is None:
            self.look_for_misspelt(section, key)
            raise UsageError(f"{self.path} has no [{section}] {key}, such as '{key} = {example}'")
        return value

    def look_for_misspelt(self, section: str, key: str) -> None:
        """Report a misspelt name if the missing section or key has one."""
        if section in self.ini:
            wanted, names, what = key, list(self.ini[section]), f"key '{{}}' in [{section}]"
        else:
            wanted, names, what = section, self.ini.sections(), "section [{}]"
        near = difflib.get_close_matches(wanted, names, 1)
        if near:
            self.unknown(what.format(near[0]), near[0], [wanted])

    def whole(self, section: str, key: str, text: str, low: int, high: int) -> int:
        if not low <= whole_number(text) <= high:
            self.fail(section, key, f"= '{text[:40]}' is not an integer from {low} to {high}")
        return whole_number(text)

    def integer(self, section: str, key: str, low: int, high: int, default: int | None) -> int:
        if default is None:
            text = self.must(section, key, str(low))
        else:
            text = self.text(section, key, str(default))
        return self.whole(section, key, text, low, high)

    def gigabytes(self, section: str, key: str) -> float | None:
        text = self.text(section, key)
        if text is None:
            return None
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0.0 < value < 1e9:
            self.fail(section, key, f"= '{text}' is not a positive number of GB")
        return value

    def choice(self, section: str, key: str, choices: tuple, default: str | None) -> str:
        text = self.text(section, key, default)
        if text is None:
            text = self.must(section, key, choices[0])
        if text not in choices:
            self.fail(section, key, f"= '{text}' is not one of {', '.join(choices)}")
        return text

    def word(self, section: str, key: str) -> str | None:
        text = self.text(section, key)
        if text is not None and not WORD.fullmatch(text):
            self.fail(
                section, key, f"= '{text}' has characters other than letters, digits and _.,:+@/=-"
            )
        return text

    def words(self, section: str, key: str) -> list[str]:
        text = self.text(section, key, "")
        try:
            return shlex.split(text)
        except ValueError as error:
            self.fail(section, key, f"= '{text}': {error}")

    def pairs(self, section: str) -> dict[str, str]:
        self.known[section] = list(self.ini[section]) if section in self.ini else []
        pairs = {}
        for key in self.known[section]:
            value = self.ini[section][key].strip()
            if not (key + value).isprintable():
                self.fail(
                    section, key, f"is {value!r}: it must be one line without control characters"
                )
            pairs[key] = value
        return pairs

    def finish(self) -> None:
        """Report unknown sections and keys."""
        for section in self.ini.sections():
            if section not in self.known:
                self.unknown(f"section [{section}]", section, list(self.known))
            for key in self.ini[section]:
                if key not in self.known[section]:
                    self.unknown(f"key '{key}' in [{section}]", key, self.known[section])

    def unknown(self, what: str, name: str, names: list[str]):
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(names)}"
        raise UsageError(f"{self.path}: unknown {what}; {hint}")


def without_comments(text: str) -> str:
    """Remove comments: '#' at the start of a line or after a blank. [environment] has none."""
    lines, section = [], ""
    for line in text.split("\n"):
        header = re.match(r"\[([^]]*)\]", line)
        section = header.group(1) if header else section
        if header or section != "environment":
            line = re.sub(r"(^|\s)#.*", "", line)
        lines.append(line)
    return "\n".join(lines)


def read_text(path: str) -> str:
    try:
        return toolkit.read_text(path)
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text; a study is an INI file") from None


def node_counts(reader: Reader) -> list[int]:
    text = reader.must("study", "nodes", "1, 2, 4, 8")
    counts = [reader.whole("study", "nodes", n.strip(), 1, MOST_NODES) for n in text.split(",")]
    if sorted(set(counts)) != counts:
        reader.fail("study", "nodes", f"= '{text}': counts must be in ascending order")
    return counts


def checked_options(reader: Reader) -> dict[str, str]:
    """Check the names of options. The program checks their values in 'scaling plan'.

    Paths of files become relative to the reader's base, because jobs run in another folder.
    """
    options = reader.pairs("options")
    for key in options:
        if key in TAKEN:
            reader.fail("options", key, f"must not be set: {TAKEN[key]}")
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", key):
            reader.fail("options", key, "is not a long option of hpgmg-fv without --")
        if key in FILES and options[key] not in ("", "yes", "no"):
            options[key] = os.path.join(reader.base, options[key])
    return options


def checked_environment(reader: Reader) -> dict[str, str]:
    environment = reader.pairs("environment")
    for key in environment:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", key):
            reader.fail("environment", key, "is not a valid name of a variable")
        if SHELLS_OWN.fullmatch(key):
            reader.fail("environment", key, "must not be set: the job's shell interprets it")
        if key == "OMP_NUM_THREADS":
            reader.fail("environment", key, "must not be set: use [node] threads")
    return environment


def module_names(reader: Reader) -> list[str]:
    """Names of modules. Quoting them is not enough: the shell evaluates the output of `module`."""
    names = [name.strip() for name in (reader.text("batch", "modules") or "").split(",")]
    for name in filter(None, names):
        if not WORD.fullmatch(name):
            reader.fail("batch", "modules", f"has '{name}', which is not a valid name of a module")
    return [name for name in names if name]


def checked_time(reader: Reader) -> str | None:
    text = reader.word("batch", "time")
    if text is not None and not re.fullmatch(r"(\d{1,3}:)?\d{1,3}:\d{2}", text):
        reader.fail("batch", "time", f"= '{text}' is not a time such as 30:00 or 1:30:00")
    return text


def by(read: Callable):
    """A field of a study, with the function that reads it."""
    return dataclasses.field(metadata={"read": read})


@dataclasses.dataclass
class Study:
    """A study as read from its file."""

    kind: str = by(lambda r: r.choice("study", "kind", KINDS, None))
    nodes: list[int] = by(node_counts)
    repeats: int = by(lambda r: r.integer("study", "repeats", 1, 1000, 3))
    name: str = by(lambda r: r.word("study", "name"))
    program: str | None = by(lambda r: r.text("study", "program"))
    ranks_per_node: int = by(lambda r: r.integer("node", "ranks", 1, 4096, None))
    gpus_per_rank: int = by(lambda r: r.integer("node", "gpus-per-rank", 0, 1, 0))
    threads: int = by(lambda r: r.integer("node", "threads", 1, 4096, 1))
    # NUMA domains of a node to spread ranks over
    numa: int = by(lambda r: r.integer("node", "numa", 1, 1024, 1))
    memory_per_node: float | None = by(lambda r: r.gigabytes("node", "memory"))
    memory_per_gpu: float | None = by(lambda r: r.gigabytes("node", "gpu-memory"))
    log2_box_dim: int = by(lambda r: r.integer("problem", "log2-box-dim", 4, 10, None))
    boxes_per_rank: int = by(lambda r: r.integer("problem", "boxes-per-rank", 1, 10**12, None))
    system: str = by(lambda r: r.choice("batch", "system", ("auto", *SYSTEMS), "auto"))
    launcher: str | None = by(lambda r: r.choice("batch", "launcher", ("auto", *LAUNCHERS), "auto"))
    launcher_options: list[str] = by(lambda r: r.words("batch", "launcher-options"))
    account: str | None = by(lambda r: r.word("batch", "account"))
    partition: str | None = by(lambda r: r.word("batch", "partition"))
    time: str | None = by(checked_time)
    modules: list[str] = by(module_names)
    options: dict[str, str] = by(checked_options)
    environment: dict[str, str] = by(checked_environment)

    def ranks(self, nodes: int) -> int:
        return nodes * self.ranks_per_node

    def option_words(self) -> list[str]:
        """Options of the program as words, with defaults that [options] may override."""
        device = "cuda" if self.gpus_per_rank else "cpu"
        options = {"device": device, "levels-breakdown": "yes", **self.options}
        flags = {"yes": "--{0}", "no": None}
        words = [flags.get(value, "--{0}={1}") for value in options.values()]
        return [w.format(key, options[key]) for w, key in zip(words, options) if w is not None]


def read_study(path: str, base: str, text: str) -> Study:
    """Read a study. Paths in [options] are relative to `base`."""
    reader = Reader(path, base, text)
    study = Study(**{f.name: f.metadata["read"](reader) for f in dataclasses.fields(Study)})
    reader.finish()
    study.name = study.name or f"{study.kind}-scaling"
    if study.ranks_per_node % study.numa:
        reader.fail("node", "numa", f"= {study.numa} does not divide {study.ranks_per_node} ranks")
    most = study.ranks(study.nodes[-1])
    if most > MOST_RANKS:
        reader.fail("study", "nodes", f"= {study.nodes[-1]}: {most} ranks exceed {MOST_RANKS}")
    if study.launcher == "auto":
        study.launcher = None
    return study
