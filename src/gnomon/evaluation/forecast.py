"""What the scores of a map take."""

from __future__ import annotations

from gnomon._costs import Cost

__all__ = ["evaluation_takes"]

_ALL_PAIRS = 50.0  # bytes for each pair of few rows
_MOST = 1.0e8  # bytes of the blocks of pairs
_TIME = Cost(fixed=1e8, row=2.5e4, entry=150.0)  # nanoseconds


def evaluation_takes(n_samples: int, n_features: float) -> tuple[float, float]:
    """Return what `gnomon.evaluate` takes by default.

    Parameters
    ----------
    n_samples : int
    n_features : float
        Numbers stored for a row.

    Returns
    -------
    n_bytes, seconds : float
        Beyond what is there already; of one core of the reference machine.
    """
    return min(_MOST, _ALL_PAIRS * n_samples**2), 1e-9 * _TIME.of(n_samples, n_features)
