"""Where a descent starts, and the look at it that callbacks get."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._validation import message

__all__ = ["check_start", "read_only"]


def check_start(Y0: npt.ArrayLike, n_samples: int, *, who: str) -> npt.NDArray[np.float32]:
    """Return a new row-major float32 copy of Y0, or raise ValueError if shape or values cannot be started from."""
    start = np.array(Y0, dtype=np.float32, order="C", copy=True)
    if start.ndim != 2 or start.shape[0] != n_samples or start.shape[1] < 1:
        rule = f"of shape (n_samples={n_samples}, n_components)"
        raise ValueError(message(who, f"Y0 of shape {start.shape}", rule))
    bad = np.flatnonzero(~np.isfinite(start).all(axis=1))
    if bad.size:
        raise ValueError(message(who, "Y0", "finite", fact=f"{bad.size} rows are not, the first is row {bad[0]}"))
    return start


def read_only(embedding: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return a view that cannot be written through."""
    view = embedding.view()
    view.flags.writeable = False
    return view
