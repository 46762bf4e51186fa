"""Rows far off the directions in which columns go together, far out within them, or unusual in many columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import part
from gnomon._printed import Printed
from gnomon.data.dataset import first_few
from gnomon.explanations.answer import format_number, format_table
from gnomon.explanations.ranked import names_of_rows
from gnomon.geometry.direction_distances import FAMILY, DirectionDistances, direction_distances
from gnomon.linalg.table import evenly_spaced
from gnomon.neighbors import NeighborGraph

__all__ = ["OffDirections", "find_new_off_directions", "find_off_directions"]

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LISTED = 20  # rows that are printed
_COLUMNS = 3  # named of each row
_EXAMPLES = 5  # rows of a group whose columns are looked at
_LEAST_SHARE = 0.005  # less is "0%"
_NEW = 0.0025  # how often at most any of new rows is told that are like those of the table


@dataclass(frozen=True, kw_only=True)
class OffDirections(Printed):
    """Rows off the directions in which columns go together, far out within, or unusual in many, the least likely first.

    Attributes
    ----------
    n_directions : int
        Directions in which columns go together; all of them of fewer than 20 columns.
    n_columns : int
        Columns that count for distances: those of which no value is that of nine rows of ten or more.
    n_steady : int
        Columns of which one value is, and of which any row (of new rows: of the map) has another.
    rows : ndarray of shape (n_listed,), int64
        Rows that stand out: of a table without outliers any does in at most one of twenty draws.
    names : list of str or None
        Their names, if the points of the map have names.
    by : list of str
        Of each, by what it stands out: "off", "within", "both" (of these) or "unusual"; and as "off, unusual".
    features : list of list of (str, float)
        Of each, the three columns with the largest shares of its distance off the directions, or within them, or of
        what is unusual (where the fewest rows are), by the first of these by which it stands out.
    together : ndarray of shape (n_together,), int64
        Rows that would stand out, but more than half of whose neighbours do as well: nine or more that are odd alike,
        a group rather than outliers.
    together_features : list of (str, float)
        The columns with the largest shares of their distance, of five of these.
    off : ndarray of shape (n_samples,), float64
        Squared distance off the directions (Q of process monitoring, the squared prediction error), in squared units of
        the table that was mapped; about 0 where all directions count.
    within : ndarray of shape (n_samples,), float64
        Squared distance within the directions, in variances along each (Hotelling's T squared); 0 if there are none.
    off_chance, within_chance : ndarray of shape (n_samples,), float64, in [0, 1]
        How likely at most a table without outliers has any row so far out; those of 0.025 and less stand out, those of
        0.05 / 3 and less where `unusual_limit` is a number.
    off_limit, within_limit : float
        Beyond which a row stands out; NaN where nothing lies off, or within.
    unusual : ndarray of shape (n_samples,), float64
        How unusual each row is in the `n_steady` columns: the sum, over those in which it has another value than nearly
        all rows, of the logarithm of one over the share of rows that have one.
    unusual_chance : ndarray of shape (n_samples,), float64, in [0, 1]
        How likely at most a table without outliers has any row as unusual; 1 up to the sum of ten columns
        in which no other row is, beyond the median.
    unusual_limit : float
        Beyond which a row stands out; NaN where fewer than ten columns are the same in nine rows of ten.
    """

    n_directions: int
    n_columns: int
    n_steady: int
    rows: Ints
    names: list[str] | None
    by: list[str]
    features: list[list[tuple[str, float]]]
    together: Ints
    together_features: list[tuple[str, float]]
    off: Array
    within: Array
    off_chance: Array
    within_chance: Array
    off_limit: float
    within_limit: float
    unusual: Array
    unusual_chance: Array
    unusual_limit: float

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns, as ``pandas.DataFrame`` and ``polars.DataFrame`` take it."""
        names = {} if self.names is None else {"name": list(self.names)}
        numbers = {name: getattr(self, name)[self.rows].tolist() for name in ("off", "within")}
        ways = [self.off_chance, self.within_chance]
        if np.isfinite(self.unusual_limit):
            ways.append(self.unusual_chance)
            numbers["unusual"] = self.unusual[self.rows].tolist()
        chance = np.minimum(1.0, len(ways) * np.min(ways, axis=0)[self.rows])
        texts = [_told(features) for features in self.features]
        return {
            "row": self.rows.tolist(),
            **names,
            **numbers,
            "chance": chance.tolist(),
            "by": list(self.by),
            "most in": texts,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return what is found with plain Python values, one record for each row that stands out."""
        columns = self.columns()
        records = [dict(zip(columns, entry, strict=True)) for entry in zip(*columns.values(), strict=True)]
        facts = {"n_directions": self.n_directions, "n_columns": self.n_columns, "n_steady": self.n_steady}
        limits = {name: _or_none(getattr(self, name)) for name in ("off_limit", "within_limit", "unusual_limit")}
        return {**facts, **limits, "rows": records, "together": self.together.tolist()}

    def headline(self) -> str:
        """Return the sentence above the printed table."""
        of = f"of {self.n_columns:,} columns"
        if self.n_directions >= self.n_columns:
            where = f"far out along all directions {of} together"
        elif self.n_directions:
            many = "direction" if self.n_directions == 1 else f"{self.n_directions} directions"
            where = f"off the {many} in which {self.n_columns:,} columns go together, or far out within"
        else:
            where = f"far from the middle {of}, which go together in no direction"
        if self.n_steady and np.isfinite(self.unusual_limit):
            has = "have" if len(self) > 1 else "has"
            where += f", or {has} unusual values in many of the {self.n_steady:,} that are the same in nine rows of ten"
        if not len(self):
            text = f"no row lies {where}"
        else:
            lie = "1 row lies" if len(self) == 1 else f"{len(self):,} rows lie"
            text = f"{lie} {where}; of tables without outliers one in {round(1 / FAMILY)} at most has such a row"
        if len(self.together):
            text += (
                f"; {len(self.together):,} rows that are odd alike lie so together, rather a group than outliers "
                f"(most in {_told(self.together_features)})"
            )
        return text

    def told_of_new(self) -> str:
        """Say which of new rows stand out; empty if none does."""
        if not len(self):
            return ""
        listed = first_few(map(str, np.sort(self.rows).tolist()), _EXAMPLES)
        return (
            f"off what columns of the map have in common: {len(self):,} of {len(self.off):,} new rows ({listed}), as "
            f"of as many like the old any is in one of {round(1 / _NEW)} draws at most; row {self.rows[0]} most in "
            f"{_told(self.features[0])}"
        )

    def __str__(self) -> str:
        if not len(self):
            return self.headline()
        columns = self.columns()
        lines = [[_cell(value) for value in entry] for entry in list(zip(*columns.values(), strict=True))[:_LISTED]]
        more = f"\n... and {len(self) - _LISTED:,} more rows" if len(self) > _LISTED else ""
        return f"{self.headline()}\n{format_table(list(columns), lines)}{more}"


@part("outliers")
def find_off_directions(
    X: Any,
    graph: NeighborGraph,
    feature_names: Sequence[str],
    *,
    n_directions: int | None = None,
    point_names: Any = None,
) -> OffDirections | None:
    """Find rows that lie far off the directions in which columns go together, or far out within them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    graph : NeighborGraph of n_samples rows
        Nearest neighbours in the data, which tell groups.
    feature_names : sequence of str
    n_directions : int >= 0, default=None
        None counts them, see `gnomon.geometry.direction_distances.direction_distances`.
    point_names : array-like of shape (n_samples,), default=None
        Names of the rows.

    Returns
    -------
    OffDirections or None
        None of fewer than 50 rows or two columns that count.
    """
    found = direction_distances(X, n_directions)
    return None if found is None else _told_of(found, X, graph, feature_names, point_names, FAMILY)


def find_new_off_directions(X: Any, X_new: Any, feature_names: Sequence[str]) -> OffDirections | None:
    """Find which new rows lie farther off the directions of a table, or farther out within them, than its rows do.

    Parameters
    ----------
    X, X_new : ndarray of shape (n_samples, n_features) and (n_new, n_features)
    feature_names : sequence of str

    Returns
    -------
    OffDirections or None
        Of the new rows: of as many like those of the table any stands out in at most one of 400 draws. None as for
        `find_off_directions`.
    """
    found = direction_distances(X)
    return None if found is None else _told_of(found.of_new(X_new, _NEW), X_new, None, feature_names, None, _NEW)


def _told_of(
    found: DirectionDistances,
    X: Any,
    graph: NeighborGraph | None,
    feature_names: Sequence[str],
    point_names: Any,
    level: float,
) -> OffDirections:
    """Return the rows that stand out at a level, those of groups by themselves where neighbours are known."""
    bar = level / found.ways
    off, within, unusual = found.off_chance <= bar, found.within_chance <= bar, found.unusual_chance <= bar
    rows = np.flatnonzero(off | within | unusual)
    over = [getattr(found, name)[rows] / getattr(found, f"{name}_limit") for name in ("off", "within", "unusual")]
    farther = np.fmax(np.fmax(over[0], over[1]), over[2])
    least = np.min([found.off_chance, found.within_chance, found.unusual_chance], axis=0)[rows]
    order = np.lexsort((rows, -farther, least))
    rows = rows[order].astype(np.int64)
    grouped = _are_grouped(graph, rows)
    rows, together = rows[~grouped], np.sort(rows[grouped])

    def by(row: int) -> str:
        distances = ["both"] if off[row] and within[row] else ["off"] * bool(off[row]) + ["within"] * bool(within[row])
        return ", ".join(distances + ["unusual"] * bool(unusual[row]))

    def shares(row: int) -> Array:
        of_all = np.zeros(len(feature_names))
        if off[row] or within[row]:
            of_all[found.columns] = found.contributions(X, row)[0 if off[row] else 1]
        else:
            of_all[found.steady.columns] = found.unusual_parts(X, row)
        return np.asarray(of_all / of_all.sum())

    examples = together[evenly_spaced(len(together), _EXAMPLES)].tolist() if len(together) else []
    of_examples = [shares(row) for row in examples]
    return OffDirections(
        n_directions=found.n_directions,
        n_columns=len(found.columns),
        n_steady=found.steady.n_vary,
        rows=rows,
        names=names_of_rows(point_names, rows),
        by=[by(row) for row in rows.tolist()],
        features=[_largest(shares(row), feature_names) for row in rows.tolist()],
        together=together,
        together_features=_largest(np.mean(of_examples, axis=0), feature_names) if examples else [],
        off=found.off,
        within=found.within,
        off_chance=found.off_chance,
        within_chance=found.within_chance,
        off_limit=found.off_limit,
        within_limit=found.within_limit,
        unusual=found.unusual,
        unusual_chance=found.unusual_chance,
        unusual_limit=found.unusual_limit,
    )


def _are_grouped(graph: NeighborGraph | None, rows: Ints) -> npt.NDArray[np.bool_]:
    """Return of which rows more than half of the neighbours are among them; of none where these are not known."""
    if graph is None or not len(rows):
        return np.zeros(len(rows), dtype=np.bool_)
    near = np.isin(graph.indices[rows], rows)
    if graph.mask is not None:
        near &= graph.mask[rows]
    return np.asarray(near.mean(axis=1) > 0.5)


def _largest(shares: Array, names: Sequence[str]) -> list[tuple[str, float]]:
    first = np.argsort(-shares, kind="stable")[:_COLUMNS]
    return [(str(names[c]), float(shares[c])) for c in first.tolist()]


def _told(features: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{name} {f'{share:.0%}' if share >= _LEAST_SHARE else 'under 1%'}" for name, share in features)


def _cell(value: Any) -> str:
    return format_number(value) if isinstance(value, float) else str(value)


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
