"""The frame correlation: its value, its gradient, what it splits and what it does not depend on."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon.affinities import Affinities
from gnomon.geometry import tangent_frames
from gnomon.geometry.embedding_frames import EmbeddingFrames
from gnomon.kernels import Cauchy, Gaussian, UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import CrossEntropy, gradient_error
from gnomon.objectives.frame_correlation import FrameCorrelation
from gnomon.optimizers import SampledDescent

KERNEL = UMAPKernel(1.5769, 0.8951)


# Independent float64 results on eight points with the map's axes for frames: edges, log S^2, and the gradient.
NEIGHBORS = ["3467", "347", "357", "01267", "0157", "247", "037", "0123456"]
LOG_SPREADS = np.array(
    [
        [0.4396056649, -0.3194313113],
        [-0.0433536543, -1.15137343],
        [0.3005654174, -0.7366489193],
        [-0.02886699, -0.4476976022],
        [-0.2621922406, -1.151516795],
        [-0.4699533927, -1.214341628],
        [0.8976663074, -1.358509572],
        [-0.3623794155, -0.3872363706],
    ]
)
SLOPES = np.array(
    [
        [0.4200383239, -0.6034591501],
        [-0.001370743907, 0.4352745518],
        [-0.1134447318, -0.2488131588],
        [0.02993343456, 0.3507694739],
        [-0.2447665224, -0.5730585496],
        [-0.4889568808, 0.3334680466],
        [0.02956101669, 0.5844168529],
        [0.3690061038, -0.2785980671],
    ]
)


def orthonormal(n, d, width, seed):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, d, d)))[0][:, :, :width]


@pytest.fixture(scope="module")
def graph(random_affinities):
    return random_affinities(150, 10, normalization="membership")


@pytest.fixture(scope="module")
def values():
    """Singular values of three directions, falling."""
    return np.sort(np.random.default_rng(3).lognormal(size=(150, 3)), axis=1)[:, ::-1]


def term(graph, values, d, *, width=None, kernel=KERNEL, **given):
    width = min(d, 3) if width is None else width
    return FrameCorrelation(graph, values[:, :width], kernel, frames=orthonormal(150, d, width, 5), **given)


def test_loss_and_gradient_equal_independent_results():
    i, j = np.meshgrid(np.arange(8), np.arange(2), indexing="ij")
    Y = np.cos(0.5 + 1.1 * i + 2.3 * j + 0.17 * i * j)
    edges = np.zeros((8, 8), dtype=np.float32)
    for row, columns in enumerate(NEIGHBORS):
        edges[row, [int(column) for column in columns]] = 1.0
    graph = Affinities(sp.csr_array(edges), "membership")
    axes, kernel = np.repeat(np.eye(2)[None], 8, axis=0), UMAPKernel(1.57694346, 0.895060878)
    for shift, total in ((0.0, -0.319681747), (0.1, -0.2746218669)):
        one = FrameCorrelation(graph, np.exp(LOG_SPREADS / 2), kernel, frames=axes, variance_shift=shift)
        assert one.reference(Y)[0] == pytest.approx(-total, rel=1e-6)
        assert one.loss(Y) == pytest.approx(-total, rel=1e-6)
        if shift == 0:
            np.testing.assert_allclose(one.reference(Y)[1], -SLOPES, atol=1e-7)
            np.testing.assert_allclose(one.gradient(Y), -SLOPES, atol=1e-6)
            assert one.correlations(Y).sum() == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("kernel", [KERNEL, Cauchy(), Gaussian(0.3)], ids=["umap", "cauchy", "gaussian"])
@pytest.mark.parametrize(("d", "width"), [(1, 1), (2, 2), (2, 1), (3, 3), (4, 3)])
def test_the_gradient_is_that_of_the_loss(graph, values, random_embedding, relative_error, kernel, d, width):
    one = term(graph, values, d, width=width, kernel=kernel)
    Y = 0.3 * random_embedding(150, d).astype(np.float64)
    loss, gradient = one.reference(Y)
    for seed in range(3):
        way = np.random.default_rng(seed).normal(size=Y.shape)
        slope = (one.reference(Y + 1e-5 * way)[0] - one.reference(Y - 1e-5 * way)[0]) / 2e-5
        assert np.sum(gradient * way) == pytest.approx(slope, rel=1e-5, abs=1e-8)
    assert one.loss(Y.astype(np.float32)) == pytest.approx(loss, rel=1e-5, abs=1e-6)
    assert relative_error(one.gradient(Y.astype(np.float32)), gradient) < 2e-5


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_spreads_of_a_frame_add_up_to_the_radius_of_densmap(graph, random_embedding, d):
    Y = random_embedding(150, d)
    one = FrameCorrelation(graph, np.ones((150, d)) * np.arange(d, 0, -1), KERNEL, frames=orthonormal(150, d, d, 7))
    spreads = one._sums(Y).spreads
    edges = graph.matrix.tocoo()
    s = np.square(Y[edges.row].astype(np.float64) - Y[edges.col]).sum(axis=1)
    k = KERNEL.value(s)
    radii = np.bincount(edges.row, k * s, 150) / np.bincount(edges.row, k, 150)
    np.testing.assert_allclose(spreads.sum(axis=1), radii, rtol=1e-5)


def test_signs_of_the_frames_change_nothing(graph, values, random_embedding):
    Y = random_embedding(150)
    one = term(graph, values, 2)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(150, 1, 2))
    other = FrameCorrelation(graph, values[:, :2], KERNEL, frames=one.frames * signs)
    assert other.loss(Y) == one.loss(Y)
    np.testing.assert_array_equal(other.gradient(Y), one.gradient(Y))


def test_frames_turned_among_directions_of_equal_spread_change_nothing(graph, values, random_embedding):
    Y = random_embedding(150, 3).astype(np.float64)
    equal = values.copy()
    equal[::2, 1] = equal[::2, 0]
    equal[1::2, 2] = equal[1::2, 1]
    frames = orthonormal(150, 3, 3, 5)
    turned = frames.copy()
    turned[::2, :, :2] = frames[::2, :, :2] @ orthonormal(75, 2, 2, 8)
    turned[1::2, :, 1:] = frames[1::2, :, 1:] @ orthonormal(75, 2, 2, 9)
    first, second = (FrameCorrelation(graph, equal, KERNEL, frames=f).reference(Y) for f in (frames, turned))
    assert second[0] == pytest.approx(first[0], rel=1e-12)
    np.testing.assert_allclose(second[1], first[1], rtol=1e-9, atol=1e-12)
    way = np.random.default_rng(1).normal(size=Y.shape)
    one = FrameCorrelation(graph, equal, KERNEL, frames=frames)
    slope = (one.reference(Y + 1e-5 * way)[0] - one.reference(Y - 1e-5 * way)[0]) / 2e-5
    assert np.sum(first[1] * way) == pytest.approx(slope, rel=1e-5)


def test_rotating_map_and_frames_rotates_the_gradient(graph, values, random_embedding):
    Y = random_embedding(150).astype(np.float64)
    turn = orthonormal(1, 2, 2, 11)[0]
    one = term(graph, values, 2)
    other = FrameCorrelation(graph, values[:, :2], KERNEL, frames=np.einsum("ca,ial->icl", turn, one.frames))
    np.testing.assert_allclose(other.reference(Y @ turn.T)[1], one.reference(Y)[1] @ turn.T, atol=1e-12)
    assert other.reference(Y @ turn.T)[0] == pytest.approx(one.reference(Y)[0])


def test_a_direction_that_a_point_has_not_takes_no_part(graph, values, random_embedding):
    Y = random_embedding(150).astype(np.float64)
    one = term(graph, values, 2)
    less, frames = values[:, :2].copy(), one.frames.copy()
    less[:20, 1] = 0.0
    frames[20:30] = 0.0
    loss, gradient = FrameCorrelation(graph, less, KERNEL, frames=frames).reference(Y)
    expected = 0.0
    spreads = one._sums(Y).spreads
    for direction, rows in ((0, np.r_[:20, 30:150]), (1, np.r_[30:150])):
        a, b = np.log(1e-8 + values[rows, direction] ** 2), np.log(1e-8 + spreads[rows, direction])
        expected -= np.mean((a - a.mean()) / a.std() * (b - b.mean())) / np.sqrt(b.var() + 0.1)
    assert loss == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(gradient).all()


def test_nothing_that_varies_is_no_force(graph, random_embedding):
    Y = random_embedding(150)
    one = FrameCorrelation(graph, np.ones((150, 2)) * [2.0, 1.0], KERNEL, frames=orthonormal(150, 2, 2, 0))
    assert one.loss(Y) == 0.0
    assert not one.gradient(Y).any()
    assert np.isnan(one.correlations(Y)).all()
    together = np.zeros((150, 2), dtype=np.float32)
    assert np.isfinite(term(graph, np.abs(Y) + 0.1 + np.array([9, 0]), 2).gradient(together)).all()


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_equal_bytes_for_any_number_of_threads(graph, values, random_embedding, d):
    Y = random_embedding(150, d)
    results = {on_threads(n, term(graph, values, d).gradient)(Y).tobytes() for n in (1, 2, 3)}
    assert len(results) == 1


def test_more_weight_on_an_edge_changes_nothing_and_none_removes_it(graph, values, random_embedding):
    Y = random_embedding(150)
    matrix = graph.matrix.copy()
    matrix.data = np.where(matrix.data > np.median(matrix.data), 0.5, 0.0).astype(np.float32)
    kept = matrix.copy()
    kept.eliminate_zeros()
    assert kept.nnz < matrix.nnz
    losses = [term(Affinities(sp.csr_array(m), "membership"), values, 2).loss(Y) for m in (matrix, kept, 2 * kept)]
    assert losses[1] == losses[2]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def chains(n, d, seed=0):
    """Frames that follow six neighbours of each point."""
    rng = np.random.default_rng(seed)
    indices = ((np.arange(n)[:, None] + np.array([1, 2, 5, 9, 14, 20])) % n).astype(np.int32)
    return EmbeddingFrames(indices, rng.normal(size=(n, 6, d)).astype(np.float32), np.full(n, d, dtype=np.int32))


@pytest.mark.parametrize(("d", "width"), [(1, 1), (2, 1), (2, 2), (3, 2), (5, 5)])
def test_embedding_frames_are_the_polar_factors_of_the_jacobians(random_embedding, d, width):
    Y, frames = random_embedding(60, d), chains(60, width)
    away = Y[frames.indices].astype(np.float64) - Y[:, None].astype(np.float64)
    jacobians = np.einsum("ijc,ijl->icl", away, frames.coefficients.astype(np.float64))
    left, _, right = np.linalg.svd(jacobians, full_matrices=False)
    np.testing.assert_allclose(frames.of(Y), left @ right, atol=1e-6)


def test_embedding_frames_of_a_map_of_lower_rank_are_none_and_missing_directions_are_zero(random_embedding):
    Y, frames = random_embedding(60), chains(60, 2)
    flat = Y.copy()
    flat[:, 1] = 0
    assert not frames.of(flat).any()
    half = EmbeddingFrames(frames.indices, frames.coefficients, np.ones(60, dtype=np.int32))
    found = half.of(Y)
    np.testing.assert_allclose(np.linalg.norm(found[:, :, 0], axis=1), 1.0)
    assert not found[:, :, 1].any()
    with pytest.raises(ValueError, match=r"EmbeddingFrames: Y of shape \(59, 2\) must be of shape \(n_samples=60"):
        frames.of(Y[:59])


@pytest.mark.parametrize(("d", "share"), [(1, 1.0), (2, 1.0), (4, 0.5), (8, 0.25), (20, 0.25)])
def test_more_than_two_directions_weigh_as_much_together_as_two(d, share, graph):
    X = np.random.default_rng(3).normal(size=(150, 8)).astype(np.float32)
    tangent = tangent_frames(X, compute_neighbors(X, 12), n_components=8)
    usual = FrameCorrelation.following(graph, tangent, KERNEL, n_components=d)
    given = FrameCorrelation.following(graph, tangent, KERNEL, n_components=d, weight=3.0)
    assert (usual.weight, given.weight) == (0.5 * share, 3.0 * share)


def test_frames_are_held_between_estimates(graph, values, random_embedding):
    Y, follow = random_embedding(150), chains(150, 2)
    one = FrameCorrelation(graph, values[:, :2], KERNEL, frames=follow.of)
    fresh = one.loss(Y)
    one.refresh(Y, 0)
    np.testing.assert_array_equal(one.frames, follow.of(Y))
    assert one.loss(Y) == fresh
    one.loss(2 * Y[::-1].copy())
    np.testing.assert_array_equal(one.frames, follow.of(Y))


def test_the_term_joins_a_cross_entropy_and_resumes_without_a_seam(graph, values, random_embedding):
    Y, follow = random_embedding(150), chains(150, 2)

    def make():
        added = FrameCorrelation(graph, values[:, :2], KERNEL, frames=follow.of, every=4)
        return CrossEntropy(graph, KERNEL, added=(added,))

    optimizer = SampledDescent(30, isotropic=True)
    whole = on_threads(1, optimizer.minimize)(make(), Y).embedding
    assert on_threads(3, optimizer.minimize)(make(), Y).embedding.tobytes() == whole.tobytes()
    assert not np.array_equal(optimizer.minimize(CrossEntropy(graph, KERNEL), Y).embedding, whole)
    for stop in (10, 21, 23, 25):
        part = optimizer.minimize(make(), Y, stop_after=stop)
        rest = optimizer.minimize(make(), Y, state=part.state)
        np.testing.assert_array_equal(rest.embedding, whole)
    fixed = FrameCorrelation(graph, values[:, :2], KERNEL, frames=follow.of(Y), begins=0.0)
    assert gradient_error(CrossEntropy(graph, KERNEL, added=(fixed,), evaluation="exact"), Y) < 1e-3


def test_wrong_parameters_are_refused_by_name(graph, values):
    with pytest.raises(ValueError, match="FrameCorrelation: weight=-1 must be"):
        term(graph, values, 2, weight=-1)
    with pytest.raises(ValueError, match=r"singular_values of shape \(149, 2\) must be of shape \(n_samples=150"):
        term(graph, values[:149], 2)
