"""The shape of data and of a map by their persistent homology: pieces (H0) and loops (H1), and how far these differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._optional import import_optional

__all__ = ["diagram_agreement", "loops", "pieces", "scaled_loops", "scaled_pieces"]

Floats = npt.NDArray[np.float64]


def pieces(distances: Floats) -> Floats:
    """Return the scales at which pieces join: the edges of the shortest tree that spans the rows.

    Parameters
    ----------
    distances : ndarray of shape (n, n), float64
        Symmetric, without negative entries.

    Returns
    -------
    ndarray of shape (n - 1, 2), float64
        Birth (0) and death of each piece but the last, ascending: the H0 diagram of the Vietoris-Rips filtration.
    """
    n = len(distances)
    nearest = distances[0].astype(np.float64)
    outside = np.ones(n, dtype=np.bool_)
    outside[0] = False
    lengths = np.empty(n - 1)
    for step in range(n - 1):
        new = int(np.argmin(np.where(outside, nearest, np.inf)))
        lengths[step] = nearest[new]
        outside[new] = False
        np.minimum(nearest, distances[new], out=nearest)
    return np.column_stack([np.zeros(n - 1), np.sort(lengths)])


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
    module: Any = import_optional("gudhi.sklearn", package="gudhi", extra="topology")
    rips = module.RipsPersistence(homology_dimensions=1, input_type="lower distance matrix")
    found: Floats = np.asarray(rips.fit_transform([distances])[0], dtype=np.float64).reshape(-1, 2)
    return found


def scaled_pieces(distances: Floats) -> Floats:
    """Return the H0 diagram in units of its mean death.

    In few dimensions all gaps between rows are a smaller share of the whole than in many: over the largest distance the
    diagrams of a map and of data of more dimensions have hardly a bar in common, whatever their pieces.
    """
    found = pieces(distances)
    scaled: Floats = found / found[:, 1].mean()
    return scaled


def scaled_loops(distances: Floats) -> Floats:
    """Return the H1 diagram in units of the largest distance."""
    return loops(distances / distances.max())


def diagram_agreement(a: Floats, b: Floats) -> float:
    """Return 1 - W(a, b) / (W(a, 0) + W(b, 0)), with W the 1-Wasserstein distance of diagrams in the maximum norm.

    Parameters
    ----------
    a, b : ndarray of shape (n, 2), float64
        Birth and death, each diagram in a unit of its own, as `scaled_pieces` and `scaled_loops` take it.

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
    at_once = not (a[:, 0].any() or b[:, 0].any())
    distance = _matched_in_order(a[:, 1], b[:, 1]) if at_once else _matched(a, b)
    return float(np.clip(1.0 - distance / whole, 0.0, 1.0))


def _matched_in_order(a: Floats, b: Floats) -> float:
    """Return the distance of two ascending lists of deaths of what was there from the start.

    Some optimal matching does not cross, so that it is found along the antidiagonals of a table: cost(i, j) of the
    first i of one and the first j of the other.
    """
    to_diagonal_a, to_diagonal_b = 0.5 * a, 0.5 * b
    n, m = len(a), len(b)
    cost_a, cost_b = np.append(0.0, np.cumsum(to_diagonal_a)), np.append(0.0, np.cumsum(to_diagonal_b))
    before, last = np.zeros(n + 1), np.zeros(n + 1)  # by i, of the antidiagonals i + j = s - 2 and s - 1
    for s in range(1, n + m + 1):
        low, high = max(0, s - m), min(n, s)
        new = np.full(n + 1, np.inf)
        i = np.arange(max(low, 1), min(high, s - 1) + 1)
        if len(i):
            j = s - i
            new[i] = np.minimum(
                before[i - 1] + np.abs(a[i - 1] - b[j - 1]),
                np.minimum(last[i - 1] + to_diagonal_a[i - 1], last[i] + to_diagonal_b[j - 1]),
            )
        if low == 0:
            new[0] = cost_b[s]
        if high == s:
            new[s] = cost_a[s]
        before, last = last, new
    return float(last[n])


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
