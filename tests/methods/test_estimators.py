"""Estimators keep the promises that scikit-learn states for its own, with no exception; more in files of their own."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from gnomon import (
    PCA,
    SNE,
    TSNE,
    UMAP,
    DensMAP,
    FeatMAP,
    ForceAtlas2,
    GradientPCA,
    InfoNCETSNE,
    LaplacianEigenmaps,
    LargeVis,
    NegTSNE,
    NeighborEmbedding,
    PaCMAP,
    SymmetricSNE,
    TriMap,
    TwoKernelLLE,
    TwoKernelPCA,
)


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.GnomonWarning")
@parametrize_with_checks(
    [
        PCA(n_components=1),
        GradientPCA(n_components=1, max_iter=300),
        GradientPCA(n_components=1, similarity="gaussian", approximation="cholesky", max_iter=300),
        TSNE(perplexity=2, max_iter=100, early_exaggeration_iter=50, n_jobs=1),
        TwoKernelLLE(n_neighbors=5, max_iter=100, early_exaggeration_iter=50, n_jobs=1),
        UMAP(n_neighbors=5, max_iter=50, n_jobs=1),
        DensMAP(n_neighbors=5, max_iter=40, n_jobs=1),
        FeatMAP(n_neighbors=5, max_iter=40, n_jobs=1),
        PaCMAP(n_neighbors=4, max_iter=45, n_jobs=1),
        TriMap(n_neighbors=4, max_iter=40, n_jobs=1),
        SNE(perplexity=2, max_iter=60, early_exaggeration_iter=30, n_jobs=1),
        SymmetricSNE(perplexity=2, max_iter=60, early_exaggeration_iter=30, n_jobs=1),
        LargeVis(perplexity=2, max_iter=40, n_jobs=1),
        ForceAtlas2(n_neighbors=4, max_iter=40, n_jobs=1),
        NegTSNE(n_neighbors=4, max_iter=40, n_jobs=1),
        InfoNCETSNE(n_neighbors=4, max_iter=40, n_jobs=1),
        NeighborEmbedding(n_neighbors=4, optimizer_params={"max_iter": 40, "early_exaggeration_iter": 20}, n_jobs=1),
        TwoKernelPCA(max_iter=40, n_jobs=1),
        LaplacianEigenmaps(n_neighbors=4, n_jobs=1),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
