"""Whether new rows differ in their shares of the labels alone: beside old rows in the same shares they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.data.labels import sort_into_classes
from gnomon.extension.drift.chance import chance_of_shift
from gnomon.extension.drift.columns import Masks, largest_difference, measure_columns
from gnomon.extension.drift.result import Drift

__all__ = ["differs_by_shares", "like_shares"]

Float64Array = npt.NDArray[np.float64]


def like_shares(labels: Any, near: npt.NDArray[np.int32], near_new: npt.NDArray[np.int32]) -> Float64Array:
    """Return weights of old rows by which they come in the shares of the labels in which new rows do.

    The label of a row is that of most of its nearest old rows.
    """
    classes = sort_into_classes(labels)
    kinds = {label: code for code, label in enumerate(classes.values)} | {None: len(classes.values)}
    old, new = (np.array([kinds[classes.most_frequent(row)] for row in rows]) for rows in (near, near_new))
    shares, wanted = (np.bincount(one, minlength=len(kinds)) / len(one) for one in (old, new))
    found: Float64Array = (wanted / np.where(shares > 0.0, shares, 1.0))[old]
    return found


def differs_by_shares(
    drift: Drift,
    weights: Float64Array,
    tables: tuple[Any, Any],
    scored: tuple[Float64Array, Float64Array] | None,
    missing: Masks | None,
    without: Sequence[int] = (),
) -> bool:
    """Return whether new rows that differ, or have slightly shifted, do not from old ones of such weights."""
    if not weights.any():
        return False
    columns, shift, p_value = measure_columns(*tables, weights, missing, without), drift.shift, drift.shift_p_value
    if scored is not None:
        share = weights / weights.sum()
        shift = float(largest_difference(scored[0][:, None], scored[1][:, None], share)[0])
        p_value = chance_of_shift(shift, float(weights.sum() ** 2 / (weights**2).sum()), drift.n_new)
    other = replace(drift, columns=columns, shift=shift, shift_p_value=p_value)
    return not other.differs and (drift.differs or not other.slight)
