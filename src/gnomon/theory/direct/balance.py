"""Attraction balanced against repulsion by linear systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._entrance import entrance
from gnomon._validation import Integer, check_parameters
from gnomon.linalg import solve_graph_system
from gnomon.theory.direct.eigenmap import eigenmap
from gnomon.theory.direct.scale import Float64Array, at_best_scale, scaled_map, umap_loss

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel
    from gnomon.objectives import PairObjective

__all__ = ["balanced_map", "springs_at", "step_of_springs"]

_RULES = {"n_solves": Integer(low=0)}
_FARTHEST = 0.5  # of the map's extent that a point may move
_WEAK = 1e-4  # stiffness of the ties that are tried first, relative to the sum of a point's springs on average
_NEAREST = 1e-3  # squared distance below which UMAP's repulsion is a straight line, and springs no stiffer


@entrance("balanced_map")
def balanced_map(
    affinities: Affinities, kernel: OutputKernel, Y: npt.ArrayLike | None = None, *, n_solves: int = 1
) -> Float64Array:
    """Map a graph by letting springs balance the repulsion: a linear system, solved once or a few times.

    At a map Y the attraction of an edge is a spring of stiffness s_ij = 4 mu_ij (-k' / k), at the edge's own length.
    With stiffness and repulsion as they are at Y, forces balance at the solution Z of L_s Z = R(Y), L_s the Laplacian
    of the springs, which is Y - L_s^+ (gradient at Y). A map that stays where it is has come to rest. No step is
    chosen, and the loss is looked at for the scale alone, after every solution. A solution takes some hundred products
    with the graph.

    Where a part hangs by weak edges, the springs of Y do not hold it: it would fly out of the map, which at its best
    scale would be a few dots. If a point would move farther than half the map's extent, weak springs tie every point
    to its place, each time ten times as stiff, until none does.

    Parameters
    ----------
    affinities, kernel : as in `umap_loss`
    Y : array-like of shape (n_samples, n_components) or None, default=None
        Where stiffness and repulsion are taken first; None takes the `eigenmap` with half of its ranks.
    n_solves : int >= 0, default=1

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
        Connected components keep their centres.

    References
    ----------
    .. [1] Vladymyrov & Carreira-Perpinan, "Partial-Hessian strategies for fast learning of nonlinear embeddings", ICML
       2012: the same system as the direction of a descent.
    """
    n_solves = check_parameters(_RULES, {"n_solves": n_solves})["n_solves"]
    Z = eigenmap(affinities, kernel, ranks=0.5) if Y is None else scaled_map(affinities, kernel, Y)
    loss = umap_loss(affinities, kernel, Z.shape[1])
    for _ in range(n_solves):
        Z = at_best_scale(loss, Z + step_of_springs(loss, springs_at(affinities.matrix, kernel, Z), Z))
    return Z


def springs_at(weights: Any, kernel: OutputKernel, Y: Float64Array, *, logarithmic: bool = True) -> sp.csr_array:
    """Return the stiffness of the edges of a graph at a map.

    Parameters
    ----------
    weights : CSR of shape (n_samples, n_samples)
        Symmetric and non-negative.
    kernel : OutputKernel
    Y : ndarray of shape (n_samples, n_components)
    logarithmic : bool, default=True
        Of a loss -w log k, 4 w (-k' / k); of a loss -w k, 4 w (-k').

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float64
    """
    edges = sp.coo_array(weights)
    s = np.maximum(np.square(Y[edges.row] - Y[edges.col]).sum(axis=1), _NEAREST)
    slope = -kernel.derivative(s)
    if logarithmic:
        slope /= kernel.value(s)
    return sp.csr_array((4.0 * edges.data.astype(np.float64) * slope, (edges.row, edges.col)), shape=edges.shape)


def step_of_springs(loss: PairObjective, springs: sp.csr_array, Y: Float64Array) -> Float64Array:
    """Return how far the points of a map move until springs hold the gradient of a loss, at most half its extent.

    Parameters
    ----------
    loss : PairObjective
    springs : csr_array of shape (n_samples, n_samples)
    Y : ndarray of shape (n_samples, n_components)

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
    """
    forces = -np.asarray(loss.gradient(Y.astype(np.float32)), dtype=np.float64)
    farthest = _FARTHEST * float(np.ptp(Y, axis=0).max())
    anchor, moved = 0.0, solve_graph_system(springs, forces).Z
    while float(np.abs(moved).max()) > farthest:
        anchor = 10.0 * anchor or _WEAK * float(springs.sum()) / len(Y)
        moved = solve_graph_system(springs, forces, anchor=anchor).Z
    return moved
