"""What the explanation of a map takes."""

from __future__ import annotations

from gnomon._costs import Cost

__all__ = ["explanation_takes"]

_MEMORY = Cost(fixed=1e6, row=900.0)  # bytes
_MOST = 1.35e8  # bytes of the blocks in which rows are fitted by their features where these are noisy
_FEW = 15  # features up to which blocks are small
_OF_BLOCKS = Cost(entry=530.0)
_TIME = Cost(fixed=1e8, row=2.5e4, entry=1e3)  # nanoseconds; noisy features take ten times as long


def explanation_takes(n_samples: int, n_features: float) -> tuple[float, float]:
    """Return what an explanation takes at most: whether it fits features to positions or the reverse, the data decide.

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
    blocks = min(_MOST, _OF_BLOCKS.of(n_samples, n_features)) if n_features > _FEW else 0.0
    return _MEMORY.of(n_samples, n_features) + blocks, 1e-9 * _TIME.of(n_samples, n_features)
