"""What a solve's time is made of: counts of work for each level, from the program's own plan.

A visit of a level costs

    cell * cells + far * cells beyond the caches + patch * cuboids
    + exchanges * (exchange + message * further messages + double * doubles)
    + gather + message * further parts, if it takes over from other ranks

of the fullest rank, times the threads that share a core; docs/scaling.md explains each. The names
are parameters, which studies/model.py fits; the counts are known for any number of ranks.
"""

from __future__ import annotations

import dataclasses
import json

from studies.plan import ask
from studies.study import Study
from toolkit import USAGE, ToolError, need

# Where a level lives; on GPUs, large levels whose smoother makes several steps a pass are a kind.
CPU, GPU, PASSES = "cpu", "cuda", "passes"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A cost of one unit of work."""

    name: str
    unit: str
    of: str
    by_place: bool  # another value on the CPU than on a GPU
    part: str  # of a solve, in tables and pictures


PARAMETERS = (
    Parameter("cell", "ns", "a cell of the fullest rank, each visit", True, "cells"),
    Parameter("far", "ns", "a cell that the caches do not hold, beside that", True, "cells"),
    Parameter("patch", "us", "a cuboid of a rank's boxes, each visit", True, "launches"),
    Parameter(
        "tail", "us", "the levels that one kernel does together, each visit", False, "launches"
    ),
    Parameter("crossing", "us", "from a GPU to the CPU and back, each visit", False, "launches"),
    Parameter("exchange", "us", "a halo exchange with another rank", True, "messages"),
    Parameter("message", "us", "each further message at once", True, "messages"),
    Parameter("double", "ns", "8 bytes of a rank's messages", True, "bytes"),
    Parameter("gather", "us", "when a rank takes over from others, each visit", False, "messages"),
    Parameter("solve", "us", "begin and end of a solve", True, "launches"),
)
PARTS = ("cells", "launches", "messages", "bytes")
SCALE = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
OF_NAME = {p.name: p for p in PARAMETERS}

# What a parameter of a place is called: ("cell", "cuda"); ("gather", "") has none.
Key = tuple[str, str]
Work = dict[Key, float]


def key_of(name: str, place: str) -> Key:
    return name, place if OF_NAME[name].by_place else ""


@dataclasses.dataclass
class Level:
    """What the plan says of a level: of the rank that has most."""

    dim: int
    ranks: int
    place: str
    passes: bool  # several steps of the smoother in one pass over memory
    cells: int
    patches: int
    bytes: int
    messages: int  # of an exchange with edges and corners
    doubles: int
    face_messages: int  # of one without
    face_doubles: int
    taken_over: int  # parts that a rank here receives from ranks that do not go on

    @property
    def kind(self) -> str:
        """Levels of a kind have the same costs of a cell, and exchange as often."""
        return PASSES if self.passes else self.place


@dataclasses.dataclass
class Exchanges:
    """Halo exchanges of a visit to a level, and their bytes as so many exchanges of one layer."""

    faces: float  # of faces alone
    all: float  # with edges and corners
    face_layers: float
    all_layers: float

    @property
    def count(self) -> float:
        return self.faces + self.all


@dataclasses.dataclass
class Setting:
    """What a plan does not know of a run."""

    threads: int
    ranks_on_host: int
    cores: int | None  # of a host; None: each thread has its own
    exchanges: dict[str, Exchanges]  # by kind of level
    tail_cells: int  # levels of as many, on one rank's GPU, are done by one kernel


def levels_of(study: Study, program: str, ranks: int, boxes: int, **changes) -> list[Level]:
    """The levels of a run, as the program would make them.

    `changes` are options, such as cpu_below=0, that take the place of the study's.
    """
    options = {key.replace("_", "-"): str(value) for key, value in changes.items()}
    words = dataclasses.replace(study, options={**study.options, **options}).option_words()
    words += ["--dry-run", f"--ranks={ranks}", "--json=-"]
    said = ask(program, [*words, str(study.log2_box_dim), str(boxes)])
    try:
        levels: list[Level] = []
        for about in json.loads(said)["levels"]:
            before = levels[-1].ranks if levels else about["ranks"]
            levels.append(
                Level(
                    dim=about["dim"][0],
                    ranks=about["ranks"],
                    place=GPU if about["backend"] == GPU else CPU,
                    passes=about["steps_per_pass"] > 1,
                    cells=about["boxes_per_rank_max"] * about["box_dim"] ** 3,
                    patches=about["patches_per_rank_max"],
                    bytes=about["bytes_per_rank"]["max"],
                    messages=about["messages_per_exchange_max"],
                    doubles=about["message_doubles_per_exchange_max"],
                    face_messages=about["messages_per_face_exchange_max"],
                    face_doubles=about["message_doubles_per_face_exchange_max"],
                    taken_over=-(-before // about["ranks"]) - 1,
                )
            )
        return levels
    except (ValueError, KeyError, IndexError, TypeError, ZeroDivisionError) as error:
        raise ToolError(
            f"{program} --dry-run --json does not say what a model needs ({error}); is it older "
            "than these scripts?",
            USAGE,
        ) from None


def visits_of(n_levels: int, cycle: str, cycles: int) -> list[int]:
    """How often a solve comes to each level: an F-cycle has a V-cycle from every level up."""
    return [(level if cycle == "f" else 0) + cycles for level in range(n_levels)]


def work_of(levels: list[Level], visits: list[int], setting: Setting, cache: float) -> list[Work]:
    """What each level of a solve is multiplied with, for each parameter that takes part.

    `cache`: bytes that the caches of a host hold; 0: no matter.
    """
    sharing = share(setting, setting.ranks_on_host)
    in_tail, before, rows = False, levels[0].place, []
    for level, n in zip(levels, visits):
        work: Work = {}

        def add(name: str, count: float, place: str = level.place, work: Work = work) -> None:
            if count > 0.0:
                work[key_of(name, place)] = work.get(key_of(name, place), 0.0) + count

        was_in_tail, in_tail = in_tail, is_tail(level, setting)
        if in_tail:
            add("tail", 0.0 if was_in_tail else n)
        else:
            add_level(add, level, n, setting, cache)
        # Where none was counted, as often as elsewhere.
        one = Exchanges(1.0, 0.0, 1.0, 0.0)
        most = max(setting.exchanges.values(), key=lambda e: e.count, default=one)
        each = setting.exchanges.get(level.kind, most)
        add("exchange", n * sharing * each.count * min(level.messages, 1))
        add("message", n * sharing * each.faces * max(level.face_messages - 1, 0))
        add("message", n * sharing * each.all * max(level.messages - 1, 0))
        add("double", n * sharing * each.face_layers * level.face_doubles)
        add("double", n * sharing * each.all_layers * level.doubles)
        # Nothing is handed to the level on which a solve begins.
        parts = level.taken_over if rows else 0
        add("gather", n * sharing * min(parts, 1))
        add("message", n * sharing * max(parts - 1, 0))
        add("crossing", n if before != level.place else 0.0)
        add("solve", 0.0 if rows else sharing)
        before = level.place
        rows.append(work)
    return rows


def add_level(add, level: Level, n: int, setting: Setting, cache: float) -> None:
    """The work of a level on its own rank. Cells of a host share its caches; a GPU has its own."""
    if level.place == GPU:
        add("cell", float(n * level.cells), level.kind)
        add("patch", float(n * level.patches), level.kind)
        return
    ranks = min(setting.ranks_on_host, level.ranks)
    sharing = share(setting, ranks)
    # With caches of nothing all cells would be far ones, and none of them near.
    beyond = max(0.0, 1.0 - cache / (ranks * level.bytes)) if cache > 0.0 else 0.0
    add("cell", n * sharing * level.cells)
    add("far", n * sharing * level.cells * beyond)
    add("patch", n * sharing * level.patches)


def is_tail(level: Level, setting: Setting) -> bool:
    small = level.cells <= setting.tail_cells
    return small and level.place == GPU and level.ranks == 1 and level.patches == 1


def share(setting: Setting, ranks: int) -> float:
    """Threads on a core, at least one."""
    return max(1.0, ranks * setting.threads / setting.cores) if setting.cores else 1.0


def exchanges_of(counted: list[tuple[Level, float, float]], edges: bool) -> Exchanges:
    """From the messages and doubles of a visit to each of many levels: how many exchanges are of
    faces alone, and how many have edges and corners. A rank in the midst sends 6 messages in one
    kind and 26 in the other; where nothing tells them apart, as with two ranks, all are of the
    second kind if `edges`, else of the first."""
    numpy = need("numpy", "numpy")
    nnls = need("scipy.optimize", "scipy").nnls

    def split(faces: list[int], everything: list[int], seen: list[float]) -> tuple[float, float]:
        rows = numpy.array([everything, faces] if edges else [faces, everything], dtype=float).T
        found, _ = nnls(rows / numpy.array(seen)[:, None], numpy.ones(len(seen)))
        first, second = map(float, found)
        return (second, first) if edges else (first, second)

    levels, messages, doubles = zip(*counted)
    return Exchanges(
        *split([x.face_messages for x in levels], [x.messages for x in levels], messages),
        *split([x.face_doubles for x in levels], [x.doubles for x in levels], doubles),
    )
