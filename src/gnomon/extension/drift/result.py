"""What new rows say about a map: whether they are like its own, and how well they are placed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._printed import Printed
from gnomon.extension.drift.columns import ColumnShift, MissingShift, UnknownShift
from gnomon.extension.drift.differences import differences, reasons, slight
from gnomon.extension.drift.judgement import judged_by
from gnomon.extension.drift.summary import summary

if TYPE_CHECKING:
    from gnomon.explanations import OffDirections

__all__ = ["Drift"]

Float64Array = npt.NDArray[np.float64]


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
        Regions of the data that new rows came to, each a new row and those nearest to it among old and new ones
        together: the median place of its new rows in the map, its new rows, and its old rows. Those where more new rows
        than expected by the old ones are least likely come first, and none is about a row of one before it. Of more
        than 8000 old or 4000 new rows as many are looked at and counted. Empty where new rows are so few that they are
        not more than chance anywhere.
    region_p_values : ndarray of shape (n_regions,), float64, in [0, 1]
        How likely it is at most that in any region that was looked at so many of its rows are new, of rows like the old
        ones, whatever their distribution (Fisher's test times these regions: several sizes about at most 256 new rows).
        Below 0.0025 the first one is told.
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
        one, and more of them, or of the most unusual among them, than chance gives but in one of some hundred draws; or
        few with room about them, 1.5 times as far from all other rows as what links them. Of a map in principal
        components also those that lie among new rows alone in components of old and new rows together. Perhaps a group
        that the map has not seen; at least 5 rows, or none.
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
        than rows come by chance, so that each has the other (in one of twenty tables whose rows lie evenly), and so
        in most columns, not in a few giant ones alone. They are not new, and what is told of new rows by them is no
        test.
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
        Whether what differs, or is shifted though little, is explained by how many of the new rows came to which label:
        beside old rows in the same shares of the labels they do not differ so, nor are they shifted.
    caution : str
        What the order of the rows of the map, or of the new ones, says against comparing all of them, and what is left
        out, such as weights of rows that made the map; empty if nothing.
    off_directions : gnomon.explanations.OffDirections or None
        Which new rows lie off the directions in which columns of the map go together, or far out within them, and by
        which columns: of rows like the old ones any does in at most one of 400 draws. Novelty goes by distances to the
        nearest rows, which a few odd columns of many, or a broken correlation, hardly change. Told, and no reason to
        fit again. None of time series, and where the map has no such directions, see `Map.outliers`.
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
    off_directions: OffDirections | None = None

    @property
    def n_blank(self) -> int:
        """Number of the new rows that are left out, as they say nothing."""
        return len(self.blank)

    @property
    def reasons(self) -> list[str]:
        """Why the map should be fitted again; empty if nothing speaks for it."""
        return reasons(judged_by(self))

    @property
    def refit(self) -> bool:
        """Whether the map should be fitted again with the new rows."""
        return bool(self.reasons)

    @property
    def differences(self) -> list[str]:
        """In what new rows differ from the old more than chance allows, whether the map should be fitted again or not.

        Empty for rows like the old ones.
        """
        return differences(judged_by(self))

    @property
    def differs(self) -> bool:
        """Whether the new rows are unlike the old more than chance allows."""
        return bool(self.differences)

    @property
    def slight(self) -> list[str]:
        """In what new rows have shifted surely, though by less than `differences` asks for.

        Beyond what chance gives in one draw of 400, but by no more than 0.3: how far out rows lie, single columns, or
        the mean of all columns, which many small shifts in one direction move.
        """
        return slight(judged_by(self))

    def summary(self) -> str:
        """Say in words how new rows differ, and whether to fit again."""
        return summary(self)

    def __str__(self) -> str:
        return self.summary()
