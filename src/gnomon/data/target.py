"""The target y of a fit: what it is for, and what is said where nothing is done with it."""

from __future__ import annotations

import sys
from typing import Any

from gnomon._validation import message, warn
from gnomon.data.table import check_same_length
from gnomon.exceptions import SupervisionWarning

__all__ = ["check_target_length", "check_unused_target"]

_PASSED_THROUGH = ("gnomon", "sklearn", "joblib")
_WRAPPERS = ("sklearn.utils.", "sklearn.base")  # also around a method that a user calls


def check_target_length(X: Any, y: Any) -> None:
    """Raise unless y is None or has one entry for each row of X: TypeError for no sequence, else ValueError."""
    if isinstance(y, (str, bytes)) or not (getattr(y, "shape", None) or hasattr(y, "__len__")):
        if y is not None:
            rule = "a sequence of one entry for each row, or None"
            raise TypeError(message(f"y={y!r:.40}", rule, fact=f"found {type(y).__name__}"))
        return
    check_same_length(X=X, y=y)


def check_unused_target(X: Any, y: Any, *, remedy: str = "Leave y out.") -> None:
    """Check a target that a fit does not use, and say that it does not.

    Parameters
    ----------
    X : table of n_samples rows
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
    frame = sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__", "")
        if name.partition(".")[0] not in _PASSED_THROUGH:
            return False
        if name.startswith("sklearn.") and not name.startswith(_WRAPPERS):
            return True
        frame = frame.f_back
    return False
