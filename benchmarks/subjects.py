"""What the determinism check hashes: every method, and the ways of evaluation that no method takes by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import gnomon
from gnomon.affinities import Gram, reconstruction_weights
from gnomon.kernels import Cauchy, UMAPKernel
from gnomon.methods import METHODS

__all__ = ["SUBJECTS", "Subject"]

Subject = Callable[[int, int | None], Any]
"""(n_jobs, iterations or None for the usual number) -> estimator."""

_ITERATIONS = 100  # where a subject has no usual number


def _method(name: str, n_jobs: int, max_iter: int | None, **parameters: Any) -> Any:
    estimator = getattr(gnomon, name)(random_state=0, n_jobs=n_jobs, **parameters)
    if max_iter is not None and "max_iter" in estimator.get_params():
        estimator.set_params(max_iter=max_iter)
    return estimator


def _embedding(n_jobs: int, max_iter: int | None, **parameters: Any) -> Any:
    limit = {"max_iter": _ITERATIONS if max_iter is None else max_iter}
    return gnomon.NeighborEmbedding(random_state=0, n_jobs=n_jobs, optimizer_params=limit, **parameters)


def _gram(inputs: Any) -> Gram:
    return Gram.from_kernel("cauchy", inputs.X)


def _weights(inputs: Any, weights: str) -> Any:
    return reconstruction_weights(inputs.X, inputs.neighbors, weights=weights)


_TREE: Mapping[str, Any] = MappingProxyType({"evaluation": "tree"})
_PROBABILITIES: Mapping[str, Any] = MappingProxyType({"affinity": "gaussian", "n_neighbors": 90})
_UMAP: Mapping[str, Any] = MappingProxyType({"kernel": UMAPKernel.from_min_dist(0.1), "n_neighbors": 15})
_LLE: Mapping[str, Any] = MappingProxyType({"loss": "reconstruction", "kernel": Cauchy()})

_EVALUATIONS: dict[str, Subject] = {
    "tsne, exact": partial(_method, "TSNE", evaluation="exact"),
    "tsne, interpolated": partial(_method, "TSNE", evaluation="interpolated"),
    "tsne, tree": partial(_method, "TSNE", evaluation="tree"),
    "tsne, tree, 3-D": partial(_method, "TSNE", evaluation="tree", n_components=3),
    "tsne, 1-D": partial(_method, "TSNE", n_components=1),
    "tsne, dof 0.5": partial(_method, "TSNE", dof=0.5),
    "sne, Gaussian, tree": partial(_method, "SymmetricSNE", evaluation="tree"),
    "force_atlas2, tree, 3-D": partial(_method, "ForceAtlas2", evaluation="tree", n_components=3),
    "two_kernel_pca, plain": partial(_method, "TwoKernelPCA", centered=False),
    "gradient_pca": partial(_method, "GradientPCA"),
    "gradient_pca, Nystrom": partial(_method, "GradientPCA", kernel="gaussian", approximation="nystrom"),
    "kl, L-BFGS": partial(_embedding, **_PROBABILITIES, optimizer="lbfgs", start_spread=1.0),
    "conditional_kl": partial(
        _embedding, n_neighbors=90, affinity="conditional", kernel="gaussian", loss="conditional_kl"
    ),
    "cross_entropy, tree": partial(
        _embedding, **_UMAP, loss="cross_entropy", optimizer="adam", loss_params=dict(_TREE)
    ),
    "stated_cross_entropy, exact": partial(_embedding, **_UMAP, loss="stated_cross_entropy"),
    "stated_cross_entropy, tree": partial(_embedding, **_UMAP, loss="stated_cross_entropy", loss_params=dict(_TREE)),
    "info_nce, 5-D": partial(_embedding, affinity="uniform", loss="info_nce", optimizer="adam", n_components=5),
    "linear_attraction": partial(_embedding, affinity="uniform", kernel="gaussian", loss="linear_attraction"),
    "frobenius, raw stress": partial(_embedding, affinity=_gram, kernel="distance", loss="frobenius"),
    "reconstruction, interpolated": partial(
        _embedding, **_LLE, affinity=partial(_weights, weights="signed"), loss_params={"evaluation": "interpolated"}
    ),
    "reconstruction, tree": partial(
        _embedding, **_LLE, affinity=partial(_weights, weights="non_negative"), loss_params=dict(_TREE)
    ),
    "reconstruction, quadratic": partial(
        _embedding, **_LLE, affinity=partial(_weights, weights="membership"), loss_params={"penalty": "quadratic"}
    ),
}

SUBJECTS: dict[str, Subject] = {card.name: partial(_method, card.estimator) for card in METHODS} | _EVALUATIONS
"""By name: the methods of the catalogue, then those with a way of evaluation or a choice of parts in their name."""
