"""What the page of a map takes."""

from __future__ import annotations

from gnomon._costs import Cost

__all__ = ["page_takes"]

_MEMORY = Cost(row=2.2e3, entry=2.0)  # bytes
_PROFILES = Cost(row=3.4e4, entry=110.0)  # bytes of features and doubts of rows, in blocks
_MOST = 1.5e8  # bytes of the blocks
_TIME = Cost(fixed=6e8, row=8.5e4, entry=300.0)  # nanoseconds


def page_takes(n_samples: int, n_features: float) -> tuple[float, float]:
    """Return what a page takes to be written, the scores that it shows aside.

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
    shape = n_samples, n_features
    return _MEMORY.of(*shape) + min(_MOST, _PROFILES.of(*shape)), 1e-9 * _TIME.of(*shape)
