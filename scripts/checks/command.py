"""The command line of a report must be one that makes this report (src/params/params_options.h)."""

from __future__ import annotations

import re

from checks.report import Result, dim_of
from checks.rules import OMEGA, WORDS, default_degree, default_smooths

FLAGS = ("official", "verify-only", "levels-breakdown", "quiet", "verbose")
BARE = {"energy": "yes"}  # values of options without one
ON, OFF = ("yes", "true", "on"), ("no", "false", "off")
NO_REPORT = ("help", "h", "version", "V", "dry-run", "ranks", "print-config")
INTEGERS = {
    "problem": ("smooths", "degree", "max-cycles", "coarsest"),
    "timing": ("warmup", "min-solves"),
}
REALS = {"problem": ("omega", "rtol"), "timing": ("min-time",)}
# The program keeps this many bytes of a command line (src/io/report/report_run.c).
MOST = 4095


def parse(line: str) -> tuple[dict[str, str], list[str]]:
    """Options by name, the last of equal ones, and the other words of a command line."""
    words, options, others = line.split(" ")[1:], {}, []
    while words:
        word = words.pop(0)
        if word == "--":
            others += words
            break
        if not re.match(r"-[^0-9]", word):
            others.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        if not equals and name in FLAGS:
            value = "yes"
        elif not equals and name in BARE:
            value = BARE[name]
        elif not equals and word.startswith("--") and words and not words[0].startswith("--"):
            value = words.pop(0)
        options[name] = value
    return options, others


def number(text: str, kind) -> float | None:
    """A number as the program reads it, or None."""
    pattern = (
        r"[-+]?[0-9]+" if kind is int else r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?"
    )
    if kind is float and re.fullmatch(r"[-+]?0[xX].+", text):
        try:
            return float.fromhex(text)
        except (ValueError, OverflowError):
            return None
    return kind(text) if len(text) < 400 and re.fullmatch(pattern, text) else None


def defaults(r: Result, options: dict[str, str]) -> dict[str, str]:
    """Settings of a run of cubes of boxes without a deck and files, unless options change them."""
    operator, smoother = options.get("operator", "fv2"), options.get("smoother", "gsrb")
    smooths = default_smooths(operator, smoother)
    found = {name: words[0] for name, words in WORDS.items()}
    found |= {"boundary": "dirichlet", "rtol": "0", "coarsest": "1", "smooths": str(smooths)}
    found["max-cycles"] = "20" if "rtol" in options else "1"
    found |= {"warmup": "1", "min-solves": "10", "min-time": "1", "energy": "no"}
    found |= {"official": "no", "verify-only": "no"}
    if smoother.startswith("chebyshev"):
        found["degree"] = str(default_degree(operator))
    else:
        found["omega"] = repr(OMEGA.get(smoother, 1.0))
    if options.get("official", "no") in ON:
        found |= {"warmup": "10", "min-solves": "10", "min-time": "60"}
        del found["energy"]  # where a counter exists
    if options.get("energy") == "auto" and options.get("official", "no") not in ON:
        options["energy"] = "no"
    if options.get("method") == "auto":
        for name in ("smoother", "smooths", "degree", "omega", "cycle", "krylov"):
            found.pop(name, None)
    return found


def check_numbers(r: Result, settings: dict[str, str]) -> None:
    for kind, keys in ((int, INTEGERS), (float, REALS)):
        for part, names in keys.items():
            for name in names:
                if name not in settings:
                    continue
                text, at = settings[name], f"{part}.{name.replace('-', '_')}"
                value = number(text, kind)
                r.must(value is not None, f"the command line has --{name}={text[:40]}: no number")
                if value is not None and r.get(at, kind, None) is None:
                    r.fail(f"{at} is null, but the command line has --{name}")
                elif value is not None:
                    r.equal(at, value, f"by the command line --{name} is")


def check_files(r: Result, given: dict[str, str], is_whole: bool) -> None:
    """Files of the command line are those of the report. Without a deck or a restart, there are no
    others, but a file that is named alone may give all fields."""
    at = {name: f"problem.{name}" for name in ("coefficients", "rhs")} | {"restart": "run.restart"}
    path = {name: r.get(where, None) for name, where in at.items()}
    for name, where in at.items():
        # A path with blanks is more than one word.
        fits = name not in given or (path[name] or "").startswith(given[name])
        r.must(fits, f"the command line has --{name}={given.get(name, '')[:60]}, but not {where}")
    if not is_whole or "input" in given or "restart" in given:
        return
    for name, other in (("coefficients", "rhs"), ("rhs", "coefficients")):
        fits = name in given or path[name] is None or (other in given and path[name] == path[other])
        r.must(fits, f"the command line has no --{name}, but {at[name]} is {str(path[name])[:60]}")


def check_flags(r: Result, settings: dict[str, str]) -> None:
    for name in ("official", "verify-only"):
        if name in settings:
            value, at = settings[name], f"timing.{name.replace('-', '_')}"
            r.must(value in (*ON, *OFF), f"the command line has --{name}={value[:40]}")
            r.equal(at, value in ON, f"by the command line --{name} is")
    if settings.get("energy") in ("yes", "no"):
        has = r.get("energy", None) is not None
        wanted = settings["energy"] == "yes"
        r.must(has == wanted, f"the command line has --energy={settings['energy']}")


def check_grid(r: Result, options: dict[str, str], sizes: list[str]) -> None:
    """The grid of --cells, or of LOG2_BOX_DIM and BOXES_PER_RANK."""
    dim = dim_of(r)
    if "cells" in options:
        cells = [number(text, int) for text in re.split("[xX]", options["cells"])]
        r.must(cells == dim, f"problem.dim is {dim}, but the command line has other --cells")
        r.must(
            "lengths" in r.data["problem"],
            "the command line has --cells, the report no problem.lengths",
        )
    elif len(sizes) == 2:
        log2, boxes = (number(text, int) for text in sizes)
        if log2 is None or boxes is None or not 0 <= log2 <= 20:
            r.fail(f"the command line has the size {' '.join(sizes)[:40]}")
            return
        r.equal("levels.0.box_dim", 2**log2, "by the command line it is")
        most = boxes * r.get("run.ranks")
        fine = r.get("levels.0.boxes") <= most
        r.must(fine, f"levels.0.boxes is above {most}, the boxes of the command line")


def check_command(r: Result) -> None:
    """Options override a deck and files. Without these, all other settings are defaults."""
    line = r.get("run.command_line")
    given, others = parse(line)
    sizes = [word for word in others if word.isdecimal()]  # not parts of a path with blanks
    for name in NO_REPORT:
        if given.get(name, "no") not in OFF:
            r.fail(f"the command line has {name}, so it makes no report of a run")
    files = ("input", "restart", "rhs", "coefficients", "cells")
    is_whole = len(line.encode()) < MOST
    check_files(r, given, is_whole)
    is_whole = is_whole and not any(name in given for name in files)
    settings = (defaults(r, given) if is_whole else {}) | given
    for name in WORDS:  # older reports have no method
        if name in settings and (name != "method" or name in r.get("problem")):
            r.equal(f"problem.{name}", settings[name], f"by the command line --{name} is")
    if "boundary" in settings:
        words, own = (
            {side.partition(":")[0] for side in text.split(",")}
            for text in (settings["boundary"], r.get("problem.boundary"))
        )
        r.must(words == own, f"by the command line --boundary is {settings['boundary'][:60]}")
    place = r.get("run.backend")
    if settings.get("device", "auto") != "auto":
        r.must(
            place == settings["device"],
            f"run.backend is {place}, but the command line has another --device",
        )
    check_numbers(r, settings)
    check_flags(r, settings)
    check_grid(r, given, sizes)
    if is_whole:
        others = [r.get("run.restart", None), r.data["problem"].get("lengths")]
        fine = all(value is None for value in others)
        r.must(fine, "the command line has no --restart and no --cells, but the report has them")
        r.must(len(sizes) >= 2, "the command line has no LOG2_BOX_DIM and BOXES_PER_RANK")
    if r.get("timing.official"):
        for key, value in (("warmup", 10), ("min_solves", 10), ("min_time", 60.0)):
            r.equal(f"timing.{key}", value, "--official sets")
