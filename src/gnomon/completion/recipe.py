"""How missing entries are expected, chosen by known ones that are hidden for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._cached import cached_property
from gnomon.completion.predictors import (
    LowRankNormal,
    Rows,
    all_shared_distances,
    blocks,
    mean_of_nearest,
    shared_distances,
    squared_distances,
)
from gnomon.linalg import first_columns, share, uniform_matrix

__all__ = ["KEPT_NEIGHBORS", "HeldOut", "Learned", "Recipe", "learn"]

KEPT_NEIGHBORS = 15
"""Neighbours of which is measured how many stay."""

_STREAM_HIDDEN = 202
_FEWEST_TESTED, _MOST_TESTED = 100, 400  # rows that lose values for a test
_PATTERNS = 8  # rows whose gaps are tried on one
_RANKS = (0, 1, 2, 5, 10, 20, 40)
_MOST_OF_COLUMNS = 0.8  # components
_NEIGHBORS = (5, 10, 20)
_FIRST_NEIGHBORS = 10
_ROUNDS = 3  # of principal components of the completed table
_ENOUGH = 0.98  # of the error without them: components and rounds that gain less are left out

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Recipe:
    """How missing entries are expected from known ones and from rows called donors.

    Attributes
    ----------
    center, spread : ndarray of shape (n_features,), float64
        The table is computed with as ``(X - center) / spread``.
    variance : ndarray of shape (n_features,), float64
        Of the known values, in these units.
    model : LowRankNormal or None
        Linear relations between the columns; None if the center is filled in everywhere.
    n_neighbors : int
        Donors whose mean is taken in the end.
    first, weight : float in [0, 1]
        Share of the model against that of the donors, in the first completion and in the end.
    """

    center: Float64Array
    spread: Float64Array
    variance: Float64Array
    model: LowRankNormal | None = None
    n_neighbors: int = 0
    first: float = 0.0
    weight: float = 0.0

    def rows(self, X: npt.NDArray[np.floating]) -> Rows:
        """Return rows, NaN where an entry is missing, in the units of the recipe."""
        known = ~np.isnan(X)
        values = np.where(known, (X - self.center) / self.spread, 0.0)
        return Rows(values.astype(np.float32), known.astype(np.float32))

    def near(self, rows: Rows, donors: Rows) -> Float32Array:
        """Return the mean of the donors that are nearest in the features shared, with the expected rest."""
        distances = shared_distances(rows, donors, self.variance.astype(np.float32))
        return mean_of_nearest(distances, [_FIRST_NEIGHBORS], donors)[0]

    def begin(self, rows: Rows, donors: Rows) -> tuple[Float32Array, Float32Array]:
        """Return what the model expects, and rows completed by it and by the donors in its first share."""
        assert self.model is not None
        linear = self.model.expected(rows)
        return linear, rows.completed(self.first * linear + (1.0 - self.first) * self.near(rows, donors))

    def end(self, linear: Float32Array, row: Float32Array, donors: Rows, complete: Float32Array) -> Float32Array:
        """Return what is expected of each entry, given what `begin` made of the rows and of the donors."""
        near = mean_of_nearest(squared_distances(row, complete), [self.n_neighbors], donors)[0]
        return np.asarray(self.weight * linear + (1.0 - self.weight) * near, dtype=np.float32)


@dataclass(frozen=True)
class HeldOut:
    """What became of known values that were hidden and expected from the rest.

    Attributes
    ----------
    n_values : int
        How many there were.
    error : float >= 0
        Their squared error as share of their squared deviation from the mean of the column; NaN without any.
    kept : float in [0, 1]
        Share of the nearest neighbours that the rows kept; NaN without any.
    """

    n_values: int
    error: float
    kept: float


def _hide(known: BoolArray, seed: int) -> tuple[npt.NDArray[np.intp], BoolArray]:
    """Draw rows, and hide in each what one of eight other rows lacks.

    It is the one that hides most, at most a quarter of the values known, else the one that hides fewest. A fifth of the
    rows is drawn, at most 400 and at least 100; a row of which every other hides nothing or all keeps its values.

    Returns
    -------
    rows : ndarray of shape (n_tested,), int
    hidden : ndarray of shape (n_tested, n_features), bool
    """
    n = len(known)
    draws = uniform_matrix(seed, _STREAM_HIDDEN, (n, 1 + _PATTERNS))
    rows = np.argsort(draws[:, 0], kind="stable")[: min(n, max(_FEWEST_TESTED, min(n // 5, _MOST_TESTED)))]
    gaps = np.flatnonzero(~known.all(axis=1))
    others = gaps[(draws[rows, 1:] * len(gaps)).astype(np.intp)]
    hidden, n_known = np.zeros((len(rows), known.shape[1]), dtype=np.bool_), known[rows].sum(axis=1)
    best = np.full(len(rows), -known.shape[1])
    for column in range(_PATTERNS):
        lost = known[rows] & ~known[others[:, column]]
        count = lost.sum(axis=1)
        rank = np.where(4 * count <= n_known, count, -count)
        better = (count > 0) & (count < n_known) & (rank > best)
        hidden[better], best[better] = lost[better], rank[better]
    return rows, hidden


@dataclass(frozen=True, eq=False)
class Learned:
    """What `learn` returns: a recipe, how well it does, and the donors on the way.

    Attributes
    ----------
    recipe : Recipe
    held_out : HeldOut
    linear, complete : ndarray of shape (n_donors, n_features), float32
        What `Recipe.begin` returns of the donors.
    """

    recipe: Recipe
    held_out: HeldOut
    linear: Float32Array
    complete: Float32Array


def learn(blank: Recipe, donors: Rows, seed: int) -> Learned:
    """Choose a recipe by hidden values of the donors, then learn it from all that they know.

    Parameters
    ----------
    blank : Recipe
        With the units alone.
    donors : Rows
        One missing entry at least.
    seed : int in [0, 2**63)
    """
    tested, hidden = _hide(donors.known > 0, seed)
    left = donors.without(tested, hidden)
    near, near_left = _near_all(blank, donors, left, tested)
    trial = _Trial(left, near_left, donors.values, tested, hidden)
    rank, rounds, linear = trial.choose_model(seed)
    recipe, held_out = trial.choose_weights(blank, linear)
    model, linear = _fit_model(donors, near, rank, rounds, seed)
    complete = donors.completed(recipe.first * linear + (1.0 - recipe.first) * near)
    return Learned(replace(recipe, model=model), held_out, linear, complete)


@dataclass(frozen=True, eq=False)
class _Trial:
    """Donors of which some have lost known values.

    Attributes
    ----------
    left : Rows
        What all donors know then.
    near : ndarray of shape (n_donors, n_features), float32
        Means of the donors that are nearest in what is left.
    values : ndarray of shape (n_donors, n_features), float32
        With the values that are hidden.
    tested : ndarray of shape (n_tested,), int
        The donors that have lost values.
    hidden : ndarray of shape (n_tested, n_features), bool
        Which ones.
    """

    left: Rows
    near: Float32Array
    values: Float32Array
    tested: npt.NDArray[np.intp]
    hidden: BoolArray

    @cached_property
    def truth(self) -> Float32Array:
        return self.values[self.tested][self.hidden]

    def error(self, expected: Float32Array) -> float:
        """Return the squared error of what is expected of the tested rows."""
        return _square(expected[self.hidden] - self.truth)

    def choose_model(self, seed: int) -> tuple[int, int, Float32Array]:
        """Return the number of components, how often they are found anew, and what such a model expects."""
        most = max(1, min(int(_MOST_OF_COLUMNS * self.near.shape[1]), len(self.near) - 1))
        ranks = [rank for rank in _RANKS if rank <= most]
        linear, least, rank, rounds = self.near, np.inf, 0, 1
        for number in range(1, _ROUNDS + 1):
            models = LowRankNormal.fit(self.left.completed(linear), ranks, seed=seed)
            errors = [self.error(model.expected(self.left[self.tested])) for model in models]
            best = int(np.argmin(errors)) if min(errors) < _ENOUGH * errors[0] else 0
            if not errors[best] < _ENOUGH * least:
                break
            least, rank, rounds = errors[best], ranks[best], number
            linear = _expected_all(models[best], self.left)
        return rank, rounds, linear

    def choose_weights(self, blank: Recipe, linear: Float32Array) -> tuple[Recipe, HeldOut]:
        """Return the recipe, still without a model, that expects best what was hidden, and how well it does."""
        tested, hidden, left = self.tested, self.hidden, self.left[self.tested]
        if not len(self.truth):
            return replace(blank, n_neighbors=_FIRST_NEIGHBORS), HeldOut(0, np.nan, np.nan)
        by_model = linear[tested]
        first, _ = _weigh(by_model[hidden], self.near[tested][hidden], self.truth)
        complete = self.left.completed(first * linear + (1.0 - first) * self.near)
        means = mean_of_nearest(squared_distances(complete[tested], complete), _NEIGHBORS, self.left)
        weighed = [_weigh(by_model[hidden], mean[hidden], self.truth) for mean in means]
        best = min(range(len(means)), key=lambda k: weighed[k][1])
        weight = weighed[best][0]
        expected = weight * by_model + (1.0 - weight) * means[best]
        completed, whole = left.completed(expected), left.completed(expected)
        whole[hidden] = self.truth
        kept = _nearest(whole, complete, tested) & _nearest(completed, complete, tested)
        variance = _square(self.truth)
        error = self.error(expected) / variance if variance > 0.0 else np.nan
        found = replace(blank, n_neighbors=_NEIGHBORS[best], first=first, weight=weight)
        return found, HeldOut(len(self.truth), error, float(kept.sum(axis=1).mean()) / _neighbors_of(len(complete)))


def _fit_model(rows: Rows, near: Float32Array, rank: int, rounds: int, seed: int) -> tuple[LowRankNormal, Float32Array]:
    linear = near
    for _ in range(rounds):
        model = LowRankNormal.fit(rows.completed(linear), [rank], seed=seed)[0]
        linear = _expected_all(model, rows)
    return model, linear


def _near_all(
    recipe: Recipe, donors: Rows, left: Rows, tested: npt.NDArray[np.intp]
) -> tuple[Float32Array, Float32Array]:
    """Return the mean of the nearest donors of each donor, and the same with what is left to the tested ones."""
    variance = recipe.variance.astype(np.float32)
    distances = all_shared_distances(donors, variance)

    def means(rows: Rows) -> Float32Array:
        def work(block: slice) -> Float32Array:
            return mean_of_nearest(distances[block], [_FIRST_NEIGHBORS], rows)[0]

        return np.concatenate(share(work, blocks(len(distances))))

    near = means(donors)
    distances[tested] = shared_distances(left[tested], left, variance)
    distances[:, tested] = distances[tested].T
    return near, means(left)


def _expected_all(model: LowRankNormal, rows: Rows) -> Float32Array:
    return np.concatenate(share(lambda block: model.expected(rows[block]), blocks(len(rows.values))))


def _square(differences: npt.NDArray[np.floating]) -> float:
    return float(np.mean(differences.astype(np.float64) ** 2)) if len(differences) else 0.0


def _weigh(first: Float32Array, second: Float32Array, truth: Float32Array) -> tuple[float, float]:
    """Return the weight in [0, 1] of the first of two predictions, and the squared error left.

    The truth is fitted by both with coefficients >= 0, whose ratio is the weight. Their sum is 1 only afterwards: what
    predicts little would else be given weight for shrinking the other toward the mean, which moves rows together.
    """
    columns = np.stack([first, second], axis=1).astype(np.float64)
    coefficients, _ = scipy.optimize.nnls(columns, truth.astype(np.float64))
    total = float(coefficients.sum())
    error = float(np.mean((columns @ coefficients - truth) ** 2))
    return (float(coefficients[0]) / total if total > 0.0 else 0.0), error


def _neighbors_of(n_rows: int) -> int:
    return min(KEPT_NEIGHBORS, n_rows - 1)


def _nearest(rows: Float32Array, complete: Float32Array, own: npt.NDArray[np.intp]) -> BoolArray:
    """Return which donors are the 15 nearest of rows that are donors themselves."""
    k = _neighbors_of(len(complete))
    distances = squared_distances(rows, complete)
    distances[np.arange(len(own)), own] = np.inf
    found = np.zeros(distances.shape, dtype=np.bool_)
    np.put_along_axis(found, first_columns(distances, k), True, axis=1)
    return found
