"""Where a descent may start: number type, points and states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.optimizers.state import Points, State

__all__ = ["check_start", "check_state", "resolve_dtype"]


def resolve_dtype(objective: object, allowed: Sequence[type], *, who: str) -> np.dtype[np.floating]:
    """Return the number type of an objective, float32 if it names none."""
    dtype = np.dtype(getattr(objective, "dtype", np.float32))
    if dtype not in [np.dtype(one) for one in allowed]:
        names = " or ".join(np.dtype(one).name for one in allowed)
        raise ValueError(message(who, f"the objective's dtype={dtype}", names))
    return dtype


def check_start(Y0: npt.ArrayLike, n_samples: int, *, who: str, dtype: npt.DTypeLike = np.float32) -> Points:
    """Return a new row-major copy of Y0, or raise ValueError if shape or values cannot be started from."""
    start = np.array(Y0, dtype=dtype, order="C", copy=True)
    if start.ndim != 2 or start.shape[0] != n_samples or start.shape[1] < 1:
        rule = f"of shape (n_samples={n_samples}, n_components)"
        raise ValueError(message(who, f"Y0 of shape {start.shape}", rule))
    bad = np.flatnonzero(~np.isfinite(start).all(axis=1))
    if bad.size:
        raise ValueError(message(who, "Y0", "finite", fact=f"{bad.size} rows are not, the first is row {bad[0]}"))
    return start


def check_state(state: object, kind: type[State], n_samples: int, *, who: str, dtype: npt.DTypeLike) -> None:
    """Raise TypeError or ValueError if a descent of n_samples points cannot go on from a state."""
    remedy = f"Pass the state of a Solution of {who}."
    if not isinstance(state, kind):
        what = f"state of type {type(state).__name__}"
        raise TypeError(message(who, what, f"a {kind.__name__}", remedy=remedy))
    if len(state.embedding) != n_samples or state.embedding.dtype != dtype:
        what = f"state of {len(state.embedding)} points in {state.embedding.dtype}"
        raise ValueError(message(who, what, f"of n_samples={n_samples} in {np.dtype(dtype)}", remedy=remedy))
