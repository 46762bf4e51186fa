"""A column that colours a map or steers it, taken out of its features; and what is said of a map that was steered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message, warn
from gnomon.data import Dataset, check_labels
from gnomon.data.columns import raw_columns
from gnomon.data.dataset import listed, require_name
from gnomon.data.frames import is_frame
from gnomon.data.labels import sort_into_classes
from gnomon.exceptions import SupervisionWarning
from gnomon.methods.base import Embedder
from gnomon.methods.registry import find_method

__all__ = ["caution", "steering", "take_columns", "target_of_fit", "told_of_fit", "warn_of_left_out"]

_TARGET = "target"
_WEIGHT = "target_weight"
_USUAL_WEIGHT = 0.5


def take_columns(
    data: Dataset, labels: str | None, target: Any, drop: Sequence[Any] | None
) -> tuple[Dataset, Sequence[Any] | None]:
    """Return the data with labels and target that are named, and the columns to leave out of the features.

    Parameters
    ----------
    data : Dataset
        Its table may be a data frame.
    labels : str or None
        A column of labels.
    target : array-like of shape (n_samples,), str or None
        What the map is to follow, or the column that holds it.
    drop : sequence or None
        Columns to leave out anyway.
    """
    gone: list[Any] = [] if drop is None or isinstance(drop, str) else list(drop)
    if isinstance(labels, str):
        values, is_feature = _column(data, labels, "labels")
        data = replace(data, labels=values, label_name=labels)
        gone += [labels] * is_feature
    if isinstance(target, str):
        values, is_feature = _column(data, target, _TARGET)
        data = replace(data, target=values, target_name=target)
        gone += [target] * is_feature
    elif target is not None:
        values = check_labels(target, data.n_samples, name=_TARGET)
        data = replace(data, target=values, target_name=str(getattr(target, "name", None) or _TARGET))
    return data, (drop if isinstance(drop, str) else gone or None)


def _column(data: Dataset, name: str, what: str) -> tuple[npt.NDArray[Any], bool]:
    """Return a column by name, and whether it would become a feature if it were not left out."""
    if data.labels is not None and name == data.label_name:
        return data.labels, False
    if name in data.metadata:
        return data.metadata[name], name in (data.text_columns or ())
    columns: dict[str, Any] = {}
    if is_frame(data.X):
        columns = {key: raw.labels for key, raw in raw_columns(data.X).items()}
    elif data.feature_names is not None:
        columns = dict.fromkeys(data.feature_names)
    if name in data.integers:
        return data.integers[name], True
    require_name(name, [*columns, *data.metadata, *([data.label_name] if data.label_name else [])], what=what)
    if columns[name] is not None:
        return columns[name], True
    values = data.X[:, [list(columns).index(name)]]
    return np.asarray(values if isinstance(values, np.ndarray) else values.toarray())[:, 0], True


def steering(data: Dataset, method: Any) -> dict[str, Any]:
    """Return the weight with which a target steers a method that follows none unless asked, which it now is."""
    from gnomon import methods

    card = find_method(method) if isinstance(method, str) and data.target is not None else None
    asked = card is not None and getattr(getattr(methods, card.estimator), _WEIGHT, None) == 0.0
    return {_WEIGHT: _USUAL_WEIGHT} if asked else {}


def target_of_fit(data: Dataset, estimator: Any) -> npt.NDArray[Any] | None:
    """Return the target in the form of a fit, or raise an error if the method follows none or a feature holds it."""
    from gnomon.data import check_target

    if data.target is None:
        return None
    if isinstance(estimator, Embedder) and not hasattr(estimator, _WEIGHT):
        rule = f"left out where {type(estimator).__name__} makes the map"
        remedy = f"Pass method=..., one of {', '.join(_following())}; labels colour any map."
        raise ValueError(message(f"target={data.target_name!r}", rule, fact="it follows no target", remedy=remedy))
    for name in _copies(data):
        remedy = f"Pass target={name!r} or drop=[{name!r}]."
        raise ValueError(message(_TARGET, "no feature as well", fact=f"column {name!r} is the same", remedy=remedy))
    return data.target if isinstance(estimator, Embedder) else check_target(data.target, data.n_samples).values


def _following() -> list[str]:
    from gnomon import methods

    return [repr(card.name) for card in methods.METHODS if _WEIGHT in getattr(methods, card.estimator)().get_params()]


def _copies(data: Dataset) -> Iterable[str]:
    """Name the columns that hold what the target holds."""
    target = sort_into_classes(data.target)
    for rule in data.columns or ():
        column = data.metadata.get(rule.name) if rule.features else None
        if column is not None:
            found = sort_into_classes(column)
            pairs = np.unique(np.stack([found.codes, target.codes]), axis=1)
            if len(found) > 1 and pairs.shape[1] == len(found) == len(target):
                yield rule.name
    values = np.asarray(data.target)
    if isinstance(data.X, np.ndarray) and values.dtype.kind in "biuf":
        ends = (data.X[0] == values[0]) & (data.X[-1] == values[-1])
        for j in np.flatnonzero(ends):
            if np.array_equal(data.X[:, j], values.astype(data.X.dtype), equal_nan=True):
                yield data.feature_names[j] if data.feature_names else f"feature {j}"


def told_of_fit(data: Dataset, estimator: Any) -> tuple[dict[str, Any], list[str]]:
    """Return what a fit with a target adds to the parameters and to the notes of its map."""
    if data.target is None:
        return {}, []
    name = data.target_name
    found = getattr(estimator, "supervision_", None)
    if isinstance(estimator, Embedder) and found is None:
        return {}, [f"The target {name!r} was not used: the map is made of the features alone."]
    if found is None:
        return {_TARGET: name}, [f"The target {name!r} was given to {type(estimator).__name__}.fit_transform."]
    measure = "the share of neighbours of one class is" if found.kind == "classes" else "Moran's I of neighbours is"
    figures = f"{found.agreement:.3g}, by chance {found.chance:.3g} ± {found.error:.2g}"
    weight = getattr(estimator, _WEIGHT)
    return {_TARGET: name}, [
        f"The target {name!r} steered the map with weight {weight:g}, as {found.kind}. In the data {measure} {figures}."
    ]


def warn_of_left_out(data: Dataset, estimator: Any) -> None:
    """Name the columns that were left out of a table whose features go with the target no more than by chance."""
    found = getattr(estimator, "supervision_", None)
    if data.target is None or found is None or not found.is_by_chance:
        return
    used = {rule.name for rule in data.columns or () if rule.features}
    gone = [name for name in data.metadata if name not in used and name not in (data.target_name, data.label_name)]
    if gone:
        fact = (
            f"The features go with the target {data.target_name!r} by chance, but these columns were left out of them"
        )
        warn(f"{fact}: {listed(gone)}. Pass features=[...] with those that may go with it.", SupervisionWarning)


def caution(parameters: dict[str, Any]) -> str:
    """Return how a map that was steered is to be read; empty for one made of its features alone."""
    if _TARGET not in parameters:
        return ""
    name = parameters[_TARGET]
    return (
        f"The map was steered by the target {name!r}: that its values, or labels that go with it, lie apart here is no "
        "evidence. Ask a map made without it."
    )
