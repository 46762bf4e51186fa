"""Displacements that change no loss of distances: shifting and turning the map."""

from __future__ import annotations

import numpy as np

from gnomon.objectives.expansion import flat
from gnomon.objectives.terms import Float64

__all__ = ["rigid_motions", "without"]

_LEAST = 1e-10  # length of a motion, relative to the longest, below which it moves nothing


def rigid_motions(Y: Float64) -> Float64:
    """Return an orthonormal basis of the shifts and turns of a map, (n_components * n_samples, r).

    There are d shifts and d (d - 1) / 2 turns in d dimensions, fewer turns where the points span fewer dimensions.
    """
    n, d = Y.shape
    centered = Y - Y.mean(axis=0)
    motions = []
    for a in range(d):
        shift = np.zeros((n, d))
        shift[:, a] = 1.0 / np.sqrt(n)
        motions.append(flat(shift))
    scale = float(np.linalg.norm(centered)) or 1.0
    for a in range(d):
        for b in range(a):
            turn = np.zeros((n, d))
            turn[:, a], turn[:, b] = centered[:, b] / scale, -centered[:, a] / scale
            motions.append(flat(turn))
    U, lengths, _ = np.linalg.svd(np.stack(motions, axis=1), full_matrices=False)
    return np.asarray(U[:, lengths > _LEAST * lengths[0]])


def without(motions: Float64, V: Float64) -> Float64:
    """Return V (rows, q) less its part along the motions."""
    return np.asarray(V - motions @ (motions.T @ V))
