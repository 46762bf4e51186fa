"""Every method with settings by which it fits some sixty rows in a moment: the one list that tests of all methods use.

A method of the catalogue that is not named here is tested with its defaults. The settings are for promises that all
methods keep; tests of one method choose their own.
"""

from __future__ import annotations

from typing import Any

import gnomon
from gnomon.methods import METHODS

_SETTINGS: dict[str, dict[str, Any]] = {
    "umap": {"n_neighbors": 5, "max_iter": 15},
    "tsne": {"perplexity": 1.5, "max_iter": 20, "early_exaggeration_iter": 10},
    "pca": {"n_components": 1},
    "sne": {"perplexity": 1.5, "max_iter": 15},
    "symmetric_sne": {"perplexity": 1.5, "max_iter": 15},
    "dreams": {"perplexity": 1.5, "max_iter": 40, "early_exaggeration_iter": 20},
    "largevis": {"perplexity": 1.5, "max_iter": 15},
    "force_atlas2": {"n_neighbors": 5, "max_iter": 15},
    "neg_tsne": {"n_neighbors": 5, "max_iter": 15},
    "info_nce_tsne": {"n_neighbors": 5, "max_iter": 15},
    "two_kernel_lle": {"n_neighbors": 5, "max_iter": 10, "early_exaggeration_iter": 4},
    "two_kernel_pca": {"max_iter": 10},
    "pacmap": {"n_neighbors": 4, "max_iter": 18},
    "local_map": {"n_neighbors": 4, "max_iter": 36},
    "trimap": {"n_neighbors": 4, "max_iter": 16},
    "gradient_pca": {"n_components": 1, "max_iter": 1000},
    "random_projection": {"n_components": 1},
    "stiefel_pca": {"n_components": 1},
    "robust_pca": {"n_components": 1, "sparsity": 0.25, "tol": 1e-3, "max_iter": 200},
    "graph_robust_pca": {"n_neighbors": 5, "n_components": 1, "sparsity": 0.25, "tol": 1e-2, "max_iter": 200},
    "huber_pca": {"n_components": 1, "max_iter": 100},
    "kernel_pca": {"n_components": 1},
    "mds": {"max_iter": 10},
    "isomap": {"n_neighbors": 5},
    "phate": {"max_iter": 10},
    "sketch_map": {"max_iter": 10},
    "lle": {"n_neighbors": 5},
    "laplacian_eigenmaps": {"n_neighbors": 5},
    "densmap": {"n_neighbors": 5, "max_iter": 15},
    "featmap": {"n_neighbors": 5, "max_iter": 15},
    "star_map": {"n_neighbors": 5, "max_iter": 15, "n_stars": 5},
    "scale_map": {"n_neighbors": 5, "max_iter": 15},
}


def _quick(estimator: type[Any], **settings: Any) -> Any:
    common = {"random_state": 0, "n_jobs": 2 if estimator in (gnomon.UMAP, gnomon.TSNE) else 1}
    return _with(estimator(**settings), common)


def _with(one: Any, wanted: dict[str, Any]) -> Any:
    """Return an estimator with those parameters that it has, without scikit-learn, which takes a second to load."""
    parameters = one.get_params(deep=False)
    return type(one)(**parameters | {name: value for name, value in wanted.items() if name in parameters})


ESTIMATORS: dict[str, Any] = {
    card.name: _quick(getattr(gnomon, card.estimator), **_SETTINGS.get(card.name, {})) for card in METHODS
}
ESTIMATORS["neighbor_embedding"] = _quick(
    gnomon.NeighborEmbedding, n_neighbors=5, optimizer_params={"max_iter": 10, "early_exaggeration_iter": 4}
)
"""By name: the methods of the catalogue and the one that is composed of parts."""


def fresh(name: str, **parameters: Any) -> Any:
    """Return the estimator of a method, not fitted, and with other parameters where it has them."""
    return _with(ESTIMATORS[name], parameters)


def of_few_steps(name: str) -> Any:
    """Return the estimator of a method that takes three steps of its descent, for what a descent has no part in."""
    return fresh(name, max_iter=3, early_exaggeration_iter=1, optimizer_params={"max_iter": 3})


VARIANTS = [
    _quick(gnomon.GradientPCA, n_components=1, kernel="gaussian", approximation="cholesky", max_iter=300),
    _quick(gnomon.StiefelPCA, n_components=1, step="no_regret", max_iter=50),
    _quick(gnomon.StiefelPCA, n_components=1, step="averaged", max_iter=50),
    _quick(gnomon.RandomProjection, n_components=1, variant="sparse"),
    _quick(gnomon.KernelPCA, n_components=1, approximation="nystrom"),
    _quick(gnomon.LandmarkMDS, n_components=1, n_landmarks=5, refine=True),
    _quick(gnomon.MDS, variant="ordinal", metric="manhattan", max_iter=10),
    _quick(gnomon.Isomap, n_neighbors=5, n_landmarks=15),
    _quick(gnomon.PHATE, t=3, n_landmarks=12, max_iter=20),
    _quick(gnomon.SketchMap, max_iter=20, n_landmarks=8, annealing=()),
]
"""Other ways of fitting that take other paths through a method."""
