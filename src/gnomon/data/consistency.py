"""Do rows, columns and labels belong together?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.data.table import Table

__all__ = ["check_feature_count", "check_labels", "check_same_length"]

_SHOWN = 5  # names listed in an error


def _listed(title: str, names: Iterable[str]) -> str:
    ordered = sorted(names)
    if not ordered:
        return ""
    lines = [f"- {name}" for name in ordered[:_SHOWN]] + (["- ..."] if len(ordered) > _SHOWN else [])
    return f"{title}\n" + "\n".join(lines) + "\n"


def check_feature_count(table: Table, n_features_in: int, feature_names_in: Sequence[str] | None, who: str) -> None:
    """Raise ValueError unless a table has the columns that a model was fitted with.

    Parameters
    ----------
    table : Table
        The new rows.
    n_features_in : int
        Number of columns in `fit`.
    feature_names_in : sequence of str or None
        Names of the columns in `fit`, if there were any. Compared only if the table has names too.
    who : str
        Name of the estimator, which opens the error text.

    Notes
    -----
    The sentences are those of scikit-learn, whose estimator checks and users match on them.
    """
    if feature_names_in is not None and table.feature_names is not None:
        fitted, given = list(feature_names_in), table.feature_names
        if fitted == given:
            return
        unseen = _listed("Feature names unseen at fit time:", set(given) - set(fitted))
        missing = _listed("Feature names seen at fit time, yet now missing:", set(fitted) - set(given))
        order = "Feature names must be in the same order as they were in fit.\n"
        raise ValueError(
            f"{who}: The feature names should match those that were passed during fit.\n"
            f"{unseen}{missing}{'' if unseen or missing else order}"
        )
    if table.n_features != n_features_in:
        raise ValueError(
            f"X has {table.n_features} features, but {who} is expecting {n_features_in} features as input. "
            "Pass the columns that the model was fitted with."
        )


def _length(value: Any) -> int:
    shape = getattr(value, "shape", None)  # a sparse matrix has no length
    return int(shape[0]) if shape else len(value)


def check_same_length(who: str, **arguments: Any) -> None:
    """Raise ValueError unless all arguments that are not None have the same number of rows.

    Parameters
    ----------
    who : str
        Opens the error text.
    **arguments : array-like, sized or None
        The arguments by name, the one that sets the length first.
    """
    lengths = {name: _length(value) for name, value in arguments.items() if value is not None}
    if len(set(lengths.values())) > 1:
        first, *others = lengths
        other = next(name for name in others if lengths[name] != lengths[first])
        fact = f"{first} has {lengths[first]} rows, {other} has {lengths[other]}"
        raise ValueError(message(who, other, f"as long as {first}", fact=fact, remedy="Pass one entry for each row."))


def _label_array(labels: Any, *, who: str) -> npt.NDArray[Any]:
    if isinstance(labels, (str, bytes)) or (np.ndim(labels) == 0 and not hasattr(labels, "__len__")):
        raise TypeError(message(who, f"labels={labels!r:.40}", "a sequence of labels", fact=type(labels).__name__))
    to_numpy = getattr(labels, "to_numpy", None)
    if to_numpy is not None:
        return np.asarray(to_numpy())
    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise ValueError(message(who, "labels", "one label for each row", fact=str(error).split(". ")[0])) from error
    if array.dtype.kind == "U" and not isinstance(labels, np.ndarray) and any(not isinstance(v, str) for v in labels):
        return np.asarray(labels, dtype=object)  # NumPy would write None and 1 as text
    return array


def check_labels(labels: Any, n: int, *, who: str = "gnomon") -> npt.NDArray[Any]:
    """Check labels, one for each row.

    Parameters
    ----------
    labels : array-like of shape (n,)
        Text, whole numbers, truth values, numbers or a mixture; a column of a data frame; None or NaN where a row has
        no label. Matched to rows by position, whatever the index of a pandas Series says.
    n : int
        Number of rows.
    who : str, default="gnomon"
        Opens the error text.

    Returns
    -------
    ndarray of shape (n,)
        Dtype of text where all labels are text, object where kinds are mixed.
    """
    array = _label_array(labels, who=who)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            message(
                who,
                "labels",
                "one-dimensional",
                fact=f"shape={array.shape}",
                remedy="Pass one label for each row; for indicator columns use labels.argmax(axis=1).",
            )
        )
    if array.dtype.kind == "c":
        raise ValueError(message(who, "labels", "text or real numbers", fact="Complex data not supported"))
    check_same_length(who, X=np.empty(n, np.int8), labels=array)
    if array.dtype.kind == "O" and all(isinstance(value, str) for value in array):
        return array.astype(str)
    return array
