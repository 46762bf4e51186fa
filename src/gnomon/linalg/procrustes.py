"""How far two embeddings are apart once one is moved and turned onto the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas

__all__ = ["procrustes_error"]


def procrustes_error(Y: npt.ArrayLike, reference: npt.ArrayLike) -> float:
    """Return the least relative distance of Y from a reference over all translations, rotations and reflections.

    Parameters
    ----------
    Y, reference : array-like of shape (n_samples, n_components)

    Returns
    -------
    float
        min over orthogonal Q of |HY Q - H reference| / |H reference| in Frobenius norms; 0 where both are constant.
        Sizes are compared too: no factor is divided out.
    """
    a = np.asarray(Y, dtype=np.float64)
    b = np.asarray(reference, dtype=np.float64)
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    with single_threaded_blas():
        left, _, right = np.linalg.svd(a.T @ b)
        distance, size = float(np.linalg.norm(a @ (left @ right) - b)), float(np.linalg.norm(b))
    if size == 0.0:
        return 0.0 if distance == 0.0 else float("inf")
    return distance / size
