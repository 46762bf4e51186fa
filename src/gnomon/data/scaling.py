"""The columns of a table without their units: how they are standardised, and whether."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._printed import ShortRepr
from gnomon._validation import message
from gnomon.data.column_scales import ColumnScales, column_scales
from gnomon.data.unlike_columns import Unlike, find_unlike

__all__ = [
    "SCALINGS",
    "Scaling",
    "ScalingChoice",
    "check_scale",
    "choose_scaling",
    "compares_columns",
    "decide_scaling",
    "fit_scaling",
    "reads_values",
    "scaling_of",
]

Float64Array = npt.NDArray[np.float64]

SCALINGS = ("standard", "robust", "gower", "blocks", "none")
"""Names of scalings."""

_BLOCK = 1 << 22  # numbers made dense at a time
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
    "braycurtis",
}
_NORMAL_IQR = 1.3489795003921634  # interquartile range of the standard normal distribution


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
