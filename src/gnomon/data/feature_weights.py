"""How much features count in the distances of a map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.column_scales import column_scales
from gnomon.data.columns import ColumnRule
from gnomon.data.scaling import Scaling

__all__ = ["check_feature_weight", "weigh_features"]

Float64Array = npt.NDArray[np.float64]

_POWERS = {
    "euclidean": 0.5,
    "l2": 0.5,
    "sqeuclidean": 0.5,
    "cosine": 0.5,
    "cityblock": 1.0,
    "manhattan": 1.0,
    "l1": 1.0,
}
"""Power of the weight that multiplies a column: a feature of weight 2 then equals its column given twice."""


def check_feature_weight(
    feature_weight: Any, names: Sequence[str], rules: Sequence[ColumnRule] | None = None
) -> Float64Array | None:
    """Check how much features count.

    Parameters
    ----------
    feature_weight : mapping of str to number, Series, array-like of shape (n_features,), or None
        Finite numbers >= 0, one positive at least. A mapping names features, or columns of the table that became
        several; the others count 1. So does a Series of pandas whose index are names. None for 1.
    names : sequence of n_features str
    rules : sequence of ColumnRule or None, default=None
        What became of the columns of the table, if some were no numbers.

    Returns
    -------
    ndarray of shape (n_features,), float64, or None
        None if all are 1.

    Raises
    ------
    TypeError
        If they are no numbers.
    ValueError
        If a name is none of the features, a weight is negative or not finite, all are 0, or their number is another.
    """
    if feature_weight is None:
        return None
    weights = np.ones(len(names))
    index = getattr(feature_weight, "index", None)
    if index is not None and hasattr(feature_weight, "items") and all(isinstance(one, str) for one in index):
        feature_weight = dict(feature_weight.items())  # a column of pandas by names
    if isinstance(feature_weight, Mapping):
        columns = {rule.name: rule.features for rule in rules or () if rule.features}
        at = {name: j for j, name in enumerate(names)}
        for name, value in feature_weight.items():
            wanted = [name] if name in at else columns.get(name, ())
            if not wanted:
                some = ", ".join(repr(known) for known in names[:8])
                fact = f"there are {some}{' and more' if len(names) > 8 else ''}"
                raise ValueError(message(f"feature_weight of {name!r:.60}", "one of a feature", fact=fact))
            weights[[at[one] for one in wanted]] = _number(value, f"feature_weight of {name!r:.60}")
    else:
        given = np.asarray(feature_weight)
        if given.dtype.kind not in "iuf":
            rule = "a mapping of names to numbers, or a number for each feature"
            raise TypeError(message("feature_weight", rule, fact=f"found {type(feature_weight).__name__}"))
        if given.shape != (len(names),):
            rule = f"of shape (n_features,)={(len(names),)}"
            remedy = "Pass a mapping to weigh some of them."
            raise ValueError(message(f"feature_weight of shape {given.shape}", rule, remedy=remedy))
        weights[:] = given
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if wrong.size:
        fact = f"{names[wrong[0]]!r} has {weights[wrong[0]]:g}"
        remedy = "Weigh a feature 0 to leave it out of the distances."
        raise ValueError(message("feature_weight", "finite numbers >= 0", fact=fact, remedy=remedy))
    if not weights.any():
        raise ValueError(message("feature_weight", "positive for one feature at least", fact="all are zero"))
    return None if (weights == 1.0).all() else weights


def _number(value: Any, what: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(message(what, "a number", fact=f"found {value!r:.40}"))
    return float(value)


def weigh_features(
    X: Any, weights: Float64Array | None, scaling: Scaling | None, *, metric: str = "euclidean"
) -> Scaling | None:
    """Return the scaling of columns that makes features count by their weights.

    In Euclidean and cosine distance a weight multiplies squared differences, in city-block distance differences: a
    feature of weight 2 counts as its column given twice, and one of weight 0 not at all.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
    weights : ndarray of shape (n_features,), float64, or None
        As `check_feature_weight` returns them.
    scaling : Scaling or None
        How the columns are standardised without weights.
    metric : str, default="euclidean"

    Returns
    -------
    Scaling or None

    Raises
    ------
    ValueError
        If the metric is none of those.
    """
    if weights is None:
        return scaling
    if metric not in _POWERS:
        rule = f"None where the metric is none of {', '.join(_POWERS)}"
        raise ValueError(message("feature_weight", rule, fact=f"metric={metric!r}"))
    if scaling is None:
        scaling = Scaling("none", np.zeros(len(weights)), np.ones(len(weights)))
    center = scaling.center
    if not hasattr(X, "tocsr"):  # what stands for a feature that cannot be known from the distances
        center = np.where(weights > 0.0, center, column_scales(X).mean)
    with np.errstate(divide="ignore"):
        spread = scaling.spread / weights ** _POWERS[metric]
    return replace(scaling, center=center, spread=spread, weight=weights)
