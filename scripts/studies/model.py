"""A model of a solve's time: costs of studies/costs.py, fitted to measured solves.

Non-negative least squares of relative errors (Lawson and Hanson 1974, scipy.optimize.nnls): no
cost is negative, and a fast solve counts as much as a slow one. Solves on 2h and 4h are there to
tell large levels from small ones, and weigh less. What the caches hold is not linear; of a list of
sizes the best is taken.
"""

from __future__ import annotations

import dataclasses
import math
import random
import statistics

from studies.costs import CPU, Key, Work, work_of
from studies.samples import Sample
from toolkit import USAGE, ToolError, need

GRID_WEIGHT = (1.0, 0.5, 0.25)
MB = 1e6
CACHES = (0.0, *(base * 2.0**e * MB for e in range(1, 10) for base in (2.0, 3.0)))
N_DRAWS = 200  # of the bootstrap
COVERAGE = 0.90  # of a band: from 5 to 95 %
# A residual is divided by 1 - leverage, but not by less than this: a solve that alone determines a
# cost leaves no residual.
LEAST_FREE = 0.05

Cluster = tuple[str, int]  # repeats of a point and grid


def total_of(rows: list[Work]) -> Work:
    total: Work = {}
    for row in rows:
        for key, count in row.items():
            total[key] = total.get(key, 0.0) + count
    return total


@dataclasses.dataclass
class Model:
    """Fitted costs, seconds each."""

    values: dict[Key, float]
    cache: float  # bytes that the caches of a host hold

    def missing(self, work: Work) -> list[Key]:
        """Work whose cost nothing measured has told."""
        return [key for key in work if key not in self.values]

    def seconds(self, work: Work) -> float:
        return sum(self.values[key] * count for key, count in work.items())

    def of_levels(self, sample: Sample) -> list[float]:
        """Seconds on each level; what a solve costs beside them is on the first."""
        rows = work_of(sample.levels, sample.visits, sample.setting, self.cache)
        return [self.seconds(work) for work in rows]

    def of_sample(self, sample: Sample) -> float:
        return sum(self.of_levels(sample))


class Fit:
    """The fit to some samples, which may be repeated for other times of the same solves."""

    def __init__(self, samples: list[Sample], cache: float):
        self.numpy = need("numpy", "numpy")
        self.nnls = need("scipy.optimize", "scipy").nnls
        self.cache = cache
        works = [total_of(work_of(s.levels, s.visits, s.setting, cache)) for s in samples]
        self.keys = list(dict.fromkeys(key for work in works for key in work))
        self.counts = self.numpy.array([[w.get(k, 0.0) for k in self.keys] for w in works])
        self.weights = self.numpy.array([GRID_WEIGHT[s.grid] for s in samples])

    def model(self, seconds, drawn=1.0) -> tuple[Model, float]:
        """The costs, and the weighted norm of the relative errors.

        `drawn`: times to fit, as multiples of `seconds`, which the errors stay relative to
        """
        rows = self.counts * (self.weights / seconds)[:, None]
        # Columns of like size: costs differ by many powers of ten.
        size = rows.max(axis=0)
        values, error = self.nnls(rows / size, self.weights * drawn)
        return Model(dict(zip(self.keys, map(float, values / size))), self.cache), float(error)

    def leverages(self, model: Model, samples: list[Sample]) -> dict[Cluster, float]:
        """How far the fit follows the times of each point and grid: 0 not at all, 1 wholly."""
        rows = self.counts * (self.weights / seconds_of(samples))[:, None]
        # A cost that is 0 follows nothing.
        rows = rows[:, [model.values[key] > 0.0 for key in self.keys]]
        basis, _ = self.numpy.linalg.qr(rows / rows.max(axis=0))
        found: dict[Cluster, float] = {}
        for s, share in zip(samples, (basis * basis).sum(axis=1)):
            found[s.name, s.grid] = found.get((s.name, s.grid), 0.0) + float(share)
        return found


def seconds_of(samples: list[Sample]):
    return need("numpy", "numpy").array([s.seconds for s in samples])


def fits_of(samples: list[Sample]) -> list[Fit]:
    """One for each size that the caches may have: only a CPU's are shared and unknown."""
    on_cpu = any(level.place == CPU for s in samples for level in s.levels)
    return [Fit(samples, cache) for cache in (CACHES if on_cpu else (0.0,))]


def best_of(fits: list[Fit], seconds, drawn=1.0) -> Model:
    """The model of these times, with the size of the caches that explains them best."""
    return min((each.model(seconds, drawn) for each in fits), key=lambda pair: pair[1])[0]


def fit(samples: list[Sample]) -> Model:
    """The model of the samples. Raises ToolError where they are too few."""
    model = best_of(fits_of(samples), seconds_of(samples))
    n_solves = len({(s.name, s.grid) for s in samples})
    # As many would fit whatever was measured, with bands of no width.
    if n_solves <= len(model.values):
        raise ToolError(
            f"{n_solves} solves (points times grids) are too few for {len(model.values)} costs; "
            "measure more points",
            USAGE,
        )
    return model


def names_of(samples: list[Sample]) -> list[str]:
    return list(dict.fromkeys(s.name for s in samples))


@dataclasses.dataclass
class HeldBack:
    """A point that was predicted from the others."""

    name: str
    dof: int
    measured: float
    predicted: float | None  # None: the others cannot tell

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1.0


def held_back(
    samples: list[Sample], groups: list[list[str]], assumed: dict[Key, float]
) -> list[HeldBack]:
    """The solves on h of the points of each group, predicted from all points outside of it; from
    what is assumed where these have nothing of a kind."""
    found = []
    for group in groups:
        rest = [s for s in samples if s.name not in group]
        try:
            model = fit(rest) if rest else None
            if model is not None:
                model.values = {**assumed, **model.values}
        except ToolError:
            model = None
        for name in group:
            mine = [s for s in samples if s.name == name and s.grid == 0]
            measured = statistics.median(s.seconds for s in mine)
            predicted = None
            if model is not None:
                work = total_of(
                    work_of(mine[0].levels, mine[0].visits, mine[0].setting, model.cache)
                )
                predicted = None if model.missing(work) else model.seconds(work)
            found.append(HeldBack(name, mine[0].dof, measured, predicted))
    return found


def bootstrap(samples: list[Sample], model: Model) -> list[Model]:
    """Models of times that might have been measured instead, scattered around `model`.

    A wild cluster bootstrap (Cameron, Gelbach and Miller 2008): each draw fits the times of the
    model plus the residuals, with a random sign for each point and grid. Residuals are divided by
    1 - leverage first, which undoes how far the fit follows each time (MacKinnon and White 1985).
    The weights stay those of the measured times: weights that follow the drawn times would favour
    short ones, and the draws would lie to one side of the model. Each draw selects its own size of
    the caches.
    """
    fits, seconds = fits_of(samples), seconds_of(samples)
    numpy = fits[0].numpy
    of_model = numpy.array([model.of_sample(s) for s in samples]) / seconds
    leverages = Fit(samples, model.cache).leverages(model, samples)
    free = numpy.array([max(1.0 - leverages[s.name, s.grid], LEAST_FREE) for s in samples])
    residuals = (1.0 - of_model) / free
    draw, models = random.Random(1), []
    for _ in range(N_DRAWS):
        sign = {cluster: draw.choice((-1.0, 1.0)) for cluster in sorted(leverages)}
        signs = numpy.array([sign[s.name, s.grid] for s in samples])
        models.append(best_of(fits, seconds, of_model + signs * residuals))
    return models


def spread(value: float, draws: list[float]) -> float:
    """Half the width of the band of a fitted value: a share COVERAGE of the draws is as near.

    A symmetric bootstrap interval (Hall 1988): the band is around the value by construction, where
    percentiles of the draws may exclude it, and it covers what is measured more accurately.
    """
    distances = sorted(abs(drawn - value) for drawn in draws)
    return distances[math.ceil(COVERAGE * len(distances)) - 1]
