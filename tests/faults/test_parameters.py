"""The catalogue of faults in parameters and metrics (group E)."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import VALID_METRICS, VALID_METRICS_SPARSE
from tests.faults.test_fits import ESTIMATORS, NOISE

import gnomon
from gnomon.exceptions import CostWarning, GnomonWarning

SEEDED = [name for name, one in ESTIMATORS.items() if "random_state" in one.get_params()]
OF_METRICS = ["umap", "tsne", "isomap", "mds", "lle", "sketch_map"]
LISTED = [name for name in sorted(VALID_METRICS["brute"]) if name != "precomputed"]
LISTED_SPARSE = [name for name in sorted(VALID_METRICS_SPARSE["brute"]) if name != "precomputed"]
PARAMETERS = {"seuclidean": {"V": np.ones(5)}, "mahalanobis": {"VI": np.eye(5)}}


def city_blocks(a, b, scale=1.0):
    return scale * float(np.abs(a - b).sum())


@pytest.mark.parametrize("name", OF_METRICS)
def test_f68_a_function_of_two_rows_is_a_metric(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        mine = clone(ESTIMATORS[name]).set_params(metric=city_blocks, random_state=0).fit_transform(NOISE[:25])
        named = clone(ESTIMATORS[name]).set_params(metric="manhattan", random_state=0).fit_transform(NOISE[:25])
    np.testing.assert_allclose(mine, named, atol=1e-3 * np.abs(named).max())


@pytest.mark.parametrize("name", ["umap", "tsne", "isomap", "lle"])
def test_f68_a_python_function_called_for_many_pairs_is_said_to_take_long(name, monkeypatch):
    few = clone(ESTIMATORS[name]).set_params(metric=city_blocks)
    few.fit(NOISE[:20])  # with warnings as errors
    monkeypatch.setattr("gnomon.neighbors.callables._MANY_CALLS", 400)
    with pytest.warns(CostWarning, match="metric='city_blocks' is a function of Python, called some 400 times") as told:
        clone(ESTIMATORS[name]).set_params(metric=city_blocks).fit(NOISE[:20])
    assert sum(issubclass(one.category, CostWarning) for one in told) == 1


@pytest.mark.parametrize("name", ["umap", "isomap", "mds", "landmark_mds"])
@pytest.mark.parametrize(
    ("metric", "text"),
    [
        pytest.param(lambda a, b: city_blocks(a, b) + 1.0, "0 between a row and itself", id="f68-own"),
        pytest.param(lambda a, b: float(np.maximum(a - b, 0).sum()), "the same in both directions", id="f68-directed"),
        pytest.param(lambda a, b: float((a - b).sum()), "a number >= 0 for all rows", id="f68-negative"),
    ],
)
def test_a_function_that_is_no_distance_is_refused(name, metric, text):
    with pytest.raises(ValueError, match=f"metric='<lambda>' must be {text}"):
        clone(ESTIMATORS[name]).set_params(metric=metric).fit(NOISE)


@pytest.mark.parametrize(
    "name", [name for name in ESTIMATORS if name != "two_kernel_pca" and "metric_params" in vars(ESTIMATORS[name])]
)
def test_f69_arguments_of_a_metric_are_kept_for_new_rows(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        model = clone(ESTIMATORS[name]).set_params(metric=city_blocks, metric_params={"scale": 3.0}).fit(NOISE[:25])
    np.testing.assert_allclose(model.transform(NOISE[:3]), model.embedding_[:3], atol=1e-5)
    assert model.get_params()["metric_params"] == {"scale": 3.0}


@pytest.mark.parametrize("metric", LISTED, ids="f70-{}".format)
def test_every_metric_that_is_listed_works(metric):
    X = np.abs(NOISE)
    if metric == "haversine":
        X = 0.3 * X[:, :2]
    elif metric in gnomon.neighbors.library._BOOLEAN_METRICS:
        X = X > 0.5
        X = X[X.any(axis=1) & ~X.all(axis=1)]  # Yule's, for one, is not defined for a row of one value
    params = PARAMETERS.get(metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        Y = clone(ESTIMATORS["umap"]).set_params(metric=metric, metric_params=params).fit_transform(X)
    assert np.isfinite(Y).all()


@pytest.mark.parametrize("metric", LISTED_SPARSE, ids="f53-f70-{}".format)
def test_every_metric_that_is_listed_for_sparse_rows_works_with_threads(metric):
    if metric in ("haversine", "nan_euclidean"):
        pytest.skip("scikit-learn lists these and computes them for dense rows only")
    X = sparse.csr_array(np.abs(NOISE) + 0.01)
    Y = clone(ESTIMATORS["umap"]).set_params(metric=metric, n_jobs=2).fit_transform(X)
    assert np.isfinite(Y).all()


def test_f53_a_metric_without_a_sparse_form_is_refused_with_those_that_have_one():
    with pytest.raises(ValueError, match=r"metric='canberra' must be .*'precomputed', .* \(for sparse rows\)"):
        gnomon.UMAP(metric="canberra").fit(sparse.csr_array(NOISE))


@pytest.mark.parametrize("name", [name for name, one in ESTIMATORS.items() if hasattr(one, "n_neighbors")])
def test_f71_whole_numbers_of_any_type_are_taken_and_text_is_not(name):
    given = ESTIMATORS[name].n_neighbors or 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        maps = [
            clone(ESTIMATORS[name]).set_params(n_neighbors=kind(given)).fit_transform(NOISE[:30])
            for kind in (int, float, np.int32, np.float64)
        ]
    for one in maps[1:]:
        np.testing.assert_array_equal(one, maps[0])
    with pytest.raises(TypeError, match=r"n_neighbors='5' must be an integer .*\(found str\)"):
        clone(ESTIMATORS[name]).set_params(n_neighbors="5").fit(NOISE)
    with pytest.raises(ValueError, match=r"n_neighbors=4\.5 must be an integer"):
        clone(ESTIMATORS[name]).set_params(n_neighbors=4.5).fit(NOISE)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_f71_every_whole_number_may_come_as_another_type(name):
    numbers = {
        key: value
        for key, value in ESTIMATORS[name].get_params().items()
        if type(value) is int and key not in ("random_state", "n_jobs")
    }
    assert "n_components" in numbers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        expected = clone(ESTIMATORS[name]).fit_transform(NOISE[:30])
        for kind in (float, np.int16, np.float64):
            given = {key: kind(value) for key, value in numbers.items()}
            found = clone(ESTIMATORS[name]).set_params(**given).fit_transform(NOISE[:30])
            np.testing.assert_array_equal(found, expected)
    for key in numbers:
        with pytest.raises(TypeError, match=rf"{key}='2' must be .*\(found str\)|{key}='2' must be "):
            clone(ESTIMATORS[name]).set_params(**{key: "2"}).fit(NOISE[:30])


@pytest.mark.parametrize("name", SEEDED)
def test_f72_f73_the_seed_that_was_drawn_is_kept_and_gives_the_map_again(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        drawn = clone(ESTIMATORS[name]).set_params(random_state=None).fit(NOISE[:30])
        again = clone(ESTIMATORS[name]).set_params(random_state=drawn.seed_).fit(NOISE[:30])
    np.testing.assert_array_equal(again.embedding_, drawn.embedding_)


@pytest.mark.parametrize("name", ["umap", "isomap", "mds"])
@pytest.mark.parametrize(
    ("X", "text"),
    [
        pytest.param(NOISE[:, :3], r"used with two columns \(found 3\)\. Pass latitude", id="f74-columns"),
        pytest.param(40 * NOISE[:, :2], r"used with latitudes from -pi/2 .*radians\(degrees\)", id="f74-degrees"),
    ],
)
def test_what_is_no_pair_of_angles_is_refused(name, X, text):
    with pytest.raises(ValueError, match=f"metric='haversine' must be {text}"):
        clone(ESTIMATORS[name]).set_params(metric="haversine").fit(X)


def test_f74_a_right_angle_in_single_precision_is_an_angle():
    poles = np.array([[np.pi / 2, 0.0], [-np.pi / 2, np.pi], [0.0, -np.pi], [0.1, 0.2]], dtype=np.float32)
    graph = gnomon.neighbors.compute_neighbors(poles, 3, metric="haversine")
    assert graph.distances.max() == pytest.approx(np.pi, rel=1e-5)
