"""The rows that questions about gaps are judged by, with their densities and those of tables without gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon._cached import cached_property
from gnomon._validation import message
from gnomon.data.depth import are_whole_numbers
from gnomon.evaluation.gaps.borders import Radii
from gnomon.evaluation.gaps.columns import check_columns
from gnomon.evaluation.gaps.falls import FEWEST_ROWS
from gnomon.evaluation.gaps.lattice import Lattice
from gnomon.evaluation.gaps.saddles import FEW_NEIGHBORS, N_NEIGHBORS, Landscape, NullDips
from gnomon.evaluation.judged_metrics import rows_with_direction, told_without
from gnomon.evaluation.wide_rows import are_wide, few_coordinates
from gnomon.geometry.check import check_features, check_places, has_place
from gnomon.linalg import dense_rows
from gnomon.neighbors import RowSearch, Succession, succession_of_rows
from gnomon.neighbors.circles import periods_under
from gnomon.neighbors.straight import straight_rows

__all__ = ["SampledRows"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_ROUNDING = 1e-9  # of the largest entry: rows as near to a line lie on it
_ASKED = 1000  # rows of a group to which it is looked how near others lie
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class SampledRows:
    """The rows that questions about gaps are judged by: all of few, a random sample of many.

    Attributes
    ----------
    X : ndarray of shape (n, n_features), float64
        Of more columns than rows and than 1,000, as many coordinates as rows, with the same distances; of columns of
        few values what they share, see `Lattice`.
    Y : ndarray of shape (n, n_components), float64, or None
        Their places; NaN where a row has none.
    rows : ndarray of shape (n,), int64
        Their numbers among the rows given.
    n_given, n_nulls, seed : int
    n_zero : int
        Rows of zeros that are left out, as they have no direction to speak of.
    succession : Succession or None
        What says that rows that follow each other in the table are alike, if it was looked for.
    columns : mapping of str to ndarray of int
        The features of each column by its name, of which one or a few may make a gap; empty if none is to be named.
    wide : ndarray or sparse matrix of shape (n, n_features), float64, or None
        The rows themselves where X has coordinates in their place.
    whole_numbers : bool
        Whether the table has no others, and none below 0, as counts are.
    n_unseen : int
        Rows that the sample left out, which a larger `max_rows` would look at.
    is_circle : bool
        Whether it is a single column, with a period.
    metric : str
        In which they are compared.
    lattice : Lattice or None
        The columns of few values, where X has what they share in their place.
    given : ndarray of shape (n, n_given_features), float64, or None
        The rows themselves there.
    near : bool
        Whether they are those of a group and the nearest to it, and no sample of the whole table.
    """

    X: Floats
    Y: Floats | None
    rows: npt.NDArray[np.int64]
    n_given: int
    n_nulls: int
    seed: int
    n_zero: int = 0
    succession: Succession | None = None
    columns: Mapping[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    wide: Any = None
    whole_numbers: bool = False
    n_unseen: int = 0
    is_circle: bool = False
    metric: str = "euclidean"
    lattice: Lattice | None = None
    given: Floats | None = None
    near: bool = False

    @classmethod
    def of(
        cls,
        X: Any,
        Y: Any,
        *,
        metric: str,
        max_rows: int,
        n_nulls: int,
        seed: int,
        placed: bool = False,
        ordered: bool = False,
        columns: Any = None,
        around: Mask | None = None,
    ) -> Self:
        """Check table and map, and draw the sample.

        `placed` leaves out rows without a place in the map; `ordered` looks whether rows that follow each other are
        alike. Columns are known in straight distances alone: others depend on all of them together. `around` is a group
        of which a sample may hold too few rows: then the rows are those of the group and the nearest to it.
        """
        values, names = check_features(X, None)
        known = check_columns(columns, names)
        n = int(values.shape[0])
        places = None if Y is None else check_places(Y, n)
        rows = rows_with_direction(values, metric)
        n_zero = n - len(rows)
        if placed and places is not None:
            rows = rows[has_place(places)[rows]]
        if len(rows) < 2 * FEWEST_ROWS:
            what = f"X with {len(rows):,} rows{told_without(n_zero)}"
            remedy = "Fewer have no density to speak of: compare groups by `contrast`, which takes few rows."
            raise ValueError(message(what, f"of at least {2 * FEWEST_ROWS} rows", remedy=remedy))
        n_unseen, near = max(len(rows) - max_rows, 0), False
        if n_unseen:
            given_rows, rows = rows, _drawn(rows, max_rows, seed)
            near = around is not None and _is_thinned(around, given_rows, rows)
            if near and around is not None:
                rows = _drawn(_rows_around(values, given_rows, around, metric, max_rows), max_rows, seed)
        looked_at, whole = straight_rows(values[rows], metric), are_whole_numbers(values[rows])
        wide = looked_at if are_wide(looked_at) else None
        sample = dense_rows(looked_at) if wide is None else few_coordinates(wide)
        sample = sample - sample.mean(axis=0)
        order = succession_of_rows(values, metric) if ordered else None
        own = None if places is None else places[rows]
        named = known if metric == "euclidean" and wide is None else {}
        lattice, given = Lattice.of(sample) if metric == "euclidean" and wide is None else None, None
        if lattice is not None:
            sample, given = lattice.laid(sample, seed), sample
        return cls(
            sample,
            own,
            rows,
            n,
            n_nulls,
            seed,
            n_zero=n_zero,
            succession=order,
            columns=named,
            wide=wide,
            whole_numbers=whole,
            n_unseen=n_unseen,
            is_circle=_is_circle(values, metric),
            metric=metric,
            lattice=lattice,
            given=given,
            near=near,
        )

    @property
    def as_given(self) -> Floats:
        """The rows looked at by all of their columns."""
        return self.X if self.given is None else self.given

    @cached_property
    def landscape(self) -> Landscape:
        """Peaks and saddles in the data."""
        return Landscape.of(self.X)

    @cached_property
    def map_landscape(self) -> Landscape:
        """Peaks and saddles in the map, of its rows that have a place."""
        assert self.Y is not None
        return Landscape.of(self.Y[has_place(self.Y)])

    @cached_property
    def nulls(self) -> NullDips:
        """Dips of tables without gaps."""
        return NullDips.of(self.X, self.landscape.dimension, self.n_nulls, self.seed)

    @cached_property
    def is_line(self) -> bool:
        """Whether all rows lie on one straight line, or on one circle."""
        if self.is_circle:
            return True
        if self.wide is not None:
            return False
        farthest = self.X[np.argmax(np.square(self.X).sum(axis=1))]
        places = (self.X * farthest).sum(axis=1) / max(float(np.square(farthest).sum()), _TINY)
        rest = self.X - places[:, None] * farthest
        return bool(np.abs(rest).max(initial=0.0) <= _ROUNDING * np.abs(self.X).max(initial=0.0))

    @cached_property
    def fine_landscape(self) -> Landscape:
        """Peaks and saddles in the data, as few neighbours tell them."""
        return Landscape.of(self.X, FEW_NEIGHBORS)

    @cached_property
    def fine_nulls(self) -> NullDips:
        """Dips of tables without gaps, as few neighbours tell them."""
        return NullDips.of(self.X, self.fine_landscape.dimension, self.n_nulls, self.seed, FEW_NEIGHBORS)

    @property
    def basis(self) -> str:
        """What a verdict rests on, in words."""
        return self.basis_of(N_NEIGHBORS)

    def basis_of(self, k: int) -> str:
        """Return what a verdict by densities of k neighbours rests on, in words."""
        return f"{self._seen}, densities of {k} neighbours, {2 * self.n_nulls} tables without gaps"

    @property
    def _seen(self) -> str:
        """How many rows were looked at, in words."""
        seen = (
            f"{len(self.rows):,} rows"
            if len(self.rows) == self.n_given
            else f"{len(self.rows):,} of {self.n_given:,} rows"
        )
        seen += ", those of the group and the nearest to it" if self.near else ""
        told = "" if self.lattice is None else f", {self.lattice.told}"
        return f"{seen}{told_without(self.n_zero)}{told}"

    @cached_property
    def _radii(self) -> Radii:
        """How far rows have to go for neighbours in a group."""
        return Radii(self.X)


def _is_circle(values: Any, metric: str) -> bool:
    """Return whether rows lie on one circle: of a single column that has a period."""
    periods = periods_under(metric, int(values.shape[1]))
    return periods is not None and len(periods) == 1 and bool(np.isfinite(periods[0]))


def _drawn(rows: npt.NDArray[np.int64], n: int, seed: int) -> npt.NDArray[np.int64]:
    """Return at most `n` of some rows, drawn at random."""
    if len(rows) <= n:
        return rows
    return rows[np.sort(np.random.default_rng(seed).choice(len(rows), n, replace=False))]


def _is_thinned(group: Mask, given: npt.NDArray[np.int64], drawn: npt.NDArray[np.int64]) -> bool:
    """Return whether a sample holds too few rows of a group that has enough."""
    return bool(np.count_nonzero(group[drawn]) < FEWEST_ROWS <= np.count_nonzero(group[given]))


def _rows_around(X: Any, rows: npt.NDArray[np.int64], group: Mask, metric: str, n_least: int) -> npt.NDArray[np.int64]:
    """Return the rows of a group and as many others as make `n_least`, or as the group has: the nearest to it, all.

    No row near the group is missing, so that densities about it are those of the whole table, and whatever joins it
    with others does so here too.
    """
    inside, others = rows[group[rows]], rows[~group[rows]]
    n_others = max(n_least - len(inside), len(inside))
    if len(others) > n_others:
        search = RowSearch.of(X[_drawn(inside, _ASKED, 0)], 1, metric=metric, method="exact")
        far = search.find(X[others])[1][:, 0]
        others = others[np.argsort(far, kind="stable")[:n_others]]
    return np.sort(np.concatenate([inside, others]))
