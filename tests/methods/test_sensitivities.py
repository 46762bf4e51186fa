"""Sensitivity of fitted estimators: the losses are theirs, explicit maps are exact, the rest is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gnomon.exceptions import ConvergenceWarning
from gnomon.kernels import Gaussian
from gnomon.methods import MDS, PCA, SNE, TSNE, UMAP, ClassicalMDS, KernelPCA, SymmetricSNE
from gnomon.methods.sensitivities import sensitivity
from gnomon.objectives import ConditionalDivergence, CrossEntropy, KLDivergence, Stress

_X = np.random.default_rng(0).normal(size=(40, 4)) * [3.0, 2.0, 0.7, 0.3]

METHODS = {
    "TSNE": TSNE(perplexity=13.0, random_state=0, n_jobs=1),
    "SymmetricSNE": SymmetricSNE(perplexity=13.0, random_state=0, n_jobs=1),
    "SNE": SNE(perplexity=13.0, random_state=0, n_jobs=1),
    "UMAP": UMAP(n_neighbors=12, random_state=0, n_jobs=1),
    "MDS": MDS(random_state=0, n_jobs=1),
    "Sammon": MDS(weights="inverse", random_state=0, n_jobs=1),
}


OBJECTIVES = {
    "TSNE": lambda m: KLDivergence(m.affinities_),
    "SymmetricSNE": lambda m: KLDivergence(m.affinities_, Gaussian()),
    "SNE": lambda m: ConditionalDivergence(m.affinities_),
    "UMAP": lambda m: CrossEntropy(m.affinities_, m.kernel_, evaluation="exact"),
    "MDS": lambda m: Stress(cdist(_X, _X)),
    "Sammon": lambda m: Stress(cdist(_X, _X), weights=1.0 / (cdist(_X, _X) + np.diag(np.full(40, np.inf)))),
}


@pytest.mark.parametrize("name", METHODS)
def test_the_loss_taken_is_that_of_the_fit(name):
    fitted = METHODS[name].fit(_X)
    Y = np.random.default_rng(1).normal(size=(40, 2))
    expected = OBJECTIVES[name](fitted).reference(Y)[1]
    found = fitted._loss_of_data(_X).gradient(Y)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
    answer = sensitivity(fitted, _X, rows=[0], polish=True)
    assert answer.stationarity.is_minimum
    assert answer.own.shape == (1, 2, 4)


def test_umap_warns_that_its_map_is_no_minimum():
    fitted = METHODS["UMAP"].fit(_X)
    with pytest.warns(ConvergenceWarning, match="polish=True"):
        sensitivity(fitted, _X, rows=[0])


def test_principal_components_and_classical_scaling_are_one_map():
    pca, scaled = PCA(2).fit(_X), ClassicalMDS().fit(_X)
    found = sensitivity(pca, _X, rows=[1])
    np.testing.assert_allclose(found.embedding, pca.fit_transform(_X), atol=1e-10)
    np.testing.assert_allclose(found.fixed[0], pca.components_, atol=1e-10)
    np.testing.assert_allclose(sensitivity(scaled, _X, rows=[1]).own, found.own, atol=1e-10)


def test_what_has_no_derivative_is_refused():
    with pytest.raises(TypeError, match="estimator=KernelPCA must be a neighbour embedding, MDS, ClassicalMDS or PCA"):
        sensitivity(KernelPCA().fit(_X), _X)
    with pytest.raises(ValueError, match="variant='ordinal' must be 'metric'"):
        sensitivity(MDS(variant="ordinal", n_jobs=1).fit(_X), _X)
    with pytest.raises(ValueError, match="metric='cosine' must be 'euclidean'"):
        sensitivity(UMAP(metric="cosine", n_neighbors=5, n_jobs=1).fit(_X), _X)
    with pytest.raises(ValueError, match="whiten=True must be False"):
        sensitivity(PCA(2, whiten=True).fit(_X), _X)
    with pytest.raises(ValueError, match="X with 5 rows must be the data of the fit"):
        sensitivity(PCA(2).fit(_X), _X[:5])
