"""What two halves of the columns agree about: neighbours that a few wide columns, or lengths of rows, may hide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log, product
from gnomon._printed import ShortRepr
from gnomon._validation import unsaid, warn
from gnomon.data.scaling import compares_columns, fit_scaling
from gnomon.data.unlike_columns import find_wide_columns, spreads_are_known
from gnomon.exceptions import DataWarning
from gnomon.linalg import principal_components
from gnomon.linalg.table import dense_rows, evenly_spaced
from gnomon.neighbors.compute import compute_neighbors

__all__ = [
    "HiddenDirections",
    "HidingColumns",
    "agreement_of_halves",
    "find_hidden_directions",
    "find_hiding_columns",
    "standardised_agrees_more",
    "warn_of_hiding_columns",
]

_ROWS = 1000  # looked at, at most
_FEWEST_ROWS, _FEWEST_COLUMNS = 100, 8  # less tells too little
_NEIGHBORS = 15
_AGREED = 0.03  # of neighbours that halves share beyond chance, at least
_ERRORS = 5.0  # standard errors that this must be
_LESS = 0.25  # times as much that the wide columns share with either half, at most
_KEPT = 0.5  # of the neighbours by the other columns that are so by all, at most
_MORE = 1.5  # times as much that standardised halves agree, at least
_DIRECTED = 0.01  # the same by direction
_VARYING = 0.15  # standard deviation of log lengths, at least; of 100 independent columns it is 0.07
_MISSED = 0.85  # times as much that distances share with directions as these do with each other, at most
_LEADING = 20  # components of directions, at most a quarter of the columns
_ALL_ALONG = 0.5  # correlation of the logarithms of lengths in leading and other components, at least
_AS_UNLIKE = 0.5  # standard deviation of these in the others, in that of the leading

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HidingColumns(ShortRepr):
    """A few columns that make most distances, while the others agree among themselves and not with them.

    Attributes
    ----------
    columns : ndarray of intp
        The widest first.
    share : float in (0.5, 1]
        Of the squared distances that they make.
    agreed : float
        Share of the 15 nearest by one half of the other columns that are so by the other half, chance taken away.
    kept : float in [0, 1]
        Share of the 15 nearest by the other columns that are among the 15 nearest by all.
    """

    columns: npt.NDArray[np.intp]
    share: float
    agreed: float
    kept: float

    def told(self, names: list[str]) -> str:
        """Say it in a clause without a full stop, given one name for each column of the table."""
        first, n = repr(names[self.columns[0]]), len(self.columns)
        make = f"{first} makes" if n == 1 else f"{first} and {n - 1:,} more of {len(names):,} columns make"
        return (
            f"{make} {self.share:.0%} of the squared distances and hide{'s' if n == 1 else ''} what the others agree "
            f"about: of the {_NEIGHBORS} rows nearest in the others {_NEIGHBORS * self.kept:.1f} are among the "
            f"{_NEIGHBORS} nearest in all"
        )


@dataclass(frozen=True)
class HiddenDirections(ShortRepr):
    """Neighbours by the directions of rows, of which distances keep few because rows are of unlike lengths.

    Attributes
    ----------
    spread : float
        Standard deviation of the natural logarithms of the lengths of rows.
    agreed : float
        Share of the 15 nearest by direction in one half of the columns that are so in the other, chance taken away.
    missed : float
        The same where one of the halves is compared by distances.
    """

    spread: float
    agreed: float
    missed: float

    @property
    def told(self) -> str:
        """Say it in a sentence."""
        return (
            f"Lengths of rows differ (their logarithms by {self.spread:.2f}, one standard deviation) and hide what "
            f"directions tell: two halves of the columns agree on {self.agreed:.0%} of the nearest rows by direction, "
            f"and on {self.missed:.0%} where one is compared by distance (chance taken away)."
        )


def find_hiding_columns(X: Any, metric: str = "euclidean") -> HidingColumns | None:
    """Return a few wide columns that hide what the other columns agree about; None if there are none.

    They are those of `gnomon.data.unlike_columns.find_wide_columns`. The others are parted by chance into two halves,
    and the 15 nearest of up to 1,000 rows are found in each half and in the wide columns. Halves must share 3 % of
    their neighbours beyond chance, at five standard errors, and either of them no more than a quarter of this with the
    wide columns. Of the neighbours by the other columns at most half may be neighbours by all.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        In the units in which rows are compared.
    metric : str, default="euclidean"
        In which they are compared, one of columns one by one, or "cosine".
    """
    wide = find_wide_columns(X) if X.shape[0] >= _FEWEST_ROWS else None
    if wide is None:
        return None
    rows = _some_rows(X)
    others = np.setdiff1d(np.flatnonzero(rows.min(axis=0) < rows.max(axis=0)), wide.columns)
    if len(others) < _FEWEST_COLUMNS:
        return None
    first, second = (_nearest(rows[:, half], metric) for half in _halves(others))
    agreed, error = _shared(first, second)
    if agreed < max(_AGREED, _ERRORS * error):
        return None
    by_wide = _nearest(rows[:, np.sort(wide.columns)], metric)
    if max(_shared(half, by_wide)[0] for half in (first, second)) > _LESS * agreed:
        return None
    by_others, by_all = _nearest(rows[:, others], metric), _nearest(rows, metric)
    kept = float((by_others & by_all).sum() / by_others.sum())
    return None if kept > _KEPT else HidingColumns(wide.columns, wide.share, agreed, kept)


def warn_of_hiding_columns(X: Any, names: list[str], metric: str) -> bool:
    """Warn of a few wide columns that hide what the others agree about, see `find_hiding_columns`; say whether.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        In the units in which rows are compared.
    names : list of str
        One name for each column.
    metric : str
        Under others than the cosine and those of columns one by one nothing is said.
    """
    known = compares_columns(metric) or metric == "cosine"
    found = find_hiding_columns(X, metric) if known else None
    if found is None:
        return False
    warn(
        f"{found.told(names)}. Pass scale='standard' to let all columns count alike, or leave wide ones out; "
        "scale=None maps them as they are without this warning.",
        DataWarning,
    )
    return True


def find_hidden_directions(X: Any) -> HiddenDirections | None:
    """Return what directions of rows tell that Euclidean distances do not; None where these tell as much.

    Up to 1,000 rows are compared in two halves of the columns, chosen by chance, by direction and by distance. The
    halves must share 1 % of the 15 nearest by direction beyond chance, at five standard errors, and distances in one
    at most 0.85 times as much with directions in the other. Logarithms of lengths must have a standard deviation of
    0.15, and lengths in the 20 leading components of directions go with those in all others (correlation of logarithms
    of 0.5, and half their standard deviation). So a row that is as many times longer in all columns has another length,
    and one that is so in a few directions another place.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    """
    if X.shape[0] < _FEWEST_ROWS or X.shape[1] < 2 * _FEWEST_COLUMNS:
        return None
    rows = _some_rows(X)
    spread = _log_lengths(rows)
    if spread is None or spread.std() < _VARYING:
        return None
    halves = [rows[:, half] for half in _halves(np.flatnonzero(rows.min(axis=0) < rows.max(axis=0)))]
    if len(halves[1].T) < _FEWEST_COLUMNS or not all(half.any(axis=1).all() for half in halves):
        return None
    first, second = (_nearest(half, "cosine") for half in halves)
    agreed, error = _shared(first, second)
    if agreed < max(_DIRECTED, _ERRORS * error):
        return None
    missed = sum(
        _shared(_nearest(half, "euclidean"), other)[0] / 2.0
        for half, other in zip(halves, (second, first), strict=True)
    )
    if missed > _MISSED * agreed or not _are_long_all_along(rows):
        return None
    return HiddenDirections(float(spread.std()), agreed, missed)


def agreement_of_halves(X: Any, metric: str = "euclidean") -> tuple[float, float]:
    """Return how far two halves of the columns agree about the 15 nearest of each row, and the standard error.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features), at least 100 rows
        In the units in which rows are compared.
    metric : str, default="euclidean"

    Returns
    -------
    agreed, error : float
        Share of neighbours in one half that are so in the other, chance taken away: 0 where halves have nothing in
        common, or where there are less than 8 columns.
    """
    rows = _some_rows(X)
    varying = np.flatnonzero(rows.min(axis=0) < rows.max(axis=0))
    if len(varying) < _FEWEST_COLUMNS:
        return 0.0, 0.0
    first, second = (_nearest(rows[:, half], metric) for half in _halves(varying))
    return _shared(first, second)


def standardised_agrees_more(X: Any) -> tuple[float, float] | None:
    """Return how far halves of the columns agree as they are and standardised, if far more so; else None.

    Standardised they must agree on 3 % of neighbours at least, and on half as much again as they do as they are, at
    five standard errors. Columns whose spreads mean something, see `gnomon.data.unlike_columns.spreads_are_known`,
    stay.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    """
    if X.shape[0] < _FEWEST_ROWS or X.shape[1] < _FEWEST_COLUMNS or spreads_are_known(X):
        return None
    (raw, before), (standard, after) = agreement_of_halves(X), agreement_of_halves(fit_scaling(X, "standard").apply(X))
    least = max(_AGREED, _MORE * raw, raw + _ERRORS * float(np.hypot(before, after)))
    return (raw, standard) if standard >= least else None


def _some_rows(X: Any) -> Floats:
    return dense_rows(X[evenly_spaced(X.shape[0], _ROWS)])


def _halves(columns: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Part columns by chance, always the same."""
    mixed = np.random.default_rng(0).permutation(columns)
    return np.sort(mixed[::2]), np.sort(mixed[1::2])


def _nearest(rows: Floats, metric: str) -> Mask:
    """Return which rows are among the 15 nearest of each, (n_rows, n_rows)."""
    with unsaid(DataWarning):
        graph = compute_neighbors(np.ascontiguousarray(rows), _NEIGHBORS, metric=metric)
    found = np.zeros((len(rows), len(rows)), dtype=np.bool_)
    np.put_along_axis(found, graph.indices, True, axis=1)
    return found


def _shared(first: Mask, second: Mask) -> tuple[float, float]:
    """Return which share of neighbours is the same beyond chance, and its standard error.

    Chance is that of lists of other rows: hubs are in many of them.
    """
    hits = (first & second).sum(axis=1) / _NEIGHBORS
    by_chance = float(first.mean(axis=0) @ second.mean(axis=0)) / _NEIGHBORS
    return float(hits.mean()) - by_chance, float(hits.std()) / float(np.sqrt(len(hits)))


def _log_lengths(rows: Floats) -> Floats | None:
    """Return the logarithms of lengths; None if one is 0."""
    lengths = np.sqrt((rows**2).sum(axis=1))
    return None if not lengths.all() else log(lengths)


def _are_long_all_along(rows: Floats) -> bool:
    """Return whether rows that are long in the directions that most rows have are so in all others.

    The leading components of rows of length 1 about the origin, such that no row has more say in them than another.
    """
    unit = rows / np.sqrt((rows**2).sum(axis=1, keepdims=True))
    n_leading = min(_LEADING, rows.shape[1] // 4)
    leading = principal_components(np.vstack([unit, -unit]), n_leading, seed=0).components
    inside = (product(rows, leading.T) ** 2).sum(axis=1)
    outside = (rows**2).sum(axis=1) - inside
    if not (inside > 0.0).all() or not (outside > 0.0).all():
        return False
    there, elsewhere = log(inside), log(outside)
    goes_with = float(np.corrcoef(there, elsewhere)[0, 1]) >= _ALL_ALONG
    return goes_with and float(elsewhere.std()) >= _AS_UNLIKE * float(there.std())
