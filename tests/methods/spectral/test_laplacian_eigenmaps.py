"""Laplacian eigenmaps: closed forms, agreement with scikit-learn, diffusion maps, disconnected graphs, new rows."""

import re
import warnings

import numpy as np
import pytest
import scipy.linalg
from scipy.sparse.csgraph import laplacian
from sklearn.manifold import SpectralEmbedding, spectral_embedding

from gnomon.exceptions import ConvergenceWarning, NeighborsWarning
from gnomon.linalg import GraphLaplacian, eigenpairs
from gnomon.methods.spectral.laplacian_eigenmaps import LaplacianEigenmaps

rng = np.random.default_rng(0)
BLOB = rng.normal(size=(120, 3))
ISLANDS = np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(60, 3)) + 50.0, rng.normal(size=(4, 3)) - 80.0])


def chain_distances(n, closed):
    """Distances along a ring or a path: the nearest one or two rows are the neighbours in the chain."""
    gaps = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float)
    return np.minimum(gaps, n - gaps) if closed else gaps


def weights_of(fitted):
    return fitted.affinities_.matrix.toarray().astype(np.float64)


def test_iris_has_the_stored_eigenvalues(iris):
    i, j = np.indices(iris[0].shape)
    X = iris[0] + 1e-3 * np.sin(1 + 7 * i + 3 * j)
    with pytest.warns(NeighborsWarning, match=r"2 components of 100, 50 rows; they are mapped one by one"):
        fitted = LaplacianEigenmaps(10, 2, disconnected="separate").fit(X)
    assert fitted.affinities_.matrix.nnz == 2 * 986
    assert fitted.n_graph_components_ == 2
    stored = [0.02216557348, 0.07112273992, 0.07914002046]
    found = np.sort(fitted.eigenvalues_.ravel())
    np.testing.assert_allclose(found[:3], stored, rtol=1e-6)
    with pytest.warns(NeighborsWarning):
        fitted = LaplacianEigenmaps(10, 2, normalized=False, disconnected="separate").fit(X)
    np.testing.assert_allclose(np.sort(fitted.eigenvalues_.ravel())[:2], [0.2939588621, 0.9122345409], rtol=1e-6)


def test_a_ring_becomes_a_circle():
    fitted = LaplacianEigenmaps(2, 4, normalized=False, metric="precomputed").fit(chain_distances(20, True))
    np.testing.assert_allclose(
        fitted.eigenvalues_, [0.09788696741, 0.09788696741, 0.3819660113, 0.3819660113], rtol=1e-8
    )
    np.testing.assert_allclose(np.linalg.norm(fitted.embedding_[:, :2], axis=1), np.sqrt(2 / 20))


def test_a_path_becomes_cosines():
    """Growing gaps keep the second neighbour of each row out; binary weights do not feel the gaps."""
    n = 15
    x = np.cumsum(1.1 ** np.arange(n))
    fitted = LaplacianEigenmaps(1, 3, normalized=False, metric="precomputed").fit(np.abs(np.subtract.outer(x, x)))
    k = np.arange(1, 4)
    np.testing.assert_allclose(fitted.eigenvalues_, 2 - 2 * np.cos(np.pi * k / n), rtol=1e-10)
    cosines = np.cos(np.pi * k * (np.arange(n)[:, None] + 0.5) / n) * np.sqrt(2 / n)
    np.testing.assert_allclose(np.abs(fitted.embedding_), np.abs(cosines), atol=1e-10)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("n", [200, 620])
def test_the_map_solves_its_eigenproblem(normalized, n, digits):
    fitted = LaplacianEigenmaps(10, 3, weights="heat", normalized=normalized).fit(digits[0][:n])
    A, Y = weights_of(fitted), fitted.embedding_
    D = np.diag(A.sum(axis=1)) if normalized else np.eye(n)
    L = laplacian(A)
    np.testing.assert_allclose(Y.T @ D @ Y, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(L @ Y, D @ Y * fitted.eigenvalues_, atol=2e-7)
    expected = scipy.linalg.eigh(L, D, eigvals_only=True, subset_by_index=[0, 3])
    assert abs(expected[0]) < 1e-10
    np.testing.assert_allclose(fitted.eigenvalues_, expected[1:], rtol=1e-8)
    assert fitted.converged_
    assert fitted.solver_ == ("dense" if n == 200 else "multilevel")
    assert fitted.residuals_.max() <= 1e-7 * fitted.eigenvalues_[-1]
    largest = np.abs(Y).argmax(axis=0)
    assert (Y[largest, range(3)] > 0).all()


def test_the_loss_is_the_trace():
    """sum_ij A_ij |y_i - y_j|^2 = 2 tr(Y'LY), which for Y'DY = I is twice the sum of the eigenvalues."""
    fitted = LaplacianEigenmaps(8, 2, variant="ale").fit(BLOB)
    A, Y = weights_of(fitted), fitted.embedding_
    squares = np.square(Y[:, None] - Y).sum(axis=2)
    assert np.sum(A * squares) == pytest.approx(2 * np.trace(Y.T @ laplacian(A) @ Y))
    assert np.sum(A * squares) == pytest.approx(2 * fitted.eigenvalues_.sum())


def test_eigenvalues_lie_between_zero_and_two():
    fitted = LaplacianEigenmaps(6, 119, weights="self_tuning").fit(BLOB)
    assert (np.diff(fitted.eigenvalues_) >= 0).all()
    assert 0 < fitted.eigenvalues_[0] < fitted.eigenvalues_[-1] <= 2
    assert fitted.eigenvalues_.sum() == pytest.approx(120)  # the trace of I - D^-1/2 A D^-1/2


@pytest.mark.parametrize("weights", ["binary", "heat", "self_tuning"])
def test_it_agrees_with_scikit_learn_on_the_same_affinities(weights, digits):
    fitted = LaplacianEigenmaps(10, 2, weights=weights).fit(digits[0])
    theirs = spectral_embedding(
        fitted.affinities_.matrix.astype(np.float64), n_components=2, eigen_tol=1e-10, random_state=0
    )
    theirs *= np.sign((theirs * fitted.embedding_).sum(axis=0))
    np.testing.assert_allclose(fitted.embedding_, theirs, atol=1e-7 * np.abs(theirs).max() + 1e-8)


def test_it_agrees_with_spectral_embedding_where_all_neighbors_are_mutual():
    """scikit-learn takes the mean of both directions and counts a row among its neighbours; on a circle that is all."""
    circle = np.stack([np.cos(np.arange(80) * np.pi / 40), np.sin(np.arange(80) * np.pi / 40)], axis=1)
    ours = LaplacianEigenmaps(4, 2).fit(circle)
    theirs = SpectralEmbedding(2, affinity="nearest_neighbors", n_neighbors=5, random_state=0).fit(circle)
    radii = np.linalg.norm(theirs.embedding_, axis=1)
    np.testing.assert_allclose(np.linalg.norm(ours.embedding_, axis=1), radii, rtol=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("time", [None, 1.0, 3.0])
def test_diffusion_maps_are_those_of_the_dense_random_walk(alpha, time):
    fitted = LaplacianEigenmaps(10, 3, weights="heat", alpha=alpha, diffusion_time=time).fit(BLOB)
    K = weights_of(LaplacianEigenmaps(10, 3, weights="heat").fit(BLOB))
    q = K.sum(axis=1)
    K = K / np.outer(q, q) ** alpha
    degrees = K.sum(axis=1)
    values, right = np.linalg.eig(K / degrees[:, None])  # the walk itself, which is not symmetric
    order = np.argsort(-values.real)[1:4]
    values, right = values.real[order], right.real[:, order]
    right /= np.sqrt((right**2 * degrees[:, None]).sum(axis=0))
    right *= np.sign((right * fitted.embedding_).sum(axis=0)) * (1 if time is None else np.abs(values) ** time)
    np.testing.assert_allclose(fitted.embedding_, right, atol=1e-6 * np.abs(right).max())
    np.testing.assert_allclose(1 - fitted.eigenvalues_, values, atol=1e-7)


def test_alpha_of_one_takes_out_the_density():
    """On an interval sampled unevenly the first coordinate is a cosine of the position, whatever the density."""
    x = np.sort(np.random.default_rng(1).beta(1.0, 3.0, size=1500))
    x = x[x < 0.7][:, None] / 0.7
    truth = np.cos(np.pi * x[:, 0])

    def likeness(alpha):
        Y = LaplacianEigenmaps(300, 1, weights="heat", sigma=0.03, alpha=alpha).fit_transform(x)
        return abs(np.corrcoef(Y[:, 0], truth)[0, 1])

    assert likeness(1.0) > 0.9999
    assert likeness(0.0) < 0.995


@pytest.mark.parametrize("parameters", [{"variant": "ale"}, {"weights": "self_tuning"}, {"variant": "vle"}])
def test_the_unit_of_the_table_does_not_matter(parameters):
    """Nor does it for the heat kernel, whose scale is a mean distance."""
    one, other = (LaplacianEigenmaps(8, 2, **parameters).fit_transform(unit * BLOB) for unit in (1.0, 250.0))
    np.testing.assert_allclose(one, other, atol=1e-4 * np.abs(one).max())


def test_variants_say_what_they_took():
    assert LaplacianEigenmaps(5).fit(BLOB).weights_ == "binary"
    assert LaplacianEigenmaps(5).fit(BLOB).sigma_ is None
    assert LaplacianEigenmaps(5, variant="ale").fit(BLOB).weights_ == "adapted"
    vle = LaplacianEigenmaps(8, variant="vle").fit(BLOB)
    assert vle.weights_ == "heat"
    assert vle.sigma_ == pytest.approx(vle.graph_.distances[:, -1].mean())
    assert vle.affinities_.matrix.nnz < LaplacianEigenmaps(8, weights="heat").fit(BLOB).affinities_.matrix.nnz
    kept = LaplacianEigenmaps(8, variant="vle", min_neighbors=8).fit(BLOB)
    np.testing.assert_array_equal(kept.embedding_, LaplacianEigenmaps(8, weights="heat").fit(BLOB).embedding_)


def test_a_variable_radius_goes_with_adapted_weights():
    fitted = LaplacianEigenmaps(8, variant="vle", weights="adapted").fit(BLOB)
    distances, n = fitted.graph_.distances.astype(float), len(BLOB)
    r = np.sqrt(np.square(distances).mean(axis=1))
    kept = np.clip(np.floor(8 * r.mean() / r), 2, 8).astype(int)
    expected = np.zeros((n, n))
    for i in range(n):
        for j, d in zip(fitted.graph_.indices[i, : kept[i]], distances[i], strict=False):
            expected[i, j] = expected[j, i] = np.exp(-(d**2) / (r[i] * r[j]))
    assert kept.min() < 8
    assert fitted.weights_ == "adapted"
    np.testing.assert_allclose(fitted.affinities_.matrix.toarray(), expected, rtol=1e-5)
    fixed = LaplacianEigenmaps(8, variant="vle", weights="adapted", min_neighbors=8).fit(BLOB)
    np.testing.assert_array_equal(fixed.embedding_, LaplacianEigenmaps(8, variant="ale").fit(BLOB).embedding_)


def wells(n, gap, n_features=4, seed=0):
    """Rows of two clouds that overlap by less, the larger the gap."""
    rng = np.random.default_rng(seed)
    X = 0.3 * rng.normal(size=(n, n_features))
    X[:, 0] += gap * rng.integers(2, size=n)
    return X


@pytest.mark.filterwarnings("ignore::gnomon.exceptions.NeighborsWarning")
@pytest.mark.parametrize("parameters", [{}, {"normalized": False}, {"alpha": 1.0, "diffusion_time": 2}])
@pytest.mark.parametrize(("n", "gap", "n_components"), [(1000, 1.0, 2), (1500, 4.0, 2), (1000, 1.5, 10)])
def test_slow_modes_leave_all_coordinates(n, gap, n_components, parameters):
    """Clouds that few edges join; the pairs are those of another solver, and no column is flat."""
    fitted = LaplacianEigenmaps(n_components=n_components, random_state=0, **parameters).fit(wells(n, gap))
    graph = GraphLaplacian(fitted.affinities_.matrix, parameters.get("normalized", True))
    assert (fitted.solver_, fitted.converged_) == ("multilevel", True)
    other = eigenpairs(graph, n_components, solver="lanczos")
    if "alpha" not in parameters:
        np.testing.assert_allclose(fitted.eigenvalues_, other.values, rtol=1e-6, atol=1e-12)
    assert (fitted.eigenvalues_ > 0.0).all()
    assert np.ptp(fitted.embedding_, axis=0).min() > 1e-3 * np.ptp(fitted.embedding_, axis=0).max()


def test_nullity_is_the_number_of_components():
    with pytest.warns(NeighborsWarning, match=r"3 components of 60, 40, 4 rows"):
        fitted = LaplacianEigenmaps(3, disconnected="separate").fit(ISLANDS)
    values = np.linalg.eigvalsh(laplacian(weights_of(fitted), normed=True))
    assert (values < 1e-6).sum() == fitted.n_graph_components_ == 3


def test_f17_bridges_connect_a_disconnected_graph_with_one_warning():
    with pytest.warns(NeighborsWarning, match=r"3 components of 60, 40, 4 rows; their shortest edges join") as caught:
        fitted = LaplacianEigenmaps(3, weights="heat", sigma=20.0).fit(ISLANDS)
    assert len(caught) == 1
    bridges = fitted.bridges_
    assert len(bridges) == 2
    for i, j, length in zip(bridges.sources, bridges.targets, bridges.distances, strict=True):
        assert fitted.affinities_.matrix[i, j] == pytest.approx(np.exp(-((length / 20) ** 2)), rel=1e-5)
    assert np.isfinite(fitted.embedding_).all()
    assert fitted.eigenvalues_.shape == (2,)


def test_f17_components_mapped_apart_do_not_overlap_and_equal_their_own_maps():
    with pytest.warns(NeighborsWarning):
        fitted = LaplacianEigenmaps(3, disconnected="separate").fit(ISLANDS)
    Y = fitted.embedding_
    parts = [Y[:40], Y[40:100], Y[100:]]
    centres = [part.mean(axis=0) for part in parts]
    for a in range(3):
        for b in range(a):
            radii = sum(np.linalg.norm(parts[c] - centres[c], axis=1).max() for c in (a, b))
            assert np.linalg.norm(centres[a] - centres[b]) > 0.8 * radii
    alone = LaplacianEigenmaps(3).fit(ISLANDS[40:100])
    np.testing.assert_allclose(fitted.eigenvalues_[1], alone.eigenvalues_, rtol=1e-9)
    assert np.isnan(fitted.eigenvalues_[2]).all()
    for column in range(2):
        assert abs(np.corrcoef(parts[1][:, column], alone.embedding_[:, column])[0, 1]) > 1 - 1e-6


def test_f17_an_error_names_the_sizes():
    with pytest.raises(ValueError, match=r"must be connected \(the neighbour graph has 3 components of 60, 40, 4 rows"):
        LaplacianEigenmaps(3, disconnected="error").fit(ISLANDS)


def test_vle_never_isolates_an_outlier():
    X = np.concatenate([BLOB, [[40.0, 40.0, 40.0]]])
    fitted = LaplacianEigenmaps(8, variant="vle", disconnected="error").fit(X)
    assert np.diff(fitted.affinities_.matrix.indptr)[-1] == 2


@pytest.mark.parametrize(
    "parameters",
    [{}, {"variant": "ale"}, {"variant": "vle"}, {"normalized": False}, {"alpha": 1.0, "diffusion_time": 2.0}],
)
def test_fitted_rows_get_their_positions_and_others_their_own(parameters, digits):
    X, new = digits[0][:500], digits[0][500:530]
    fitted = LaplacianEigenmaps(10, 2, **parameters).fit(X)
    np.testing.assert_array_equal(fitted.place(X), fitted.embedding_)
    together = fitted.place(new)
    np.testing.assert_array_equal(together[7:8], fitted.place(new[7:8]))
    np.testing.assert_array_equal(together[::-1], fitted.place(new[::-1]))


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_extension_is_exact_where_a_new_row_has_the_edges_of_a_fitted_one(normalized, alpha):
    """On a ring a row's neighbours count it too; one that stands a hair's breadth beside it gets its position."""
    fitted = LaplacianEigenmaps(2, 2, normalized=normalized, alpha=alpha, metric="precomputed")
    D = chain_distances(40, True)
    fitted.fit(D)
    beside = D[[5]] + np.where(D[[5]] == 0, 100.0, 0.0)  # not next to row 5 itself, so that its edges are the same
    np.testing.assert_allclose(fitted.place(beside), fitted.embedding_[[5]], rtol=1e-6)


def test_new_rows_land_among_their_neighbors(digits):
    X, y = digits
    fitted = LaplacianEigenmaps(10, 8).fit(X[:1200])
    places = fitted.place(X[1200:])
    nearest = np.square(places[:, None] - fitted.embedding_).sum(axis=2).argmin(axis=1)
    assert np.mean(y[:1200][nearest] == y[1200:]) > 0.85


def test_new_rows_of_components_mapped_apart_join_their_component():
    with pytest.warns(NeighborsWarning):
        fitted = LaplacianEigenmaps(3, disconnected="separate").fit(ISLANDS)
    new = np.array([[0.1, 0.2, 0.0], [50.1, 50.0, 49.9], [-80.0, -80.1, -79.9]])
    centres = [part.mean(axis=0) for part in np.split(fitted.embedding_, [40, 100])]
    distances = np.linalg.norm(fitted.place(new)[:, None] - np.array(centres), axis=2)
    assert distances.argmin(axis=1).tolist() == [0, 1, 2]


def test_new_rows_of_a_component_lie_as_in_its_own_map():
    with pytest.warns(NeighborsWarning):
        fitted = LaplacianEigenmaps(3, disconnected="separate").fit(ISLANDS)
    alone = LaplacianEigenmaps(3).fit(ISLANDS[40:100])
    new = ISLANDS[40:100:7] + 0.3
    for column in range(2):
        slope, shift = np.polyfit(alone.embedding_[:, column], fitted.embedding_[40:100, column], 1)
        expected = slope * alone.place(new)[:, column] + shift
        np.testing.assert_allclose(fitted.place(new)[:, column], expected, rtol=1e-5)


def test_sparse_and_dense_distances_of_new_rows_place_them_alike():
    from scipy.sparse import csr_array

    D = np.linalg.norm(BLOB[:, None] - BLOB, axis=2)
    fitted = LaplacianEigenmaps(6, metric="precomputed").fit(D[:100, :100])
    np.testing.assert_allclose(fitted.embedding_, LaplacianEigenmaps(6).fit(BLOB[:100]).embedding_, atol=1e-6)
    new = D[100:, :100]
    np.testing.assert_array_equal(fitted.place(csr_array(new)), fitted.place(new))
    own = csr_array((np.zeros(1), ([0], [7])), shape=(1, 100))
    np.testing.assert_array_equal(fitted.place(own), fitted.embedding_[[7]])


@pytest.mark.parametrize("parameters", [{}, {"normalized": False}, {"variant": "vle", "n_components": 3}])
def test_bytes_do_not_depend_on_the_number_of_jobs(parameters, digits):
    maps = {
        LaplacianEigenmaps(10, random_state=0, n_jobs=jobs, **parameters).fit_transform(digits[0]).tobytes()
        for jobs in (1, 2, 3)
    }
    assert len(maps) == 1


def test_a_callback_can_end_the_iteration_which_is_then_said(digits):
    stages = []

    def end(progress):
        stages.append(progress.stage)
        return progress.stage == "eigenvectors"

    with pytest.warns(ConvergenceWarning, match=r"did not converge, the largest residual is .*see residuals_"):
        fitted = LaplacianEigenmaps(10, callback=end).fit(digits[0])
    assert not fitted.converged_
    assert list(dict.fromkeys(stages)) == ["neighbors", "affinities", "eigenvectors"]


def test_a_second_fit_forgets_the_first():
    fitted = LaplacianEigenmaps(5).fit(BLOB)
    with pytest.warns(UserWarning, match="hold 1 distinct row"):
        fitted.fit(np.ones((10, 3)))
    np.testing.assert_array_equal(fitted.place(BLOB[:2]), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"n_components": 120}, r"n_components=120 must be at most 119 \(120 distinct rows\)"),
        ({"weights": "heat", "variant": "ale"}, "weights='heat' must be 'auto' or 'adapted' with variant='ale'"),
        ({"sigma": 1.0, "weights": "binary"}, r"sigma=1\.0 must be None with weights='binary'. Use weights='heat'"),
        ({"sigma": 1.0, "variant": "ale"}, r"sigma=1\.0 must be None with weights='adapted' \(which variant='ale' has"),
        ({"sigma": 0.0}, r"sigma=0\.0 must be a number > 0 or None"),
        ({"variant": "vle", "n_neighbors": 3, "min_neighbors": 4}, "min_neighbors=4 must be at most n_neighbors=3"),
        ({"normalized": False, "diffusion_time": 1.0}, "diffusion_time=1.0 must be None or 0 with normalized=False"),
        ({"variant": "magic"}, "variant='magic' must be one of 'standard', 'ale', 'vle'"),
        ({"disconnected": "drop"}, "disconnected='drop' must be one of 'connect', 'separate', 'error'"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(parameters, text):
    with pytest.raises(ValueError, match=f"LaplacianEigenmaps: {text}"):
        LaplacianEigenmaps(**parameters).fit(BLOB)


def test_a_scale_alone_takes_the_weights_that_have_one():
    fitted = LaplacianEigenmaps(5, sigma=0.7).fit(BLOB)
    assert (fitted.weights_, fitted.sigma_) == ("heat", 0.7)
    np.testing.assert_array_equal(
        fitted.embedding_, LaplacianEigenmaps(5, sigma=0.7, weights="heat").fit(BLOB).embedding_
    )
    assert LaplacianEigenmaps(5).fit(BLOB).weights_ == "binary"


def _uniform_in_a_double_well(seed, span, n=40):
    """Rows drawn uniformly, with the weights exp(-V / kT) of a potential that spans so many kT."""
    X = np.random.default_rng(seed).uniform(-1.6, 1.6, size=(n, 2))
    V = np.square(np.square(X[:, 0]) - 1.0) + np.square(X[:, 1])
    return X, np.exp(-span * (V - V.min()) / np.ptp(V))


def _largest_share(fitted):
    shares = np.square(fitted.embedding_ - np.median(fitted.embedding_, axis=0))
    return (shares / shares.sum(axis=0)).max()


def test_a_light_row_that_carries_a_coordinate_is_told():
    """Where one does: of ten drawings over 30 kT some; of none over 8 kT, of equal weights, or of the fourth root."""
    told = 0
    for seed in range(10):
        X, weights = _uniform_in_a_double_well(seed, 30.0)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            found = LaplacianEigenmaps(n_components=4, random_state=0).fit(X, sample_weight=weights)
        texts = [str(one.message) for one in seen]
        assert len(texts) == int(_largest_share(found) > 0.5)
        told += len(texts)
        form = r"LaplacianEigenmaps: coordinate \d is .* the mean weight .* \*\* 0\.25"
        assert all(re.match(form, one) for one in texts)
        for calmer in (weights**0.25, np.ones(len(X)), _uniform_in_a_double_well(seed, 8.0)[1]):
            LaplacianEigenmaps(n_components=4, random_state=0).fit(X, sample_weight=calmer)
    assert told >= 3
