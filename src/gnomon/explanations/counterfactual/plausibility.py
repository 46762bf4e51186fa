"""Whether a changed row is like the data and like the rows of its target, whatever the map makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._printed import ShortRepr
from gnomon.explanations.counterfactual.metric import RowMetric
from gnomon.linalg.table import evenly_spaced, float_rows
from gnomon.neighbors import RowSearch, without_own

__all__ = ["Plausibility"]

_ASKED = 5  # nearest rows of the target, and nearest others
_MEMBERS = 1000  # rows of the target that set the bounds, at most
_QUANTILE = 0.9  # of them, less confirmed by their neighbours than a changed row must be
_NOVELTY = 0.95
_ROUNDING = 1e-6
Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Neighbors:
    """The nearest rows of the target and the nearest others, in the metric of the map.

    Attributes
    ----------
    n_asked : int
        Of either.
    inside, outside : RowSearch
        Over the rows of the target, and over all others but the row that is changed.
    """

    n_asked: int
    inside: RowSearch
    outside: RowSearch

    def measure(self, values: Any, own: Rows | None = None) -> tuple[Array, Array]:
        """Return shares of the target among the nearest rows, and the ratio of mean distances to it and to others.

        `own` are the numbers of rows that belong to the target themselves, within it: they do not find themselves.
        """
        found = self.inside.find(values)
        near = found[1][:, :-1] if own is None else without_own(*found, own)[1]
        far = self.outside.find(values)[1]
        nearest = np.argsort(np.concatenate([near, far], axis=1), axis=1, kind="stable")[:, : self.n_asked]
        target, other = (part.mean(axis=1, dtype=np.float64) for part in (near, far))
        ratio = target / np.maximum(other, np.finfo(float).tiny)
        return (nearest < self.n_asked).mean(axis=1), ratio


@dataclass(frozen=True)
class Plausibility(ShortRepr):
    """What is asked of a changed row besides its place in the map.

    A row is confirmed by its neighbours if the target's share among its nearest rows, and its distance to the target
    over that to other rows (the inverse of the trust score), are both at least as good as at nine tenths of the
    target's own rows: the smallest change lies at these bounds, and lower ones let in what only looks like the target.
    It is on the data if its novelty is at most 0.95.

    Attributes
    ----------
    members : ndarray of int64
        Rows of the target.
    novelty : callable, or None
        Then novelty is not asked.
    metric : RowMetric
        In which rows are near.
    neighbors : _Neighbors, or None
        Then neighbours are not asked: distances to new rows are not known, or the target or the rest is a single row.
    least_share, most_ratio : float
        Bounds.

    References
    ----------
    .. [1] Jiang, Kim, Guan & Gupta, "To trust or not to trust a classifier", NeurIPS 2018.
    """

    members: Rows
    novelty: Callable[[Any], Any] | None
    metric: RowMetric
    neighbors: _Neighbors | None = None
    least_share: float = 0.0
    most_ratio: float = np.inf

    @classmethod
    def of(
        cls, X: Any, i: int, wanted: npt.NDArray[np.bool_], metric: RowMetric, novelty: Callable[[Any], Any] | None
    ) -> Plausibility:
        """Find out how well the rows of a target are confirmed by their own neighbours.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            The data, standardised as they are measured.
        i : int
            The row that is changed.
        wanted : ndarray of shape (n_samples,), bool
            Rows of the target.
        metric : RowMetric
        novelty : callable, or None
        """
        rest = ~wanted
        rest[i] = False
        members, others = np.flatnonzero(wanted), np.flatnonzero(rest)
        asked = min(_ASKED, len(members) - 1, len(others))
        plain = cls(members, novelty, metric)
        if metric.name == "precomputed" or asked < 1:
            return plain
        searches = (
            RowSearch.of(float_rows(X[rows]), k, metric=metric.name, method="exact")
            for rows, k in ((members, asked + 1), (others, asked))
        )
        neighbors = _Neighbors(asked, *searches)
        some = evenly_spaced(len(members), _MEMBERS)
        shares, ratios = neighbors.measure(float_rows(X[members[some]]), some)
        return replace(
            plain,
            neighbors=neighbors,
            least_share=float(np.quantile(shares, _QUANTILE)) - _ROUNDING,
            most_ratio=float(np.quantile(ratios, 1.0 - _QUANTILE)) * (1.0 + _ROUNDING),
        )

    def without_ratio(self) -> Plausibility:
        """Return the same without a bound on the ratio of distances.

        That ratio also says how near a row lies to the middle of the data in features that have nothing to do with the
        target; shares of the nearest rows and novelty do not.
        """
        return replace(self, most_ratio=np.inf)

    def as_good_as(self, values: Any) -> Plausibility:
        """Return the same with a bound on the ratio of distances that a row keeps too."""
        if self.neighbors is None:
            return self
        ratio = float(self.neighbors.measure(self.metric.standardised(values))[1].max())
        return replace(self, most_ratio=max(self.most_ratio, ratio * (1.0 + _ROUNDING)))

    def shares(self, values: Any) -> Array:
        """Return the share of the target among the nearest rows; NaN if neighbours are not asked."""
        if self.neighbors is None:
            return np.full(values.shape[0], np.nan)
        return self.neighbors.measure(self.metric.standardised(values))[0]

    def holds(self, values: Any, rows: npt.NDArray[Any] | None = None) -> npt.NDArray[np.bool_]:
        """Say which changed rows are plausible; or, of rows of the target, given their numbers, which themselves are.

        Parameters
        ----------
        values : array or CSR matrix of shape (n, n_features)
            In the form of the data.
        rows : ndarray of shape (n,), default=None
        """
        good = np.ones(values.shape[0], dtype=np.bool_)
        if self.neighbors is not None:
            own = None if rows is None else np.searchsorted(self.members, rows)
            shares, ratios = self.neighbors.measure(self.metric.standardised(values), own)
            good = (shares >= self.least_share) & (ratios <= self.most_ratio)
        if self.novelty is not None and good.any():
            good[good] = ~(np.asarray(self.novelty(values[good]), dtype=np.float64).ravel() > _NOVELTY)
        return good
