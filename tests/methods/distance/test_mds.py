"""Metric and ordinal scaling by majorization."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist, pdist
from sklearn.manifold import MDS as ReferenceMDS

from gnomon.exceptions import DataWarning
from gnomon.linalg import procrustes, procrustes_error
from gnomon.methods.distance.classical_mds import ClassicalMDS
from gnomon.methods.distance.mds import MDS

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 5))
D = cdist(X, X)
PAIRS = np.triu_indices(70, 1)


def smacof(delta, Y, n_iter):
    """Guttman transforms, as in Borg & Groenen, eq. 8.28."""
    for _ in range(n_iter):
        d = cdist(Y, Y)
        ratio = np.divide(delta, d, out=np.zeros_like(d), where=d > 0.0)
        B = np.diag(ratio.sum(axis=1)) - ratio
        Y = B @ Y / len(Y)
    return Y


def test_plain_steps_are_those_of_an_independent_smacof():
    start = rng.normal(size=(70, 2))
    fitted = MDS(init=start, max_iter=40, tol=0.0, accelerated=False).fit(X)
    expected = smacof(D, start, 40)
    assert fitted.n_iter_ == 40
    np.testing.assert_allclose(fitted.embedding_, expected - expected.mean(axis=0), atol=1e-4)


@pytest.mark.parametrize("weights", [None, "inverse", "inverse_square", "matrix", "factors"])
def test_f67_the_stress_is_that_of_the_points_returned(weights):
    W = rng.uniform(0.5, 1.0, size=(70, 70))
    given = {"matrix": W + W.T, "factors": W[0]}.get(weights, weights)
    w = {
        None: np.ones((70, 70)),
        "inverse": 1.0 / (D + np.eye(70)),
        "inverse_square": 1.0 / np.square(D + np.eye(70)),
        "matrix": W + W.T,
        "factors": np.outer(W[0], W[0]),
    }[weights][PAIRS]
    fitted = MDS(weights=given, max_iter=50).fit(X)
    d = pdist(fitted.embedding_)
    expected = (w * np.square(D[PAIRS] - d)).sum()
    assert fitted.stress_ == pytest.approx(expected, rel=1e-5)
    assert fitted.normalized_stress_ == pytest.approx(np.sqrt(expected / (w * np.square(d)).sum()), rel=1e-5)
    assert fitted.stress_per_point_.sum() == pytest.approx(fitted.stress_)


def test_the_stress_is_no_higher_than_that_of_scikit_learn():
    start = ClassicalMDS().fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs = ReferenceMDS(metric="precomputed", n_init=1, init="random", max_iter=300, eps=1e-9).fit(D, init=start)
    ours = MDS(metric="precomputed", tol=1e-7, max_iter=300).fit(D)
    assert np.square(pdist(theirs.embedding_) - D[PAIRS]).sum() >= ours.stress_ * (1 - 1e-5)
    assert ours.stress_ < np.square(pdist(start) - D[PAIRS]).sum() * 0.7


@pytest.mark.parametrize("variant", ["metric", "ordinal"])
def test_points_of_the_plane_are_found_again(variant):
    flat = np.random.default_rng(1).normal(size=(60, 2)) + 100.0  # an order may leave 60 places open by a percent
    fitted = MDS(variant=variant, max_iter=200, random_state=0).fit(flat)
    assert fitted.normalized_stress_ < 1e-4
    shapes = [(Y - Y.mean(axis=0)) / Y.std() for Y in (flat, fitted.embedding_)]
    assert procrustes_error(*shapes) < 1e-2


def test_only_the_order_counts_for_ordinal_scaling():
    start = ClassicalMDS().fit_transform(X)
    maps = [
        MDS(variant="ordinal", metric="precomputed", init=start, max_iter=60).fit(matrix)
        for matrix in (D, np.square(D), 100.0 * np.sqrt(D))
    ]
    for other in maps[1:]:
        np.testing.assert_array_equal(other.embedding_, maps[0].embedding_)
    assert maps[0].normalized_stress_ < MDS(init=start).fit(X).normalized_stress_


def test_weights_by_distance_keep_small_distances():
    errors = {}
    for weights in (None, "inverse_square"):
        d = pdist(MDS(weights=weights).fit_transform(X))
        near = D[PAIRS] < np.quantile(D, 0.1)
        errors[weights] = np.square(d / D[PAIRS] - 1.0)[near].mean()
    assert errors["inverse_square"] < errors[None]


def test_acceleration_saves_iterations_and_ends_no_higher():
    plain, fast = (MDS(accelerated=a, max_iter=2000, tol=1e-6).fit(X) for a in (False, True))
    assert fast.n_iter_ < plain.n_iter_
    assert fast.stress_ <= plain.stress_ * (1 + 1e-4)


@pytest.mark.parametrize("parameters", [{}, {"variant": "ordinal"}, {"weights": "inverse"}, {"metric": "precomputed"}])
def test_new_rows_are_placed_one_by_one_and_fitted_rows_stay(parameters):
    given = D if "metric" in parameters else X
    fitted = MDS(**parameters, max_iter=50).fit(given)
    np.testing.assert_array_equal(fitted.place(given), fitted.embedding_)
    new = X[:6] + 0.3 * rng.normal(size=(6, 5))
    new = cdist(new, X) if "metric" in parameters else new
    placed = fitted.place(new)
    assert placed[2:4].tobytes() == fitted.place(new[2:4]).tobytes()
    gap = np.linalg.norm(placed - fitted.embedding_[:6], axis=1)
    assert np.median(gap) < 0.5 * pdist(fitted.embedding_).mean()


def test_new_rows_lie_at_a_minimum_of_their_stress():
    fitted = MDS().fit(X)
    new = rng.normal(size=(4, 5))
    delta, placed = cdist(new, X), fitted.place(new)

    def stress(points):
        return np.square(delta - cdist(points, fitted.embedding_)).sum(axis=1)

    for step in ([1e-3, 0.0], [-1e-3, 0.0], [0.0, 1e-3], [0.0, -1e-3]):
        assert (stress(placed + step) >= stress(placed)).all()


@pytest.mark.parametrize("parameters", [{}, {"variant": "ordinal"}, {"weights": "inverse"}, {"init": "random"}])
def test_mds_gives_equal_bytes_for_any_number_of_threads(parameters):
    maps = [MDS(**parameters, n_jobs=n, random_state=0, max_iter=30).fit_transform(X).tobytes() for n in (1, 2, 3)]
    assert maps.count(maps[0]) == 3


def test_the_order_of_rows_does_not_matter_for_mds():
    order, start = rng.permutation(70), rng.normal(size=(70, 2))
    a = MDS(init=start, max_iter=30, accelerated=False).fit_transform(X)
    b = MDS(init=start[order], max_iter=30, accelerated=False).fit_transform(X[order])
    np.testing.assert_allclose(a[order], b, atol=1e-4)


def test_several_starts_keep_the_best():
    one = [MDS(init="random", random_state=0, n_init=n, max_iter=100).fit(X).stress_ for n in (1, 4)]
    assert one[1] <= one[0]


@pytest.mark.parametrize("variant", ["metric", "ordinal"])
def test_few_rows_start_several_times_and_lie_as_the_first_run_does(variant):
    kinds = set()
    for seed in range(6):
        few = np.random.default_rng(seed).normal(size=(12, 4))
        one, ten, auto = (MDS(variant=variant, n_init=n, random_state=0).fit(few) for n in (1, 10, "auto"))
        assert (one.n_init_, ten.n_init_, auto.n_init_) == (1, 10, 10)
        assert auto.solution_.loss == ten.solution_.loss  # the same runs
        assert auto.init_ == ten.init_
        np.testing.assert_allclose(pdist(auto.embedding_), pdist(ten.embedding_), rtol=1e-5)
        turned = ten.embedding_ @ procrustes(ten.embedding_, one.embedding_, scaling=False).rotation
        np.testing.assert_allclose(auto.embedding_, turned, atol=1e-5 * np.abs(turned).max())
        if auto.init_ == "random":
            assert auto.solution_.loss[-1][1] < one.solution_.loss[-1][1]
        else:
            assert auto.embedding_.tobytes() == one.embedding_.tobytes()
        kinds.add(auto.init_)
    assert kinds == {"classical", "random"}


def test_many_rows_and_given_starts_take_one_run():
    rows = np.random.default_rng(1).normal(size=(51, 3))
    assert MDS(max_iter=2).fit(rows).n_init_ == 1
    assert MDS(max_iter=2).fit(rows[:50]).n_init_ == 10
    assert MDS(max_iter=2, init="random").fit(rows[:50]).n_init_ == 10
    assert MDS(max_iter=2, init=rows[:50, :2]).fit(rows[:50]).n_init_ == 1
    with pytest.raises(ValueError, match="n_init='many' must be an integer >= 1 or one of 'auto'"):
        MDS(n_init="many").fit(rows)


def test_the_forecast_counts_the_runs():
    one, auto, four = (MDS(n_init=n).foresee(40, 3.0).durations for n in (1, "auto", 4))
    assert auto["layout"] == 10 * one["layout"]
    assert four["layout"] == 4 * one["layout"]
    assert MDS().foresee(60, 3.0).durations == MDS(n_init=1).foresee(60, 3.0).durations


def test_units_do_not_matter():
    plain = MDS(max_iter=30).fit(X)
    for factor in (1e30, 1e-30):
        scaled = MDS(max_iter=30).fit(X * factor)
        np.testing.assert_allclose(scaled.embedding_ / factor, plain.embedding_, atol=0.02)
        assert scaled.stress_ / factor**2 == pytest.approx(plain.stress_, rel=1e-3)


def test_equal_rows_share_a_place():
    fitted = MDS(max_iter=100).fit(np.repeat(X[:20], 3, axis=0))
    groups = fitted.embedding_.reshape(20, 3, 2)
    assert np.abs(groups - groups[:, :1]).max() < 1e-3
    with pytest.warns(DataWarning, match="20 rows hold 1 distinct row"):
        assert not MDS().fit_transform(np.full((20, 3), 2.5)).any()


def test_dense_and_sparse_rows_have_one_map():
    rows = np.where(X > 0.5, X, 0.0)
    a, b = MDS(max_iter=20).fit(rows), MDS(max_iter=20).fit(sp.csr_array(rows))
    assert a.stress_ == pytest.approx(b.stress_, rel=1e-4)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"variant": "magic"}, "variant='magic' must be one of 'metric', 'ordinal'"),
        ({"weights": "magic"}, "weights='magic' must be None or one of 'inverse'"),
        ({"weights": np.ones(3)}, r"weights of shape \(3,\) must be of shape"),
        ({"init": np.ones((3, 2))}, r"init of shape \(3, 2\) must be of shape"),
        ({"metric": "magic"}, "metric='magic' must be a callable or one of"),
    ],
)
def test_parameters_of_mds_that_mean_nothing_are_refused(parameters, text):
    with pytest.raises(ValueError, match=f"MDS: {text}"):
        MDS(**parameters).fit(X)


def test_the_normalized_stress_of_ordinal_maps_is_kruskals():
    from sklearn.isotonic import IsotonicRegression

    X = np.random.default_rng(0).normal(size=(60, 6))
    w = np.random.default_rng(1).uniform(0.5, 2.0, size=60)
    pairs = np.outer(w, w)[np.triu_indices(60, 1)]
    for options, weights in (({}, np.ones(len(pairs))), ({"weights": w}, pairs)):
        fitted = MDS(variant="ordinal", random_state=0, **options).fit(X)
        d = pdist(fitted.embedding_)
        rising = IsotonicRegression().fit_transform(pdist(X), d, sample_weight=weights)
        kruskal = np.sqrt((weights * np.square(d - rising)).sum() / (weights * np.square(d)).sum())
        assert fitted.normalized_stress_ == pytest.approx(kruskal, rel=1e-4)
