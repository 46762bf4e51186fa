"""The target y of a fit: checked where it is used, and said not to be used where it is not."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._validation import message, warn
from gnomon.data.labels import check_labels, measured_labels, sort_into_classes
from gnomon.data.table import check_same_length
from gnomon.exceptions import SupervisionWarning

__all__ = ["Target", "check_target", "check_target_length", "check_unused_target"]

_PASSED_THROUGH = ("gnomon", "sklearn", "joblib")
_WRAPPERS = ("sklearn.utils.", "sklearn.base")  # also around a method that a user calls
_UNLABELLED = -1  # of whole numbers, as in scikit-learn's semi-supervised learning


@dataclass(frozen=True)
class Target:
    """What is known of each row beside its features.

    Attributes
    ----------
    kind : {"classes", "numbers"}
    values : ndarray of shape (n_samples,)
        Classes: their numbers, int64, -1 for a row without one. Numbers: float64, NaN for a row without one.
    """

    kind: Literal["classes", "numbers"]
    values: npt.NDArray[Any]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which rows have a class or number."""
        return np.asarray(self.values >= 0 if self.kind == "classes" else np.isfinite(self.values))

    @property
    def varies(self) -> bool:
        """Whether the rows differ, so that the target tells anything."""
        return len(np.unique(self.values[self.known])) > 1

    def of_rows(self, rows: npt.NDArray[np.intp]) -> Target:
        """Return the target of some rows."""
        return replace(self, values=self.values[rows])

    def of_distinct_rows(self, copies: npt.NDArray[np.intp]) -> Target:
        """Return the target of distinct rows: the mean number, or most frequent class (the first of equals), of copies.

        Parameters
        ----------
        copies : ndarray of shape (n_samples,)
            Which distinct row each row is.
        """
        n, known = int(copies.max()) + 1, self.known
        rows, values = copies[known], self.values[known]
        if self.kind == "numbers":
            count = np.bincount(rows, minlength=n)
            total = np.bincount(rows, values, minlength=n)
            return replace(self, values=np.where(count > 0, total / np.maximum(count, 1), np.nan))
        pairs, count = np.unique(np.stack([rows, values]), axis=1, return_counts=True)
        order = np.lexsort((-pairs[1], count))  # the last one written is the most frequent
        merged = np.full(n, -1, dtype=np.int64)
        merged[pairs[0, order]] = pairs[1, order]
        return replace(self, values=merged)


def check_target(y: Any, n: int, kind: Literal["auto", "classes", "numbers"] = "auto") -> Target:
    """Check a target that a fit uses.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes or numbers; None, NaN, NaT or an empty text for a row without one, and -1 where it stands among whole
        numbers of at least two other classes.
    n : int
        Number of rows.
    kind : {"auto", "classes", "numbers"}, default="auto"
        "auto" takes as numbers what `measured_labels` takes for measured, everything else as classes.

    Returns
    -------
    Target

    Raises
    ------
    ValueError
        If y has more than one column, or numbers are wanted and it holds something else.
    """
    labels = check_labels(_sized(y), n, name="y")
    numbers = None if kind == "classes" else measured_labels(labels)
    if kind == "numbers" and numbers is None:
        if labels.dtype.kind not in "biuf":
            raise ValueError(message("y", "of numbers or dates", fact=f"found labels of {labels.dtype}"))
        numbers = labels.astype(np.float64)
    if numbers is not None:
        return Target("numbers", np.where(np.isfinite(numbers), numbers, np.nan))
    classes = sort_into_classes(labels)
    codes = classes.codes
    if labels.dtype.kind in "if" and len(classes) > 2 and _UNLABELLED in classes.values:
        gone = classes.values.index(_UNLABELLED)
        codes = np.where(codes == gone, -1, codes - (codes > gone))
    return Target("classes", codes)


def check_target_length(X: Any, y: Any) -> None:
    """Check that a target has one entry for each row.

    Parameters
    ----------
    X : table of n_samples rows
        Only its length counts.
    y : array-like of n_samples entries or None
        Of any kind.

    Raises
    ------
    TypeError
        If y is no sequence and not None.
    ValueError
        If it has another length than X.
    """
    if y is None:
        return
    sized = _sized(y)
    if not isinstance(y, (list, tuple)) and np.shape(sized) == ():
        rule = "a sequence of one entry for each row, or None"
        raise TypeError(message(f"y={y!r:.40}", rule, fact=f"found {type(y).__name__}"))
    check_same_length(X=X, y=sized)


def _sized(y: Any) -> Any:
    """Return a target that has a length: itself, or the array that it stands for."""
    return y if hasattr(y, "__len__") else np.asarray(y)


def check_unused_target(X: Any, y: Any, *, remedy: str = "Leave y out.") -> None:
    """Check a target that a fit does not use, and say that it does not.

    Parameters
    ----------
    X : table of n_samples rows
        Only its length counts.
    y : array-like of n_samples entries or None
        Of any kind: in a pipeline it is for a later step.
    remedy : str, default="Leave y out."
        What to do.

    Raises
    ------
    TypeError, ValueError
        If y is no sequence, or has another length than X.

    Warns
    -----
    SupervisionWarning
        If y is given, unless a pipeline or search of scikit-learn hands it on, which it does to every step.
    """
    check_target_length(X, y)
    if y is not None and not _is_handed_on():
        warn(f"y is not used: the map is made of X alone. {remedy}", SupervisionWarning)


def _is_handed_on() -> bool:
    """Say whether a pipeline or search of scikit-learn is what called the method."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and (name := frame.f_globals.get("__name__", "")).partition(".")[0] in _PASSED_THROUGH:
        if name.startswith("sklearn.") and not name.startswith(_WRAPPERS):
            return True
        frame = frame.f_back
    return False
