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
from gnomon.linalg import share, uniform_matrix

__all__ = ["HeldOut", "Learned", "Recipe", "learn"]

_STREAM_HIDDEN = 202
_FEWEST_TESTED, _MOST_TESTED = 200, 400  # rows that lose values for a test
_HIDDEN_AT_RANDOM = 1 / 8  # of the columns of a tested row, where no row has a gap
_PATTERNS = 8  # rows whose gaps are tried on one
_RANKS = (0, 1, 2, 5, 10, 20, 40)
_MOST_OF_COLUMNS = 0.8  # components
_NEIGHBORS = (5, 10, 20)
_FIRST_NEIGHBORS = 10
_CENTRINGS = 3  # rounds of the means of the completed table
_ROUNDS = 3  # of principal components of the completed table
_LEAST_SLOPE = 0.5  # of true values on expected ones; below it the mean of the column is nearer
_PRIOR_VALUES = 2.0  # hidden values that miss by the variance, counted with those of each column
_HALVINGS = 40  # of an interval that holds a root
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
    trust : ndarray of shape (n_features,), float64 in [0, 1], or None
        What is expected in the end is multiplied by: less than 1 for columns of which the others tell nothing, so that
        they come near the center. None is 1 for all.
    """

    center: Float64Array
    spread: Float64Array
    variance: Float64Array
    model: LowRankNormal | None = None
    n_neighbors: int = 0
    first: float = 0.0
    weight: float = 0.0
    trust: Float64Array | None = None

    def rows(self, X: npt.NDArray[np.floating]) -> Rows:
        """Return rows, NaN where an entry is missing, in the units of the recipe."""
        known = ~np.isnan(X)
        return Rows(np.where(known, self.units(X), np.float32(0.0)), known.astype(np.float32))

    def units(self, X: npt.NDArray[np.floating]) -> Float32Array:
        """Return rows in the units of the recipe."""
        found: Float32Array = ((X - self.center) / self.spread).astype(np.float32)
        return found

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
        found = self.weight * linear + (1.0 - self.weight) * near
        return np.asarray(found if self.trust is None else self.trust * found, dtype=np.float32)

    def moved(self, by: Float64Array) -> Recipe:
        """Return a recipe without a model whose center lies elsewhere, by so much in its units."""
        return replace(self, center=self.center + self.spread * by)


@dataclass(frozen=True)
class HeldOut:
    """What became of known values that were hidden and expected from the rest.

    Attributes
    ----------
    n_values : int
        How many there were.
    error : float >= 0
        Their squared error as share of their squared deviation from the mean of the column; NaN without any. Too low
        for columns whose variance is that of a few very large values, which are seldom among those hidden: by a fifth
        for lognormal ones.
    kept : float in [0, 1]
        Share of their 15 nearest neighbours in the true table that rows which lack a value have in the completed one,
        counted on a table that stands in for the true one; NaN without any. For tables whose truth was known within
        0.03 of the true share in the mean, up to 0.1 below it where errors vary much from row to row or go together.
    """

    n_values: int
    error: float
    kept: float = np.nan


def _hide(known: BoolArray, seed: int) -> tuple[npt.NDArray[np.intp], BoolArray]:
    """Draw rows, and hide in each what one of eight other rows lacks.

    It is the one that hides most, at most a quarter of the values known, else the one that hides fewest. A fifth of the
    rows is drawn, at least 200 and at most 400; a row of which every other hides nothing or all keeps its values.

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
    known : ndarray of shape (n_tested, n_features), float32
        What tested rows knew, 1 or 0.
    hidden : ndarray of shape (n_tested, n_features), bool
        What was hidden of them.
    errors : ndarray of shape (n_tested, n_features), float32
        True values less what was expected where one was hidden, else 0.
    """

    recipe: Recipe
    held_out: HeldOut
    linear: Float32Array
    complete: Float32Array
    known: Float32Array
    hidden: BoolArray
    errors: Float32Array


def _hide_at_random(together: npt.NDArray[np.intp], n: int, seed: int) -> tuple[npt.NDArray[np.intp], BoolArray]:
    """Draw rows of a table without gaps, and hide one in eight columns of each, one at least.

    Parameters
    ----------
    together : ndarray of shape (n_features,), int
        The column that each feature was made of: its features are missing together. Two columns at least.
    n : int
        Rows of the table.
    seed : int in [0, 2**63)

    Returns
    -------
    rows, hidden
        As of `_hide`.
    """
    n_columns = int(together.max()) + 1
    n_tested = min(n, max(_FEWEST_TESTED, min(n // 5, _MOST_TESTED)))
    draws = uniform_matrix(seed, _STREAM_HIDDEN, (n, 1 + n_columns))
    rows = np.argsort(draws[:, 0], kind="stable")[:n_tested]
    some = draws[rows, 1:]
    bound = np.maximum(some.min(axis=1), _HIDDEN_AT_RANDOM)
    return rows, (some <= bound[:, None])[:, together]


def learn(blank: Recipe, donors: Rows, seed: int, *, together: npt.NDArray[np.intp] | None = None) -> Learned:
    """Choose a recipe by hidden values of the donors, then learn it from all that they know.

    Parameters
    ----------
    blank : Recipe
        With the units alone.
    donors : Rows
        One missing entry at least, or none with `together`.
    seed : int in [0, 2**63)
    together : ndarray of shape (n_features,), int, or None, default=None
        The column that each feature was made of, where no donor has a gap that could be put on another.
    """
    if together is None:
        tested, hidden = _hide(donors.known > 0, seed)
    else:
        tested, hidden = _hide_at_random(together, len(donors.known), seed)
    left = donors.without(tested, hidden)
    near, found, near_left = _near_all(blank, donors, left, tested)
    trial = _Trial(left, near_left, donors.values, tested, hidden)
    rank, rounds, linear = trial.choose_model(seed)
    recipe, errors = trial.choose_weights(blank, linear)
    model, linear = _fit_model(donors, near, rank, rounds, seed)
    if rank:
        by, model, linear, donors = _centred(donors, rank, linear, seed)
        recipe, near = recipe.moved(by), (near - by * found).astype(np.float32)
    complete = donors.completed(recipe.first * linear + (1.0 - recipe.first) * near)
    recipe = replace(recipe, model=model)
    return Learned(recipe, trial.held_out(errors), linear, complete, left.known[tested], hidden, errors)


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

    def held_out(self, errors: Float32Array) -> HeldOut:
        """Return how well the hidden values were expected, whose errors are given."""
        variance = _square(self.truth)
        return HeldOut(len(self.truth), _square(errors[self.hidden]) / variance if variance > 0.0 else np.nan)

    def choose_weights(self, blank: Recipe, linear: Float32Array) -> tuple[Recipe, Float32Array]:
        """Return the recipe, still without a model, that expects best what was hidden, and its errors.

        The errors of one half of the rows are those of the weights and neighbours chosen by the other half, and so are
        the expected values by which the trust in these is found.
        """
        tested, hidden = self.tested, self.hidden
        errors = np.zeros(hidden.shape, dtype=np.float32)
        if not len(self.truth):
            return replace(blank, n_neighbors=_FIRST_NEIGHBORS), errors
        by_model, truth = linear[tested], self.values[tested]
        first, _ = _weigh(by_model[hidden], self.near[tested][hidden], self.truth)
        complete = self.left.completed(first * linear + (1.0 - first) * self.near)
        means = mean_of_nearest(squared_distances(complete[tested], complete), _NEIGHBORS, self.left)

        def choose(rows: slice) -> tuple[int, float]:
            some = hidden[rows]
            weighed = [_weigh(by_model[rows][some], mean[rows][some], truth[rows][some]) for mean in means]
            best = min(range(len(means)), key=lambda k: weighed[k][1])
            return best, weighed[best][0]

        def expected(k: int, share_of_model: float) -> Float32Array:
            found: Float32Array = share_of_model * by_model + np.float32(1.0 - share_of_model) * means[k]
            return found

        best, weight = choose(slice(None))
        crossed = np.zeros(hidden.shape, dtype=np.float32)
        for rows, others in ((slice(0, None, 2), slice(1, None, 2)), (slice(1, None, 2), slice(0, None, 2))):
            k, share_of_model = choose(others) if hidden[others].any() else (best, weight)
            some = expected(k, share_of_model)
            crossed[rows] = some[rows]
            trust = _trust(some[others], truth[others], hidden[others], blank.variance)
            errors[rows] = np.where(hidden[rows], truth[rows] - (1.0 if trust is None else trust) * some[rows], 0.0)
        least = _LEAST_SLOPE if _square(errors[hidden]) < _square(self.truth) else 1.0
        trust = _trust(crossed, truth, hidden, blank.variance, least)
        return replace(blank, n_neighbors=_NEIGHBORS[best], first=first, weight=weight, trust=trust), errors


def _fit_model(rows: Rows, near: Float32Array, rank: int, rounds: int, seed: int) -> tuple[LowRankNormal, Float32Array]:
    linear = near
    for _ in range(rounds):
        model = LowRankNormal.fit(rows.completed(linear), [rank], seed=seed)[0]
        linear = _expected_all(model, rows)
    return model, linear


def _centred(
    donors: Rows, rank: int, linear: Float32Array, seed: int
) -> tuple[Float64Array, LowRankNormal, Float32Array, Rows]:
    """Return a model around the means of the completed columns: where these are, it, what it expects, and the rows.

    The means of what is known lie too low where large values are missing more often than small ones.
    """
    by = np.zeros(donors.values.shape[1])
    rows = donors
    for _ in range(_CENTRINGS):
        step = rows.completed(linear).mean(axis=0, dtype=np.float64)
        by += step
        rows = Rows(((donors.values - by) * donors.known).astype(np.float32), donors.known)
        model = LowRankNormal.fit(rows.completed((linear - step).astype(np.float32)), [rank], seed=seed)[0]
        linear = _expected_all(model, rows)
    return by, model, linear, rows


def _near_all(
    recipe: Recipe, donors: Rows, left: Rows, tested: npt.NDArray[np.intp]
) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Return the mean of the nearest donors of each donor, how much of it they make against the center, and the same
    mean with what is left to the tested ones.
    """
    variance = recipe.variance.astype(np.float32)
    distances = all_shared_distances(donors, variance)

    def means(rows: Rows) -> Float32Array:
        def work(block: slice) -> Float32Array:
            return mean_of_nearest(distances[block], [_FIRST_NEIGHBORS], rows)[0]

        return np.concatenate(share(work, blocks(len(distances))))

    near, found = means(donors), means(Rows(donors.known, donors.known))
    distances[tested] = shared_distances(left[tested], left, variance)
    distances[:, tested] = distances[tested].T
    return near, found, means(left)


def _expected_all(model: LowRankNormal, rows: Rows) -> Float32Array:
    return np.concatenate(share(lambda block: model.expected(rows[block]), blocks(len(rows.values))))


def _square(differences: npt.NDArray[np.floating]) -> float:
    return float(np.mean(differences.astype(np.float64) ** 2)) if len(differences) else 0.0


def _trust(
    expected: Float32Array,
    truth: Float32Array,
    hidden: BoolArray,
    variance: Float64Array,
    least: float = _LEAST_SLOPE,
) -> Float64Array | None:
    """Return by what to multiply what is expected of each column; None if by 1 throughout.

    Where the slope of the true values on the expected ones is below one half, these are farther off than the mean: they
    are multiplied by the slope. Else they stay as they are, since to draw them to the mean moves rows together. Slopes
    of columns of which few values were hidden are drawn to the mean of all slopes, by how much more they differ than
    chance gives. All are then multiplied by 1 less the share of their square that their own error makes, 0 at least: a
    slope that few rows leave uncertain would lead farther off than the mean.

    Parameters
    ----------
    expected, truth : ndarray of shape (n_tested, n_features), float32
    hidden : ndarray of shape (n_tested, n_features), bool
    variance : ndarray of shape (n_features,), float64
        Of the columns.
    least : float, default=0.5
        Slope from which on values stay as they are: 1 where those of the whole table are farther off than the mean.

    References
    ----------
    .. [1] Paule & Mandel, "Consensus values and weighting factors", J. Res. Natl. Bur. Stand. 87, 1982.
    .. [2] James & Stein, "Estimation with quadratic loss", Proc. 4th Berkeley Symposium 1, 1961.
    """
    e, t = (np.where(hidden, one, 0.0).astype(np.float64) for one in (expected, truth))
    squares, count = (e * e).sum(axis=0), hidden.sum(axis=0)
    some = np.flatnonzero((squares > 0.0) & (variance > 0.0))
    if not len(some):
        return None
    slopes = (e * t).sum(axis=0)[some] / squares[some]
    left = ((t[:, some] - slopes * e[:, some]) ** 2 * hidden[:, some]).sum(axis=0)
    chance = (left + _PRIOR_VALUES * variance[some]) / (count[some] * squares[some])  # their squared errors
    between, mean = _spread_beyond_chance(slopes, chance)
    drawn = np.full(len(variance), mean)
    drawn[some] = (between * slopes + chance * mean) / (between + chance)
    error = np.full(len(variance), 1.0 / float((1.0 / (between + chance)).sum()))  # squared, of the mean of slopes
    error[some] = chance / (between + chance) * (between + chance / (between + chance) * error[some])
    drawn *= np.maximum(1.0 - error / np.maximum(drawn**2, error), 0.0)
    trust = np.where(drawn < least, np.clip(drawn, 0.0, 1.0), 1.0)
    return None if (trust == 1.0).all() else trust


def _spread_beyond_chance(values: Float64Array, chance: Float64Array) -> tuple[float, float]:
    """Return the variance of true values of which some with errors are known, and their mean.

    The variance v for which the squared deviations in units of ``chance + v`` have the sum that chance gives, as many
    as values less one; 0 if that is less for v = 0.
    """

    def deviate(between: float) -> tuple[float, float]:
        weights = 1.0 / (chance + between)
        mean = float((weights * values).sum() / weights.sum())
        return float((weights * (values - mean) ** 2).sum()), mean

    low, high = 0.0, float(np.ptp(values)) ** 2
    if deviate(0.0)[0] <= len(values) - 1:
        return 0.0, deviate(0.0)[1]
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if deviate(middle)[0] > len(values) - 1 else (low, middle)
    return high, deviate(high)[1]


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
