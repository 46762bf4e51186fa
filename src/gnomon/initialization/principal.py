"""Start at the scores on the principal components."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.initialization.scattered import NOISE, normal_noise
from gnomon.linalg.principal.components import principal_components

__all__ = ["principal_start"]

_NO_VARIANCE = 1e-13  # of the variance along the first component: rounding of float32 squared


def principal_start(
    X: Any, n_components: int, *, seed: int = 0, n_threads: int = 1
) -> tuple[npt.NDArray[np.float32], str | None]:
    """Return the scores of a table on its leading principal components.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Finite.
    n_components : int >= 1
        Columns of the result; those that the table has no variance for are normal noise of 1e-4 of the standard
        deviation of the first (of 1 where that is zero).
    seed : int, default=0
        Of the noise.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    embedding : ndarray of shape (n_samples, n_components), float32
        Multiplied by a power of two where the scores would be out of the range of float32.
    note : str or None
        Says which columns are noise.
    """
    n_samples = X.shape[0]
    n_found = min(n_components, *X.shape)
    components = principal_components(X, n_found, seed=seed, n_threads=n_threads)
    scores = np.zeros((n_samples, n_components))
    scores[:, :n_found] = components.transform(X, n_threads=n_threads)
    largest = float(np.abs(scores).max(initial=0.0))
    if largest > 0.0 and not 1e-15 < largest < 1e15:
        scores *= 2.0 ** -np.round(np.log2(largest))

    variance = components.explained_variance
    n_useful = int(np.count_nonzero(variance > _NO_VARIANCE * variance[0]))
    if n_useful == n_components:
        return scores.astype(np.float32), None
    spread = float(scores[:, 0].std()) if n_useful else 1.0
    noise = normal_noise(n_samples, n_components, seed, n_threads)
    scores[:, n_useful:] = NOISE * spread * noise[:, n_useful:]
    note = f"X has variance along {n_useful} of {n_components} components only; the others start as small noise"
    return scores.astype(np.float32), note
