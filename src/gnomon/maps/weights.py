"""Weights that a map is asked to be made with: whether they fit its data, and how those of rows stay with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data import Dataset, Representation, check_sample_weight

__all__ = [
    "SAMPLE_WEIGHT",
    "refuse_given",
    "rows_count_once",
    "told_of_weights",
    "with_weights",
    "without_weights",
]

SAMPLE_WEIGHT = "sample_weight"
"""The metadata that keeps weights of rows which are no column, and the parameter that names these or the column."""
_REMEDY = "keep each row with a probability in proportion to its weight, make a map of those, and ask that"


def refuse_given(weights: npt.NDArray[np.float64] | None, data: Dataset) -> npt.NDArray[np.float64] | None:
    """Return the weights of features, or raise ValueError if the map is not made of features."""
    if weights is not None and (isinstance(data.representation, Representation) or data.distances is not None):
        given = "distances" if data.distances is not None else str(data.representation)
        raise ValueError(message("feature_weight", "left out", fact=f"the map is made of {given}"))
    return weights


def without_weights(
    data: Dataset, features: Sequence[str] | None, drop: Sequence[str] | None, sample_weight: Any
) -> tuple[Dataset, Sequence[str] | None, Sequence[str] | None]:
    """Return the arguments of `encode_dataset` such that the column of weights, if it is one, is no feature."""
    if not isinstance(sample_weight, str) or sample_weight in data.metadata:
        return data, features, drop
    named: Any = getattr(data.X, "column_names", None) or getattr(data.X, "columns", ())
    names = [*(data.feature_names or (str(name) for name in named)), *data.metadata]
    if sample_weight not in names:
        fact = f"there are {', '.join(repr(name) for name in names[:8]) or 'none with names'}"
        raise ValueError(message(f"sample_weight={sample_weight!r:.60}", "the name of a column", fact=fact))
    if features is not None:
        return data, [name for name in features if name != sample_weight], drop
    return data, features, list(dict.fromkeys([*(drop or ()), sample_weight]))


def with_weights(data: Dataset, sample_weight: Any) -> Dataset:
    """Return the data with the weights of rows as metadata, checked, so that they stay with their rows."""
    if sample_weight is None:
        return data
    if isinstance(sample_weight, str):
        check_sample_weight(data.metadata[sample_weight], data.X)
        return data
    weights: Any = check_sample_weight(sample_weight, data.X)
    return replace(data, metadata={**data.metadata, SAMPLE_WEIGHT: weights})


def told_of_weights(data: Dataset, weighing: str | None) -> tuple[dict[str, Any], list[str]]:
    """Return what weights of rows, which differ, add to the parameters and to the notes of their map."""
    if weighing is None or len(np.unique(np.asarray(data.metadata[weighing], dtype=np.float64))) < 2:
        return {}, []
    return {SAMPLE_WEIGHT: weighing}, [
        f"Rows have weights ({weighing!r}) in the layout alone: scores, dimension, verdicts, clusters, contrasts, "
        f"captions, importance, axes, outliers and drift count every row once. To have these of the rows that they "
        f"stand for, {_REMEDY}."
    ]


def rows_count_once(parameters: dict[str, Any]) -> str:
    """Say that an answer counts rows once where weights made the map; empty where none did."""
    return f"Rows count once here, not by their weights: {_REMEDY}." if SAMPLE_WEIGHT in parameters else ""
