"""What the columns of a table range over, whether they have unlike units, and the table without units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._printed import ShortRepr
from gnomon._validation import message
from gnomon.data.kinds import MOST_NAMED, Spreads, describe_kinds, describe_spreads, may_be_of_kinds
from gnomon.data.wild_cells import without_wild_cells

__all__ = [
    "SCALINGS",
    "ColumnScales",
    "Scaling",
    "ScalingChoice",
    "Unlike",
    "WideColumns",
    "are_uncorrelated",
    "check_scale",
    "choose_scaling",
    "column_scales",
    "compares_columns",
    "decide_scaling",
    "describe_unlike_columns",
    "find_unlike",
    "find_unlike_rows",
    "find_wide_columns",
    "fit_scaling",
    "reads_values",
    "rows_that_decide",
    "scaling_of",
    "spreads_are_known",
    "told_times",
]

Float64Array = npt.NDArray[np.float64]

SCALINGS = ("standard", "robust", "gower", "blocks", "none")
"""Names of scalings."""

_BLOCK = 1 << 22  # numbers made dense at a time
_CACHED = 1 << 15  # numbers worked on at a time where they are added up
_ROWS = 10_000  # rows that decide, at most
_FEWEST_ROWS = 10  # fewer say nothing about spreads
_BY_COORDINATES = {
    "euclidean",
    "l2",
    "sqeuclidean",
    "cityblock",
    "manhattan",
    "l1",
    "chebyshev",
    "linfinity",
    "minkowski",
}
_READ_VALUES = {
    *("periodic", "haversine", "hellinger", "hamming", "jaccard", "dice", "sokalsneath"),
    *("rogerstanimoto", "sokalmichener", "russellrao", "yule", "ruzicka", "tanimoto"),
}
_ONE_COLUMN = 30.0  # times that the widest column must spread more than the median of the others
_MANY_COLUMNS = 100.0  # times that a tenth of the columns must spread more than another tenth
_SHARING, _OF_ONE_KIND = 0.95, 1 / 3  # columns with one minimum, and values at it: pixels, words, logarithms of counts
_SHARING_COUNTS, _COUNTS = 0.5, 0.1  # the same of whole numbers from 0
_SHARING_MOST = 0.8  # the same where no column makes most distances
_UNCORRELATED = 1e-4  # principal components
_WIDE, _FEW = 5.0, 0.1  # times that wide columns spread more than the median, and share of the columns that they are
_WIDEST = 50  # columns that are looked at for it, and for wild cells
_CHANCE = 8.0  # standard errors of a correlation that some rows would show of columns without any
_NORMAL_IQR = 1.3489795003921634  # interquartile range of the standard normal distribution


@dataclass(frozen=True)
class ColumnScales(ShortRepr):
    """What the columns of a table range over.

    Attributes
    ----------
    mean : ndarray of shape (n_features,), float64
    deviation : ndarray of shape (n_features,), float64
        Standard deviation; exactly 0 for a constant column.
    low, high : ndarray of shape (n_features,), float64
        Smallest and largest value.
    """

    mean: Float64Array
    deviation: Float64Array
    low: Float64Array
    high: Float64Array

    @property
    def farthest(self) -> Float64Array:
        """How many deviations the farthest value of each column lies from the mean; 0 of constant ones."""
        away = np.maximum(self.high - self.mean, self.mean - self.low)
        return np.where(self.deviation > 0, away / np.where(self.deviation > 0, self.deviation, 1.0), 0.0)

    def in_deviations(self, values: Float64Array) -> Float64Array:
        """Divide values of the columns by their deviations; a constant column stays as it is."""
        scaled: Float64Array = values / np.where(self.deviation > 0, self.deviation, 1.0)
        return scaled


def column_scales(X: Any) -> ColumnScales:
    """Return mean, standard deviation and range of each column.

    Two passes in blocks of rows, in float64 and in a fixed order.
    """
    n, n_features = (int(size) for size in X.shape)
    step = max(1, _BLOCK // n_features)
    starts = range(0, n, step)
    if hasattr(X, "tocsr"):
        matrix = scipy.sparse.csr_array(X)
        values = matrix.data.astype(np.float64)
        mean = np.bincount(matrix.indices, values, n_features) / n
        stored = np.bincount(matrix.indices, minlength=n_features)
        deviations = np.bincount(matrix.indices, (values - mean[matrix.indices]) ** 2, n_features)
        variance = (deviations + (n - stored) * mean**2) / n
        low = np.asarray(matrix.min(axis=0).todense(), dtype=np.float64).ravel()
        high = np.asarray(matrix.max(axis=0).todense(), dtype=np.float64).ravel()
    else:
        first = np.asarray(X[0], dtype=np.float64)
        low, high, shift = first.copy(), first.copy(), np.zeros(n_features)
        for start in starts:
            block = X[start : start + step]
            np.minimum(low, _extreme(block, np.minimum), out=low)
            np.maximum(high, _extreme(block, np.maximum), out=high)
            shift += _sum_beyond(block, first, power=1)
        mean = first + shift / n
        variance = np.zeros(n_features)
        for start in starts:
            variance += _sum_beyond(X[start : start + step], mean, power=2)
        variance /= n
    return ColumnScales(mean, np.where(high > low, np.sqrt(variance), 0.0), low, high)


def _sum_beyond(block: Any, origin: Float64Array, *, power: int) -> Float64Array:
    """Return the sums over rows of (x - origin)^power, power 1 or 2, row after row, a few at a time in the cache."""
    n, n_features = block.shape
    in_rows = n_features > 1 and block.strides[0] >= block.strides[1]
    step = min(n, max(1, _CACHED // n_features)) if in_rows else n
    held = np.empty((step + 1, n_features), order="C" if in_rows else "F")  # the sum of the rows before, and rows
    for start in range(0, n, step):
        rows = held[1 : 1 + min(step, n - start)]
        np.subtract(block[start : start + step], origin, out=rows)
        if power == 2:
            np.multiply(rows, rows, out=rows)
        held[0] = (held[: len(rows) + 1] if start else rows).sum(axis=0)
    total: Float64Array = held[0]
    return total


def _extreme(block: Any, ufunc: np.ufunc) -> Float64Array:
    """Return the least or largest value of each column; many rows are taken as one, which is longer and faster."""
    n, n_features = block.shape
    together = max(1, min(n, _CACHED // (8 * n_features)))
    if together == 1 or not block.flags.c_contiguous:
        return np.asarray(ufunc.reduce(block, axis=0), dtype=np.float64)
    whole = n - n % together
    found = ufunc.reduce(block[:whole].reshape(-1, together * n_features), axis=0).reshape(together, n_features)
    return np.asarray(ufunc.reduce(np.concatenate([found, block[whole:]]), axis=0), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Scaling(ShortRepr):
    """How a table is standardised: column f becomes ``(X[:, f] - center[f]) / spread[f]``.

    Attributes
    ----------
    name : {"standard", "robust", "gower", "blocks", "none"}
        By mean and standard deviation, by median and interquartile range, by the ranges of Gower's coefficient, each
        block of columns by itself, or not at all but for `weight`.
    center : ndarray of shape (n_features,), float64
        What is taken away; 0 for a sparse table, whose zeros stay.
    spread : ndarray of shape (n_features,), float64
        What is divided by, > 0; 1 for a constant column, infinity for one of weight 0.
    weight : ndarray of shape (n_features,), float64, or None, default=None
        How much each feature counts, which `spread` is divided by already; None for 1.
    """

    name: str
    center: Float64Array
    spread: Float64Array
    weight: Float64Array | None = None

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which columns are not 0 for all rows because their weight is 0, (n_features,)."""
        return np.isfinite(self.spread)

    def apply(self, X: Any) -> Any:
        """Return rows (n, n_features), or one row, without units: float32 or float64 as they are, else float32."""
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float32)
        if hasattr(X, "tocsr"):
            scaled = scipy.sparse.csr_array(X, dtype=np.float64, copy=True)
            scaled.data /= self.spread[scaled.indices]
            return scaled.astype(dtype)
        if X.ndim == 1:
            return ((X - self.center) / self.spread).astype(dtype)
        found = np.empty(X.shape, dtype=dtype)
        step = max(1, _BLOCK // max(1, X.shape[1]))
        for start in range(0, len(X), step):
            found[start : start + step] = (X[start : start + step] - self.center) / self.spread
        return found

    def undo(self, X: Any) -> Any:
        """Return rows in their units again."""
        if hasattr(X, "tocsr"):
            raw = scipy.sparse.csr_array(X, copy=True)
            raw.data = (raw.data * np.where(self.known, self.spread, 0.0)[raw.indices]).astype(raw.dtype)
            return raw
        rows = np.asarray(X)
        return (self.in_units(rows) + self.center).astype(rows.dtype, copy=False)

    def in_units(self, differences: Any) -> Any:
        """Return differences of standardised rows in the units of the columns, 0 for those of weight 0."""
        return differences * np.where(self.known, self.spread, 0.0)

    def per_unit(self, derivatives: Float64Array) -> Float64Array:
        """Return derivatives (..., n_features) by the columns, given those by the standardised columns."""
        return derivatives / self.spread


def check_scale(scale: Any) -> str | None:
    """Return `scale` if it is None or one of its words, else raise ValueError."""
    if scale is None or (isinstance(scale, str) and scale in ("auto", "standard", "robust")):
        return scale
    raise ValueError(message(f"scale={scale!r:.40}", "one of 'auto', 'standard', 'robust', None"))


def fit_scaling(X: Any, name: str, spreads: Float64Array | None = None) -> Scaling:
    """Find center and spread of the columns of a table.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Finite numbers.
    name : {"standard", "robust"}
        Mean and standard deviation; or median and interquartile range divided by 1.349, which gross errors in up to a
        quarter of the rows do not move. A column whose middle half is constant is divided by its standard deviation.
    spreads : ndarray of shape (n_features,), float64, default=None
        Divide by these where they are not NaN; such columns keep their zero.

    Returns
    -------
    Scaling

    Raises
    ------
    ValueError
        If the table is sparse and `name` is "robust": the median of most columns of such a table is 0.
    """
    return scaling_of(column_scales(X), X, name, spreads)


def scaling_of(scales: ColumnScales, X: Any, name: str, spreads: Float64Array | None = None) -> Scaling:
    """Return center and spread of columns whose means and deviations are known.

    Parameters
    ----------
    scales : ColumnScales
    X : ndarray or csr_array of shape (n_rows, n_features)
        Whose quartiles count, if any; some rows of the table, or none for "standard".
    name, spreads : as for `fit_scaling`
    """
    sparse = hasattr(X, "tocsr")
    single = X.dtype == np.float32
    rounding = 4.0 * np.finfo(np.float32 if single else np.float64).eps
    largest = np.maximum(np.abs(scales.low), np.abs(scales.high))
    spread = np.where(scales.deviation > rounding * largest, scales.deviation, 1.0)
    if name == "standard":
        return _fixed(Scaling(name, np.zeros(len(spread)) if sparse else scales.mean, spread), spreads)
    if sparse:
        raise ValueError(message("scale='robust'", "for a dense table", remedy="Pass scale='standard'."))
    center = np.empty(len(spread))
    step = max(1, _BLOCK // max(1, len(X)))
    for start in range(0, len(spread), step):
        some = slice(start, start + step)
        quarters = np.quantile(np.asarray(X[:, some], dtype=np.float64), (0.25, 0.5, 0.75), axis=0)
        center[some] = quarters[1]
        middle = (quarters[2] - quarters[0]) / _NORMAL_IQR
        spread[some] = np.where(middle > rounding * np.abs(quarters).max(axis=0), middle, spread[some])
    return _fixed(Scaling(name, center, spread), spreads)


def _fixed(scaling: Scaling, spreads: Float64Array | None) -> Scaling:
    if spreads is None:
        return scaling
    known = np.isfinite(spreads)
    return Scaling(scaling.name, np.where(known, 0.0, scaling.center), np.where(known, spreads, scaling.spread))


class ScalingChoice(NamedTuple):
    """How a table is standardised, and what to say of it.

    Attributes
    ----------
    scaling : Scaling or None
        None leaves the columns in their own units.
    unlike : str
        Which columns have unlike units, a clause without a full stop to warn of; empty if none have, or `scale` did not
        ask.
    left : str
        Which columns are left in their own units though they spread unlike, a clause without a full stop; empty for
        columns that spread alike, that are of one kind, or of which the caller decided.
    """

    scaling: Scaling | None
    unlike: str = ""
    left: str = ""


class Unlike(NamedTuple):
    """What tells that columns have unlike units.

    Attributes
    ----------
    ruling : str
        Which columns make nearly all distances, a clause without a full stop; empty if none do.
    kinds : str
        Which columns are of different kinds and spread unlike; empty if none are, or if some columns rule.
    spreads : str
        Which columns spread unlike, of a table of which more is not known; empty if none do.
    """

    ruling: str = ""
    kinds: str = ""
    spreads: str = ""


def choose_scaling(
    X: Any, scale: Any, *, names: list[str], metric: str = "euclidean", spreads: Float64Array | None = None
) -> ScalingChoice:
    """Decide how a table is standardised.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    scale : {"auto", "standard", "robust"} or None
        "auto" is "standard" where columns have unlike units and the metric compares them one by one, else None.
        Columns of which `spreads` tells what to divide by have no units, and the others are unlike them.
    names : list of str
        One name for each column.
    metric : str, default="euclidean"
    spreads : ndarray of shape (n_features,), float64, default=None
        As for `fit_scaling`.

    Returns
    -------
    ScalingChoice
    """
    return decide_scaling(
        scale,
        lambda name: fit_scaling(X, name, spreads),
        lambda: find_unlike(X, names),
        metric=metric,
        unlike=spreads is not None,
    )


def decide_scaling(
    scale: Any,
    fit: Callable[[str], Scaling],
    find: Callable[[], Unlike],
    *,
    metric: str = "euclidean",
    unlike: bool = False,
) -> ScalingChoice:
    """Decide how a table is standardised that is known by functions alone; see `choose_scaling`.

    Parameters
    ----------
    scale, metric : as for `choose_scaling`
    fit : callable
        Takes "standard" or "robust" to the scaling.
    find : callable
        Returns what `find_unlike` does.
    unlike : bool, default=False
        Whether columns are known to have unlike units.
    """
    name = check_scale(scale)
    if name in ("standard", "robust"):
        if reads_values(metric):
            fact = f"metric={metric!r:.60} reads the values of the columns as they are given"
            raise ValueError(
                message(f"scale={name!r}", "left out under this metric", fact=fact, remedy=_by_hand(metric))
            )
        return ScalingChoice(fit(name))
    if reads_values(metric) and not _is_periodic(metric):
        return ScalingChoice(None)
    decides = name == "auto" and compares_columns(metric)
    if unlike and decides:
        return ScalingChoice(fit("standard"))
    found = find()
    if not decides:
        return ScalingChoice(None, found.ruling)
    clause = found.ruling or found.kinds
    return ScalingChoice(fit("standard"), clause) if clause else ScalingChoice(None, left=found.spreads)


def compares_columns(metric: str) -> bool:
    """Say whether a metric is made of differences in one column at a time, such that each counts by its spread."""
    return metric in _BY_COORDINATES


def reads_values(metric: str) -> bool:
    """Say whether a metric reads what values are, such as their place in a period, and not only how they differ.

    Its distances are those of the columns as they are given: not of standardised ones or of principal components.

    Parameters
    ----------
    metric : str
        A name, with or without arguments in brackets.
    """
    return metric.partition("(")[0].strip() in _READ_VALUES


def _is_periodic(metric: str) -> bool:
    return metric.startswith("periodic")


def _by_hand(metric: str) -> str:
    """Say what to do in place of standardising."""
    if not _is_periodic(metric):
        return "Pass scale=None."
    return (
        "Divide columns that spread more yourself, and their periods by the same numbers: metric='periodic(360, 90)' "
        "where the second of two angles is divided by 4."
    )


def describe_unlike_columns(X: Any, names: list[str]) -> str:
    """Say which columns have other units than others, as `find_unlike` finds them; empty if none have."""
    found = find_unlike(X, names)
    return found.ruling or found.kinds


def find_unlike(X: Any, names: list[str]) -> Unlike:
    """Say which columns spread so much more than others that they must have other units.

    Three findings count, from at most 10,000 rows and without constant columns. One: one or two columns make more
    than half of the squared distances, and the widest spreads more than 30 times as much as the median of the
    others. Many: a tenth of the columns spread more than 100 times as much as another tenth. Kinds, in a table of at
    most 50 columns with names: a column spreads more than 5 times as much as another, by deviation, range and middle
    half, and is of another kind of quantity, see `describe_kinds`.

    Values of one kind never count, because their spreads mean something: a sparse table; whole numbers of which a tenth
    are 0, in half of the columns at least; columns with one minimum that a third of their values share, such as pixels,
    words and logarithms of counts, columns of two values left out; and columns without correlation, such as principal
    components. For kinds a minimum of four fifths of the columns that a tenth of the values share is enough, and names
    may tell that columns are of one kind: `may_be_of_kinds`.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    names : list of str
        One name for each column.

    Returns
    -------
    Unlike
    """
    if hasattr(X, "tocsr"):
        return Unlike()
    return find_unlike_rows(np.asarray(X[rows_that_decide(len(X))]), names, lambda some: _uncorrelated(X[:, some]))


def rows_that_decide(n_samples: int) -> slice:
    """Return which rows of a table decide whether its columns have unlike units: 10,000 at most."""
    return slice(0, n_samples, max(1, -(-n_samples // _ROWS)))


def find_unlike_rows(
    rows: npt.NDArray[Any], names: list[str], uncorrelated: Callable[[npt.NDArray[np.intp]], bool]
) -> Unlike:
    """Say of some rows what `find_unlike` says of a table.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Those of `rows_that_decide`.
    names : list of str
    uncorrelated : callable
        Takes numbers of columns, 50 at most, to whether all rows of the table have no correlation between them.
    """
    if len(rows) < _FEWEST_ROWS:
        return Unlike()
    rows, scales = _without_wild_cells(rows)
    varying, order = _varying(scales)
    if len(varying) < 2:
        return Unlike()
    spreads = scales.deviation[order]
    clause = _one_column(spreads, order, names) or _many_columns(spreads, order, names)
    if clause:
        of_one_kind = _of_one_kind(rows[:, varying]) or uncorrelated(order[:_WIDEST])
        return Unlike() if of_one_kind else Unlike(ruling=clause)
    named = [names[f] for f in varying]
    values = rows if len(varying) == rows.shape[1] else rows[:, varying]
    measured = _measured_spreads(values, scales, varying)
    told = describe_spreads(measured, named)
    if not told or _shares_minimum(values, _SHARING_MOST, _COUNTS) or _of_one_kind(values):
        return Unlike()
    if _may_be_uncorrelated(rows[:, order[:_WIDEST]]) and uncorrelated(order[:_WIDEST]):
        return Unlike()
    return Unlike(kinds=describe_kinds(values, measured, named) if may_be_of_kinds(names) else "", spreads=told)


class WideColumns(NamedTuple):
    """A few columns that make most of the squared distances of a table.

    Attributes
    ----------
    columns : ndarray of intp
        The widest first.
    share : float in (0.5, 1]
        Of the squared distances.
    """

    columns: npt.NDArray[np.intp]
    share: float


def find_wide_columns(X: Any) -> WideColumns | None:
    """Return a few columns that spread much more than others, of a table in which spreads need not mean something.

    They spread more than 5 times as much as the median column, are a tenth of the columns at most, and make more than
    half of the squared distances. None are found in tables of one kind, as `find_unlike` tells them.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)

    Returns
    -------
    WideColumns or None
    """
    if hasattr(X, "tocsr") or len(X) < _FEWEST_ROWS:
        return None
    rows, scales = _without_wild_cells(np.asarray(X[rows_that_decide(len(X))]))
    varying, order = _varying(scales)
    if len(varying) < 2:
        return None
    spreads = scales.deviation[order]
    squares = (spreads / spreads[0]) ** 2
    n_wide = int(np.count_nonzero(spreads > _WIDE * np.median(spreads)))
    share = float(squares[:n_wide].sum() / squares.sum())
    if not 0 < n_wide <= _FEW * len(order) or share <= 0.5:
        return None
    if _are_of_one_kind(X, rows, varying, order):
        return None
    return WideColumns(order[:n_wide], share)


def spreads_are_known(X: Any) -> bool:
    """Say whether spreads of columns mean something for all that is known of the values, see `find_unlike`.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    """
    if hasattr(X, "tocsr"):
        return True
    rows = np.asarray(X[rows_that_decide(len(X))])
    varying, order = _varying(column_scales(rows))
    return len(varying) < 2 or _are_of_one_kind(X, rows, varying, order)


def _are_of_one_kind(
    X: Any, rows: npt.NDArray[Any], varying: npt.NDArray[np.intp], order: npt.NDArray[np.intp]
) -> bool:
    return _of_one_kind(rows[:, varying]) or _uncorrelated(X[:, order[:_WIDEST]])


def _without_wild_cells(rows: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], ColumnScales]:
    """Return rows whose wild cells lie in the middle of their column, and what their columns range over."""
    scales = column_scales(rows)
    widest = np.argsort(-scales.deviation, kind="stable")[:_WIDEST]  # of more columns only these may rule
    farthest = np.zeros(len(scales.deviation))
    farthest[widest] = scales.farthest[widest]
    judged = without_wild_cells(rows, farthest)
    return (rows, scales) if judged is rows else (judged, column_scales(judged))


def _varying(scales: ColumnScales) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the columns that are not constant, in their order and the widest first."""
    varying = np.flatnonzero(scales.deviation > 0)
    return varying, varying[np.argsort(-scales.deviation[varying], kind="stable")]


def _measured_spreads(rows: npt.NDArray[Any], scales: ColumnScales, varying: npt.NDArray[np.intp]) -> Spreads:
    """Return the spreads of columns that vary."""
    low, high = scales.low[varying], scales.high[varying]
    two_values = ((rows == low) | (rows == high)).all(axis=0)
    deviation = np.where(two_values, (high - low) / 2.0, scales.deviation[varying])
    middle = None
    if len(varying) <= MOST_NAMED:
        quarters = np.quantile(rows, (0.25, 0.75), axis=0)
        middle = quarters[1] - quarters[0]
    return Spreads(deviation, high - low, middle)


def _one_column(spreads: Float64Array, order: npt.NDArray[np.intp], names: list[str]) -> str:
    """Say it if one or two columns make more than half of the squared distances; `spreads` fall."""
    count = 2 if len(spreads) > 3 and spreads[1] > _ONE_COLUMN * np.median(spreads[2:]) else 1
    squares = (spreads / spreads[0]) ** 2
    share = float(squares[:count].sum() / squares.sum())
    ratio = float(spreads[0] / np.median(spreads[count:]))
    if share <= 0.5 or ratio <= _ONE_COLUMN:
        return ""
    times = told_times(ratio)
    first, *second = (repr(names[f]) for f in order[:count])
    made = f"{first} and {second[0]} make" if second else f"{first} makes"
    return (
        f"{made} {share:.1%} of the squared distances and {f'{first} ' if second else ''}spreads {times} times as much "
        "as the median of the others"
    )


def _many_columns(spreads: Float64Array, order: npt.NDArray[np.intp], names: list[str]) -> str:
    low, high = np.quantile(spreads, (0.1, 0.9))
    if not high > _MANY_COLUMNS * low:
        return ""
    times = told_times(high / low)
    return (
        f"a tenth of the columns, such as {names[order[0]]!r}, spread more than {times} times as much as another "
        f"tenth, such as {names[order[-1]]!r}"
    )


def told_times(ratio: float) -> str:
    """Return a ratio in a few characters."""
    return f"{ratio:,.0f}" if ratio < 1e6 else f"{ratio:.2g}"


def _of_one_kind(rows: npt.NDArray[Any]) -> bool:
    low, high = rows.min(axis=0), rows.max(axis=0)
    several = ~((rows == low) | (rows == high)).all(axis=0)
    if not several.any():
        return True
    rows = rows[:, several]
    if low[several].min() == 0 and (rows == np.floor(rows)).all():
        return _shares_minimum(rows, _SHARING_COUNTS, _COUNTS)
    return _shares_minimum(rows, _SHARING, _OF_ONE_KIND)


def _shares_minimum(rows: npt.NDArray[Any], columns: float, values: float) -> bool:
    """Return whether so many columns have the least value of all, and so many values are this."""
    low = rows.min(axis=0)
    least = low.min()
    return float(np.mean(low == least)) >= columns and float(np.mean(rows == least)) >= values


def _may_be_uncorrelated(rows: npt.NDArray[Any]) -> bool:
    """Return whether rows have as little correlation as some rows of a table without any."""
    with np.errstate(invalid="ignore"):
        correlations = np.corrcoef(np.asarray(rows, dtype=np.float64), rowvar=False)
    return _largest(correlations) < _CHANCE / float(np.sqrt(len(rows)))


def _uncorrelated(rows: npt.NDArray[Any]) -> bool:
    with np.errstate(invalid="ignore"):
        return are_uncorrelated(np.corrcoef(np.asarray(rows, dtype=np.float64), rowvar=False))


def are_uncorrelated(correlations: Any) -> bool:
    """Say whether correlations, (n_features, n_features), are those of principal components."""
    return _largest(correlations) < _UNCORRELATED


def _largest(correlations: Any) -> float:
    """Return the largest correlation of two columns, either sign."""
    found = np.atleast_2d(correlations)
    return float(np.abs(found - np.diag(np.diag(found))).max())
