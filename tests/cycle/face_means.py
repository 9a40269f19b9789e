"""What cycle_domains.py and cycle_solids.py share."""

from __future__ import annotations

import numpy as np


class Failure(Exception):
    pass


def face_means(beta: np.ndarray, w: np.ndarray, axis: int, periodic: bool) -> np.ndarray:
    """Betas on all faces normal to an axis, from those of cells of widths w: the harmonic mean over
    the two half cells at a face; at a wall, that of one cell."""
    beta = np.moveaxis(beta, axis, -1)
    with np.errstate(divide="ignore"):
        resistance = w / beta
    low = np.concatenate([resistance[..., -1:], resistance], -1)
    high = np.concatenate([resistance, resistance[..., :1]], -1)
    length = np.concatenate([w[-1:], w]) + np.concatenate([w, w[:1]])
    mean = length / (low + high)
    if not periodic:
        mean[..., 0], mean[..., -1] = beta[..., 0], beta[..., -1]
    return np.moveaxis(mean, -1, axis)
