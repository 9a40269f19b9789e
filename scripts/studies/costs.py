"""Cost model of a solve: the amount of work on each level, from the program's plan (--dry-run).

One visit of a level costs, on the fullest rank,

    cell * cells + far * cells outside the caches + patch * cuboids
    + exchanges * (exchange + message * further messages + double * doubles)
    + gather + message * further parts, if the level agglomerates ranks

times the threads per core; docs/scaling.md explains each term. The costs are parameters, fitted in
studies/model.py. The amounts are known for any number of ranks.
"""

from __future__ import annotations

import dataclasses

from studies.plan import planned
from studies.study import Study
from toolkit import need

# Kinds of levels: on the CPU, on a GPU, and on a GPU with fused sweeps.
CPU, GPU, PASSES = "cpu", "cuda", "passes"


@dataclasses.dataclass(frozen=True)
class Parameter:
    """The cost of one unit of work."""

    name: str
    unit: str
    of: str
    by_place: bool  # separate values for CPU and GPU
    part: str  # part of a solve, in tables and pictures


PARAMETERS = (
    Parameter("cell", "ns", "cell of the fullest rank, per visit", True, "cells"),
    Parameter("far", "ns", "extra cost of a cell outside the caches", True, "cells"),
    Parameter("patch", "us", "cuboid of a rank's boxes, per visit", True, "launches"),
    Parameter("tail", "us", "coarse levels in one kernel, per visit", False, "launches"),
    Parameter("crossing", "us", "transfer from GPU to CPU and back, per visit", False, "launches"),
    Parameter("exchange", "us", "halo exchange with another rank", True, "messages"),
    Parameter("message", "us", "each further concurrent message", True, "messages"),
    Parameter("double", "ns", "8 bytes of a rank's messages", True, "bytes"),
    Parameter("gather", "us", "agglomeration onto fewer ranks, per visit", False, "messages"),
    Parameter("solve", "us", "begin and end of a solve", True, "launches"),
)
PARTS = ("cells", "launches", "messages", "bytes")
SCALE = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
OF_NAME = {p.name: p for p in PARAMETERS}

# Name and kind of level of a cost: ("cell", "cuda"); the kind is empty unless by_place.
Key = tuple[str, str]
Work = dict[Key, float]


def key_of(name: str, place: str) -> Key:
    return name, place if OF_NAME[name].by_place else ""


@dataclasses.dataclass
class Level:
    """A level in the program's plan. Amounts are those of the fullest rank."""

    dim: int
    ranks: int
    place: str
    passes: bool  # fused sweeps
    cells: int
    patches: int
    bytes: int
    messages: int  # per exchange with edges and corners
    doubles: int
    face_messages: int  # per exchange of faces only
    face_doubles: int
    taken_over: int  # parts that a rank receives in agglomeration

    @property
    def kind(self) -> str:
        """Levels of one kind share the cost of a cell and the exchanges per visit."""
        return PASSES if self.passes else self.place


@dataclasses.dataclass
class Exchanges:
    """Halo exchanges per visit of a level; bytes are counted in exchanges of one ghost layer."""

    faces: float  # exchanges of faces only
    all: float  # exchanges with edges and corners
    face_layers: float
    all_layers: float

    @property
    def count(self) -> float:
        return self.faces + self.all


@dataclasses.dataclass
class Setting:
    """Properties of a run that are not in the plan."""

    threads: int
    ranks_on_host: int
    cores: int | None  # per host; None: each thread has a core
    exchanges: dict[str, Exchanges]  # by kind of level
    tail_cells: int  # one kernel processes all levels up to this size, on the GPU of one rank


def levels_of(study: Study, program: str, ranks: int, boxes: int, **changes) -> list[Level]:
    """The levels of a run, from the program's plan.

    `changes` are options, such as cpu_below=0, that override those of the study.
    """
    options = {key.replace("_", "-"): str(value) for key, value in changes.items()}
    study = dataclasses.replace(study, options={**study.options, **options})

    def made_of(report: dict) -> list[Level]:
        levels: list[Level] = []
        for about in report["levels"]:
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

    return planned(study, program, ranks, boxes, "model", made_of)


def visits_of(n_levels: int, cycle: str, cycles: int) -> list[int]:
    """Visits of each level per solve: an F-cycle runs a V-cycle from every level."""
    return [(level if cycle == "f" else 0) + cycles for level in range(n_levels)]


def work_of(levels: list[Level], visits: list[int], setting: Setting, cache: float) -> list[Work]:
    """Amount of work on each level of a solve, by parameter.

    `cache`: bytes of a host's caches; 0: ignore caches.
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
        # For a kind of level without counts, assume the largest count of the other kinds.
        one = Exchanges(1.0, 0.0, 1.0, 0.0)
        most = max(setting.exchanges.values(), key=lambda e: e.count, default=one)
        each = setting.exchanges.get(level.kind, most)
        add("exchange", n * sharing * each.count * min(level.messages, 1))
        add("message", n * sharing * each.faces * max(level.face_messages - 1, 0))
        add("message", n * sharing * each.all * max(level.messages - 1, 0))
        add("double", n * sharing * each.face_layers * level.face_doubles)
        add("double", n * sharing * each.all_layers * level.doubles)
        # The first level of a solve receives no parts from a finer one.
        parts = level.taken_over if rows else 0
        add("gather", n * sharing * min(parts, 1))
        add("message", n * sharing * max(parts - 1, 0))
        add("crossing", n if before != level.place else 0.0)
        add("solve", 0.0 if rows else sharing)
        before = level.place
        rows.append(work)
    return rows


def add_level(add, level: Level, n: int, setting: Setting, cache: float) -> None:
    """Work of a level without messages. Ranks of a host share its caches; a GPU is not shared."""
    if level.place == GPU:
        add("cell", float(n * level.cells), level.kind)
        add("patch", float(n * level.patches), level.kind)
        return
    ranks = min(setting.ranks_on_host, level.ranks)
    sharing = share(setting, ranks)
    # With cache = 0 all cells would be far, and the fit could not separate the two costs.
    beyond = max(0.0, 1.0 - cache / (ranks * level.bytes)) if cache > 0.0 else 0.0
    add("cell", n * sharing * level.cells)
    add("far", n * sharing * level.cells * beyond)
    add("patch", n * sharing * level.patches)


def is_tail(level: Level, setting: Setting) -> bool:
    small = level.cells <= setting.tail_cells
    return small and level.place == GPU and level.ranks == 1 and level.patches == 1


def share(setting: Setting, ranks: int) -> float:
    """Threads per core, at least one."""
    return max(1.0, ranks * setting.threads / setting.cores) if setting.cores else 1.0


def exchanges_of(counted: list[tuple[Level, float, float]], edges: bool) -> Exchanges:
    """Split the exchanges per visit into those of faces only and those with edges and corners.

    `counted` holds the measured messages and doubles per visit of many levels. An interior rank
    sends 6 messages in an exchange of faces and 26 in one with edges and corners. If the counts
    cannot separate the two, as with two ranks, all exchanges have edges and corners if `edges` is
    true, else none.
    """
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
