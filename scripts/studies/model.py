"""Model of a solve's time: the costs of studies/costs.py, fitted to measured solves.

The fit is a non-negative least-squares fit of relative errors (Lawson and Hanson 1974,
scipy.optimize.nnls): no cost is negative, and fast and slow solves count equally. Solves on 2h and
4h separate large levels from small ones; they have smaller weights. The model is not linear in the
cache size, so the best of a list of sizes is used.
"""

from __future__ import annotations

import dataclasses
import math
import random
import statistics

from studies.costs import CPU, Key, Work, work_of
from studies.samples import Sample
from toolkit import ToolError, UsageError, need

GRID_WEIGHT = (1.0, 0.5, 0.25)
MB = 1e6
CACHES = (0.0, *(base * 2.0**e * MB for e in range(1, 10) for base in (2.0, 3.0)))
N_DRAWS = 200  # draws of the bootstrap
COVERAGE = 0.90  # of a band: from 5 to 95 %
# Residuals are divided by 1 - leverage. This lower bound is for solves that alone determine a cost:
# their residual is 0 and their leverage 1.
LEAST_FREE = 0.05

Cluster = tuple[str, int]  # a point and grid; its samples are the repeats


def total_of(rows: list[Work]) -> Work:
    total: Work = {}
    for row in rows:
        for key, count in row.items():
            total[key] = total.get(key, 0.0) + count
    return total


@dataclasses.dataclass
class Model:
    """Fitted costs in seconds."""

    values: dict[Key, float]
    cache: float  # bytes of the caches of a host

    def missing(self, work: Work) -> list[Key]:
        """Costs that the work needs and the model lacks."""
        return [key for key in work if key not in self.values]

    def seconds(self, work: Work) -> float:
        return sum(self.values[key] * count for key, count in work.items())

    def of_levels(self, sample: Sample) -> list[float]:
        """Seconds on each level. The cost per solve counts on the first level."""
        rows = work_of(sample.levels, sample.visits, sample.setting, self.cache)
        return [self.seconds(work) for work in rows]

    def of_sample(self, sample: Sample) -> float:
        return sum(self.of_levels(sample))


class Fit:
    """The fit to a set of samples, for one cache size. Other times can be fitted with it too."""

    def __init__(self, samples: list[Sample], cache: float):
        self.numpy = need("numpy", "numpy")
        self.nnls = need("scipy.optimize", "scipy").nnls
        self.cache = cache
        works = [total_of(work_of(s.levels, s.visits, s.setting, cache)) for s in samples]
        self.keys = list(dict.fromkeys(key for work in works for key in work))
        self.counts = self.numpy.array([[w.get(k, 0.0) for k in self.keys] for w in works])
        self.weights = self.numpy.array([GRID_WEIGHT[s.grid] for s in samples])

    def model(self, seconds, drawn=1.0) -> tuple[Model, float]:
        """The fitted costs, and the weighted norm of the relative errors.

        `drawn`: times to fit, as multiples of `seconds`; errors are relative to `seconds`
        """
        rows = self.counts * (self.weights / seconds)[:, None]
        # Scale the columns: costs differ by many powers of ten.
        size = rows.max(axis=0)
        values, error = self.nnls(rows / size, self.weights * drawn)
        return Model(dict(zip(self.keys, map(float, values / size))), self.cache), float(error)

    def leverages(self, model: Model, samples: list[Sample]) -> dict[Cluster, float]:
        """Leverage of each point and grid: 0 if the fit ignores its times, 1 if it matches them."""
        rows = self.counts * (self.weights / seconds_of(samples))[:, None]
        # Costs fitted to 0 do not respond to the times.
        rows = rows[:, [model.values[key] > 0.0 for key in self.keys]]
        basis, _ = self.numpy.linalg.qr(rows / rows.max(axis=0))
        found: dict[Cluster, float] = {}
        for s, share in zip(samples, (basis * basis).sum(axis=1)):
            found[s.name, s.grid] = found.get((s.name, s.grid), 0.0) + float(share)
        return found


def seconds_of(samples: list[Sample]):
    return need("numpy", "numpy").array([s.seconds for s in samples])


def fits_of(samples: list[Sample]) -> list[Fit]:
    """One fit per candidate cache size, without sizes that count as the one before.

    Only caches of CPUs matter: ranks share them.
    """
    on_cpu = any(level.place == CPU for s in samples for level in s.levels)
    fits: list[Fit] = []
    for cache in CACHES if on_cpu else (0.0,):
        new = Fit(samples, cache)
        if not fits or new.keys != fits[-1].keys or (new.counts != fits[-1].counts).any():
            fits.append(new)
    return fits


def best_of(fits: list[Fit], seconds, drawn=1.0) -> Model:
    """The model of the given times, with the cache size of the smallest error."""
    return min((each.model(seconds, drawn) for each in fits), key=lambda pair: pair[1])[0]


def fit(samples: list[Sample]) -> Model:
    """Fit the model to the samples. Raises ToolError if they are too few."""
    model = best_of(fits_of(samples), seconds_of(samples))
    n_solves = len({(s.name, s.grid) for s in samples})
    # As many solves as costs would fit exactly, with bands of zero width.
    if n_solves <= len(model.values):
        raise UsageError(
            f"{n_solves} solves (points times grids) are too few for {len(model.values)} costs; "
            "measure more points"
        )
    return model


def names_of(samples: list[Sample]) -> list[str]:
    return list(dict.fromkeys(s.name for s in samples))


@dataclasses.dataclass
class HeldBack:
    """A held-back point: measured, and predicted from other points."""

    name: str
    dof: int
    measured: float
    predicted: float | None  # None: the other points do not determine it

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1.0


def held_back(
    samples: list[Sample], groups: list[list[str]], assumed: dict[Key, float]
) -> list[HeldBack]:
    """Predict the solves on h of each group of points from all points outside the group.

    Costs that those points do not determine are taken from `assumed`.
    """
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
    """Models fitted to random times around those of `model`, for confidence bands.

    A wild cluster bootstrap (Cameron, Gelbach and Miller 2008): each draw fits the times of the
    model plus the residuals, with a random sign per point and grid. Residuals are first divided by
    1 - leverage, which corrects for the fit following each time (MacKinnon and White 1985). Weights
    are those of the measured times: weights of the drawn times would favor short times and bias
    the draws. Each draw selects its cache size.
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
    """Half-width of the band of a fitted value: the distance that contains COVERAGE of the draws.

    A symmetric bootstrap interval (Hall 1988): unlike percentiles of the draws, it always contains
    the value, and its coverage is more accurate.
    """
    distances = sorted(abs(drawn - value) for drawn in draws)
    return distances[math.ceil(COVERAGE * len(distances)) - 1]
