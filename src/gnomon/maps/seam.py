"""What a map of angles says of them: from where they are told, and where differences of them mislead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._entrance import entrance
from gnomon._validation import warn
from gnomon.data.dataset import first_few
from gnomon.data.names import default_names
from gnomon.exceptions import DataWarning
from gnomon.neighbors.circles import Seams, periods_under

__all__ = ["told_from", "told_of_seams", "warn_of_seams", "warn_of_units", "without_seams"]

_DEGREES, _TURN = 360.0, 2.0 * np.pi
_NAMED = 5  # columns
_TURNS = 3.0  # periods that values span: more are several turns, or another unit
_ARCS = 12  # of a circle, over which values of another unit, wrapped, are spread
_UNEVEN = 1e-3  # chance of so uneven counts
_TOLD = "Columns with a period are told from where they hold fewest rows"
_MISLEADS = "Explanations take differences of features as numbers: near the seam"


def told_of_seams(seams: Seams | None, names: Sequence[str]) -> list[str]:
    """Say from where columns with a period are told, and where differences of them as numbers mislead."""
    if seams is None:
        return []
    told, crowded = [], np.flatnonzero(seams.crowded)
    if len(seams.moved):
        told.append(f"{told_from(seams, seams.moved, names)} To the others a period is added, or taken away.")
    if len(crowded):
        told.append(
            f"{_MISLEADS}, where the values start again, those of {_listed(crowded, names)} are not to be trusted, as "
            "rows lie everywhere round the circle. Give sine and cosine of each angle as features to have them right."
        )
    return told


def told_from(seams: Seams, moved: npt.NDArray[np.intp], names: Sequence[str]) -> str:
    """Say from where some columns are told that are cut, a sentence."""
    from_to = [f"from {seams.begins[k]:.4g} to {seams.begins[k] + seams.periods[k]:.4g}" for k in moved[:_NAMED]]
    return f"{_TOLD}: {_listed(moved, names, from_to)}."


def without_seams(notes: Sequence[str]) -> list[str]:
    """Return notes without what this file says."""
    return [note for note in notes if not note.startswith((_TOLD, _MISLEADS))]


@entrance("explain", keeps_name=True)
def warn_of_seams(seams: Seams | None, names: Sequence[str]) -> None:
    """Warn of columns whose differences mislead."""
    for text in told_of_seams(seams, names):
        if text.startswith(_MISLEADS):
            warn(text, DataWarning)


def _listed(columns: npt.NDArray[np.intp], names: Sequence[str], ranges: Sequence[str] | None = None) -> str:
    known = names or default_names(int(columns.max()) + 1)
    parts = [repr(known[k]) for k in columns]
    for k, told in enumerate(ranges or ()):
        parts[k] += f" {told}"
    return first_few(parts, _NAMED)


def warn_of_units(X: Any, metric: str) -> None:
    """Warn if columns with a period hold what look like angles of another unit.

    Under 360 they look like radians if all are within one turn, 2 pi, of 0, over half of one. Under 2 pi they look like
    degrees if all are within 360 of 0, some columns span more than 3 periods, and these hold whole numbers or, wrapped
    to one period, lie evenly over the twelfths of the circle: by a chi-squared test as uneven with a chance of 0.001.
    Columns within 3 periods, and several turns of an angle with preferred values, need no word.
    """
    known = metric.startswith("periodic") and isinstance(X, np.ndarray)
    periods = periods_under(metric, X.shape[1]) if known else None
    if periods is None or not len(X):
        return
    angles = np.flatnonzero(np.isfinite(periods))
    if not len(angles):
        return
    if np.allclose(periods[angles], _TURN, rtol=1e-3, atol=0.0):
        _warn_of_degrees(X, angles, periods)
    if not (periods[angles] == _DEGREES).all():
        return
    low, high = (np.asarray(of(X[:, angles], axis=0), dtype=np.float64) for of in (np.min, np.max))
    if max(-low.min(), high.max()) > _TURN * (1.0 + 1e-6) or (high - low).max() < 0.5 * _TURN:
        return
    warn(
        f"Columns with a period of 360 hold values between {low.min():.3g} and {high.max():.3g}, as angles in radians "
        f"do. If they are, pass metric={_in_turns(periods, _TURN)!r}: as degrees, none of them comes near where the "
        "values start again.",
        DataWarning,
    )


def _warn_of_degrees(X: npt.NDArray[Any], angles: npt.NDArray[np.intp], periods: npt.NDArray[np.float64]) -> None:
    """Warn if columns with a period of 2 pi hold what look like degrees."""
    low, high = (np.asarray(of(X[:, angles], axis=0), dtype=np.float64) for of in (np.min, np.max))
    long = np.flatnonzero(high - low > _TURNS * _TURN)
    if not len(long) or max(-low.min(), high.max()) > _DEGREES * (1.0 + 1e-6):
        return
    if not all(_is_of_degrees(X[:, k].astype(np.float64), periods[k]) for k in angles[long]):
        return
    warn(
        f"Columns with a period of 2 pi hold values between {low.min():.4g} and {high.max():.4g}, up to "
        f"{(high - low).max() / _TURN:.0f} periods, as angles in degrees do. If they are, pass "
        f"metric={_in_turns(periods, _DEGREES)!r}. If several turns are meant, X % (2 * numpy.pi) gives the same map "
        "without this warning.",
        DataWarning,
    )


def _is_of_degrees(values: npt.NDArray[np.float64], period: float) -> bool:
    """Return whether values are whole numbers, or lie evenly once they are wrapped."""
    if (values == np.round(values)).all():
        return True
    turns = np.remainder(values / period, 1.0)
    counts = np.bincount(np.minimum((turns * _ARCS).astype(np.intp), _ARCS - 1), minlength=_ARCS)
    share = len(values) / _ARCS
    return float(scipy.special.chdtrc(_ARCS - 1, np.square(counts - share).sum() / share)) > _UNEVEN


def _in_turns(periods: npt.NDArray[np.float64], turn: float) -> str:
    """Return the metric with another period, in the columns that have one."""
    given = [f"{turn:.16g}" if np.isfinite(period) else "inf" for period in periods]
    return f"periodic({given[0] if np.isfinite(periods).all() else ', '.join(given)})"
