"""What scripts/tune may change: groups of options, each with the values to try."""

from __future__ import annotations

import itertools

from toolkit import UsageError

# Options of a candidate in the order of --help, as (name, value).
Options = tuple[tuple[str, str], ...]

JACOBI_WEIGHTS = ("0.6666666666666666", "0.857")  # 6/7: best damping of 7 points in 3D
TOLERANCES = ("1e-2", "1e-3", "1e-4", "1e-5")


def smoothers() -> list[dict[str, str]]:
    """Smoothers with numbers of steps around their defaults."""
    found = []

    def add(smoother: str, smooths, **more) -> None:
        for count, *values in itertools.product(smooths, *more.values()):
            found.append({"smoother": smoother, "smooths": str(count), **dict(zip(more, values))})

    add("gsrb", (1, 2, 3, 4), omega=("1", "1.15"))
    add("chebyshev", (1,), degree=("2", "3", "4", "5", "6", "8"))
    add("chebyshev", (2,), degree=("2", "3", "4"))
    add("symgs", (1, 2), omega=("1",))
    add("ssor", (1, 2), omega=("1.15", "1.3"))
    add("jacobi", (2, 3, 4, 6), omega=JACOBI_WEIGHTS)
    add("l1jacobi", (3, 4, 6), omega=("1",))
    return found


def cycles() -> list[dict[str, str]]:
    """One F-cycle, or cycles to a tolerance; the tolerance sets their number."""
    found = [{"cycle": "f"}]
    for cycle, krylov, rtol in itertools.product("fv", ("none", "cg"), TOLERANCES):
        found.append({"cycle": cycle, "krylov": krylov, "rtol": rtol})
    return found


def solver_of(value: dict[str, str]) -> tuple | None:
    """Cycle and Krylov method of a value with a tolerance. A smaller tolerance takes longer."""
    return (value.get("cycle"), value.get("krylov")) if "rtol" in value else None


def one(name: str, *values: str) -> list[dict[str, str]]:
    return [{name: value} for value in values]


GROUPS = {
    "smoother": smoothers(),
    "precision": one("precision", "double", "mixed"),
    "cycle": cycles(),
    "steps-per-pass": one("steps-per-pass", "auto", "2", "1"),
    "coarsest": one("coarsest", "1", "2", "4", "8", "16"),
    "bottom": one("bottom", "bicgstab", "smoother", "direct"),
    "agglomerate-below": one("agglomerate-below", "0", "512", "4096", "32768", "262144", "2097152"),
    "cpu-below": one("cpu-below", "0", "512", "4096", "32768", "262144"),
}


class Space:
    """The groups to tune for one command.

    `given` are the values in use without further options (the deck of --print-config), `fixed` the
    options that the command sets. Fixed options keep their values.
    """

    def __init__(self, names: list[str], given: dict[str, str], fixed: set[str]):
        self.groups: dict[str, list[dict[str, str]]] = {}
        for name in names:
            values: list[dict[str, str]] = [{}]
            for value in GROUPS[name]:
                value = {k: v for k, v in value.items() if k not in fixed}
                # --krylov requires --rtol, which no candidate sets here.
                if "rtol" in fixed and "rtol" not in given:
                    value.pop("krylov", None)
                as_given = all(same(given.get(k), v) for k, v in value.items())
                if not as_given and value not in values:
                    values.append(value)
            if len(values) > 1:
                self.groups[name] = values
        if not self.groups:
            raise UsageError("the command sets all options that could be tuned; remove one")
        every = [key for name in GROUPS for value in GROUPS[name] for key in value]
        self.order = list(dict.fromkeys(every))

    def options(self, choice: dict[str, dict[str, str]]) -> Options:
        """Options of a choice of one value per group."""
        every = {key: text for value in choice.values() for key, text in value.items()}
        return tuple(sorted(every.items(), key=lambda item: self.order.index(item[0])))


def same(a: str | None, b: str) -> bool:
    """True if two values of an option are equal, as words or as numbers."""
    try:
        return a == b or (a is not None and float(a) == float(b))
    except ValueError:
        return False


def words_of(options: Options) -> list[str]:
    return [f"--{name}={value}" for name, value in options]


def shown(options: Options) -> str:
    return " ".join(words_of(options)) or "as given"
