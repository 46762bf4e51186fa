"""Eigenvectors of the normalised Laplacian as a map, bent towards even spacing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from gnomon._entrance import entrance
from gnomon._validation import SEED, Integer, Real, Rule, check_parameters
from gnomon.initialization import lay_out_components
from gnomon.linalg import GraphLaplacian, connected_components, eigenpairs, with_signs
from gnomon.theory.direct.scale import Float64Array, at_best_scale, umap_loss

if TYPE_CHECKING:
    from gnomon.affinities import Affinities
    from gnomon.kernels import OutputKernel

__all__ = ["bent", "eigenmap", "smallest_vectors"]

_RULES: dict[str, Rule] = {"n_components": Integer(low=1), "ranks": Real(low=0.0, high=1.0), "seed": SEED}


@entrance("eigenmap")
def eigenmap(
    affinities: Affinities, kernel: OutputKernel, *, n_components: int = 2, ranks: float = 0.0, seed: int = 0
) -> Float64Array:
    """Map a graph by the eigenvectors of its normalised Laplacian, at the scale of least loss.

    Repulsion spreads the points of a map evenly, which eigenvectors do not. With `ranks` each of them, divided by its
    spread, is averaged with the ranks of its entries. The cost is that of the eigenvectors, about as much as UMAP's own
    start, and of thirty evaluations of the loss.

    Parameters
    ----------
    affinities, kernel : as in `umap_loss`
    n_components : int >= 1, default=2
    ranks : float in [0, 1], default=0.0
        Share of the ranks: 0 takes the eigenvectors, 1 their ranks alone.
    seed : int >= 0, default=0
        Of the search for eigenvectors.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
        Components of the graph lie beside each other.
    """
    given = {"n_components": n_components, "ranks": ranks, "seed": seed}
    checked = check_parameters(_RULES, given)
    vectors = smallest_vectors(affinities, checked["n_components"], checked["seed"])
    return at_best_scale(umap_loss(affinities, kernel, checked["n_components"]), bent(vectors, checked["ranks"]))


def smallest_vectors(affinities: Affinities, n_components: int, seed: int) -> Float64Array:
    """Return the smooth functions on the graph, D^-1/2 times the eigenvectors, of each connected component by itself.

    Parameters
    ----------
    affinities : Affinities
    n_components : int
    seed : int

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
    """
    matrix = sp.csr_array(affinities.matrix)

    def solve(weights: sp.csr_array) -> Float64Array:
        pairs = eigenpairs(GraphLaplacian(weights), n_components, seed=seed, tol=1e-4)
        return with_signs(pairs.vectors / np.sqrt(weights.astype(np.float64).sum(axis=1))[:, None])

    labels = connected_components(matrix)
    if labels.any():
        return lay_out_components(matrix, labels, solve, n_components, seed=seed).embedding
    return np.asarray(solve(matrix), dtype=np.float64)


def bent(Y: Float64Array, ranks: float) -> Float64Array:
    """Return the average of each column of unit spread and the ranks of its entries, also of unit spread.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_components)
    ranks : float in [0, 1]

    Returns
    -------
    ndarray of shape (n_samples, n_components), float64
    """
    places = np.empty_like(Y)
    order = np.argsort(Y, axis=0, kind="stable")
    np.put_along_axis(places, order, np.linspace(-0.5, 0.5, len(Y))[:, None] + np.zeros_like(Y), axis=0)
    centred = Y - Y.mean(axis=0)
    unit = centred / (centred.std(axis=0) + 1e-300)
    return np.asarray((1.0 - ranks) * unit + ranks * places / places.std(axis=0))
