"""A map by halving a graph again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._entrance import entrance
from gnomon.linalg import GraphLaplacian, connected_components, eigenpairs
from gnomon.theory.direct.scale import Float64Array, at_best_scale, umap_loss

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["bisection_map"]

_FEWEST = 4  # points of a part that an eigenvector still halves


@entrance("bisection_map")
def bisection_map(affinities: Affinities, kernel: OutputKernel, *, n_components: int = 2) -> Float64Array:
    """Map a graph into a box by recursive spectral bisection, at the scale of least loss.

    The rows of a box are ordered by the second eigenvector of their own part of the graph and split in halves, the box
    across its longest side; the half that is drawn more to one side by rows outside lies there. Points end evenly
    spaced, each in a box of its own. The cost is that of log2(n) eigenvectors of the whole graph.

    Parameters
    ----------
    affinities, kernel : as in `umap_loss`
    n_components : int >= 1, default=2

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64

    References
    ----------
    .. [1] Pothen, Simon & Liou, "Partitioning sparse matrices with eigenvectors of graphs", SIAM Journal on Matrix
       Analysis and Applications 11, 1990.
    """
    matrix = sp.csr_array(affinities.matrix.astype(np.float64))
    degrees = np.asarray(matrix.sum(axis=1), dtype=np.float64)
    places = np.zeros((matrix.shape[0], n_components))
    boxes = [(np.arange(matrix.shape[0]), np.full(n_components, -0.5), np.full(n_components, 0.5))]
    while boxes:
        boxes = [half for box in boxes for half in _halves(matrix, degrees, places, *box)]
    return at_best_scale(umap_loss(affinities, kernel, n_components), places)


def _halves(
    matrix: sp.csr_array,
    degrees: Float64Array,
    places: Float64Array,
    rows: npt.NDArray[np.intp],
    low: Float64Array,
    high: Float64Array,
) -> list[tuple[npt.NDArray[np.intp], Float64Array, Float64Array]]:
    """Split a box and its rows, whose places become the middles of the halves; nothing is left of a single row."""
    if rows.size == 1:
        return []
    side = int(np.argmax(high - low))
    own = matrix[rows]
    inside = own[:, rows]
    outside = own @ places[:, side] - inside @ places[rows, side]
    pull = outside - (degrees[rows] - np.asarray(inside.sum(axis=1))) * 0.5 * (low[side] + high[side])
    along = _order_of(inside)
    if float(pull @ (along - along.mean())) < 0.0:
        along = -along
    order = np.argsort(along, kind="stable")
    half = rows.size // 2
    cut = low[side] + (high[side] - low[side]) * half / rows.size
    found = []
    for part, begin, end in ((order[:half], low[side], cut), (order[half:], cut, high[side])):
        lower, upper = low.copy(), high.copy()
        lower[side], upper[side] = begin, end
        places[rows[part]] = 0.5 * (lower + upper)
        found.append((rows[part], lower, upper))
    return found


def _order_of(weights: sp.csr_array) -> Float64Array:
    """Return a number for each row by which neighbours are near: the second eigenvector, or the number of the piece."""
    if weights.shape[0] < _FEWEST:
        return np.arange(weights.shape[0], dtype=np.float64)
    labels = connected_components(weights)
    if labels.any():
        by_size = np.argsort(np.argsort(-np.bincount(labels), kind="stable"), kind="stable")
        return by_size[labels].astype(np.float64)
    vector = eigenpairs(GraphLaplacian(weights), 1, tol=1e-2).vectors[:, 0]
    return np.asarray(vector / np.sqrt(np.asarray(weights.sum(axis=1))))
