"""Fits of any rows from neighbours among reference rows in memory, for tables that do not fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._arithmetic import weighted_sums
from gnomon._cached import cached_property
from gnomon._run import current_run
from gnomon._threads import in_order, single_threaded_blas
from gnomon.data.stored import StoredTable
from gnomon.explanations.explanation import Explanation
from gnomon.explanations.rows import dense_rows_of
from gnomon.geometry import LocalJacobians, local_jacobians
from gnomon.geometry.check import has_place
from gnomon.linalg import dense_rows, product
from gnomon.neighbors import NeighborGraph, RowSearch

__all__ = ["ReferenceFits", "RowEffects", "stacked"]

_NUMBERS = 1 << 19  # of the neighbours' features, held at a time by a thread
_BESIDE = 1.5  # times the bytes of a block that is set beside the reference rows
_COPIES, _ROW = 3.0, 200.0  # of the reference rows in their search, and bytes of each beside them
_ROUNDS = 8.0  # times the axes of the reference rows that their averages take
_NEIGHBOR = 48.0  # bytes of a neighbour of a row of a block: as it is found, compared and fitted
_FEWEST = 16  # rows at a time, however many features they have

Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class RowEffects:
    """What is said of n rows.

    Attributes
    ----------
    r2 : ndarray of shape (n,), float32, in [0, 1]
        As `Explanation.r2`; NaN where `mask` is False.
    mask : ndarray of shape (n,), bool
        Whether anything can be said.
    top, importance : ndarray of shape (n, n_top), int32 and float32
        The features of largest importance, descending, equal ones by number; importance is NaN where nothing is said.
    kept : ndarray of shape (n,), float32, in [0, 1]
        Share of a row's nearest reference rows in the data that are among its nearest in the map; NaN without a place.
    sums : ndarray of shape (n_groups, n_features), float64
        Sums of the importances of all features over the rows of each group, each row times its weight.
    weights : ndarray of shape (n_groups,), float64
        Sums of these weights.
    """

    r2: Singles
    mask: npt.NDArray[np.bool_]
    top: Ints
    importance: Singles
    kept: Singles
    sums: npt.NDArray[np.float64]
    weights: npt.NDArray[np.float64]


@dataclass(frozen=True)
class ReferenceFits:
    """Forward fits of reference rows, from which those of all others are made.

    A row is fitted over its nearest reference rows. Where fits are averaged, its fit is averaged over itself and these
    reference rows, whose fits are averaged over their own neighbours: with all rows as reference rows it is that of
    `gnomon.explain`.

    Attributes
    ----------
    rows : ndarray of shape (m,), int64
        Numbers of the reference rows in the table, ascending.
    values : ndarray or csr_array of shape (m, n_features)
        Their features, standardised if `explanation.scale` says so.
    explanation : Explanation
        Of the reference rows, by forward fits.
    metric : str
        In which neighbours are searched.
    n_samples : int
        Rows of the table. If there are more than reference rows, these may be found through cells, see `RowSearch`.
    representatives : ndarray of shape (m,), intp, or None
        Of reference rows that repeat each other, the place of the one that is a neighbour; None if none do.
    """

    rows: npt.NDArray[np.int64]
    values: Any
    explanation: Explanation
    metric: str
    n_samples: int
    representatives: npt.NDArray[np.intp] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made when it is first asked for."""
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}

    @property
    def fits(self) -> LocalJacobians:
        """The fits of the reference rows."""
        return self.explanation.jacobians

    @cached_property
    def _distinct(self) -> npt.NDArray[np.intp]:
        """The reference rows that are neighbours, by their place: all, but one of each set that repeat each other."""
        own = np.arange(len(self.rows))
        return own if self.representatives is None else np.flatnonzero(self.representatives == own)

    @cached_property
    def _search(self) -> RowSearch:
        n_neighbors = min(self.fits.indices.shape[1] + 1, len(self._distinct))
        among = self.values if self.representatives is None else self.values[self._distinct]
        return RowSearch.of(among, n_neighbors, metric=self.metric, many=self.n_samples > len(self.rows))

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self.fits.places[self._distinct])

    @cached_property
    def _leaf_order(self) -> npt.NDArray[np.intp]:
        """Where each reference row that is a neighbour stands in the tree; 0 for the others."""
        order = np.zeros(len(self.rows), dtype=np.intp)
        order[self._distinct] = np.argsort(self._tree.indices)
        return order

    @cached_property
    def _stretch(self) -> float:
        return self.fits.stretch()

    @cached_property
    def _tables(self) -> tuple[Singles, list[Singles]]:
        """Return what the reference rows add to the averages of others, and their own averages after each round.

        The former, (m, (n_components + 1) n_features), is for rows all of whose neighbours have a fit; in its last part
        are the local deviations. The latter are needed for other rows only, and empty if there are none.
        """
        fits, m = self.fits, len(self.rows)
        parts = self._parts(fits.indices)
        made = in_order(lambda part: self._own(fits.indices[part], fits.coefficients[part], self.values[part]), parts)
        with single_threaded_blas():
            own = np.concatenate(list(made))
        own[~fits.mask, :-1] = 0.0
        rounds, deviations = [np.ascontiguousarray(own[:, :-1])], own[:, -1]
        counts = fits.mask[fits.indices].sum(axis=1).astype(np.float32)
        for _ in range(fits.pooling - 1):
            around = self._around(rounds[-1].reshape(m, -1), fits.indices).reshape(rounds[-1].shape)
            rounds.append((rounds[-1] + around) / (1.0 + counts)[:, None, None])
            rounds[-1][~fits.mask] = 0.0
        share, pooling = np.float32(1.0 / (1 + fits.indices.shape[1])), fits.pooling
        added = np.sum([share ** (pooling - p) * table for p, table in enumerate(rounds)], axis=0)
        whole = np.concatenate([added.reshape(m, -1), deviations], axis=1)
        return whole, [] if fits.mask.all() else [table.reshape(m, -1) for table in rounds]

    def _around(self, table: Singles, near: Ints) -> Singles:
        """Return the sums over the neighbours of rows of a table of the reference rows."""
        step = max(1, _NUMBERS // (near.shape[1] * table.shape[1]))
        parts = [near[start : start + step] for start in range(0, len(near), step)]
        return np.concatenate(list(in_order(lambda part: np.take(table, part, axis=0).sum(axis=1), parts)))

    def nearest(self, values: Any, numbers: npt.NDArray[np.int64]) -> Ints:
        """Return the nearest reference rows of rows of the table, themselves not counted, (n, n_neighbors).

        Of reference rows that repeat each other one is found, and none by a row of their set.

        Parameters
        ----------
        values : ndarray or csr_array of shape (n, n_features)
            As the reference rows are, standardised or not.
        numbers : ndarray of shape (n,), int64
            Their numbers in the table.
        """
        found = self._search.find(values)[0]
        return _without(self._places_of(found), self._own_places(numbers), self.fits.indices.shape[1])

    def _places_of(self, found: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return where rows that were found among the distinct ones stand among the reference rows."""
        return found if self.representatives is None else self._distinct[found]

    def _own_places(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return where rows, or those that stand for them, are among the reference rows; -1 for those that are not."""
        at = np.minimum(np.searchsorted(self.rows, numbers), len(self.rows) - 1)
        stand = at if self.representatives is None else self.representatives[at]
        return np.where(self.rows[at] == numbers, stand, -1)

    def extended(self, values: Any, near: Ints, places: npt.NDArray[np.float64]) -> LocalJacobians:
        """Return the fits of other rows, whose numbers begin behind the reference rows, to these."""
        m, n = len(self.rows), len(near)
        indices = np.concatenate([self.fits.indices, near])
        graph = NeighborGraph(indices, np.zeros(indices.shape, np.float32))
        fits = local_jacobians(
            stacked(self.values, values),
            np.concatenate([self.fits.places, places]),
            graph,
            rows=np.arange(m, m + n),
            ridge=self.fits.ridge,
            variance_share=self.fits.variance_share,
            origin=self.fits.origin,
        )
        calibration = self.fits.calibration
        return replace(fits, coefficients=fits.coefficients * calibration, calibration=calibration)

    def needed(self, table: StoredTable) -> float:
        """Return the bytes that it takes to read and explain a block of a table, with what is made at the first."""
        longest, m, k = max(len(block) for block in table.blocks()), len(self.rows), self.fits.indices.shape[1]
        axes = 4.0 * (self.fits.n_components + 1) * table.n_features
        made = m * (_ROUNDS * axes if self.fits.pooling else 0.0) + m * (_COPIES * 4.0 * table.n_features + _ROW)
        found = float(longest * k) * (8.0 * self.fits.n_components + _NEIGHBOR)
        total: float = table.reading_bytes + _BESIDE * table.block_bytes + made + found
        return total

    def explain_rows(
        self,
        values: Any,
        numbers: npt.NDArray[np.int64],
        places: npt.NDArray[np.float64],
        *,
        n_top: int,
        groups: npt.NDArray[np.int64],
        n_groups: int,
        weighted: bool,
    ) -> RowEffects:
        """Explain rows of the table.

        Parameters
        ----------
        values : ndarray or csr_array of shape (n, n_features)
            As the table holds them.
        numbers : ndarray of shape (n,), int64
            Their numbers in the table.
        places : ndarray of shape (n, n_components), float64
            Where they are in the map; NaN where they have no place.
        n_top : int
            Features listed for each.
        groups : ndarray of shape (n,), int64
            Where their importances are added; nowhere if negative.
        n_groups : int
        weighted : bool
            Whether a row counts by its R2.
        """
        scale = self.explanation.scale
        fitted = values if scale is None else scale.apply(values)
        near = self.nearest(fitted, numbers)
        fits = self.extended(fitted, near, places)
        r2 = np.clip(fits.stretched_r2(self._stretch) if self.fits.pooling else fits.predicted_r2, 0.0, 1.0)
        counted = np.where(fits.mask, r2.astype(np.float64) if weighted else 1.0, 0.0)
        parts = self._parts(near)
        if self.fits.pooling:
            _ = self._tables  # before threads ask for them

        def explained(part: slice) -> tuple[Ints, Singles, dict[int, npt.NDArray[np.float64]]]:
            own = self._own(near[part], fits.coefficients[part], fitted[part])
            lengths = self._importance(own, near[part])
            lengths[~fits.mask[part]] = 0.0
            chosen, found = _longest(lengths, n_top)
            found[~fits.mask[part]] = np.nan
            there = {group: groups[part] == group for group in np.unique(groups[part]).tolist() if group >= 0}
            added = {group: product(lengths[rows].T, counted[part][rows]) for group, rows in there.items()}
            return chosen, found, added

        top, importance, sums = [], [], np.zeros((n_groups, fitted.shape[1]))
        with single_threaded_blas():
            for chosen, found, added in in_order(explained, parts):
                top.append(chosen)
                importance.append(found)
                for group, one in added.items():
                    sums[group] += one
        used = groups >= 0
        return RowEffects(
            r2=r2.astype(np.float32),
            mask=fits.mask,
            top=np.concatenate(top),
            importance=np.concatenate(importance),
            kept=self._kept(near, numbers, places),
            sums=sums,
            weights=np.bincount(groups[used], counted[used], n_groups).astype(np.float64),
        )

    def _parts(self, near: Ints) -> list[slice]:
        """Cut rows into parts that are worked on together, by the shape alone."""
        numbers = near.shape[1] * self.values.shape[1] * (self.fits.n_components + 1)
        step = max(_FEWEST, _NUMBERS // numbers)
        return [slice(start, min(start + step, len(near))) for start in range(0, len(near), step)]

    def _features(self, rows: Ints) -> npt.NDArray[Any]:
        if not sp.issparse(self.values):
            return np.take(self.values, rows, axis=0)
        distinct, places = np.unique(rows, return_inverse=True)
        return dense_rows_of(self.values, distinct)[places.reshape(rows.shape)]

    def _own(self, near: Ints, coefficients: npt.NDArray[np.float64], values: Any) -> Singles:
        """Return the axes of the rows' own fits, and behind them the local deviations, (n, n_components + 1, D)."""
        dense = dense_rows(values) if sp.issparse(values) else values
        steps = (self._features(near) - dense[:, None]).astype(np.float32, copy=False)
        own = np.empty((len(near), coefficients.shape[2] + 1, steps.shape[2]), np.float32)
        np.matmul(np.swapaxes(coefficients, 1, 2).astype(np.float32), steps, out=own[:, :-1])
        np.sqrt(np.mean(np.square(steps, out=steps), axis=1), out=own[:, -1])
        return own

    def _importance(self, own: Singles, near: Ints) -> Singles:
        """Return the lengths of all arrows of rows, (n, n_features), from their own fits; `own` is overwritten."""
        constant = own[:, -1] == 0
        if self.fits.pooling:
            self._average(own, near)
        lengths: Singles = np.sqrt(np.sum(np.square(own[:, :-1]), axis=1)) * own[:, -1]
        lengths[constant] = 0.0
        return lengths

    def _average(self, own: Singles, near: Ints) -> None:
        """Average fits of rows over these and the reference rows around them, in place."""
        (whole, rounds), pooling = self._tables, self.fits.pooling
        counts = self.fits.mask[near].sum(axis=1)
        share = (1.0 / (1 + counts)).astype(np.float32)[:, None, None]
        around = np.take(whole, near, axis=0).sum(axis=1).reshape(own.shape)
        few = np.flatnonzero(counts < near.shape[1])
        if len(few):  # beside reference rows without a fit, whose tables are 0 but for the deviations
            fitted = self.fits.mask[near[few]]
            shape = (len(few), *own[:, :-1].shape[1:])
            sums = [np.take(table, near[few], axis=0).sum(axis=1).reshape(shape) for table in rounds]
            around[few, :-1] = sum(share[few] ** (pooling - p) * one for p, one in enumerate(sums))
            deviations = np.take(whole, near[few], axis=0)[:, :, -own.shape[2] :]
            around[few, -1] = weighted_sums(fitted.astype(np.float32), deviations)
        own[:, :-1] = share**pooling * own[:, :-1] + around[:, :-1]
        own[:, -1] = share[:, 0] * (own[:, -1] + around[:, -1])

    def _kept(self, near: Ints, numbers: npt.NDArray[np.int64], places: npt.NDArray[np.float64]) -> Singles:
        """Return which share of the nearest reference rows of rows is nearest in the map too."""
        placed = np.flatnonzero(has_place(places))
        placed = placed[np.argsort(self._leaf_order[near[placed, 0]], kind="stable")]  # near ones one after another
        k = near.shape[1]
        count = min(k + 1, len(self._distinct))
        found = self._tree.query(places[placed], k=count, workers=current_run().n_threads)[1]
        found = self._places_of(found)
        both = np.concatenate([near[placed], _without(found, self._own_places(numbers[placed]), k)], axis=1)
        both.sort(axis=1)
        kept: Singles = np.full(len(near), np.nan, np.float32)
        kept[placed] = np.sum(both[:, 1:] == both[:, :-1], axis=1) / k
        return kept


def stacked(first: Any, second: Any) -> Any:
    """Return the rows of two tables of the same kind, one below the other."""
    if not sp.issparse(first):
        return np.concatenate([first, second])
    parts: list[Any] = [first, second]
    return sp.vstack(parts, format="csr")


def _without(found: npt.NDArray[Any], own: npt.NDArray[np.int64], n_neighbors: int) -> Ints:
    """Return the first of the rows found, the row itself left out, (n, n_neighbors)."""
    is_own = found == own[:, None]
    is_own[~is_own.any(axis=1), n_neighbors:] = True
    others: Ints = found[~is_own].reshape(len(found), n_neighbors).astype(np.int32)
    return others


def _longest(lengths: Singles, n_top: int) -> tuple[Ints, Singles]:
    """Return the columns of the largest numbers of each row, descending, equal ones by number; and these numbers."""
    n_top = min(n_top, lengths.shape[1])
    # The order of floats that are not negative is that of their bits; the column decides between equal ones.
    keys = (np.uint64(0xFFFFFFFF) - lengths.view(np.uint32)) << np.uint64(32)
    keys |= np.arange(lengths.shape[1], dtype=np.uint64)
    first = np.sort(np.partition(keys, n_top - 1, axis=1)[:, :n_top], axis=1)
    columns: Ints = (first & np.uint64(0xFFFFFFFF)).astype(np.int32)
    return columns, np.take_along_axis(lengths, columns, axis=1)
