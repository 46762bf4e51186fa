"""The shape of data and of a map by their persistent homology: pieces (H0) and loops (H1), and how far these differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import inner
from gnomon._optional import import_optional

__all__ = ["diagram_agreement", "joining_agreement", "joining_scales", "loop_agreement", "loops"]

Floats = npt.NDArray[np.float64]

_ONE_SCALE = 1e-9  # as a share of the largest scale: differences below are rounding


def joining_scales(distances: Floats) -> Floats:
    """Return the scale at which any two rows come into one piece: the longest step of the best path between them.

    These are the heights of single linkage, and the merge tree behind the H0 diagram of the Vietoris-Rips filtration,
    whose bars end at the distinct merges.

    Parameters
    ----------
    distances : ndarray of shape (n, n), float64
        Symmetric, without negative entries.

    Returns
    -------
    ndarray of shape (n, n), float64
        Symmetric, with zeros on the diagonal.

    References
    ----------
    .. [1] Carlsson & Memoli, "Characterization, stability and convergence of hierarchical clustering methods", Journal
       of Machine Learning Research 11, 2010.
    """
    n = len(distances)
    nearest = distances[0].astype(np.float64)
    outside = np.ones(n, dtype=np.bool_)
    outside[0] = False
    order, lengths = np.zeros(n, dtype=np.int64), np.empty(n - 1)
    for step in range(n - 1):  # the shortest tree, grown from the first row
        new = int(np.argmin(np.where(outside, nearest, np.inf)))
        order[step + 1], lengths[step] = new, nearest[new]
        outside[new] = False
        np.minimum(nearest, distances[new], out=nearest)
    scales = np.zeros((n, n))
    for step in range(n - 1):  # the longest edge between two rows is the longest that was added between them
        scales[order[step], order[step + 1 :]] = np.maximum.accumulate(lengths[step:])
    return np.maximum(scales, scales.T)


def joining_agreement(a: Floats, b: Floats) -> float:
    """Return the correlation, over pairs of rows, of the scales at which they come into one piece on either side.

    The rows are the same on both sides, unlike in a comparison of diagrams: there a cloud of random places can be more
    like the data than a map that keeps every cluster.

    Parameters
    ----------
    a, b : ndarray of shape (n, n), float64
        Distances of the same rows.

    Returns
    -------
    float in [-1, 1]
        1 for the same tree in any unit, about 0 for places that know nothing of the data; nan where on one side all
        pairs join at one scale.

    References
    ----------
    .. [1] Sokal & Rohlf, "The comparison of dendrograms by objective methods", Taxon 11, 1962.
    """
    upper = np.triu_indices(len(a), 1)
    both = [joining_scales(one)[upper] for one in (a, b)]
    if any(np.ptp(one) <= _ONE_SCALE * one.max() for one in both):
        return float("nan")
    first, second = (one - one.mean() for one in both)
    spread = np.sqrt(inner(first, first)) * np.sqrt(inner(second, second))
    return float(np.clip(inner(first, second) / spread, -1.0, 1.0))


def loops(distances: Floats) -> Floats:
    """Return birth and death of each loop: the H1 diagram of the Vietoris-Rips filtration, found by GUDHI.

    Parameters
    ----------
    distances : ndarray of shape (n, n), float64
        A few hundred rows take a second.

    Returns
    -------
    ndarray of shape (n_loops, 2), float64

    Raises
    ------
    MissingDependencyError
        If GUDHI cannot be imported.
    """
    module: Any = import_optional("gudhi.sklearn.rips_persistence", package="gudhi", extra="topology")
    rips = module.RipsPersistence(homology_dimensions=1, input_type="lower distance matrix")
    found: Floats = np.asarray(rips.fit_transform([distances])[0], dtype=np.float64).reshape(-1, 2)
    return found


def loop_agreement(a: Floats, b: Floats) -> float:
    """Return how alike the loops of two matrices of distances are, each in units of its largest distance."""
    return diagram_agreement(*(loops(one / one.max()) for one in (a, b)))


def diagram_agreement(a: Floats, b: Floats) -> float:
    """Return 1 - W(a, b) / (W(a, 0) + W(b, 0)), with W the 1-Wasserstein distance of diagrams in the maximum norm.

    Parameters
    ----------
    a, b : ndarray of shape (n, 2), float64
        Birth and death, each diagram in a unit of its own, as `loop_agreement` takes it.

    Returns
    -------
    float in [0, 1]
        1 for the same diagram; 0 where nothing of one is like anything of the other, or one of them alone is empty.
        1 if both are empty.

    References
    ----------
    .. [1] Cohen-Steiner, Edelsbrunner, Harer & Mileyko, "Lipschitz functions have Lp-stable persistence", Foundations
       of Computational Mathematics 10, 2010.
    """
    whole = 0.5 * float(np.sum(a[:, 1] - a[:, 0]) + np.sum(b[:, 1] - b[:, 0]))
    if not whole > 0:
        return 1.0
    return float(np.clip(1.0 - _matched(a, b) / whole, 0.0, 1.0))


def _matched(a: Floats, b: Floats) -> float:
    """Return the distance of two diagrams by an optimal assignment to each other and to the diagonal."""
    from scipy.optimize import linear_sum_assignment

    n, m = len(a), len(b)
    costs = np.zeros((n + m, n + m))
    costs[:n, :m] = np.max(np.abs(a[:, None, :] - b[None, :, :]), axis=2)
    costs[:n, m:] = 0.5 * (a[:, 1] - a[:, 0])[:, None]
    costs[n:, :m] = 0.5 * (b[:, 1] - b[:, 0])[None, :]
    rows, columns = linear_sum_assignment(costs)
    return float(costs[rows, columns].sum())
