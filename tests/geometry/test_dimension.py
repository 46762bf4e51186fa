"""The intrinsic dimension: known sets, independent values, honest intervals, and what cannot be known."""

import json

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.neighbors import NearestNeighbors

from gnomon.geometry import dimension_estimators as estimators
from gnomon.geometry import intrinsic_dimension
from gnomon.geometry.dimension import _distances_between, _nearest_of, _products_of, _written
from gnomon.neighbors import compute_neighbors

NAMES = ["growth", "mle", "levina_bickel", "two_nn", "correlation", "local_pca", "extrapolated"]


def _distances(X, k):
    return NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X).kneighbors()[0]


def _cube(d, n=1500, seed=0, width=12):
    """Uniform in a cube of d dimensions, turned into more."""
    generator = np.random.default_rng(seed)
    frame, _ = np.linalg.qr(generator.normal(size=(width, d)))
    return generator.random((n, d)) @ frame.T


@pytest.fixture(scope="module")
def iris():
    X = load_iris().data
    rows, columns = np.indices(X.shape)
    return _distances(X + 1e-3 * np.sin(1 + 7 * rows + 3 * columns), 10)


@pytest.mark.parametrize("m", [4, 5, 60])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "braycurtis"])
def test_distances_measured_once_for_each_pair_are_those_of_the_search(m, metric):
    X = np.random.default_rng(m).normal(size=(m, 3)) ** 2
    between, every = _distances_between(X, metric), compute_neighbors(X, m - 1, metric=metric, method="exact")
    np.testing.assert_array_equal(np.take_along_axis(between, every.indices.astype(int), axis=1), every.distances)
    np.testing.assert_array_equal(between, between.T)
    chosen = np.array([3, 0])
    nearest = [near[np.isin(near, chosen)][0] for near in every.indices]
    expected = [i if i in chosen else near for i, near in enumerate(nearest)]
    assert chosen[_nearest_of(between, chosen)].tolist() == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("whole", [True, False])
def test_products_about_the_mean_are_those_of_centred_rows_in_any_unit(dtype, whole):
    near = np.random.default_rng(0).uniform(0.0, 255.0, size=(6, 5, 30))
    near = near.round() if whole else near
    centred = near - near.mean(axis=1, keepdims=True)
    expected = centred @ centred.transpose(0, 2, 1)
    found = _products_of(near.reshape(30, 30).astype(dtype), 6, 5)
    shares = [one / np.trace(one, axis1=1, axis2=2)[:, None, None] for one in (found, expected)]
    np.testing.assert_allclose(shares[0], shares[1], atol=2e-6)


def test_values_computed_independently(iris):
    assert estimators.two_nn(iris).value == pytest.approx(2.921230075, rel=1e-6)
    assert estimators.two_nn(iris, fit=True).value == pytest.approx(3.154467519, rel=1e-6)
    assert estimators.levina_bickel(iris, range(10, 11)).value == pytest.approx(3.145279851, rel=1e-6)
    assert estimators.mackay_ghahramani(iris, range(10, 11)).value == pytest.approx(3.105254321, rel=1e-6)
    cube = _distances(np.random.RandomState(0).rand(1000, 3), 20)
    assert estimators.two_nn(cube).value == pytest.approx(2.715051582, rel=1e-6)
    assert estimators.two_nn(cube, fit=True).value == pytest.approx(2.724384182, rel=1e-6)
    assert estimators.levina_bickel(cube, range(20, 21)).value == pytest.approx(2.790149307, rel=1e-6)
    assert estimators.mackay_ghahramani(cube, range(20, 21)).value == pytest.approx(2.758974247, rel=1e-6)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_cubes_have_their_dimension_up_to_the_bias_of_their_borders(d):
    found = intrinsic_dimension(_cube(d))
    for name in NAMES:
        assert found.estimates[name].value == pytest.approx(d, rel=0.21 if name == "local_pca" else 0.15), name
    assert found.n_components == d
    assert np.nanmedian(found.local) == pytest.approx(d, rel=0.2)


def test_draws_of_the_model_give_back_the_rate_and_intervals_that_hold_it():
    """Ratios of distances drawn from the model itself: no borders, no curvature."""
    generator = np.random.default_rng(1)
    d, n, k = 4.0, 2000, 15
    logs = np.sort(-np.log(generator.random((n, k - 1))) / d, axis=1)[:, ::-1]
    distances = np.exp(-np.concatenate([logs, np.zeros((n, 1))], axis=1))
    value, low, high = estimators.local_likelihood(distances, k, confidence=0.9)
    assert value.mean() == pytest.approx(d, rel=0.02)
    assert np.mean((low <= d) & (d <= high)) == pytest.approx(0.9, abs=0.02)
    assert estimators.mackay_ghahramani(distances, range(k, k + 1)).value == pytest.approx(d, rel=0.02)
    held = 0
    for _ in range(400):
        one = estimators.two_nn(np.exp(np.array([[0.0, 1.0]]) * generator.exponential(1 / d, (50, 1))), confidence=0.9)
        held += one.low <= d <= one.high
    assert held / 400 == pytest.approx(0.9, abs=0.05)


def test_the_correlation_dimension_is_the_growth_of_a_power():
    d = 3.0
    pairs = ((np.arange(20000) + 0.5) / 20000) ** (1 / d)  # the number of pairs below r is proportional to r^d
    assert estimators.correlation(pairs, 200).value == pytest.approx(d, rel=0.02)


def test_distances_of_zero_or_without_end_are_left_out():
    sums, counts = estimators.log_ratio_sums([[0.0, 1.0, 2.0, 4.0], [1.0, 2.0, 4.0, np.inf], [0.0, 0.0, 0.0, 3.0]], 4)
    np.testing.assert_allclose(sums, [np.log(8.0), np.log(8.0), 0.0])
    np.testing.assert_array_equal(counts, [2.0, 2.0, 0.0])


def test_local_pca_counts_directions():
    gram = np.zeros((2, 4, 4))
    gram[0] = np.diag([4.0, 4.0, 1.9, 0.1])  # 80 %, 99 %
    np.testing.assert_array_equal(estimators.local_shares(gram), [3, 0])
    np.testing.assert_array_equal(estimators.local_shares(gram, variance_share=0.75), [2, 0])


@pytest.mark.parametrize("share", [0.005, 0.5], ids=["few", "many"])
def test_products_of_sparse_neighbourhoods_are_those_of_all_columns(share):
    X = sparse.random_array((30, 2000), density=share, format="csr", rng=np.random.default_rng(0))
    X.data[0] = -3.0
    dense = X.toarray()
    dense[20:25] = 0.0
    X = sparse.csr_array(dense)
    small = _written(X, 5)
    assert small.shape[1] <= (150 if share < 0.1 else 2000)
    np.testing.assert_allclose(_products_of(small, 6, 5), _products_of(dense, 6, 5), atol=1e-12)


def test_scale_shift_and_rotation_change_nothing():
    X = _cube(3, n=400)
    frame, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(12, 12)))
    plain, moved = intrinsic_dimension(X), intrinsic_dimension(1e6 * (X @ frame) + 5.0)
    for name in NAMES:
        assert moved.estimates[name].value == pytest.approx(plain.estimates[name].value, rel=1e-4)
    np.testing.assert_allclose(moved.local, plain.local, rtol=1e-2)


def test_copies_of_rows_count_once_and_share_a_local_dimension():
    X = _cube(2, n=300)
    plain, doubled = intrinsic_dimension(X), intrinsic_dimension(np.concatenate([X, X[:100]]))
    assert doubled.estimates == plain.estimates
    np.testing.assert_array_equal(doubled.local, np.concatenate([plain.local, plain.local[:100]]))


def test_a_known_graph_is_used_and_tables_of_any_kind_agree():
    X = np.round(_cube(3, n=500), 3)
    graph = compute_neighbors(X, 20)
    plain = intrinsic_dimension(X)
    assert intrinsic_dimension(X, graph=graph).estimates == plain.estimates
    assert intrinsic_dimension(X, graph=compute_neighbors(X, 12)).n_neighbors == (6, 12)
    stored = intrinsic_dimension(sparse.csr_array(X))
    for name in NAMES:
        assert stored.estimates[name].value == pytest.approx(plain.estimates[name].value, rel=1e-4)


def test_equal_results_for_any_number_of_threads():
    X = _cube(4, n=1500)
    one, three = intrinsic_dimension(X, n_jobs=1), intrinsic_dimension(X, n_jobs=3)
    assert one.estimates == three.estimates
    np.testing.assert_array_equal(one.local, three.local)


@pytest.mark.parametrize("X", [np.zeros((9, 2)), np.arange(3.0)[:, None]], ids=["equal", "three"])
def test_too_few_distinct_rows_give_no_number_and_say_so(X):
    found = intrinsic_dimension(X)
    assert np.isnan(found.value)
    assert np.isnan(found.local).all()
    assert found.local.shape == (len(X),)
    assert found.n_components == 1
    assert "too few distinct rows" in found.summary()
    assert str(found) == found.summary()
    assert json.loads(json.dumps(found.to_dict()))["value"] is None


@pytest.mark.parametrize(
    "X",
    [np.eye(40), np.arange(60.0)[:, None], np.random.default_rng(0).normal(size=(50, 4)) * 1e30],
    ids=["equidistant", "lattice", "huge"],
)
def test_degenerate_distances_raise_no_warning(X):
    found = intrinsic_dimension(X)
    assert "dimensional" in found.summary() or "too few" in found.summary()


def test_the_summary_names_every_estimate():
    found = intrinsic_dimension(_cube(2, n=500))
    text = found.summary()
    ends = f"(95% interval {found.low:.1f} to {found.high:.1f})"
    assert text.startswith(f"The data are about {found.value:.1f}-dimensional {ends}.")
    assert len(text.splitlines()) == 1 + len(NAMES)
    assert list(found.to_dict()["estimates"]) == NAMES


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"n_neighbors": 2}, ValueError, "intrinsic_dimension: n_neighbors=2 must be "),
        ({"confidence": 1.0}, ValueError, "intrinsic_dimension: confidence=1.0 must be "),
        ({"n_neighbors": "many"}, TypeError, "intrinsic_dimension: n_neighbors='many' must be "),
        ({"graph": compute_neighbors(_cube(2, n=50), 5)}, ValueError, "X with 100 rows and a graph with 50 must be "),
    ],
)
def test_wrong_arguments_are_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        intrinsic_dimension(_cube(2, n=100), **arguments)


def _sphere(d, n, generator):
    X = generator.normal(size=(n, d + 1))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def _ball(d, n, generator):
    return _sphere(d - 1, n, generator) * generator.random((n, 1)) ** (1 / d)


def _gaussian(d, n, generator):
    return generator.normal(size=(n, d))


@pytest.mark.parametrize("d", [2, 5, 10])
@pytest.mark.parametrize("shape", [_sphere, _ball, _gaussian])
def test_the_interval_of_the_limit_holds_up_to_ten_dimensions(shape, d):
    generator = np.random.default_rng(d)
    found = [
        estimators.extrapolated(_distances(shape(d, 500, generator), 20), range(3, 21), confidence=0.95)
        for _ in range(50)
    ]
    assert np.mean([one.low <= d <= one.high for one in found]) >= 0.85
    assert np.mean([one.value for one in found]) == pytest.approx(d, rel=0.2)


def test_a_sphere_of_ten_dimensions_is_found():
    found = intrinsic_dimension(_sphere(10, 2000, np.random.default_rng(0))).estimates
    assert found["mle"].high < 10
    assert found["extrapolated"].low < 10 < found["extrapolated"].high
    assert found["extrapolated"].value == pytest.approx(10, rel=0.08)


def test_without_bias_the_limit_is_the_estimate_itself():
    generator = np.random.default_rng(1)
    d, n, k = 4.0, 4000, 15
    logs = np.sort(-np.log(generator.random((n, k - 1))) / d, axis=1)[:, ::-1]
    distances = np.exp(-np.concatenate([logs, np.zeros((n, 1))], axis=1)) * generator.gamma(100, size=(n, 1))
    found = estimators.extrapolated(distances, range(3, k + 1))
    assert found.value == pytest.approx(d, rel=0.1)
    assert found.low < d < found.high


def test_few_rows_and_few_neighbours_have_no_limit():
    distances = _distances(np.random.default_rng(0).random((60, 2)), 10)
    assert np.isfinite(estimators.extrapolated(distances, range(3, 11)).value)
    assert np.isnan(estimators.extrapolated(distances[:39], range(3, 11)).value)
    assert np.isnan(estimators.extrapolated(distances, range(3, 6)).value)


def test_likelihoods_of_several_numbers_are_those_of_each(iris):
    ks = range(4, 10)
    found = estimators.likelihoods(iris, ks)
    for values, at in ((lambda s, c: c.sum() / s.sum(), 0), (lambda s, c: np.mean((c - 1) / s), 1)):
        expected = np.mean([values(*estimators.log_ratio_sums(iris, k)) for k in ks])
        assert found[at].value == pytest.approx(expected, rel=1e-12)


def test_neighbours_that_are_equally_far_have_no_dimension():
    found = estimators.likelihoods(np.full((50, 8), 0.7), range(4, 9))
    assert all(np.isnan(one.value) for one in found)
    assert np.isnan(estimators.local_likelihood(np.full((50, 8), 0.7), 8)).all()


def test_rounding_makes_no_dimension_of_neighbours_that_are_equally_far():
    near = np.column_stack([np.repeat(np.linspace(0.3, 0.7, 50)[:, None], 13, axis=1), np.full(50, 0.95)])
    found = estimators.likelihoods(near, range(4, 15))
    sums, counts = estimators.log_ratio_sums(near, 14)
    assert found[0].value == pytest.approx(counts.sum() / sums.sum(), rel=1e-12)
    assert found[1].value == pytest.approx(np.mean((counts - 1) / sums), rel=1e-12)


@pytest.mark.parametrize("n", [40, 4000, 4001, 9013])
def test_sums_of_groups_that_take_turns_are_those_of_their_rows(n):
    distances = np.sort(0.1 + np.random.default_rng(n).random((n, 9)), axis=1)
    numbers = np.arange(3, 10)
    sums, squares = estimators._sums_by_group(distances, 2.0, numbers)
    for group in (0, 7, 19):
        rows = distances[group::20]
        expected = [np.log(rows[:, [k - 1]] / rows[:, : k - 1]).sum() for k in numbers]
        np.testing.assert_allclose(sums[group], expected, rtol=1e-11)
        np.testing.assert_allclose(squares[group], 0.25 * np.square(rows[:, numbers - 1]).sum(axis=0), rtol=1e-12)


def test_rows_measured_several_times_have_the_dimension_of_what_was_measured():
    """Near by they are all noise, farther off one row five times: 0.8 would be found for two."""
    for seed in range(3):
        generator = np.random.default_rng(seed)
        X = np.zeros((500, 5))
        X[:, :2] = np.repeat(generator.normal(size=(100, 2)), 5, axis=0)
        found = intrinsic_dimension(X + 0.02 * generator.normal(size=X.shape))
        assert found.low <= 2.0 <= found.high
        assert 300 < found.n_repeats < 420
        assert f"{found.n_repeats} rows lie as near to others as if measured several times" in found.caution
        assert found.to_dict()["n_repeats"] == found.n_repeats
        assert found.local.shape == (500,)
    assert intrinsic_dimension(generator.normal(size=(200, 3))).n_repeats == 0


def test_distances_of_rows_measured_several_times_tell_what_the_rows_tell():
    generator = np.random.default_rng(0)
    X = np.repeat(generator.normal(size=(60, 2)), 5, axis=0)
    X[5:] += 0.02 * generator.normal(size=(295, 2))  # the first five are equal
    told, by_distances = intrinsic_dimension(X), intrinsic_dimension(cdist(X, X), metric="precomputed")
    assert told.n_repeats == by_distances.n_repeats > 150
    assert by_distances.value == pytest.approx(told.by_growth, rel=1e-3)
    np.testing.assert_allclose(np.minimum(by_distances.local, 2.0), told.local, rtol=1e-3)


@pytest.mark.parametrize("columns", [3, 20])
def test_no_dimension_is_above_the_directions_in_which_rows_differ(columns):
    """Of 20 columns 24 dimensions were found, and a map of 24 components was advised, which there cannot be."""
    X = np.random.default_rng(0).normal(size=(300, columns))
    mixed = np.concatenate([X, X[:, :1] - X[:, 1:2], np.ones((300, 1))], axis=1)  # one direction less than columns
    for table in (X, sparse.csr_array(X), mixed):
        found = intrinsic_dimension(table)
        assert found.n_directions == found.to_dict()["n_directions"] == columns
        assert found.n_components <= columns
        assert max(one.high for one in found.estimates.values()) <= columns
        assert found.local_high.max() <= columns
        assert (found.by_growth > columns) == ("rows differ in" in found.caution)
    assert intrinsic_dimension(cdist(X, X), metric="precomputed").n_directions == np.inf


def test_a_dimension_above_the_columns_is_told_as_theirs():
    X = np.random.default_rng(1).normal(size=(400, 20))
    found = intrinsic_dimension(X)
    assert found.by_growth > 20 == found.value == found.high
    assert f"Distances grow as in {found.by_growth:.1f} dimensions, but rows differ in 20 directions" in found.caution


def test_a_design_of_two_levels_is_not_said_to_grow_as_in_dozens_of_dimensions():
    X = np.array(np.meshgrid(*[[0.0, 1.0]] * 8)).reshape(8, -1).T
    found = intrinsic_dimension(X)
    assert found.by_growth > 2 * found.n_directions == 16
    assert "Distances grow as in far more dimensions, but rows differ in 8 directions of their columns" in found.caution
    assert "89" not in found.caution


def test_rows_fewer_than_columns_bound_the_components_and_not_the_dimension():
    found = intrinsic_dimension(np.random.default_rng(0).normal(size=(30, 60)))
    assert found.n_directions == 60
    assert found.n_components <= 29


def test_rows_of_a_time_series_come_with_a_caution():
    """Neighbours along the way of one trajectory have the dimension of the way."""
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(400, 8)), axis=0) * 0.2 + rng.normal(size=8)
    found = intrinsic_dimension(X)
    assert "no interval holds: every" in found.caution
    assert found.caution in found.summary()
    assert intrinsic_dimension(rng.permutation(X)).succession is None
