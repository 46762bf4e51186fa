from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from tests.threads import on_threads

from gnomon._run import running
from gnomon.affinities import Affinities
from gnomon.exceptions import ConvergenceWarning
from gnomon.initialization import initialize
from gnomon.initialization.spectral import place_components
from gnomon.linalg import GraphLaplacian, connected_components, eigenpairs

SIZES = [400, 100, 30, 3, 1]


def blocks(sizes):
    """Affinities with one connected component for each size, in which all points are joined in a ring."""
    parts = []
    for n in sizes:
        i = np.arange(n)
        ring = sp.coo_array((np.full(n, 0.5), (i, (i + 1) % n)), shape=(n, n)).tocsr()
        ring = ring + ring.T
        ring.setdiag(0)
        ring.eliminate_zeros()
        parts.append(ring)
    return Affinities(sp.csr_array(sp.block_diag(parts), dtype=np.float32), "membership")


def test_connected_graphs_start_at_the_scaled_eigenvectors(affinities_of):
    affinities = affinities_of(np.random.default_rng(0).random((500, 2)) * [2, 1])
    start = initialize("spectral", affinities=affinities).embedding
    vectors = eigenpairs(GraphLaplacian(affinities.matrix), 2, tol=1e-2).vectors
    noise = start - vectors * 10 / np.abs(vectors).max()
    assert abs(np.abs(start).max() - 10) < 1e-3
    np.testing.assert_allclose(noise.std(), 1e-4, rtol=0.1)


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("with_table", [True, False])
def test_components_do_not_overlap(n_components, with_table):
    """A disconnected graph keeps all points, and no point lies within the reach of another component (F17)."""
    affinities = blocks(SIZES)
    labels = np.repeat(np.arange(len(SIZES)), SIZES)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(labels.size, 4)) + 8 * rng.normal(size=(len(SIZES), 4))[labels] if with_table else None
    start = initialize("spectral", X=X, affinities=affinities, n_components=n_components)
    assert start.kind == "spectral"
    assert "5 connected components (400, 100, 30, 3, 1 points)" in start.note
    assert abs(np.abs(start.embedding).max() - 10) < 1e-2
    centres = np.array([start.embedding[labels == c].mean(axis=0) for c in range(len(SIZES))])
    for c in range(len(SIZES)):
        reach = np.linalg.norm(start.embedding[labels == c] - centres[c], axis=1).max(initial=0)
        gaps = cdist(centres[c : c + 1], np.delete(centres, c, axis=0))
        assert reach < 0.55 * gaps.min()
        if SIZES[c] >= 3:
            assert reach > 1e-3


def test_each_component_is_laid_out_by_its_own_eigenvectors():
    start = initialize("spectral", affinities=blocks([300, 200])).embedding
    for part in (start[:300], start[300:]):
        radius = np.linalg.norm(part - part.mean(axis=0), axis=1)  # a ring is drawn as a circle
        assert radius.std() < 0.02 * radius.mean()


def test_components_are_placed_by_the_table():
    labels = np.repeat(np.arange(3), 50).astype(np.int32)
    X = np.array([0.0, 1.0, 10.0])[labels, None] + 1e-3 * np.random.default_rng(2).normal(size=(150, 5))
    centres, radii = place_components(labels, 2, X=X)
    distances = cdist(centres, centres)
    np.testing.assert_allclose(distances[0, 2] / distances[0, 1], 10, rtol=1e-2)
    np.testing.assert_allclose(radii[:2], 0.45 * distances[0, 1], rtol=1e-6)
    assert radii[2] <= 0.45 * distances[1, 2]


def test_many_components_in_the_same_place_are_parted():
    labels = np.arange(200, dtype=np.int32)
    for X in (None, np.ones((200, 3)), np.repeat(np.random.default_rng(3).normal(size=(100, 3)), 2, axis=0)):
        centres, radii = place_components(labels, 2, X=X)
        assert len(np.unique(centres, axis=0)) == 200
        assert (radii > 0).all()


def test_duplicated_points_start_apart(affinities_of):
    """More than k copies of each row make a disconnected graph (F08)."""
    X = np.repeat(np.random.default_rng(4).normal(size=(20, 3)), 40, axis=0)
    start = initialize("spectral", X=X, affinities=affinities_of(X))
    assert len(np.unique(start.embedding, axis=0)) == 800


@pytest.mark.parametrize(("n", "n_components"), [(2, 2), (3, 3), (1, 1), (100, 60)])
def test_too_few_points_fall_back_to_pca_with_a_warning(n, n_components):
    X = np.random.default_rng(5).normal(size=(n, 3))
    affinities = Affinities(sp.csr_array((1 - np.eye(n)).astype(np.float32)), "membership")
    with (
        running(name="UMAP"),
        pytest.warns(ConvergenceWarning, match="^UMAP: init='spectral' fell back to 'pca': n_components="),
    ):
        start = initialize("spectral", X=X, affinities=affinities, n_components=n_components)
    assert start.kind == "pca"
    assert start.embedding.shape == (n, n_components)


def test_without_edges_or_table_the_fall_back_is_random():
    affinities = Affinities(sp.csr_array((40, 40), dtype=np.float32), "membership")
    with pytest.warns(ConvergenceWarning, match="fell back to 'random': the graph has no edges"):
        start = initialize("spectral", affinities=affinities, seed=3)
    assert start.kind == "random"
    np.testing.assert_array_equal(start.embedding, initialize("random", affinities=affinities, seed=3).embedding)


def test_nearly_disconnected_graphs_fall_back(affinities_of):
    """Eigenvectors that show three points and nothing else are no start (F16)."""
    X = np.random.default_rng(6).normal(size=(1000, 3))
    matrix = affinities_of(X).matrix.tolil()
    for i in (0, 1, 2):
        matrix[i] = 0
        matrix[:, [i]] = 0
        matrix[i, (i + 1) % 3] = matrix[(i + 1) % 3, i] = 1.0
    for i in (3, 4, 5):
        matrix[i - 3, i] = matrix[i, i - 3] = 1e-9
    affinities = Affinities(sp.csr_array(matrix, dtype=np.float32), "membership")
    affinities.matrix.eliminate_zeros()
    assert connected_components(affinities.matrix).max() == 0
    with pytest.warns(ConvergenceWarning, match="nearly disconnected"):
        start = initialize("spectral", X=X, affinities=affinities)
    assert start.kind == "pca"


@pytest.mark.parametrize("n_components", [1, 2, 3])
@pytest.mark.parametrize("data", ["line", "circle", "equidistant", "duplicates", "noise"])
def test_multiple_eigenvalues_and_lines_are_finite_and_repeat(affinities_of, data, n_components):
    """Multiplicity of eigenvalues, one-dimensional and equidistant points (F18)."""
    t = np.linspace(0, 1, 700)
    X = {
        "line": t[:, None] * np.ones((1, 3)),
        "circle": np.column_stack([np.cos(2 * np.pi * t[:-1]), np.sin(2 * np.pi * t[:-1])]),
        "equidistant": np.eye(60),
        "duplicates": np.repeat(t[:70], 10)[:, None],
        "noise": np.random.default_rng(7).normal(size=(700, 40)),
    }[data]
    affinities = affinities_of(X, 59 if data == "equidistant" else 12)
    start = on_threads(1, initialize)("spectral", X=X, affinities=affinities, n_components=n_components)
    again = on_threads(2, initialize)("spectral", X=X, affinities=affinities, n_components=n_components)
    assert np.isfinite(start.embedding).all()
    assert start.embedding.tobytes() == again.embedding.tobytes()


def test_time_budget_is_reported(affinities_of):
    affinities = affinities_of(np.random.default_rng(8).random((3000, 2)))
    with pytest.warns(ConvergenceWarning, match="the time budget ended the iteration"):
        start = initialize("spectral", affinities=affinities, time_budget=0.0)
    assert "time budget" in start.note
    assert np.isfinite(start.embedding).all()
