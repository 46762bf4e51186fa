"""Methods by name: classical ones of scikit-learn, modern ones of gnomon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import gnomon.methods

__all__ = ["CLASSICAL", "MODERN", "available", "embed", "embed_here"]

Rows = npt.NDArray[np.float32]

_NEIGHBORS = 15

MODERN = ("umap", "tsne", "largevis", "neg_tsne", "info_nce_tsne", "symmetric_sne", "pacmap", "trimap", "force_atlas2")
"""Neighbour embeddings that take seconds; SNE, which is slower, makes maps much like those of symmetric SNE."""


def _isomap(X: Rows, seed: int) -> npt.NDArray[Any]:
    from sklearn.manifold import Isomap

    return Isomap(n_neighbors=_NEIGHBORS).fit_transform(X)


def _lle(X: Rows, seed: int) -> npt.NDArray[Any]:
    from sklearn.manifold import LocallyLinearEmbedding

    return LocallyLinearEmbedding(n_neighbors=_NEIGHBORS, random_state=seed, eigen_solver="dense").fit_transform(X)


def _spectral(X: Rows, seed: int) -> npt.NDArray[Any]:
    from sklearn.manifold import SpectralEmbedding

    return SpectralEmbedding(n_neighbors=_NEIGHBORS, random_state=seed).fit_transform(X)


def _kernel_pca(X: Rows, seed: int) -> npt.NDArray[Any]:
    from scipy.spatial.distance import pdist
    from sklearn.decomposition import KernelPCA

    scale = float(np.median(pdist(X[:500])))  # the common start: the median distance
    return KernelPCA(2, kernel="rbf", gamma=1 / (2 * scale**2), random_state=seed).fit_transform(X)


def _mds(X: Rows, seed: int) -> npt.NDArray[Any]:
    from sklearn.manifold import ClassicalMDS

    # Of Euclidean distances it would be PCA under another name, and no method is to be compared with itself.
    return ClassicalMDS(2, metric="manhattan").fit_transform(X)


def _pca(X: Rows, seed: int) -> npt.NDArray[Any]:
    return gnomon.methods.PCA(n_components=2).fit_transform(X)


CLASSICAL: dict[str, Callable[[Rows, int], npt.NDArray[Any]]] = {
    "pca": _pca,
    "classical MDS (city block)": _mds,
    "kernel PCA (Gaussian)": _kernel_pca,
    "isomap": _isomap,
    "LLE": _lle,
    "laplacian eigenmaps": _spectral,
}
"""Methods that solve one eigenproblem."""


def _estimators() -> dict[str, Any]:
    """Return gnomon's estimators by the names that its catalogue gives the methods."""
    return {card.name: getattr(gnomon.methods, card.estimator) for card in gnomon.methods.METHODS}


def available(names: tuple[str, ...] = MODERN) -> list[str]:
    """Return those of the names that gnomon has."""
    return [name for name in names if name in _estimators()]


def embed(name: str, X: Rows, *, seed: int, n_jobs: int | None = None) -> npt.NDArray[np.float64]:
    """Map a table to two components.

    Parameters
    ----------
    name : str
        A name in `CLASSICAL` or in `gnomon.methods.METHODS`.
    X : ndarray of shape (n_samples, n_features), float32
    seed : int
    n_jobs : int or None, default=None
    """
    if name in CLASSICAL:
        return np.asarray(CLASSICAL[name](X, seed), dtype=np.float64)
    if name not in (known := _estimators()):
        raise ValueError(f"no method {name!r}; there are {', '.join([*CLASSICAL, *known])}")
    return embed_here(name, X, seed=seed, n_jobs=n_jobs)


def embed_here(name: str, X: Rows, *, seed: int, n_jobs: int | None = None) -> npt.NDArray[np.float64]:
    """Map a table by a method of gnomon, whatever else has a method of this name, with its defaults.

    Parameters
    ----------
    name : str
        A name in `gnomon.methods.METHODS`.
    X : ndarray of shape (n_samples, n_features), float32
    seed : int
    n_jobs : int or None, default=None
    """
    return np.asarray(_estimators()[name](random_state=seed, n_jobs=n_jobs).fit_transform(X), dtype=np.float64)
