"""Collinear features are explained as one feature each: what they do together, not what a fit shares out."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris

import gnomon
from gnomon.explanations import (
    cluster_captions,
    cluster_profiles,
    explain,
    group_features,
    importance_by_label,
    mean_importance,
)
from gnomon.explanations.collinear import (
    _deviations,
    _find,
    _Group,
    _looked_at,
    _paired,
    _paired_where_stored,
    _replaced,
    _score,
    _scores,
    _where_stored,
)
from gnomon.explanations.contrast import contrast
from gnomon.explanations.why import why
from gnomon.neighbors import NeighborGraph, compute_neighbors


@pytest.fixture(scope="module")
def drivers():
    """Two drivers, six features of noise, and a map that bends the drivers."""
    rng = np.random.default_rng(0)
    T = rng.uniform(0, 1, (600, 2))
    return T, 0.05 * rng.normal(size=(600, 6)), T + 0.2 * np.sin(3 * T[:, ::-1])


@pytest.fixture(scope="module")
def truth(drivers):
    T, noise, Y = drivers
    found = mean_importance(explain(np.column_stack([T, noise]), Y, n_jobs=1))
    return dict(zip(found.features, found.effect, strict=True))


@pytest.fixture(scope="module")
def copies(drivers):
    T, noise, Y = drivers
    X = np.column_stack([np.repeat(T[:, :1], 16, axis=1), T[:, 1:], noise])
    return explain(X, Y, n_jobs=1)


def test_sixteen_copies_matter_as_much_as_the_one_driver(copies, truth):
    found = mean_importance(copies, groups="auto")
    effects = dict(zip(found.features, found.effect, strict=True))
    assert effects["feature 0 + 15 alike"] == pytest.approx(truth["feature 0"], rel=0.1)
    assert effects["feature 16"] == pytest.approx(truth["feature 1"], rel=0.1)
    members = found.groups["feature 0 + 15 alike"]
    assert list(members) == [f"feature {f}" for f in range(16)]
    np.testing.assert_allclose(list(members.values()), 1 / 16, rtol=1e-6)
    shared = mean_importance(copies)
    assert shared.groups is None
    assert shared.effect[shared.indices < 16].sum() < 0.7 * truth["feature 0"]
    assert found.indices[found.features.index("feature 16")] == 16


@pytest.mark.parametrize("seed", range(3))
def test_linear_mixtures_matter_as_much_as_one_feature_of_their_mean_variance(drivers, seed):
    T, noise, Y = drivers
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2, 8) * rng.choice([-1, 1], 8)
    X = np.column_stack([T[:, :1] * weights + 0.002 * rng.normal(size=(600, 8)), T[:, 1:], noise])
    groups = group_features(explain(X, Y, n_jobs=1))
    assert [part.tolist() for part in groups.members if len(part) > 1] == [list(range(8))]
    effect = groups.explanation.global_importance[[len(part) > 1 for part in groups.members]]
    alone = np.column_stack([np.sqrt(np.mean(weights**2)) * T[:, :1], T[:, 1:], noise])
    assert effect == pytest.approx(explain(alone, Y, n_jobs=1).global_importance[0], rel=0.1)
    (shares,) = (share for share in groups.shares if len(share) > 1)
    assert shares.sum() == pytest.approx(1)
    assert (shares > 0.1).all()


def test_the_answer_for_a_point_lists_the_members(copies):
    found = why(copies, 3, 2, groups=group_features(copies))
    assert set(found.features) == {"feature 0 + 15 alike", "feature 16"}
    assert set(found.indices.tolist()) == {0, 16}
    assert "feature 0 + 15 alike: feature 0 6%, feature 1 6%" in str(found)
    assert "and 6 more" in str(found)
    document = json.loads(json.dumps(found.to_dict()))
    assert len(document["groups"]["feature 0 + 15 alike"]) == 16
    assert list(found.head(1).groups) == [name for name in found.features[:1] if name in found.groups]
    plain = why(copies, 3, 2)
    assert plain.groups is None
    assert "groups" not in plain.to_dict()


def test_without_collinear_features_nothing_changes(drivers):
    T, noise, Y = drivers
    explanation = explain(np.column_stack([T, noise]), Y, n_jobs=1)
    groups = group_features(explanation)
    assert groups.explanation is explanation
    assert not groups.groups
    plain, grouped = mean_importance(explanation), mean_importance(explanation, groups="auto")
    assert grouped.effect.tobytes() == plain.effect.tobytes()
    assert grouped.features == plain.features


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_features_that_only_differ_between_clusters_alike_are_not_collinear(load):
    X, labels = load(return_X_y=True)
    found = gnomon.map(X, "pca", labels=labels, n_jobs=1)
    assert not group_features(found.explain()).groups
    assert not found.importance(groups="auto").groups


def test_no_chain_of_pairs_joins_what_is_not_correlated():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    X = np.stack([np.cos(t) * a + np.sin(t) * b for t in np.linspace(0, np.pi / 2, 19)], axis=1)
    members = group_features(explain(X, np.stack([a, b], axis=1), n_jobs=1)).members
    assert max(len(part) for part in members) >= 2
    assert max(part.max() - part.min() for part in members) <= 7  # 35 degrees, of 90 that the chain spans


@pytest.mark.parametrize("form", [np.float32, sp.csr_array])
def test_forms_of_data_and_threads(drivers, form):
    T, noise, Y = drivers
    X = np.column_stack([T[:, :1], 3 * T[:, :1], T[:, 1:], noise])
    X = sp.csr_array(X) if form is sp.csr_array else X.astype(form)
    one, three = (group_features(explain(X, Y, n_jobs=n)) for n in (1, 3))
    assert [part.tolist() for part in one.members if len(part) > 1] == [[0, 1]]
    assert one.explanation.global_importance.tobytes() == three.explanation.global_importance.tobytes()
    assert type(one.explanation._X) is type(X)
    assert one.explanation._X.dtype == X.dtype


def test_by_label_and_wrong_groups(copies):
    labels = np.arange(copies.n_samples) % 2
    found = importance_by_label(copies, labels, groups="auto")
    assert all("feature 0 + 15 alike" in one.features for one in found.values())
    with pytest.raises(ValueError, match="groups='all' must be None, \"auto\""):
        mean_importance(copies, groups="all")
    with pytest.raises(TypeError, match="groups='auto' must be None or what group_features returns"):
        why(copies, 0, groups="auto")
    with pytest.raises(ValueError, match="threshold=0"):
        group_features(copies, threshold=0)


def test_groups_are_found_and_explained_in_the_units_of_a_scaled_explanation(drivers):
    T, noise, Y = drivers
    X = np.column_stack([T[:, :1] @ np.array([[1.0, 2.0, -3.0]]), T[:, 1:], 1e4 * noise])
    whitened = (X - X.mean(axis=0)) / X.std(axis=0)
    scaled, plain = explain(X, Y, scale="standard", n_jobs=1), explain(whitened, Y, n_jobs=1)
    one, other = (group_features(explanation) for explanation in (scaled, plain))
    assert list(one.groups) == list(other.groups) == ["feature 0 + 2 alike"]
    np.testing.assert_allclose(one.explanation.global_importance, other.explanation.global_importance, rtol=1e-4)
    np.testing.assert_allclose(one.explanation._X[:, 1:], X[:, 3:])
    (at,) = (f for f, part in enumerate(one.members) if len(part) > 1)
    scores = X[:, one.members[at]] @ one.weights[at]
    assert np.corrcoef(scores, one.explanation._X[:, at])[0, 1] == pytest.approx(1.0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_copies_set_a_selection_apart_as_the_one_driver_does(drivers, form):
    T, noise, Y = drivers
    X = np.column_stack([T[:, :1], -2.0 * T[:, :1], 5.0 * T[:, :1], T[:, 1:], noise])
    groups = group_features(explain(form(X), Y, n_jobs=1))
    inside = T[:, 0] + 0.1 * T[:, 1] > 0.6
    alone = contrast(form(X), inside)
    found = contrast(form(X), inside, groups=groups)
    assert len(found) == len(alone) - 2
    assert found.features[0] == "feature 0 + 2 alike"
    assert list(found.groups) == found.features[:1]
    for column in ("effect", "error", "auc", "auc_error", "mean_selected", "mean_rest"):
        driver = getattr(alone, column)[list(alone.indices).index(0)]
        assert getattr(found, column)[0] == pytest.approx(driver, rel=1e-5), column
    profile = cluster_profiles(form(X), inside, groups=groups)[True]
    assert profile.effect[0] == pytest.approx(found.effect[0])
    assert profile.to_dict()["groups"] == found.groups
    with pytest.raises(ValueError, match=r"X of shape \(300, 10\) must be those of the 600 rows"):
        contrast(form(X[:300]), inside[:300], groups=groups)
    with pytest.raises(TypeError, match="groups='auto' must be None or what group_features returns"):
        contrast(form(X), inside, groups="auto")


def test_captions_name_a_group_once(drivers):
    T, noise, Y = drivers
    X = np.column_stack([T[:, [0, 0]], T[:, 1:], noise])
    groups = group_features(explain(X, Y, n_jobs=1))
    labels = np.where(T[:, 0] > 0.5, "right", "left")
    found = cluster_captions(X, labels, groups=groups)
    assert found["right"].text == "high feature 0 + 1 alike"
    assert list(found["left"].groups) == ["feature 0 + 1 alike"]
    assert found["left"].indices.tolist() == [0]
    with pytest.raises(ValueError, match="groups of features with image_shape must be left out"):
        cluster_captions(X, labels, groups=groups, image_shape=(3, 3))


def test_without_groups_answers_are_those_of_the_features(drivers):
    T, noise, Y = drivers
    X = np.column_stack([T, noise])
    groups = group_features(explain(X, Y, n_jobs=1))
    assert groups.groups == {}
    assert str(contrast(X, T[:, 0] > 0.5, groups=groups)) == str(contrast(X, T[:, 0] > 0.5))


def test_a_group_is_compared_by_its_score(drivers):
    T, noise, Y = drivers
    rng = np.random.default_rng(0)
    X = np.column_stack([T[:, :1] * [1.0, -2.0, 0.5, 1.5] + 0.003 * rng.normal(size=(600, 4)), T[:, 1:], noise])
    groups = group_features(explain(X, Y, n_jobs=1))
    (at,) = (f for f, part in enumerate(groups.members) if len(part) > 1)
    score = X[:, groups.members[at]] @ groups.weights[at]
    inside = T[:, 0] > 0.5
    found, of_score = contrast(X, inside, groups=groups), contrast(score[:, None], inside)
    assert found.effect[0] == pytest.approx(of_score.effect[0], rel=1e-5)
    assert found.auc[0] == pytest.approx(of_score.auc[0], rel=1e-9)
    leader = contrast(X[:, [groups.representatives[at]]], inside)
    assert abs(found.effect[0]) > abs(leader.effect[0])  # the noise of several readings averages out


def grouped(standard, threshold):
    return [group.columns.tolist() for group in _find(standard.copy(), threshold)]


def test_groups_are_the_same_however_many_columns_are_looked_at_together(monkeypatch):
    rng = np.random.default_rng(0)
    sources = rng.normal(size=(200, 3))
    X = np.column_stack([sources[:, [0, 1, 0, 2, 1, 0]] + 0.01 * rng.normal(size=(200, 6)), rng.normal(size=(200, 3))])
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    for together in (512, 4, 1):
        monkeypatch.setattr("gnomon.explanations.collinear._TOGETHER", together)
        assert grouped(standard, 0.9) == [[0, 2, 5], [1, 4]]
    standard[:, 5] = 0.0  # does not vary
    assert grouped(standard, 0.9) == [[0, 2], [1, 4]]


def test_a_feature_that_is_close_to_one_member_alone_is_in_no_group():
    rng = np.random.default_rng(0)
    a, b = np.linalg.qr(rng.normal(size=(400, 2)))[0].T * 20.0
    angles = np.radians([0.0, 10.0, 60.0, 80.0, 90.0, 33.0])
    X = np.cos(angles) * a[:, None] + np.sin(angles) * b[:, None]
    least = np.cos(np.radians(24.0))
    assert grouped(X, least) == [[0, 1], [3, 4]]  # 2 is near 3 but not near 4, 5 is near 1 but not near 0
    assert grouped(X[:, [0, 2]], least) == []
    assert grouped(X[:, :2], np.cos(np.radians(10.0)) - 1e-9) == [[0, 1]]
    assert grouped(X[:, :2], np.cos(np.radians(10.0)) + 1e-9) == []


def test_a_score_is_the_leading_component_with_the_mean_variance_of_its_members():
    rng = np.random.default_rng(1)
    a, b = np.linalg.qr(rng.normal(size=(50, 2)))[0].T * np.sqrt(50)
    r = 0.9
    deviations = np.column_stack([2.0 * a, -5.0 * (r * a + np.sqrt(1 - r**2) * b)])
    weights, shares, place = _score(np.array([[1.0, -r], [-r, 1.0]]), np.array([2.0, 5.0]), np.array([7, 9]))
    np.testing.assert_allclose(shares, [0.5, 0.5])
    assert place == 7  # equally correlated: the first
    score = deviations @ weights
    assert np.mean(score**2) == pytest.approx((4.0 + 25.0) / 2)
    np.testing.assert_allclose(weights * [2.0, -5.0], (weights[0] * 2.0) * np.ones(2))
    assert weights[0] > 0
    three = np.column_stack([deviations, a + 0.1 * b])
    scale = np.sqrt(np.mean(three**2, axis=0))
    nearly = 0.5 + np.array([[0.5, 0.0, 0.0], [0.0, 0.5, 1e-7], [0.0, 1e-7, 0.5]])
    assert _score(nearly, np.ones(3), np.array([3, 4, 8]))[2] == 3  # of equal ones, but for rounding, the first
    weights, shares, place = _score((three / scale).T @ (three / scale) / 50, scale, np.array([3, 4, 8]))
    values, vectors = np.linalg.eigh((three / scale).T @ (three / scale) / 50)
    np.testing.assert_allclose(shares, vectors[:, -1] ** 2, rtol=1e-9)  # of standardised members: squared loadings
    loadings = vectors[:, -1] * np.sqrt(values[-1])
    assert place == [3, 4, 8][int(np.argmax(np.abs(loadings)))]


def test_deviations_are_from_the_means_of_neighbourhoods_of_rows_at_even_steps(monkeypatch):
    monkeypatch.setattr("gnomon.explanations.collinear._NUMBERS", 3 * 280)
    X = np.random.default_rng(0).normal(size=(300, 3))
    graph = compute_neighbors(X, 5)
    rows = np.linspace(0, 299, 280).astype(int)
    near = np.column_stack([graph.indices, np.arange(300)])
    np.testing.assert_allclose(_deviations(X, graph), (X - X[near].mean(axis=1))[rows], atol=1e-12)
    monkeypatch.setattr("gnomon.explanations.collinear._NUMBERS", 3)  # 256 rows at least
    np.testing.assert_allclose(
        _deviations(X, graph), (X - X[near].mean(axis=1))[np.linspace(0, 299, 256).astype(int)], atol=1e-12
    )
    mask = np.ones((300, 5), bool)
    mask[:, 3:] = False
    masked = NeighborGraph(graph.indices, graph.distances, mask, metric=graph.metric)
    means = X[near[:, [0, 1, 2, 5]]].mean(axis=1)
    np.testing.assert_allclose(_deviations(X, masked), (X - means)[np.linspace(0, 299, 256).astype(int)], atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_scores_stand_in_the_place_of_the_member_that_is_most_like_them(form):
    X = np.random.default_rng(0).normal(size=(20, 6)).astype(np.float32)
    groups = [
        _Group(np.array([0, 3]), np.array([2.0, -1.0]), np.array([0.5, 0.5]), 3),
        _Group(np.array([1, 4]), np.array([0.5, 3.0]), np.array([0.5, 0.5]), 1),
    ]
    scores, lines = _scores(form(X), groups)
    assert lines.tolist() == [1, 2, 3, 5]
    expected = np.column_stack([X[:, [1, 4]] @ [0.5, 3.0], X[:, 2], X[:, [0, 3]] @ [2.0, -1.0], X[:, 5]])
    np.testing.assert_allclose(scores.toarray() if sp.issparse(scores) else scores, expected, rtol=1e-5, atol=1e-6)
    assert (type(scores), scores.dtype) == (type(form(X)), np.float32)
    whole, _ = _scores(np.arange(12).reshape(4, 3), [_Group(np.array([0, 2]), np.ones(2), np.ones(2), 0)])
    np.testing.assert_array_equal(whole, [[2, 1], [8, 4], [14, 7], [20, 10]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_of_a_table_are_replaced_where_groups_stand(form):
    X, columns = form(np.arange(20.0).reshape(4, 5)), form(-np.ones((4, 2)))
    found = _replaced(X, np.array([0, 2, 4]), np.array([0, 2]), np.asarray(columns) if form is np.asarray else columns)
    dense = found.toarray() if sp.issparse(found) else found
    np.testing.assert_array_equal(dense, [[-1.0, 2.0 + 5 * i, -1.0] for i in range(4)])


@pytest.mark.parametrize("kept", [False, True])
def test_neighbours_stay_if_they_are_to(kept):
    rng = np.random.default_rng(0)
    T = rng.uniform(0, 1, (120, 2))
    X = np.column_stack([np.repeat(T[:, :1], 6, axis=1), 0.3 * T[:, 1:], 0.05 * rng.normal(size=(120, 2))])
    explanation = explain(X, T, n_neighbors=6, pooling=1, n_jobs=1)
    found = group_features(explanation, keep_neighbors=kept, threshold=0.95)
    assert (found.threshold, len(found.groups)) == (0.95, 1)
    asked = explanation.graph if kept else compute_neighbors(found.explanation._X, 6)
    np.testing.assert_array_equal(found.explanation.graph.indices, asked.indices)
    assert np.array_equal(explanation.graph.indices, found.explanation.graph.indices) == kept
    assert (found.explanation.n_neighbors, found.explanation.pooling) == (6, 1)
    near = NeighborGraph(explanation.graph.indices, explanation.graph.distances, metric="precomputed")
    given = group_features(explain(X, T, graph=near, n_neighbors=6, pooling=1, n_jobs=1))
    np.testing.assert_array_equal(given.explanation.graph.indices, near.indices)


@pytest.mark.parametrize(("size", "kept"), [(0.05, True), (1.0, False)])
def test_neighbours_stay_where_groups_hardly_change_them(size, kept):
    rng = np.random.default_rng(0)
    T = rng.uniform(0, 1, (300, 30))
    X = np.column_stack([T[:, 1:], size * (T[:, :1] + 0.01 * rng.normal(size=(300, 4)))])
    explanation = explain(X, T[:, :2], n_neighbors=10, pooling=1, n_jobs=1)
    found = group_features(explanation)
    assert [len(part) for part in found.members] == 29 * [1] + [4]
    again = compute_neighbors(found.explanation._X, 10)
    staying = np.mean(
        [np.isin(one, other).mean() for one, other in zip(again.indices, explanation.graph.indices, strict=True)]
    )
    assert (staying >= 0.98) == kept
    np.testing.assert_array_equal(found.explanation.graph.indices, (explanation.graph if kept else again).indices)


def test_deviations_are_sixteen_million_numbers_at_most_but_of_256_rows_at_least():
    assert [len(_looked_at(*shape)) for shape in ((1000, 50), (10**6, 1000), (5000, 10**6))] == [1000, 16777, 256]


def test_groups_of_many_columns_take_a_few_tables_of_their_pairs():
    rng = np.random.default_rng(0)
    d = 1200
    sources = rng.normal(size=(300, d // 2)).astype(np.float32)
    deviations = np.repeat(sources, 2, axis=1) + 0.1 * rng.normal(size=(300, d)).astype(np.float32)
    tracemalloc.start()
    try:
        found = _find(deviations, 0.9)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [one.columns.tolist() for one in found] == [[f, f + 1] for f in range(0, d, 2)]
    assert peak < 2.7 * 8 * d**2


def test_groups_are_of_an_explanation():
    with pytest.raises(TypeError, match=r"explanation='abc' must be what gnomon\.explain returns \(found str\)"):
        group_features("abc")


def test_groups_of_an_inverse_explanation_rest_on_the_neighbors_in_the_data(drivers):
    T, noise, Y = drivers
    made = explain(np.column_stack([np.repeat(T[:, :1], 4, axis=1), T[:, 1:], noise]), Y, fit="inverse", n_jobs=1)
    fits = made._jacobians
    assert made.n_neighbors > fits.indices.shape[1]  # those in the map
    found = group_features(made).explanation._jacobians
    assert found.indices.shape == fits.indices.shape
    assert found.pooling == fits.pooling


@pytest.mark.parametrize("threshold", [0.5, 0.9])
@pytest.mark.parametrize("share", [0.02, 0.3], ids=["kept", "written"])
@pytest.mark.parametrize("seed", range(2))
def test_groups_of_few_numbers_are_those_of_all(seed, share, threshold, monkeypatch):
    """Most deviations of wide sparse tables are 0: those that are not give the same groups, and 0 is in none."""
    rng = np.random.default_rng(seed)
    sources = rng.normal(size=(120, 30)) * (rng.random((120, 30)) < share)
    X = np.repeat(sources, 2, axis=1)[:, rng.permutation(60)]
    X[:, ::7] += 0.3 * rng.normal(size=X[:, ::7].shape) * (X[:, ::7] != 0.0)
    X = np.column_stack([X, np.zeros((120, 3)), rng.normal(size=(120, 40)) * (rng.random((120, 40)) < share)])
    everywhere = grouped(X, threshold)
    monkeypatch.setattr("gnomon.explanations.collinear._TOGETHER", 40)
    monkeypatch.setattr("gnomon.explanations.collinear._SPARSE", 1.0)
    assert grouped(X, threshold) == everywhere
    spread = np.sqrt(np.mean(X**2, axis=0))
    stored = _where_stored(X / np.where(spread > 0.0, spread, 1.0))
    np.testing.assert_array_equal(_paired_where_stored(stored, threshold), _paired(stored.toarray(), threshold))
    assert len(everywhere) > 10


def test_groups_of_many_columns_take_little_where_few_numbers_are_stored():
    """All pairs of 20,000 columns would take 3.2 GB, and a thousand of them with all others 164 MB."""
    rng = np.random.default_rng(0)
    deviations = np.zeros((100, 20_000), dtype=np.float32)
    columns = np.sort(rng.choice(20_000, 600, replace=False))
    deviations[:, columns] = rng.normal(size=(100, 600)) * (rng.random((100, 600)) < 0.1)
    deviations[:, columns[300:310]] = -2.0 * deviations[:, columns[:10]]
    tracemalloc.start()
    try:
        found = _find(deviations, 0.9)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [one.columns.tolist() for one in found] == [[columns[i], columns[300 + i]] for i in range(10)]
    assert peak < 5e7


def test_products_of_stored_numbers_are_held_one_block_of_columns_at_a_time(monkeypatch):
    monkeypatch.setattr("gnomon.explanations.collinear._TOGETHER", 800)
    n, d = 32, 3000
    rng = np.random.default_rng(0)
    stored = sp.csr_array(np.where(rng.random((n, d)) < 0.3, rng.normal(size=(n, d)), 0.0))
    tracemalloc.start()
    try:
        _paired_where_stored(stored, 0.9)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.6 * 8 * 200 * d
