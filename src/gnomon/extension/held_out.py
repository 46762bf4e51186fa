"""How unlike a table rows are whose neighbours are found in principal components that were learned from this table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log, squared_lengths
from gnomon._cached import cached_property
from gnomon._printed import ShortRepr
from gnomon.extension.atlas.forward import Novelty, levels_among
from gnomon.linalg import PrincipalComponents, principal_components, project_rows
from gnomon.linalg.table import dense_rows
from gnomon.neighbors import RowSearch, compute_neighbors

__all__ = ["FEWEST_ROWS", "HeldOutRows", "Unlikeness"]

Float64Array = npt.NDArray[np.float64]

FEWEST_ROWS = 3
"""Rows of a table of which one can be held out: two others are neighbours of each other."""
_MOST_HELD_OUT = 1000
_MOST_OTHERS = 4000
_STREAM = 811
_FEWEST_FOR_SCALE, _MOST_FOR_SCALE = 10, 200
_TAIL = 0.1  # share of rows by which the surprise farther out goes on
_ROUNDING = 1e-5  # of the squared length of a row: what float32 leaves of it off components that hold all of it
_LEAST = 1e-12  # score that counts as one of 0
_TOGETHER = 1 << 22  # numbers that are written out at once


class Unlikeness(NamedTuple):
    """How unlike those of a map m rows are.

    Attributes
    ----------
    novelty : ndarray of shape (m,), float64, in [0, 1]
        Share of the rows that they are compared with that are less unlike.
    alike : ndarray of shape (m,), float64, in [0, 1]
        Share of these that are exactly as unlike: 0 but where scores come several times, as of equal rows.
    is_far : ndarray of shape (m,), bool
        Which lie 1.5 times as far out as any of these.
    n_compared : int
        How many these are.
    """

    novelty: Float64Array
    alike: Float64Array
    is_far: npt.NDArray[np.bool_]
    n_compared: int

    def of(self, rows: npt.NDArray[np.int64]) -> Unlikeness:
        """Return that of some of the rows."""
        return Unlikeness(self.novelty[rows], self.alike[rows], self.is_far[rows], self.n_compared)

    def shift(self) -> float:
        """Return the largest difference of the distributions of unlikeness of these rows and of those compared with."""
        levels, counts = np.unique(np.stack([self.novelty, self.alike], axis=1), axis=0, return_counts=True)
        share = np.append(0.0, np.cumsum(counts)) / max(len(self.novelty), 1)
        below, upto = levels[:, 0], levels.sum(axis=1)
        return float(np.max(np.abs(np.concatenate([share[:-1] - below, share[1:] - upto])), initial=0.0))


@dataclass(frozen=True)
class _Surprise:
    """Minus the logarithm of the share of rows with a higher score: exponential beyond nine tenths of them.

    Attributes
    ----------
    scores, values : ndarray of shape (n,), float64
        Ascending scores up to the tail, and the surprises there.
    scale : float > 0
        Of scores in the tail: so much farther out the surprise is greater by 1.
    """

    scores: Float64Array
    values: Float64Array
    scale: float

    @classmethod
    def learn(cls, scores: Float64Array) -> Self:
        """Take the distribution from the scores of some rows, one at least."""
        known = np.sort(np.where(np.isfinite(scores), scores, 0.0))
        n = len(known)
        inside = max(1, n - int(_TAIL * n))
        excess = float((known[inside:] - known[inside - 1]).mean()) if inside < n else 0.0
        values = -log(1.0 - (np.arange(inside) + 0.5) / n)
        # Few rows lie in the tail, and they may lie close together by chance.
        rise = float(known[inside - 1] - known[(inside - 1) // 2]) / max(
            float(values[-1] - values[(inside - 1) // 2]), 1.0
        )
        return cls(known[:inside], values, max(excess, rise) or 1.0)

    def __call__(self, scores: Float64Array) -> Float64Array:
        beyond = np.maximum(scores - self.scores[-1], 0.0) / self.scale
        found: Float64Array = np.interp(scores, self.scores, self.values) + beyond
        return found


@dataclass(frozen=True)
class HeldOutRows(ShortRepr):
    """Rows of a table held out of principal components of the others: a measure for new rows.

    Components follow the rows that they are learned from: new rows lie closer to the center, and farther off the
    components, than these. Compared with rows that the components do not know, they do not.

    Attributes
    ----------
    principal : PrincipalComponents
        Of the other rows.
    columns : ndarray of int64, or None
        Columns of the table that they are made of; None for all.
    coordinates : ndarray of shape (n_others, n_components)
        Of the other rows.
    along, off : Novelty
        Of distances along the components and off them. The widths are those of the other rows, the scores those of the
        rows held out.
    surprise : tuple of three
        Of logarithms of scores: high along the components, high off them and low off them; learned from rows that are
        neither held out nor those that the components are learned from.
    surprises : ndarray of shape (n_held_out,), float64
        Ascending: of the rows held out.
    n_neighbors : int
    """

    principal: PrincipalComponents
    columns: npt.NDArray[np.int64] | None
    coordinates: npt.NDArray[Any]
    along: Novelty
    off: Novelty
    surprise: tuple[_Surprise, _Surprise, _Surprise]
    surprises: Float64Array
    n_neighbors: int

    @classmethod
    def draw(
        cls, X: Any, n_components: int, *, columns: npt.NDArray[np.int64] | None = None, n_neighbors: int = 15
    ) -> Self:
        """Hold out a third of the rows, at most 1000, and learn components of others, at most 4000.

        A tenth of the rows, at most 200, tells how to weigh what lies along the components and off them; of fewer than
        100 rows those of the components do.

        Parameters
        ----------
        X : ndarray or CSR of shape (n_samples, n_features)
            At least 3 rows. They are drawn at random, the same ones each time.
        n_components : int >= 1
            Fewer if there are not enough other rows or columns.
        columns : ndarray of int64, default=None
        n_neighbors : int >= 1, default=15
            Other rows whose distances count, by Euclidean distance along the components.

        Returns
        -------
        HeldOutRows
        """
        n = int(X.shape[0])
        count = min(n // FEWEST_ROWS, _MOST_HELD_OUT)
        rest = min(n // 10, _MOST_FOR_SCALE)
        rest = rest if rest >= _FEWEST_FOR_SCALE else 0
        drawn = np.random.default_rng((0, _STREAM)).permutation(n)[: count + rest + _MOST_OTHERS]
        held_out, scaling, known = (np.sort(some) for some in np.split(drawn, [count, count + rest]))
        others = _some(X[known], columns)
        principal = principal_components(others, min(n_components, others.shape[0] - 1, others.shape[1]))
        coordinates = project_rows(others, principal.mean, principal.components)
        graph = compute_neighbors(coordinates, min(n_neighbors, len(coordinates) - 1))
        lengths = _lengths_off(others, coordinates, principal.mean)
        along = Novelty.learn(graph.indices, graph.distances)
        off = Novelty(lengths, lengths, graph.n_neighbors)
        scores = along.scores, off.score(graph.indices, lengths[:, None])
        made = cls(principal, columns, coordinates, along, off, _surprises(*scores), np.empty(0), graph.n_neighbors)
        if rest:
            made = replace(made, surprise=_surprises(*made._scores(X[scaling])))
        scores = made._scores(X[held_out])
        along, off = (replace(one, scores=np.sort(found)) for one, found in zip((along, off), scores, strict=True))
        return replace(made, along=along, off=off, surprises=np.sort(made._surprise_of(*scores)))

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy is made from."""
        return {name: value for name, value in self.__dict__.items() if name != "search"}

    @cached_property
    def search(self) -> RowSearch:
        """Finds the other rows nearest along the components; made at the first question, and not pickled."""
        return RowSearch.of(self.coordinates, self.n_neighbors)

    def __len__(self) -> int:
        """Return the number of rows held out."""
        return len(self.surprises)

    def compare(self, X_new: Any) -> Unlikeness:
        """Return how unlike the table new rows of it are, ndarray or CSR of shape (m, n_features).

        Of rows of the same distribution the novelty is uniform, up to steps of one row held out.
        """
        if not X_new.shape[0]:
            return Unlikeness(np.empty(0), np.empty(0), np.empty(0, dtype=np.bool_), len(self))
        along, off = self._scores(X_new)
        far = self.along.far(along) | self.off.far(off)
        return Unlikeness(*levels_among(self.surprises, self._surprise_of(along, off)), far, len(self))

    def _scores(self, X: Any) -> tuple[Float64Array, Float64Array]:
        """Return the scores along the components and off them."""
        rows = _some(X, self.columns)
        coordinates = project_rows(rows, self.principal.mean, self.principal.components)
        indices, distances = self.search.find(coordinates)
        lengths = _lengths_off(rows, coordinates, self.principal.mean)
        return self.along.score(indices, distances), self.off.score(indices, lengths[:, None])

    def _surprise_of(self, along: Float64Array, off: Float64Array) -> Float64Array:
        """Return how rare scores are: far out along the components, which counts as much at least as what is off them.

        Off them far out and near count alike. A row far out in one way alone has a high surprise.
        """
        far, above, below = self.surprise
        out, away = _logarithms(along), _logarithms(off)
        lies_out = far(out)
        return lies_out + np.maximum(lies_out, np.maximum(above(away), below(-away)))


def _surprises(along: Float64Array, off: Float64Array) -> tuple[_Surprise, _Surprise, _Surprise]:
    out, away = _logarithms(along), _logarithms(off)
    return _Surprise.learn(out), _Surprise.learn(away), _Surprise.learn(-away)


def _logarithms(scores: Float64Array) -> Float64Array:
    return np.where(np.isfinite(scores), log(np.clip(scores, _LEAST, 1.0 / _LEAST)), np.inf)


def _some(X: Any, columns: npt.NDArray[np.int64] | None) -> Any:
    return X if columns is None else X[:, columns]


def _lengths_off(rows: Any, coordinates: npt.NDArray[Any], center: Float64Array) -> Float64Array:
    """Return the distances of rows from the plane of the components; 0 where rounding may make them."""
    found = np.empty(rows.shape[0])
    step = max(1, _TOGETHER // max(1, len(center)))
    for begin in range(0, len(found), step):
        some = slice(begin, begin + step)
        found[some] = squared_lengths(dense_rows(rows[some]) - center)
    left = found - squared_lengths(coordinates, np.float64)
    return np.sqrt(np.where(left > _ROUNDING * found, left, 0.0))
