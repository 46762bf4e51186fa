"""NegTSNE joins t-SNE and UMAP: its normaliser decides which of them its map is like."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from gnomon import UMAP, InfoNCETSNE, NegTSNE, NeighborEmbedding
from gnomon.evaluation import embedding_similarity


def overlap(A, B):
    return embedding_similarity(A, B, "knn", n_neighbors=15)


@pytest.fixture(scope="module")
def tsne(digits):
    """A t-SNE map of the graph of 15 neighbours that all count alike."""
    short = {"max_iter": 350, "early_exaggeration_iter": 150}
    model = NeighborEmbedding(
        affinity="uniform", kernel="cauchy", loss="kl", optimizer_params=short, init="spectral", random_state=0
    )
    return model.fit_transform(digits[0])


@pytest.fixture(scope="module")
def umap(digits):
    return UMAP(random_state=0).fit_transform(digits[0])


@pytest.fixture(scope="module")
def partition_sum(tsne):
    return 2.0 * float(np.sum(1.0 / (1.0 + pdist(tsne.astype(float), "sqeuclidean"))))


@pytest.fixture(scope="module")
def usual(digits):
    """NegTSNE with its own normaliser, which is UMAP's."""
    return NegTSNE(random_state=0).fit(digits[0])


@pytest.fixture(scope="module")
def few(digits, partition_sum):
    """NegTSNE with the normaliser of t-SNE."""
    return NegTSNE(normalization=partition_sum, random_state=0).fit_transform(digits[0])


def test_with_the_normaliser_of_umap_the_map_is_like_umaps(usual, tsne, umap):
    assert usual.normalization_ == pytest.approx(1797 * 1796 / 5)
    assert overlap(usual.embedding_, umap) > overlap(usual.embedding_, tsne) + 0.03
    assert embedding_similarity(usual.embedding_, umap, "distance_correlation") > 0.93


def test_with_the_normaliser_of_tsne_the_map_is_like_tsnes(digits, usual, few, tsne, umap, partition_sum):
    assert overlap(few, tsne) > overlap(usual.embedding_, tsne) + 0.08
    many = NegTSNE(normalization=partition_sum, negative_sample_rate=50, random_state=0).fit_transform(digits[0])
    assert overlap(many, tsne) > overlap(usual.embedding_, tsne) + 0.12
    assert overlap(many, tsne) > overlap(many, umap) + 0.03


def test_maps_have_the_size_that_the_normaliser_asks_for(usual, few, tsne, umap):
    assert 0.7 < few.std() / tsne.std() < 1.6
    assert 0.7 < usual.embedding_.std() / umap.std() < 2.0


def test_more_noise_brings_info_nce_nearer_to_tsne(digits, tsne):
    few, many = (
        InfoNCETSNE(n_noise=n, init="spectral", max_iter=400, random_state=0).fit_transform(digits[0]) for n in (1, 50)
    )
    assert overlap(many, tsne) > overlap(few, tsne) + 0.05
