"""An explanation finds what drives a map, says how far to believe it, and is silent where it must be."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from gnomon import TSNE
from gnomon.explanations import Explanation, explain
from gnomon.explanations.choice import FitChoice
from gnomon.explanations.explanation import _choose_fit
from gnomon.explanations.fidelity import push_fidelity
from gnomon.explanations.summary import summary_of
from gnomon.geometry import local_jacobians
from gnomon.neighbors import NeighborGraph


def neighbor_graph(X, n_neighbors=15):
    distances, indices = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    return NeighborGraph(indices.astype(np.int32), distances.astype(np.float32))


@pytest.fixture(scope="module")
def two_regions():
    """Two far regions; features 0, 1 vary in the first, 2, 3 in the second, 4 is constant, the rest is faint noise."""
    rng = np.random.default_rng(0)
    n = 250
    X = 0.02 * rng.normal(size=(2 * n, 10))
    X[:n, :2] += rng.uniform(-1, 1, (n, 2))
    X[n:, 2:4] += rng.uniform(-1, 1, (n, 2))
    X[n:, 5] += 20
    X[:, 4] = 3.5
    return X, np.repeat([0, 1], n)


@pytest.fixture(scope="module")
def tsne_map(two_regions):
    X, _ = two_regions
    return TSNE(perplexity=30, init="pca", random_state=0, max_iter=500, n_jobs=1).fit_transform(X)


def test_finds_the_features_that_drive_each_region_of_a_tsne_map(two_regions, tsne_map):
    X, region = two_regions
    found = explain(X, tsne_map, graph=neighbor_graph(X))
    top = found.top_features(2).indices
    for r, drivers in ((0, {0, 1}), (1, {2, 3})):
        right = [set(row) == drivers for row in top[region == r].tolist()]
        assert np.mean(right) > 0.95
    assert set(np.argsort(-found.global_importance)[:4]) == {0, 1, 2, 3}
    assert np.median(found.r2) > 0.8
    assert found.global_importance[4] == 0
    assert not found.importance[:, 4].any()


def test_units_of_the_features_do_not_change_what_is_found():
    rng = np.random.default_rng(0)
    latent = rng.uniform(-1, 1, size=(600, 2))
    X = np.column_stack([latent, 0.3 * rng.normal(size=(600, 12))])
    units = 10.0 ** rng.permutation(np.repeat(np.arange(7), 2))
    found, raw = (explain(X * units, latent, scale=scale, fit="forward") for scale in ("auto", None))
    plain = explain(X, latent, scale="standard", fit="forward")
    assert found.scale.name == "standard"
    assert raw.scale is None
    assert set(np.argsort(-found.global_importance)[:2]) == {0, 1}
    assert raw.global_importance[:2].min() < 0.5 * found.global_importance[:2].min()
    np.testing.assert_allclose(found.importance, plain.importance, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.axes(5) * units, plain.axes(5), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.axes_error(5, [1]) * units[1], plain.axes_error(5, [1]), rtol=1e-4)
    np.testing.assert_allclose(found.why(5).values, (X * units)[5, found.why(5).indices])
    assert "features standardised" in found.summary()


def test_a_shuffled_map_is_not_to_be_believed(two_regions, tsne_map):
    X, region = two_regions
    rng = np.random.default_rng(0)
    shuffled = tsne_map.copy()
    for r in (0, 1):
        shuffled[region == r] = rng.permutation(shuffled[region == r])
    found = explain(X, shuffled, graph=neighbor_graph(X))
    assert np.median(found.r2) < 0.5 * np.median(explain(X, tsne_map, graph=neighbor_graph(X)).r2)


def test_axes_of_pca_are_its_loadings_in_the_tangent_space():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) * [3, 2, 0.5, 0.2]
    pca = PCA(2).fit(X)
    found = explain(X, pca.transform(X), graph=neighbor_graph(X, 30), n_neighbors=30)
    errors = [np.abs(found.axes(i)[:, :2] - pca.components_[:, :2]).max() for i in range(0, 300, 3)]
    assert np.median(errors) < 0.02
    assert found.ridge == pytest.approx(1e-3)
    assert np.median(found.r2) > 0.99


def test_everything_has_the_promised_shape_and_bounds(two_regions, tsne_map):
    X, _ = two_regions
    found = explain(X, tsne_map, graph=neighbor_graph(X), feature_names=[f"f{c}" for c in "abcdefghij"])
    n = len(X)
    assert (found.n_samples, found.n_features, found.n_components, found.n_neighbors) == (n, 10, 2, 15)
    assert found.importance.shape == (n, 10)
    assert found.ellipses.shape == (n, 2, 2)
    assert found.semi_axes.shape == (n, 2)
    assert found.r2.shape == found.fit_r2.shape == found.mask.shape == (n,)
    assert found.mask.all()
    alone = explain(X, tsne_map, graph=neighbor_graph(X), pooling=0)
    assert np.all(alone.r2 <= alone.fit_r2 + 1e-6)
    assert np.all((found.r2 >= 0) & (found.r2 <= 1))
    np.testing.assert_allclose(found.semi_axes.prod(axis=1) ** 2, np.linalg.det(found.ellipses), rtol=1e-2)
    top = found.top_features(3)
    assert top.arrows.shape == (n, 3, 2)
    np.testing.assert_allclose(np.linalg.norm(top.arrows, axis=2), top.importance, rtol=1e-5)
    np.testing.assert_allclose(np.sort(found.importance, axis=1)[:, ::-1][:, :3], top.importance, rtol=1e-6)
    np.testing.assert_allclose(found.importance.mean(axis=0), found.global_importance, rtol=1e-5, atol=1e-9)
    everything = found.top_features(100)
    assert everything.indices.shape == (n, 10)
    np.testing.assert_array_equal(everything.indices[:, :3], top.indices)


def test_why_says_names_values_arrows_and_r2(two_regions, tsne_map):
    X, _ = two_regions
    Y = tsne_map.copy()
    Y[7] = np.nan
    names = [f"f{c}" for c in "abcdefghij"]
    for form in (X, sp.csr_matrix(X)):
        found = explain(form, Y, graph=neighbor_graph(X), feature_names=names)
        why = found.why(3, n_top=2)
        assert set(why.features) == {"fa", "fb"}
        np.testing.assert_array_equal(why.values, X[3, why.indices])
        assert why.r2 == pytest.approx(float(found.r2[3]))
        text = str(why)
        assert f"R2 {why.r2:.2f}" in text
        assert "fa" in text
        assert why.to_dict()["features"][0]["feature"] == why.features[0]
        silent = found.why(7)
        assert not silent.defined
        assert "nothing can be said" in str(silent)
        assert "nothing can be said about 1 points" in found.summary()
    assert found.why(-1).index == len(X) - 1
    with pytest.raises(IndexError, match="row 500 must be below n_samples=500"):
        found.why(500)


@pytest.mark.parametrize("fit", ["forward", "inverse"])
def test_pushes_are_as_long_as_the_steps_around_and_their_r2_is_the_share_of_the_steps(two_regions, tsne_map, fit):
    X, _ = two_regions
    Y = tsne_map.astype(np.float64)
    Y[7] = np.nan
    graph = neighbor_graph(X)
    found = explain(X, Y, graph=graph, fit=fit, scale="standard")
    assert np.isnan([found.push_r2[7], found.push_scale[7], found.why(7).push_r2]).all()
    points = [0, 50, int(graph.indices[7, 0])]
    product, square = np.full(len(X), np.nan), np.full(len(X), np.nan)
    for i in np.setdiff1d(np.append(points, graph.indices[points]), 7):
        near = np.setdiff1d(graph.indices[i], 7)
        steps, foretold = Y[near] - Y[i], (X[near] - X[i]) @ found.axes(i).T
        product[i], square[i] = (np.sum(steps * foretold), np.sum(foretold**2)) / np.sum(steps**2)
    for i in points:
        hood = np.append(i, graph.indices[i])
        scale = np.nansum(product[hood]) / np.nansum(square[hood])
        assert found.push_scale[i] == pytest.approx(scale, rel=1e-4)
        expected = max(2 * scale * product[i] - scale**2 * square[i], 0.0)
        assert found.push_r2[i] == pytest.approx(expected, abs=1e-5)
        assert found.why(i).push_r2 == pytest.approx(expected, abs=1e-5)
        assert f"of pushes {expected:.2f}" in str(found.why(i))
        moved = scale * (found.axes(i) @ (X[0] - X[i]))
        np.testing.assert_allclose(found.foretell(i, X[:2])[0], moved, rtol=1e-4, atol=1e-6)
    alone = explain(X, Y, graph=graph, fit=fit, scale="standard").foretell(50, X[0])
    np.testing.assert_allclose(alone, found.foretell(50, X[0]), rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match=r"foretell: X_new of shape \(3,\) must be rows of n_features=10"):
        found.foretell(0, np.zeros(3))


def test_pushes_are_foretold_in_a_linear_map_and_not_in_a_random_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    A = rng.normal(size=(6, 2))
    graph = neighbor_graph(X)
    linear = explain(X, X @ A, graph=graph)
    np.testing.assert_allclose(linear.push_r2, 1.0, atol=1e-3)
    np.testing.assert_allclose(linear.foretell(3, X[3] + np.eye(6)), A, atol=0.02 * np.abs(A).max())
    assert np.median(explain(X, rng.normal(size=(300, 2)), graph=graph, fit="forward").push_r2) < 0.2


def test_a_low_r2_is_said():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(200, 30)), rng.normal(size=(200, 2))
    found = explain(X, Y, graph=neighbor_graph(X))
    assert found.ridge == 10.0  # nothing is predictable: the strongest damping is the best
    point = int(np.argmin(found.r2))
    assert "read the arrows with care" in str(found.why(point))


def test_same_bits_for_any_number_of_threads(two_regions, tsne_map):
    X, _ = two_regions
    graph = neighbor_graph(X)
    one = explain(X, tsne_map, graph=graph, n_jobs=1)
    for n_jobs in (2, 3, 5):
        many = explain(X, tsne_map, graph=graph, n_jobs=n_jobs)
        assert one.ridge == many.ridge
        assert one.importance.tobytes() == many.importance.tobytes()
        assert one.r2.tobytes() == many.r2.tobytes()


def test_uses_the_first_neighbors_of_a_longer_graph(two_regions, tsne_map):
    X, _ = two_regions
    short = explain(X, tsne_map, graph=neighbor_graph(X, 10), n_neighbors=10)
    cut = explain(X, tsne_map, graph=neighbor_graph(X, 40), n_neighbors=10)
    assert short.importance.tobytes() == cut.importance.tobytes()


def test_inputs_stay_as_they_are(two_regions, tsne_map):
    X, _ = two_regions
    before, places = X.tobytes(), tsne_map.tobytes()
    explain(X, tsne_map, graph=neighbor_graph(X)).importance  # noqa: B018
    assert X.tobytes() == before
    assert tsne_map.tobytes() == places


def test_names_come_from_a_data_frame(two_regions, tsne_map):
    pandas = pytest.importorskip("pandas")
    X, _ = two_regions
    frame = pandas.DataFrame(X, columns=[f"c{f}" for f in range(10)])
    assert explain(frame, tsne_map, graph=neighbor_graph(X)).feature_names[3] == "c3"


def test_wrong_arguments_are_refused(two_regions, tsne_map):
    X, _ = two_regions
    graph = neighbor_graph(X)
    with pytest.raises(ValueError, match="X with 500 rows and Y with 499 must be of the same length"):
        explain(X, tsne_map[:-1], graph=graph)
    with pytest.raises(ValueError, match="X with 499 rows and a graph with 500"):
        explain(X[:-1], tsne_map[:-1], graph=graph)
    with pytest.raises(
        ValueError, match=r"feature_names of length 2 must be one name for each feature \(10 features\)"
    ):
        explain(X, tsne_map, graph=graph, feature_names=["a", "b"])
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"1 values are NaN or infinite, the first in row 3, column 1"):
        explain(bad, tsne_map, graph=graph)
    with pytest.raises(TypeError, match="of real numbers"):
        explain(X.astype(str), tsne_map, graph=graph)
    with pytest.raises(ValueError, match="all 500 rows hold NaN or infinity"):
        explain(X, np.full((500, 2), np.nan), graph=graph)


@pytest.mark.parametrize("pooling", [0, 3])
def test_the_ridge_follows_how_well_neighbours_are_predicted(pooling):
    rng = np.random.default_rng(0)
    t = rng.uniform(-1, 1, (150, 2))
    X = t @ rng.normal(size=(2, 12)) + 0.3 * rng.normal(size=(150, 12))
    found = explain(X, t, pooling=pooling, n_jobs=1)
    ridges, left = (1e-3, 1e-2, 1e-1, 1.0, 10.0), []
    for ridge in ridges:
        fits = local_jacobians(X, t, found.graph, ridge=ridge, variance_share=1.0)
        left.append(1 - np.median(fits.stretched_r2() if pooling else fits.predicted_r2))
    if pooling:  # the strongest that leaves at most a third more unexplained than the best
        assert found.ridge == max(r for r, rest in zip(ridges, left, strict=True) if rest <= 4 / 3 * min(left))
        assert ridges[int(np.argmin(left))] < found.ridge
    else:
        assert found.ridge == ridges[int(np.argmin(left))]


def test_the_summary_lists_so_many_features_with_their_shares():
    X = np.random.default_rng(0).normal(size=(200, 12))
    found = explain(X, X[:, [3, 8]] * [2.0, 1.0], n_jobs=1)
    order = np.argsort(-found.global_importance)
    for n_top in (1, 3, 12):
        lines = found.summary(n_top).splitlines()[2:]
        assert [line.split()[1] for line in lines] == [str(f) for f in order[:n_top]]
        shares = found.global_importance[order[:n_top]] / found.global_importance.sum()
        assert [line.split()[-1] for line in lines] == [f"{share:.1%}" for share in shares]
    assert len(found.summary().splitlines()) == 12
    assert found.summary(1).startswith("200 points, 12 features, place fitted by features")
    assert ", below 0.3 at 0% of the points\n" in found.summary(1)


def test_rows_count_from_either_end():
    X = np.random.default_rng(0).normal(size=(30, 4))
    found = explain(X, X[:, :2], n_jobs=1)
    np.testing.assert_array_equal(found.axes(-30), found.axes(0))
    np.testing.assert_array_equal(found.axes(-1), found.axes(29))
    for row in (30, -31):
        with pytest.raises(IndexError, match=f"row {row} must be below n_samples=30"):
            found.axes(row)


@pytest.mark.parametrize("n_components", [1, 2, 3, 5])
def test_arrows_are_significant_beyond_the_95_percent_of_chance(n_components):
    from scipy.stats import chi2

    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 40))
    found = explain(X, X[:, :n_components] + rng.normal(size=(150, n_components)), n_neighbors=20, n_jobs=1)
    shares = []
    for i in range(0, 150, 20):
        answer = found.why(i, 40)
        squares = np.sum((answer.arrows / answer.arrow_errors) ** 2, axis=1)
        np.testing.assert_array_equal(answer.significant, squares > chi2.ppf(0.95, n_components))
        shares.append(answer.significant.mean())
    assert 0.0 < np.mean(shares) < 1.0


def test_semi_axes_are_the_roots_of_what_ellipses_have_along_their_own_axes():
    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = X[:, :2] * [3.0, 0.01]
    Y[4] = np.nan
    found = explain(X, Y, n_jobs=1)
    assert np.isnan(found.semi_axes[4]).all()
    known = np.flatnonzero(found._jacobians.mask)
    values = np.linalg.eigvalsh(found.ellipses[known])
    np.testing.assert_allclose(np.sort(found.semi_axes[known], axis=1), np.sqrt(values), rtol=1e-4, atol=1e-9)
    assert np.median(found.semi_axes[known].min(axis=1)) < 0.1


def test_a_questions_neighbours_and_rounds_have_least_values():
    X = np.random.default_rng(0).normal(size=(30, 4))
    for options in ({"n_neighbors": 2}, {"pooling": 0}):
        assert explain(X, X[:, :2], n_jobs=1, **options).mask.any()
    for options in ({"n_neighbors": 1}, {"pooling": -1}):
        with pytest.raises(ValueError, match="must be an integer >="):
            explain(X, X[:, :2], **options)


def test_eight_features_are_listed_of_each_row_unless_more_are_asked_for():
    X = np.random.default_rng(0).normal(size=(60, 12))
    found = explain(X, X[:, :2] + 0.5 * X[:, 5:7], n_jobs=1)
    order = np.argsort(-found.importance, axis=1, kind="stable")
    for n_top, n_listed in ((None, 8), (1, 1), (8, 8), (9, 9), (12, 12), (40, 12)):
        top = found.top_features() if n_top is None else found.top_features(n_top)
        assert top.indices.shape == (60, n_listed)
        assert top.arrows.shape == (60, n_listed, 2)
        expected = np.take_along_axis(found.importance, order[:, :n_listed], axis=1)
        np.testing.assert_allclose(top.importance, expected, rtol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(top.arrows, axis=2), top.importance, rtol=1e-5)
    with pytest.raises(ValueError, match="n_top=0 must be an integer >= 1"):
        found.top_features(0)


def test_fifteen_neighbours_are_found_and_fewer_of_few_rows():
    X = np.random.default_rng(0).normal(size=(40, 3))
    assert explain(X, X[:, :2], n_jobs=1).graph.n_neighbors == 15
    assert explain(X[:9], X[:9, :2], n_jobs=1).graph.n_neighbors == 8
    assert explain(X[:3], X[:3, :2], n_jobs=1).graph.n_neighbors == 2
    with pytest.raises(ValueError, match="X with 2 rows must be of at least 3 rows"):
        explain(X[:2], X[:2, :2])


def test_an_inverse_explanation_tells_of_its_own_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 4))
    found = explain(X, X[:, :2] + 0.1 * rng.normal(size=(70, 2)), fit="inverse", n_jobs=1)
    fits = found._inverse
    np.testing.assert_array_equal(found.r2, np.clip(fits.predicted_r2, 0, 1))
    np.testing.assert_array_equal(found.r2_error, fits.r2_error)
    np.testing.assert_array_equal(found.fit_r2, fits.r2)
    assert (found.calibration, found.n_neighbors, found.pooling) == (fits.calibration, 50, 0)
    assert found.calibration != found.jacobians.calibration
    assert repr(found) == f"Explanation(n_samples=70, n_features=4, ridge={found.ridge:g})"
    text = found._repr_html_()
    assert text.startswith("<pre")
    assert "70 points, 4 features, features fitted by place over 50 neighbours in the map" in text
    for wrong in (np.zeros((1, 1, 4)), np.zeros((2, 3)), 0.0):
        with pytest.raises(ValueError, match="must be rows of n_features=4"):
            found.foretell(0, wrong)
    assert found.foretell(0, np.zeros((0, 4))).shape == (0, 2)


@pytest.mark.parametrize(
    ("direction", "pooling", "scores", "text"),
    [
        ("forward", 0, {}, "place fitted by features over 9 neighbours in the data"),
        ("forward", 2, {}, "place fitted by features over 9 neighbours in the data, averaged 2 times"),
        (
            "forward",
            0,
            {"forward": 0.5, "inverse 9": 0.125, "inverse 50": 0.25},
            "place fitted by features over 9 neighbours in the data (held-out R2 0.50, inverse 50 0.25)",
        ),
        (
            "inverse",
            0,
            {"forward": 0.0625, "inverse 9": 0.125, "inverse 50": 0.25},
            "features fitted by place over 9 neighbours in the map (held-out R2 0.12, forward 0.06)",
        ),
    ],
)
def test_the_fit_is_described_with_the_scores_that_chose_it(direction, pooling, scores, text):
    place = {"forward": "data", "inverse": "map"}[direction]
    told = SimpleNamespace(
        direction=direction, n_neighbors=9, neighborhood=place, pooling=pooling, scores=scores, n_repeats=0
    )
    assert Explanation.describe_fit(told) == text


def test_fits_are_compared_where_the_forward_ones_predict_less_than_half(monkeypatch):
    graph, compared = SimpleNamespace(n_neighbors=6), FitChoice("inverse", 50, {"forward": 0.1})
    jacobians = SimpleNamespace(places=None, ridge=0.1, pooling=3)
    asked = []

    def choose(X, places, graph, **options):
        asked.append(options)
        return compared

    monkeypatch.setattr("gnomon.explanations.explanation.choose_fit", choose)
    for median, fit, is_compared in (
        (0.49, "auto", True),
        (0.5, "auto", False),
        (np.nan, "auto", False),
        (0.49, "forward", False),
        (0.9, "inverse", True),
    ):
        monkeypatch.setattr("gnomon.explanations.explanation.median_r2", lambda fits, median=median: median)
        found = _choose_fit(None, jacobians, graph, fit, None)
        assert found == (compared if is_compared else FitChoice("forward", 6, {}))
    assert asked == [{"ridge": 0.1, "pooling": 3, "inverse": inverse, "among": None} for inverse in (False, True)]


def test_whole_numbers_tables_in_columns_and_given_scalings_are_explained_as_they_are():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 50, (60, 4))
    Y = X[:, :2] / 10.0
    plain = explain(X.astype(np.float32), Y, n_jobs=1)
    for form in (X, np.asfortranarray(X.astype(np.float64)), sp.csr_array(X)):
        np.testing.assert_allclose(explain(form, Y, n_jobs=1).importance, plain.importance, rtol=1e-5)
    scaled = explain(X, Y, scale="standard", n_jobs=1)
    again = explain(X, Y, scale=scaled.scale, n_jobs=1)
    assert again.scale is scaled.scale
    np.testing.assert_array_equal(again.importance, scaled.importance)
    assert scaled.scale.name == "standard"
    assert plain.scale is None


def summary_told(importance, r2, scale=None):
    importance, r2 = np.array(importance), np.array(r2)
    names = [f"f{j}" for j in range(len(importance))]
    return summary_of(
        SimpleNamespace(
            global_importance=importance,
            feature_names=names,
            n_samples=len(r2),
            n_features=len(names),
            r2=r2,
            mask=np.isfinite(r2),
            scale=scale,
            describe_fit=lambda: "fitted",
        ),
        2,
    )


def test_a_summary_says_what_is_known_of_the_points_above_the_largest_features():
    assert summary_told([1.0, 3.0, 4.0], [0.2, 0.3, 0.75, np.nan], "standard").splitlines() == [
        "4 points, 3 features, fitted; median R2 0.30, below 0.3 at 33% of the points; features standardised; "
        "nothing can be said about 1 points",
        "feature  mean importance  share",
        "f2                     4  50.0%",
        "f1                     3  37.5%",
    ]
    assert summary_told([0.0, 0.0], [np.nan]).splitlines() == [
        "1 points, 2 features, fitted; nothing can be said about 1 points",
        "feature  mean importance  share",
        "f0                     0   0.0%",
        "f1                     0   0.0%",
    ]


def test_pushes_count_each_point_alike_and_points_among_copies_of_their_place_say_nothing():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 3)), rng.normal(size=(60, 2))
    X[:20] = 30.0 + 0.1 * X[:20]  # these know each other alone, and lie at one place of the map
    Y[:20] = 1.0
    found = explain(X, Y, n_neighbors=6, pooling=0, fit="forward", n_jobs=1)
    np.testing.assert_array_equal(found.push_scale[:20], 1.0)
    np.testing.assert_array_equal(found.push_r2[:20], 0.0)
    near = found.graph.indices
    steps = Y[near] - Y[:, None]
    foretold = np.stack([(X[near[i]] - X[i]) @ found.axes(i).T for i in range(60)])
    with np.errstate(invalid="ignore", divide="ignore"):
        whole = np.sum(steps**2, axis=(1, 2))
        product, square = np.sum(steps * foretold, axis=(1, 2)) / whole, np.sum(foretold**2, axis=(1, 2)) / whole
    for i in range(20, 60):
        hood = np.append(i, near[i])
        scale = max(product[hood].sum() / square[hood].sum(), 0.0)
        assert found.push_scale[i] == pytest.approx(scale, rel=1e-3, abs=1e-6)
        expected = np.clip(scale * (2 * product[i] - scale * square[i]), 0.0, 1.0)
        assert found.push_r2[i] == pytest.approx(expected, abs=1e-4)
        if i % 10 == 0:
            np.testing.assert_allclose(push_fidelity(found, i)[0], found.push_scale[i], rtol=1e-3, atol=1e-6)
    assert {0.0} < set(found.push_r2[20:].tolist())


def test_distances_have_no_features_to_explain():
    D = np.abs(np.subtract.outer(np.arange(20.0), np.arange(20.0)))
    with pytest.raises(ValueError, match=r"explain: metric='precomputed' must be .*features\. Pass the features"):
        explain(D, D[:, :2], metric="precomputed")
