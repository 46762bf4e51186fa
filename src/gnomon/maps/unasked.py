"""Columns that were asked of some rows alone: where they are missing, and which cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.completion import Completion
from gnomon.data.dataset import first_few
from gnomon.data.labels import sort_into_classes

__all__ = ["compared_features", "known_values", "told_of_unnamed", "told_where_missing"]

Mask = npt.NDArray[np.bool_]

_MOSTLY = 0.5  # share of a side that must have a value, else its mean is that of what was filled in
_SHOWN = 3  # columns named
_LEAST_ROWS = 5  # rows that lack a column, and rows that have it: else it is chance that another one tells them
_PATTERNS = 8  # different sets of rows that lack a column, of the columns that come first


def compared_features(
    completion: Completion | None, names: list[str], inside: Mask, outside: Mask
) -> tuple[npt.NDArray[np.intp] | None, str]:
    """Return the features that both sides of a comparison have values of, and what is told of the others.

    Parameters
    ----------
    completion : Completion or None
        What was missing in the table.
    names : list of str
        Of the features.
    inside, outside : ndarray of shape (n_samples,), bool
        The selection and the rest.

    Returns
    -------
    kept : ndarray of int, or None
        Those of which five rows of each side, or half of it, have a value; None where that is all or none.
    told : str
        Which are left out, and of which most values of a side were filled in; empty if none.
    """
    if completion is None or completion.missing.shape != (len(inside), len(names)):
        return None, ""
    from gnomon.explanations.contrast.errors import FEW_ROWS

    known = [(~completion.missing[side]).sum(axis=0) for side in (inside, outside)]
    sizes = [int(side.sum()) for side in (inside, outside)]
    few = [one < _MOSTLY * size for one, size in zip(known, sizes, strict=True)]
    out = (few[0] & (known[0] < FEW_ROWS)) | (few[1] & (known[1] < FEW_ROWS))

    def listed(which: Mask) -> str:
        return first_few(
            (
                f"{names[j]} ({known[0][j]:,} of {sizes[0]:,} selected, {known[1][j]:,} of {sizes[1]:,} in the rest)"
                for j in np.flatnonzero(which)
            ),
            _SHOWN,
        )

    told = []
    left = out.any() and not out.all()
    if left:
        told.append(f"Not compared, as next to no row of a side has a value: {listed(out)}.")
    filled = (few[0] | few[1]) & ~(out if left else np.zeros_like(out))
    if filled.any():
        told.append(
            f"Most values of a side were missing and filled in, so that means and errors are not of answers: "
            f"{listed(filled)} have one."
        )
    return (np.flatnonzero(~out) if left else None), " ".join(told)


def known_values(completion: Completion | None, shape: tuple[int, ...]) -> Mask | None:
    """Return which values of the features were there; None if all were, or the features are others than the data.

    Parameters
    ----------
    completion : Completion or None
        What was missing in the table.
    shape : tuple of int
        Of the table of the features.
    """
    return None if completion is None or completion.missing.shape != tuple(shape) else ~completion.missing


def told_of_unnamed(completion: Completion | None, labels: Any, names: list[str]) -> str:
    """Say which features do not describe which labels, as most of their rows have no value; empty if none.

    Parameters
    ----------
    completion : Completion or None
        What was missing in the table.
    labels : ndarray of shape (n_samples,)
        The class of each row.
    names : list of str
        Of the features.
    """
    known = known_values(completion, (len(labels), len(names)))
    if known is None:
        return ""
    from gnomon.explanations.contrast.known import few_known

    classes = sort_into_classes(labels)
    few = few_known(known, classes.codes, len(classes))
    told = (
        f"{names[j]} ({first_few([classes.names[g] for g in np.flatnonzero(few[:, j])], _SHOWN)})"
        for j in np.flatnonzero(few.any(axis=0))
    )
    return f"Not described by what most of their rows lack: {first_few(told, _SHOWN)}." if few.any() else ""


def told_where_missing(completion: Completion, names: list[str], columns: Mapping[str, int]) -> str:
    """Say which columns are missing exactly where another has one value, to follow another sentence; empty if none.

    Parameters
    ----------
    completion : Completion
    names : list of str
        Of the features.
    columns : mapping of str to int
        Columns that may lack values, and the first feature of each.
    """
    X, missing = completion.X, completion.missing
    whole = np.flatnonzero(~missing.any(axis=0))
    patterns: dict[bytes, list[str]] = {}
    for name, j in columns.items():
        if _LEAST_ROWS <= missing[:, j].sum() <= len(X) - _LEAST_ROWS:
            patterns.setdefault(missing[:, j].tobytes(), []).append(name)
    told: list[str] = []
    for pattern, lacking in [*patterns.items()][:_PATTERNS]:
        value = _one_value(X, whole, np.frombuffer(pattern, dtype=bool))
        if value is not None:
            named = first_few(map(repr, lacking), _SHOWN)
            told.append(f"{named} exactly where {names[value[0]]!r} is {value[1]:g}")
    if not told:
        return ""
    return (
        f". Missing are {'; '.join(told)}: if that was not asked there, what is filled in says nothing of these rows; "
        "drop it, or map the rows that have it"
    )


def _one_value(X: Any, columns: npt.NDArray[np.intp], rows: Mask) -> tuple[int, float] | None:
    """Return the first of some columns that has one value in some rows and in no others, and that value."""
    values = X[np.argmax(rows)]
    for j in columns:
        if np.array_equal(X[:, j] == values[j], rows):
            return int(j), float(values[j])
    return None
