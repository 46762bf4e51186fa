"""From the data to the map: positions as a blend of charts, their derivatives, and how far rows lie out of range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._validation import warn
from gnomon.exceptions import DataWarning
from gnomon.extension.atlas.charts import BlendLaw, Charts
from gnomon.extension.atlas.lifts import Lift
from gnomon.extension.atlas.points import Candidates, Distances, NearestPoints, Rows
from gnomon.linalg.table import RowTable
from gnomon.neighbors import RowSearch, native_metric, untold_zeros

__all__ = [
    "Blend",
    "Forward",
    "MetricRange",
    "Novelty",
    "explaining_far",
    "hearing_far",
    "levels_among",
    "tell_of_far",
    "untold_far",
]

Float64Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_FAR = 1.5
"""A row is out of range if its score exceeds the largest one of the fitted rows by this factor."""

_UNLIKE = 0.99
"""A row is unlike the fitted rows if more of these than this share have a lower score."""

_MOST, _FEWEST = 0.5, 10  # share of the rows placed that are unlike, and how many: one in 100 is by chance
_CONSENSUS = 4.0
_BLOCK = 1 << 14  # fitted rows that are scored together

_HEARD: ContextVar[list[Mask]] = ContextVar("gnomon_far_rows")
_UNTOLD: ContextVar[Mask] = ContextVar("gnomon_untold_far_rows")
_WHY: ContextVar[Callable[[Mask], str]] = ContextVar("gnomon_why_rows_are_far")


@dataclass(frozen=True)
class Novelty(ShortRepr):
    """Scores of rows: their distance to their nearest fitted rows over the usual distance there.

    A new row is no neighbour of the fitted rows near it. So that the scores of both are alike by chance, a fitted row
    is scored as if it were new: the widths of its neighbours are those that they have without it. For this the
    farthest neighbour of each row steps in where another is left out, and does not count else.

    Attributes
    ----------
    widths : ndarray of shape (n_samples,), float64
        Mean distance of each fitted row to its nearest others.
    scores : ndarray of shape (n_samples,), float64
        Ascending: what each fitted row gets among the others, as if it were new. About 1 in the middle of the data.
    n_neighbors : int >= 1
        Nearest rows that count: one less than are known of each fitted row, but one at least.
    ends_at_one : bool, default=False
        Whether distances are shares of what two rows do not have in common, 1 between rows that have nothing. The score
        is then the odds d / (1 - d) of the mean distance alone: where rows lie at nearly 1 of all others the distance
        there is no measure of how near the next may be. Infinite for a row that has nothing in common with any.
    """

    widths: Float64Array
    scores: Float64Array
    n_neighbors: int
    ends_at_one: bool = False

    @classmethod
    def learn(cls, indices: npt.NDArray[Any], distances: npt.NDArray[Any], *, metric: str = "euclidean") -> Self:
        """Take the scale of the fitted rows from their neighbours, both of shape (n_samples, n_neighbors).

        Of one neighbour alone no other can step in, and the scores of fitted rows are too high then. `metric` is that
        of the distances, as a graph carries it.
        """
        native = native_metric(metric)
        if (distances[:, 1:] < distances[:, :-1]).any():
            order = np.argsort(distances, axis=1, kind="stable")
            indices, distances = (np.take_along_axis(one, order, axis=1) for one in (indices, distances))
        count = max(distances.shape[1] - 1, 1)
        widths = distances[:, :count].mean(axis=1, dtype=np.float64)
        made = cls(widths, widths, count, native is not None and native.ends_at_one)
        return replace(made, scores=np.sort(made.score_fitted(indices, distances)))

    def score(self, indices: npt.NDArray[Any], distances: npt.NDArray[Any]) -> Float64Array:
        """Return the scores of new rows with these nearest fitted rows, the nearest first, `n_neighbors` at least.

        Their mean distance over the mean of the nearest rows' own mean distances; infinite where these are 0 and the
        row is not.
        """
        near, count = indices[:, : self.n_neighbors], self.n_neighbors
        if self.ends_at_one:
            return _odds(distances[:, :count].mean(axis=1, dtype=np.float64))
        return _over(distances[:, :count].mean(axis=1, dtype=np.float64), self.widths[near].mean(axis=1))

    def score_fitted(self, indices: npt.NDArray[Any], distances: npt.NDArray[Any]) -> Float64Array:
        """Return the scores of the fitted rows, each as if it were new, from the neighbours that `learn` was given."""
        count, (n, k) = self.n_neighbors, indices.shape
        if self.ends_at_one:
            return _odds(distances[:, :count].mean(axis=1, dtype=np.float64))
        found = np.empty(n)
        for begin in range(0, n, _BLOCK):
            rows = np.arange(begin, min(begin + _BLOCK, n))
            near = indices[rows, :count]
            widths = self.widths[near]
            for column in range(count if k > count else 0):
                # Where the row is among the neighbours of its neighbour, the farthest of these steps in for it.
                others = near[:, column]
                is_own = indices[others] == rows[:, None]
                at = np.flatnonzero(is_own.any(axis=1))
                without = np.where(is_own[at], 0.0, distances[others[at]])
                widths[at, column] = without.sum(axis=1) / count
            found[rows] = _over(distances[rows, :count].mean(axis=1, dtype=np.float64), widths.mean(axis=1))
        return found

    def level(self, scores: Float64Array) -> Float64Array:
        """Return the share of the fitted rows whose score is lower, in [0, 1]."""
        return levels_among(self.scores, scores)[0]

    def far(self, scores: Float64Array, *, n_alone: int = 0) -> Mask:
        """Return which rows are out of range: beyond 1.5 times the largest score of the fitted rows.

        Parameters
        ----------
        scores : ndarray of shape (n_rows,), float64
        n_alone : int >= 0, default=0
            At most so many fitted rows set no range if they lie far out themselves, beyond 1.5 times the score of all
            others: a few that were drawn of a far group, which do not make the rest of it known. Not more than a tenth.
        """
        beyond: Mask = scores > _FAR * self._largest(n_alone)
        return beyond

    def _largest(self, n_alone: int) -> float:
        last = self.scores[-1 - min(n_alone, len(self.scores) // 10) :]
        gaps = np.flatnonzero(last[1:] > _FAR * last[:-1])
        return float(last[gaps[0] if len(gaps) else -1])


def levels_among(known: Float64Array, scores: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return which shares of known scores, ascending, are lower than each of some scores, and equal to it."""
    below, upto = (np.searchsorted(known, scores, side=side) / len(known) for side in ("left", "right"))
    return below, upto - below


@contextmanager
def hearing_far() -> Iterator[list[Mask]]:
    """Collect which rows are out of range inside a block, instead of warnings of how many.

    Yields
    ------
    list of ndarray of bool
        Of each call that placed rows, in the order of these; nothing from a method that does not look for neighbours.
        A group of which fewer rows than neighbours were fitted counts as out of range, see `Novelty.far`.
    """
    heard: list[Mask] = []
    token = _HEARD.set(heard)
    try:
        yield heard
    finally:
        _HEARD.reset(token)


@contextmanager
def untold_far(rows: Mask) -> Iterator[None]:
    """Leave some of the rows that are placed inside a block without a warning, as the caller has told of them.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,), bool

    Yields
    ------
    None
        To the block.
    """
    token = _UNTOLD.set(rows)
    try:
        yield
    finally:
        _UNTOLD.reset(token)


@contextmanager
def explaining_far(why: Callable[[Mask], str]) -> Iterator[None]:
    """Let warnings of rows out of range inside a block say more of them.

    Parameters
    ----------
    why : callable
        Takes which of the rows that were placed are out of range, (n_rows,), to a sentence, or to an empty text.

    Yields
    ------
    None
        To the block.
    """
    token = _WHY.set(why)
    try:
        yield
    finally:
        _WHY.reset(token)


def tell_of_far(known: Novelty, scores: Float64Array, n_neighbors: int, *, away: Mask | bool = True) -> None:
    """Say which of the rows that were placed are out of range to who hears it, or warn of how many, if any are.

    A warning also tells that most rows, ten at least, are unlike the fitted ones though in range, such as those of
    another kind or in other units.

    Parameters
    ----------
    known : Novelty
        Of the fitted rows.
    scores : ndarray of shape (n_rows,), float64
        Of the rows placed.
    n_neighbors : int
        Nearest rows that scores are taken of.
    away : ndarray of shape (n_rows,) or bool, default=True
        Which of them are no fitted rows.
    """
    heard = _HEARD.get(None)
    if heard is not None:
        heard.append(known.far(scores, n_alone=n_neighbors) & away)
        return
    untold = _UNTOLD.get(None)
    if untold is not None and len(untold) == len(scores):
        away = ~untold & away
    far = known.far(scores) & away
    told = [_told_of_far(known, far)] if far.any() else []
    unlike = (known.level(scores) > _UNLIKE) & away
    n_new = int(np.count_nonzero(np.broadcast_to(away, unlike.shape)))
    count, n_far = int(np.count_nonzero(unlike)), int(np.count_nonzero(far))
    if count >= max(_FEWEST, _MOST * n_new) and 2 * n_far < count:
        told.append(
            f"{count:,} of {len(scores):,} rows are less like the rows of the map than {_UNLIKE:.0%} of these are like "
            "each other, of which 1% are by chance: they may be of another kind, or in other units."
        )
    if told:
        warn(f"{' '.join(told)} See novelty().", DataWarning)


def _told_of_far(known: Novelty, far: Mask) -> str:
    why = _WHY.get(None)
    more = f" {told}" if why is not None and (told := why(far)) else ""
    least = f"farther from the rows of the map than {_FAR} times what is found among these"
    if known.ends_at_one:
        least = f"with less in common with the rows of the map than 1 / {_FAR} of the least found among these"
    return (
        f"{int(np.count_nonzero(far)):,} of {len(far):,} rows lie out of range, {least}; their places are "
        f"extrapolated.{more}"
    )


def _over(distance: Float64Array, width: Float64Array) -> Float64Array:
    return np.where(distance > 0.0, distance / np.where(width > 0.0, width, 1.0), 0.0) * np.where(
        (width > 0.0) | (distance == 0.0), 1.0, np.inf
    )


def _odds(distances: Float64Array) -> Float64Array:
    """Return the odds of distances in [0, 1]; infinite at 1."""
    apart = distances >= 1.0
    return np.where(apart, np.inf, distances / np.where(apart, 1.0, 1.0 - distances))


@dataclass(frozen=True)
class MetricRange:
    """Finds the rows of a map that are nearest by a metric of which its points know nothing.

    The search is made at the first question and not copied or pickled; it is made again to the same bytes.

    Attributes
    ----------
    table : ndarray or CSR of shape (n_points, n_features)
    metric : str
        Of `gnomon.neighbors.native_metric`.
    n_neighbors : int >= 1
    """

    table: Any
    metric: str
    n_neighbors: int

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "search"}

    @classmethod
    def of(cls, table: Any, metric: str, n_neighbors: int, lift: Lift) -> Self | None:
        """Return the search that a metric asks for; None where distances between points are its own, or unknown."""
        native = native_metric(metric)
        plain = native is None or native.name == "euclidean" or lift.is_metric
        return None if plain else cls(table, metric, n_neighbors)

    @cached_property
    def search(self) -> RowSearch:
        """How rows are found."""
        return RowSearch.of(self.table, self.n_neighbors, metric=self.metric)

    def scores(self, novelty: Novelty, rows: Any) -> Float64Array:
        """Return the scores of rows, in the form of the table; infinite where the metric is not defined of one."""
        native = native_metric(self.metric)
        found = np.full(int(rows.shape[0]), np.inf)
        defined = np.ones(len(found), dtype=np.bool_)
        if native is not None and native.takes_amounts:
            defined = np.asarray(rows.min(axis=1) if isinstance(rows, np.ndarray) else rows.min(axis=1).toarray())
            defined = defined.ravel() >= 0.0
        some = np.flatnonzero(defined)
        if len(some):
            with untold_zeros():  # who places rows tells of those
                found[some] = novelty.score(*self.search.find(rows[some]))
        return found


class Blend(NamedTuple):
    """What the charts say of m rows.

    Attributes
    ----------
    positions : ndarray of shape (m, n_components), float64
    spread : ndarray of shape (m,), float64
        Weighted root mean square distance of the charts' predictions from the position.
    jacobians : ndarray of shape (m, n_components, n_features), float64; no columns if they were not asked for
    scores : ndarray of shape (m,), float64
        Of `Novelty`, by the distances between points.
    """

    positions: Float64Array
    spread: Float64Array
    jacobians: Float64Array
    scores: Float64Array


@dataclass(frozen=True)
class Forward:
    """The blend of the charts around the points of a map.

    Attributes
    ----------
    lift : Lift
        From rows of the data to their points.
    nearest : NearestPoints
        Among the points of the rows.
    table : RowTable
        The points of the rows.
    charts : Charts
    law : BlendLaw
        Of distances between points of rows.
    novelty : Novelty
    n_neighbors : int
        Nearest points that `novelty` was learned from.
    measured : MetricRange, default=None
        Where `novelty` was learned from distances in another metric than that between points.
    """

    lift: Lift
    nearest: NearestPoints
    table: RowTable
    charts: Charts
    law: BlendLaw
    novelty: Novelty
    n_neighbors: int
    measured: MetricRange | None = None

    def blend(self, rows: Any, *, jacobians: bool = False, own: Rows | None = None) -> Blend:
        """Place rows; point own[i] takes no part in row i."""
        law = self.law

        def run(some: Any, near: Candidates, distances: Distances) -> tuple[npt.NDArray[Any], ...]:
            how = (law.count, law.softness, law.power, _CONSENSUS, jacobians, current_run().n_threads)
            new = RowTable.of(some).core
            positions, spread, truncated, derivatives = _core.atlas_predict(
                self.table.core, new, near, self.charts.core, *how
            )
            return (
                positions,
                spread,
                derivatives if jacobians else positions[:, :0],
                self._score(near, distances),
                truncated,
            )

        found = Blend(*self.nearest.ask(run, self.lift.points(rows), own))
        return found._replace(jacobians=self.lift.of_rows(rows, found.jacobians)) if jacobians else found

    def linearize(self, row: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return place and derivative of one row, of a dense table."""
        law, near, most = self.law, *self.nearest.sizes
        how = (law.count, law.softness, law.power, _CONSENSUS, near, most)
        new = _core.Table(self.lift.points(row[None]))
        place, derivative = _core.atlas_linearize(self.table.core, self.nearest.sketch, new, self.charts.core, *how)
        return place, self.lift.of_rows(row[None], derivative[None])[0]

    def scores(self, rows: Any) -> Float64Array:
        """Return the scores of rows alone."""
        if self.measured is not None:
            return self.measured.scores(self.novelty, rows)
        return self._score(*self.nearest.search.find(self.lift.points(rows), self.n_neighbors))

    def _score(self, near: Candidates, distances: Distances) -> Float64Array:
        k = self.n_neighbors
        return self.novelty.score(near[:, :k], distances[:, :k])
