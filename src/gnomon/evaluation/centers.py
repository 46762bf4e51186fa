"""How far the centres of groups are from each other, in data and map, without what few rows add to it by chance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import squared_lengths
from gnomon.data.labels import Classes
from gnomon.evaluation.judged_metrics import rows_with_direction
from gnomon.neighbors.straight import has_straight_rows, straight_rows

__all__ = ["between_centers", "drawn_unlike"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

_FEWEST_ROWS = 5
_MOST_GROUPS = 20
_MOST_ROWS = 2000  # of a group
_LEFT_OUT = 20  # one in so many pairs, at each end, does not count
_STREAM = 0x63656E


def between_centers(pair: Floats, one: Floats, other: Floats) -> tuple[float, tuple[Floats, Floats]]:
    """Return the square of the distance of the centres of two groups, and what each of their rows adds to it.

    The mean square between rows of both, less half the mean squares of different rows within each: in straight lines
    that has no bias from few rows, and is below 0 where they tell less than chance does. It is an energy distance of
    squares [1]_; what rows add is Hoeffding's first projection.

    Parameters
    ----------
    pair : ndarray of shape (m, n), float64
        Distances between rows of the two.
    one, other : ndarray of shape (m, m) and (n, n), float64
        Distances within each.

    References
    ----------
    .. [1] Székely & Rizzo, "Energy statistics: a class of statistics based on distances", J. Stat. Plan. Inference 143,
       2013.
    """
    squares = pair * pair
    own = [np.square(side).sum(axis=1) / (len(side) - 1) for side in (one, other)]
    found = float(squares.mean()) - float(own[0].mean()) / 2.0 - float(own[1].mean()) / 2.0
    return found, (squares.mean(axis=1) - own[0], squares.mean(axis=0) - own[1])


def drawn_unlike(X: Any, Y: Floats, classes: Classes, metric: str, seed: int) -> float | None:
    """Return how much longer a map draws one distance between groups than another that is as long in the data.

    Distances are those between centres, without the squares that so few rows add by chance. Of twenty pairs and more
    one in twenty at each end does not count.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features)
    Y : ndarray of shape (n, n_components), float64
    classes : Classes
        The groups; of more than 20 the largest count, of 5 rows at least, up to 2,000 rows of each.
    metric : str
        Distances in the data, as for `gnomon.evaluation.find_illusions`.
    seed : int
        Chooses rows.

    Returns
    -------
    float >= 1, or None
        1 for a map to scale. None in other metrics, and without three groups of which two pairs at least are apart.
    """
    if not has_straight_rows(metric):
        return None
    codes = np.full(int(X.shape[0]), -1, dtype=np.int64)
    some = rows_with_direction(X, metric)
    codes[some] = classes.codes[some]
    counts = np.bincount(codes[codes >= 0], minlength=len(classes))
    taken = [int(at) for at in np.argsort(-counts, kind="stable")[:_MOST_GROUPS] if counts[at] >= _FEWEST_ROWS]
    if len(taken) < 3:
        return None
    draw = np.random.default_rng((seed, _STREAM))
    rows = [draw.permutation(np.flatnonzero(codes == at))[:_MOST_ROWS] for at in taken]
    squares, noise = _squares([straight_rows(X[one], metric) for one in rows])
    shown, noise_shown = _squares([Y[one] for one in rows])
    pairs = squares > noise  # apart by more than chance
    if np.count_nonzero(pairs) < 2:
        return None
    ratios = np.sort(np.maximum(shown, noise_shown)[pairs] / squares[pairs])
    out = len(ratios) // _LEFT_OUT
    least, most = float(ratios[out]), float(ratios[len(ratios) - 1 - out])
    if most <= 0.0:
        return None  # all groups lie at one place
    return math.sqrt(most / least) if least > 0.0 else math.inf


def _squares(groups: list[Any]) -> tuple[Floats, Floats]:
    """Return squared distances of the centres of all pairs of groups, and what was taken off for their few rows."""
    centers = np.array([np.asarray(one.mean(axis=0), dtype=np.float64).reshape(-1) for one in groups])
    errors = np.array([_error(one, center) for one, center in zip(groups, centers, strict=True)])
    first, second = np.triu_indices(len(groups), 1)
    noise = errors[first] + errors[second]
    return np.square(centers[first] - centers[second]).sum(axis=1) - noise, noise


def _error(rows: Any, center: Floats) -> float:
    """Return the expected square of how far the mean of so many rows is off."""
    n = int(rows.shape[0])
    if isinstance(rows, np.ndarray):
        total = float(np.square(rows - center).sum())
    else:
        total = max(0.0, float(squared_lengths(rows).sum()) - n * float(np.square(center).sum()))
    return total / (n - 1) / n
