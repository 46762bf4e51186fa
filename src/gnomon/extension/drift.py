"""What new rows say about a map: whether they are like its own, and how well they are placed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._printed import Printed
from gnomon.data import find_duplicate_rows
from gnomon.data.labels import measured_labels, sort_into_classes
from gnomon.extension.atlas.forward import Novelty, levels_among
from gnomon.extension.atlas.lifts import lift_of
from gnomon.extension.blank import blank_rows, known_columns, told_blank
from gnomon.extension.chance import (
    chance_of_farther,
    chance_of_fewer,
    chance_of_more,
    chance_of_shift,
    counts_beyond,
    largest_shift,
)
from gnomon.extension.columns import (
    ColumnShift,
    Masks,
    MissingShift,
    UnknownShift,
    largest_difference,
    measure_columns,
    measure_missing,
)
from gnomon.extension.copies import find_copies
from gnomon.extension.held_out import Unlikeness
from gnomon.extension.unseen import rows_of_new_kind, rows_together
from gnomon.linalg.table import evenly_spaced, float_rows
from gnomon.neighbors import RowSearch, Succession, compute_neighbors, query_neighbors, without_own

__all__ = ["Drift", "measure_drift"]

Float64Array = npt.NDArray[np.float64]

OUTSIDE = 0.95
"""A row is unusual if more of the map's rows than this share have a lower score of novelty."""
_MOST_UNUSUAL = 0.15  # three times what rows like those of the map give
_MOST_LOST = 0.15  # of the neighbours in the data, that new rows keep less than the old; rows like these up to 0.11
_MOST_UNKNOWN = 0.05  # of the new rows, that have categories of a column which the map has no feature for
_FEWEST_UNKNOWN = 3  # rows
_NOVEL_BY_CHANCE = 0.0075  # how often at most rows like those of the map are said to lie too far out
_MANY_BY_CHANCE = 0.0025  # of which by their number, whatever the others are; the rest is left to all of them together
_LOST_BY_CHANCE = 0.0025  # and how often they are said to be placed worse
_MOST_SHIFT = 0.3  # of distributions; rows in other shares of the same groups mostly differ less in novelty
_SHIFT_BY_CHANCE = 0.0025  # how often at most rows like those of the map are said to differ in novelty, or in columns
_CROWDED_BY_CHANCE = 0.0025  # how often at most a region is said to hold more rows like the old ones than by chance
_COPIED_BY_CHANCE = 0.0025  # how often at most copies are told where rows are like the old ones
_NAMED = 3  # columns of which shares are told
_ROWS_NAMED = 5
_GRID = 8  # cells along the longest side of the map
_OF_INDEPENDENT = (  # what says by shares and chances of rows how new ones differ
    "unusual",
    "out_of_range",
    "shift",
    "shift_by_chance",
    "shift_p_value",
    "preserved_new",
    "preserved_old",
    "lost_by_chance",
    "regions",
    "region_p_values",
    "columns",
    "missing",
    "group",
    "by_shares",
)
_FEWEST_OLD = 8  # rows of a map of a series
_FEW_STEPS = 4  # new rows of fewer steps of the series of a map do not show whether they are one
_SAMPLE = 2000  # old rows whose neighbours are compared


@dataclass(frozen=True)
class Drift(Printed):
    """How new rows differ from those of a map, and how well they are placed among them.

    Attributes
    ----------
    n_old, n_new : int
        Rows of the map and new ones, without those of `blank`.
    n_compared : int
        Old rows that new ones are compared with in novelty: all, or of a map in principal components those held out of
        the components of others, see `Map.novelty`.
    novelty : ndarray of shape (n_new,), float64, in [0, 1]
        Share of these old rows that lie less far out than each new one, see `AffineAtlas.novelty`. Of all new rows,
        also of another run of a time series, whose rows have none before and after them in the map and so seem novel.
    unusual : float in [0, 1]
        Share of the new rows whose novelty is above 0.95; 0.05 for rows like the old ones. Of a time series this and
        all other shares, differences, regions and chances are those of `independent`.
    out_of_range : float in [0, 1]
        Share of the new rows that lie 1.5 times as far out as any of these old ones.
    shift : float in [0, 1]
        Largest difference between the distribution of the novelty of new and of old rows (Kolmogorov-Smirnov). Of how
        far out rows lie alone: rows that all come to one place inside the data differ by no more than chance.
    shift_by_chance : float in [0, 1]
        What `shift` stays below in 95 of 100 draws of as many rows like the old ones. (In 90 if the data have two
        dimensions, and in 80 if they have one: near each other rows of so few are far out together.)
    preserved_new, preserved_old : float in [0, 1]
        Mean share of the n_neighbors nearest old rows in the data that are so in the map as well, of new and of old
        rows (at most 2000).
    lost_by_chance : float in [0, 1]
        How likely it is that as many rows keep so few neighbours, if each keeps what an old one does less 0.15.
    n_neighbors : int
    regions : list of (ndarray, int, int)
        Cells of a grid over the map that new rows came to: centre, new rows, old rows. First those where more new rows
        than expected by the old ones are least likely.
    region_p_values : ndarray of shape (n_regions,), float64, in [0, 1]
        How likely it is at most that in any cell of the grid so many of its rows are new, of rows like the old ones
        (Fisher's test times the cells that hold rows). Below 0.0025 the first one is told.
    labels : dict
        For each label of the old rows the number of new ones whose nearest old rows have mostly this label.
    shift_p_value : float in [0, 1]
        How likely `shift` is as large for rows like the old ones.
    columns : ColumnShift or None
        In which columns new rows differ, whatever their novelty is.
    column_names : sequence of str
        Names of the columns.
    missing : MissingShift or None
        Of which columns new rows lack values more often than old ones. What was filled in there is no measurement, and
        `columns` compares values that are known alone; the novelty of such rows is that of filled rows.
    missing_names : sequence of str
        Names of the columns as they came, for each column.
    group : ndarray of int64
        New rows, by their numbers, that are unusual and lie together: nearer to several other new rows than to any old
        one, and more of them than chance gives but in one of some hundred draws; or few with room about them, 1.5 times
        as far from all other rows as what links them. Of a map in principal components also those that lie among new
        rows alone in components of old and new rows together. Perhaps a group that the map has not seen; at least 5
        rows, or none.
    labels_of_group : dict
        How many of the new rows that `labels` counts are of the group, by label: what they came to says little of them.
    blank : ndarray of int64
        New rows, by their numbers, that are all zeros in the columns where rows of the map are not, under a metric that
        gives such rows no direction ("cosine", "hellinger"): texts without any of the map's words. They say nothing,
        and all else is of the others; `n_blank` counts them.
    metric : str
        The metric of the map.
    copies : ndarray of shape (n_copies, 2), int64
        New rows that are rows of the map, and which of these, by their numbers: equal in every value, or nearer to it
        than rows come by chance, so that each has the other (in one of twenty tables whose rows lie evenly, and more
        often where columns have heavy tails). They are not new, and what is told of new rows by them is no test.
    n_equal : int
        How many of them are equal in every value.
    n_repeated : int
        Rows of the map that repeat each other in the same way. Where answers have few values, or rows were measured
        several times, copies are to be expected: the summary tells them only if they are more than these let expect.
    copies_p_value : float in [0, 1]
        How likely it is that so many of the rows that repeat one of the map are new ones; told up to 0.0025.
    unknown : UnknownShift or None
        In which columns new rows have categories that the map does not know. It has no feature for them: such rows
        count as in none of the known ones.
    by_shares : bool
        Whether what differs is explained by how many of the new rows came to which label: beside old rows in the same
        shares of the labels they do not differ so.
    caution : str
        What the order of the rows of the map, or of the new ones, says against comparing all of them, and what is left
        out, such as weights of rows that made the map; empty if nothing.
    independent : Drift or None
        Of a time series, what rows say that are so far apart that they are hardly alike, and all that is judged is
        judged by: other numbers than counts, `novelty`, `labels` and `copies` are those of these. None where all rows
        are compared as they are.

    Notes
    -----
    Rows of the same distribution as the old ones are advised to be fitted again in at most about one draw of a hundred,
    for any number of them from one on: what speaks for it must be more than chance gives. The number of unusual rows is
    beta-binomial then, whatever the distribution, and the p-values of all rows together are judged by Fisher's method.
    Compared with fewer than 134 rows a single new row is never more than chance.

    Rows may also differ where nothing speaks for fitting again: nearer to the old rows than these are to each other,
    as rows that are blurred or scaled down, or with columns that hold one value alone, as of a sensor that failed. They
    are said to differ, see `differences`, if `shift`, that of a column or that of the mean of all columns is above 0.3,
    and beyond what chance gives in one draw of 400, or a column has one value, is missing more often, or has categories
    that the map does not know. What is as sure and smaller is told as `slight`. One row or two never differ by a shift.
    """

    n_old: int
    n_new: int
    n_compared: int
    novelty: Float64Array
    unusual: float
    out_of_range: float
    shift: float
    shift_by_chance: float
    preserved_new: float
    preserved_old: float
    lost_by_chance: float
    n_neighbors: int
    regions: list[tuple[Float64Array, int, int]]
    labels: dict[Any, int]
    shift_p_value: float = 1.0
    region_p_values: Float64Array = field(default_factory=lambda: np.empty(0))
    columns: ColumnShift | None = None
    column_names: Sequence[str] = ()
    by_shares: bool = False
    missing: MissingShift | None = None
    missing_names: Sequence[str] = ()
    group: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    labels_of_group: dict[Any, int] = field(default_factory=dict)
    blank: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    metric: str = "euclidean"
    unknown: UnknownShift | None = None
    caution: str = ""
    copies: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    n_equal: int = 0
    n_repeated: int = 0
    copies_p_value: float = 1.0
    independent: Drift | None = None

    @property
    def n_blank(self) -> int:
        """Number of the new rows that are left out, as they say nothing."""
        return len(self.blank)

    @property
    def reasons(self) -> list[str]:
        """Why the map should be fitted again; empty if nothing speaks for it."""
        if self.independent is not None:
            return self.independent.reasons
        found = []
        if self.unusual > _MOST_UNUSUAL and self._is_beyond_chance:
            how = "lie farther out than 95 % of the old"
            if self._is_held_out:
                how = "are less like the old than 95 % of these"
            share = f"{self.unusual:.0%} of the new rows {how}"
            found.append(f"{share} (more than {_MOST_UNUSUAL:.0%}, and than chance)")
        if len(self.group) > _MOST_UNUSUAL * self.n_new:
            found.append(
                f"{len(self.group) / self.n_new:.0%} of the new rows lie together, unlike the old "
                f"(more than {_MOST_UNUSUAL:.0%})"
            )
        lost = self.preserved_old - self.preserved_new
        if lost > _MOST_LOST and self.lost_by_chance <= _LOST_BY_CHANCE:
            found.append(
                f"new rows keep {lost:.0%} of their neighbours less than old rows (more than {_MOST_LOST:.0%})"
            )
        return found + self._unknown(beyond=_MOST_UNKNOWN)

    @property
    def _judged(self) -> Drift:
        """What new rows are judged by: those of a series that are hardly alike, or all."""
        return self if self.independent is None else self.independent

    @property
    def _is_held_out(self) -> bool:
        return self.n_compared < self.n_old

    @property
    def _is_beyond_chance(self) -> bool:
        """Whether so many rows lie so far out as rows like the old ones hardly ever do."""
        n = self.n_compared
        chances = counts_beyond(n, self.n_new, _rank(n))
        if chances[np.count_nonzero(self.novelty > OUTSIDE)] <= _MANY_BY_CHANCE:
            return True
        rare = chances[chances <= _MANY_BY_CHANCE]
        left = _NOVEL_BY_CHANCE - (float(rare[0]) if len(rare) else 0.0)
        return chance_of_farther(np.rint(self.novelty * n).astype(np.int64), n) <= left

    @property
    def refit(self) -> bool:
        """Whether the map should be fitted again with the new rows."""
        return bool(self.reasons)

    @property
    def differences(self) -> list[str]:
        """In what new rows differ from the old more than chance allows, whether the map should be fitted again or not.

        Empty for rows like the old ones.
        """
        if self.independent is not None:
            return self.independent.differences
        found = []
        if _differs(self.shift, self.shift_p_value) and not self._is_of_copies:
            nearer = float(np.median(self.novelty)) < 0.5
            share = float(np.mean(self.novelty < 0.5 if nearer else self.novelty > 0.5))
            found.append(
                f"{share:.0%} lie {'nearer in' if nearer else 'farther out'} than half of the old "
                f"(a shift of {self.shift:.2f}, by chance up to {self.shift_by_chance:.2f})"
            )
        if self.missing is not None and len(self.missing.columns):
            found.append(self._told_missing(self.missing))
        found += self._unknown()
        columns = self.columns
        if columns is not None and len(columns.constant):
            count = len(columns.constant)
            what = "a column has" if count == 1 else f"{count:,} columns have"
            found.append(f"{what} one value in all new rows ({self._names(columns.constant)})")
        if columns is not None and len(columns.shifts) and _differs(float(columns.shifts[0]), columns.p_value):
            far = columns.columns[columns.shifts > max(_MOST_SHIFT, columns.by_chance)]
            what = "a column differs" if len(far) == 1 else f"{len(far):,} columns differ"
            found.append(
                f"{what} in distribution ({self._names(far)}: by {columns.shifts[0]:.2f}, by chance up to "
                f"{columns.by_chance:.2f})"
            )
        if columns is not None and _differs(abs(columns.together), columns.together_p_value):
            found.append(
                f"the mean of {columns.n_together:,} columns differs in distribution ({_lower(columns)} in new rows: "
                f"by {abs(columns.together):.2f}, by chance up to {columns.together_by_chance:.2f})"
            )
        if len(self.group):
            found.append(
                f"{len(self.group):,} of the new rows are unlike the old and lie together ({self._rows_of_group()}): "
                "perhaps a group that the map has not seen"
            )
        return found

    @property
    def slight(self) -> list[str]:
        """In what new rows have shifted surely, though by less than `differences` asks for.

        Beyond what chance gives in one draw of 400, but by no more than 0.3: how far out rows lie, single columns, or
        the mean of all columns, which many small shifts in one direction move.
        """
        if self.independent is not None:
            return self.independent.slight
        found, columns = [], self.columns
        if _is_slight(self.shift, self.shift_p_value) and not self._is_of_copies:
            where = "nearer in" if float(np.median(self.novelty)) < 0.5 else "farther out"
            by_chance = f"by chance up to {self.shift_by_chance:.2f}"
            found.append(f"how far out they lie by {self.shift:.2f} ({where}; {by_chance})")
        if columns is not None and len(columns.shifts) and _is_slight(float(columns.shifts[0]), columns.p_value):
            far = columns.columns[columns.shifts > columns.by_chance]
            what = "a column" if len(far) == 1 else f"{len(far):,} columns"
            upto = "" if len(far) == 1 else "up to "
            found.append(
                f"{what} by {upto}{columns.shifts[0]:.2f} ({self._names(far)}; by chance up to {columns.by_chance:.2f})"
            )
        if columns is not None and _is_slight(abs(columns.together), columns.together_p_value):
            found.append(
                f"the mean of {columns.n_together:,} columns by {abs(columns.together):.2f} ({_lower(columns)}; by "
                f"chance up to {columns.together_by_chance:.2f})"
            )
        return found

    @property
    def _has_copies(self) -> bool:
        """Whether more new rows are rows of the map than the map's own rows let expect."""
        return len(self.copies) > 0 and self.copies_p_value <= _COPIED_BY_CHANCE

    @property
    def _is_of_copies(self) -> bool:
        """Whether new rows lie nearer in than old ones as copies of these do, which are their own neighbours."""
        return self._has_copies and float(np.median(self.novelty)) < 0.5

    @property
    def differs(self) -> bool:
        """Whether the new rows are unlike the old more than chance allows."""
        return bool(self.differences)

    def _unknown(self, beyond: float = 0.0) -> list[str]:
        """Say of which columns more new rows than a share, and than chance gives, have unknown categories."""
        if self.unknown is None:
            return []
        fewest = _FEWEST_UNKNOWN if beyond else 1
        shares = self.unknown.of_new
        told = ~self.unknown.by_chance & (shares > beyond) & (np.rint(shares * self.n_new) >= fewest)
        return [
            f"{shares[j]:.0%} of the new rows have a {self.unknown.names[j]!r} that the map does not know "
            f"({self.unknown.values[j]})"
            for j in np.flatnonzero(told)[:_NAMED]
        ]

    def _names(self, columns: npt.NDArray[np.int64]) -> str:
        first = int(columns[0])
        name = self.column_names[first] if first < len(self.column_names) else f"column {first}"
        return name if len(columns) == 1 else f"first {name}"

    def _told_label(self, label: Any, count: int) -> str:
        strange = self.labels_of_group.get(label, 0)
        return f"{label} ({count}" + (f", {strange} of them unlike the old and together)" if strange else ")")

    def _rows_of_group(self) -> str:
        rows, count = ", ".join(str(row) for row in self.group[:_ROWS_NAMED]), len(self.group)
        return f"rows {rows}" + (f" and {count - _ROWS_NAMED:,} more" if count > _ROWS_NAMED else "")

    def _told_missing(self, missing: MissingShift) -> str:
        """Say of which columns values are missing more often; features of one column as it came are one."""
        shares: dict[str, str] = {}
        for column, old, new in zip(missing.columns, missing.of_old, missing.of_new, strict=True):
            name = self.missing_names[column] if column < len(self.missing_names) else f"column {column}"
            shares.setdefault(name, f"{name} in {new:.0%} of the new rows and {old:.0%} of the old")
        told = list(shares.values())
        more = f", and {len(told) - _NAMED:,} more columns" if len(told) > _NAMED else ""
        listed = ", ".join(told[:_NAMED]) + more
        return f"values are missing more often ({listed}), and what was filled in was not measured"

    def summary(self) -> str:
        """Say in words how new rows differ, and whether to fit again."""
        k = self.n_neighbors
        left_out = ""
        if self.n_blank:
            left_out = f"{told_blank(self.n_blank, self.n_new + self.n_blank, self.metric)}: "
        if not self.n_new:
            return f"{left_out}there is nothing to compare with the {self.n_old:,} rows of the map."
        lines = [f"{left_out}they are left out of what follows"] if left_out else []
        judged = self._judged
        by = ""
        if judged is not self:
            by = f", judged by {judged.n_new:,} of the new rows among {judged.n_old:,} of the old, hardly alike"
        lines += [
            f"{self.n_new:,} new rows among {self.n_old:,}{by}: {self.unusual:.1%} unusual (5 % expected), "
            f"{self.out_of_range:.1%} out of range",
            f"how far out they lie, not where (their novelty), differs in distribution by {self.shift:.2f}, "
            f"by chance up to {self.shift_by_chance:.2f}",
            f"{k} nearest old rows kept in the map: {self.preserved_new:.0%} for new rows, "
            f"{self.preserved_old:.0%} for old",
        ]
        if self._is_held_out:
            lines.insert(
                len(lines) - 1, f"novelty is told by {self.n_compared:,} old rows, held out of the components of others"
            )
        if len(judged.region_p_values) and judged.region_p_values[0] <= _CROWDED_BY_CHANCE:
            place, new, old = judged.regions[0]
            where, usual = ", ".join(f"{value:.3g}" for value in place), old * judged.n_new / judged.n_old
            lines.append(
                f"more new rows than by chance: in the region about ({where}) lie {new:,}, and by its {old:,} old rows "
                f"{usual:,.0f} would"
            )
        if self.labels:
            most = sorted(self.labels.items(), key=lambda item: -item[1])[:5]
            lines.append("they came to " + ", ".join(self._told_label(*one) for one in most))
        if self.unknown is not None and len(self.unknown.names):
            pairs = zip(self.unknown.names, self.unknown.of_new, self.unknown.values, strict=True)
            told = [f"{name!r} in {share:.1%} of the new rows ({values})" for name, share, values in pairs]
            more = f", and {len(told) - _NAMED:,} more columns" if len(told) > _NAMED else ""
            lines.append(f"categories that the map does not know: {', '.join(told[:_NAMED])}{more}")
        lines += [self._told_copies()] if self._has_copies else []
        lines += [self.caution] if self.caution else []
        advice = judged._advice()
        if self._has_copies:
            advice += f" {len(self.copies):,} of the new rows are not new: they test nothing."
        return "\n".join([*lines, advice])

    def _told_copies(self) -> str:
        """Say which new rows are rows of the map."""
        count = len(self.copies)
        listed = ", ".join(f"{new} of {old}" for new, old in self.copies[:_NAMED].tolist())
        more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
        return (
            f"copies: {count:,} of {self.n_new:,} new rows are rows of the map ({self.n_equal:,} equal, "
            f"{count - self.n_equal:,} nearly; row {listed}{more}), as {self.n_repeated:,} of its {self.n_old:,} rows "
            "repeat others"
        )

    def _advice(self) -> str:
        differ = "; ".join(one for one in self.differences if one not in self.reasons)
        if self.refit:
            first = f" First check that they were prepared alike: {differ}." if differ and not self.by_shares else ""
            return "Fit again: " + "; ".join(self.reasons) + "." + first
        if len(self.group):
            return (
                f"The new rows are not like the old: {differ}. Look at them: the map places a new group among the old "
                "rows that are least unlike it; fit again with the new rows to give it a place of its own."
            )
        if differ and self.by_shares and not self._unknown():
            label, count = max(self.labels.items(), key=lambda item: item[1])
            return (
                f"No need to fit again. The new rows come in other shares of the labels ({count / self.n_new:.0%} came "
                f"to {label}), and otherwise are like the old."
            )
        if differ:
            return (
                f"No need to fit again, but the new rows are not like the old: {differ}. Check that they were prepared "
                "alike; rows of another kind, or in other shares of the same kinds, may differ so too."
            )
        if slight := self.slight:
            return (
                f"No need to fit again, but the new rows have surely shifted, though little: {'; '.join(slight)}. Up "
                f"to {_MOST_SHIFT:.2f} they count as like the old; check that they were prepared alike."
            )
        if self.unusual > _MOST_UNUSUAL or self.preserved_old - self.preserved_new > _MOST_LOST:
            rows = "one new row" if self.n_new == 1 else f"{self.n_new:,} new rows"
            return f"No need to fit again: what speaks for it may be chance, of {rows}."
        return "No need to fit again."

    def __str__(self) -> str:
        return self.summary()


def measure_drift(
    X: Any,
    Y: npt.NDArray[Any],
    X_new: Any,
    Y_new: npt.NDArray[Any],
    *,
    labels: npt.NDArray[Any] | None = None,
    n_neighbors: int = 15,
    metric: str = "euclidean",
    unlikeness: Unlikeness | None = None,
    features: tuple[Any, Any] | None = None,
    column_names: Sequence[str] = (),
    missing: Masks | None = None,
    missing_names: Sequence[str] = (),
    unknown: UnknownShift | None = None,
    orders: tuple[Succession | None, Succession | None] = (None, None),
    n_together: int = 0,
) -> Drift:
    """Compare new rows and their places with the rows of a map.

    Frames of a time series lie beside those before and after, and new ones beside none of these. So where rows are a
    series all are counted, and those are judged that are as far apart as the likeness reaches.

    Parameters
    ----------
    X, X_new : ndarray or CSR of shape (n_old, n_features) and (n_new, n_features)
        At least one new row.
    Y, Y_new : ndarray of shape (n_old, n_components) and (n_new, n_components)
        Their places; old rows with NaN have none and take no part.
    labels : ndarray of shape (n_old,), default=None
    n_neighbors : int >= 1, default=15
    metric : str, default="euclidean"
        Nearest rows are those of `AffineAtlas` under this metric.
    unlikeness : Unlikeness, default=None
        Of the new rows, if X are coordinates that were learned from the old ones; None compares them with the old rows
        by X.
    features : tuple of two tables of n_old and n_new rows, default=None
        Whose columns are compared, if X are coordinates that were learned from the old ones; None compares those of X.
    column_names : sequence of str, default=()
        Names of these columns; numbers are told where there are none.
    missing : tuple of ndarray of shape (n_old, n_columns) and (n_new, n_columns), bool, default=None
        Which of their values were missing and filled in; None for none.
    missing_names : sequence of str, default=()
        The names of the columns as they came, such as that of a category which became several columns.
    unknown : UnknownShift, default=None
        Categories of the new rows that the map does not know.
    orders : tuple of (Succession or None, Succession or None), default=(None, None)
        What `gnomon.neighbors.succession_of_rows` says of X and of X_new.
    n_together : int >= 0, default=0
        Principal components of the columns of old and new rows together in which a kind of rows is looked for that the
        old ones lack: where X are components that were learned from these. 0 looks for none there.

    Returns
    -------
    Drift
    """
    if any(orders):
        measure = partial(
            measure_drift,
            n_neighbors=n_neighbors,
            metric=metric,
            column_names=column_names,
            missing_names=missing_names,
            unknown=unknown,
            n_together=n_together,
        )
        return _of_series(
            orders,
            measure,
            (X, Y, X_new, Y_new),
            {"labels": labels, "unlikeness": unlikeness, "features": features, "missing": missing},
        )
    placed = np.flatnonzero(np.isfinite(np.asarray(Y)).all(axis=1))
    if len(placed) < len(Y):
        X, Y, labels = X[placed], Y[placed], None if labels is None else labels[placed]
        features = None if features is None else (features[0][placed], features[1])
        missing = None if missing is None else (missing[0][placed], missing[1])
    old, new = (X, X_new) if features is None else features
    blank = blank_rows(new, known_columns(old, metric))
    told_of = np.setdiff1d(np.arange(int(new.shape[0])), blank)
    if len(blank):
        X_new, Y_new = X_new[told_of], np.asarray(Y_new)[told_of]
        features = None if features is None else (old, new[told_of])
        missing = None if missing is None else (missing[0], missing[1][told_of])
        unlikeness = None if unlikeness is None else unlikeness.of(told_of)
    if not len(told_of):
        return _of_blank_rows(blank, len(placed), metric)
    lift = lift_of(metric, X)
    X, X_new = lift.points(X), lift.points(X_new)
    n = int(X.shape[0])
    k = min(n_neighbors, n - 1)
    graph = compute_neighbors(X, k)
    search = RowSearch.of(X, k)
    indices, distances = search.find(X_new)
    novelty, scores = None, np.empty(0)
    if unlikeness is None:
        n_drawn = _effective_number(X, graph.distances)
        novelty = Novelty.learn(graph.indices, graph.distances)
        scores = novelty.score(indices, distances)
        unlikeness = Unlikeness(*levels_among(novelty.scores, scores), novelty.far(scores), n)
    else:
        n_drawn = float(unlikeness.n_compared)
    level, shift = unlikeness.novelty, unlikeness.shift()
    some = evenly_spaced(n, _SAMPLE)
    kept = _shared(indices, _nearest_in_map(Y, np.asarray(Y_new), None, k))
    kept_of_old = _shared(graph.indices[some], _nearest_in_map(Y, np.asarray(Y)[some], some, k))
    n_new = int(X_new.shape[0])
    old, new = (X, X_new) if features is None else features
    same_columns = missing is not None and missing[0].shape[1] == old.shape[1]  # to which a metric may add some
    filled = missing if same_columns else None
    regions, region_p_values = _regions(np.asarray(Y, dtype=np.float64), np.asarray(Y_new, dtype=np.float64))
    group = rows_together(old, new, np.flatnonzero(level > OUTSIDE))
    if n_together:
        group = max(group, rows_of_new_kind(old, new, n_together), key=len)
    copies = find_copies(old, new, graph, indices, distances)
    drift = Drift(
        n_old=n,
        n_new=n_new,
        n_compared=unlikeness.n_compared,
        novelty=level,
        unusual=float(np.mean(level > OUTSIDE)),
        out_of_range=float(np.mean(unlikeness.is_far)),
        shift=shift,
        shift_by_chance=largest_shift(n_drawn, n_new),
        preserved_new=float(kept.mean()) / k,
        preserved_old=float(kept_of_old.mean()) / k,
        lost_by_chance=chance_of_fewer(kept_of_old, n_new, float(kept.sum()) + n_new * _MOST_LOST * k),
        n_neighbors=k,
        regions=regions,
        region_p_values=region_p_values,
        labels=_majorities(labels, indices),
        shift_p_value=chance_of_shift(shift, n_drawn, n_new),
        columns=measure_columns(old, new, missing=filled),
        column_names=column_names,
        missing=None if missing is None else measure_missing(missing),
        missing_names=missing_names or column_names,
        group=told_of[group],
        unknown=unknown,
        copies=np.stack([told_of[copies.pairs[:, 0]], placed[copies.pairs[:, 1]]], axis=1),
        n_equal=copies.n_equal,
        n_repeated=copies.n_repeated,
        copies_p_value=copies.p_value,
        labels_of_group=_majorities(labels, indices[group]),
        blank=blank,
        metric=metric,
    )
    if not drift.labels or not drift.differs:
        return drift
    weights = _like_shares(labels, graph.indices, indices)
    scored = None if novelty is None else (novelty.score_fitted(graph.indices, graph.distances), scores)
    return replace(drift, by_shares=_differs_by_shares(drift, weights, (old, new), scored, filled))


def _of_series(
    orders: tuple[Succession | None, Succession | None],
    measure: Callable[..., Drift],
    tables: tuple[Any, Any, Any, Any],
    known: dict[str, Any],
) -> Drift:
    """Return counts of all rows, and what those of a series say that are hardly alike, by which they are judged."""
    X, Y, X_new, Y_new = tables
    old, new = (
        np.arange(rows.shape[0]) if order is None else order.independent
        for order, rows in zip(orders, (X, X_new), strict=True)
    )
    first, second = orders
    unseen = first is not None and second is None and len(new) < _FEW_STEPS * first.step
    if first is not None and unseen:
        new = np.arange(0, len(new), first.step)
    if len(old) < _FEWEST_OLD:
        old = evenly_spaced(int(X.shape[0]), _FEWEST_OLD)
    labels, unlikeness, features, missing = (known[name] for name in ("labels", "unlikeness", "features", "missing"))
    if unlikeness is not None:
        share = len(old) / int(X.shape[0])
        unlikeness = unlikeness.of(new)._replace(n_compared=max(1, round(share * unlikeness.n_compared)))
    few = measure(
        X[old],
        np.asarray(Y)[old],
        X_new[new],
        np.asarray(Y_new)[new],
        labels=None if labels is None else labels[old],
        unlikeness=unlikeness,
        features=None if features is None else (features[0][old], features[1][new]),
        missing=None if missing is None else (missing[0][old], missing[1][new]),
    )
    few = replace(few, group=new[few.group], blank=new[few.blank])
    one, whose = (second, "the new rows") if first is None else (first, "the map")
    assert one is not None
    caution = f"Of {whose}: {one.told('rows are nearer to those before and after them than to others')}"
    if first is not None and second is not None:
        caution += f" The same holds of the new rows, of which about {second.n_independent:,} are independent."
    if unseen:
        caution += " The new rows are too few to show their order: they are taken for rows of such a series."
    whole = measure(*tables, **known)
    judged = {name: getattr(few, name) for name in _OF_INDEPENDENT}
    return replace(whole, caution=caution, independent=few, labels_of_group={}, **judged)


def _of_blank_rows(blank: npt.NDArray[np.int64], n_old: int, metric: str) -> Drift:
    """Return what is said where all new rows say nothing."""
    none, unknown = np.empty(0), float("nan")
    return Drift(
        n_old=n_old,
        n_new=0,
        n_compared=n_old,
        novelty=none,
        unusual=0.0,
        out_of_range=0.0,
        shift=0.0,
        shift_by_chance=1.0,
        preserved_new=unknown,
        preserved_old=unknown,
        lost_by_chance=1.0,
        n_neighbors=0,
        regions=[],
        labels={},
        blank=blank,
        metric=metric,
    )


def _differs(shift: float, p_value: float) -> bool:
    return shift > _MOST_SHIFT and p_value <= _SHIFT_BY_CHANCE


def _effective_number(X: Any, distances: npt.NDArray[Any]) -> float:
    """Return as how many rows of independent novelty rows count: equal ones have one novelty."""
    n = len(distances)
    if not (distances[:, 0] == 0.0).any():
        return float(n)
    counts = np.bincount(find_duplicate_rows(float_rows(X))[1]).astype(np.float64)
    return n**2 / float((counts**2).sum())


def _is_slight(shift: float, p_value: float) -> bool:
    return shift <= _MOST_SHIFT and p_value <= _SHIFT_BY_CHANCE


def _lower(columns: ColumnShift) -> str:
    return "lower" if columns.together < 0.0 else "higher"


def _like_shares(labels: Any, near: npt.NDArray[np.int32], near_new: npt.NDArray[np.int32]) -> Float64Array:
    """Return weights of old rows by which they come in the shares of the labels in which new rows do.

    The label of a row is that of most of its nearest old rows.
    """
    classes = sort_into_classes(labels)
    kinds = {label: code for code, label in enumerate(classes.values)} | {None: len(classes.values)}
    old, new = (np.array([kinds[classes.most_frequent(row)] for row in rows]) for rows in (near, near_new))
    shares, wanted = (np.bincount(one, minlength=len(kinds)) / len(one) for one in (old, new))
    found: Float64Array = (wanted / np.where(shares > 0.0, shares, 1.0))[old]
    return found


def _differs_by_shares(
    drift: Drift,
    weights: Float64Array,
    tables: tuple[Any, Any],
    scored: tuple[Float64Array, Float64Array] | None,
    missing: Masks | None,
) -> bool:
    """Return whether new rows do not differ from old ones of such weights."""
    if not weights.any():
        return False
    columns, shift, p_value = measure_columns(*tables, weights, missing), drift.shift, drift.shift_p_value
    if scored is not None:
        share = weights / weights.sum()
        shift = float(largest_difference(scored[0][:, None], scored[1][:, None], share)[0])
        p_value = chance_of_shift(shift, float(weights.sum() ** 2 / (weights**2).sum()), drift.n_new)
    return not replace(drift, columns=columns, shift=shift, shift_p_value=p_value).differs


def _nearest_in_map(
    Y: npt.NDArray[Any], places: npt.NDArray[Any], own: npt.NDArray[np.int64] | None, k: int
) -> npt.NDArray[np.int32]:
    wanted = k if own is None else k + 1
    found = query_neighbors(np.asarray(Y, dtype=np.float64), places.astype(np.float64), wanted)
    return found[0] if own is None else without_own(*found, own)[0]


def _shared(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return how many neighbours each row of two lists has in both."""
    return np.array([np.count_nonzero(np.isin(a, b)) for a, b in zip(one, other, strict=True)])


def _rank(n_old: int) -> int:
    """Return the rank of the old row, from the one that lies least far out, beyond which a new one is unusual."""
    rank = int(OUTSIDE * n_old)
    return rank if rank / n_old > OUTSIDE else rank + 1


def _regions(Y: Float64Array, Y_new: Float64Array) -> tuple[list[tuple[Float64Array, int, int]], Float64Array]:
    """Return the cells that new rows came to, and how likely each or any other has so many, the least likely first."""
    both = np.concatenate([Y, Y_new])
    low = both.min(axis=0)
    size = float((both.max(axis=0) - low).max()) / _GRID or 1.0
    cells, cell = np.unique(np.floor((both - low) / size), axis=0, return_inverse=True)
    old, new = (np.bincount(part.ravel(), minlength=len(cells)) for part in np.split(cell.ravel(), [len(Y)]))
    came = np.flatnonzero(new)
    chances = np.array([chance_of_more(int(old[c]), len(Y), int(new[c]), len(Y_new)) for c in came]) * len(cells)
    order = np.lexsort((old[came] * (len(Y_new) / len(Y)) - new[came], chances))
    found = [(low + (cells[c] + 0.5) * size, int(new[c]), int(old[c])) for c in came[order]]
    return found, np.minimum(chances[order], 1.0)


def _majorities(labels: npt.NDArray[Any] | None, near: npt.NDArray[np.int32]) -> dict[Any, int]:
    """Count new rows by the label that most of their nearest old rows have."""
    if labels is None or measured_labels(labels) is not None:
        return {}
    classes = sort_into_classes(labels)
    found = Counter(classes.most_frequent(row) for row in near)
    return {label: count for label, count in found.items() if label is not None}
