"""What the answers to a map take: its explanation, its scores and its page.

They are foreseen before a fit begins, and none of the rooms that answer is loaded for that.
"""

from __future__ import annotations

from gnomon._costs import Cost

__all__ = ["evaluation_takes", "explanation_takes", "page_takes"]

# Bytes, bytes of the blocks worked on at a time and their limit, and nanoseconds on one core of the reference machine.
_EXPLANATION = Cost(fixed=1e6, row=900.0)
_FEATURE_FITS = Cost(entry=530.0)  # of rows fitted by their features, where these are noisy
_MOST_FITTED = 1.35e8
_FEW = 15  # features up to which blocks are small
_EXPLANATION_TIME = Cost(fixed=1e8, row=2.5e4, entry=1e3)  # noisy features take ten times as long
_ALL_PAIRS = 50.0  # for each pair of few rows
_MOST_PAIRS = 1.0e8
_EVALUATION_TIME = Cost(fixed=1e8, row=2.5e4, entry=150.0)
_PAGE = Cost(row=3.1e3, entry=7.0)  # with a table of groups of features, and its explanation
_PROFILES = Cost(row=3.4e4, entry=110.0)  # of features and doubts of rows
_MOST_PROFILES = 1.5e8
_PAGE_TIME = Cost(fixed=6e8, row=1.1e5, entry=300.0)
_ALIKE = 0.3  # nanoseconds for a product of two columns in a row, where groups of features are looked for
_MOST_ALIKE, _FEWEST_ALIKE = 1 << 24, 256  # numbers and rows that are looked at


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
    blocks = min(_MOST_FITTED, _FEATURE_FITS.of(n_samples, n_features)) if n_features > _FEW else 0.0
    return _EXPLANATION.of(n_samples, n_features) + blocks, 1e-9 * _EXPLANATION_TIME.of(n_samples, n_features)


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
    return min(_MOST_PAIRS, _ALL_PAIRS * n_samples**2), 1e-9 * _EVALUATION_TIME.of(n_samples, n_features)


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
    looked_at = min(n_samples, max(_FEWEST_ALIKE, _MOST_ALIKE / n_features)) if n_features else 0.0
    seconds = 1e-9 * (_PAGE_TIME.of(*shape) + _ALIKE * looked_at * n_features**2)
    return _PAGE.of(*shape) + min(_MOST_PROFILES, _PROFILES.of(*shape)), seconds
