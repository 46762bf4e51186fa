"""Rows of columns of few values, such as answers to a questionnaire, laid along what the columns have in common.

Between two answers no row lies, and at the ends of a scale many are equal: so the densities of such a table have peaks
and gaps where what is asked for has none. Rows are therefore placed by their scores, the principal components of these
columns, and scores by what a normal cloud has that is cut to the same values with the same covariance: along each
component this cloud is made normal again [1]_, and what is done to it is done to the rows. Groups that the columns tell
apart leave a gap in the scores that the cut cloud has not.

.. [1] Cario & Nelson, "Modeling and generating random vectors with arbitrary marginal distributions", 1997: the
   correlations that a normal cloud must have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import exp, product
from gnomon.linalg import find_categories, inner_products, most_likely_levels, symmetric_eigen

__all__ = ["Lattice"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

_FEW = 12  # values of a column at most, such as the answers from 0 to 10
_FREQUENT = 0.75  # of the rows that have one of so few values, each in two rows at least; others were filled in
_FEWEST = 4  # columns of few values: up to three make gaps that are told by their names
_LARGEST = 1.0 / 3.0  # of the variance of a table: a column with more makes gaps of its own
_MOST = 2.0 / 3.0  # of the variance, at least, that columns of few values hold
_COLUMNS = 512  # of few values at most
_STREAM = 6  # of the seed
_TABLES = 39  # cut clouds of as many rows, of whose scores the quantiles are taken
_TERMS = 40  # of the series of a covariance in powers of the correlation
_HIGHEST = 0.95  # correlation of the cloud: columns that go together more closely part rows as groups do
_HALVINGS = 20  # of the range of a correlation
_TAIL = 0.002  # of the scores of the cloud on each side, beyond which they are continued as a line
_QUANTILES = 500  # between the tails
_CHANCE = 4.0  # times the mean of a squared difference of groups by chance


@dataclass(frozen=True)
class _Variable:
    """A column of few values, or a category, as steps of one normal column.

    Attributes
    ----------
    columns : ndarray of int
    levels : ndarray of shape (n_levels, n_columns), float64
        What the columns hold in each level, from the lowest to the highest.
    scores : ndarray of shape (n_levels,), float64
        Rising numbers in place of the levels.
    level : ndarray of shape (n_rows,), int
    """

    columns: Ints
    levels: Floats
    scores: Floats
    level: Ints

    @classmethod
    def of_column(cls, X: Floats, column: int) -> Self | None:
        """Return a column of few values, None of others."""
        values, level, counts = np.unique(X[:, column], return_inverse=True, return_counts=True)
        repeated = counts[counts > 1]
        few = len(values) <= _FEW or (2 <= len(repeated) <= _FEW and repeated.sum() >= _FREQUENT * len(X))
        return cls(np.array([column]), values[:, None], values, level) if few and len(values) > 1 else None

    @classmethod
    def of_category(cls, X: Floats, columns: Ints) -> Self | None:
        """Return a category of few levels, None of others; its levels are in no order yet."""
        level = most_likely_levels(X[:, columns])
        known = np.unique(level)
        if not 1 < len(known) <= _FEW:
            return None
        level = np.searchsorted(known, level)
        held = np.stack([X[level == one][:, columns].mean(axis=0) for one in range(len(known))])
        return cls(columns, held, np.arange(float(len(known))), level)

    def ordered(self, axis: Floats) -> Self:
        """Return it with its levels in the order of their places along an axis of all columns."""
        if len(self.columns) == 1:
            return self
        order = np.argsort(product(self.levels, axis[self.columns][:, None])[:, 0], kind="stable")
        return type(self)(self.columns, self.levels[order], self.scores, np.argsort(order)[self.level])

    @property
    def thresholds(self) -> Floats:
        """Between which values of a normal variable the levels lie."""
        shares = np.cumsum(np.bincount(self.level, minlength=len(self.levels)))[:-1] / len(self.level)
        return np.asarray(scipy.special.ndtri(shares))

    def terms(self) -> Floats:
        """Return the coefficients of its scores in Hermite polynomials of a normal variable, orthonormal ones.

        The covariance of two such variables is the sum of the products of their coefficients, times powers of the
        correlation of the normal variables.
        """
        thresholds, steps = self.thresholds, np.diff(self.scores)
        heights = steps * exp(-0.5 * np.square(thresholds)) / math.sqrt(2.0 * math.pi)
        found, before, polynomial = np.zeros(_TERMS), np.zeros_like(thresholds), np.ones_like(thresholds)
        for m in range(1, _TERMS + 1):
            found[m - 1] = float((heights * polynomial).sum()) / math.sqrt(m)
            polynomial, before = (thresholds * polynomial - math.sqrt(m - 1.0) * before) / math.sqrt(m), polynomial
        return found


@dataclass(frozen=True)
class Lattice:
    """The columns of few values of a table that mostly has such.

    Attributes
    ----------
    variables : list of _Variable
    columns : ndarray of int
        Of all variables.
    axes : ndarray of shape (n_columns, n_axes), float64
        Orthonormal: the principal components of these columns with more variance than noise alone would give them.
    widths : ndarray of shape (n_axes,), float64
        How far scores are spread along them: over one step of the score.
    """

    variables: list[_Variable]
    columns: Ints
    axes: Floats
    widths: Floats

    @classmethod
    def of(cls, X: Floats) -> Self | None:
        """Find it in the centred rows of a table; None where few columns have few values, or they hold little of it."""
        variances = np.square(X).mean(axis=0)
        free, variables = np.ones(X.shape[1], dtype=np.bool_), list[_Variable]()
        for columns in find_categories([X]):
            free[columns] = False
            found = _Variable.of_category(X, columns)
            variables += [] if found is None else [found]
        for column in np.flatnonzero(free & (variances > 0.0)):
            found = _Variable.of_column(X, int(column))
            variables += [] if found is None else [found]
        held = [float(variances[one.columns].sum()) for one in variables]
        variables = [one for one, own in zip(variables, held, strict=True) if own <= _LARGEST * variances.sum()]
        if not _FEWEST <= len(variables) <= _COLUMNS:
            return None
        columns = np.concatenate([one.columns for one in variables])
        if variances[columns].sum() < _MOST * variances.sum():
            return None
        scatter = inner_products(X[:, columns]) / len(X)
        values, axes = symmetric_eigen(scatter)
        filled = sum(max(1, len(one.columns) - 1) for one in variables)
        edge = float(values.sum()) / filled * (1.0 + math.sqrt(filled / len(X))) ** 2  # of noise alone
        axes = axes[:, : max(1, int(np.count_nonzero(values > edge)))]
        along = np.zeros(X.shape[1])
        along[columns] = axes[:, 0]
        steps = np.concatenate([np.ptp(one.levels, axis=0) / max(1, _n_steps(one)) for one in variables])
        widths = (np.square(axes) * steps[:, None]).sum(axis=0) * np.sqrt((axes**4).sum(axis=0))
        return cls([one.ordered(along) for one in variables], columns, axes, widths)

    def laid(self, X: Floats, seed: int) -> Floats:
        """Return rows along the axes, and all other columns of the table as they are.

        Scores are spread over one step, by draws that the seed fixes, and placed by the quantiles that a cut cloud has.
        """
        scores = self._scores(X[:, self.columns], np.random.default_rng((seed, _STREAM)))
        root = self._root()
        clouds = [self._cut_cloud(len(X), root, (seed, _STREAM, number)) for number in range(_TABLES)]
        placed = np.column_stack(
            [
                _by_quantiles(scores[:, m], np.concatenate([cloud[:, m] for cloud in clouds]))
                for m in range(scores.shape[1])
            ]
        )
        laid = np.column_stack([placed * scores.std(axis=0), np.delete(X, self.columns, axis=1)])
        found: Floats = laid - laid.mean(axis=0)
        return found

    def shows(self, X: Floats, a: Mask, b: Mask) -> bool:
        """Return whether what two groups differ in is mostly kept: along the axes, or in the other columns.

        Or is no more than chance: four times what it is on average in what is not kept.
        """
        apart = X[a].mean(axis=0) - X[b].mean(axis=0)
        along = product(apart[None, self.columns], self.axes)[0]
        left = float(np.square(apart[self.columns]).sum() - np.square(along).sum())
        kept = float(np.square(apart).sum()) - left
        columns = X[:, self.columns]
        unshared = float(columns.var(axis=0).sum() - product(columns, self.axes).var(axis=0).sum())
        chance = unshared * (1.0 / np.count_nonzero(a) + 1.0 / np.count_nonzero(b))
        return left <= max(kept, _CHANCE * chance)

    @property
    def told(self) -> str:
        """What rows are judged by, in words."""
        n_axes = self.axes.shape[1]
        along = "the component" if n_axes == 1 else f"the {n_axes} components"
        return f"{len(self.variables)} columns of few values by {along} they share"

    def _scores(self, columns: Floats, draw: np.random.Generator) -> Floats:
        """Return the scores of rows, spread over a step."""
        along = product(columns, self.axes)
        return along + (draw.uniform(size=along.shape) - 0.5) * self.widths

    def _cut_cloud(self, n: int, root: Floats, stream: tuple[int, int, int]) -> Floats:
        """Return the scores of rows of a normal cloud that is cut to the values of the columns."""
        draw = np.random.default_rng(stream)
        normal = product(draw.normal(size=(n, len(self.variables))), root)
        held = [one.levels[np.searchsorted(one.thresholds, normal[:, at])] for at, one in enumerate(self.variables)]
        return self._scores(np.column_stack(held), draw)

    def _root(self) -> Floats:
        """Return what makes independent normal columns have the correlations that the cut ones come from."""
        values, vectors = symmetric_eigen(self.correlations())
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        root /= np.sqrt(np.square(root).sum(axis=1))[:, None]
        return np.ascontiguousarray(root.T)

    def correlations(self) -> Floats:
        """Return the correlations of normal columns that have the covariances of the variables once they are cut."""
        scores = np.column_stack([one.scores[one.level] for one in self.variables])
        scores -= scores.mean(axis=0)
        covariances = inner_products(scores) / len(scores)
        terms = np.column_stack([one.terms() for one in self.variables])
        low, high = (np.full_like(covariances, end) for end in (-_HIGHEST, _HIGHEST))
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            told = np.zeros_like(middle)
            for m in range(_TERMS - 1, -1, -1):
                told += terms[m][:, None] * terms[m]
                told *= middle
            below = told < covariances
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found: Floats = 0.5 * (low + high)
        np.fill_diagonal(found, 1.0)
        return found


def _n_steps(one: _Variable) -> int:
    """Return in how many steps the columns of a variable go from the least to the largest value."""
    return len(one.scores) - 1 if len(one.columns) == 1 else 1


def _by_quantiles(scores: Floats, cloud: Floats) -> Floats:
    """Return the normal values at which scores lie in the distribution of those of a cloud, continued as lines."""
    shares = np.linspace(_TAIL, 1.0 - _TAIL, _QUANTILES)
    places, values = np.quantile(cloud, shares), scipy.special.ndtri(shares)
    found: Floats = np.interp(scores, places, values)
    for end, inner, beyond in (
        (0, 4, np.minimum(scores - places[0], 0.0)),
        (-1, -5, np.maximum(scores - places[-1], 0.0)),
    ):
        width = abs(float(places[inner] - places[end]))
        found += beyond * (abs(float(values[inner] - values[end])) / width if width > 0.0 else 0.0)
    return found
