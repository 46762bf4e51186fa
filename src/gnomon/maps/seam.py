"""What a map of angles says of its explanations, which take differences of features as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gnomon._validation import warn
from gnomon.exceptions import DataWarning
from gnomon.neighbors import native_metric

__all__ = ["told_of_seam", "warn_of_radians", "warn_of_seam"]

_DEGREES, _TURN = 360.0, 2.0 * np.pi


def told_of_seam(metric: str) -> list[str]:
    """Say where features start again and differences of them as numbers mislead; nothing in other metrics."""
    if not metric.startswith("periodic"):
        return []
    return [
        f"The metric is {metric}, while explanations take differences of features as numbers: near the seam, where "
        "the values start again, they are not to be trusted. Give sine and cosine of each angle as features to have "
        "them right everywhere."
    ]


def warn_of_seam(metric: str) -> None:
    """Warn of the same."""
    for text in told_of_seam(metric):
        warn(text, DataWarning)


def warn_of_radians(X: Any, metric: str) -> None:
    """Warn if columns with a period of 360 hold what look like radians: all within one turn of 0, over half of one."""
    native = native_metric(metric) if metric.startswith("periodic") else None
    periods = native.periods(X.shape[1]) if native is not None and isinstance(X, np.ndarray) else None
    if periods is None or not len(X):
        return
    angles = np.flatnonzero(np.isfinite(periods))
    if not len(angles) or not (periods[angles] == _DEGREES).all():
        return
    low, high = (np.asarray(of(X[:, angles], axis=0), dtype=np.float64) for of in (np.min, np.max))
    if max(-low.min(), high.max()) > _TURN * (1.0 + 1e-6) or (high - low).max() < 0.5 * _TURN:
        return
    given = [f"{_TURN:.16g}" if np.isfinite(period) else "inf" for period in periods]
    remedy = f"periodic({given[0] if len(angles) == len(periods) else ', '.join(given)})"
    warn(
        f"Columns with a period of 360 hold values between {low.min():.3g} and {high.max():.3g}, as angles in radians "
        f"do. If they are, pass metric={remedy!r}: as degrees, none of them comes near where the values start again.",
        DataWarning,
    )
