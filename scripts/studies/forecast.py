"""Forecasts of a fitted model: runs on more ranks, and with other options."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from studies.costs import (
    CPU,
    GPU,
    OF_NAME,
    PARTS,
    PASSES,
    SCALE,
    Key,
    Level,
    Setting,
    Work,
    key_of,
    levels_of,
    visits_of,
    work_of,
)
from studies.model import Model, spread, total_of
from studies.plan import boxes_of
from studies.samples import Machine
from studies.study import Study
from toolkit import UsageError, plural, whole_number

# Concurrent runs of the program for plans: each spends most of its time in MPI_Init.
N_ASKED = 4
# Forecasts for more than this many times the measured ranks need --extrapolate.
MOST_TIMES = 10
# Sides of cubes of ranks, which share a grid evenly.
SIDES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


@dataclasses.dataclass
class Change:
    """A change of the run for a what-if forecast."""

    text: str
    options: dict[str, int]
    messages: float = 1.0  # factor for the number of messages


@dataclasses.dataclass
class Forecast:
    """Forecast of a solve on h."""

    ranks: int
    dim: int
    seconds: float
    low: float
    high: float
    parts: dict[str, float]  # seconds of each part
    levels: list[tuple[Level, float]]

    @property
    def dof(self) -> int:
        return self.dim**3


def name_of(key: Key) -> str:
    name, place = key
    return f"{name}.{place}" if place else name


def parse_assumption(text: str) -> tuple[list[Key], float]:
    """Parse --assume: NAME=VALUE or NAME.PLACE=VALUE, such as message=5us; returns seconds."""
    cost, _, value = text.partition("=")
    name, _, place = cost.partition(".")
    digits = value.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        seconds = float(digits) / SCALE[value[len(digits) :]]
    except (ValueError, KeyError):
        seconds = -1.0
    known = name in OF_NAME and place in ("", CPU, GPU, PASSES)
    if not known or not 0.0 <= seconds < 1e6 or (place and not OF_NAME[name].by_place):
        raise UsageError(
            f"--assume={text} must be NAME=VALUE with a unit, such as message=5us or "
            f"cell.cpu=30ns; names are {', '.join(OF_NAME)}, units s, ms, us and ns"
        )
    places = [place] if place else [CPU, GPU, PASSES]
    return list(dict.fromkeys(key_of(name, p) for p in places)), seconds


def assume(model: Model, assumed: list[tuple[list[Key], float]]) -> Model:
    values = dict(model.values)
    for keys, seconds in assumed:
        values.update(dict.fromkeys(keys, seconds))
    return Model(values, model.cache)


class Forecaster:
    """Predicts runs like those of a study on any number of ranks."""

    def __init__(self, study: Study, program: str, machine: Machine, model: Model):
        self.study, self.program, self.machine, self.model = study, program, machine, model
        self.draws: list[Model] = []
        self.errors = [0.0]

    def expect_errors(self, draws: list[Model], errors: list[float]) -> None:
        """Set the inputs of the bands: models of bootstrap(), and relative errors of the model."""
        self.draws, self.errors = draws, [e for e in errors if e > -1.0] or [0.0]

    def nodes_up_to(self, most_ranks: int, exactly: bool) -> list[int]:
        """Numbers of nodes to predict.

        Those of a weak study end at `most_ranks` ranks if `exactly`, else at the last cube below.
        """
        each, first = self.study.ranks_per_node, self.study.nodes[0]
        if self.study.kind == "weak":
            # One node is the reference of the efficiencies.
            wanted = [1] if each <= most_ranks else []
            wanted += [side**3 // each for side in SIDES if side**3 <= most_ranks]
            wanted += [most_ranks // each] if exactly else []
        else:
            total = self.study.boxes_per_rank * self.study.ranks(first)
            wanted = [first * 2**e for e in range(40)]
            wanted = [n for n in wanted if self.study.ranks(n) <= min(most_ranks, total)]
        wanted = sorted({n for n in wanted if n >= 1})
        if not wanted:
            least = each if self.study.kind == "weak" else self.study.ranks(first)
            raise UsageError(f"--to={most_ranks}: the forecast starts at {least} ranks")
        return wanted

    def work(self, nodes: int, change: Change) -> tuple[list[Level], Callable[[float], list[Work]]]:
        """The levels, and a function that returns their work for a given cache size in bytes."""
        ranks = self.study.ranks(nodes)
        options = {"cpu_below": self.machine.cpu_below, **change.options}
        boxes = boxes_of(self.study, nodes)
        levels = levels_of(self.study, self.program, ranks, boxes, **options)
        setting = Setting(
            threads=self.study.threads,
            ranks_on_host=min(ranks, self.study.ranks_per_node),
            cores=self.machine.cores,
            exchanges=self.machine.exchanges,
            tail_cells=self.machine.tail_cells,
        )
        visits = visits_of(len(levels), self.machine.cycle, self.machine.cycles)

        def rows_of(cache: float) -> list[Work]:
            rows = work_of(levels, visits, setting, cache)
            for row in rows:
                for key in row:
                    row[key] *= change.messages if key[0] in ("exchange", "message") else 1.0
            return rows

        return levels, rows_of

    def predict(self, nodes: int, change: Change | None = None) -> Forecast | list[Key]:
        """The forecast, or the costs that it needs but the model lacks."""
        levels, rows_of = self.work(nodes, change or Change("", {}))
        rows = rows_of(self.model.cache)
        total = total_of(rows)
        missing = self.model.missing(total)
        if missing:
            return missing
        seconds = self.model.seconds(total)
        totals = {cache: total_of(rows_of(cache)) for cache in {m.cache for m in self.draws}}
        draw = random.Random(1)
        likely = [
            m.seconds({k: c for k, c in totals[m.cache].items() if k in m.values})
            * (1.0 + draw.choice(self.errors)) ** draw.choice((-1, 1))
            for m in self.draws
        ]
        if not seconds > 0.0:
            raise UsageError("all costs are 0, so there is no forecast; assume fewer")
        width = spread(seconds, likely) if likely else 0.0
        parts = dict.fromkeys(PARTS, 0.0)
        for key, count in total.items():
            parts[OF_NAME[key[0]].part] += self.model.values[key] * count
        return Forecast(
            ranks=self.study.ranks(nodes),
            dim=levels[0].dim,
            seconds=seconds,
            # The same factor on both sides, so that times stay positive.
            low=seconds / (1.0 + width / seconds),
            high=seconds * (1.0 + width / seconds),
            parts=parts,
            levels=[(level, self.model.seconds(row)) for level, row in zip(levels, rows)],
        )

    def conditions(self) -> str:
        """Describe the machine and mapping that the forecast assumes."""
        each, cores = self.study.ranks_per_node, self.machine.cores
        text = f"{self.study.kind} scaling, {plural(each, 'rank')} per host"
        if self.study.gpus_per_rank:
            return f"{text}, one GPU per rank"
        sharing = cores is not None and each * self.study.threads > cores
        text += f", {plural(self.study.threads, 'thread')} per rank"
        return text + (f" on {plural(cores, 'core')}" if sharing else ", one core per thread")

    def grid_of(self, nodes: int) -> int:
        """Cells per side. It differs if the ranks do not divide the boxes."""
        boxes = boxes_of(self.study, nodes)
        return levels_of(self.study, self.program, self.study.ranks(nodes), boxes)[0].dim

    def curve(self, most_ranks: int, exactly: bool = True) -> list[Forecast]:
        found = []
        wanted = self.nodes_up_to(most_ranks, exactly)
        with ThreadPoolExecutor(N_ASKED) as pool:
            if self.study.kind == "strong":
                dims = list(pool.map(self.grid_of, wanted))
                wanted = [n for n, dim in zip(wanted, dims) if dim == dims[0]]
            predicted = list(pool.map(self.predict, wanted))
        for one in predicted:
            if not isinstance(one, Forecast):
                if not self.machine.exchanges and ("exchange" in {name for name, _ in one}):
                    raise UsageError(
                        "no run has messages between ranks, so their costs cannot be fitted; add "
                        "points with more than one rank"
                    )
                raise UsageError(
                    f"the runs do not determine {', '.join(map(name_of, one))}; add points that "
                    f"do, or set it, for example --assume={name_of(one[0])}=5us"
                )
            found.append(one)
        return found

    def changes(self) -> list[Change]:
        """Changes for what-if forecasts: options, and fewer messages in a future version."""
        on_gpu = self.study.gpus_per_rank > 0
        usual = 65536 if on_gpu else 4096
        option = self.study.options.get("agglomerate-below", "auto")
        usual = max(whole_number(option), 0) if option.isdigit() else usual
        found = [Change("gather only if boxes run out", {"agglomerate_below": 0})]
        for cells in (512, 4096, 65536, 1048576):
            if cells != usual:
                text = f"gather below {cells} cells per rank, not {usual}"
                found.append(Change(text, {"agglomerate_below": cells}))
        found.append(Change("half as many messages, the same bytes", {}, messages=0.5))
        if on_gpu:
            found += [
                Change(f"levels below {cells} cells on the CPU", {"cpu_below": cells})
                for cells in (4096, 32768, 262144)
            ]
        return found
